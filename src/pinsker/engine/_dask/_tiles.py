"""The workers' side: tables, tiles of query rows, and one step of one tile."""

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

#: A tile that lags by more moves than this is built anew: building costs about as much as so many.
_MOST_MOVES = 8


@dataclass(frozen=True, eq=False)
class SharedTable:
    """What the kernels read of a table; sent to every worker once.

    Attributes
    ----------
    arrays : dict
        Keyword arguments of the native searches that do not depend on the search.
    """

    arrays: dict[str, Any]

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a copy takes."""
        return sum(value.nbytes for value in self.arrays.values() if hasattr(value, "nbytes"))


@dataclass(frozen=True, eq=False)
class TileSums:
    """What one tile adds to a step.

    Attributes
    ----------
    information : int
        Sum of its rows' terms, in fixed point.
    sums : ndarray of shape (n_units,), int64
        Sums of all candidates.
    place : str
        Address of the worker.
    seconds : float
        How long it took there.
    """

    information: int
    sums: IntArray
    place: str
    seconds: float


class SharedSearch:
    """One search as the workers see it: its tiles, and the states of those that live here.

    The states belong to this object, so they are gone when the cluster forgets the search, and a
    copy that is sent elsewhere has none.
    """

    def __init__(
        self,
        kind: Kind,
        settings: dict[str, Any],
        tiles: tuple[IntArray, ...],
        watched: tuple[int, ...],
    ) -> None:
        self.kind, self.settings, self.tiles, self.watched = kind, settings, tiles, watched
        self._states: dict[tuple[str, int], _TileState] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_states": {}}

    def __sizeof__(self) -> int:
        return sum(queries.nbytes for queries in self.tiles)

    def state(self, place: str, tile: int, kept: frozenset[int]) -> "_TileState":
        """Return a tile's state, and drop those of tiles that have moved elsewhere."""
        for key in list(self._states):
            if key[0] == place and key[1] not in kept and key[1] != tile:
                self._states.pop(key, None)
        return self._states.setdefault((place, tile), _TileState())

    def native(self, table: SharedTable, tile: int) -> Any:
        """Return a native search of a tile's rows."""
        settings = {**table.arrays, **self.settings, "queries": self.tiles[tile]}
        if self.kind == "backward":
            return _kernels.Backward(**settings, watched_queries=self.watched[tile])
        return _kernels.Forward(**settings)


@dataclass(eq=False)
class _TileState:
    """A native search and the set it stands at."""

    native: Any = None
    at: Flags | None = None
    lock: Any = field(default_factory=threading.Lock)  # a step may be asked for twice

    def go_to(
        self, flags: Flags, table: SharedTable, search: SharedSearch, tile: int, threads: int
    ) -> None:
        moves = self._moves(flags, search.kind)
        native, self.native = self.native, None  # an error on the way leaves nothing half-done
        if native is None or moves is None:
            native = search.native(table, tile)
            native.start(flags, threads)
        else:
            for unit in moves:
                (native.remove if search.kind == "backward" else native.add)(int(unit), threads)
        self.native, self.at = native, flags

    def _moves(self, flags: Flags, kind: Kind) -> IntArray | None:
        """Return the units that lie between the two sets; None if there is no short way."""
        if self.native is None or self.at is None:
            return None
        larger, smaller = (self.at, flags) if kind == "backward" else (flags, self.at)
        if (smaller > larger).any():
            return None
        moves = np.flatnonzero(larger != smaller)
        return moves if len(moves) <= _MOST_MOVES else None


def advance(
    table: SharedTable,
    search: SharedSearch,
    tile: int,
    flags: Flags,
    threads: int,
    kept: frozenset[int],
) -> TileSums:
    """Bring a tile to a set and return its sums; this is the task that workers run."""
    began = time.perf_counter()
    place = get_worker().address
    state = search.state(place, tile, kept)
    with state.lock:
        state.go_to(flags, table, search, tile, threads)
        sums = np.empty(len(flags), dtype=np.int64)
        (state.native.changes if search.kind == "backward" else state.native.sums)(sums)
        information = state.native.information()
    return TileSums(information, sums, place, time.perf_counter() - began)
