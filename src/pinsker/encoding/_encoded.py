"""The values that leave the encoding stage: validated, typed and frozen; and what is checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Missing,
    RowLabels,
    Scale,
    Task,
    Unchecked,
    Weights,
)
from pinsker.encoding._read import RawTable, column_blocks
from pinsker.exceptions import DataError, ParameterError

_gaps_refused = partial(DataError, parameter="missing")

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


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table, behind the gate."""

    values: FloatArray  # scaled values of continuous and count columns
    kinds: tuple[Kind, ...]  # one per column
    names: tuple[str, ...]  # one per column
    categories: tuple[AnyArray | None, ...]  # per column, the original values behind the codes
    scale: Scale = "none"  # how numeric columns were scaled
    notes: Notes = ()
    missing: BoolArray | None = None
    #: Per column whose values are normal scores: scores, and the user's value behind each
    units: tuple[tuple[FloatArray, FloatArray] | None, ...] = ()

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
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
        picked = [int(i) for i in indices]
        kinds, names = tuple(self.kinds[i] for i in picked), tuple(self.names[i] for i in picked)
        known = tuple(self.categories[i] for i in picked)
        missing = None if self.missing is None else frozen(self.missing[:, picked])
        units = tuple(self.units[i] for i in picked) if self.units else ()
        values = frozen(self.values[:, picked])
        return Columns(values, kinds, names, known, self.scale, missing=missing, units=units)


@dataclass(frozen=True, eq=False)
class Target:
    """A target, behind the gate: classes or numbers."""

    task: Task  # how the target is understood
    labels: IntArray | None  # class codes 0..m-1
    classes: AnyArray | None  # the original class behind each code (tuples for several columns)
    values: FloatArray | None  # numeric target, scaled as continuous columns are
    raw: FloatArray | None  # numeric target in the user's unit
    names: tuple[str, ...]  # one per target column
    notes: Notes = ()  # what a user should know, for example a guess about the task
    parts: "tuple[Target, ...]" = ()

    def take(self, rows: IntArray) -> "Target":
        return replace(
            self,
            labels=None if self.labels is None else frozen(self.labels[rows]),
            values=None if self.values is None else frozen(self.values[rows]),
            raw=None if self.raw is None else frozen(self.raw[rows]),
            parts=tuple(part.take(rows) for part in self.parts),
        )

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    @property
    def numbers(self) -> FloatArray:
        """What `raw` holds: the user's values of a target of numbers or of censored times."""
        assert self.raw is not None
        return self.raw

    @property
    def strata(self) -> FloatArray | IntArray:
        """What rows are divided by evenly: classes, the first number, or event and then time."""
        if self.labels is not None:
            return self.labels
        if self.task != "survival":
            return self.numbers[:, 0]
        return np.asarray(np.argsort(np.lexsort(self.numbers.T), kind="stable"), dtype=np.float64)

    @property
    def n_rows(self) -> int:
        held = self.labels if self.labels is not None else self.values
        assert held is not None
        return int(held.shape[0])


#: Two tables differ in a column where this share of the rows would have to move, beyond chance.
_FAR_APART = 0.25
#: They differ too where gaps, or one value, took the place of others in this share of the rows;
#: from here on the column is missing, or constant.
_PART, _MISSING, _HALF = 0.1, 0.25, 0.5
#: A column that varied and is constant now: chance would do that with this probability at most.
_RARELY = 1e-6


@dataclass(frozen=True)
class Profile:
    """How the columns and the target of a table are distributed: what later ones compare with."""

    n_rows: int  # that the shares come from
    bins: dict[str, tuple[float | str, ...]]  # per column the ends of bins, or categories
    shares: dict[str, tuple[float, ...]]  # per column of missing values, of each bin, of others
    modes: dict[str, float]  # per column the share of its most frequent value
    compared: tuple[str, ...]  # columns that later tables are compared in
    classes: tuple[tuple[str, ...], ...] = ()  # per target; none of numbers
    targets: "Profile | None" = None
    unhashed: tuple[str, ...] = ()  # columns that rows are not compared by: times, names of rows

    @property
    def n_targets(self) -> int:
        return len(self.classes) or (0 if self.targets is None else len(self.targets.bins))

    def with_more(self, other: "Profile") -> "Profile":
        """Return the profile of these rows and others, both in the bins of one fit."""
        n_rows = self.n_rows + other.n_rows
        parts = (self.n_rows / n_rows, other.n_rows / n_rows)
        shares, modes = {}, {}
        for name, own in self.shares.items():
            shares[name] = tuple(np.average([own, other.shares[name]], axis=0, weights=parts))
            most = np.average([self.modes[name], other.modes[name]], weights=parts)
            # Sorted parts may be constant each; one value of all rows lies in one bin.
            modes[name] = float(min(most, max(shares[name][1:])))
        targets = self.targets
        if targets is not None and other.targets is not None:
            targets = targets.with_more(other.targets)
        both = zip(self.classes, other.classes, strict=True)
        classes = tuple(tuple(dict.fromkeys(one + more)) for one, more in both)
        profile = replace(self, n_rows=n_rows, shares=shares, modes=modes)
        return replace(profile, classes=classes, targets=targets)

    def differences(
        self, other: "Profile", part: float = _PART, far: float = _FAR_APART
    ) -> dict[str, str]:
        """Return in which columns a table differs: "missing", (nearly) "constant", or "values"."""
        found = {}
        for name in (name for name in self.compared if name in other.shares):
            before, after = self.shares[name], other.shares[name]
            usual, now = self.modes[name], other.modes[name]
            per_row = np.sqrt(1.0 / self.n_rows + 1.0 / other.n_rows)
            moved = np.abs(np.subtract(after, before)).sum() / 2
            spread = np.sqrt(np.multiply(before, np.subtract(1.0, before))).sum()
            # Of shares that differ by chance no part is larger than four standard errors.
            gaps, one = (
                new - old - 4.0 * per_row * np.sqrt((new + old) / 2 * (1.0 - (new + old) / 2))
                for new, old in ((after[0], before[0]), (now, usual))
            )
            is_one = now == 1.0 and usual**other.n_rows < _RARELY
            if gaps > _MISSING:
                found[name] = "missing"
            elif is_one or one > _HALF:
                found[name] = "constant"
            elif max(gaps, one) > part or moved > np.hypot(far, 0.8 * spread * per_row):
                found[name] = "values"
        return found


def category_text(value: Unchecked) -> str:
    """Return a category or class as text: True, "True", 1, 1.0 and "1" are the same."""
    try:
        return f"{float(value):.15g}"
    except (TypeError, ValueError):
        return {"true": "1", "false": "0"}.get(str(value).casefold(), str(value))


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
    weights: Weights = field(default=None, repr=False)  # positive weights of the rows
    profile: Profile | None = field(default=None, repr=False)  # of the table as it was read

    @property
    def feature_columns(self) -> tuple[tuple[int, ...], ...]:
        if self.sources is None:
            return self.features
        return tuple(tuple(int(self.sources[j]) for j in own) for own in self.features)

    @property
    def n_rows(self) -> int:
        return self.columns.n_rows

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def notes(self) -> Notes:
        return self.columns.notes + self.target.notes


def take_rows(encoded: Encoded, rows: IntArray) -> Encoded:
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


#: A nominal column with more categories than this fraction of the rows identifies rows.
_IDENTIFIER_FRACTION = 0.5
_FEWEST_IDENTIFIED = 10
#: Messages name this many items of a list and count the others.
_MOST_NAMED = 5
#: Sums of squares of weights have to be numbers, and so must their inverses.
_LARGEST_WEIGHT = 1e100


def usable_rows(
    tables: Sequence[RawTable],
    missing: Missing,
    *,
    target: RawTable | None = None,
    weights: FloatArray | None = None,
) -> IntArray:
    """Return the rows that all tables can use, or raise an error that names what is in the way."""
    # What rows of weight zero hold is in nobody's way.
    counts = np.True_ if weights is None else weights[:, None] > 0
    if missing not in get_args(Missing):
        raise ParameterError(
            f"missing={missing!r} is not known: use 'auto', 'error', 'drop' or 'category'.",
            parameter="missing",
        )
    everything = [*tables, *([] if target is None else [target])]
    n = everything[0].n_rows
    usable = np.ones(n, dtype=np.bool_)
    for table in everything:
        if np.isfinite(table.values).all():
            continue
        if (infinite := np.isinf(table.values) & counts).any():
            raise DataError(
                _report(table, infinite, "infinity", "infinite values")
                + " Replace them: an infinity is neither a number nor a missing value."
            )
        gaps = np.isnan(table.values) & counts
        if not gaps.any():
            continue
        if missing == "error" or (missing == "category" and table is target):
            choices = "<missing=drop>" if table is target else "<missing=drop>, <missing=category>"
            raise _gaps_refused(
                _report(table, gaps, "NaN", "missing values") + f" Use {choices}, or fill them in."
            )
        if missing == "drop" or (missing == "auto" and table is target):
            usable &= ~gaps.any(axis=1)
    if not usable.any():
        what = "the target" if missing == "auto" else "some value"
        raise _gaps_refused(
            f"missing={missing!r} leaves no row: every one of the {n} misses {what}."
        )
    return np.flatnonzero(usable)


def drops_rows(missing: Missing) -> bool:
    return missing in ("auto", "drop")


def drop_note(kept: int, total: int, missing: Missing = "drop") -> list[Note]:
    if kept == total:
        return []
    kind = "rows without a target" if missing == "auto" else "rows with gaps dropped"
    return [Note(kind, figures={"dropped": total - kept, "total": total})]


def count_targets(n_missing: int, n_rows: int, missing: Missing, found: str) -> int:
    """Return how many rows have a target, some of which are to be drawn; refuse too few."""
    if n_missing and not drops_rows(missing):
        raise _gaps_refused(
            f"Input y contains NaN: the target has missing values in {n_missing} of "
            f"{plural(n_rows, 'row')}. Use <missing=drop>, or fill them in."
        )
    if n_missing == n_rows:
        raise DataError(f"X is a {found} without a row that has a target.")
    return n_rows - n_missing


def gap_note(table: RawTable) -> list[Note]:
    shares = np.isnan(table.values).mean(axis=0)
    order = np.argsort(-shares, kind="stable")[: int((shares > 0).sum())]
    if not len(order):
        return []
    names = tuple(table.names[j] for j in order)
    return [Note("gaps are a value", names, {"shares": shares[order].tolist()})]


def _report(table: RawTable, found: BoolArray, word: str, what: str) -> str:
    columns = np.flatnonzero(found.any(axis=0))
    rows = np.flatnonzero(found[:, columns[0]])
    others = len(columns) - 1
    also = f" ({plural(others, 'other column')} too)" if others else ""
    return (
        f"Input {table.label} contains {word}: column {table.names[columns[0]]!r} has {what} in "
        f"{len(rows)} of {plural(table.n_rows, 'row')}, first in row {rows[0]}{also}."
    )


def constant_columns(columns: Columns) -> BoolArray:
    same = (columns.values == columns.values[:1]).all(axis=0)
    if columns.missing is not None:
        same &= (columns.missing == columns.missing[:1]).all(axis=0)
    return np.asarray(same)


def duplicate_columns(columns: Columns) -> dict[int, int]:
    """Return for each column that repeats an earlier one, the first one it repeats."""
    first: dict[bytes, int] = {}
    repeats: dict[int, int] = {}
    for some in column_blocks(columns.values.shape):
        block = np.ascontiguousarray(columns.values[:, some].T) + 0.0  # -0.0 and 0.0 are one value
        for j, column in enumerate(block, some.start):
            digest = blake2b(column, digest_size=16)
            digest.update(b"number" if columns.kinds[j].is_numeric else b"category")
            if columns.missing is not None:
                digest.update(columns.missing[:, j].tobytes())
            earlier = first.setdefault(digest.digest(), j)
            if earlier != j:
                repeats[j] = earlier
    return repeats


def column_notes(columns: Columns) -> list[Note]:
    notes: list[Note] = []
    constant = constant_columns(columns)
    if constant.any():
        names = [columns.names[j] for j in np.flatnonzero(constant)]
        notes.append(Note("constant", tuple(names)))
    pairs = [pair for pair in duplicate_columns(columns).items() if not constant[pair[0]]]
    if pairs:
        later, earlier = (
            tuple(columns.names[j] for j in side) for side in zip(*pairs, strict=True)
        )
        notes.append(Note("repeated columns", later, {"repeated": earlier}))
    return notes + identifier_note([columns.names[j] for j in near_unique_columns(columns)])


def near_unique_columns(columns: Columns) -> list[int]:
    """Return the columns whose categories identify rows rather than describe them."""
    return [
        j
        for j, categories in enumerate(columns.categories)
        if categories is not None
        and len(categories) > max(columns.n_rows * _IDENTIFIER_FRACTION, _FEWEST_IDENTIFIED)
    ]


def identifier_note(names: Sequence[str]) -> list[Note]:
    return [Note("identifiers", tuple(names))] if names else []


def check_neighbors(n_neighbors: Unchecked, n_rows: int) -> int:
    """Return `n_neighbors` if `n_rows` rows can have this many, else refuse it."""
    refused = partial(ParameterError, parameter="n_neighbors")
    integer = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not integer or n_neighbors < 1:
        raise refused(f"n_neighbors={n_neighbors!r} must be an integer of at least 1.")
    if n_neighbors >= n_rows:
        raise refused(
            f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} rows, but there are "
            f"{n_rows}: use n_neighbors <= {n_rows - 1} or more rows."
        )
    return int(n_neighbors)


def listing(items: Sequence[Any]) -> str:
    """Name the first few items and count the others."""
    some = [one.value if isinstance(one, Enum) else one for one in items[:_MOST_NAMED]]
    # NumPy's repr of a scalar names its type: np.int64(3).
    named = ", ".join(repr(one.item() if isinstance(one, np.generic) else one) for one in some)
    rest = len(items) - _MOST_NAMED
    return named if rest <= 0 else f"{named} and {rest} more"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def weights_in_rows(weights: FloatArray) -> FloatArray:
    """Return weights in units of rows: integers are repeated rows, others get the mean 1."""
    if (weights == np.floor(weights)).all():
        return weights
    return np.asarray(weights / weights.mean())


def read_array(name: str, values: Unchecked) -> AnyArray:
    try:
        return np.asarray(values)
    except Exception as error:  # of any package: containers have errors of their own
        raise DataError(
            f"{name} ({type(values).__name__}) cannot be read as an array ({error}): give numbers "
            "or texts, as many in every row.",
            parameter=name,
        ) from error


def check_weights(sample_weight: RowLabels, n_rows: int) -> FloatArray:
    refused = partial(DataError, parameter="sample_weight")
    try:
        weights = read_array("sample_weight", sample_weight).astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise refused(
            f"<sample_weight|the column> holds something that is no number ({error}): give one per "
            "row."
        ) from error
    if weights.ndim == 0:  # as in scikit-learn: the same weight for all rows
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise refused(
            f"<sample_weight|the column> has shape {weights.shape}: give {n_rows} weights, one per "
            "row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise refused("<sample_weight|the column> must be finite, not negative, and not all zero.")
    if not 1 / _LARGEST_WEIGHT < weights.max() < _LARGEST_WEIGHT:
        raise refused(
            f"<sample_weight|the column> has {weights.max():g} as its largest: divide all weights "
            "by it."
        )
    return weights
