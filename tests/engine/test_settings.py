"""Settings for experts: checked, frozen, and reachable by scikit-learn's parameters."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from pinsker.engine import EngineSettings, KNNSettings
from pinsker.exceptions import ParameterError


class FakeClient:
    """Looks like a client, and must never be copied."""

    def submit(self):
        raise NotImplementedError

    def scatter(self):
        raise NotImplementedError

    def __deepcopy__(self, memo):
        raise AssertionError("a client was copied")

    def __reduce__(self):
        raise AssertionError("a client was pickled")


class Holder(BaseEstimator):
    """An estimator with settings, that sets nested parameters by `replace_params`."""

    def __init__(self, knn=KNNSettings(), engine=EngineSettings()):  # noqa: B008 (frozen)
        self.knn = knn
        self.engine = engine

    def set_params(self, **params):
        for key, value in params.items():
            name, _, nested = key.partition("__")
            setattr(self, name, getattr(self, name).replace_params(**{nested: value}))
        return self


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (KNNSettings, {"n_neighbors": 0}, r"n_neighbors=0 cannot be used: give an integer of at"),
        (KNNSettings, {"n_neighbors": 2.0}, r"n_neighbors=2.0 cannot be used"),
        (KNNSettings, {"n_neighbors": True}, r"n_neighbors=True cannot be used"),
        (KNNSettings, {"n_neighbors": None}, r"n_neighbors=None cannot be used"),
        (KNNSettings, {"scale": "rank"}, r"scale='rank' is none of 'copula', 'standard', 'none'"),
        (KNNSettings, {"scale": None}, r"scale=None is none of"),
        (KNNSettings, {"score": ["direct"]}, r"score=\['direct'\] is none of 'difference', 'dir"),
        (KNNSettings, {"max_samples": 0}, r"max_samples=0 cannot be used: .* at least 1, or None"),
        (EngineSettings, {"name": "gpu"}, r"name='gpu' is none of 'auto', 'local', 'dask', 'cuda'"),
        (EngineSettings, {"client": "here"}, r"client='here' has no method submit"),
        (EngineSettings, {"max_memory": -1}, r"max_memory=-1 cannot be used: .* or None"),
        (EngineSettings, {"max_memory": 1e9}, r"max_memory=1000000000.0 cannot be used"),
    ],
)
def test_wrong_values_are_refused(kind, fields, message):
    with pytest.raises(ParameterError, match=message):
        kind(**fields)
    with pytest.raises(ParameterError, match=message):
        kind().replace_params(**fields)


def test_integers_of_numpy_are_integers():
    assert KNNSettings(n_neighbors=np.int64(5)) == KNNSettings(5)


@pytest.mark.parametrize("kind", [KNNSettings, EngineSettings])
def test_settings_are_frozen(kind):
    settings = kind()
    name = next(iter(settings.get_params()))
    with pytest.raises(FrozenInstanceError):
        setattr(settings, name, 5)
    with pytest.raises(ParameterError, match=rf"is frozen, so {name} cannot be set in place"):
        settings.set_params(**{name: 5})
    assert settings.set_params() is settings
    with pytest.raises(ParameterError, match=r"'depth' is no parameter of .*: use one of"):
        settings.replace_params(depth=5)
    assert hash(settings) == hash(kind())


def test_replaced_parameters_leave_the_others():
    before = KNNSettings(scale="standard")
    after = before.replace_params(n_neighbors=7, score="direct")
    assert after.get_params() == {
        "n_neighbors": 7,
        "scale": "standard",
        "score": "direct",
        "max_samples": None,
        "estimator": "ksg",
    }
    assert before == KNNSettings(scale="standard")
    assert KNNSettings(**after.get_params(deep=False)) == after


def test_an_estimator_lists_and_sets_nested_parameters():
    estimator = Holder()
    params = estimator.get_params()
    assert params["knn__n_neighbors"] == 3
    assert params["engine__name"] == "auto"
    estimator.set_params(knn__n_neighbors=5, engine__max_memory=2**20)
    assert estimator.knn == KNNSettings(5)
    assert estimator.engine.max_memory == 2**20
    assert Holder().knn == KNNSettings()  # the default is not changed
    assert clone(estimator).get_params() == estimator.get_params()


def test_copies_and_clones_share_the_client():
    client = FakeClient()
    settings = EngineSettings("dask", client=client)
    estimator = Holder(engine=settings)
    copies = [clone(settings), copy.copy(settings), copy.deepcopy(settings)]
    copies += [clone(estimator).engine, copy.deepcopy(estimator).engine]
    for same in copies:
        assert same == settings
        assert same.client is client


def test_a_pickle_leaves_the_client_out():
    settings = EngineSettings("dask", client=FakeClient(), max_memory=2**20)
    loaded = pickle.loads(pickle.dumps(settings))
    assert loaded == EngineSettings("dask", max_memory=2**20)
    assert pickle.loads(pickle.dumps(Holder(engine=settings))).engine.client is None
    assert settings.client is not None
    assert pickle.loads(pickle.dumps(KNNSettings(5))) == KNNSettings(5)
