"""The audit of a choice by the user's own model, in the metric of the budget."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from pinsker import BackwardElimination, CriterionSelection, ErrorBudget, FeatureCount, audit
from pinsker.bounds import paired_difference
from pinsker.datasets import NoisyXor
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from tests.truths import Friedman

PROBLEM = NoisyXor(n_columns=5)
FOREST = RandomForestClassifier(20, random_state=0)


@pytest.fixture(scope="module")
def selector():
    return BackwardElimination(error_budget=0.05).fit(*PROBLEM.sample(300, seed=0))


def test_with_training_rows_it_is_two_fits(selector):
    train, test = PROBLEM.sample(300, seed=0), PROBLEM.sample(500, seed=1)
    result = audit(selector, SVC(), *test, X_train=train.X, y_train=train.y)
    full = SVC().fit(*train).predict(test.X) != test.y
    kept = selector.support_
    small = SVC().fit(train.X[:, kept], train.y).predict(test.X[:, kept]) != test.y
    assert result.metric == "error"
    assert result.error_all == full.mean()
    assert result.error_kept == small.mean()
    assert result.increase == pytest.approx(small.mean() - full.mean())
    assert (result.n_kept, result.n_features, result.budget) == (2, 5, 0.05)
    assert result.within_budget
    assert result.verdict == "met"


def test_without_training_rows_the_test_rows_are_cross_validated(selector):
    result = audit(selector, SVC(), *PROBLEM.sample(400, seed=2))
    assert result.n_rows == 400
    assert result.increase_lower <= result.increase <= result.increase_upper
    assert json.loads(result.to_json())["verdict"] == result.verdict
    assert "SVC on 400 rows: error" in str(result)
    divided = audit(selector, SVC(), *PROBLEM.sample(400, seed=2), cv=KFold(3))
    assert divided.n_rows == 400


def test_a_budget_that_is_not_met_is_seen():
    wrong = BackwardElimination(0.05).fit(*PROBLEM.sample(300, seed=0))
    wrong.support_ = np.arange(5) == 3
    result = audit(wrong, SVC(), *PROBLEM.sample(600, seed=1))
    assert not result.within_budget
    assert result.verdict == "not met"
    assert result.increase_lower > 0.05


def test_a_rule_without_a_budget_leaves_nothing_to_meet():
    counted = BackwardElimination(FeatureCount(1)).fit(*PROBLEM.sample(300, seed=0))
    result = audit(counted, SVC(), *PROBLEM.sample(600, seed=1))
    assert np.isnan(result.budget)
    assert not result.within_budget
    assert result.verdict == "no budget"


def test_numbers():
    problem = Friedman(n_columns=6)
    selector = BackwardElimination(error_budget=0.1).fit(*problem.sample(300, seed=0))
    train, test = problem.sample(300, seed=0), problem.sample(300, seed=1)
    forest = RandomForestRegressor(20, random_state=0)
    result = audit(selector, forest, *test, X_train=train.X, y_train=train.y)
    assert result.metric == "r2"
    assert 0.0 < result.error_all < 0.6
    fold = audit(selector, LinearRegression(), *test)
    assert 0.0 < fold.error_all < 0.6


def scaled_regression(n_rows=300, seed=0):
    """A target with a variance of about 100 that one of two columns explains."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    return X, 10.0 * X[:, 0] + rng.normal(size=n_rows)


def test_a_budget_in_mse_is_measured_in_mse():
    # 0.1 compared the budget with R²: an increase of 95 in MSE is only 0.9 of the variance, and
    # was called within a budget of 0.9 in MSE.
    X, y = scaled_regression()
    selector = BackwardElimination(ErrorBudget(0.9, metric="mse")).fit(X, y)
    selector.support_ = np.array([False, True])
    test = scaled_regression(seed=1)
    result = audit(selector, LinearRegression(), *test, X_train=X, y_train=y)
    full = LinearRegression().fit(X, y).predict(test[0])
    kept = LinearRegression().fit(X[:, [1]], y).predict(test[0][:, [1]])
    assert result.metric == "mse"
    assert result.budget == 0.9
    assert result.error_all == pytest.approx(mean_squared_error(test[1], full))
    assert result.error_kept == pytest.approx(mean_squared_error(test[1], kept))
    assert 80 < result.increase < 120
    assert result.verdict == "not met"
    in_shares = audit(selector, LinearRegression(), *test, X_train=X, y_train=y, metric="r2")
    assert in_shares.increase == pytest.approx(result.increase / test[1].var())
    assert np.isnan(in_shares.budget)


@pytest.mark.parametrize("metric", ["brier", "log-loss"])
def test_metrics_of_probabilities_use_them(metric):
    train, test = PROBLEM.sample(300, seed=0), PROBLEM.sample(500, seed=1)
    selector = BackwardElimination(0.3, metric=metric, random_state=0).fit(*train)
    # Random forests give probabilities of zero, whose logarithm is not finite.
    model = LogisticRegression() if metric == "log-loss" else FOREST
    result = audit(selector, model, *test, X_train=train.X, y_train=train.y)
    assert result.metric == metric
    probabilities = model.fit(*train).predict_proba(test.X)
    if metric == "brier":
        # Both classes count here, one of them in scikit-learn's binary score.
        expected = 2 * brier_score_loss(test.y, probabilities[:, 1])
    else:
        expected = log_loss(test.y, probabilities)
    assert result.error_all == pytest.approx(expected, rel=1e-9)
    folds = audit(selector, model, *test)
    assert np.isfinite(folds.increase)


def test_a_metric_of_probabilities_needs_them(selector):
    with pytest.raises(ParameterError, match="SVC has no predict_proba: calibrate it"):
        audit(selector, SVC(), *PROBLEM.sample(100, seed=1), metric="brier")


def test_a_column_is_no_matrix():
    X, y = scaled_regression()
    selector = BackwardElimination(0.9, metric="mse").fit(X, y)
    test_X, test_y = scaled_regression(seed=1)
    flat = audit(selector, LinearRegression(), test_X, test_y)
    column = audit(selector, LinearRegression(), test_X, test_y[:, None])
    assert column == flat
    trained = audit(selector, LinearRegression(), test_X, test_y, X_train=X, y_train=y)
    as_columns = audit(
        selector, LinearRegression(), test_X, test_y[:, None], X_train=X, y_train=y[:, None]
    )
    assert as_columns.increase == pytest.approx(trained.increase, rel=1e-12)
    assert trained.error_all < 2.0  # a matrix of differences would have 100 in each row


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_a_column_of_classes_is_no_matrix(selector):
    X, y = PROBLEM.sample(200, seed=1)
    flat = audit(selector, LogisticRegression(), X, y)
    assert audit(selector, LogisticRegression(), X, y[:, None]) == flat


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_several_targets_are_averaged():
    X, y = scaled_regression()
    both = np.column_stack([y, X[:, 1]])
    selector = BackwardElimination(0.5, metric="mse").fit(X, both)
    selector.support_ = np.array([True, False])
    result = audit(selector, DummyRegressor(), X, both, X_train=X, y_train=both)
    assert result.error_all == pytest.approx(both.var(axis=0).mean())


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_what_cannot_be_audited(selector):
    X, y = PROBLEM.sample(30, seed=1)
    with pytest.raises(ParameterError, match="X_train and y_train together"):
        audit(selector, SVC(), X, y, X_train=X)
    with pytest.raises(DataError, match="found 6 test rows, too few for 5 folds"):
        audit(selector, SVC(), X[:6], np.arange(6) % 2)
    with pytest.raises(ParameterError, match="LinearRegression is a model for regression, but the"):
        audit(selector, LinearRegression(), X, y)
    with pytest.raises(ParameterError, match="must be a number of at least 0, found FeatureCount"):
        audit(selector, SVC(), X, y, error_budget=FeatureCount(2))
    with pytest.raises(DataError, match="y is a dict: pass a value for each row"):
        audit([0], SVC(), X, {"y": y})
    with pytest.raises(DataError, match="groups names one group only"):
        audit([0], SVC(), X, y, groups=np.zeros(30))
    with pytest.raises(ParameterError, match="Unknown label type: unknown"):
        audit([0], SVC(), X, np.array([int, str] * 15, dtype=object))
    with pytest.raises(DataError, match="too little for squared errors in double precision"):
        audit([0], LinearRegression(), X, X[:, 0] * 1e-170, cv=4)  # R² was 1.0000
    with pytest.raises(ParameterError, match="metric='rms' is not known"):
        audit(selector, SVC(), X, y, metric="rms")
    with pytest.raises(DataError, match=r"2.* of the test rows is in no training row"):
        audit(
            selector, LogisticRegression(), X, np.arange(30) % 3,
            X_train=X, y_train=np.arange(30) % 2, metric="brier",
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_a_numeric_target_in_bins_needs_a_metric_for_its_model():
    X, y = scaled_regression()
    binned = CriterionSelection(n_features_to_select=1).fit(X, y)
    with pytest.raises(ParameterError, match="or metric= one of 'r2', 'mse'"):
        audit(binned, LinearRegression(), X, y)
    result = audit(binned, LinearRegression(), X, y, metric="mse")
    assert result.metric == "mse"
    assert np.isnan(result.budget)


def test_a_column_of_training_classes_is_no_matrix(selector):
    (X, y), (test_X, test_y) = PROBLEM.sample(100, seed=0), PROBLEM.sample(100, seed=1)
    flat = audit(selector, FOREST, test_X, test_y, X_train=X, y_train=y)
    column = audit(selector, FOREST, test_X, test_y, X_train=X, y_train=y[:, None])
    assert column == flat


def test_log_loss_of_numbers():
    X, y = scaled_regression()
    selector = BackwardElimination(0.1, metric="log-loss").fit(X, y)
    result = audit(selector, LinearRegression(), *scaled_regression(seed=1))
    assert result.metric == "log-loss"
    # A Gaussian of standard deviation 1 has an entropy of 1.42 nats.
    assert result.error_all == pytest.approx(0.5 * np.log(2 * np.pi * np.e), abs=0.2)


def test_cross_validated_audits_are_widened_and_fresh_ones_are_not(selector):
    X, y = PROBLEM.sample(300, seed=0)
    X_test, y_test = PROBLEM.sample(400, seed=2)
    model = KNeighborsClassifier(1)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X_test, y_test))
    losses = []
    for columns in (X_test, selector.transform(X_test)):
        wrong = np.empty(len(y_test))
        for train, test in folds:
            fitted = clone(model).fit(columns[train], y_test[train])
            wrong[test] = fitted.predict(columns[test]) != y_test[test]
        losses.append(wrong)
    gaps = losses[1] - losses[0]
    found = audit(selector, model, X_test, y_test)
    wide, plain = (paired_difference(gaps, counts=True, widening=w) for w in (1.2, 1.0))
    assert found.increase_upper == pytest.approx(wide.upper)
    assert found.increase_upper > plain.upper
    fresh = audit(selector, model, X_test, y_test, X_train=X, y_train=y)
    reduced = (np.asarray, selector.transform)
    both = [clone(model).fit(of(X), y).predict(of(X_test)) for of in reduced]
    gaps = (both[1] != y_test).astype(float) - (both[0] != y_test)
    assert fresh.increase_upper == pytest.approx(paired_difference(gaps, counts=True).upper)


def test_any_choice_of_columns_has_a_price(selector):
    """A list was a TypeError, and scikit-learn's selectors an AttributeError."""
    import pandas as pd
    from sklearn.feature_selection import SelectKBest

    X, y = PROBLEM.sample(400, seed=2)
    expected = audit(selector, FOREST, X, y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    mask, wide = np.array([True, True, False, False, False]), [True, True, True, False, False]
    for columns, table in ((["a", "b"], frame), ([0, 1], X), (mask, X), (list(mask), frame)):
        found = audit(columns, FOREST, table, y, error_budget=0.05)
        assert (found.error_kept, found.n_kept) == (expected.error_kept, 2)
        assert (found.metric, found.compared, found.n_features) == ("error", "all", 5)
        assert found.verdict == expected.verdict
    assert audit([0, 1], FOREST, X, y).verdict == "no budget"
    against = audit([0, 1], FOREST, X, y, against=wide)
    assert (against.n_kept, against.n_features, against.compared) == (2, 3, "others")
    assert "with the other 3 columns" in str(against)
    best = SelectKBest(k=2).fit(X, y)
    assert audit(best, FOREST, X, y).n_kept == 2
    assert audit(selector, FOREST, X, y, against=best).n_features == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a pipeline", "columns names 'a', which is no column of X: pass a fitted"),
        ([], "columns is empty"),
        ([7], "columns names position 7: .* each of the 5 columns"),
        ([True, False], "columns has 2 entries: .* each of the 5 columns"),
        (3, "columns is a int: pass a fitted selector, names or positions"),
        ([0.5], "columns is empty, or no list of columns"),
    ],
)
def test_columns_that_are_not_there(columns, message):
    with pytest.raises(ParameterError, match=message):
        audit(columns, FOREST, *PROBLEM.sample(100, seed=2))


def test_half_characters_are_text():
    # Found by the fuzzer: they have no UTF-8.
    X = np.array([["\ud800", "a"], ["b", "\ud800"]] * 40, dtype=object)
    assert audit([0], DummyClassifier(), X, np.arange(80) % 2).n_rows == 80


def test_an_unfitted_selector_is_refused():
    from sklearn.exceptions import NotFittedError
    from sklearn.feature_selection import SelectKBest

    for unfitted in (SelectKBest(), BackwardElimination()):
        with pytest.raises(NotFittedError):
            audit(unfitted, FOREST, *PROBLEM.sample(100, seed=2))


def test_a_model_that_hardly_predicts_makes_an_estimate():
    """Signs of a product that a linear model cannot see: its bounds were wrong in 24 %."""
    labels = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.choice([-1.0, 1.0], size=(300, 3))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        found = audit([0], LogisticRegression(), X, y, error_budget=0.05)
        if found.verdict == "met":
            labels.add(found.label)
            assert "predicts little better than none" in str(found.notes[0])
            assert "met (estimate)" in str(found)
    assert labels == {"estimate"}


def test_labels_say_what_was_done(selector):
    train, test = PROBLEM.sample(300, seed=0), PROBLEM.sample(500, seed=1)
    fitted = audit(selector, SVC(), *test, X_train=train.X, y_train=train.y)
    crossed = audit(selector, SVC(), *test)
    assert (fitted.label, fitted.n_folds) == ("hold-out estimate", 0)
    assert (crossed.label, crossed.n_folds) == ("cross-validated estimate", 5)
    assert json.loads(crossed.to_json())["label"] == crossed.label
    groups = np.arange(500) % 4
    with pytest.warns(PinskerWarning, match="4 groups"):
        few = audit(selector, SVC(), *test, X_train=train.X, y_train=train.y, groups=groups)
    assert few.label == "estimate"


def test_an_audit_that_few_rows_decide_is_an_estimate():
    """The note was there, and the label was that of any other audit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:, 1] = np.exp(2.0 * rng.normal(size=300))
    y = 5.0 * X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=300)
    found = audit([0], LinearRegression(), X, y, error_budget=0.5)
    assert [note.kind for note in found.notes] == ["few rows decide"]
    assert found.label == "estimate"
