"""Contingency tables of all candidate columns at once: the discrete half of the engine.

Columns are codes 0, 1, 2, ... and share bytes where they can. One call counts every active column
against a *group* (the joint value of some chosen columns) and the class, and returns sums of cell
costs in fixed point; differences of such sums are entropies and information.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from pinsker._types import AnyArray, Fields, FloatArray, IntArray
from pinsker.encoding import check_weights
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._problem import FrozenArrays, MadeByOf
from pinsker.exceptions import DataError, ParameterError

Correction = Literal["none", "miller-madow", "grassberger"]

#: Cost sums are multiples of this many nats; integers, so that no sum depends on its order.
NATS_PER_COST = 1.0 / float(_kernels.COSTS_PER_NAT)
#: A joint value with no more groups than this is not searched for those that do not occur.
_SMALL_GROUP = 256
#: Weights are rounded to this fraction of their total, far below what float64 resolves in a sum.
_WEIGHT_BITS = 52
#: Rows are numbered in 32 bits.
_MOST_ROWS = 2**32 - 1
#: Codes of one byte: the product of the categories of the columns in a pack stays within it.
_BYTE_CODES = 256


@dataclass(frozen=True, eq=False, init=False)
class PackedColumns(MadeByOf):
    """Columns of codes, as many to a byte as fit; `of` packs them."""

    packed: npt.NDArray[np.uint8]
    wide: npt.NDArray[np.uint32]  # columns with more than 256 categories
    home: IntArray
    stride: IntArray
    n_categories: IntArray

    @property
    def n_rows(self) -> int:
        return int(self.packed.shape[1])

    @property
    def n_columns(self) -> int:
        return len(self.home)

    @property
    def nbytes(self) -> int:
        return int(self.packed.nbytes + self.wide.nbytes)

    def column(self, index: int) -> npt.NDArray[np.uint32]:
        index = check.index_of("column", index, self.n_columns)
        home = self.home.item(index)
        if home < 0:
            wide: npt.NDArray[np.uint32] = self.wide[-1 - home]
            return wide
        codes: npt.NDArray[np.uint32] = self.packed[home].astype(np.uint32)
        if (stride := self.stride.item(index)) > 1:
            codes //= stride
        codes %= self.n_categories.item(index)
        return codes

    @classmethod
    def of(
        cls, codes: AnyArray, n_categories: Sequence[int] | IntArray | None = None
    ) -> "PackedColumns":
        """Pack a table of non-negative integers of shape (n_rows, n_columns)."""
        table = check.as_array("codes", codes)
        _check_codes(table)
        sizes = _categories_of(table, n_categories)
        home, stride = _lay_out(sizes)
        packed = np.zeros((int(home.max(initial=-1)) + 1, table.shape[0]), dtype=np.uint8)
        wide = np.zeros((int(np.sum(home < 0)), table.shape[0]), dtype=np.uint32)
        if table.dtype != np.uint8:
            table = table.astype(np.int64, copy=False)
        _kernels.pack_columns(table, home, stride, packed, wide)
        return cls._made(packed=packed, wide=wide, home=home, stride=stride, n_categories=sizes)


def _check_codes(codes: AnyArray) -> None:
    if codes.ndim != 2 or codes.size == 0:
        raise DataError(f"codes have shape {codes.shape}: give a table with rows and columns.")
    if codes.dtype.kind not in "iub":
        raise DataError(
            f"codes have dtype {codes.dtype}: give integers 0, 1, 2, ... "
            "(pinsker.encoding.bin_columns makes them from any table)."
        )
    lowest = codes.min()
    if lowest < 0:
        column = int(np.flatnonzero(codes.min(axis=0) < 0)[0])
        raise DataError(f"code {lowest} in column {column}: codes are 0, 1, 2, ...; recode it.")
    _refuse_beyond(codes.max(axis=0), "code", "without gaps, as numpy.unique numbers values")


def _refuse_beyond(largest: AnyArray, what: str, advice: str) -> None:
    """Refuse numbers that tables cannot be made for: they are as long as the largest code."""
    beyond = np.flatnonzero(largest >= check.MOST_CODES)
    if len(beyond):
        raise DataError(
            f"{what} {largest[beyond[0]]} in column {beyond[0]}: the largest that is counted is "
            f"{check.MOST_CODES - 1}; number categories 0, 1, 2, ... {advice}."
        )


def _categories_of(codes: AnyArray, n_categories: Sequence[int] | IntArray | None) -> IntArray:
    found = codes.max(axis=0).astype(np.int64) + 1
    if n_categories is None:
        return np.asarray(found, dtype=np.int64)
    given = check.as_array("n_categories", n_categories)
    if given.shape != found.shape or given.dtype.kind not in "iu":
        raise DataError(
            f"n_categories has shape {given.shape} and dtype {given.dtype}: give one integer for "
            f"each of {found.size}."
        )
    _refuse_beyond(given - 1, "n_categories allows code", "and give as many")
    sizes: IntArray = np.array(given, dtype=np.int64)
    if (sizes < found).any():
        column = int(np.flatnonzero(sizes < found)[0])
        raise DataError(
            f"code {found[column] - 1} in column {column} but n_categories is {sizes[column]}: "
            f"codes of a column run from 0 to n_categories - 1."
        )
    return sizes


def _lay_out(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Give every column a byte to share with the next ones, or 32 bits of its own."""
    home = np.empty(sizes.size, dtype=np.int64)
    stride = np.ones(sizes.size, dtype=np.int64)
    n_packs = n_wide = 0
    used = _BYTE_CODES + 1  # no pack is open
    for j, size in enumerate(sizes.tolist()):
        if size > _BYTE_CODES:
            home[j], n_wide, used = -1 - n_wide, n_wide + 1, _BYTE_CODES + 1
            continue
        if used * size > _BYTE_CODES:
            used, n_packs = 1, n_packs + 1
        home[j], stride[j] = n_packs - 1, used
        used *= size
    return home, stride


@dataclass(frozen=True, eq=False)
class Group(FrozenArrays):
    """The joint value of some columns, one code per row."""

    codes: npt.NDArray[np.uint32]  # codes 0..n_groups-1
    n_groups: int  # number of codes

    def __post_init__(self) -> None:
        n_rows = np.size(check.as_array("codes", self.codes))
        n_groups = check.at_least("n_groups", self.n_groups, 1, max(check.MOST_CODES, n_rows))
        codes = check.code_vector("codes", self.codes, n_rows, n_groups)
        self.__setstate__({"codes": np.array(codes, dtype=np.uint32), "n_groups": n_groups})

    @classmethod
    def trivial(cls, n_rows: int) -> "Group":
        n_rows = check.at_least("n_rows", n_rows, 0, _MOST_ROWS)
        return cls._made(codes=np.zeros(n_rows, dtype=np.uint32), n_groups=1)

    def joined(self, codes: npt.NDArray[np.uint32], n_categories: int) -> "Group":
        """Return the joint value with one more column, without the values that do not occur."""
        n_categories = check.at_least(
            "n_categories", n_categories, 1, max(check.MOST_CODES, self.codes.size)
        )
        column = check.code_vector("codes", codes, self.codes.size, n_categories)
        return self._joined(column.astype(np.int64, copy=False), n_categories)

    def _joined(self, codes: AnyArray, n_categories: int) -> "Group":
        joint = self.codes.astype(np.int64) * n_categories + codes
        n_joint = self.n_groups * n_categories
        if n_joint <= _SMALL_GROUP:
            return Group._made(codes=joint.astype(np.uint32), n_groups=n_joint)
        if n_joint > 8 * joint.size + 65536:
            values, inverse = np.unique(joint, return_inverse=True)
            return Group._made(codes=inverse.astype(np.uint32), n_groups=int(values.size))
        occurs = np.zeros(n_joint, dtype=np.bool_)
        occurs[joint] = True
        rank = np.cumsum(occurs, dtype=np.int64) - 1
        return Group._made(codes=rank[joint].astype(np.uint32), n_groups=int(rank[-1]) + 1)


@dataclass(frozen=True, eq=False)
class JointCosts:
    """Cost sums of two tables per column, in units of `NATS_PER_COST`; 0 for inactive columns."""

    with_classes: IntArray  # of the table (column, group, class)
    without_classes: IntArray  # of the table (column, group)


@dataclass(frozen=True, eq=False, init=False)
class CountTables(MadeByOf):
    """Columns and classes, laid out by `of` and ready to be counted."""

    #: Whether counting goes through the data as a whole, so that it pays to count much at once.
    in_passes: ClassVar[bool] = False

    columns: PackedColumns  # the candidates
    labels: npt.NDArray[np.uint32]  # class codes
    n_classes: int  # number of classes
    cost: IntArray | None  # cost of each possible count
    weights: npt.NDArray[np.uint64] | None  # row weights in fixed point
    base: int  # cost of the table with one cell, as the correction defines it
    n_threads: int = 1  # threads over candidates
    order: IntArray | None = None

    @classmethod
    def of(
        cls, columns: PackedColumns, labels: AnyArray, n_classes: int | None = None, *,
        correction: Correction = "none", sample_weight: FloatArray | None = None,
        n_threads: int = 1,
    ) -> "CountTables":  # fmt: skip
        """Check labels and weights against the columns and tabulate the costs."""
        check.instance_of("columns", columns, PackedColumns, "PackedColumns.of packs codes")
        check.one_of("correction", correction, get_args(Correction))
        target = check.as_array("labels", labels)
        _check_codes(target.reshape(-1, 1))
        if target.shape != (columns.n_rows,):
            raise DataError(
                f"{columns.n_rows} rows of codes but labels of shape {target.shape}: "
                "give one label per row."
            )
        sizes = _categories_of(target.reshape(-1, 1), None if n_classes is None else [n_classes])
        fields: Fields = {
            "columns": columns,
            "labels": np.array(target, dtype=np.uint32),
            "n_classes": int(sizes[0]),
            "n_threads": check.thread_count(n_threads),
        }
        if sample_weight is None:
            n, cost = columns.n_rows, np.zeros(columns.n_rows + 1, dtype=np.int64)
            cost[1:], base = cell_costs(np.arange(1, n + 1), n, correction)
            return cls._made(**fields, cost=cost, weights=None, base=base)
        if correction != "none":
            raise ParameterError(
                f"correction={correction!r} counts rows and cannot be combined with sample_weight: "
                'use correction="none".'
            )
        given = check_weights(sample_weight, columns.n_rows)
        # A power of two, so that integer weights stay integers.
        exponent = _WEIGHT_BITS - int(np.ceil(np.log2(given.sum())))
        weights = np.rint(np.ldexp(given, exponent)).astype(np.uint64)
        return cls._made(**fields, cost=None, weights=weights, base=0)

    def joint(self, group: Group, active: npt.NDArray[np.bool_] | None = None) -> JointCosts:
        """Count every active column against the group, with and without the classes."""
        return self._count(self.columns, group, self.labels, self.n_classes, active)

    def joint_without_classes(
        self, group: Group, active: npt.NDArray[np.bool_] | None = None
    ) -> IntArray:
        """Count every active column against the group alone: smaller tables, less work."""
        nothing = np.zeros(self.columns.n_rows, dtype=np.uint32)
        return self._count(self.columns, group, nothing, 1, active).without_classes

    def of_group(self, group: Group) -> tuple[int, int]:
        """Return the cost sums of (group, class) and of the group itself."""
        constant = PackedColumns.of(np.zeros((self.n_rows, 1), dtype=np.uint8))
        costs = self._count(constant, group, self.labels, self.n_classes, None)
        return int(costs.with_classes[0]), int(costs.without_classes[0])

    @property
    def n_rows(self) -> int:
        return self.columns.n_rows

    @property
    def n_columns(self) -> int:
        return self.columns.n_columns

    def nothing(self) -> Group:
        return Group.trivial(self.n_rows)

    def join(self, group: Group | None, column: int) -> Group:
        new = self.group_of(column)
        if group is None:
            return new
        self._check(group)
        return group._joined(new.codes, new.n_groups)

    def n_cells(self, group: Group) -> int:
        self._check(group)
        return int(np.count_nonzero(np.bincount(group.codes)))

    def group_of(self, column: int) -> Group:
        codes = self.columns.column(column)
        return Group._made(
            codes=codes if self.order is None else codes[self.order],
            n_groups=self.columns.n_categories.item(column),
        )

    def shuffled(self, order: IntArray) -> "CountTables":
        """Return tables whose candidates meet the classes, weights and choices of other rows."""
        order = np.array(
            check.code_vector("order", order, self.n_rows, self.n_rows), dtype=np.int64
        )
        weights = None if self.weights is None else self.weights[order]
        changed = {"labels": self.labels[order], "weights": weights, "order": order}
        return self._made(**{**vars(self), **changed})

    def _check(self, group: Any) -> None:
        """Refuse groups of other rows; their codes are known to be right."""
        if isinstance(group, Group) and group.codes.shape == self.labels.shape:
            return
        check.instance_of("group", group, Group, "join and group_of make one")
        raise DataError(
            f"a group of {len(group.codes)} rows, but there are {self.n_rows}: use one of these "
            "tables."
        )

    def _count(
        self,
        columns: PackedColumns,
        group: Group,
        labels: npt.NDArray[np.uint32],
        n_classes: int,
        active: npt.NDArray[np.bool_] | None,
    ) -> JointCosts:
        self._check(group)
        n_columns = columns.n_columns
        mask = np.ones(n_columns, dtype=np.uint8)
        if active is not None:
            mask = check.flags("active", active, n_columns)
        with_classes = np.zeros(n_columns, dtype=np.int64)
        without_classes = np.zeros(n_columns, dtype=np.int64)
        places = (columns.packed, columns.wide, columns.home, columns.stride, columns.n_categories)
        condition = (mask, group.codes, group.n_groups, labels, n_classes)
        sums = (self.n_threads, with_classes, without_classes)
        if self.weights is not None:
            _kernels.weigh_rows(*places, *condition, self.weights, *sums)
        elif self.cost is not None:
            _kernels.count_rows(*places, *condition, self.cost, *sums)
        return JointCosts(with_classes, without_classes)


def cell_costs(found: IntArray, n_rows: int, correction: Correction) -> tuple[IntArray, int]:
    """Return f(count) with H = base - sum f(count), in fixed point, and the base."""
    counts = found.astype(np.float64)
    probability = counts / n_rows
    base = 0.0
    if correction == "grassberger":
        cost = probability * (grassberger_log(found) - np.log(n_rows))
        cost[found == n_rows] = 0.0  # one cell with all rows: a constant carries no information
    else:
        cost = probability * np.log(probability)
        if correction == "miller-madow":
            base = -0.5 / n_rows
            cost += base
    return np.rint(cost / NATS_PER_COST).astype(np.int64), round(base / NATS_PER_COST)


def grassberger_log(counts: IntArray) -> FloatArray:
    """Return G(m) of Grassberger (2003) for counts of at least 1, in place of ln m in entropies."""
    found = check.as_array("counts", counts)
    if found.dtype.kind not in "iu" or (found < 1).any():
        raise DataError("counts holds what is no count: give integers of at least 1.")
    m = found.astype(np.float64)
    sign = np.where(found % 2 == 0, 0.5, -0.5)
    return np.asarray(digamma(m) + sign * (digamma((m + 1) / 2) - digamma(m / 2)))
