"""Where a search runs: the cores of this computer, a Dask cluster, or a GPU.

Every backend adds up the same integers (`FixedPoint`), so all of them give the same bits. Each
declares whether it is `usable`, what `memory` it has, and how to `run` a search, which offers the
methods of ``_kernels.Backward`` or ``_kernels.Forward``. What needs packages of its own is imported
when it is needed.
"""

import sys
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from pinsker._cluster import Cluster
from pinsker._compat import require
from pinsker._types import DaskClient, Fields
from pinsker.engine import _kernels
from pinsker.engine._plan import Plan, WorkerMemory
from pinsker.engine._problem import Problem, one_of
from pinsker.exceptions import EngineError, ParameterError

EngineName = Literal["auto", "local", "dask", "cuda"]

#: Query rows x rows x columns from which ``engine="auto"`` takes a GPU that can be used.
GPU_PAYS_FROM = 2e9
#: Tiles per worker: enough to share them out again when workers come and go.
_MAX_TILES_PER_WORKER = 4


class Request(NamedTuple):
    """What a search was asked for."""

    engine: EngineName
    client: DaskClient
    problem: Problem
    max_samples: int | None
    max_memory: int | None


class Local:
    """A place where searches run: the cores of this computer; other backends say what differs."""

    name: ClassVar[str] = "local"

    @classmethod
    def usable(cls, request: Request) -> Self | None:  # noqa: ARG003
        """Return the backend; None where it cannot run a search or does not pay."""
        return cls()

    def memory(self) -> WorkerMemory:
        """Return the memory that the rows of a search are kept in: here that of this process."""
        return WorkerMemory()

    def run(self, request: Request, plan: Plan, settings: Fields) -> tuple[Any, Plan]:  # noqa: ARG002
        """Return a search, backward where the plan keeps pairs, and the plan that it follows."""
        kernel = _kernels.Backward if plan.keeps_pairs else _kernels.Forward
        return kernel(**settings), plan


@dataclass(frozen=True)
class Dask(Local):
    """The workers of a Dask cluster."""

    name = "dask"
    client: DaskClient

    @classmethod
    def usable(cls, request: Request) -> Self | None:
        """Return the backend of the cluster that was given or is active."""
        client = find_client(request.engine, request.client)
        return None if client is None else cls(client)

    def memory(self) -> WorkerMemory:
        """Return how many workers there are, and what the smallest may use."""
        workers = Cluster(self.client).workers().values()
        limits = [int(worker.get("memory_limit") or 0) for worker in workers]
        smallest = min((limit for limit in limits if limit > 0), default=None)
        return WorkerMemory("dask", len(workers), smallest, _MAX_TILES_PER_WORKER, holds_table=True)

    def run(self, request: Request, plan: Plan, settings: Fields) -> tuple[Any, Plan]:
        """Return a search of tiles on the workers."""
        searches = _dask()
        kernel = searches.DaskBackward if plan.keeps_pairs else searches.DaskForward
        cache = request.problem.cache
        return kernel(client=self.client, cache=cache, n_tiles=plan.n_tiles, **settings), plan


class Cuda(Local):
    """A GPU."""

    name = "cuda"

    @classmethod
    def usable(cls, request: Request) -> Self | None:
        """Return the backend where it must be used, or can be, pays and holds the table."""
        if request.engine == cls.name:
            check_gpu(request.engine)
            return cls()
        problem = request.problem
        n_queries = min(request.max_samples or problem.n_rows, problem.n_rows)
        work = float(n_queries) * problem.n_rows * problem.values.shape[1]
        if work < GPU_PAYS_FROM or missing_gpu() is not None:
            return None
        targets = 0 if problem.target is None else problem.target.shape[1]
        needed: int = _cuda().least_memory(*problem.values.shape, problem.n_features, targets)
        return cls() if needed <= (request.max_memory or needed) else None

    def memory(self) -> WorkerMemory:
        """Return a plan of nothing: a search plans the memory of the GPU by itself."""
        return WorkerMemory("cuda", is_planned=False)

    def run(self, request: Request, plan: Plan, settings: Fields) -> tuple[Any, Plan]:
        """Return a search on the GPU, and the memory that it has planned."""
        kernel = _cuda().CudaBackward if plan.keeps_pairs else _cuda().CudaForward
        search = kernel(**settings, memory_limit=request.max_memory)
        memory = {"n_watched": search.n_watched, "n_bytes": search.n_bytes, "limit": search.limit}
        return search, replace(plan, **memory)


#: In the order in which "auto" takes them.
_BACKENDS: tuple[type[Local], ...] = (Dask, Cuda, Local)


def choose_backend(request: Request) -> Local:
    """Return the first backend that was asked for and can be used."""
    one_of("engine", request.engine, get_args(EngineName))
    check_client(request.client)
    for backend in _BACKENDS:
        if request.engine in ("auto", backend.name) and (found := backend.usable(request)):
            return found
    return Local()  # a search inside of a task on a Dask worker


def is_local(engine: EngineName, client: DaskClient = None) -> bool:
    """Return whether searches are wanted in this process and its memory."""
    return engine != Cuda.name and find_client(engine, client) is None


def find_client(engine: EngineName, client: DaskClient = None) -> DaskClient:
    """Return the client of the cluster that an engine works on, or None if it works elsewhere."""
    one_of("engine", engine, get_args(EngineName))
    check_client(client)
    if engine not in ("auto", Dask.name):
        return None
    if client is not None or _is_a_task():
        return client
    client = active_client()
    if client is None and engine == Dask.name:
        require("distributed", purpose="engine='dask'", extra="dask")
        raise EngineError(
            "<engine='dask'|--scheduler> finds no cluster: start one with distributed.Client(...), "
            "or pass client=."
        )
    return client


def check_client(client: DaskClient) -> None:
    """Refuse what is neither None nor a client."""
    if client is not None and not hasattr(client, "submit"):
        raise ParameterError(
            f"client={client!r} has no method submit: use a distributed.Client or None.",
            parameter="client",
        )


def calls_on_cluster(client: DaskClient) -> Any:
    """Return what runs calls that do not depend on each other on a cluster."""
    if client is None:
        raise ParameterError("client=None runs nothing: use a distributed.Client.")
    check_client(client)
    return _dask().CallsOnCluster(client)


def check_gpu(engine: EngineName) -> None:
    """Refuse a GPU that is asked for and not there, also where no search would use it."""
    if engine == Cuda.name and (reason := missing_gpu()):
        raise EngineError(f"<engine=cuda> cannot be used: {reason}")


def missing_gpu() -> str | None:
    """Return why no GPU can be used and what to do, or None if one can."""
    reason: str | None = _cuda().missing()
    return reason


def active_client() -> DaskClient:
    """Return the client that is active in this process; distributed is not imported to find out."""
    distributed = sys.modules.get("distributed")
    try:
        client = None if distributed is None else distributed.default_client()
    except ValueError:  # there is none
        return None
    return None if client is None or client.asynchronous else client


def _is_a_task() -> bool:
    """Return whether this code runs in a task on a Dask worker."""
    distributed = sys.modules.get("distributed")
    try:
        return distributed is not None and distributed.get_worker() is not None
    except ValueError:
        return False


def _dask() -> Any:
    require("distributed", purpose="engine='dask'", extra="dask")
    return import_module("pinsker.engine.backends.dask._searches")


def _cuda() -> Any:
    return import_module("pinsker.engine.backends.cuda")
