"""The workers' side: tables, tiles of query rows, and one step of one tile.

What a worker holds lies in a store of its own and not among the results of tasks: Dask drops
copies of a result that it finds superfluous, and a tile's state must stay.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from distributed import get_worker

from pinsker._types import IntArray
from pinsker.engine import _kernels

Kind = Literal["backward", "forward"]
Flags = npt.NDArray[np.uint8]

#: A tile that lags by more moves than this is built from scratch, which costs about as much.
_MAX_MOVES = 8
#: What is not used for so long is dropped: its driver is gone, or will send it again.
_SECONDS_TO_KEEP = 1800.0


@dataclass(frozen=True, eq=False)
class SharedTable:
    """What the kernels read of a table."""

    arrays: dict[str, Any]

    def __sizeof__(self) -> int:
        """Return the bytes of a copy, which Dask reads."""
        return sum(value.nbytes for value in self.arrays.values() if hasattr(value, "nbytes"))


@dataclass(frozen=True, eq=False)
class TileSpec:
    """Which rows a tile measures, and how."""

    kind: Kind  # direction
    settings: dict[str, Any]
    queries: IntArray  # rows
    watched: int  # the first so many of them keep their pairs between steps

    def native(self, table: SharedTable) -> Any:
        """Return a native search of the tile's rows."""
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
        moves = self._moves(flags)
        native, self.native = self.native, None  # an error on the way leaves nothing half-done
        if native is None or moves is None:
            native = self.spec.native(table)
            native.start(flags, threads)
        else:
            move = native.remove if self.spec.kind == "backward" else native.add
            for feature in moves:
                move(int(feature), threads)
        self.native, self.at = native, flags

    def _moves(self, flags: Flags) -> IntArray | None:
        """Return the features that lie between the two sets; None if there is no short way."""
        if self.native is None or self.at is None:
            return None
        larger, smaller = self.at, flags
        if self.spec.kind == "forward":
            larger, smaller = smaller, larger
        if (smaller > larger).any():
            return None
        moves = np.flatnonzero(larger != smaller)
        return moves if len(moves) <= _MAX_MOVES else None


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
        self._tidy(task, now)
        if held is None or state is None:
            return None
        self.tables[task.table] = held, now
        state.used = now
        return held, state

    def _tidy(self, task: TileTask, now: float) -> None:
        """Drop tiles that have moved elsewhere, and what is not used any more."""
        for key, state in list(self.tiles.items()):
            moved = key[0] == task.search and key[1] not in task.kept
            if moved or (state.used and now - state.used > _SECONDS_TO_KEEP):
                self.tiles.pop(key, None)
        for name, (_, used) in list(self.tables.items()):
            if now - used > _SECONDS_TO_KEEP:
                self.tables.pop(name, None)


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
