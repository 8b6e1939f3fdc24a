"""The searches on a GPU: the protocols of ``_kernels.Backward`` and ``_kernels.Forward``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import Fields, IntArray
from pinsker.engine.backends.cuda._device import ROW_THREADS, TILE, TILE_THREADS, Job, Table

#: Close pairs that a row has room for, if the table has this many rows.
_CLOSE_PAIRS = 2048
#: Bytes for distances of a batch, and for rows that are measured from scratch: a fifth of what is
#: left, and no more than this.
_BATCH_BYTES = 4 * 2**30
#: Bytes of a close pair: three doubles, a row and two features.
_BYTES_OF_CLOSE_PAIR = 36
#: Bytes of a change: a feature and a sum.
_BYTES_OF_CHANGE = 12
_SCAN_THREADS = 256
_MEASURE_THREADS = 64
_SCORE_THREADS = 64
#: Columns of a query row that are copied into shared memory while its pairs are looked at again.
_COLUMNS_IN_SHARED = 4096
_WATCHES_PER_READ = 8  # a thread reads 16 bytes of them
#: Rows that a watched pair can name: the queue of `revisit` has 24 bits for them.
MAX_ROWS_WATCHED = 2**24


def watch_stride(rows: int) -> int:
    """Return the watches of one query row, padded to whole reads."""
    return rows + -rows % _WATCHES_PER_READ


def bytes_of_row(rows: int, n_features: int, capacity: int, *, watches: bool) -> int:
    """Return the bytes that the state of one query row takes."""
    held = _BYTES_OF_CLOSE_PAIR * capacity + _BYTES_OF_CHANGE * min(capacity, n_features) + 64
    return held + (2 * watch_stride(rows) if watches else 0)


class Rows:
    """Some query rows, each with room for a number of close pairs."""

    def __init__(
        self, table: Table, queries: npt.NDArray[np.int32], capacity: int, *, watches: bool
    ) -> None:
        self.table, self.n = table, len(queries)
        self.changes = min(capacity, table.n_features)
        new, n = table.device.empty, self.n
        fields: Fields = {
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
        """Measure everything about the rows, distances in batches of this many of them."""
        for begin in range(0, self.n, batch):
            n = min(batch, self.n - begin)
            part = self.table.find_distances(self.job, begin, n, all_rows=False)
            part.launch("find_radius", n, ROW_THREADS)
            del part  # before the next batch needs its room
        tiles = (-(-self.table.rows // TILE), -(-self.n // TILE))
        self.job.launch("sort_pairs", tiles, TILE_THREADS)
        self.job.set(removed=-1)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self._score()

    def update(self, removed: int) -> None:
        """Bring the rows up to date after a removal."""
        width = int(self.job.record["rounded_width"][0])
        in_shared = width <= _COLUMNS_IN_SHARED
        self.job.set(removed=removed, row_in_shared=in_shared)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self.job.launch("tighten", self.n, ROW_THREADS)
        self.job.launch("revisit", self.n, _SCAN_THREADS, shared=4 * width if in_shared else 4)
        self.job.launch("measure", self.n, _MEASURE_THREADS)
        self._score()

    def retired(self) -> npt.NDArray[np.int64]:
        """Return the positions of rows that had too many close pairs."""
        return np.flatnonzero(self.table.device.get(self.job.held["retired"]))

    def _score(self) -> None:
        words = -(-self.table.n_features // 32)
        self.job.launch("score_removals", self.n, _SCORE_THREADS, shared=4 * words)


class _CudaSearch:
    """A table on the device, the current set, and its sums: the set's own after the features'."""

    def __init__(self, **settings: Any) -> None:
        self._table = Table(**settings)
        self.limit = self._table.limit  # bytes of the device that it may hold
        self._active = np.zeros(self._table.n_features, dtype=np.bool_)
        self._totals = np.zeros(self._table.n_features + 2, dtype=np.int64)

    def information(self) -> int:
        """Return the sum of the terms of the current set, in fixed point."""
        return int(self._totals[self._table.n_features])

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature moved; for direct scores its own sum."""
        out[:] = self._totals[: self._table.n_features]


class CudaBackward(_CudaSearch):
    """Scores every removal from the current set."""

    def __init__(
        self,
        *,
        watched_queries: int,  # noqa: ARG002 (as `_kernels`; rows that fit in memory are kept)
        state_bytes: int = 0,  # noqa: ARG002 (as `_kernels`)
        capacity: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self._capacity = min(self._table.rows, capacity or _CLOSE_PAIRS)
        left = self.limit - self._table.own_bytes
        self._batch_bytes = max(self._table.bytes_of_fresh_row, min(_BATCH_BYTES, left // 5))
        self.bytes_of_kept_row = bytes_of_row(
            self._table.rows, self._table.n_features, self._capacity, watches=True
        )
        room = max(0, left - self._batch_bytes)
        # Rows that there is room to keep the state of, and bytes of the device held at most.
        self.n_watched = min(len(self._table.queries), room // self.bytes_of_kept_row)
        if self._table.rows > MAX_ROWS_WATCHED:
            self.n_watched = 0
        kept = self.n_watched * self.bytes_of_kept_row
        self.n_bytes = self._table.own_bytes + self._batch_bytes + kept
        self._kept: Rows | None = None
        self._n_retired = 0
        self._fresh = np.empty(0, dtype=np.int32)

    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        """Begin at a set: one flag per feature."""
        self._active = np.asarray(active).astype(np.bool_)
        self._totals[:] = 0
        self._sums = self._table.device.full(self._table.n_features + 2, 0, np.int64)
        self._kept = None
        self._fresh = self._table.queries[self.n_watched :]
        self._lay_out()
        if self._active.sum() > 1 and self.n_watched:
            queries = self._table.queries[: self.n_watched]
            self._kept = Rows(self._table, queries, self._capacity, watches=True)
            self._kept.job.set(sums=self._sums)
            self._kept.build(max(1, self._batch_bytes // (8 * self._table.rows)))
        self._add_up()

    def remove(self, feature: int, threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        self._active[feature] = False
        self._lay_out()
        if self._active.sum() > 1 and self._kept is not None:
            self._kept.update(feature)
        else:
            self._kept = None
        self._add_up()

    changes = _CudaSearch.sums  # of the sum with each removal

    @property
    def n_kept(self) -> int:
        """Rows that keep their state between steps."""
        return 0 if self._kept is None else self._kept.n - self._n_retired

    def _lay_out(self) -> None:
        """Lay out the columns of the set, costly features first: they are found first, and stay."""
        columns = np.flatnonzero(self._active[self._table.features])
        cost = self._totals[self._table.features[columns]] * (-1 if self._table.direct else 1)
        columns = columns[np.argsort(cost, kind="stable")]
        kept, own = None if self._kept is None else self._kept.job, self._table.job
        for job in (own, kept):  # before others are laid out: both need not fit
            if job is not None:
                job.set(table=None, rounded=None)
        self._table.lay_out_set(columns, own)
        if kept is not None:
            names = ("table", "rounded", "feature_of_column", "code_of_column")
            kept.set(**{name: own.held[name] for name in names})
            kept.set(**{name: own.record[name][0] for name in ("width", "rounded_width")})

    def _add_up(self) -> None:
        """Sum over the rows that keep their state, and those that are measured from scratch."""
        self._totals[:] = 0
        self._n_retired = 0
        if self._active.sum() <= 1:  # of one feature no removal is scored, only the set itself
            table = self._table
            sums = table.device.full(table.n_features + 2, 0, np.int64)
            job = table.job_for(table.queries, sums=sums)
            batch = max(1, self._batch_bytes // (8 * table.rows))
            for begin in range(0, len(table.queries) if self._active.any() else 0, batch):
                n = min(batch, len(table.queries) - begin)
                part = table.find_distances(job, begin, n, all_rows=True)
                part.launch("score_set", n, ROW_THREADS)
                del part  # before the next batch needs its room
            self._totals += table.device.get(sums)
            return
        crowded = np.empty(0, dtype=np.int32)
        if self._kept is not None:
            self._totals += self._table.device.get(self._sums)
            self._n_retired = int(self._totals[-1])
            if self._n_retired:
                crowded = self._kept.job.queries[self._kept.retired()]
        also_crowded = self._measure_from_scratch(self._fresh, self._capacity)
        self._measure_from_scratch(np.concatenate([crowded, also_crowded]), self._table.rows)

    def _measure_from_scratch(
        self, queries: npt.NDArray[np.int32], capacity: int
    ) -> npt.NDArray[np.int32]:
        """Measure rows from scratch; returns those with more close pairs than there is room for."""
        table = self._table
        sums = table.device.full(table.n_features + 2, 0, np.int64)
        # Half of the memory for the state of a batch, half for distances of a part of it.
        each = bytes_of_row(table.rows, table.n_features, capacity, watches=False)
        batch = max(1, self._batch_bytes // 2 // each)
        crowded = [queries[:0]]
        for begin in range(0, len(queries), batch):
            rows = Rows(table, queries[begin : begin + batch], capacity, watches=False)
            rows.job.set(sums=sums)
            rows.build(max(1, self._batch_bytes // 2 // (8 * table.rows)))
            if capacity < table.rows:
                crowded.append(rows.job.queries[rows.retired()])
            del rows  # before the next batch needs its room
        if len(queries):
            self._totals += table.device.get(sums)
        return np.concatenate(crowded)


#: Rows within reach, as a multiple of those that a typical ball needs; only time depends on it.
_REACH_FACTOR = 3.0
_LANE_THREADS = 256


class CudaForward(_CudaSearch):
    """Scores every addition to the current set. Nothing is kept between steps but the set."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        own, each = self._table.own_bytes, 12 * self._table.rows + 16  # distances, rows in reach
        batch = min(_BATCH_BYTES, self.limit - own) // each
        self._batch = max(1, min(batch, len(self._table.queries)))
        self.n_watched, self.n_bytes = 0, own + self._batch * each

    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        self._active = np.asarray(active).astype(np.bool_)
        self._sweep()

    def add(self, feature: int, threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        self._active[feature] = True
        self._sweep()

    def _sweep(self) -> None:
        """Measure every candidate at every query row, a batch of rows at a time."""
        table = self._table
        sums = table.device.full(table.n_features + 2, 0, np.int64)
        job = table.job_for(table.queries, sums=sums, n_active=int(self._active.sum()))
        table.lay_out_set(np.flatnonzero(self._active[table.features]), job)
        # Columns that are not in the set, those of a feature side by side.
        columns = np.flatnonzero(~self._active[table.features])
        columns = columns[np.argsort(table.features[columns], kind="stable")]
        lanes, starts = np.unique(table.features[columns], return_index=True)
        table.lay_out(columns, "candidates", "candidate_width", job)
        # The fraction of the rows within reach: a ball of k among the row's class.
        dims = int(np.sum(self._active[table.features]))
        density = min(1.0, table.rank / float(np.mean(table.last - table.first)))
        job.set(
            lane_feature=table.device.put(lanes.astype(np.int32)),
            lane_first=table.device.put(np.append(starts, len(columns)).astype(np.int32)),
            n_lanes=len(lanes),
            fraction=float(_REACH_FACTOR * density ** (dims / (dims + 1.0))),
        )
        for begin in range(0, len(table.queries), self._batch):
            n = min(self._batch, len(table.queries) - begin)
            part = table.find_distances(job, begin, n, all_rows=True)
            if self._active.any():
                part.launch("score_set", n, ROW_THREADS)
            part.set(near_row=table.device.empty((n, table.rows), np.int32))
            threads = min(_LANE_THREADS, len(lanes) + -len(lanes) % 32)
            part.launch("score_candidates", n if len(lanes) else 0, threads)
            del part  # before the next batch needs its room
        self._totals[:] = table.device.get(sums)
