"""Several numeric targets and multilabel targets under one budget: the mean, or the worst."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score, roc_auc_score
from sklearn.svm import LinearSVC

from pinsker import ErrorBudget, FeatureSelector, LinearSelection, WorstTarget, audit
from pinsker.encoding import encode_target
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics import Metric

FAST = {"models": ["linear"], "searches": ["linear"], "random_state": 0, "n_jobs": 1}


def two_numbers(n, seed):
    """One target needs the first column, the other, in another unit, the second; both noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    noise = 0.5 * rng.normal(size=(n, 2))
    return X, (X[:, :2] + noise) * [1.0, 1e4]


def three_labels(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > [0.0, 0.3, 0.8]).astype(int)


@pytest.mark.parametrize("metric", ["auto", "worst r2", WorstTarget("neg_root_mean_squared_error")])
def test_numbers_of_different_units_count_alike(metric):
    X, y = two_numbers(300, seed=0)
    if not isinstance(metric, str):
        y = y / y.std(axis=0)
    selector = FeatureSelector(0.05, metric=metric, **FAST).fit(X, y)
    assert selector.get_support().nonzero()[0].tolist() == [0, 1]
    assert selector.certificate_.verdict == "met"


def test_the_mean_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(50, 3)) * [1.0, 100.0, 0.01]
    predicted = y + rng.normal(size=(50, 3)) * y.std(axis=0) * [0.2, 0.5, 0.9]
    assert 1 - Metric("r2").of_numbers(predicted, y).mean() == pytest.approx(r2_score(y, predicted))
    worst = Metric(WorstTarget("r2")).of_numbers(predicted, y)
    lowest = r2_score(y, predicted, multioutput="raw_values")
    np.testing.assert_allclose(1 - worst.mean(axis=0), lowest)


def test_labels_are_scored_one_by_one():
    rng = np.random.default_rng(2)
    y = (rng.random((80, 3)) < [0.5, 0.3, 0.2]).astype(int)
    target = encode_target(y)
    assert [part.names for part in target.parts] == [("y0",), ("y1",), ("y2",)]
    margins = rng.normal(size=(80, 3)) + y
    scores = np.column_stack([f(margins[:, j]) for j in range(3) for f in (np.negative, np.abs)])
    scores[:, 1::2] = margins  # of each label its two classes
    rows = np.arange(80)
    known = {
        "roc_auc": roc_auc_score(y, margins),
        "f1": np.mean([f1_score(y[:, j], margins[:, j] > 0) for j in range(3)]),
        "error": np.mean([accuracy_score(y[:, j], margins[:, j] > 0) for j in range(3)]),
    }
    for name, expected in known.items():
        one = Metric(name).score_holdout("m", scores, target, rows)
        assert 1 - one.losses.mean() == pytest.approx(expected), name
        worst = Metric(WorstTarget(name)).score_holdout("m", scores, target, rows)
        assert worst.losses.mean() == pytest.approx(one.losses.mean())
        assert worst.loss == pytest.approx(worst.losses.mean(axis=0).max())
    # Log-likelihoods add up over the labels.
    parts = [
        Metric("error").score_holdout("m", scores[:, 2 * j : 2 * j + 2], part, rows)
        for j, part in enumerate(target.parts)
    ]
    np.testing.assert_allclose(one.log_likelihood, sum(part.log_likelihood for part in parts))


def test_the_worst_target_needs_every_bound_within_the_budget():
    rng = np.random.default_rng(3)
    less, full = rng.normal(size=(2, 200, 3))
    less = less + np.array([0.0, 0.5, 0.2])
    increase = Metric(WorstTarget("mse")).increase(less, full, 0.95)
    each = [Metric("mse").increase(less[:, j], full[:, j], 0.95) for j in range(3)]
    assert increase.mean == max(one.mean for one in each)
    assert increase.upper == max(one.upper for one in each)
    # Any of three lower bounds may be wrong: each is taken at a third of the error.
    sure = [Metric("mse").increase(less[:, j], full[:, j], 1 - 0.05 / 3) for j in range(3)]
    assert increase.lower == max(one.lower for one in sure)
    gain = Metric(WorstTarget("mse")).gains([full], less, 0.95)[0]
    assert gain.lower == pytest.approx(max(one.lower for one in sure))


def test_the_bound_of_the_worst_target_covers():
    """At the edge: one target's true increase is the budget, the others' are 0; met in 5 %."""
    rng = np.random.default_rng(4)
    met = 0
    for _ in range(400):
        gaps = rng.normal([0.1, 0.0, 0.0], 1.0, size=(300, 3))
        met += Metric(WorstTarget("mse")).increase(gaps, 0 * gaps, 0.95).upper <= 0.1
    assert met <= 32  # 20 expected, 4.4 standard deviation


def test_fractions_of_errors_are_bounded_as_rows_that_may_be_rare():
    """Means over targets or repeats are no moments of a large sample where few rows differ."""
    metric, gaps = Metric("error"), np.zeros(300)
    gaps[0] = 0.1  # one row in one of ten repeats: the t bound would be 0.0009
    assert metric.increase(gaps, 0 * gaps, 0.95).upper > 1 - 0.05 ** (1 / 300)
    # Six rows of a thousand err in all three labels at once, or in one of three: 400 samples each,
    # of which chance takes no more than 36 (20 expected, 4.4 standard deviation).
    rng = np.random.default_rng(5)
    for size in (1.0, 1 / 3):
        draws = size * (rng.random((400, 300)) < 0.006)
        uppers = [metric.increase(draw, 0 * draw, 0.95).upper for draw in draws]
        assert np.sum(np.array(uppers) < size * 0.006) <= 36


def test_a_label_that_needs_a_column_of_its_own():
    """The mean of labels lets the third one's column go, the worst one keeps it."""
    X, y = three_labels(500, seed=6)
    mean = FeatureSelector(0.08, **FAST).fit(X, y)
    worst = FeatureSelector(0.08, metric=WorstTarget("error"), **FAST).fit(X, y)
    assert mean.get_support().nonzero()[0].tolist() == [0, 1]
    assert worst.get_support().nonzero()[0].tolist() == [0, 1, 2]
    assert any("3 targets: errors and budget are the mean" in note for note in mean.notes_)
    fresh = worst.certify(*three_labels(500, seed=7))
    assert fresh.metric == "worst error"
    assert "error rate of the worst target may rise by 0.08" in str(fresh)
    assert any("increases most in target" in note for note in fresh.notes)


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """A class of a user that takes one target and gives classes only."""

    def fit(self, X, y):
        if np.ndim(y) != 1:
            raise ValueError("one target only")
        self.model_ = LogisticRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.filterwarnings("ignore:.*test rows are among")
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, max_depth=4, random_state=0),
        LogisticRegression(),
        LinearSVC(),
        OnlyPredicts(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_own_classifiers_take_labels_at_once_or_one_by_one(model):
    X, y = three_labels(120, seed=8)
    names = np.array(["no", "yes"])[y]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    given = {**FAST, "models": [("own", model)], "cv": 2}
    selector = FeatureSelector(0.1, metric="worst error", **given).fit(frame, names)
    found = audit(selector, model, frame, names)
    assert 0.0 < found.error_all < 0.5
    wrong = audit(selector, model, frame, names, metric="error")
    assert wrong.error_all <= found.error_all


def test_an_audit_of_labels_is_that_of_scikit_learn():
    X, y = three_labels(400, seed=9)
    selector = FeatureSelector(0.1, **FAST).fit(X[:200], y[:200])
    test, rest = slice(200, 300), slice(300, 400)
    result = audit(
        selector, LogisticRegression(), X[test], y[test], X_train=X[rest], y_train=y[rest],
        metric="roc_auc",
    )  # fmt: skip
    models = [LogisticRegression().fit(X[rest], y[rest, j]) for j in range(3)]
    chances = np.column_stack([model.predict_proba(X[test])[:, 1] for model in models])
    assert 1 - result.error_all == pytest.approx(roc_auc_score(y[test], chances))


def test_an_audit_of_numbers_by_models_of_one_target():
    X, y = two_numbers(300, seed=10)
    selector = FeatureSelector(0.1, metric="worst r2", **FAST).fit(X[:150], y[:150])
    for model in (LinearRegression(), HistGradientBoostingRegressor(max_iter=5)):
        result = audit(selector, model, X[150:], y[150:], X_train=X[:150], y_train=y[:150])
        each = [
            r2_score(y[150:, j], model.fit(X[:150], y[:150, j]).predict(X[150:])) for j in (0, 1)
        ]
        assert 1 - result.error_all == pytest.approx(min(each))


def test_own_regressors_of_one_target():
    X, y = two_numbers(200, seed=11)
    given = {**FAST, "models": [HistGradientBoostingRegressor(max_iter=10), Ridge()]}
    assert FeatureSelector(0.2, **given).fit(X, y).get_support()[:2].all()


def test_a_label_that_is_absent_from_training_rows():
    """One positive row of a label: a model of one class is that class."""
    X, y = three_labels(120, seed=12)
    y[:, 2] = 0
    y[5, 2] = 1
    with pytest.warns(UserWarning, match="has a single row"):
        selector = FeatureSelector(0.1, **{**FAST, "models": ["linear", LogisticRegression()]}).fit(
            X, y
        )
    assert selector.certificate_.error_all < 0.3


def test_many_combinations_are_searched_as_the_closest_frequent_one():
    rng = np.random.default_rng(13)
    y = (rng.random((300, 12)) < 0.3).astype(int)
    target = encode_target(y)
    assert 20 <= len(target.classes) <= 50
    assert "the 12 targets have" in target.notes[0]
    kept = np.array(target.classes.tolist())
    away = np.array([[np.sum(row != one) for one in kept] for row in y])
    np.testing.assert_array_equal(away[np.arange(300), target.labels], away.min(axis=1))
    for j, part in enumerate(target.parts):
        np.testing.assert_array_equal(part.labels, y[:, j])


def test_weights_are_repeated_rows():
    X, y = three_labels(150, seed=14)
    weights = np.random.default_rng(0).integers(1, 4, 150)
    rows = np.repeat(np.arange(150), weights)
    target = encode_target(y)
    scores = np.random.default_rng(1).normal(size=(150, 6))
    for metric in (Metric("error"), Metric("worst roc_auc"), Metric("log-loss")):
        whole = encode_target(y[rows])
        repeated = metric.score_holdout("m", scores[rows], whole, np.arange(len(rows)))
        weighted = metric.score_holdout("m", scores, target, np.arange(150), weights.astype(float))
        np.testing.assert_allclose(weighted.losses.mean(axis=0), repeated.losses.mean(axis=0))
    assert FeatureSelector(0.1, **FAST).fit(X, y, sample_weight=weights).certificate_.n_rows == 150


def test_refusals():
    X, y = two_numbers(60, seed=15)
    with pytest.raises(DataError, match=r"target 'y1' has one value .* Leave this target out"):
        FeatureSelector(**FAST).fit(X, np.column_stack([y[:, 0], np.ones(60)]))
    with pytest.raises(ParameterError, match=r"WorstTarget\('auto'\) needs a metric of one target"):
        WorstTarget("auto")
    with pytest.raises(ParameterError, match="metric='rsquared' is not known"):
        FeatureSelector(metric="worst rsquared", **FAST).fit(X, y)
    with pytest.raises(ParameterError, match="relative=True needs one figure"):
        ErrorBudget(0.1, metric=WorstTarget("r2"), relative=True)
    with pytest.raises(ParameterError, match="decided by held-out rows alone"):
        FeatureSelector(metric="worst r2", random_state=0, cv=0).fit(X, y)
    with pytest.raises(ParameterError, match="several targets are divided by their standard"):
        LinearSelection(ErrorBudget(0.1, metric="mse")).fit(X, y)


def test_the_worst_of_one_target_is_that_target():
    X, y = two_numbers(150, seed=16)
    one = FeatureSelector(0.1, metric="r2", **FAST).fit(X, y[:, 0]).certificate_
    worst = FeatureSelector(0.1, metric="worst r2", **FAST).fit(X, y[:, 0]).certificate_
    assert worst.increase == pytest.approx(one.increase)
    assert worst.error_kept == pytest.approx(one.error_kept)


def test_no_target_predictable_by_nothing_hides_the_others():
    """A target of noise beside a predictable one: the budget does not let every column go."""
    X, y = two_numbers(300, seed=17)
    y[:, 1] = np.random.default_rng(0).normal(size=300)
    found = FeatureSelector(0.1, metric="worst r2", **FAST).fit(X, y).certificate_
    assert found.verdict == "met"
    assert not found.lets_all_go
