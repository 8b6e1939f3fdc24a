"""A Dask cluster on which every wait ends, by an answer or by one clear error.

A worker counts as long as it is heard of. Dask itself waits five minutes for one that is stopped,
and without any limit for its answer to a question; here the heartbeats that workers send to the
scheduler are watched during every wait. Nothing of Dask is imported: a client brings it along.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

from pinsker.exceptions import EngineError, EngineLostError, ParameterError

_LOG = logging.getLogger("pinsker")

#: A scheduler that cannot be reached for so long is lost, and one that does not answer for so long.
_SECONDS_TO_RECONNECT = 10.0
_SECONDS_TO_ANSWER = 60.0
#: A worker without a heartbeat, or paused by Dask because memory ran out, for so long is left out.
_SECONDS_OF_SILENCE = 30.0
#: A cluster without workers for so long is lost; one whose workers are all silent may be busy with
#: code that lets no heartbeat through: they have so long, as Dask itself gives them.
_SECONDS_WITHOUT_WORKERS = 60.0
_SECONDS_ALL_SILENT = 300.0
_SECONDS_BETWEEN_LOOKS = 1.0
_TICK = 0.1
_ATTEMPTS_TO_SHARE = 5


class StateLostError(Exception):
    """The cluster no longer has what was sent: it was restarted, or every copy is gone."""


class WorkersLeftError(StateLostError):
    """Workers that were counted on have died, or are not heard of any more."""

    def __init__(self, workers: Collection[str]) -> None:
        super().__init__(f"lost or not heard of: {', '.join(sorted(workers))}")
        self.workers = frozenset(workers)


class Cluster:
    """What searches and passes over partitions need of a cluster."""

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise ParameterError(
                "client is asynchronous, but a search waits for its steps: pass "
                "distributed.Client(..., asynchronous=False)."
            )
        self.client = client
        self.left_out: frozenset[str] = frozenset()
        self._in_use: frozenset[str] = frozenset()
        self._looked = 0.0
        self._heard: dict[str, tuple[float, float]] = {}  # last heartbeat, and when it was new here
        self._prepared: set[str] = set()

    def threads(self) -> dict[str, int]:
        """Return the threads of every worker in use; wait for the first one if there is none."""
        return {name: int(worker["nthreads"]) for name, worker in self.workers().items()}

    def workers(self) -> dict[str, dict[str, Any]]:
        """Return what the scheduler knows of every worker in use, of at least one."""
        if found := self._look():
            return found
        began = time.monotonic()
        probe = None
        with suppress(StateLostError):  # a cluster that adapts to its work starts workers for it
            probe = self.submit(import_module, "pinsker", key=f"pinsker-{uuid4()}", workers=None)
        while not (found := self._look()):
            limit = _SECONDS_ALL_SILENT if self.left_out else _SECONDS_WITHOUT_WORKERS
            if time.monotonic() - began > limit:
                none = "none of them has sent a heartbeat or run a task for"
                silent = f"{_SECONDS_OF_SILENCE + _SECONDS_ALL_SILENT:g} seconds"
                why = f"has had no workers for {_SECONDS_WITHOUT_WORKERS:g} seconds: start some."
                if self.left_out:
                    why = (
                        f"has {len(self.left_out)} workers, and {none} {silent}: they are stopped, "
                        "out of reach, or paused by Dask because memory ran out. Restart them, or "
                        "give them more."
                    )
                raise EngineLostError(f"the cluster at {_address(self.client)} {why}")
            time.sleep(_TICK)
        del probe  # Dask forgets a task without a future
        return found

    def share(self, value: Any, worker: str | None = None) -> Any:
        """Send something to a worker; the others get it from there when their tasks need it."""
        self._prepare(self.threads())
        failed: StateLostError | None = None
        for _ in range(_ATTEMPTS_TO_SHARE):
            where = worker or self._best_place()
            try:
                with self._may_fail():
                    to = [where]
                    sending = self.client.scatter(value, hash=False, workers=to, asynchronous=True)
                    return self._wait(sending, to)
            except StateLostError as error:
                failed = error
                _LOG.warning("engine dask: sending again (%s)", error)
                if worker is not None and worker not in self.threads():
                    raise WorkersLeftError([worker]) from error
        raise EngineLostError(
            f"the workers of {_address(self.client)} cannot be sent a table, after "
            f"{_ATTEMPTS_TO_SHARE} attempts ({failed})."
        )

    def _best_place(self) -> str:
        """Return a worker to send something to: one that Dask has paused would not take it."""
        workers = self.workers()
        return min(workers, key=lambda name: (workers[name].get("status") != "running", name))

    def submit(
        self, task: Callable[..., Any], *args: Any, key: str, workers: Collection[str] | None
    ) -> Any:
        """Run a task on one of these workers and nowhere else; None: anywhere."""
        with self._may_fail():
            where = None if workers is None else list(workers)
            return self.client.submit(task, *args, key=key, workers=where, pure=False)

    def gather(self, futures: Sequence[Any], workers: Collection[str]) -> list[Any]:
        """Fetch results from these workers."""
        with self._may_fail():
            found = self.client.gather(list(futures), asynchronous=True)
            return list(self._wait(found, workers))

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Compute delayed objects: Dask itself computes again what was lost with a worker."""
        with self._may_fail():
            futures = self.client.compute(list(tasks))
        while not all(future.done() for future in futures):
            if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
                self.workers()
            time.sleep(_TICK / 10)
        raise_failures(futures)
        try:
            return self.gather(futures, ())
        except StateLostError as error:
            raise EngineLostError(f"the cluster lost what it had computed ({error}).") from error

    def cancel(self, futures: Sequence[Any]) -> None:
        """Make the cluster forget tasks; not waited for."""
        if futures and self.client.status == "running":
            self._start(self.client.cancel(list(futures), asynchronous=True))

    def watch(self, workers: Collection[str]) -> None:
        """Raise if one of these workers is not in use any more; looks now and then."""
        self.check()
        if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            self._look()
        if left := set(workers) - self._in_use:
            raise WorkersLeftError(left)

    def check(self) -> None:
        """Raise unless the scheduler can be reached, now or within a little while."""
        deadline = time.monotonic() + _SECONDS_TO_RECONNECT
        while self.client.status != "running":
            if self.client.status in ("closing", "closed") or time.monotonic() > deadline:
                raise EngineLostError(
                    f"the Dask scheduler at {_address(self.client)} cannot be reached any more."
                )
            time.sleep(_TICK / 2)

    def _look(self) -> dict[str, dict[str, Any]]:
        """Return the workers that run and were heard of lately, and note the others."""
        self.check()  # Dask itself would try to connect for half a minute
        found: dict[str, dict[str, Any]] = self._identity()["workers"]
        now = self._looked = time.monotonic()
        newest = max((worker["last_seen"] for worker in found.values()), default=0.0)
        in_use = {}
        for name, worker in found.items():
            seen, runs = worker["last_seen"], worker.get("status", "running") == "running"
            known = self._heard.get(name)
            if known is None or (runs and known[0] != seen):
                self._heard[name] = seen, now
            silent = max(newest - seen, now - self._heard[name][1])
            if silent <= _SECONDS_OF_SILENCE:
                in_use[name] = worker
        left_out = frozenset(found) - frozenset(in_use)
        for name in sorted(left_out - self.left_out):
            _LOG.warning("engine dask: %s is not heard of and left out", name)
        self.left_out, self._in_use = left_out, frozenset(in_use)
        return in_use

    def _identity(self) -> dict[str, Any]:
        """Return what the scheduler says of itself and its workers."""

        async def identity() -> Any:
            return await asyncio.wait_for(self.client.scheduler.identity(), _SECONDS_TO_ANSWER)

        for _ in range(_ATTEMPTS_TO_SHARE):
            try:
                answer: dict[str, Any] = self.client.sync(identity)
                return answer
            except TimeoutError as error:
                raise EngineLostError(
                    f"the Dask scheduler at {_address(self.client)} has not answered for "
                    f"{_SECONDS_TO_ANSWER:g} seconds."
                ) from error
            except (OSError, RuntimeError, CancelledError):  # the connection comes back, or not
                time.sleep(_TICK)
                self.check()
        raise EngineLostError(f"the Dask scheduler at {_address(self.client)} ends every call.")

    def _prepare(self, workers: Collection[str]) -> None:
        """Let workers import the package in a task: heartbeats stop if data do it on arrival."""
        new = set(workers) - self._prepared
        tasks = [
            self.submit(import_module, "pinsker", key=f"pinsker-import-{uuid4().hex}", workers=[w])
            for w in new
        ]
        try:
            while not all(task.done() for task in tasks):
                self.watch(new)
                time.sleep(_TICK / 10)
        except StateLostError:
            return  # whoever needs these workers finds that they are gone
        self._prepared |= new
        for error in [task.exception() for task in tasks if task.status == "error"]:
            if isinstance(error, ImportError):
                raise EngineError(
                    f"a worker cannot import pinsker ({error}): install the same version there."
                ) from error

    def _wait(self, coroutine: Coroutine[Any, Any, Any], workers: Collection[str]) -> Any:
        """Wait for an answer, as long as scheduler and workers are heard of."""
        answer = self._start(coroutine)
        try:
            while not wait([answer], timeout=_TICK).done:
                self.watch(workers)
            return answer.result()
        finally:
            answer.cancel()

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    @contextmanager
    def _may_fail(self) -> Iterator[None]:
        """Separate a lost scheduler from a cluster that was restarted."""
        try:
            yield
        except (EngineError, StateLostError):
            raise
        except (Exception, CancelledError) as error:  # of Dask's own: no task runs in here
            self.check()
            raise StateLostError(f"{type(error).__name__}: {error}") from error


def raise_failures(futures: Sequence[Any]) -> None:
    """Raise the error of the first task that failed: its own, or that its workers died over it."""
    for future in futures:
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                raise EngineLostError(
                    "several workers died over the same task, most likely because memory ran out: "
                    "give them more, or lower max_memory or max_samples."
                ) from error
            raise error.with_traceback(future.traceback())


def _address(client: Any) -> str:
    scheduler = client.scheduler
    return str(scheduler.address) if scheduler is not None else "an unknown address"
