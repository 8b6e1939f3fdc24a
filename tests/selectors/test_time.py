"""Rows in order of time: sets are chosen on the past and tested on what came later."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor

from pinsker import FeatureSelector
from pinsker.encoding import encode
from pinsker.holdout import RowPlan

BUDGET = 0.1


def drifting(n=600, seed=0):
    """A level that wanders: the day tells it between known days, a sensor tells it at any time."""
    rng = np.random.default_rng(seed)
    level = np.cumsum(rng.normal(size=n)) / 5
    X = pd.DataFrame(
        {
            "day": np.arange(n) + rng.uniform(0, 0.5, size=n),
            "sensor": level + 0.4 * rng.normal(size=n),
            "noise": rng.normal(size=n),
        }
    )
    return X, level + 0.1 * rng.normal(size=n)


def selector(cv, **settings):
    quick = {"models": [KNeighborsRegressor(3), Ridge()], "searches": ["forward-backward"]}
    return FeatureSelector(BUDGET, cv=cv, suspects="ignore", random_state=0, **(quick | settings))


def test_random_folds_promise_what_time_splits_refuse():
    X, y = drifting()
    past, later = slice(0, 450), slice(450, 600)
    random = selector(5).fit(X[past], y[past])
    assert list(random.get_feature_names_out()) == ["day"]
    assert random.certificate_.verdict == "met"
    in_time = selector(TimeSeriesSplit(5)).fit(X[past], y[past])
    assert "sensor" in in_time.get_feature_names_out()
    day_first = [("day first", ["day", "sensor", "noise"])]
    given = selector(TimeSeriesSplit(5), searches=day_first).fit(X[past], y[past])
    results = given.cv_results_
    day_alone = (results["search"] == "day first") & (results["n_features"] == 1)
    assert (results["increase"][day_alone] > BUDGET).all()
    assert given.get_support().sum() > 1

    def error(columns):  # of the better model, on what came later
        models = (KNeighborsRegressor(3), Ridge())
        fitted = [model.fit(X[past][columns], y[past]) for model in models]
        return min(1 - r2_score(y[later], one.predict(X[later][columns])) for one in fitted)

    assert error(["day"]) - error(list(X.columns)) > BUDGET
    assert error(list(in_time.get_feature_names_out())) - error(list(X.columns)) <= BUDGET


def test_parts_follow_each_other():
    rng = np.random.default_rng(0)
    table = encode(rng.normal(size=(9000, 2)), rng.normal(size=9000))
    plan = RowPlan.of(table, TimeSeriesSplit(), seed=1)
    search, train, evaluate = plan.searched[0], plan.folds[0].train, plan.folds[0].test
    certify = plan.certify.test
    assert search.max() < train[0] < train[-1] < evaluate[0]
    assert evaluate[-1] < certify[0]
    assert certify[-1] == 8999
    together = np.concatenate([search, train, evaluate, certify])
    np.testing.assert_array_equal(np.sort(together), np.arange(9000))
    assert (np.diff(search) < 0).any()


def test_large_tables_are_certified_on_the_latest_rows():
    rng = np.random.default_rng(0)
    n = 6000
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    y[4600:] += 2.0 * X[4600:, 1]  # what matters changes after the rows that choose
    settings = {"searches": ["linear"], "models": ["linear"], "random_state": 0}
    random = FeatureSelector(0.05, **settings).fit(X, y)
    in_time = FeatureSelector(0.05, cv=TimeSeriesSplit(), **settings).fit(X, y)
    assert random.get_support().tolist() == [True, True, False]
    assert in_time.get_support().tolist() == [True, False, False]
    assert in_time.certificate_.rows.startswith("the latest")
    assert any("in order of time" in note for note in in_time.notes_)
    # Models of all columns know no better from the past: the budget is met, and the error is seen.
    assert in_time.certificate_.error_kept > 2 * random.certificate_.error_kept


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3, gap=5), TimeSeriesSplit(3, test_size=50)])
def test_other_time_splits_cross_fit_all_rows(cv):
    X, y = drifting(400)
    found = selector(cv, models=["linear"]).fit(X, y)
    assert found.certificate_.n_rows == sum(len(test) for _, test in cv.split(X))
