"""Fitted selectors to report on, made once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection
from pinsker.report import summarise, to_html

#: Names that try to leave the place they are put in.
HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="window.pwned = 1">',
    "' onmouseover='window.pwned = 1",
    "{{ 7 * 7 }}{% raise %}",
    "]]>&lt;b&gt;&amp;",
    "żółw 🐢 سلحفاة \u202e reversed \u2028 line",
    "__proto__",
    "long" * 800,
]


@pytest.fixture(scope="session")
def wine():
    """Return a table with 13 columns and three classes."""
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def selector(wine):
    """Return a selector fitted to it."""
    return BackwardElimination(error_budget=0.1).fit(*wine)


@pytest.fixture(scope="session")
def summary(selector, wine):
    """Return its summary, data included."""
    return summarise(selector, *wine)


@pytest.fixture(scope="session")
def page(summary):
    """Return its page."""
    return to_html(summary)


@pytest.fixture(scope="session")
def cross_fitted(wine):
    """Return a selector that compared two searches on held-out rows, with one cheap model."""
    return FeatureSelector(
        error_budget=0.05,
        searches=["forward", "linear"],
        cv=3,
        models=[LogisticRegression(max_iter=200)],
        random_state=0,
    ).fit(*wine)


@pytest.fixture(scope="session")
def numeric():
    """Return a selector of a numeric target that stopped early, with its data."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return ForwardSelection(error_budget=0.2, max_features=6).fit(X, y), X, y


@pytest.fixture(scope="session")
def hostile():
    """Return a selector whose columns have hostile names, with its data."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(120, len(HOSTILE)))
    y = (values[:, 0] + values[:, 1] > 0).astype(int)
    X = pd.DataFrame(values, columns=HOSTILE)
    return BackwardElimination(error_budget=0.2).fit(X, y), X, y
