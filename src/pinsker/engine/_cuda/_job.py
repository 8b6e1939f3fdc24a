"""The argument of every kernel: one structure of addresses and numbers, as in ``job.cuh``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker.engine._cuda._device import Array, Device

#: Addresses, in the order of the structure.
ADDRESSES = (
    *("source", "columns", "table", "rounded", "feature_of_column", "code_of_column"),
    *("labels", "target", "sorted_target", "company_first", "company_last", "digamma"),
    *("query", "distance", "radius", "limit", "n_close"),
    *("close_row", "close_first_feature", "close_second_feature"),
    *("close_first", "close_second", "close_target"),
    *("watches", "changed", "retired", "term", "n_changes", "change_feature", "change_sum", "sums"),
    *("near_row", "candidates", "lane_first", "lane_feature"),
)
#: Whole numbers that follow them.
NUMBERS = (
    *("rows", "source_width", "width", "targets", "n_queries", "begin", "span", "everyone"),
    *("capacity", "change_capacity", "watch_stride", "rank", "n_features", "direct", "removed"),
    *("rounded_width", "row_in_shared", "n_lanes", "candidate_width", "n_active"),
)
LAYOUT = np.dtype(
    [(name, np.uint64) for name in ADDRESSES]
    + [(name, np.int64) for name in NUMBERS]
    + [("share", np.float64), ("rounding", np.float64)]
)


class Job:
    """Fields by name; arrays are kept alive for as long as a field points at them."""

    def __init__(self, device: Device, **fields: Any) -> None:
        self.device = device
        self.record: npt.NDArray[Any] = np.zeros(1, dtype=LAYOUT)
        self.held: dict[str, Array] = {}
        self.queries: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)  # on the host
        self.set(**fields)

    def set(self, **fields: Any) -> None:
        """Set fields: arrays of the device, None for a null address, or numbers."""
        for name, value in fields.items():
            if name not in ADDRESSES:
                self.record[name] = value
            elif value is None:
                self.held.pop(name, None)
                self.record[name] = 0
            else:
                self.held[name] = value
                self.record[name] = self.device.address(value)

    def copy(self, **fields: Any) -> "Job":
        """Return another job that differs in some fields."""
        twin = Job(self.device)
        twin.record[:] = self.record
        twin.held.update(self.held)
        twin.queries = self.queries
        twin.set(**fields)
        return twin

    def launch(
        self, kernel: str, blocks: int | tuple[int, int], threads: int, shared: int = 0
    ) -> None:
        """Run a kernel; nothing happens for an empty grid."""
        grid = (blocks, 1) if isinstance(blocks, int) else blocks
        if min(grid) > 0:
            self.device.launch(kernel, grid, threads, shared, self.record)
