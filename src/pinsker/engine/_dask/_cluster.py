"""A Dask client whose many ways to fail come out as one error that says what to do."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from distributed import Client, Future
from distributed.comm import CommClosedError

from pinsker.exceptions import EngineError, EngineLostError, ParameterError

#: A scheduler that cannot be reached for so long is lost, and so is a cluster without workers.
_SECONDS_TO_RECONNECT = 10.0
_SECONDS_TO_FIND_WORKERS = 60.0


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

    def share(self, value: Any) -> Future:
        """Send something to every worker."""
        with self._may_fail():
            return self.client.scatter(value, broadcast=True, hash=False)

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
        except (CommClosedError, CancelledError, OSError, TimeoutError, RuntimeError) as error:
            self.check()
            raise ForgottenError(f"{type(error).__name__}: {error}") from error


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
