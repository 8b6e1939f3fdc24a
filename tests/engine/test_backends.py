"""Engines behind one argument: which one is chosen, and the error when one cannot be used."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from pinsker.engine import Backward, Forward, Problem, find_client
from pinsker.engine.backends import Cuda, Dask, Local
from pinsker.exceptions import EngineError, ParameterError


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.normal(size=(60, 4)), labels=rng.integers(0, 2, size=60))


@pytest.fixture
def no_gpu(monkeypatch):
    reason = "there is no GPU here; try another one."
    monkeypatch.setattr("pinsker.engine.backends.missing_gpu", lambda: reason)


@pytest.fixture
def engine_of(monkeypatch):
    """A function that returns the engine a search would run on, without running it there."""
    monkeypatch.setattr("pinsker.engine.backends.missing_gpu", lambda: None)

    class FoundError(Exception):
        pass

    def stop(backend, *arguments):
        raise FoundError(backend.name)

    for backend in (Cuda, Dask, Local):
        monkeypatch.setattr(backend, "run", stop)

    def engine_of(problem, **settings):
        with pytest.raises(FoundError) as found:
            Backward(problem, **settings)
        return found.value.args[0]

    return engine_of


@pytest.mark.parametrize("search", [Backward, Forward])
def test_an_unknown_engine_is_refused(problem, search):
    with pytest.raises(ParameterError, match="engine='gpu' is none of 'auto', 'local', 'dask'"):
        search(problem, engine="gpu")


@pytest.mark.parametrize("search", [Backward, Forward])
def test_cuda_says_what_is_missing(problem, search, no_gpu):
    with pytest.raises(EngineError, match="engine='cuda' cannot be used: there is no GPU here"):
        search(problem, engine="cuda")


def test_auto_takes_the_cores_where_there_is_nothing_else(problem, no_gpu, monkeypatch):
    monkeypatch.setattr("pinsker.engine.backends.GPU_PAYS_FROM", 0)
    assert Backward(problem, engine="auto").plan.engine == "local"


def test_auto_takes_a_gpu_only_where_it_pays(problem, engine_of, monkeypatch):
    assert engine_of(problem, engine="auto") == "local"
    monkeypatch.setattr("pinsker.engine.backends.GPU_PAYS_FROM", 60 * 60 * 4)
    assert engine_of(problem, engine="auto") == "cuda"
    assert engine_of(problem, engine="auto", max_samples=59) == "local"


def test_auto_takes_a_gpu_only_where_max_memory_holds_the_table(problem, engine_of, monkeypatch):
    monkeypatch.setattr("pinsker.engine.backends.GPU_PAYS_FROM", 0)
    assert engine_of(problem, engine="auto", max_memory=100_000) == "cuda"
    # Enough for the cores: 9600 bytes; a GPU takes copies of the table, and 33 248 bytes.
    assert engine_of(problem, engine="auto", max_memory=33_248) == "cuda"
    assert engine_of(problem, engine="auto", max_memory=33_247) == "local"
    assert engine_of(problem, engine="cuda", max_memory=33_247) == "cuda"


def test_a_client_that_is_given_is_the_cluster():
    client = SimpleNamespace(submit=None, scatter=None)
    assert find_client("auto", client) is client
    assert find_client("dask", client) is client
    assert find_client("local", client) is None
    assert find_client("cuda", client) is None


def test_auto_does_not_import_distributed():
    code = (
        "import sys, numpy as np; from pinsker.engine import Backward, Problem\n"
        "problem = Problem.from_arrays(np.arange(40.0).reshape(20, 2), labels=np.arange(20) % 2)\n"
        "Backward(problem, engine='auto')\n"
        "sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
