"""From the arguments of a user to one measurement: encode, choose a method, lay out its arrays.

``x, y, z -> Arguments (encoded columns) -> MethodArrays -> Measurement (nats)``
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    ColumnChoice,
    Fields,
    FloatArray,
    IntArray,
    Missing,
    Scale,
    TableLike,
    TargetLike,
)
from pinsker.encoding import (
    Columns,
    Kind,
    check_neighbors,
    check_scale,
    encode_together,
    guess_task,
    normal_scores,
    read_table,
)
from pinsker.engine import Correction, count_threads
from pinsker.exceptions import DataError, ParameterError
from pinsker.information._estimators import (
    CORRECTIONS,
    discrete_information,
    gaussian_information,
    knn_terms,
    merge_states,
)

Method = Literal["auto", "knn", "ksg2", "gao", "discrete", "gaussian", "copula"]
METHODS: tuple[str, ...] = get_args(Method)
NEIGHBOR_METHODS = ("knn", "ksg2", "gao")
GAUSSIAN_METHODS = ("gaussian", "copula")

#: Fewer rows than this in a joint state, on average, and counting states is not reliable.
ROWS_PER_STATE = 5.0
#: Values of `categorical_features` that hold for all columns of an argument.
_ALL_COLUMNS = ("from_dtype", "all", "none")


class EstimateKeywords(TypedDict, total=False):
    """The keywords that the public functions share; see `mutual_information`."""

    n_neighbors: int
    scale: Scale
    categorical_features: ColumnChoice
    missing: Missing
    correction: Correction
    clip: bool
    n_jobs: int | None
    random_state: int


class Keywords(EstimateKeywords, total=False):
    """The keywords of `mutual_information`."""

    method: Method


@dataclass(frozen=True)
class Options:
    """The keywords of the public functions; see `mutual_information`."""

    method: str
    n_neighbors: int
    scale: Scale
    categorical_features: ColumnChoice
    missing: Missing
    correction: Correction
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class Arguments:
    """Encoded arguments that share their rows."""

    x: Columns  # the two sides
    y: Columns  # the two sides
    z: Columns | None  # the condition
    notes: Notes  # what was guessed or found when they were encoded

    @property
    def given(self) -> dict[str, Columns]:
        sides = {"x": self.x, "y": self.y}
        return sides if self.z is None else {**sides, "z": self.z}

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(kind for columns in self.given.values() for kind in columns.kinds)

    @property
    def n_columns(self) -> int:
        return sum(columns.n_columns for columns in self.given.values())


@dataclass(frozen=True, eq=False)
class Measurement:
    """The result of a method."""

    value: float  # information in nats, not clipped
    ceiling: float | None = None  # the largest value neighbors could have shown, in nats
    rows_per_cell: float | None = None  # mean number of rows in an observed joint state
    n_alone: int = 0  # rows that have no row with the same nominal values to be compared with


@dataclass(frozen=True, eq=False)
class MethodArrays:
    """Arrays laid out for one method; any rows can be taken, and x permuted."""

    method: str  # any method but "auto"
    x: AnyArray  # metric form for neighbors, states for counting, numbers for Gaussian methods
    y: AnyArray  # metric form for neighbors, states for counting, numbers for Gaussian methods
    z: AnyArray | None
    k: int  # number of neighbors
    correction: Correction  # bias correction when states are counted
    n_threads: int  # threads for neighbor searches

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def fewest_rows(self) -> int:
        """Fewest rows that the method can estimate from, for halves of the rows."""
        if self.method in NEIGHBOR_METHODS:
            return 2 * self.k
        if self.x.ndim == 1:  # states
            return 2
        z_columns = 0 if self.z is None else self.z.shape[1]
        return int(self.x.shape[1] + self.y.shape[1] + z_columns + 2)

    def take(self, rows: IntArray) -> "MethodArrays":
        z = None if self.z is None else self.z[rows]
        return replace(self, x=self.x[rows], y=self.y[rows], z=z)

    def measure(self) -> Measurement:
        """Estimate I(X;Y|Z), or I(X;Y) without a condition."""
        if self.method == "discrete":
            value, rows_per_cell = discrete_information(self.x, self.y, self.z, self.correction)
            return Measurement(value, rows_per_cell=rows_per_cell)
        if self.method in GAUSSIAN_METHODS:
            return Measurement(gaussian_information(self.x, self.y, self.z))
        how: Fields = {"k": self.k, "n_threads": self.n_threads, "method": self.method}
        terms = knn_terms(self.x, self.y, self.z, **how)
        return Measurement(terms.value, terms.ceiling, n_alone=terms.n_alone)


def prepare(
    x: TableLike, y: TargetLike, z: TableLike, options: Options
) -> tuple[Arguments, MethodArrays, Notes]:
    """Check the options, encode the arguments, choose the method and lay out its arrays."""
    check_choice("method", options.method, METHODS)
    check_choice("correction", options.correction, CORRECTIONS)
    check_scale(options.scale)
    arguments = encode_arguments(x, y, z, options)
    method, chosen = choose_method(options.method, arguments)
    if method in NEIGHBOR_METHODS:
        check_neighbors(options.n_neighbors, arguments.x.n_rows)
    return arguments, lay_out(arguments, method, options), (*chosen, *arguments.notes)


def encode_arguments(x: TableLike, y: TargetLike, z: TableLike, options: Options) -> Arguments:
    """Encode the arguments together, so that rows with missing values are dropped from all."""
    gaussian, scale = options.method in GAUSSIAN_METHODS, options.scale
    if options.method not in ("auto", *NEIGHBOR_METHODS):
        scale = "standard" if gaussian else "none"
    tables = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    declared = _per_argument(options.categorical_features, tables)
    kinds = {name: kinds_by_column(declared[name], data, name) for name, data in tables.items()}
    notes: list[Note] = []
    if not gaussian and isinstance(declared["y"], str) and declared["y"] == "from_dtype":
        kinds["y"], guesses = _kinds_of_target(y)
        notes += guesses
    columns, _ = encode_together(
        tables, scale=scale, categorical_features=kinds, missing=options.missing
    )
    for name, found in columns.items():
        notes += [note if note in notes else _about(name, note) for note in found.notes]
    return Arguments(columns["x"], columns["y"], columns.get("z"), tuple(dict.fromkeys(notes)))


def _about(argument: str, note: Note) -> Note:
    return Note("argument", note.columns, {"argument": argument, "note": note})


def _per_argument(categorical_features: ColumnChoice, tables: Mapping[str, Any]) -> Fields:
    """Return what `categorical_features` declares for each argument."""
    if isinstance(categorical_features, Mapping):
        unknown = [name for name in categorical_features if name not in tables]
        if unknown:
            raise ParameterError(
                f"categorical_features names {unknown[0]!r}, but the arguments are "
                f"{', '.join(tables)}: use for example categorical_features={{'y': 'nominal'}}."
            )
        return {name: categorical_features.get(name, "from_dtype") for name in tables}
    if isinstance(categorical_features, bool) or (
        isinstance(categorical_features, str) and categorical_features in (*_ALL_COLUMNS, *Kind)
    ):
        return dict.fromkeys(tables, categorical_features)
    raise ParameterError(
        f"categorical_features={categorical_features!r} names no argument: use "
        "categorical_features={'x': ...} with a kind, a mask, a list of columns or a dict of "
        "column to kind."
    )


def kinds_by_column(declared: ColumnChoice, data: TableLike, name: str) -> ColumnChoice:
    """Turn one kind for a whole argument into one kind per column, as `encode_columns` takes it."""
    if isinstance(declared, str) and declared in tuple(Kind):
        n_columns = read_table(data, label=name, prefix=name).n_columns
        return dict.fromkeys(range(n_columns), declared)
    return declared


def _kinds_of_target(y: TargetLike) -> tuple[Any, list[Note]]:
    """Kinds of y as a target: integers that look like classes are nominal."""
    table = read_table(y, label="y", prefix="y")
    complete = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    if complete.size == 0:
        return "from_dtype", []  # encoding it raises an error with a better message
    task, notes = guess_task(table.keep(complete))
    if task == "regression":
        return "from_dtype", []
    kinds = {j: "nominal" for j, known in enumerate(table.categories) if known is None}
    setting = {"setting": "categorical_features={'y': 'count'}"}
    return kinds, [replace(note, figures={**note.figures, **setting}) for note in notes]


def choose_method(method: str, arguments: Arguments) -> tuple[str, Notes]:
    """Return the method to use, and a note when it was chosen here."""
    if method != "auto":
        return method, ()
    if Kind.CONTINUOUS in arguments.kinds:
        return "knn", (Note("continuous columns"),)
    _, n_cells = merge_states(*(columns.metric() for columns in arguments.given.values()))
    if arguments.x.n_rows / n_cells >= ROWS_PER_STATE:
        return "discrete", (Note("filled cells"),)
    if Kind.COUNT in arguments.kinds:
        return "knn", (Note("few rows per cell"),)
    return "discrete", (Note("nominal columns"),)


def lay_out(arguments: Arguments, method: str, options: Options) -> MethodArrays:
    given = arguments.given
    arrays: dict[str, AnyArray]
    if method == "discrete":
        arrays = {name: as_states(columns, name) for name, columns in given.items()}
    elif method in GAUSSIAN_METHODS:
        arrays = {name: gaussian_columns(columns, name, method) for name, columns in given.items()}
        check_gaussian_rows(arguments.x.n_rows, arguments.n_columns, method)
    else:
        arrays = {name: columns.metric() for name, columns in given.items()}
    how = (options.n_neighbors, options.correction, count_threads(options.n_jobs))
    return MethodArrays(method, arrays["x"], arrays["y"], arrays.get("z"), *how)


def as_states(columns: Columns, name: str) -> IntArray:
    for column, kind in zip(columns.names, columns.kinds, strict=True):
        if kind is Kind.CONTINUOUS:
            raise DataError(
                f"method='discrete' counts values, but column {column!r} of {name} is continuous: "
                "bin it, declare it with categorical_features=, or use method='knn'."
            )
    return merge_states(columns.metric())[0]


def gaussian_columns(columns: Columns, name: str, method: str) -> FloatArray:
    """Return numeric columns for a Gaussian method."""
    for column, kind in zip(columns.names, columns.kinds, strict=True):
        if kind is Kind.NOMINAL:
            raise DataError(
                f"method={method!r} needs numbers, but column {column!r} of {name} is nominal: "
                "use method='knn' or 'discrete', or declare it with categorical_features=."
            )
    if columns.missing is not None:
        raise DataError(
            f"method={method!r} cannot use missing values as a category, and {name} has some: "
            "use missing='drop' or method='knn'."
        )
    values = np.asarray(columns.values)
    return normal_scores(values) if method == "copula" else values


def check_gaussian_rows(n_rows: int, n_columns: int, method: str) -> None:
    """Refuse a covariance that the rows cannot determine."""
    if n_rows < n_columns + 2:
        raise DataError(
            f"method={method!r} with {n_columns} columns needs at least {n_columns + 2} rows, but "
            f"there are {n_rows}: use fewer columns or method='knn'."
        )


def check_choice(name: str, value: str, allowed: tuple[str, ...], why: str = "") -> None:
    if value not in allowed:
        raise ParameterError(
            f"{name}={value!r} is not known{why}: use one of {', '.join(allowed)}."
        )
