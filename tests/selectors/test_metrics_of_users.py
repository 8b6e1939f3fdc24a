"""Budgets in a user's own metric: from the parameter to certificate, audit and command line."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.svm import LinearSVC

from pinsker import BackwardElimination, CostMatrix, ErrorBudget, FeatureSelector, audit
from pinsker.exceptions import ParameterError
from pinsker.metrics import check_metric, metric_name
from pinsker.selectors import LinearSelection

FAST = {"models": ["linear"], "searches": ["forward"], "random_state": 0}


def rare(n=500, seed=0):
    """Return a table of six columns, two of which say which 8 % of the rows are positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    chance = 1 / (1 + np.exp(-(2.0 * X[:, 0] + 1.5 * X[:, 1] - 4.0)))
    return X, np.where(rng.random(n) < chance, "yes", "no")


@pytest.fixture(scope="module")
def by_auc():
    return FeatureSelector(0.03, metric="roc_auc", **FAST).fit(*rare())


def test_a_budget_in_auc_keeps_what_an_error_rate_does_not_see(by_auc):
    by_error = FeatureSelector(0.06, **FAST).fit(*rare())
    assert by_auc.get_support(indices=True).tolist() == [0, 1]
    assert by_error.get_support().sum() == 1
    assert any("metric='roc_auc'" in note for note in by_error.notes_)
    assert not any("metric='roc_auc'" in note for note in by_auc.notes_)


def test_the_certificate_names_metric_and_standard_error(by_auc):
    certificate = by_auc.certificate_
    assert certificate.metric == "roc_auc"
    assert certificate.standard_error == "DeLong's placements"
    assert np.isnan(certificate.information_budget)
    assert "nan" not in str(certificate)


def test_information_alone_never_passes(by_auc):
    comparison = by_auc._record.comparison
    rule = ErrorBudget(0.0, metric="roc_auc")
    assert not any(
        result.meets(rule, comparison.facts, comparison.metric) and result.excess_upper > 1e-9
        for result in comparison.on_paths
    )


def test_certify_and_audit_use_the_metric(by_auc):
    fresh = rare(n=600, seed=1)
    certificate = by_auc.certify(*fresh)
    assert (certificate.metric, certificate.verdict) == ("roc_auc", "met")
    result = audit(by_auc, LogisticRegression(), *fresh)
    assert result.metric == "roc_auc"
    assert result.error_kept == pytest.approx(0.1, abs=0.06)
    margins = audit(by_auc, LinearSVC(), *fresh)
    assert margins.error_kept == pytest.approx(result.error_kept, abs=0.02)
    with pytest.raises(ParameterError, match="needs probabilities, but LinearSVC"):
        audit(by_auc, LinearSVC(), *fresh, metric="neg_brier_score")


def test_a_relative_budget_is_a_share_of_what_the_features_add():
    X, y = rare()
    rule = ErrorBudget(0.1, metric="roc_auc", relative=True)
    certificate = FeatureSelector(rule, **FAST).fit(X, y).certificate_
    assert certificate.budget == pytest.approx(0.1 * (0.5 - certificate.error_all), abs=1e-9)
    assert "relative=True" in certificate.rule
    with pytest.raises(ParameterError, match=r"1\.5 means nothing as a share"):
        ErrorBudget(1.5, metric="roc_auc", relative=True)


@pytest.mark.parametrize(
    ("metric", "name", "method"),
    [
        (CostMatrix([[0, 1], [20, 0]]), "cost", "mean over rows"),
        (make_scorer(fbeta_score, beta=2, pos_label="yes"), "fbeta_score", "influence values"),
        ("balanced_accuracy", "balanced_accuracy", "influence values"),
        (lambda y, p: -float(np.mean((p - (y == "yes")) ** 2)), "<lambda>", "jackknife"),
    ],
)
def test_metrics_of_every_kind_fit_and_clone(metric, name, method):
    selector = clone(FeatureSelector(0.5, metric=metric, **FAST)).fit(*rare(n=200))
    assert selector.certificate_.metric == name
    assert selector.certificate_.standard_error.startswith(method)
    assert audit(selector, LogisticRegression(), *rare(n=200, seed=2)).metric == name


def test_the_certificate_says_that_groups_were_left_out_together():
    X, y = rare(n=120)
    settings = {"searches": ["linear"], "models": ["linear"], "cv": 2, "random_state": 0}

    def skill(y_true, y_score):
        return -float(np.mean((y_score - (y_true == "yes")) ** 2))

    selector = FeatureSelector(0.5, metric=skill, **settings).fit(X, y, groups=np.arange(120) // 3)
    assert selector.certificate_.standard_error.startswith("jackknife over groups of rows")
    assert selector.certificate_.n_groups == 40


def test_metrics_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.exp(X[:, 0] + 0.2 * rng.normal(size=300))
    metric = "neg_mean_absolute_percentage_error"
    selector = FeatureSelector(0.2, metric=metric, **FAST).fit(X, y)
    assert selector.task_ == "regression"
    assert selector.certificate_.metric == metric
    assert selector.support_[0]


def test_what_cannot_be_decided_is_refused():
    X, y = rare(n=100)
    with pytest.raises(
        ParameterError, match="held-out rows alone, and BackwardElimination holds n"
    ):
        BackwardElimination(0.1, metric="roc_auc").fit(X, y)
    with pytest.raises(ParameterError, match="use FeatureSelector"):
        LinearSelection(ErrorBudget(0.1, metric="roc_auc")).fit(X, y)
    with pytest.raises(
        ParameterError, match="for two classes, but the target has 3: use 'f1_macro'"
    ):
        FeatureSelector(0.1, metric="f1").fit(X, np.arange(100) % 3)
    with pytest.raises(ParameterError, match="the CostMatrix is for 3 classes"):
        FeatureSelector(0.1, metric=CostMatrix(np.ones((3, 3)))).fit(X, y)
    with pytest.raises(ParameterError, match="is not known"):
        FeatureSelector(0.1, metric="area").fit(X, y)


@pytest.mark.slow
def test_rare_classes_on_split_rows_lose_little_auc():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    chance = 1 / (1 + np.exp(-(1.8 * X[:, 0] * X[:, 1] + 1.2 * X[:, 2] - 4.6)))
    y = (rng.random(6000) < chance).astype(int)
    assert y.mean() < 0.08
    selector = FeatureSelector(0.01, metric="roc_auc", random_state=0).fit(X, y)
    assert selector.support_[:3].all()
    assert selector.certificate_.metric == "roc_auc"


def test_names_that_people_type():
    """Every one of these was refused; Gini is 2 AUC - 1, so that its budget is twice as large."""
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"models": "linear", "searches": ["linear"], "cv": 3, "random_state": 0}
    auc = FeatureSelector(0.02, metric="auc", **settings).fit(X[:300], y[:300])
    gini = FeatureSelector(0.04, metric="gini", **settings).fit(X[:300], y[:300])
    assert (gini.support_ == auc.support_).all()
    assert gini.certificate_.increase == pytest.approx(2 * auc.certificate_.increase)
    assert gini.certificate_.increase_upper == pytest.approx(2 * auc.certificate_.increase_upper)
    assert "Gini coefficient may fall by 0.04" in str(gini.certificate_)
    for name, own in (("rmse", "neg_root_mean_squared_error"), ("logloss", "log-loss"),
                      ("accuracy", "error"), ("f1", "f1")):  # fmt: skip
        assert metric_name(check_metric(name)) == own
    again = audit(gini, LogisticRegression(max_iter=9999), X[300:], y[300:])
    assert (again.metric, again.budget) == ("gini", 0.04)
