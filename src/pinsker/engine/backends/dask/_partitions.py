"""Contingency tables of a table in partitions: integers counted in each, and added up.

`PartitionTables` offers what `CountTables` offers, so the same search runs on both, and the same
counts give the same bits. What a step needs is counted in one pass over the partitions, which are
held in memory where they fit and read again where they do not.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from pinsker._cluster import Cluster
from pinsker._compat import require
from pinsker._types import AnyArray, IntArray, TableLike, Unchecked
from pinsker.encoding import compute
from pinsker.engine import _problem as check
from pinsker.engine._contingency import Correction, JointCosts, cell_costs
from pinsker.engine._plan import available_memory
from pinsker.engine.backends import active_client
from pinsker.exceptions import DataError, MemoryBudgetError

_LOG = logging.getLogger("pinsker")

#: Coded partitions are held in memory if they take no more of it than this.
_FRACTION_OF_MEMORY = 0.5
#: Results that are added up by one task.
_RESULTS_PER_TASK = 8
#: Cells that one pass may count; each is eight bytes, on every worker and here.
MAX_CELLS = 2**24
#: Rows that are counted at a time, so that what is being counted stays in the cache.
_ROWS_PER_BLOCK = 2**16

#: Codes of shape (n_columns, rows), and labels.
Part = tuple[npt.NDArray[Any], IntArray]


@dataclass(frozen=True, eq=False)
class PartitionGroup:
    """The joint value of some columns, as a recipe: partitions make the codes themselves."""

    columns: tuple[int, ...] = ()  # which columns
    ranks: tuple[IntArray | None, ...] = ()
    n_groups: int = 1  # number of codes

    def codes(self, codes: AnyArray, n_categories: IntArray) -> IntArray:
        """Return one code per row of a partition."""
        joint = np.zeros(codes.shape[1], dtype=np.int64)
        for column, rank in zip(self.columns, self.ranks, strict=True):
            joint = joint * n_categories[column] + codes[column]
            if rank is not None:
                joint = np.searchsorted(rank, joint)
        return joint


@dataclass(frozen=True, eq=False)
class Request:
    """What one pass counts: some columns against some groups, and a group by itself."""

    groups: tuple[PartitionGroup, ...]
    columns: IntArray
    also: PartitionGroup | None
    n_categories: IntArray
    n_classes: int

    @property
    def n_cells(self) -> int:
        width = self.n_classes * int(self.n_categories[self.columns].sum())
        alone = 0 if self.also is None else self.also.n_groups * self.n_classes
        return sum(group.n_groups for group in self.groups) * width + alone


def count_part(part: Part, request: Request) -> IntArray:
    """Count a request in one partition: this is the task that workers run."""
    codes, labels = part
    counts = np.zeros(request.n_cells, dtype=np.int64)
    for start in range(0, len(labels), _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        some, own, end = np.ascontiguousarray(codes[:, rows]), labels[rows], 0
        for group in request.groups:
            joint = group.codes(some, request.n_categories) * request.n_classes + own
            for column in request.columns:
                size = int(request.n_categories[column])
                begin, end = end, end + group.n_groups * request.n_classes * size
                cells = joint * size + some[column]
                counts[begin:end] += np.bincount(cells, minlength=end - begin)
        if request.also is not None:
            cells = request.also.codes(some, request.n_categories) * request.n_classes + own
            counts[end:] += np.bincount(cells, minlength=len(counts) - end)
    return counts


def checked_part(part: TableLike, n_categories: IntArray, n_classes: int) -> Part:
    """Return a partition; refuse codes and labels that would be counted in the cells of others."""
    if not isinstance(part, list | tuple) or len(part) != 2:
        raise DataError(f"a partition is of type {type(part).__name__}: give (codes, labels).")
    codes, n_columns = check.as_array("codes", part[0]), len(n_categories)
    if codes.ndim != 2 or len(codes) != n_columns or codes.dtype.kind not in "iu":
        raise DataError(
            f"codes of a partition have shape {codes.shape} and dtype {codes.dtype}: give integers "
            f"of shape ({n_columns}, rows)."
        )
    labels = check.code_vector("labels", part[1], codes.shape[1], n_classes)
    if codes.size:
        wrong = np.flatnonzero((codes.max(axis=1) >= n_categories) | (codes.min(axis=1) < 0))
        if len(wrong):
            raise DataError(
                f"column {wrong[0]} of a partition holds codes that are not in "
                f"0..{n_categories[wrong[0]] - 1}: number its categories anew."
            )
    return codes, labels


class PartitionTables:
    """Columns and classes in partitions, ready to be counted."""

    in_passes = True

    def __init__(
        self,
        parts: Sequence[Any],
        n_categories: IntArray,
        n_classes: int,
        n_rows: int,
        correction: Correction = "none",
    ) -> None:
        check.one_of("correction", correction, get_args(Correction))
        sizes = check.as_array("n_categories", n_categories)
        if sizes.ndim != 1 or not sizes.size or sizes.dtype.kind not in "iu":
            raise DataError(
                f"n_categories has shape {sizes.shape} and dtype {sizes.dtype}: give one integer "
                "for each column."
            )
        if sizes.min() < 1 or sizes.max() > check.MOST_CODES:
            raise DataError(f"n_categories holds what is not in 1..{check.MOST_CODES}.")
        self.n_categories: IntArray = np.array(sizes, dtype=np.int64)
        self.n_categories.setflags(write=False)
        self.n_classes = check.at_least("n_classes", n_classes, 1, check.MOST_CODES)
        self.n_rows = check.at_least("n_rows", n_rows, 1)
        if not isinstance(parts, list | tuple) or not parts:
            raise DataError("parts holds no partition: give a list of delayed (codes, labels).")
        self.n_columns = len(self.n_categories)
        self._correction = correction
        self.base = cell_costs(np.array([1]), n_rows, correction)[1]
        width = 1 if int(self.n_categories.max()) <= 2**8 else 4
        # Checked where they are made: those that are held in memory once, not in every pass.
        task = _dask().delayed(checked_part, pure=False)
        parts = [task(part, self.n_categories, self.n_classes) for part in parts]
        self._parts = hold(parts, n_rows * (self.n_columns * width + 4))
        self._joint: dict[tuple[int, ...], JointCosts] = {}
        self._alone: dict[tuple[int, ...], IntArray] = {}  # (group, class) counts

    def nothing(self) -> PartitionGroup:
        return PartitionGroup()

    def join(self, group: PartitionGroup | None, column: int) -> PartitionGroup:
        column = check.index_of("column", column, self.n_columns)
        group = self._packed(PartitionGroup() if group is None else self._checked(group))
        size = group.n_groups * int(self.n_categories[column])
        return PartitionGroup((*group.columns, column), (*group.ranks, None), size)

    def n_cells(self, group: PartitionGroup) -> int:
        """Return how many joint values occur; more than rows if there are too many to count."""
        if self._checked(group).n_groups * self.n_classes > MAX_CELLS:
            return self.n_rows + 1
        return int(np.count_nonzero(self._counts_of(group).sum(axis=1)))

    def expect(
        self,
        groups: Sequence[PartitionGroup],
        active: npt.NDArray[np.bool_],
        also: PartitionGroup | None,
    ) -> None:
        """Count what is needed next, in one pass."""
        columns = np.flatnonzero(check.flags("active", active, self.n_columns))
        for group in (*groups, *(() if also is None else (also,))):
            self._checked(group)
        if also is not None and (
            also.n_groups * self.n_classes > MAX_CELLS
            or (len(columns) and also.columns in [group.columns for group in groups])
        ):
            also = None
        self._joint.clear()
        if also is not None or (groups and len(columns)):
            self._pass(tuple(groups), columns, also)

    def joint(
        self, group: PartitionGroup, active: npt.NDArray[np.bool_] | None = None
    ) -> JointCosts:
        columns = np.arange(self.n_columns)
        if active is not None:
            columns = np.flatnonzero(check.flags("active", active, self.n_columns))
        if self._checked(group).columns not in self._joint:
            self._pass((group,), columns, None)
        return self._joint[group.columns]

    def of_group(self, group: PartitionGroup) -> tuple[int, int]:
        counts = self._counts_of(self._checked(group))
        return self._cost(counts), self._cost(counts.sum(axis=1))

    def _checked(self, group: PartitionGroup) -> PartitionGroup:
        check.instance_of("group", group, PartitionGroup, "nothing and join make one")
        return group

    def _counts_of(self, group: PartitionGroup) -> IntArray:
        if group.columns not in self._alone:
            self._pass((), np.empty(0, dtype=np.int64), group)
        return self._alone[group.columns]

    def _packed(self, group: PartitionGroup) -> PartitionGroup:
        """Renumber the joint values, leaving out those that do not occur."""
        if not group.columns or group.columns not in self._alone or group.ranks[-1] is not None:
            return group
        occurring = np.flatnonzero(self._alone[group.columns].sum(axis=1))
        return PartitionGroup(group.columns, (*group.ranks[:-1], occurring), len(occurring))

    def _pass(
        self, groups: tuple[PartitionGroup, ...], columns: IntArray, also: PartitionGroup | None
    ) -> None:
        request = Request(groups, columns, also, self.n_categories, self.n_classes)
        if request.n_cells > MAX_CELLS:
            raise MemoryBudgetError(
                f"the tables of one step have {request.n_cells} cells, but {MAX_CELLS} can be "
                "counted at once: choose fewer features or bins, leave out columns with many "
                "categories, or use a criterion that looks at one chosen feature at a time."
            )
        counts = add_up(count_part, self._parts, request)
        end = 0
        for group in groups:
            costs = np.zeros((2, self.n_columns), dtype=np.int64)
            for column in columns:
                shape = (group.n_groups, self.n_classes, int(self.n_categories[column]))
                begin, end = end, end + int(np.prod(shape))
                table = counts[begin:end].reshape(shape)
                costs[:, column] = self._cost(table), self._cost(table.sum(axis=1))
                self._alone[group.columns] = table.sum(axis=2)
            self._joint[group.columns] = JointCosts(*costs)
        if also is not None:
            self._alone[also.columns] = counts[end:].reshape(-1, self.n_classes)

    def _cost(self, counts: IntArray) -> int:
        found, times = np.unique(counts[counts > 0], return_counts=True)
        return int(cell_costs(found, self.n_rows, self._correction)[0] @ times)


def hold(parts: Sequence[Any], n_bytes: int) -> list[Any]:
    """Keep coded partitions in memory, here or of the cluster, if they take up to half of it."""
    client, memory = active_client(), float(available_memory())
    if client is not None:
        memory = sum(one.get("memory_limit") or 0 for one in Cluster(client).workers().values())
    allowed = int(_FRACTION_OF_MEMORY * memory)
    fits = n_bytes <= allowed
    what = "are held in memory" if fits else "are read again in every step"
    _LOG.info("partitions: codes of %d bytes %s (%d allowed)", n_bytes, what, allowed)
    return list(_dask().persist(*parts)) if fits else list(parts)


def add_up(count: Callable[..., IntArray], parts: Sequence[Any], request: Unchecked) -> IntArray:
    """Return the sum of ``count(part, request)`` over all partitions."""
    dask = _dask()
    shared = dask.delayed(request, pure=False)
    add = dask.delayed(partial(np.sum, axis=0, dtype=np.int64), pure=False)
    task = dask.delayed(count, pure=False)
    delayed = [task(part, shared) for part in parts]
    while len(delayed) > 1:
        groups = range(0, len(delayed), _RESULTS_PER_TASK)
        delayed = [add(delayed[start : start + _RESULTS_PER_TASK]) for start in groups]
    total: IntArray
    (total,) = compute(delayed)
    return total


def _dask() -> Any:
    return require("dask", purpose="a Dask DataFrame", extra="dask")
