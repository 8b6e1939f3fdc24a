"""Forward search on a GPU: the protocol of ``_kernels.Forward``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import IntArray
from pinsker.engine.backends.cuda._device import Device
from pinsker.engine.backends.cuda._job import Job
from pinsker.engine.backends.cuda._table import ROW_THREADS, Table

#: Rows within reach, as a multiple of those that a typical ball needs; only time depends on it.
_REACH_FACTOR = 3.0
_BATCH_BYTES = 4 * 2**30
_LANE_THREADS = 256


class CudaForward:
    """Scores every addition to the current set. Nothing is kept between steps but the set."""

    def __init__(
        self, *, memory_limit: int | None = None, device: Device | None = None, **settings: Any
    ) -> None:
        self._table = Table(memory_limit=memory_limit, device=device, **settings)
        left = self._table.limit - self._table.own_bytes
        batch = min(_BATCH_BYTES, left) // _bytes_of_query(self._table.rows)
        self._batch = max(1, min(batch, len(self._table.queries)))
        self._active = np.zeros(self._table.n_features, dtype=np.bool_)
        self._totals = np.zeros(self._table.n_features + 2, dtype=np.int64)

    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        """Begin at a set: one flag per feature."""
        self._active = np.asarray(active).astype(np.bool_)
        self._sweep()

    def add(self, feature: int, threads: int) -> None:  # noqa: ARG002 (as `_kernels`)
        """Put a feature into the set."""
        self._active[feature] = True
        self._sweep()

    def information(self) -> int:
        """Return the sum of the terms of the current set, in fixed point."""
        return int(self._totals[self._table.n_features])

    def sums(self, out: IntArray) -> None:
        """Write the sum with each feature added; for direct scores its own sum."""
        out[:] = self._totals[: self._table.n_features]

    @property
    def n_watched(self) -> int:
        """Rows that keep their state between steps: none."""
        return 0

    @property
    def n_bytes(self) -> int:
        """Bytes of the device that the search holds at most."""
        return self._table.own_bytes + self._batch * _bytes_of_query(self._table.rows)

    @property
    def limit(self) -> int:
        """Bytes of the device that it may hold."""
        return self._table.limit

    def _sweep(self) -> None:
        """Measure every candidate at every query row, a batch of rows at a time."""
        table = self._table
        sums = table.device.full(table.n_features + 2, 0, np.int64)
        job = table.job_for(table.queries, sums=sums, n_active=int(self._active.sum()))
        table.lay_out_set(np.flatnonzero(self._active[table.features]), job)
        self._lay_out_candidates(job)
        for begin in range(0, len(table.queries), self._batch):
            n = min(self._batch, len(table.queries) - begin)
            part = table.find_distances(job, begin, n, all_rows=True)
            if self._active.any():
                part.launch("score_set", n, ROW_THREADS)
            self._score_candidates(part, n)
            del part  # before the next batch needs its room
        self._totals[:] = table.device.get(sums)

    def _lay_out_candidates(self, job: Job) -> None:
        """Lay out the columns that are not in the set, those of a feature side by side."""
        table = self._table
        columns = np.flatnonzero(~self._active[table.features])
        columns = columns[np.argsort(table.features[columns], kind="stable")]
        lanes, starts = np.unique(table.features[columns], return_index=True)
        table.lay_out(columns, "candidates", "candidate_width", job)
        job.set(
            lane_feature=table.device.put(lanes.astype(np.int32)),
            lane_first=table.device.put(np.append(starts, len(columns)).astype(np.int32)),
            n_lanes=len(lanes),
            fraction=self._fraction(int(np.sum(self._active[table.features]))),
        )

    def _fraction(self, dims: int) -> float:
        """Return the fraction of the rows within reach: a ball of k among the row's class."""
        same_class = float(np.mean(self._table.last - self._table.first))
        density = min(1.0, self._table.rank / same_class)
        return float(_REACH_FACTOR * density ** (dims / (dims + 1.0)))

    def _score_candidates(self, part: Job, n: int) -> None:
        device, rows = self._table.device, self._table.rows
        lanes = int(part.record["n_lanes"][0])
        part.set(near_row=device.empty((n, rows), np.int32))
        part.launch("score_candidates", n if lanes else 0, min(_LANE_THREADS, lanes + -lanes % 32))


def _bytes_of_query(rows: int) -> int:
    """Return the bytes of the distances of a query row, and of the rows within its reach."""
    return 12 * rows + 16
