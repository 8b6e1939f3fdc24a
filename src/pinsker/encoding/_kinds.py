"""Which kind each column is: as declared by the user, else a documented guess."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.encoding._cells import Origin
from pinsker.encoding._checks import listing
from pinsker.encoding._encoded import Kind
from pinsker.encoding._groups import find_columns
from pinsker.encoding._read import RawTable, column_blocks
from pinsker.exceptions import ParameterError

#: Integers are a count when there are at most this many different ones ...
MOST_COUNT_VALUES = 100
#: ... and each stands for this many rows on average. Fewer repeats and they may as well be
#: measurements that were rounded. Two different values are always a count.
ROWS_PER_COUNT_VALUE = 3

#: How a note on a doubtful guess begins; most tables have one.
KIND_DOUBTS = "integers with"

CategoricalFeatures: TypeAlias = (
    Literal["from_dtype", "none", "all"]
    | bool
    | Sequence[Any]
    | Mapping[Any, Any]
    | BoolArray
    | IntArray
)


def choose_kinds(
    table: RawTable,
    categorical_features: CategoricalFeatures = "from_dtype",
    n_rows: int | None = None,
) -> tuple[tuple[Kind, ...], list[str]]:
    """Return the kind of each column, and notes where the guess is doubtful."""
    if isinstance(categorical_features, Mapping):
        kinds, notes = _guess(table, n_rows or table.n_rows)
        for key, kind in categorical_features.items():
            (j,) = find_columns([key], table.names, "categorical_features")
            kinds[j] = _declared(table, j, kind)
        declared = {
            table.names[j]
            for j in find_columns(categorical_features, table.names, "categorical_features")
        }
        return tuple(kinds), _doubts(notes, skip=declared)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        kinds, notes = _guess(table, n_rows or table.n_rows)
        return tuple(kinds), _doubts(notes)
    marked = _marks(categorical_features, table)
    integer = are_integers(table.values)
    return tuple(_kind_if(table, j, marked[j], integer[j]) for j in range(table.n_columns)), []


def declared_categories(table: RawTable, categorical_features: CategoricalFeatures) -> BoolArray:
    """Return which columns the user declares to have no order."""
    if isinstance(categorical_features, Mapping):
        kinds = categorical_features.items()
        return _marks([key for key, kind in kinds if kind in (Kind.NOMINAL, Kind.BOOLEAN)], table)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return np.zeros(table.n_columns, dtype=np.bool_)
    return _marks(categorical_features, table)


def are_integers(values: FloatArray) -> BoolArray:
    """Return for each column whether all present values are integers."""
    integer = np.empty(values.shape[1], dtype=np.bool_)
    for some in column_blocks(values.shape):
        block = values[:, some]
        integer[some] = ((np.floor(block) == block) | np.isnan(block)).all(axis=0)
    return integer


def count_distinct(values: FloatArray) -> IntArray:
    """Return for each column the number of different values; missing ones are not counted."""
    distinct = np.empty(values.shape[1], dtype=np.int64)
    for some in column_blocks(values.shape):
        ordered = np.sort(values[:, some], axis=0)  # NaN last
        with np.errstate(invalid="ignore"):
            steps = ordered[1:] > ordered[:-1]  # never true next to a NaN
        distinct[some] = steps.sum(axis=0) + ~np.isnan(ordered[0])
    return distinct


def _guess(table: RawTable, n_rows: int) -> tuple[list[Kind], dict[str, list[str]]]:
    """Guess all kinds; doubtful columns are listed by what was guessed."""
    integer = are_integers(table.values)
    kinds = [_kind_if(table, j, None, integer[j]) for j in range(table.n_columns)]
    unsure = [j for j, kind in enumerate(kinds) if kind is Kind.COUNT and _is_number(table, j)]
    doubts: dict[str, list[str]] = {"count": [], "continuous": []}
    if not unsure:
        return kinds, doubts
    distinct = count_distinct(table.values[:, unsure])
    most = most_count_values(n_rows)
    for j, n_values in zip(unsure, distinct, strict=True):
        if n_values > most:
            kinds[j] = Kind.CONTINUOUS
        if most / 2 < n_values <= 2 * most and 2 < n_values < n_rows:
            doubts[kinds[j].value].append(table.names[j])
    return kinds, doubts


def most_count_values(n_rows: int) -> int:
    """Return how many different integers still make a count."""
    return max(2, min(n_rows // ROWS_PER_COUNT_VALUE, MOST_COUNT_VALUES))


def _kind_if(table: RawTable, j: int, marked: bool | None, integer: bool) -> Kind:
    """Kind of column j when it is marked discrete, not marked, or (None) to be guessed."""
    origin = table.origins[j]
    if origin is Origin.BOOLEAN:
        return Kind.BOOLEAN
    if origin is Origin.ORDERED:
        return Kind.COUNT
    if origin in (Origin.CATEGORY, Origin.TEXT):
        return Kind.NOMINAL
    if marked is None:
        return Kind.COUNT if integer and origin is Origin.NUMBER else Kind.CONTINUOUS
    if not marked:
        return Kind.CONTINUOUS
    return Kind.COUNT if integer else Kind.NOMINAL


def _marks(categorical_features: Any, table: RawTable) -> BoolArray:
    """Return which columns the user marked as discrete."""
    if isinstance(categorical_features, bool) or (
        isinstance(categorical_features, str) and categorical_features in ("none", "all")
    ):
        return np.full(table.n_columns, categorical_features in ("all", True))
    if isinstance(categorical_features, str) or not isinstance(categorical_features, Iterable):
        raise ParameterError(
            f"categorical_features={categorical_features!r} is not known: use 'from_dtype', "
            "'none', 'all', a mask with one entry per column, a list of columns, or a dict of "
            "column to kind.",
            parameter="categorical_features",
        )
    marked = list(categorical_features)
    if marked and all(isinstance(mark, bool | np.bool_) for mark in marked):
        if len(marked) != table.n_columns:
            raise ParameterError(
                f"categorical_features is a mask of {len(marked)} entries, but {table.label} has "
                f"{table.n_columns} columns.",
                parameter="categorical_features",
            )
        return np.array(marked, dtype=np.bool_)
    marks = np.zeros(table.n_columns, dtype=np.bool_)
    marks[find_columns(marked, table.names, "categorical_features")] = True
    return marks


def _declared(table: RawTable, j: int, declared: Any) -> Kind:
    """Check a kind the user declared for column j."""
    problem = _why_not(table, j, declared)
    if problem:
        raise ParameterError(
            f"categorical_features declares column {table.names[j]!r} {problem}",
            parameter="categorical_features",
        )
    return Kind(declared)


def _why_not(table: RawTable, j: int, declared: Any) -> str:
    """Return why column j cannot be what was declared, or nothing."""
    if declared not in tuple(Kind):
        return f"{declared!r}; kinds are {listing(tuple(Kind))}."
    kind, origin = Kind(declared), table.origins[j]
    if kind.is_numeric and origin is Origin.TEXT:
        return (
            f"{kind.value!r}, but it holds text, which has no order: make it numbers or ordered "
            "categories first."
        )
    if kind is Kind.CONTINUOUS and origin in (Origin.CATEGORY, Origin.ORDERED):
        return (
            f"'continuous', but it holds {origin.value}: use 'count' for their order or 'nominal'."
        )
    if kind is Kind.BOOLEAN and count_distinct(table.values[:, [j]])[0] > 2:
        return "'boolean', but it has more than two values."
    return ""


def _is_number(table: RawTable, j: int) -> bool:
    return table.origins[j] is Origin.NUMBER


def _doubts(doubts: Mapping[str, list[str]], skip: Iterable[str] = ()) -> list[str]:
    """Write one note per guess, however many columns it concerns."""
    notes = []
    for kind, found in doubts.items():
        names = [name for name in found if name not in set(skip)]
        if names:
            repeats = "many" if kind == "count" else "few"
            notes.append(
                f"{KIND_DOUBTS} {repeats} repeats are read as {kind} in {listing(names)}; "
                "say otherwise with categorical_features="
            )
    return notes
