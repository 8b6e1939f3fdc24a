"""The state of some query rows on the device: close pairs, watches, and what each has added."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker.engine._cuda._job import Job
from pinsker.engine._cuda._table import ROW_THREADS, TILE, TILE_THREADS, Table

#: Bytes of a close pair: three doubles, a row and two features.
BYTES_OF_CLOSE_PAIR = 36
#: Bytes of a change: a feature and a sum.
_BYTES_OF_CHANGE = 12
_SCAN_THREADS = 256
_MEASURE_THREADS = 64
_JUDGE_THREADS = 64
#: Columns of a query row that are copied into shared memory while its pairs are looked at again.
_COLUMNS_IN_SHARED = 4096
_WATCHES_AT_ONCE = 8  # a thread reads 16 bytes of them
#: Rows that a watched pair can name: the queue of `revisit` has 24 bits for them.
MOST_ROWS_WATCHED = 2**24


def watch_stride(rows: int) -> int:
    """Return the watches of one query row, padded to whole reads."""
    return rows + -rows % _WATCHES_AT_ONCE


def bytes_of_row(rows: int, n_features: int, capacity: int, *, watches: bool) -> int:
    """Return the bytes that the state of one query row takes."""
    held = BYTES_OF_CLOSE_PAIR * capacity + _BYTES_OF_CHANGE * min(capacity, n_features) + 64
    return held + (2 * watch_stride(rows) if watches else 0)


class Rows:
    """Some query rows, each with room for a number of close pairs.

    Rows with watches keep up with removals (`update`). Rows without are measured and forgotten.
    """

    def __init__(
        self, table: Table, queries: npt.NDArray[np.int32], capacity: int, *, watches: bool
    ) -> None:
        self.table, self.n = table, len(queries)
        self.changes = min(capacity, table.n_features)
        new, n = table.device.empty, self.n
        fields: dict[str, Any] = {
            name: new((n, capacity), np.int32)
            for name in ("close_row", "close_first_feature", "close_second_feature")
        }
        for name in ("close_first", "close_second", "close_target"):
            fields[name] = new((n, capacity), np.float64)
        for name in ("radius", "limit"):
            fields[name] = new(n, np.float64)
        for name in ("n_close", "changed", "retired", "n_changes"):
            fields[name] = table.device.full(n, 0, np.int32)
        stride = watch_stride(table.rows)
        if watches:
            fields["watches"] = table.device.full((n, stride), 0xFFFF, np.uint16)
        self.job: Job = table.job_for(
            queries,
            term=table.device.full(n, 0, np.int64),
            change_feature=new((n, self.changes), np.int32),
            change_sum=new((n, self.changes), np.int64),
            capacity=capacity,
            change_capacity=self.changes,
            watch_stride=stride,
            **fields,
        )

    def build(self, batch: int) -> None:
        """Measure everything about the rows, distances in batches of so many of them."""
        for begin in range(0, self.n, batch):
            n = min(batch, self.n - begin)
            part = self.table.find_distances(self.job, begin, n, everyone=False)
            part.launch("find_radius", n, ROW_THREADS)
            del part  # before the next batch needs its room
        tiles = (-(-self.table.rows // TILE), -(-self.n // TILE))
        self.job.launch("sort_pairs", tiles, TILE_THREADS)
        self.job.set(removed=-1)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self._judge()

    def update(self, removed: int) -> None:
        """Bring the rows up to date after a removal."""
        width = int(self.job.record["rounded_width"][0])
        in_shared = width <= _COLUMNS_IN_SHARED
        self.job.set(removed=removed, row_in_shared=in_shared)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self.job.launch("tighten", self.n, ROW_THREADS)
        self.job.launch("revisit", self.n, _SCAN_THREADS, shared=4 * width if in_shared else 4)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self._judge()

    def retired(self) -> npt.NDArray[np.int64]:
        """Return the positions of rows that had too many close pairs."""
        return np.flatnonzero(self.table.device.get(self.job.held["retired"]))

    def _judge(self) -> None:
        words = -(-self.table.n_features // 32)
        self.job.launch("judge", self.n, _JUDGE_THREADS, shared=4 * words)
