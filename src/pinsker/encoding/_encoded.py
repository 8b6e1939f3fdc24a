"""The values that leave the encoding stage: validated, typed and frozen."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray, Scale, Task
from pinsker.exceptions import DataError

#: Two different categories of a nominal column are this far apart in metric form; see `FARTHEST`.
NOMINAL_STEP = 1e200
#: A distance of this size or more counts as infinite: such rows are never neighbors.
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
    categories : tuple
        Per column, the original values behind the codes; None for numeric kinds.
    scale : {"copula", "standard", "none"}
        How numeric columns were scaled.
    notes : tuple of str
        What a user should know: constants, duplicates, guesses about kinds.
    missing : ndarray of shape (n_rows, n_columns), bool, read-only, or None
        Where a numeric column has no value (only with ``missing="category"``); `values` holds 0
        there. None when nothing is missing. A missing value of a nominal column is one of its
        categories.
    """

    values: FloatArray
    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    categories: tuple[AnyArray | None, ...]
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

        Nominal codes are spread by `NOMINAL_STEP`, so that two categories are either equal or
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
        """Return some of the columns, in the order given."""
        picked = [int(i) for i in indices]
        return Columns(
            frozen(self.values[:, picked]),
            tuple(self.kinds[i] for i in picked),
            tuple(self.names[i] for i in picked),
            tuple(self.categories[i] for i in picked),
            self.scale,
            missing=None if self.missing is None else frozen(self.missing[:, picked]),
        )


@dataclass(frozen=True, eq=False)
class Target:
    """A target, behind the gate: classes or numbers.

    Attributes
    ----------
    task : {"classification", "regression", "survival"}
        How the target is understood.
    labels : ndarray of shape (n_rows,), int64, or None
        Class codes 0..m-1; of several class columns their combinations, which searches use.
    classes : ndarray or None
        The original class behind each code (tuples for several columns).
    values : ndarray of shape (n_rows, n_targets), float64, or None
        Numeric target, scaled as continuous columns are; what the kernels see.
    raw : ndarray of shape (n_rows, n_targets), float64, or None
        Numeric target in the user's unit; what variances and ranges are computed from. Of censored
        times: the time, and 1 where the event was seen.
    names : tuple of str
        One per target column.
    notes : tuple of str
        What a user should know, for example a guess about the task.
    parts : tuple of Target
        Several class columns one by one, which models are fitted to and errors are measured in;
        empty for one column, and for numbers.
    """

    task: Task
    labels: IntArray | None
    classes: AnyArray | None
    values: FloatArray | None
    raw: FloatArray | None
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: "tuple[Target, ...]" = ()

    def take(self, rows: IntArray) -> "Target":
        """Return some rows, with codes and values as they are."""
        return replace(
            self,
            labels=None if self.labels is None else frozen(self.labels[rows]),
            values=None if self.values is None else frozen(self.values[rows]),
            raw=None if self.raw is None else frozen(self.raw[rows]),
            parts=tuple(part.take(rows) for part in self.parts),
        )

    @property
    def strata(self) -> FloatArray | IntArray:
        """What rows are divided by evenly: classes, the first number, or event and then time."""
        if self.labels is not None:
            return self.labels
        assert self.raw is not None  # a numeric target keeps the user's values
        if self.task != "survival":
            return self.raw[:, 0]
        return np.asarray(np.argsort(np.lexsort(self.raw.T), kind="stable"), dtype=np.float64)

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
    n_given : int
        Rows of the user's table.
    hashes : ndarray of shape (n_rows,), uint64, or None
        A hash of every row, target included, from the values as they came.
    sources : ndarray of shape (n_columns,), int64, or None
        Which columns of the user's table these are; None: all, in their order.
    given_names : tuple of str or None
        Names of all columns of the user's table; None: those of `columns`.
    weights : ndarray of shape (n_rows,), float64, or None
        Positive weights of the rows; None if all weigh the same.
    """

    columns: Columns
    target: Target
    features: tuple[tuple[int, ...], ...]
    feature_names: tuple[str, ...]
    rows: IntArray = field(repr=False)
    n_given: int
    hashes: AnyArray | None = field(default=None, repr=False)
    sources: IntArray | None = field(default=None, repr=False)
    given_names: tuple[str, ...] | None = field(default=None, repr=False)
    weights: FloatArray | None = field(default=None, repr=False)

    @property
    def feature_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each feature in the user's table."""
        if self.sources is None:
            return self.features
        return tuple(tuple(int(self.sources[j]) for j in own) for own in self.features)

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


def take_rows(encoded: Encoded, rows: IntArray) -> Encoded:
    """Return some rows of an encoded table, with values and codes as they are.

    Nothing is scaled again: the values of a row are those it has in the whole table.

    Parameters
    ----------
    encoded : Encoded
        The table.
    rows : ndarray of int64
        Positions among the rows of `encoded`, in the order wanted.

    Returns
    -------
    Encoded
        Frozen copies of these rows.

    Examples
    --------
    >>> from pinsker.encoding import encode, take_rows
    >>> encoded = encode([[0.1], [0.7], [0.2], [0.9]], ["a", "b", "a", "b"])
    >>> part = take_rows(encoded, np.array([3, 0]))
    >>> part.target.labels, part.rows
    (array([1, 0]), array([3, 0]))
    """
    columns = encoded.columns
    return replace(
        encoded,
        columns=replace(
            columns,
            values=frozen(columns.values[rows]),
            missing=None if columns.missing is None else frozen(columns.missing[rows]),
        ),
        target=encoded.target.take(rows),
        rows=frozen(encoded.rows[rows]),
        hashes=None if encoded.hashes is None else frozen(encoded.hashes[rows]),
        weights=None if encoded.weights is None else frozen(encoded.weights[rows]),
    )


def take_features(encoded: Encoded, features: Sequence[int] | IntArray) -> Encoded:
    """Return an encoded table of some features only, numbered 0, 1, ... in the order given.

    Parameters
    ----------
    encoded : Encoded
        The table.
    features : sequence of int
        Numbers of features, each at most once.

    Returns
    -------
    Encoded
        The columns of these features side by side, their names, the same target and rows.

    Examples
    --------
    >>> from pinsker.encoding import encode, take_features
    >>> encoded = encode(
    ...     [[0.1, 5.5, 1.5], [0.7, 4.5, 2.5], [0.2, 3.1, 0.5]], [0.5, 1.5, 2.5],
    ...     feature_groups={"both": [0, 1]},
    ... )
    >>> part = take_features(encoded, [1, 0])
    >>> part.features, part.feature_names, part.columns.names
    (((0,), (1, 2)), ('x2', 'both'), ('x2', 'x0', 'x1'))
    """
    chosen = [int(feature) for feature in features]
    columns = np.array([j for one in chosen for j in encoded.features[one]], dtype=np.int64)
    ends = np.cumsum([len(encoded.features[one]) for one in chosen]).tolist()
    places = zip(chosen, ends, strict=True)
    sources = columns if encoded.sources is None else encoded.sources[columns]
    return replace(
        encoded,
        columns=encoded.columns.take(columns),
        sources=frozen(sources),
        given_names=encoded.given_names or encoded.columns.names,
        features=tuple(tuple(range(end - len(encoded.features[one]), end)) for one, end in places),
        feature_names=tuple(encoded.feature_names[one] for one in chosen),
    )


def match_features(encoded: Encoded, feature_columns: Sequence[Sequence[int]]) -> Encoded:
    """Return the features that have these columns in the user's table, in this order."""
    number = {columns: feature for feature, columns in enumerate(encoded.feature_columns)}
    wanted = [number.get(tuple(int(j) for j in columns)) for columns in feature_columns]
    found = [feature for feature in wanted if feature is not None]
    if len(found) < len(wanted):
        raise DataError(
            f"the table has {encoded.n_features} features that are not those of fit "
            f"({len(wanted)}): pass the columns that the selector was fitted to."
        )
    return encoded if found == list(range(encoded.n_features)) else take_features(encoded, found)
