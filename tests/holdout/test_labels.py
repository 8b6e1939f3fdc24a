"""Rows to label: what the labels of the others could not change."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pinsker import FeatureSelector, audit, rows_to_label
from pinsker.exceptions import DataError, ParameterError


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    shown = X["a"] + 0.3 * X["b"] + 0.4 * rng.normal(size=n)
    return X, np.where(shown > 0, "yes", "no")


@pytest.fixture(scope="module")
def selector():
    chosen = FeatureSelector(0.1, models=["linear"], searches=["linear"], random_state=0)
    return chosen.fit(*rows(300, 0))


def fitted(selector, model, X, y):
    return [clone(model).fit(table, y) for table in (X, selector.transform(X))]


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
def test_partial_labels_give_the_bounds_of_all(selector, model, draw):
    train, (X, y) = rows(300, 10 + draw), rows(500, 20 + draw)
    given = {"X_train": train[0], "y_train": train[1]}
    full = audit(selector, model, X, y, **given)
    plan = rows_to_label(selector, *fitted(selector, model, *train), X)
    partial = np.full(500, None, dtype=object)
    partial[plan.rows] = y[plan.rows]
    found = audit(selector, model, X, partial, **given)
    assert 0 < found.n_labels == len(plan.rows) == 500 - plan.n_saved < 500
    for name in ("increase", "increase_lower", "increase_upper", "budget", "n_rows", "n_kept"):
        assert getattr(found, name) == pytest.approx(getattr(full, name), abs=1e-12)
    assert found.verdict == full.verdict
    assert plan.audit(X, y[plan.rows]).increase_upper == found.increase_upper
    assert f"500 rows, {found.n_labels} of them with a label" in str(found)


def test_numbers_with_gaps_are_labels_too(selector):
    X, y = rows(400, 1)
    y = (y == "yes").astype(int)
    other = FeatureSelector(0.1, models=["linear"], searches=["linear"], random_state=0)
    other.fit(X[:200], y[:200])
    pair = fitted(other, LogisticRegression(), X[:200], y[:200])
    plan = rows_to_label(other, *pair, X[200:])
    partial = np.full(200, np.nan)
    partial[plan.rows] = y[200:][plan.rows]
    assert plan.audit(X[200:], partial) == plan.audit(X[200:], y[200:])


def test_weighted_samples_hold_the_mean_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2300, 2))
    y = X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=2300)
    selector = FeatureSelector(0.6, models=["linear"], searches=["linear"], random_state=0)
    selector.fit(X[:300], y[:300])
    pair = fitted(selector, LinearRegression(), X[:300], y[:300])
    truth = rows_to_label(selector, *pair, X[300:], n=2)
    full, kept = truth.pair.losses(X[300:], y[300:])
    true = float((kept - full).mean())
    covered, plain = 0, []
    for number in range(200):
        plan = rows_to_label(selector, *pair, X[300:], n=150, random_state=number)
        found = plan.audit(X[300:], y[300:])
        covered += found.increase_lower <= true <= found.increase_upper
        plain.append(found.increase)
    # Two limits of 95 % each: 90 % is expected, and 200 runs scatter by 2 %.
    assert covered >= 168
    assert np.mean(plain) == pytest.approx(true, abs=4 * np.std(plain) / 200**0.5)


def test_wrong_use_is_refused(selector):
    X, y = rows(200, 2)
    pair = fitted(selector, LogisticRegression(), X, y)
    new, truth = rows(200, 3)
    with pytest.raises(ParameterError, match="'brier' differs in nearly every row"):
        rows_to_label(selector, *pair, new, metric="brier")
    with pytest.raises(ParameterError, match="n=1 is too few"):
        rows_to_label(selector, *pair, new, metric="brier", n=1)
    plan = rows_to_label(selector, *pair, new)
    with pytest.raises(DataError, match="give 200, or those of the"):
        plan.audit(new, truth[:7] if len(plan.rows) != 7 else truth[:8])
    gaps = truth.astype(object)
    gaps[plan.rows[0]] = None
    with pytest.raises(DataError, match=f"1 of {len(plan.rows)} rows that need a label have none"):
        plan.audit(new, gaps)
    with pytest.raises(ParameterError, match="1 test rows have no label: leave them out, or pass"):
        audit(selector, LogisticRegression(), new, gaps)
    given = {"X_train": X, "y_train": y, "groups": np.arange(200)}
    with pytest.raises(ParameterError, match="leave out against, cv, sample_weight and groups"):
        audit(selector, LogisticRegression(), new, gaps, **given)
