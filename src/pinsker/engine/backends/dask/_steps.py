"""One step of all tiles: what workers hold, where it lies, and what happens to late results.

What a worker holds lies in a store of its own and not among the results of tasks: Dask drops
copies of a result that it finds superfluous, and a tile's state must stay.
"""

import logging
import queue
import threading
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from distributed import Client, Future, get_worker
from distributed.scheduler import KilledWorker

from pinsker._cluster import Cluster, StateLostError, WorkersLeftError
from pinsker._types import Fields, IntArray
from pinsker.engine import _kernels
from pinsker.exceptions import EngineError, EngineLostError

Kind = Literal["backward", "forward"]
Flags = npt.NDArray[np.uint8]

#: A tile that lags by more moves than this is built from scratch, which costs about as much.
_MAX_MOVES = 8
#: What is not used for so long is dropped: its driver is gone, or will send it again.
_SECONDS_TO_KEEP = 1800.0


@dataclass(frozen=True, eq=False)
class SharedTable:
    """What the kernels read of a table."""

    arrays: Fields

    def __sizeof__(self) -> int:
        """Return the bytes of a copy, which Dask reads."""
        return sum(value.nbytes for value in self.arrays.values() if isinstance(value, np.ndarray))


@dataclass(frozen=True, eq=False)
class TileSpec:
    """Which rows a tile measures, and how."""

    kind: Kind  # direction
    settings: Fields
    queries: IntArray  # rows
    watched: int  # the first this many of them keep their pairs between steps

    def native(self, table: SharedTable) -> Any:
        settings = {**table.arrays, **self.settings, "queries": self.queries}
        if self.kind == "backward":
            return _kernels.Backward(**settings, watched_queries=self.watched)
        return _kernels.Forward(**settings)


@dataclass(frozen=True, eq=False)
class TileSums:
    """What one tile adds to a step."""

    information: int  # sum of its rows' terms, in fixed point
    sums: IntArray | None  # sums of all candidates
    place: str  # address of the worker
    seconds: float  # how long it took there


@dataclass(frozen=True)
class TileTask:
    """One step of one tile, as a worker gets it."""

    table: str  # names of the table and of the search
    search: str  # names of the table and of the search
    tile: int  # which tile of it
    threads: int  # threads to use
    kept: frozenset[int]  # tiles of this search that the worker keeps


@dataclass(eq=False)
class _TileState:
    """A native search and the set it stands at."""

    spec: TileSpec
    native: Any = None
    at: Flags | None = None
    used: float = 0.0
    lock: Any = field(default_factory=threading.Lock)  # a step may be submitted twice

    def go_to(self, flags: Flags, table: SharedTable, threads: int) -> None:
        moves: IntArray | None = None  # the features between both sets, where there are few
        if self.native is not None and self.at is not None:
            both = (self.at, flags) if self.spec.kind == "backward" else (flags, self.at)
            between = np.flatnonzero(both[0] != both[1])
            if len(between) <= _MAX_MOVES and not (both[1] > both[0]).any():
                moves = between
        native, self.native = self.native, None  # an error on the way leaves nothing half-done
        if native is None or moves is None:
            native = self.spec.native(table)
            native.start(flags, threads)
        else:
            move = native.remove if self.spec.kind == "backward" else native.add
            for feature in moves:
                move(int(feature), threads)
        self.native, self.at = native, flags


class _Store:
    """What one worker holds."""

    def __init__(self) -> None:
        self.tables: dict[str, tuple[SharedTable, float]] = {}
        self.tiles: dict[tuple[str, int], _TileState] = {}

    @classmethod
    def of(cls, worker: Any) -> "_Store":
        store: _Store = vars(worker).setdefault("_pinsker_store", cls())
        return store

    def find(
        self, task: TileTask, spec: TileSpec | None, table: SharedTable | None
    ) -> tuple[SharedTable, _TileState] | None:
        """Return table and state, from what is here and what came along; None if one is missing."""
        now = time.monotonic()
        held = table or self.tables.get(task.table, (None, 0.0))[0]
        if spec is not None:
            self.tiles.setdefault((task.search, task.tile), _TileState(spec))
        state = self.tiles.get((task.search, task.tile))
        for key, one in list(self.tiles.items()):  # moved elsewhere, or not used any more
            moved = key[0] == task.search and key[1] not in task.kept
            if moved or (one.used and now - one.used > _SECONDS_TO_KEEP):
                self.tiles.pop(key, None)
        for name, (_, used) in list(self.tables.items()):
            if now - used > _SECONDS_TO_KEEP:
                self.tables.pop(name, None)
        if held is None or state is None:
            return None
        self.tables[task.table] = held, now
        state.used = now
        return held, state


def advance(
    task: TileTask, flags: Flags, spec: TileSpec | None, table: SharedTable | None
) -> TileSums:
    """Bring a tile to a set and return its sums; this is the task that workers run."""
    began = time.perf_counter()
    worker = get_worker()
    found = _Store.of(worker).find(task, spec, table)
    if found is None:
        return TileSums(0, None, worker.address, 0.0)
    held, state = found
    with state.lock:
        state.go_to(flags, held, task.threads)
        sums = np.empty(len(flags), dtype=np.int64)
        (state.native.changes if state.spec.kind == "backward" else state.native.sums)(sums)
        information = state.native.information()
    return TileSums(information, sums, worker.address, time.perf_counter() - began)


def forget(name: str) -> None:
    """Drop a table or the tiles of a search; this is a task too."""
    store = _Store.of(get_worker())
    store.tables.pop(name, None)
    for key in [key for key in list(store.tiles) if key[0] == name]:
        store.tiles.pop(key, None)


class TableOnCluster:
    """Sends a table once; workers pass it on to each other."""

    def __init__(self, cluster: Cluster, table: SharedTable) -> None:
        self.name = f"table-{uuid.uuid4().hex}"
        self._cluster, self._table = cluster, table
        self._there: set[str] = set()  # workers that have put it into their store
        self._sent_to: set[str] = set()  # their copy comes from here, and not from another worker
        first = cluster.share(table)
        self._on_its_way = dict.fromkeys(cluster.threads(), first)
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
        self._there.add(worker)
        self._on_its_way.pop(worker, None)
        self._sent_to.discard(worker)

    def late(self, worker: str) -> None:
        """Note that a worker should not wait for the copy of another, which may be late itself."""
        if worker not in self._sent_to:  # one copy is enough for all of its tiles
            self._on_its_way.pop(worker, None)

    def missing(self, worker: str) -> None:
        self._there.discard(worker)
        self.late(worker)

    def left(self, workers: Collection[str] | None) -> None:
        """Note that workers (None: all, perhaps) are gone, and with them what others waited for."""
        self._there.difference_update(tuple(self._there) if workers is None else workers)
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
        # Held until it is done: a scheduler that has not read the task yet ignores
        # `fire_and_forget`, which is for clients that close before, and drops the task with its
        # last future.
        task.add_done_callback(Future.done)


_LOG = logging.getLogger("pinsker")

#: A tile is repeated elsewhere when it takes this many times as long as the slowest one so far, but
#: not before this many seconds.
_PATIENCE = 3.0
_LEAST_PATIENCE = 10.0
#: Seconds between two looks at tiles that are not back, and at the workers.
_TICK = 0.1
_SECONDS_BETWEEN_COUNTS = 1.0
#: Attempts at a step, if the cluster loses what was sent, or a worker.
_ATTEMPTS = 5


@dataclass(eq=False)
class _Step:
    """One step on its way: which futures stand for which tile, and which tiles are back."""

    flags: Flags
    began: float = field(default_factory=time.monotonic)
    tile_of: dict[str, int] = field(default_factory=dict)
    futures: dict[int, dict[str, Future]] = field(default_factory=dict)  # tile -> worker -> future
    back: dict[int, Future] = field(default_factory=dict)
    workers: set[str] = field(default_factory=set)  # they are counted on
    arrived: "queue.SimpleQueue[Future]" = field(default_factory=queue.SimpleQueue)

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def waiting(self) -> list[int]:
        return [tile for tile in self.futures if tile not in self.back]


class TiledSteps:
    """Runs the steps of one search on a cluster."""

    def __init__(self, cluster: Cluster, table: TableOnCluster, tiles: Sequence[TileSpec]) -> None:
        self._cluster, self._table, self._tiles = cluster, table, tuple(tiles)
        self._placement = Placement(len(self._tiles))
        self._name = f"search-{uuid.uuid4().hex}"
        self._submitted, self._slowest, self._counted = 0, 0.0, 0.0
        self._first_back: float | None = None
        self._stale: dict[Future, str] = {}
        self._found_at: dict[int, str] = {}  # where a tile's state is known to be
        self._workers: set[str] = set()
        forget_later(self, cluster.client, self._name, self._workers)

    def run(self, flags: Flags) -> tuple[int, IntArray]:
        """Return the information and the sums of all candidates at a set, in fixed point."""
        for _ in range(_ATTEMPTS + len(self._placement.threads)):
            step = _Step(flags)
            try:
                return self._attempt(step)
            except WorkersLeftError as error:
                _LOG.warning("engine dask: tiles are built elsewhere (%s)", error)
                self._table.left(error.workers)
                self._found_at = {
                    tile: w for tile, w in self._found_at.items() if w not in error.workers
                }
            except StateLostError as error:
                _LOG.warning("engine dask: table and tiles are sent again (%s)", error)
                self._table.left(None)
                self._found_at.clear()
            self._cluster.cancel([one for some in step.futures.values() for one in some.values()])
            self._counted = 0.0
        raise EngineLostError(
            "the cluster lost workers or their data again and again over the same step, most "
            "likely because memory ran out: lower max_memory or max_samples, or give the "
            "workers more."
        )

    def _attempt(self, step: _Step) -> tuple[int, IntArray]:
        self._count_workers()
        step.workers.update(self._placement.threads)
        for tile in range(len(self._tiles)):
            self._submit(step, tile, self._placement.worker_of[tile])
        results: dict[int, TileSums] = {}
        while len(results) < len(self._tiles):
            while step.waiting():
                try:
                    self._receive(step, step.arrived.get(timeout=_TICK))
                except queue.Empty:
                    self._cluster.watch(step.workers)
                    self._repeat_late_tiles(step)
            tiles = [tile for tile in step.back if tile not in results]
            fetched = self._cluster.gather([step.back[tile] for tile in tiles], step.workers)
            for tile, result in zip(tiles, fetched, strict=True):
                if result.sums is not None:
                    results[tile] = result
                    continue
                self._table.missing(result.place)  # sent again, with the tile
                self._found_at.pop(tile, None)
                del step.back[tile]
                self._submit(step, tile, result.place)
        self._record(step, results)
        sums = np.zeros(len(step.flags), dtype=np.int64)
        for result in results.values():
            sums += np.asarray(result.sums)
        return sum(result.information for result in results.values()), sums

    def _submit(self, step: _Step, tile: int, worker: str) -> None:
        """Send a tile's step to a worker, with whatever it does not have yet."""
        self._submitted += 1
        key = f"pinsker-{self._name}-{self._submitted}"
        threads = self._placement.threads_per_tile(worker)
        kept = frozenset(self._placement.tiles(worker)) | {tile}
        task = TileTask(self._table.name, self._name, tile, threads, kept)
        spec = None if self._found_at.get(tile) == worker else self._tiles[tile]
        table = self._table.for_worker(worker)
        future = self._cluster.submit(
            advance, task, step.flags, spec, table, key=key, workers=[worker]
        )
        step.tile_of[key] = tile
        step.workers.add(worker)
        step.futures.setdefault(tile, {})[worker] = future
        future.add_done_callback(step.arrived.put)

    def _receive(self, step: _Step, future: Future) -> None:
        """Take a result, or find out why there is none."""
        tile = step.tile_of[future.key]
        if future.status == "finished":
            step.back.setdefault(tile, future)
        elif future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise EngineLostError(
                    "several workers died over the same rows, most likely because memory ran out: "
                    "lower max_memory or max_samples, or give the workers more."
                ) from error
            raise EngineError(
                f"a worker failed with {type(error).__name__}: {error}. Workers need the same "
                "version of pinsker as this process."
            ) from error
        elif tile not in step.back:
            self._cluster.check()
            raise StateLostError(f"tile {tile} was {future.status}")

    def _repeat_late_tiles(self, step: _Step) -> None:
        """Repeat tiles elsewhere that should have been back long ago."""
        self._count_workers()
        if step.back and self._first_back is None:
            self._first_back = step.elapsed()
        longest = self._slowest or self._first_back
        if longest is None or step.elapsed() < max(_LEAST_PATIENCE, _PATIENCE * longest):
            return  # or it is not known yet how long it should take
        for tile in step.waiting():
            for late in step.futures[tile]:
                self._placement.mark_late(late)
            worker = self._placement.elsewhere(step.futures[tile])
            if worker is not None:
                _LOG.warning("engine dask: tile %d is late and repeated on %s", tile, worker)
                self._table.late(worker)
                self._submit(step, tile, worker)

    def _record(self, step: _Step, results: dict[int, TileSums]) -> None:
        """Note where tiles are, how long a worker needs for its own, and which workers are late."""
        spent: dict[str, float] = {}
        for tile, result in results.items():
            self._placement.worker_of[tile] = self._found_at[tile] = result.place
            self._table.arrived(result.place)
            self._workers.add(result.place)
            spent[result.place] = spent.get(result.place, 0.0) + result.seconds
        self._slowest = max(self._slowest, *spent.values())  # the first step, which builds, counts
        # The end of a task that is no longer needed shows that its worker has caught up.
        for tile, by_worker in step.futures.items():
            for worker, future in by_worker.items():
                if future is not step.back[tile] and not future.done():
                    self._stale[future] = worker
                else:
                    self._placement.clear(worker)

    def _count_workers(self) -> None:
        """Look which workers there are, now and then."""
        for future in [f for f in self._stale if f.done()]:
            self._placement.clear(self._stale.pop(future))
        if not self._counted or time.monotonic() - self._counted > _SECONDS_BETWEEN_COUNTS:
            self._placement.update(self._cluster.threads())
            self._counted = time.monotonic()


class Placement:
    """Keeps tiles spread over the workers in proportion to their threads."""

    def __init__(self, n_tiles: int) -> None:
        self.n_tiles = n_tiles
        self.worker_of: dict[int, str] = {}
        self.threads: dict[str, int] = {}
        self._n_late: Counter[str] = Counter()
        self._late: set[str] = set()

    def update(self, threads: Mapping[str, int]) -> None:
        """Take the workers of now: move the tiles of those that left, and some to new ones."""
        self.threads = dict(threads)
        self._late &= set(threads)
        useful = self.useful()
        for tile in range(self.n_tiles):
            if self.worker_of.get(tile) not in useful:
                self.worker_of[tile] = self._least_busy(useful)
        while True:
            busiest = max(useful, key=self._load)
            idlest = self._least_busy(useful)
            after = (self._count(idlest) + 1) / self.threads[idlest]
            if after >= self._load(busiest):
                return
            self.worker_of[self.tiles(busiest)[-1]] = idlest

    def useful(self) -> list[str]:
        """Return the workers that may get tiles: all, unless some are known to be slow."""
        prompt = [w for w in self.threads if w not in self._late and self._n_late[w] < 2]
        return prompt or list(self.threads)

    def elsewhere(self, tried: Iterable[str]) -> str | None:
        """Return the best worker that was not tried yet, if there is one."""
        others = [w for w in self.useful() if w not in set(tried)]
        return self._least_busy(others) if others else None

    def mark_late(self, worker: str) -> None:
        """Note that a worker lags: no tiles until it is cleared, and none after a second time."""
        if worker not in self._late:
            self._late.add(worker)
            self._n_late[worker] += 1

    def clear(self, worker: str) -> None:
        self._late.discard(worker)

    def tiles(self, worker: str) -> list[int]:
        return sorted(tile for tile, owner in self.worker_of.items() if owner == worker)

    def threads_per_tile(self, worker: str) -> int:
        """Return how many threads a tile may use where several run side by side."""
        return max(1, -(-self.threads.get(worker, 1) // max(1, self._count(worker))))

    def _count(self, worker: str) -> int:
        return sum(owner == worker for owner in self.worker_of.values())

    def _load(self, worker: str) -> float:
        return self._count(worker) / self.threads[worker]

    def _least_busy(self, workers: Iterable[str]) -> str:
        return min(workers, key=lambda w: ((self._count(w) + 1) / self.threads[w], w))
