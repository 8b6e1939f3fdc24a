"""Fitted selectors to report on, made once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection, interactions
from pinsker.explain import Alternative, Importance, Substitute
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
        models=["linear"],
        random_state=0,
    ).fit(*wine)


@pytest.fixture(scope="session")
def cross_summary(cross_fitted):
    """Return its summary, without data."""
    return summarise(cross_fitted)


@pytest.fixture(scope="session")
def cross_page(cross_summary):
    """Return its page."""
    return to_html(cross_summary)


@pytest.fixture(scope="session")
def findings(wine, cross_fitted):
    """Return all that a page can show besides a selector: the figures are made up."""
    kept = list(cross_fitted.get_feature_names_out())
    names = [*kept, *(name for name in wine[0].columns if name not in kept)]
    values = tuple(np.linspace(0.09, -0.02, len(names)))
    importance = Importance(
        tuple(names),
        tuple(name in kept for name in names),
        values,
        tuple(value - 0.03 for value in values),
        tuple(value + 0.05 for value in values),
        "error",
        0.95,
        400,
        ("40 of 400 rows were seen by fit",),
    )
    dropped = names[len(kept) :]
    return {
        "importance": importance,
        "interactions": interactions(*wine, n_best=5, n_permutations=5),
        "substitutes": (
            Substitute(kept[0], (dropped[0], dropped[1]), 0.6, 0.01, 0.03, True),
            Substitute(kept[1], (), 0.0, 0.05, 0.09, False),
        ),
        "alternatives": (Alternative(tuple(dropped[:4]), 0.25, 0.04, 0.01, 0.04),),
        "source": "cellar/wines, 1991.csv",
    }


@pytest.fixture(scope="session")
def full_page(cross_fitted, wine, findings):
    """Return a page with every section there is."""
    return cross_fitted.report(X=wine[0], y=wine[1], **findings).html


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


@pytest.fixture(scope="session")
def hostile_page(hostile):
    """Return its page."""
    return to_html(summarise(*hostile))
