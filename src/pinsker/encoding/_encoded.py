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
    """Columns of a table, behind the gate."""

    values: FloatArray  # scaled values of continuous and count columns
    kinds: tuple[Kind, ...]  # one per column
    names: tuple[str, ...]  # one per column
    categories: tuple[AnyArray | None, ...]  # per column, the original values behind the codes
    scale: Scale = "none"  # how numeric columns were scaled
    notes: tuple[str, ...] = ()
    missing: BoolArray | None = None
    #: Per column whose values are normal scores: scores, and the user's value behind each
    units: tuple[tuple[FloatArray, FloatArray] | None, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def metric(self) -> FloatArray:
        """Return values whose coordinate differences are the distances the kernels use."""
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
            units=tuple(self.units[i] for i in picked) if self.units else (),
        )


@dataclass(frozen=True, eq=False)
class Target:
    """A target, behind the gate: classes or numbers."""

    task: Task  # how the target is understood
    labels: IntArray | None  # class codes 0..m-1
    classes: AnyArray | None  # the original class behind each code (tuples for several columns)
    values: FloatArray | None  # numeric target, scaled as continuous columns are
    raw: FloatArray | None  # numeric target in the user's unit
    names: tuple[str, ...]  # one per target column
    notes: tuple[str, ...] = ()  # what a user should know, for example a guess about the task
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
    def n_classes(self) -> int:
        """Number of classes; 0 for a numeric target."""
        return 0 if self.classes is None else len(self.classes)

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
    """A table and its target, ready for the engine."""

    columns: Columns  # the table
    target: Target  # the target
    features: tuple[tuple[int, ...], ...]
    feature_names: tuple[str, ...]  # one per feature: the column's name, or the group's
    rows: IntArray = field(repr=False)
    n_given: int  # rows of the user's table
    hashes: AnyArray | None = field(default=None, repr=False)
    sources: IntArray | None = field(default=None, repr=False)
    given_names: tuple[str, ...] | None = field(default=None, repr=False)
    weights: FloatArray | None = field(default=None, repr=False)  # positive weights of the rows

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
    """Return some rows of an encoded table, with values and codes as they are."""
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
    """Return an encoded table of some features only, numbered 0, 1, ... in the order given."""
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
