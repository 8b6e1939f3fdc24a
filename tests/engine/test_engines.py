"""Engines behind one argument: who is chosen, and what is said when one cannot be used."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection, GrowShrink
from pinsker.engine import Backward, Forward, Problem, _engines
from pinsker.engine._cuda import least_memory
from pinsker.engine._engines import Chosen
from pinsker.exceptions import EngineError, ParameterError

SELECTORS = [BackwardElimination, ForwardSelection, GrowShrink, FeatureSelector]


class FakeClient:
    """Looks like a client, and must never be copied."""

    asynchronous = False

    def submit(self):
        raise NotImplementedError

    def scatter(self):
        raise NotImplementedError

    def __deepcopy__(self, memo):
        raise AssertionError("a client was copied")

    def __reduce__(self):
        raise AssertionError("a client was pickled")


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.normal(size=(60, 4)), labels=rng.integers(0, 2, size=60))


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(_engines, "missing_gpu", lambda: "there is no GPU here; try another one.")


@pytest.mark.parametrize("search", [Backward, Forward])
def test_an_unknown_engine_is_refused(problem, search):
    with pytest.raises(ParameterError, match="engine='gpu' is none of 'auto', 'local', 'dask'"):
        search(problem, engine="gpu")


@pytest.mark.parametrize("search", [Backward, Forward])
def test_cuda_says_what_is_missing(problem, search, no_gpu):
    with pytest.raises(EngineError, match="engine='cuda' cannot be used: there is no GPU here"):
        search(problem, engine="cuda")


def test_auto_takes_the_cores_where_there_is_nothing_else(problem, no_gpu):
    assert _engines.choose_engine("auto", None, problem) == Chosen("local")
    assert Backward(problem, engine="auto").plan.engine == "local"


def test_auto_takes_a_gpu_only_where_it_pays(problem, monkeypatch):
    monkeypatch.setattr(_engines, "missing_gpu", lambda: None)
    assert _engines.choose_engine("auto", None, problem) == Chosen("local")
    monkeypatch.setattr(_engines, "GPU_PAYS_FROM", 60 * 60 * 4)
    assert _engines.choose_engine("auto", None, problem) == Chosen("cuda")
    assert _engines.choose_engine("auto", None, problem, max_samples=59) == Chosen("local")


def test_auto_takes_a_gpu_only_where_max_memory_holds_the_table(problem, monkeypatch):
    monkeypatch.setattr(_engines, "missing_gpu", lambda: None)
    monkeypatch.setattr(_engines, "GPU_PAYS_FROM", 0)
    least = least_memory(60, 4, n_features=4, targets=0)
    assert _engines.choose_engine("auto", None, problem, max_memory=least) == Chosen("cuda")
    assert _engines.choose_engine("auto", None, problem, max_memory=least - 1) == Chosen("local")
    assert _engines.choose_engine("cuda", None, problem, max_memory=least - 1) == Chosen("cuda")


def test_auto_takes_the_client_it_is_given(problem):
    client = FakeClient()
    for engine in ("auto", "dask"):
        assert _engines.choose_engine(engine, client, problem) == Chosen("dask", client)
    assert _engines.choose_engine("local", client, problem) == Chosen("local")


@pytest.mark.parametrize("kind", SELECTORS)
def test_selectors_check_and_clone_the_engine(kind):
    client = FakeClient()
    selector = kind(engine="dask", client=client)
    twin = clone(selector.set_output(transform="pandas"))
    assert twin.client is client
    assert twin.engine == "dask"
    assert twin._sklearn_output_config == selector._sklearn_output_config
    assert pickle.loads(pickle.dumps(selector)).client is None
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with pytest.raises(ValueError, match="'engine' parameter"):
        kind(engine="gpu").fit(X, y)
    with pytest.raises(ValueError, match="'client' parameter"):
        kind(client="somewhere").fit(X, y)


def test_auto_does_not_import_distributed():
    code = (
        "import sys, numpy as np; from pinsker import BackwardElimination\n"
        "BackwardElimination().fit(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)\n"
        "sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
