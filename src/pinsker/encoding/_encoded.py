"""The values that leave the encoding stage: validated, typed and frozen."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray, Scale, Task

#: Two different levels of a nominal column are this far apart in metric form; see `FARTHEST`.
NOMINAL_STEP = 1e200
#: A distance of this size or more counts as infinite: such rows are never neighbours.
FARTHEST = 1e100

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return a read-only C-ordered copy: what leaves the gate cannot be changed by accident."""
    copy = np.array(array, order="C", copy=True)
    copy.flags.writeable = False
    return copy


class Kind(StrEnum):
    """What a column holds, and therefore which distance it gets."""

    CONTINUOUS = "continuous"
    COUNT = "count"
    NOMINAL = "nominal"
    BOOLEAN = "boolean"

    @property
    def is_numeric(self) -> bool:
        """Whether distances are differences of values; otherwise they are 0 or infinite."""
        return self in (Kind.CONTINUOUS, Kind.COUNT)

    @property
    def is_discrete(self) -> bool:
        """Whether the column takes countable values."""
        return self is not Kind.CONTINUOUS


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table, behind the gate.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float64, C order, read-only
        Scaled values of continuous and count columns; codes 0, 1, 2, ... of nominal and boolean
        ones. Free of NaN and infinities.
    kinds : tuple of Kind
        One per column.
    names : tuple of str
        One per column.
    levels : tuple
        Per column, the original values behind the codes; None for numeric kinds.
    scale : {"copula", "standard", "none"}
        How numeric columns were scaled.
    notes : tuple of str
        What a user should know: constants, duplicates, guesses about kinds.
    missing : ndarray of shape (n_rows, n_columns), bool, read-only, or None
        Where a numeric column has no value (only with ``missing="category"``); `values` holds 0 there.
        None when nothing is missing. A missing value of a nominal column is one of its levels.
    """

    values: FloatArray
    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    levels: tuple[AnyArray | None, ...]
    scale: Scale = "none"
    notes: tuple[str, ...] = ()
    missing: BoolArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def metric(self) -> FloatArray:
        """Return values whose coordinate differences are the distances the kernels use.

        Nominal codes are spread by `NOMINAL_STEP`, so that two levels are either equal or
        farther apart than `FARTHEST`: the 0/infinity metric without a special case. Missing values
        of a numeric column lie one such step away: next to each other, infinitely far from all
        that is present.
        """
        metric = self.values.copy()
        nominal = [j for j, kind in enumerate(self.kinds) if not kind.is_numeric]
        metric[:, nominal] *= NOMINAL_STEP
        if self.missing is not None:
            metric[self.missing] = NOMINAL_STEP
        metric.flags.writeable = False
        return metric

    def take(self, indices: IntArray) -> "Columns":
        """Return some of the columns, in the order asked for."""
        picked = [int(i) for i in indices]
        return Columns(
            frozen(self.values[:, picked]),
            tuple(self.kinds[i] for i in picked),
            tuple(self.names[i] for i in picked),
            tuple(self.levels[i] for i in picked),
            self.scale,
            missing=None if self.missing is None else frozen(self.missing[:, picked]),
        )


@dataclass(frozen=True, eq=False)
class Target:
    """A target, behind the gate: classes or numbers.

    Attributes
    ----------
    task : {"classification", "regression"}
        How the target is understood.
    labels : ndarray of shape (n_rows,), int64, or None
        Class codes 0..m-1 (several class columns are merged into one).
    classes : ndarray or None
        The original class behind each code (tuples for several columns).
    values : ndarray of shape (n_rows, n_targets), float64, or None
        Numeric target, scaled as continuous columns are; what the kernels see.
    raw : ndarray of shape (n_rows, n_targets), float64, or None
        Numeric target in the user's unit; what variances and ranges are computed from.
    names : tuple of str
        One per target column.
    notes : tuple of str
        What a user should know, for example a guess about the task.
    """

    task: Task
    labels: IntArray | None
    classes: AnyArray | None
    values: FloatArray | None
    raw: FloatArray | None
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        held = self.labels if self.labels is not None else self.values
        assert held is not None
        return int(held.shape[0])


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table and its target, ready for the engine.

    Attributes
    ----------
    columns : Columns
        The table.
    target : Target
        The target.
    features : tuple of tuple of int
        What is kept or dropped as one: the columns of each feature, in order of their first column.
        A plain column is a feature of its own.
    feature_names : tuple of str
        One per feature: the column's name, or the group's.
    rows : ndarray of shape (n_rows,), int64
        Which rows of the user's table these are (``missing="drop"`` leaves some out).
    """

    columns: Columns
    target: Target
    features: tuple[tuple[int, ...], ...]
    feature_names: tuple[str, ...]
    rows: IntArray = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows that are used."""
        return self.columns.n_rows

    @property
    def n_features(self) -> int:
        """Number of features: columns of their own, and groups."""
        return len(self.features)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about table and target."""
        return self.columns.notes + self.target.notes
