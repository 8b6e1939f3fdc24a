"""Calls that do not depend on each other, as tasks on a cluster; those that are lost run again.

What the calls share, and the calls themselves, are sent to one worker, and others get them from
there: a worker that dies or is stopped may take them along. They are then sent again, with the
calls that are not back.
"""

import logging
import queue
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from distributed import Future

from pinsker._cluster import Cluster, StateLostError, raise_failures
from pinsker.exceptions import EngineLostError

_LOG = logging.getLogger("pinsker")

#: Attempts without any new result.
_ATTEMPTS = 5
_TICK = 0.1


@dataclass(frozen=True, eq=False)
class Parcel:
    """Something that is sent as it is: Dask would take lists and dictionaries apart."""

    content: Any  # what


@dataclass(eq=False)
class _Run:
    """Calls on their way: which futures stand for which call, and which are back."""

    n_calls: int
    workers: set[str] = field(default_factory=set)  # they are counted on
    call_of: dict[str, int] = field(default_factory=dict)
    futures: dict[int, list[Future]] = field(default_factory=dict)
    results: dict[int, Any] = field(default_factory=dict)
    arrived: "queue.SimpleQueue[Future]" = field(default_factory=queue.SimpleQueue)

    def waiting(self) -> list[int]:
        return [call for call in range(self.n_calls) if call not in self.results]

    def next_arrivals(self) -> list[Future]:
        """Return the futures that are done; none if none comes soon."""
        found: list[Future] = []
        try:
            while True:
                found.append(self.arrived.get(timeout=0.0 if found else _TICK))
        except queue.Empty:
            return found


class CallsOnCluster:
    """Runs calls on a cluster, whatever happens to its workers."""

    def __init__(self, client: Any) -> None:
        self._cluster = Cluster(client)
        self._shared: tuple[Any, Future] | None = None  # what is on the cluster, and its future

    def run(
        self,
        function: Callable[..., Any],
        shared: Any,
        calls: Sequence[tuple[Any, ...]],
        on_call: Callable[[int, int], object] | None = None,
    ) -> list[Any]:
        """Return ``function(shared, *call)`` of every call, in their order."""
        run, parcel = _Run(len(calls)), Parcel((function, list(calls)))
        failures = 0
        try:
            while run.waiting():
                before = len(run.results)
                try:
                    self._attempt(run, shared, parcel, on_call)
                except StateLostError as error:
                    _LOG.warning("engine dask: calls that are not back run again (%s)", error)
                    self._shared = None
                    failures = failures + 1 if len(run.results) == before else 1
                    if failures > _ATTEMPTS:
                        raise EngineLostError(
                            "the cluster lost workers or their data again and again over the same "
                            "calls, most likely for want of memory: give the workers more. The "
                            f"last loss: {error}."
                        ) from error
        finally:
            self._cluster.cancel([one for several in run.futures.values() for one in several])
        return [run.results[call] for call in range(len(calls))]

    def _attempt(
        self, run: _Run, shared: Any, parcel: Parcel, on_call: Callable[[int, int], object] | None
    ) -> None:
        """Submit what is not back, also what an earlier attempt waits for: one of them will do."""
        cluster = self._cluster
        run.workers = set(cluster.threads())
        if self._shared is None or self._shared[0] is not shared:
            self._shared = shared, cluster.share(Parcel(shared))
        sent = cluster.share(parcel)
        where = run.workers if cluster.left_out else None  # Dask may put them anywhere else
        for call in run.waiting():
            key = f"pinsker-call-{uuid.uuid4().hex}"
            future = cluster.submit(make_call, self._shared[1], sent, call, key=key, workers=where)
            run.call_of[key] = call
            run.futures.setdefault(call, []).append(future)
            future.add_done_callback(run.arrived.put)
        while run.waiting():
            arrived = run.next_arrivals()
            if not arrived:
                cluster.watch(run.workers)
            self._receive(run, arrived, on_call)

    def _receive(
        self,
        run: _Run,
        arrived: list[Future],
        on_call: Callable[[int, int], object] | None,
    ) -> None:
        """Take the results of futures that are done, or find out why there are none."""
        finished: dict[int, Future] = {}
        for future in arrived:
            call = run.call_of[future.key]
            if call in run.results:
                continue
            if future.status == "finished":
                finished.setdefault(call, future)
            elif future.status == "error":
                raise_failures([future])
            else:
                run.futures[call].remove(future)
        found = self._cluster.gather(list(finished.values()), run.workers) if finished else []
        for call, result in zip(finished, found, strict=True):
            run.results[call] = result
            self._cluster.cancel([one for one in run.futures.pop(call) if not one.done()])
            if on_call is not None:
                on_call(len(run.results), run.n_calls)
        if lost := [call for call in run.waiting() if not run.futures[call]]:
            raise StateLostError(f"{len(lost)} calls were cancelled")


def make_call(shared: Parcel, calls: Parcel, number: int) -> Any:
    """Make one of the calls; this is the task that workers run."""
    function, arguments = calls.content
    return function(shared.content, *arguments[number])
