"""The searches of the Dask engine, and calls that do not depend on each other."""

import logging
import queue
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Future

from pinsker._cluster import Cluster, StateLostError, raise_failures
from pinsker._types import Arguments, DaskClient, FloatArray, Function, IntArray
from pinsker.engine import _kernels
from pinsker.engine.backends.dask._steps import (
    Flags,
    Kind,
    SharedTable,
    TableOnCluster,
    TiledSteps,
    TileSpec,
)
from pinsker.exceptions import EngineLostError

_LOG = logging.getLogger("pinsker")

#: Rows are looked at in this many strata of the target, this many rows of each.
_STRATA = 16
_ROWS_PER_STRATUM = 8
#: A close pair costs as much over a path as this many far ones. Measured: 6 to 12.
_FAR_PAIRS_PER_CLOSE_ONE = 10
_OF_THE_SEARCH = ("queries", "rank", "direct", "watched_queries", "state_bytes")


class _DaskSearch:
    """A search whose query rows lie in tiles on the workers of a cluster."""

    kind: Kind

    def __init__(
        self, *, client: DaskClient, cache: dict[Any, Any], n_tiles: int, **settings: Any
    ) -> None:
        cluster = Cluster(client)
        work = count_work(settings, backward=self.kind == "backward")
        rows = deal_rows(settings["queries"], work, n_tiles)
        watched = settings.get("watched_queries", 0) / len(settings["queries"])
        own = {name: settings[name] for name in ("rank", "direct")}
        if self.kind == "backward":
            own["state_bytes"] = settings["state_bytes"] // n_tiles
        tiles = [TileSpec(self.kind, own, queries, int(watched * len(queries))) for queries in rows]
        if ("dask", client.id) not in cache:
            table = SharedTable({k: v for k, v in settings.items() if k not in _OF_THE_SEARCH})
            cache["dask", client.id] = TableOnCluster(cluster, table)
        self._steps = TiledSteps(cluster, cache["dask", client.id], tiles)
        self._flags: Flags = np.zeros(settings["n_features"], dtype=np.uint8)
        self._information = 0
        self._sums: IntArray = np.zeros(settings["n_features"], dtype=np.int64)
        _LOG.info("engine dask: %d tiles of %d rows or fewer", len(rows), max(map(len, rows)))

    def start(self, active: Flags, threads: int) -> None:  # noqa: ARG002 (workers have their own)
        flags = active.copy()
        self._information, self._sums = self._steps.run(flags)
        self._flags = flags

    def information(self) -> int:
        return self._information

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature moved; for direct scores its own sum."""
        out[:] = self._sums

    def _move(self, feature: int, flag: int, threads: int) -> None:
        flags = self._flags.copy()
        flags[feature] = flag
        self.start(flags, threads)


class DaskBackward(_DaskSearch):
    """Scores removals."""

    kind = "backward"

    def remove(self, feature: int, threads: int) -> None:
        self._move(feature, 0, threads)

    changes = _DaskSearch.sums  # of the sum with each removal


class DaskForward(_DaskSearch):
    """Scores additions."""

    kind = "forward"

    def add(self, feature: int, threads: int) -> None:
        self._move(feature, 1, threads)


def deal_rows(queries: IntArray, work: FloatArray, n_tiles: int) -> tuple[IntArray, ...]:
    """Deal rows into tiles of equal work: the costliest first, there and back again."""
    n_tiles = min(n_tiles, len(queries))
    turn = np.concatenate([np.arange(n_tiles), np.arange(n_tiles)[::-1]])
    tile = np.empty(len(queries), dtype=np.int64)
    tile[np.argsort(-work, kind="stable")] = np.resize(turn, len(queries))
    return tuple(queries[tile == t] for t in range(n_tiles))


def count_work(settings: Mapping[str, Any], *, backward: bool) -> FloatArray:
    """Return the work of each query row, in pairs that have to be looked at."""
    queries = settings["queries"]
    stratum = _strata(settings)
    if not backward:
        return stratum / (1.0 + _STRATA)
    close = np.zeros(_STRATA)
    for s in range(_STRATA):
        rows = queries[stratum == s]
        rows = np.ascontiguousarray(rows[:: max(1, len(rows) // _ROWS_PER_STRATUM)])
        if len(rows):
            pilot = {**settings, "queries": rows, "watched_queries": len(rows)}
            pilot.pop("state_bytes", None)  # few rows, and their pairs are counted in the end
            search = _kernels.Backward(**pilot)
            search.start(np.ones(settings["n_features"], dtype=np.uint8), 1)
            close[s] = search.close_pairs() / len(rows)
    return np.asarray(len(settings["values"]) + _FAR_PAIRS_PER_CLOSE_ONE * close[stratum])


def _strata(settings: Mapping[str, Any]) -> IntArray:
    """Return a stratum per query row: its class, the rarest by itself, or its range of targets."""
    queries, labels = settings["queries"], settings["labels"]
    if labels is not None:
        sizes = np.bincount(labels)
        rarity = np.argsort(np.argsort(sizes, kind="stable"), kind="stable")
        return np.asarray(np.minimum(rarity[labels[queries]], _STRATA - 1), dtype=np.int64)
    rank = np.argsort(np.argsort(settings["target"][queries, 0], kind="stable"), kind="stable")
    return np.asarray(rank * _STRATA // len(queries), dtype=np.int64)


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

    def __init__(self, client: DaskClient) -> None:
        self._cluster = Cluster(client)
        self._shared: tuple[Any, Future] | None = None  # what is on the cluster, and its future

    def run(
        self,
        function: Function,
        shared: Any,
        calls: Sequence[Arguments],
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
                            "calls, most likely because memory ran out: give the workers more. The "
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
        self, run: _Run, arrived: list[Future], on_call: Callable[[int, int], object] | None
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
