"""A Dask cluster and a table on it; its many ways to fail come out as one error."""

import logging
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from distributed import Client, Future, fire_and_forget
from distributed.comm import CommClosedError

from pinsker.engine._dask._tiles import SharedTable, forget
from pinsker.exceptions import EngineError, EngineLostError, ParameterError

_LOG = logging.getLogger("pinsker")

#: A scheduler that cannot be reached for so long is lost, and so is a cluster without workers.
_SECONDS_TO_RECONNECT = 10.0
_SECONDS_TO_FIND_WORKERS = 60.0
_ATTEMPTS_TO_SHARE = 5


class StateLostError(Exception):
    """The cluster no longer has what was sent: it was restarted, or every copy is gone."""


class Cluster:
    """What a search needs of a cluster.

    Parameters
    ----------
    client : distributed.Client
        A client that is not asynchronous.
    """

    def __init__(self, client: Client) -> None:
        if client.asynchronous:
            raise ParameterError(
                "client is asynchronous, but a search waits for its steps: pass "
                "distributed.Client(..., asynchronous=False)."
            )
        self.client = client

    def threads(self) -> dict[str, int]:
        """Return the threads of every worker; wait for the first one if there is none."""
        self.check()  # Dask itself would try to connect for half a minute
        with self._may_fail():
            threads: dict[str, int] = self.client.nthreads()
            if not threads:
                self._wait_for_workers()
                threads = self.client.nthreads()
        return threads

    def share(self, value: Any, worker: str | None = None) -> Future:
        """Send something to a worker; the others get it from there when their tasks need it."""
        for _ in range(_ATTEMPTS_TO_SHARE):
            try:
                with self._may_fail():
                    where = [worker or min(self.client.nthreads())]
                    return self.client.scatter(value, hash=False, workers=where)
            except StateLostError as error:
                _LOG.warning("engine dask: sending again (%s)", error)
                if worker is not None and worker not in self.threads():
                    break  # the task that needs this copy finds that the worker is gone
        raise EngineLostError(
            f"the workers of {_address(self.client)} die faster than they can be sent a table."
        )

    def warm_up(self, module: str) -> None:
        """Let every worker import a module in a task, so that receiving data need not do it."""
        with self._may_fail():
            tasks = [
                self.client.submit(
                    import_quietly, module, workers=[w], allow_other_workers=True, pure=False
                )
                for w in self.client.nthreads()
            ]
            for task in tasks:
                try:
                    task.result(timeout=_SECONDS_TO_FIND_WORKERS)
                except TimeoutError:
                    _LOG.warning("engine dask: a worker takes long to import pinsker")
                except ImportError as error:
                    raise EngineError(
                        f"a worker cannot import pinsker ({error}): install the same version there."
                    ) from error

    def submit(self, task: Callable[..., Any], *args: Any, key: str, worker: str) -> Future:
        """Run a task, on this worker as long as there is one."""
        with self._may_fail():
            return self.client.submit(
                task, *args, key=key, workers=[worker], allow_other_workers=True, pure=False
            )

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Fetch results."""
        with self._may_fail():
            results: list[Any] = self.client.gather(list(futures))
        return results

    def check(self) -> None:
        """Raise unless the scheduler can be reached, now or within a little while."""
        deadline = time.monotonic() + _SECONDS_TO_RECONNECT
        while self.client.status != "running":
            if self.client.status in ("closing", "closed") or time.monotonic() > deadline:
                raise EngineLostError(
                    f"the Dask scheduler at {_address(self.client)} cannot be reached any more."
                )
            time.sleep(0.05)

    def _wait_for_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_SECONDS_TO_FIND_WORKERS)
        except TimeoutError as error:
            raise EngineLostError(
                f"the cluster at {_address(self.client)} has had no workers for "
                f"{_SECONDS_TO_FIND_WORKERS:g} seconds: start some."
            ) from error

    @contextmanager
    def _may_fail(self) -> Iterator[None]:
        """Separate a lost scheduler from a cluster that was restarted."""
        try:
            yield
        except EngineError:
            raise
        except (Exception, CancelledError) as error:  # of Dask's own: no task runs in here
            self.check()
            raise StateLostError(f"{type(error).__name__}: {error}") from error


def import_quietly(module: str) -> None:
    """Import a module; a task."""
    import_module(module)


def was_lost(client: Client, error: BaseException) -> bool:
    """Return whether an error means that the cluster is gone, and not that a task has failed."""
    if isinstance(error, CancelledError | CommClosedError):
        return True  # no task raises these itself
    try:
        Cluster(client).check()
        return not client.nthreads()  # a scheduler without workers is no cluster
    except (EngineLostError, OSError):
        return True


def worker_memory(client: Client) -> tuple[int, int | None]:
    """Return the number of workers, and the bytes that the smallest may use (None: no limit)."""
    cluster = Cluster(client)
    n_workers = len(cluster.threads())
    limits = [
        int(worker.get("memory_limit") or 0)
        for worker in client.scheduler_info()["workers"].values()
    ]
    known = [limit for limit in limits if limit > 0]
    return n_workers, min(known) if known else None


def _address(client: Client) -> str:
    scheduler = client.scheduler
    return str(scheduler.address) if scheduler is not None else "an unknown address"


class TableOnCluster:
    """Sends a table once; workers pass it on to each other.

    Parameters
    ----------
    cluster : Cluster
        Where to.
    table : SharedTable
        What.
    """

    def __init__(self, cluster: Cluster, table: SharedTable) -> None:
        self.name = f"table-{uuid.uuid4().hex}"
        self._cluster, self._table = cluster, table
        self._there: set[str] = set()  # workers that have put it into their store
        self._on_its_way: dict[str, Future] = {}
        self._sent_to: set[str] = set()  # their copy comes from here, and not from another worker
        workers = list(cluster.threads())
        cluster.warm_up(SharedTable.__module__)
        self._on_its_way = dict.fromkeys(workers, cluster.share(table))
        forget_later(self, cluster.client, self.name, self._there)

    def for_worker(self, worker: str) -> Future | None:
        """Return what a task on a worker needs to see the table: nothing, if it has it."""
        if worker in self._there:
            return None
        if worker not in self._on_its_way:  # from here: other copies may be anywhere, or nowhere
            self._on_its_way[worker] = self._cluster.share(self._table, worker)
            self._sent_to.add(worker)
        return self._on_its_way[worker]

    def arrived(self, worker: str) -> None:
        """Note that a worker has the table."""
        self._there.add(worker)
        self._on_its_way.pop(worker, None)
        self._sent_to.discard(worker)

    def late(self, worker: str) -> None:
        """Note that a worker should not wait for the copy of another, which may be late itself."""
        if worker not in self._sent_to:  # one copy is enough for all of its tiles
            self._on_its_way.pop(worker, None)

    def lost(self, worker: str | None = None) -> None:
        """Note that a worker does not have it; without a name, that no worker may have it."""
        if worker is not None:
            self._there.discard(worker)
            self.late(worker)
        else:
            self._there.clear()
            self._on_its_way.clear()
            self._sent_to.clear()


def forget_later(owner: object, client: Client, name: str, workers: set[str]) -> None:
    """Make workers forget something when its owner is gone."""
    weakref.finalize(owner, _forget_now, weakref.ref(client), name, workers).atexit = False


def _forget_now(client: "weakref.ref[Any]", name: str, workers: set[str]) -> None:
    there = client()
    if there is None or there.status != "running":
        return
    for worker in workers:
        # Not waited for: this may run in any thread, at any time.
        task = there.submit(forget, name, workers=[worker], allow_other_workers=True, pure=False)
        fire_and_forget(task)
