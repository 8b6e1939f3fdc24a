"""A Dask client whose many ways to fail come out as one error that says what to do."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from distributed import Client, Future
from distributed.comm import CommClosedError

from pinsker.exceptions import EngineError, EngineLostError, ParameterError

_LOG = logging.getLogger("pinsker")

#: A scheduler that cannot be reached for so long is lost, and so is a cluster without workers.
_SECONDS_TO_RECONNECT = 10.0
_SECONDS_TO_FIND_WORKERS = 60.0
_ATTEMPTS_TO_SHARE = 5


class ForgottenError(Exception):
    """The cluster no longer knows what it was given: it was restarted, or every copy is gone."""


class Cluster:
    """What a search asks of a cluster.

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
                    whom = [worker or min(self.client.nthreads())]
                    return self.client.scatter(value, hash=False, workers=whom)
            except ForgottenError as error:
                _LOG.warning("engine dask: sending again (%s)", error)
                if worker is not None and worker not in self.threads():
                    break  # who asks for that worker's copy will notice that it is gone
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
        """Tell a lost scheduler from a cluster that was restarted."""
        try:
            yield
        except EngineError:
            raise
        except (Exception, CancelledError) as error:  # of Dask's own: no task runs in here
            self.check()
            raise ForgottenError(f"{type(error).__name__}: {error}") from error


def import_quietly(module: str) -> None:
    """Import a module; a task."""
    import_module(module)


def was_lost(client: Client, error: BaseException) -> bool:
    """Tell whether an error means that the cluster is gone, and not that a task has failed."""
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
