"""Weights of rows: integer weights are repeated rows, rows of weight zero are absent."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    LinearSelection,
    audit,
)
from pinsker.bounds import paired_difference
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics import Metric
from pinsker.models import RBFSVM


def table(n=120, seed=0, numbers=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = rng.integers(0, 4, size=n)
    signal = X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n)
    return X, signal if numbers else np.where(signal > 0, "yes", "no"), rng.integers(1, 4, size=n)


def weighted_and_repeated(numbers, **settings):
    """Fit to weighted rows, and to repeated ones in the same folds."""
    X, y, w = table(numbers=numbers)
    fold = np.arange(len(y)) % 3
    which = np.repeat(np.arange(len(y)), w)

    def pairs(of_row):
        return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(3)]

    weighted = FeatureSelector(0.01, cv=pairs(fold), random_state=0, **settings)
    repeated = FeatureSelector(0.01, cv=pairs(fold[which]), random_state=0, **settings)
    return weighted.fit(X, y, sample_weight=w), repeated.fit(X[which], y[which])


def assert_same_figures(weighted, repeated, names, tolerance, fewest):
    """Compare the sets that both have evaluated: repeated rows are more, and may refine more."""
    found = []
    for selector in (weighted, repeated):
        results = selector.cv_results_
        keys = zip(results["search"], results["n_features"], strict=True)
        figures = zip(*(results[name] for name in names), strict=True)
        found.append(dict(zip(keys, figures, strict=True)))
    both = set(found[0]) & set(found[1])
    both = {key for key in both if key[0] != "pruned"}  # its rows are drawn: other sets
    assert len(both) >= fewest
    for key in both:
        np.testing.assert_allclose(found[0][key], found[1][key], atol=tolerance, rtol=0)


@pytest.mark.parametrize(
    ("numbers", "model", "metric", "tolerance"),
    [
        (False, "linear", "auto", 1e-4),
        (False, "linear", "roc_auc", 1e-4),
        (True, "linear", "auto", 1e-9),
        (True, "linear", "mae", 1e-9),
    ],
)
def test_integer_weights_are_repeated_rows(numbers, model, metric, tolerance):
    some = {"searches": ["jmi", "linear"], "models": [model], "metric": metric}
    weighted, repeated = weighted_and_repeated(numbers, **some)
    assert_same_figures(weighted, repeated, ("error", "information"), tolerance, fewest=4)
    assert weighted.facts_.variance == pytest.approx(repeated.facts_.variance)
    assert weighted.facts_.largest_prior == pytest.approx(repeated.facts_.largest_prior)
    # Repeated rows are no further evidence: weights do not pretend so.
    worth = [selector.certificate_.n_rows for selector in (weighted, repeated)]
    assert worth == [120, int(table()[2].sum())]


@pytest.mark.parametrize(
    ("model", "metric"),
    [
        (DecisionTreeClassifier(max_depth=4, random_state=0), "error"),
        (DecisionTreeClassifier(max_depth=4, random_state=0), "log-loss"),
        (GaussianNB(), "roc_auc"),
        (GaussianNB(), "average_precision"),
        (GaussianNB(), "f1_macro"),
        (Ridge(), "r2"),
        (Ridge(), "neg_root_mean_squared_error"),
    ],
    ids=str,
)
def test_losses_of_models_are_those_of_repeated_rows(model, metric):
    """Models that solve without iterations: what is left is rounding."""
    some = {"searches": ["jmi"], "models": [model], "metric": metric}
    weighted, repeated = weighted_and_repeated(isinstance(model, Ridge), **some)
    assert_same_figures(weighted, repeated, ("error", "increase"), 1e-12, fewest=2)


@pytest.mark.parametrize("metric", ["error", "roc_auc", "average_precision", "brier", "f1"])
def test_scores_of_weighted_rows_are_those_of_repeated_ones(metric):
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet([1.0, 1.0], size=80).round(1).clip(0.1, 0.9))
    labels, w = rng.integers(0, 2, size=80), rng.integers(1, 5, size=80)
    again = np.repeat(np.arange(80), w)
    one = Metric(metric).of_classes(logs, labels, weights=w.astype(float))
    other = Metric(metric).of_classes(logs[again], labels[again])
    assert one.mean() == pytest.approx(other.mean(), abs=1e-14)


@pytest.mark.parametrize("n_columns", [3, 9])
def test_svm_of_weighted_rows(n_columns):
    rng = np.random.default_rng(0)
    x, test = rng.normal(size=(2, 80, n_columns))
    y = x[:, 0] + 0.3 * rng.normal(size=80)
    w = rng.integers(1, 4, size=80)
    again = np.repeat(np.arange(80), w)
    labels = np.array(y > 0, dtype=np.int64)
    one = RBFSVM().fit_predict(x, y[:, None], test, weights=w.astype(float))
    other = RBFSVM().fit_predict(x[again], y[again, None], test)
    np.testing.assert_allclose(one, other, atol=5e-3)  # libsvm stops at 1e-3
    one = RBFSVM().fit_predict_scores(x, labels, test, 2, weights=w.astype(float))
    other = RBFSVM().fit_predict_scores(x[again], labels[again], test, 2)
    np.testing.assert_allclose(one, other, atol=5e-3)


@pytest.mark.parametrize("selector", [LinearSelection(), CriterionSelection("jmi", 5)], ids=str)
@pytest.mark.parametrize("numbers", [False, True])
def test_single_searches_are_exact(selector, numbers):
    X, y, w = table(numbers=numbers)
    w[::7] = 0
    one = selector.fit(X, y, sample_weight=w).path_
    other = selector.fit(X.repeat(w, axis=0), y.repeat(w)).path_
    assert one.order == other.order
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-12)


def test_weight_zero_leaves_a_row_out():
    X, y, w = table()
    w = w.astype(float)
    w[::5] = 0
    X[0, 0] = 1e6  # of no weight, and of no effect
    settings = {"error_budget": 0.05, "models": ["linear"], "random_state": 0}
    one = FeatureSelector(**settings).fit(X, y, sample_weight=w)
    kept = w > 0
    other = FeatureSelector(**settings).fit(X[kept], y[kept], sample_weight=w[kept])
    assert one.certificate_.to_dict() == other.certificate_.to_dict()
    assert any("24 rows of weight zero" in note for note in one.notes_)
    assert any("worth" in note for note in one.certificate_.notes)
    assert any("by neighbors" in note for note in one.notes_)


def test_what_rows_of_weight_zero_hold_is_in_nobody_s_way():
    X, y, w = table(240)
    w = w.astype(float)
    w[::5] = 0
    absent, kept = w == 0, w > 0
    groups = np.where(absent, 1000, 0) + np.arange(len(y)) // 3
    X[absent, 2] = np.nan
    X[0, 4] = np.inf
    rows = ((X, y, {"sample_weight": w}), (X[kept], y[kept], {"sample_weight": w[kept]}))
    fast = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    fitted = FeatureSelector(0.3, **fast)
    for selector in (
        LinearSelection(0.1),
        CriterionSelection("jmi", n_features_to_select=2),
        fitted,
    ):
        found = [selector.fit(*both, **of_rows).ranking_.tolist() for *both, of_rows in rows]
        assert found[0] == found[1]
    both = [
        fitted.stability(*one[:2], **one[2], groups=own, n=2).frequency.tolist()
        for one, own in zip(rows, (groups, groups[kept]), strict=True)
    ]
    assert both[0] == both[1]
    found = [
        audit([0], LogisticRegression(), *one[:2], **one[2], groups=own, cv=2)
        for one, own in zip(rows, (groups, groups[kept]), strict=True)
    ]
    assert found[0] == found[1]


def test_weights_change_what_is_chosen():
    # Two populations, in each of which another column matters.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    first = np.arange(600) < 300
    y = np.where(first, X[:, 0], X[:, 1]) > 0
    for column, heavy in ((0, first), (1, ~first)):
        w = np.where(heavy, 1.0, 1e-3)
        selector = FeatureSelector(0.05, models=["linear"], random_state=0)
        selector.fit(X, y, sample_weight=w)
        assert selector.get_support().nonzero()[0].tolist() == [column]


class Spy(ClassifierMixin, BaseEstimator):
    """Notes the sum of the weights that it gets."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen.append(None if sample_weight is None else float(sample_weight.sum()))
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Plain(ClassifierMixin, BaseEstimator):
    """Takes no weights."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


@pytest.mark.parametrize("model", [Spy(), make_pipeline(SimpleImputer(), Spy())], ids=str)
def test_models_of_users_get_weights(model):
    X, y, w = table()
    Spy.seen.clear()
    FeatureSelector(searches=["linear"], models=[model], cv=2).fit(X, y, sample_weight=w)
    seen = [one for one in Spy.seen if one is not None]
    assert len(seen) >= 4
    assert all(0 < one < w.sum() for one in seen)


def test_what_takes_no_weights_is_refused():
    X, y, w = table()
    with pytest.raises(ParameterError, match="'Plain' takes no sample_weight"):
        FeatureSelector(models=[Plain()]).fit(X, y, sample_weight=w)
    with pytest.raises(ParameterError, match="'extra trees' takes no sample_weight"):
        FeatureSelector(models=["extra trees"]).fit(X, y, sample_weight=w)
    for searches in (["forward"], ["pairs"], [BackwardElimination()]):
        with pytest.raises(ParameterError, match="neighbors take no sample_weight"):
            FeatureSelector(searches=searches).fit(X, y, sample_weight=w)
    with pytest.raises(DataError, match="not negative"):
        FeatureSelector().fit(X, y, sample_weight=-1.0 * w)
    with pytest.raises(DataError, match="120 weights, one per row"):
        FeatureSelector().fit(X, y, sample_weight=w[1:])


def test_certify_takes_weights():
    X, y, w = table(600)
    selector = FeatureSelector(0.1, models=["linear"], random_state=0)
    selector.fit(X[:300], y[:300], sample_weight=w[:300])
    certificate = selector.certify(X[300:], y[300:], sample_weight=w[300:])
    assert certificate.verdict == "met"
    assert any("held-out rows are worth" in note for note in certificate.notes)
    worth = w[300:].sum() ** 2 / np.sum(w[300:] ** 2)
    assert certificate.rare_rows == pytest.approx(3 / worth)
    assert selector.certificate_.rare_rows > 3 / 300


@pytest.mark.parametrize("metric", ["error", "roc_auc"])
def test_audit_takes_weights(metric):
    X, y, w = table(400)
    selector = FeatureSelector(0.1, searches=["linear"], models=["linear"], random_state=0)
    selector.fit(X[:200], y[:200])
    given = {"cv": [(np.arange(100), np.arange(100, 200))], "metric": metric}
    result = audit(selector, LogisticRegression(), X[200:], y[200:], sample_weight=w[200:], **given)
    train, test = slice(200, 300), slice(300, 400)
    model = LogisticRegression().fit(X[train], y[train], sample_weight=w[train])
    if metric == "error":
        own = np.average(model.predict(X[test]) != y[test], weights=w[test])
    else:
        scores = model.decision_function(X[test])
        own = 1 - roc_auc_score(y[test], scores, sample_weight=w[test])
    assert result.error_all == pytest.approx(own, abs=1e-9)
    with pytest.raises(DataError, match="some of which weigh nothing: leave these out"):
        audit(selector, LogisticRegression(), X[:3], y[:3], sample_weight=[1, 0, 1], cv=given["cv"])


def test_large_tables_take_weights():
    X, y, w = table(6000)
    selector = FeatureSelector(0.02, models=["linear"], random_state=0)
    selector.fit(X, y, sample_weight=w)
    assert selector.get_support().nonzero()[0].tolist() == [0, 1]
    assert selector.certificate_.verdict == "met"
    assert any("held-out rows are worth" in note for note in selector.certificate_.notes)


def test_limits_of_weighted_counts():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 0.0, 1.0], size=300, p=[0.05, 0.85, 0.1])
    equal = paired_difference(signs, counts=True, weights=np.full(300, 2.0))
    plain = paired_difference(signs, counts=True)
    assert equal.upper >= plain.upper
    assert equal.upper == pytest.approx(plain.upper, abs=1e-3)
    w = rng.exponential(size=300)
    mean = np.average(signs, weights=w)
    values = mean + (signs - mean) * w / w.mean()
    found = paired_difference(values, counts=True, weights=w)
    assert found.mean == pytest.approx(mean)
    assert found.upper - found.mean > plain.upper - plain.mean
    # Where no pair differs the limit is that of as many rows as the weights are worth.
    none = paired_difference(np.zeros(300), counts=True, weights=w)
    assert none.upper > paired_difference(np.zeros(300), counts=True).upper


def test_weighted_limits_cover():
    """The weighted mean of errors that depend on the weights, 400 samples of 300 rows."""
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(400):
        w = rng.gamma(2.0, size=300)
        worse = rng.random(300) < 0.05 + 0.05 * (w > 2)
        signs = worse.astype(float)
        mean = np.average(signs, weights=w)
        values = mean + (signs - mean) * w / w.mean()
        missed += paired_difference(values, counts=True, weights=w).upper < TRUE
    assert missed <= 33  # 5 % are 20; 33 is crossed by chance once in 500


#: E[w worse] / E[w]: of a gamma(2) weight the share above 2 is 5 exp(-2).
TRUE = 0.05 + 0.05 * 5 * np.exp(-2.0)


def test_logistic_twin():
    """The weighted error of one fold, computed by scikit-learn alone."""
    X, y, w = table()
    train, test = np.arange(80), np.arange(80, 120)
    selector = FeatureSelector(
        0.0, searches=["linear"], models=[LogisticRegression()], cv=[(train, test)]
    ).fit(X, y, sample_weight=w)
    own = LogisticRegression().fit(X[train], y[train], sample_weight=w[train])
    error = np.average(own.predict(X[test]) != y[test], weights=w[test])
    assert selector.cv_results_["error"][0] == pytest.approx(error, abs=1e-12)
