"""The searches of the Dask engine, with the methods of the native ones."""

import logging
from typing import Any

import numpy as np

from pinsker._types import IntArray
from pinsker.engine._dask._cluster import Cluster
from pinsker.engine._dask._steps import TiledSteps
from pinsker.engine._dask._tables import TableOnCluster
from pinsker.engine._dask._tiles import Flags, Kind, SharedTable, TileSpec
from pinsker.engine._dask._work import count_work, deal_rows

_LOG = logging.getLogger("pinsker")

_OF_THE_SEARCH = ("queries", "rank", "direct", "watched_queries")


class _DaskSearch:
    """A search whose query rows lie in tiles on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    held : dict
        Where the table's copy on a cluster is remembered, for the next search on the same table.
    n_tiles : int
        Tiles that the rows are dealt into.
    **settings
        As for the native searches.
    """

    kind: Kind

    def __init__(self, *, client: Any, held: dict[Any, Any], n_tiles: int, **settings: Any) -> None:
        cluster = Cluster(client)
        work = count_work(settings, backward=self.kind == "backward")
        rows = deal_rows(settings["queries"], work, n_tiles)
        watched = settings.get("watched_queries", 0) / len(settings["queries"])
        own = {name: settings[name] for name in ("rank", "direct")}
        tiles = [TileSpec(self.kind, own, queries, int(watched * len(queries))) for queries in rows]
        if ("dask", client.id) not in held:
            table = SharedTable({k: v for k, v in settings.items() if k not in _OF_THE_SEARCH})
            held["dask", client.id] = TableOnCluster(cluster, table)
        self._steps = TiledSteps(cluster, held["dask", client.id], tiles)
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

    def remove(self, feature: int, threads: int) -> None:  # noqa: ARG002
        """Take a feature out of the set."""
        self._go_to(self._with(feature, 0))

    def changes(self, out: IntArray) -> None:
        """Write the change of the sum with each feature's removal; for direct scores its own sum."""
        out[:] = self._sums


class DaskForward(_DaskSearch):
    """Scores additions."""

    kind = "forward"

    def add(self, feature: int, threads: int) -> None:  # noqa: ARG002
        """Put a feature into the set."""
        self._go_to(self._with(feature, 1))

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature added; for direct scores its own sum."""
        out[:] = self._sums
