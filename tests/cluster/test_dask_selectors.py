"""Selectors on a cluster: the same choice, by searches and models that run there."""

import pickle

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from dask.base import tokenize
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    EngineSettings,
    FeatureSelector,
    ForwardBackwardSelection,
)
from pinsker.exceptions import EngineError
from pinsker.holdout import Jobs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 5))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=100) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardBackwardSelection])
def test_paths_are_the_same(client, data, kind):
    there = kind(engine=EngineSettings("dask", client)).fit(*data)
    here = kind(engine="local").fit(*data)
    assert there.path_ == here.path_
    assert there.notes_ == here.notes_
    assert clone(there).engine.client is client


def test_an_active_client_is_used_without_being_named(cluster, data):
    with distributed.Client(cluster):
        selector = BackwardElimination().fit(*data)
    assert selector.path_.plan.engine == "dask"
    assert BackwardElimination().fit(*data).path_.plan.engine == "local"


def test_calls_on_other_fits_are_other_calls(client, data):
    fits = [BackwardElimination(engine="local").fit(data[0], data[0][:, j] > 0) for j in (3, 4)]
    here, again = (tokenize(one) for one in (fits[0], pickle.loads(pickle.dumps(fits[0]))))
    assert here == again
    sets = [client.submit(BackwardElimination.get_support, one).result() for one in fits]
    assert [np.flatnonzero(one).tolist() for one in sets] == [[3], [4]]


def test_folds_and_models_are_evaluated_on_the_cluster(client, data, monkeypatch):
    run, used = Jobs.run, []

    def noted(self, function, shared, calls, *n_jobs, **options):
        used.append((function.__name__, self.client))
        return run(self, function, shared, calls, *n_jobs, **options)

    monkeypatch.setattr(Jobs, "run", noted)
    settings = {
        "cv": 2,
        "searches": ["forward-backward", "linear"],
        "models": [LogisticRegression()],
        "random_state": 0,
    }
    there = FeatureSelector(engine=EngineSettings("dask", client), **settings).fit(*data)
    assert set(used) == {("search_rows", client), ("fit_predict", client)}
    here = FeatureSelector(engine="local", **settings).fit(*data)
    assert there.path_ == here.path_
    for name, values in there.cv_results_.items():
        np.testing.assert_equal(list(values), list(here.cv_results_[name]))
    fresh = data[0][::-1] + 0.01, data[1][::-1]
    assert there.certify(*fresh) == here.certify(*fresh)


def test_partitions_are_counted_by_the_workers(cluster, data):
    frame = pd.DataFrame(data[0], columns=list("abcde")).assign(y=data[1])
    with distributed.Client(cluster):
        there = CriterionSelection("cmim", 4).fit(dd.from_pandas(frame, npartitions=3), "y")
    assert there.path_ == CriterionSelection("cmim", 4).fit(frame[list("abcde")], frame["y"]).path_


def test_what_cannot_travel_is_refused_at_once(client, data):
    class Stuck(LogisticRegression):
        def __reduce__(self):
            raise TypeError("I stay here")

    selector = FeatureSelector(
        engine=EngineSettings("dask", client), cv=2, searches=["linear"], models=[Stuck()]
    )
    with pytest.raises(EngineError, match=r"cannot be sent to the workers \(I stay here\)"):
        selector.fit(*data)


@pytest.mark.parametrize("kind", [OSError, TimeoutError])
def test_an_error_of_a_model_is_not_taken_for_a_lost_cluster(client, data, kind):
    class Licensed(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise kind("the licence server does not answer")

    selector = FeatureSelector(
        engine=EngineSettings("dask", client), cv=2, searches=["linear"], models=[Licensed()]
    )
    with pytest.raises(kind, match="the licence server does not answer") as caught:
        selector.fit(*data)
    assert caught.type is kind
