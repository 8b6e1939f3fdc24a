"""Confidence sequences, and the monitor that holds one against a budget."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from pinsker import FeatureCount, FeatureSelector, LinearSelection, Monitor
from pinsker.bounds import ConfidenceSequence
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.selectors import from_state, to_state

#: What is bet, of the capital.
BETS = np.geomspace(0.002, 0.95, 24)


def capital(values, m, bets):
    """Return the capital of a bettor against a mean of at most m, row by row: the slow twin."""
    each = [math.prod(1 + c * (x - m) / (m + 1) for x in values) for c in bets]
    return sum(each) / len(each)


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return X, (X["a"] + 0.4 * rng.normal(size=n) > 0).to_numpy()


@pytest.fixture(scope="module")
def pair():
    X, y = rows(300, 0)
    selector = FeatureSelector(0.1, models=["linear"], searches=["linear"], random_state=0)
    selector.fit(X, y)
    kept = selector.transform(X)
    return selector, LogisticRegression().fit(X, y), LogisticRegression().fit(kept, y)


def test_limits_are_where_the_capital_is_reached():
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 0.0, 1.0], 80, p=[0.05, 0.7, 0.25])
    sequence = ConfidenceSequence(1.0, whole=True)
    sequence.update(values)
    found = sequence.limits()
    assert capital(values, found.lower, BETS) == pytest.approx(40, rel=1e-3)
    assert capital(-values, -found.upper, BETS) == pytest.approx(40, rel=1e-3)
    assert found.lower < found.mean < found.upper


def test_rounded_values_are_rounded_against_the_claim():
    rng = np.random.default_rng(1)
    whole, parts = ConfidenceSequence(1.0, whole=True), ConfidenceSequence(1.0)
    values = rng.choice([-1.0, 0.0, 1.0], 300, p=[0.1, 0.7, 0.2])
    whole.update(values)
    parts.update(values)
    assert parts.limits().lower == pytest.approx(whole.limits().lower, abs=1e-9)
    assert whole.limits().upper < parts.limits().upper < whole.limits().upper + 2e-4


def test_limits_narrow_around_the_mean_and_follow_it():
    rng = np.random.default_rng(2)
    for sequence in (ConfidenceSequence(1.0), ConfidenceSequence(math.inf)):
        sequence.update(rng.uniform(-0.5, 0.5, 300))
        first = sequence.limits()
        sequence.update(rng.uniform(-0.5, 0.5, 3000))
        then = sequence.limits()
        assert first.lower < then.lower < 0 < then.upper < first.upper
        sequence.update(np.full(3000, 0.9))
        assert sequence.limits().lower > first.upper


def test_values_beyond_the_largest_are_refused():
    with pytest.raises(DataError, match=r"at most 1\.0 in size"):
        ConfidenceSequence(1.0).update(np.array([0.0, 1.5]))


@pytest.mark.parametrize("metric", [None, "brier", "log-loss"])
def test_batches_and_saved_state_change_nothing_but_the_looks(pair, metric):
    X, y = rows(900, 1)
    at_once = Monitor(*pair, metric=metric, error_budget=0.1).update(X, y)
    first = Monitor(*pair, metric=metric, error_budget=0.1).update(X[:500], y[:500])
    again = Monitor(*pair, metric=metric, error_budget=0.1).resume(first.to_json())
    again.update(X[500:], y[500:])
    assert again.n_rows == at_once.n_rows == 900
    assert [*vars(again.looks[-1]).values()] == pytest.approx([*vars(at_once.looks[-1]).values()])
    assert again.looks[-1].increase == pytest.approx(at_once.looks[-1].increase)
    assert again.verdict == "met"
    assert again.is_exact == (metric != "log-loss")
    assert again.known_at == first.known_at
    assert len(again.to_json()) < 40_000


def test_numbers_are_watched_in_units_of_the_fit():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    y = 5 * X[:, 0] + 5 * X[:, 1] + rng.normal(size=1500)
    selector = FeatureSelector(0.6, models=["linear"], searches=["linear"], random_state=0)
    selector.fit(X[:300], y[:300])
    kept = LinearRegression().fit(selector.transform(X[:300]), y[:300])
    full = LinearRegression().fit(X[:300], y[:300])
    watched = Monitor(selector, full, kept, error_budget=0.1).update(X[300:], y[300:])
    assert watched.metric == "r2"
    assert watched.verdict == "broken"
    assert watched.looks[-1].increase == pytest.approx(0.5, abs=0.1)
    assert "broken, known since row" in str(watched)
    assert "asymptotic" in str(watched)


def test_a_saved_selection_does(pair, tmp_path):
    selector, *models = pair
    content = json.dumps(to_state(selector))
    path = tmp_path / "kept.json"
    path.write_text(content)
    X, y = rows(300, 2)
    for saved in (json.loads(content), str(path)):
        assert Monitor(saved, *models).update(X, y).n_rows == 300


def test_a_fit_to_an_array_is_saved_without_names():
    X = np.random.default_rng(0).normal(size=(200, 4))
    selector = LinearSelection(0.1).fit(X, X[:, 0])
    state = json.loads(json.dumps(to_state(selector)))
    assert (state["columns"], state["kept"]) == (["x0", "x1", "x2", "x3"], ["x0"])
    back = from_state(state)
    np.testing.assert_array_equal(back.transform(X), X[:, :1])
    assert not hasattr(back, "feature_names_in_")
    del state["is_named"]  # of files of before
    assert from_state(state).feature_names_in_.tolist() == state["columns"]


def test_wrong_use_is_refused(pair):
    selector, full, _ = pair
    X, y = rows(200, 3)
    with pytest.raises(ParameterError, match="has no budget in 'brier': pass error_budget="):
        Monitor(*pair, metric="brier")
    with pytest.raises(ParameterError, match="'roc_auc' has no loss of each row"):
        Monitor(*pair, metric="roc_auc", error_budget=0.1)
    with pytest.raises(ParameterError, match="'worst error' has no loss of each row"):
        Monitor(*pair, metric="worst error", error_budget=0.1)
    with pytest.raises(ParameterError, match="must be a number of at least 0, found FeatureCount"):
        Monitor(*pair, error_budget=FeatureCount(2))
    with pytest.raises(DataError, match="X is a LazyFrame: pass rows in memory"):
        Monitor(*pair).update(pl.LazyFrame(X), y)
    with pytest.raises(ParameterError, match="predict of LogisticRegression failed: Input"):
        Monitor(*pair).update(X.where(X < 1), y)
    with pytest.raises(ParameterError, match="model_kept is no model"):
        Monitor(selector, full, "forest")
    watched = Monitor(*pair).update(X, y)
    with pytest.raises(DataError, match=r"counted before \(batch 1\)"):
        watched.update(X[::-1], y[::-1])
    with pytest.raises(DataError, match="y is missing in 1 of 200 rows"):
        watched.update(X, np.where(np.arange(200) == 5, np.nan, y))
    with pytest.raises(DataError, match="its metric is 'error', not 'brier'"):
        Monitor(*pair, metric="brier", error_budget=0.1).resume(watched.to_json())
    with pytest.raises(DataError, match="no state of a Monitor"):
        watched.resume("{}")
    state = json.loads(watched.to_json())
    state["sequence"]["counts"] = 1
    with pytest.raises(DataError, match="no state of a Monitor"):
        watched.resume(json.dumps(state))
    with pytest.warns(PinskerWarning, match="among the rows of the fit"):
        Monitor(*pair).update(*rows(300, 0))


def test_certify_on_growing_rows_points_to_the_monitor(pair):
    selector = pair[0]
    X, y = rows(260, 4)
    before = selector._record
    selector.certify(X[:200], y[:200])
    assert before.last_certified is None  # a record is frozen: certify leaves another one
    selector.certify(X[:200], y[:200], confidence=0.9)  # another question, the same rows
    with pytest.warns(PinskerWarning, match=r"Use pinsker\.Monitor"):
        selector.certify(X, y)


def test_the_plot_has_the_budget(pair):
    pytest.importorskip("matplotlib").use("Agg")
    ax = Monitor(*pair).update(*rows(300, 5)).plot()
    assert "budget 0.1" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_batches_need_not_hold_every_class(pair):
    (X, y), one, many = rows(400, 3), Monitor(*pair), Monitor(*pair)
    for part in (y, ~y):
        one.update(X[part], y[part])
    for row in range(40):
        many.update(X[row : row + 1], y[row : row + 1])
    assert (one.n_rows, many.n_rows) == (400, 40)


def test_a_monitor_is_not_met_by_columns_that_came_empty(pair):
    selector = pair[0]
    X, y = rows(3000, 7)
    dropped = [name for name in X if name not in selector.get_feature_names_out()]
    monitor = Monitor(*pair)
    with pytest.raises(DataError, match="dropped columns are empty or constant here"):
        monitor.update(X.assign(**dict.fromkeys(dropped, 0.0)), y)
    assert monitor.n_rows == 0
    mostly = X.copy()
    mostly.loc[np.arange(3000) % 10 > 0, dropped[0]] = 0.0
    with pytest.warns(PinskerWarning, match="dropped columns are missing or constant here"):
        monitor.update(mostly[:2000], y[:2000]).update(mostly[2000:], y[2000:])
    assert (monitor.verdict, len(monitor.notes)) == ("open", 1)
    assert "open: dropped columns are missing or constant here" in str(monitor)
    later = Monitor(*pair).resume(monitor.to_json())
    assert (later.verdict, later.notes[0].kind) == ("open", "emptied columns")
    assert later.update(*rows(500, 8)).verdict == "open"
    assert Monitor(*pair).update(X, y).verdict == "met"


@pytest.mark.parametrize("length", [0, 7])
def test_new_rows_are_as_many_as_their_values(pair, length):
    # Found by the fuzzer: models that predict no rows compared them with 40 values.
    X, y = rows(40, 5)
    with pytest.raises(DataError, match=rf"inconsistent numbers of samples: \[{length}, 40\]"):
        Monitor(*pair).update(X[:length], y)
