"""Selectors on a cluster: the same choice, by searches and models that run there."""

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardSelection,
    GrowShrink,
)
from pinsker.exceptions import EngineError
from pinsker.selection import _crossfit_jobs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, GrowShrink])
def test_paths_are_the_same(client, data, kind):
    there = kind(engine="dask", client=client).fit(*data)
    here = kind(engine="local").fit(*data)
    assert there.path_ == here.path_
    assert there.notes_ == here.notes_
    assert clone(there).client is client


def test_an_active_client_is_used_without_being_named(cluster, data):
    with distributed.Client(cluster):
        selector = BackwardElimination().fit(*data)
    assert selector.plan_.engine == "dask"
    assert BackwardElimination().fit(*data).plan_.engine == "local"


def test_folds_and_models_are_evaluated_on_the_cluster(client, data, monkeypatch):
    run, used = _crossfit_jobs.Jobs.run, []

    def noted(self, function, about, calls):
        used.append((function.__name__, self.client))
        return run(self, function, about, calls)

    monkeypatch.setattr(_crossfit_jobs.Jobs, "run", noted)
    settings = {
        "folds": 2,
        "paths": ["grow-shrink", "relevance", "linear"],
        "witnesses": [LogisticRegression()],
    }
    there = FeatureSelector(engine="dask", client=client, **settings).fit(*data)
    assert set(used) == {("search_rows", client), ("answer", client)}
    here = FeatureSelector(engine="local", **settings).fit(*data)
    assert there.path_ == here.path_
    assert there.comparison_ == here.comparison_
    fresh = data[0][::-1] + 0.01, data[1][::-1]
    assert there.certify(*fresh) == here.certify(*fresh)


def test_partitions_are_counted_by_the_workers(cluster, data):
    frame = pd.DataFrame(data[0], columns=list("abcdef")).assign(y=data[1])
    with distributed.Client(cluster):
        there = CriterionSelection("cmim", 4).fit(dd.from_pandas(frame, npartitions=3), "y")
    assert there.path_ == CriterionSelection("cmim", 4).fit(frame[list("abcdef")], frame["y"]).path_


def test_what_cannot_travel_is_refused_at_once(client, data):
    class Stuck(LogisticRegression):
        def __reduce__(self):
            raise TypeError("I stay here")

    selector = FeatureSelector(
        engine="dask", client=client, folds=2, paths=["linear"], witnesses=[Stuck()]
    )
    with pytest.raises(EngineError, match=r"cannot be sent to the workers \(I stay here\)"):
        selector.fit(*data)


@pytest.mark.parametrize("kind", [OSError, TimeoutError])
def test_an_error_of_a_model_is_not_taken_for_a_lost_cluster(client, data, kind):
    class Licensed(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise kind("the licence server does not answer")

    selector = FeatureSelector(
        engine="dask", client=client, folds=2, paths=["linear"], witnesses=[Licensed()]
    )
    with pytest.raises(kind, match="the licence server does not answer") as caught:
        selector.fit(*data)
    assert caught.type is kind
