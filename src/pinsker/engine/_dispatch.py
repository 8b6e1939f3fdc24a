"""Which engine runs a search: the cores of this computer, a Dask cluster, or a GPU.

Every engine adds up the same integers (`FixedPoint`), so all of them give the same bits. A search
object takes the keyword arguments of ``_kernels.Backward`` or ``_kernels.Forward`` and offers their
methods; `backward_search` and `forward_search` return one. Engines that need packages of their own
are imported when they are needed.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from pinsker._compat import require
from pinsker._types import IntArray
from pinsker.engine import _kernels
from pinsker.engine._boundary import one_of
from pinsker.engine._plan import WorkerMemory
from pinsker.engine._problem import Problem
from pinsker.exceptions import EngineError, ParameterError

EngineName = Literal["auto", "local", "dask", "cuda"]
Settings = Mapping[str, Any]

#: Query rows x rows x columns from which ``engine="auto"`` takes a GPU that can be used.
GPU_PAYS_FROM = 2e9
#: Tiles per worker: enough to share them out again when workers come and go.
_MAX_TILES_PER_WORKER = 4
_NO_CLIENT = (
    "<engine='dask'|--scheduler> finds no cluster: start one with distributed.Client(...), or pass "
    "client=."
)


@dataclass(frozen=True)
class Chosen:
    """An engine that was found to be usable."""

    engine: Literal["local", "dask", "cuda"]  # its name
    client: Any = None  # the cluster of "dask"

    def worker_memory(self) -> WorkerMemory:
        """Return the memory of the workers."""
        if self.engine != "dask":
            return WorkerMemory(self.engine)
        n_workers, n_bytes = _dask().worker_memory(self.client)
        return WorkerMemory("dask", n_workers, n_bytes, _MAX_TILES_PER_WORKER)


class Search(Protocol):
    """What both directions offer."""

    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None:
        """Begin at a set: one flag per feature."""

    def information(self) -> int:
        """Return the sum of the terms of the current set, in fixed point."""


class BackwardSearch(Search, Protocol):
    """Scores removals."""

    def remove(self, feature: int, threads: int) -> None:
        """Take a feature out of the set."""

    def changes(self, out: IntArray) -> None:
        """Write the change of the sum with each removal; for direct scores its own sum."""


class ForwardSearch(Search, Protocol):
    """Scores additions."""

    def add(self, feature: int, threads: int) -> None:
        """Put a feature into the set."""

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature added; for direct scores its own sum."""


def backward_search(
    chosen: Chosen, problem: Problem, n_tiles: int, settings: Settings
) -> BackwardSearch:
    """Return the backward search of an engine."""
    search: BackwardSearch
    if chosen.engine == "dask":
        search = _dask().DaskBackward(
            client=chosen.client, cache=problem.cache, n_tiles=n_tiles, **settings
        )
    elif chosen.engine == "cuda":
        search = _cuda().CudaBackward(**settings)
    else:
        search = _kernels.Backward(**settings)
    return search


def forward_search(
    chosen: Chosen, problem: Problem, n_tiles: int, settings: Settings
) -> ForwardSearch:
    """Return the forward search of an engine."""
    search: ForwardSearch
    if chosen.engine == "dask":
        search = _dask().DaskForward(
            client=chosen.client, cache=problem.cache, n_tiles=n_tiles, **settings
        )
    elif chosen.engine == "cuda":
        search = _cuda().CudaForward(**settings)
    else:
        search = _kernels.Forward(**settings)
    return search


def choose_engine(
    engine: EngineName,
    client: Any,
    problem: Problem,
    max_samples: int | None = None,
    max_memory: int | None = None,
) -> Chosen:
    """Return the engine that will work, and the client it works through."""
    one_of("engine", engine, get_args(EngineName))
    check_client(client)
    if engine == "cuda":
        if reason := missing_gpu():
            raise EngineError(f"<engine=cuda> cannot be used: {reason}")
        return Chosen("cuda")
    if engine == "local":
        return Chosen("local")
    client = find_client(engine, client)
    if client is not None:
        return Chosen("dask", client)
    n_queries = min(max_samples or problem.n_rows, problem.n_rows)
    work = float(n_queries) * problem.n_rows * problem.values.shape[1]
    pays = engine == "auto" and work >= GPU_PAYS_FROM
    if pays and missing_gpu() is None and _fits_on_gpu(problem, max_memory):
        return Chosen("cuda")
    return Chosen("local")


def _fits_on_gpu(problem: Problem, max_memory: int | None) -> bool:
    """Return whether a table fits into max_memory; a GPU needs more for it than the cores."""
    if max_memory is None:
        return True
    targets = 0 if problem.target is None else problem.target.shape[1]
    needed: int = _cuda().least_memory(*problem.values.shape, problem.n_features, targets)
    return needed <= max_memory


def find_client(engine: EngineName, client: Any = None) -> Any:
    """Return the client of the cluster that an engine works on, or None if it works elsewhere."""
    one_of("engine", engine, get_args(EngineName))
    check_client(client)
    if engine not in ("auto", "dask") or client is not None:
        return client if engine in ("auto", "dask") else None
    if _is_a_task():
        return None
    client = _active_client()
    if client is None and engine == "dask":
        require("distributed", purpose="engine='dask'", extra="dask")
        raise EngineError(_NO_CLIENT)
    return client


def check_client(client: Any) -> None:
    """Refuse what is neither None nor a client."""
    if client is not None and not hasattr(client, "submit"):
        raise ParameterError(
            f"client={client!r} has no method submit: use a distributed.Client or None.",
            parameter="client",
        )


def calls_on_cluster(client: Any) -> Any:
    """Return what runs calls that do not depend on each other on a cluster."""
    if client is None:
        raise ParameterError("client=None runs nothing: use a distributed.Client.")
    check_client(client)
    return _dask().CallsOnCluster(client)


def missing_gpu() -> str | None:
    """Return why the GPU engine cannot be used and what to do, or None if it can."""
    if find_spec("pinsker.engine._cuda") is None:
        other = "<engine='dask'|--scheduler ADDRESS>"
        return f"this build of pinsker has no CUDA engine; use <engine=local> or {other}."
    reason: str | None = _cuda().missing()
    return reason


def _active_client() -> Any:
    """Return the client that is active in this process; distributed is not imported to find out."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:  # there is none
        return None
    return None if client.asynchronous else client


def _is_a_task() -> bool:
    """Return whether this code runs in a task on a Dask worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _dask() -> Any:
    require("distributed", purpose="engine='dask'", extra="dask")
    return import_module("pinsker.engine._dask")


def _cuda() -> Any:
    return import_module("pinsker.engine._cuda")
