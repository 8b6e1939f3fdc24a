"""The searches of the Dask engine, with the methods of the native ones, and how rows are dealt."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from pinsker._cluster import Cluster
from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine.backends.dask._steps import TiledSteps
from pinsker.engine.backends.dask._table import TableOnCluster
from pinsker.engine.backends.dask._tiles import Flags, Kind, SharedTable, TileSpec

_LOG = logging.getLogger("pinsker")

#: Rows are looked at in so many strata of the target, so many rows of each.
_STRATA = 16
_ROWS_PER_STRATUM = 8
#: A close pair costs as much over a path as so many far ones. Measured: 6 to 12.
_FAR_PAIRS_PER_CLOSE_ONE = 10
_OF_THE_SEARCH = ("queries", "rank", "direct", "watched_queries", "state_bytes")


class _DaskSearch:
    """A search whose query rows lie in tiles on the workers of a cluster."""

    kind: Kind

    def __init__(
        self, *, client: Any, cache: dict[Any, Any], n_tiles: int, **settings: Any
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
        """Begin at a set."""
        self._go_to(active.copy())

    def information(self) -> int:
        """Return the sum of the terms of the current set."""
        return self._information

    def _go_to(self, flags: Flags) -> None:
        self._information, self._sums = self._steps.run(flags)
        self._flags = flags

    def _with(self, feature: int, flag: int) -> Flags:
        flags = self._flags.copy()
        flags[feature] = flag
        return flags


class DaskBackward(_DaskSearch):
    """Scores removals."""

    kind = "backward"

    def remove(self, feature: int, threads: int) -> None:  # noqa: ARG002 (as above)
        """Take a feature out of the set."""
        self._go_to(self._with(feature, 0))

    def changes(self, out: IntArray) -> None:
        """Write the change of the sum with each removal; for direct scores its own sum."""
        out[:] = self._sums


class DaskForward(_DaskSearch):
    """Scores additions."""

    kind = "forward"

    def add(self, feature: int, threads: int) -> None:  # noqa: ARG002 (as above)
        """Put a feature into the set."""
        self._go_to(self._with(feature, 1))

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature added; for direct scores its own sum."""
        out[:] = self._sums


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
        close[s] = _close_pairs(settings, rows[:: max(1, len(rows) // _ROWS_PER_STRATUM)])
    work: FloatArray = len(settings["values"]) + _FAR_PAIRS_PER_CLOSE_ONE * close[stratum]
    return work


def _strata(settings: Mapping[str, Any]) -> IntArray:
    """Return a stratum per query row: its class, the rarest by itself, or its range of targets."""
    queries, labels = settings["queries"], settings["labels"]
    if labels is not None:
        sizes = np.bincount(labels)
        rarity = np.argsort(np.argsort(sizes, kind="stable"), kind="stable")
        return np.asarray(np.minimum(rarity[labels[queries]], _STRATA - 1), dtype=np.int64)
    rank = np.argsort(np.argsort(settings["target"][queries, 0], kind="stable"), kind="stable")
    return np.asarray(rank * _STRATA // len(queries), dtype=np.int64)


def _close_pairs(settings: Mapping[str, Any], rows: IntArray) -> float:
    """Return how many close pairs a row has, on average over some."""
    if len(rows) == 0:
        return 0.0
    pilot = {**settings, "queries": np.ascontiguousarray(rows), "watched_queries": len(rows)}
    pilot.pop("state_bytes", None)  # few rows, and their pairs are counted in the end
    search = _kernels.Backward(**pilot)
    search.start(np.ones(settings["n_features"], dtype=np.uint8), 1)
    return float(search.close_pairs() / len(rows))
