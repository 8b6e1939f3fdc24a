"""Right-censored times: metrics against their definitions, searches, certificates, audits."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold

from oracles import survival as slow
from pinsker import CriterionSelection, FeatureSelector, LinearSelection, audit
from pinsker.encoding import encode, encode_target, null_martingale, take_rows
from pinsker.exceptions import DataError, MissingDependencyError, ParameterError, PinskerWarning
from pinsker.metrics import Metric
from pinsker.models import SurvivalModel, grid_times

DTYPE = [("died", bool), ("days", float)]


def censored(n, seed, *, ties=False, n_columns=6):
    """The first two columns raise the hazard; a third of the rows is censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    time = rng.exponential(np.exp(-1.5 * X[:, 0] - 1.5 * X[:, 1]))
    until = rng.exponential(2.0, size=n)
    days, died = np.minimum(time, until), time <= until
    return X, structured(np.ceil(4 * days) if ties else days, died)


def structured(days, died):
    return np.array(list(zip(died, days, strict=True)), dtype=DTYPE)


class Proportional(BaseEstimator):
    """A model of a user, without scikit-survival: ridge on martingale residuals."""

    def fit(self, X, y):
        assert y.dtype.names == ("died", "days")
        self.model_ = Ridge().fit(X, null_martingale(y["days"], y["died"]))
        return self

    def predict(self, X):
        return 3 * self.model_.predict(X)


class Curves(Proportional):
    """The same with survival curves."""

    def predict_survival_function(self, X):
        return [Step(np.array([0.5, 1.0, 2.0]), risk) for risk in self.predict(X)]


class Step:
    def __init__(self, x, risk):
        self.x, self.risk = x, risk

    def __call__(self, x):
        return np.exp(-x * np.exp(self.risk))


OWN = {"models": [Proportional()], "searches": ["linear"], "random_state": 0}


def scores(y, seed, metric, weights=None):
    """Return risks and curves that know something of the times, and how they are scored."""
    rng = np.random.default_rng(seed)
    target = encode_target(y)
    risk = np.round(-np.log(y["days"] + 0.1) + rng.normal(size=len(y)), 1)
    times = grid_times(target.raw)
    curves = np.exp(-times * np.exp(0.5 * risk)[:, None])
    found = Metric(metric).score_holdout(
        "m", np.column_stack([risk, curves]), target, np.arange(len(y)), weights
    )
    return found, risk, curves, times


@pytest.mark.parametrize("ties", [False, True])
def test_concordance_is_that_of_all_pairs(ties):
    _, y = censored(80, seed=1, ties=ties)
    found, risk, _, _ = scores(y, 2, "concordance")
    expected = slow.concordance(y["days"], y["died"], risk)
    assert 1 - found.losses.mean() == pytest.approx(expected, abs=1e-12)
    weights = np.random.default_rng(3).integers(1, 4, 80).astype(float)
    found, risk, _, _ = scores(y, 2, "concordance", weights)
    expected = slow.concordance(y["days"], y["died"], risk, weights)
    assert 1 - found.losses.mean() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_the_brier_score_is_that_of_its_definition(ties):
    _, y = censored(60, seed=4, ties=ties)
    found, _, curves, times = scores(y, 5, "integrated_brier")
    expected = slow.integrated_brier(y["days"], y["died"], curves, times)
    assert found.losses.mean() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["concordance", "integrated_brier"])
@pytest.mark.parametrize("ties", [False, True])
def test_influences_are_derivatives(metric, ties):
    """A row's value less the mean is the derivative with respect to its weight, times n."""
    _, y = censored(40, seed=6, ties=ties)
    found, *_ = scores(y, 7, metric)
    for row in range(0, 40, 3):
        sides = []
        for step in (1e-4, -1e-4):
            weights = np.ones(40)
            weights[row] += step
            # The mean of weighted rows is the weighted score.
            sides.append(scores(y, 7, metric, weights)[0].losses.mean())
        slope = 40 * (sides[0] - sides[1]) / 2e-4
        assert found.losses[row] - found.losses.mean() == pytest.approx(slope, abs=1e-6)


def test_likelihoods_are_those_of_cox():
    """Differences are those of partial likelihoods, with the weight of the risks fitted."""
    _, y = censored(70, seed=8, ties=True)
    found, risk, curves, _ = scores(y, 9, "concordance")
    target = encode_target(y)
    none = np.column_stack([np.zeros(70), curves])
    prior = Metric("concordance").score_holdout("p", none, target, np.arange(70))
    assert 1 - prior.losses.mean() == 0.5

    def likelihood(b):
        return slow.log_partial_likelihood(y["days"], y["died"], b * risk)

    best = minimize_scalar(lambda b: -likelihood(b), bounds=(0, 5), method="bounded")
    gain = (found.log_likelihood - prior.log_likelihood).sum()
    assert gain == pytest.approx(-best.fun - likelihood(0.0), abs=1e-5)


def test_a_target_of_times():
    _, y = censored(50, seed=10)
    target = encode_target(y)
    assert (target.task, target.names) == ("survival", ("days", "died"))
    np.testing.assert_array_equal(target.raw, np.column_stack([y["days"], y["died"]]))
    # A search sees ranks of the time, and whether the event was seen.
    assert (np.argsort(target.values[:, 0]) == np.argsort(y["days"])).all()
    np.testing.assert_array_equal(target.values[:, 1] > 0, y["died"])
    other = np.array(list(zip(y["days"], y["died"], strict=True)), dtype=DTYPE[::-1])
    np.testing.assert_array_equal(encode_target(other).raw, target.raw)
    assert encode_target(y["days"]).task == "regression"  # times alone are numbers


def test_martingale_residuals_of_no_features():
    _, y = censored(60, seed=11, ties=True)
    residuals = null_martingale(y["days"], y["died"])
    assert residuals.sum() == pytest.approx(0.0, abs=1e-12)
    i = 7
    hazard = 0.0
    for t in np.unique(y["days"][y["days"] <= y["days"][i]]):
        hazard += (y["died"] & (y["days"] == t)).sum() / (y["days"] >= t).sum()
    assert residuals[i] == pytest.approx(y["died"][i] - hazard)


@pytest.mark.parametrize("metric", ["auto", "concordance"])
def test_the_columns_that_matter(metric):
    X, y = censored(300, seed=12)
    selector = FeatureSelector(0.03, metric=metric, **OWN).fit(X, y)
    assert selector.get_support().nonzero()[0].tolist() == [0, 1]
    assert (selector.task_, selector.certificate_.metric) == ("survival", "concordance")
    assert selector.certificate_.verdict == "met"
    assert selector.certificate_.standard_error == "influence values (delta method)"
    fresh = selector.certify(*censored(300, seed=13))
    assert fresh.label == "certificate"
    assert "concordance may fall by 0.03" in str(fresh)
    result = audit(selector, Proportional(), *censored(300, seed=14))
    assert result.verdict == "met"
    assert 0.6 < 1 - result.error_kept < 0.9


def test_an_audit_is_the_concordance_of_the_model():
    X, y = censored(300, seed=15)
    selector = FeatureSelector(0.05, **OWN).fit(X[:150], y[:150])
    train, test = (X[:150], y[:150]), (X[150:], y[150:])
    result = audit(selector, Proportional(), *test, X_train=train[0], y_train=train[1])
    risk = Proportional().fit(*train).predict(test[0])
    expected = slow.concordance(test[1]["days"], test[1]["died"], risk)
    assert 1 - result.error_all == pytest.approx(expected)
    brier = audit(
        selector, Curves(), *test, X_train=train[0], y_train=train[1], metric="integrated_brier"
    )
    assert 0.0 < brier.error_all < 0.4


def test_survival_curves_as_the_metric():
    X, y = censored(300, seed=16)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    given = {**OWN, "models": [Curves()]}
    selector = FeatureSelector(0.05, metric="integrated_brier", **given).fit(frame, y)
    assert {"a", "b"} <= set(selector.get_feature_names_out())
    none = selector.certificate_.error_none
    assert selector.certificate_.error_kept < none < 0.3
    with pytest.raises(ParameterError, match="has no predict_survival_function"):
        FeatureSelector(0.05, metric="integrated_brier", **OWN).fit(X, y)


def test_all_searches_read_times():
    X, y = censored(150, seed=17)
    names = ["forward-backward", "backward", "linear", "jmi", "cmim", "relevance"]
    for name in names:
        selector = FeatureSelector(0.1, **{**OWN, "searches": [name]}, cv=2).fit(X, y)
        assert set(selector.path_.order[:2]) == {0, 1}, name
    assert set(LinearSelection().fit(X, y).path_.order[:2]) == {0, 1}
    kept = CriterionSelection("jmi", n_features_to_select=2).fit(X, y).get_support()
    assert kept.nonzero()[0].tolist() == [0, 1]


def test_rows_are_divided_by_event_and_time():
    X, y = censored(200, seed=18)
    encoded = encode(X, y)
    part = take_rows(encoded, np.arange(0, 200, 2))
    np.testing.assert_array_equal(part.target.raw, encoded.target.raw[::2])
    strata = encoded.target.strata
    assert strata[y["died"]].min() > strata[~y["died"]].max()
    cv = StratifiedKFold(4)
    assert FeatureSelector(0.1, cv=cv, **OWN).fit(X, y).certificate_.n_rows == 200


def test_weights_and_groups_of_rows():
    X, y = censored(200, seed=19)
    weights = np.random.default_rng(0).integers(1, 3, 200)
    with pytest.raises(ParameterError, match="'Proportional' takes no sample_weight"):
        FeatureSelector(0.1, **OWN).fit(X, y, sample_weight=weights)
    groups = np.arange(200) // 4
    assert FeatureSelector(0.1, **OWN).fit(X, y, groups=groups).certificate_.n_groups == 50


def test_refusals():
    X, y = censored(60, seed=20)
    with pytest.raises(DataError, match="'days' is negative in 60 rows"):
        FeatureSelector(**OWN).fit(X, structured(-1 - y["days"], y["died"]))
    with pytest.raises(DataError, match=r"0 events \('died'\)"):
        FeatureSelector(**OWN).fit(X, structured(y["days"], 0 * y["died"]))
    with pytest.raises(ParameterError, match="but the metric is for regression"):
        FeatureSelector(metric="r2", **OWN).fit(X, y)
    with pytest.raises(DataError, match="y is no structured array of an event"):
        FeatureSelector(metric="concordance", **OWN).fit(X, y["days"])
    with pytest.raises(ParameterError, match="'own' is none of censored times"):
        FeatureSelector(metric=own, **OWN).fit(X, y)
    gap = structured(np.where(np.arange(60) == 3, np.nan, y["days"]), y["died"])
    with pytest.raises(DataError, match="contains NaN"):
        FeatureSelector(missing="error", **OWN).fit(X, gap)
    assert FeatureSelector(missing="drop", **OWN).fit(X, gap).certificate_.n_rows == 59
    with pytest.raises(ParameterError, match="decided by held-out rows alone"):
        FeatureSelector(random_state=0, cv=0).fit(X, y)


def own(y_true, y_score, sample_weight=None):
    return 0.0


def test_a_survival_model_of_another_scikit_learn_says_so(monkeypatch):
    class Cox(Proportional):
        def fit(self, X, y):
            raise TypeError("got an unexpected keyword argument 'splitter'")

    broken = (SurvivalModel("cox", Cox()),)
    monkeypatch.setattr("pinsker.models._defaults.survival_models", lambda *_: broken)
    with pytest.raises(MissingDependencyError, match="does not work with this scikit-learn"):
        FeatureSelector(random_state=0, searches=["linear"]).fit(*censored(120, seed=21))


def test_without_scikit_survival_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sksurv", None)
    monkeypatch.setitem(sys.modules, "sksurv.linear_model", None)
    X, y = censored(60, seed=21)
    with pytest.raises(MissingDependencyError, match=r'Try: pip install .*\[survival\]"'):
        FeatureSelector(random_state=0).fit(X, y)


def test_the_default_models():
    pytest.importorskip("sksurv")
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.metrics import concordance_index_censored, integrated_brier_score

    X, y = censored(250, seed=22)
    given = {"searches": ["linear"], "random_state": 0}
    selector = FeatureSelector(0.05, metric="integrated_brier", **given).fit(X, y)
    assert selector.get_support().nonzero()[0].tolist() == [0, 1]
    assert selector.certificate_.model_kept == "cox"
    train, test = (X[:150], y[:150]), (X[150:], y[150:])
    cox = CoxPHSurvivalAnalysis()
    given = {"X_train": train[0], "y_train": train[1], "metric": "concordance"}
    with pytest.warns(PinskerWarning, match="100 of 100 test rows are among the rows of the fit"):
        result = audit(selector, cox, *test, **given)
    risk = cox.fit(*train).predict(test[0])
    expected = concordance_index_censored(test[1]["died"], test[1]["days"], risk)[0]
    assert 1 - result.error_all == pytest.approx(expected)
    _, _, curves, times = scores(y, 23, "integrated_brier")
    found, *_ = scores(y, 23, "integrated_brier")
    known = integrated_brier_score(y, y, curves, times)
    assert found.losses.mean() == pytest.approx(known)
