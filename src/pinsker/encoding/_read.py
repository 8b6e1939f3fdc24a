"""What the user handed over, as one matrix of numbers and codes: the reader of the gate.

Everything that is read becomes a `RawTable`. What its columns *mean* is decided in `_kinds`.
Of a sparse table too large to be made dense, the columns that are not zero in the most rows are
read; the choice never looks at the target, so that rows which evaluate or certify stay held out.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    BoolArray,
    FloatArray,
    HasColumns,
    HasShape,
    IntArray,
    TableLike,
)
from pinsker.exceptions import DataError, DataTypeError

#: Integers up to here are exact in float64.
EXACT_INTEGERS = 2**53
_SECOND = np.timedelta64(1, "s")


class Origin(StrEnum):
    """What a column was made of."""

    NUMBER = "numbers"
    TIME = "times"
    BOOLEAN = "booleans"
    ORDERED = "ordered categories"
    CATEGORY = "categories"
    TEXT = "text"


@dataclass(frozen=True, eq=False)
class Cells:
    """One column as it was read."""

    values: FloatArray  # numbers, or positions in `categories`
    origin: Origin  # what the column was made of
    categories: AnyArray | None = None  # the values behind the positions
    note: Note | None = None  # what a user should know about the reading


def read_cells(cells: AnyArray, name: str) -> Cells:
    kind = cells.dtype.kind
    if kind == "f":
        return Cells(cells.astype(np.float64), Origin.NUMBER)
    if kind in "iu":
        values = cells.astype(np.float64)
        large = np.abs(values) > EXACT_INTEGERS
        equal = large.any() and len(np.unique(values[large])) < len(np.unique(cells[large]))
        note = Note("integers become equal", (name,)) if equal else None
        return Cells(values, Origin.NUMBER, note=note)
    if kind == "b":
        return Cells(cells.astype(np.float64), Origin.BOOLEAN, np.array([False, True]))
    if kind in "Mm":
        return read_times(cells, name)
    if kind == "c":
        raise DataError(f"Complex data not supported: column {name!r} is of type {cells.dtype}")
    if kind in "US":
        categories, codes = np.unique(cells, return_inverse=True)
        note = numbers_note(categories, name)
        return Cells(codes.astype(np.float64), Origin.TEXT, categories, note)
    return _read_objects(cells.astype(object), name)


def read_categories(
    cells: AnyArray, declared: Sequence[Any], name: str, *, ordered: bool = False
) -> Cells:
    """Read one column of a categorical type: the declared order is the order of the codes."""
    position = {category: float(i) for i, category in enumerate(declared)}
    values = np.array([position.get(cell, np.nan) for cell in cells], dtype=np.float64)
    categories = object_array(declared)
    if ordered:
        return Cells(values, Origin.ORDERED, categories)
    return Cells(values, Origin.CATEGORY, categories, numbers_note(categories, name))


def read_times(cells: AnyArray, name: str) -> Cells:
    """Read dates as seconds since the first one, durations in seconds."""
    if np.datetime_data(cells.dtype)[0] in ("Y", "M", "generic", "as"):
        # Units without a fixed length, and attoseconds, which NumPy cannot divide by a second.
        unit = "fs" if np.datetime_data(cells.dtype)[0] == "as" else "s"
        cells = cells.astype(f"{cells.dtype.kind}8[{unit}]")
    if cells.dtype.kind == "m":
        seconds = (cells / _SECOND).astype(np.float64)
        return Cells(seconds, Origin.TIME, note=Note("durations", (name,)))
    present = cells[~np.isnat(cells)]
    first = present.min() if len(present) else np.datetime64(0, "s")
    note = Note("dates", (name,), {"first": str(first)})
    return Cells(((cells - first) / _SECOND).astype(np.float64), Origin.TIME, note=note)


def _read_objects(cells: AnyArray, name: str) -> Cells:
    missing = np.fromiter(map(is_missing, cells), dtype=np.bool_, count=len(cells))
    present = cells[~missing]
    types = {type(cell) for cell in present}
    if _all_of(types, (bool, np.bool_)) and types:
        values = _with_gaps(present.astype(np.float64), missing)
        return Cells(values, Origin.BOOLEAN, np.array([False, True]))
    if _all_of(types, (Real, Decimal, np.bool_)):
        try:
            numbers = np.array([float(cell) for cell in present], dtype=np.float64)
        except OverflowError as error:
            raise DataError(
                f"column {name!r} holds a number too large for float64: divide the column first."
            ) from error
        return Cells(_with_gaps(numbers, missing), Origin.NUMBER)
    if any(issubclass(t, complex | np.complexfloating) for t in types):
        raise DataError(f"Complex data not supported: column {name!r} holds complex numbers")
    if _all_of(types, (date, np.datetime64)) or _all_of(types, (timedelta, np.timedelta64)):
        return _read_time_objects(present, missing, name)
    return _read_labels(present, missing, types, name)


def _read_labels(present: AnyArray, missing: BoolArray, types: set[type], name: str) -> Cells:
    try:
        distinct = set(present)
    except TypeError as error:
        row, culprit = _first_unhashable(present, missing)
        raise DataTypeError(
            f"column {name!r} holds a {type(culprit).__name__} in row {row}; the argument must be "
            "a string or a number in every cell."
        ) from error
    text = _all_of(types, (str,))
    by_type = None if text else lambda cell: (str(type(cell)), str(cell))
    categories = sorted(distinct, key=by_type)
    code = {category: float(i) for i, category in enumerate(categories)}
    values = _with_gaps(np.array([code[cell] for cell in present], dtype=np.float64), missing)
    kinds = ", ".join(sorted(t.__name__ for t in types))
    objects = Note("objects", (name,), {"types": kinds})
    note = numbers_note(categories, name) if text else objects
    return Cells(values, Origin.TEXT, object_array(categories), note)


def _read_time_objects(present: AnyArray, missing: BoolArray, name: str) -> Cells:
    """Read Python dates and durations; dates with a time zone are compared in UTC."""
    whole_days = [type(cell) is date for cell in present]
    if any(whole_days) and not all(whole_days):
        days = (datetime(c.year, c.month, c.day) if type(c) is date else c for c in present)
        present = object_array(list(days))
    try:
        first = min(present)
        duration = isinstance(first, timedelta | np.timedelta64)
        gaps = present if duration else [cell - first for cell in present]
    except TypeError as error:
        raise DataTypeError(
            f"column {name!r} mixes dates that cannot be compared (with and without a time zone)"
        ) from error
    units = [timedelta(seconds=1) if isinstance(gap, timedelta) else _SECOND for gap in gaps]
    pairs = zip(gaps, units, strict=True)
    seconds = np.array([gap / unit for gap, unit in pairs], dtype=np.float64)
    note = Note("durations" if duration else "dates", (name,), {"first": str(first)})
    return Cells(_with_gaps(seconds, missing), Origin.TIME, note=note)


def is_missing(cell: Any) -> bool:
    if type(cell) is str:  # most cells of large tables of text
        return False
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # pandas may be absent
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()  # a signaling one cannot be compared
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    return isinstance(cell, np.datetime64 | np.timedelta64) and bool(np.isnat(cell))


def _all_of(types: set[type], allowed: tuple[type, ...]) -> bool:
    return all(issubclass(t, allowed) for t in types)


def _with_gaps(present: FloatArray, missing: BoolArray) -> FloatArray:
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return values


def object_array(items: Sequence[Any]) -> AnyArray:
    return np.fromiter(items, dtype=object, count=len(items))  # tuples stay one item each


def _first_unhashable(present: AnyArray, missing: BoolArray) -> tuple[int, Any]:
    for row, cell in zip(np.flatnonzero(~missing), present, strict=True):
        try:
            hash(cell)
        except TypeError:
            return int(row), cell
    raise AssertionError("unreachable: some cell was unhashable")


def is_float(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def numbers_note(categories: Any, name: str) -> Note | None:
    """Return a note when all text reads as numbers: it may be a column that was never parsed."""
    if len(categories) <= 2 or not all(isinstance(one, str | bytes) for one in categories):
        return None
    return Note("numbers as text", (name,)) if all(map(is_float, categories)) else None


_NEVER_FRAMES = {"builtins", "numpy", "array"}
#: Cells in a block of columns; a few temporary arrays of this size stay in the processor's cache.
BLOCK_CELLS = 2**18
#: Cells that are made dense: 256 MB.
MOST_DENSE_CELLS = 2**25
#: At least this many columns are read, however many rows there are.
_FEWEST_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was read, before anything is guessed or scaled."""

    values: FloatArray  # numbers in the user's unit, or positions in `categories`
    origins: tuple[Origin, ...]  # what each column was made of
    categories: tuple[AnyArray | None, ...]  # per column, the values behind the positions
    names: tuple[str, ...]  # one per column
    label: str  # what messages call the table: ``"X"``, ``"y"``,
    notes: Notes = ()  # what a user should know about the reading

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])

    def keep(self, rows: IntArray) -> "RawTable":
        if len(rows) == self.n_rows:
            return self
        return replace(self, values=np.asfortranarray(self.values[rows]))


def read_table(
    data: TableLike,
    *,
    label: str,
    prefix: str,
    two_dimensional: bool = False,
    columns: IntArray | None = None,
) -> RawTable:
    """Read whatever holds columns: an array, nested lists, a pandas or polars frame or series."""
    if sparse.issparse(data):
        if not two_dimensional:
            raise DataTypeError(
                f"Sparse data was passed as {label}, but dense data is required. "
                f"Use {label}.toarray() if it fits in memory."
            )
        held: Any = data
        if held.ndim == 1:
            raise DataError(_one_dimension(label, "1D array"))
        _check_shape(held.shape, label)
        values, note = read_sparse(held, columns, label)
        names = sparse_names(held.shape[1], prefix)
        names = names if columns is None else tuple(names[j] for j in columns)
        d = len(names)
        return RawTable(values, (Origin.NUMBER,) * d, (None,) * d, names, label, (note,))
    if is_frame(data):
        names, cells = read_frame(data, label=label, prefix=prefix)
        _check_shape((len(cells[0].values) if cells else len(data), len(cells)), label)
        if two_dimensional and isinstance(frame_of(data), nw.Series):
            raise DataError(_one_dimension(label, "a series"))
        return _stack(cells, names, label)
    array = _as_array(data, label)
    if array.ndim == 1 and two_dimensional:
        raise DataError(_one_dimension(label, "1D array"))
    several = range(array.shape[1]) if array.ndim > 1 else ("",)
    names = tuple(f"{prefix}{j}" for j in several)
    array = array.reshape(len(array), -1) if array.size else array.reshape(len(array), len(names))
    _check_shape(array.shape, label)
    if array.dtype.kind == "f":
        values = np.asfortranarray(array, dtype=np.float64)
        d = len(names)
        return RawTable(values, (Origin.NUMBER,) * d, (None,) * d, names, label)
    return _stack([read_cells(array[:, j], names[j]) for j in range(len(names))], names, label)


def _as_array(data: TableLike, label: str) -> AnyArray:
    """Return a numpy array of one or two dimensions; lists keep the type of each cell."""
    if isinstance(data, np.ma.MaskedArray):
        numeric = data.dtype.kind in "fiu"
        gaps, data = np.ma.getmaskarray(data), data.data.astype(float if numeric else object)
        data[gaps] = None  # NaN among floats
    listed = isinstance(data, list | tuple)
    try:
        # Without dtype=object numpy would turn the numbers of [[1, "a"]] into text.
        array = np.array(data, dtype=object) if listed else np.asarray(data)
        ragged = listed and array.ndim == 1 and any(np.ndim(row) for row in array)
    except ValueError:
        ragged = True
    if ragged:
        raise DataError(f"{label} is not a table: its rows have different lengths.")
    if array.dtype.kind == "V":
        raise DataTypeError(
            f"{label} is a structured array, which is not read. Try pandas.DataFrame({label})."
        )
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {label} is of type {array.dtype}")
    if array.ndim == 0:
        raise DataTypeError(
            f"{label} must be a table, but is of type {type(data).__name__}. "
            "Pass an array, nested lists, or a pandas or polars frame."
        )
    if array.ndim > 2:
        raise DataError(
            f"Found array with dim {array.ndim} as {label}, while dim <= 2 is required."
        )
    return array


def _check_shape(shape: tuple[int, ...], label: str) -> None:
    for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise DataError(
                f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is "
                f"required: {label} is empty."
            )


def _one_dimension(label: str, found: str) -> str:
    return (
        f"Expected 2D array, got {found} instead: {label} must have rows and columns. Reshape your "
        "data using array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row."
    )


def _stack(cells: list[Cells], names: tuple[str, ...], label: str) -> RawTable:
    values = np.asfortranarray(np.stack([column.values for column in cells]).T)
    origins, known = zip(*((column.origin, column.categories) for column in cells), strict=True)
    notes = tuple(column.note for column in cells if column.note)
    return RawTable(values, origins, known, names, label, notes)


def is_frame(data: TableLike) -> bool:
    if type(data).__module__.partition(".")[0] in _NEVER_FRAMES:
        return False  # the common case, without asking narwhals
    return isinstance(frame_of(data), nw.DataFrame | nw.LazyFrame | nw.Series)


def _is_of(data: TableLike, module: str, name: str) -> bool:
    """Return whether something is of a class of a package, which is not imported to find out."""
    package = sys.modules.get(module)
    return package is not None and isinstance(data, vars(package)[name])


def is_dask_frame(data: TableLike) -> bool:
    return _is_of(data, "dask.dataframe", "DataFrame")


def is_dask_column(data: TableLike) -> bool:
    return _is_of(data, "dask.dataframe", "Series") or (is_dask(data) and data.ndim == 1)


def is_dask(data: TableLike) -> bool:
    return is_dask_frame(data) or _is_of(data, "dask.array", "Array")


def is_relation(data: TableLike) -> bool:
    return _is_of(data, "duckdb", "DuckDBPyRelation")


def is_connection(data: TableLike) -> bool:
    """Return whether something is a DuckDB connection, or one with a table or a query."""
    first = data[0] if isinstance(data, tuple) and data else data
    return _is_of(first, "duckdb", "DuckDBPyConnection")


def is_lazy_frame(data: TableLike) -> bool:
    return _is_of(data, "polars", "LazyFrame")


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


def can_be_scanned(data: TableLike) -> bool:
    """Return whether an engine holds a table that it can scan again."""
    return is_relation(data) or is_lazy_frame(data) or is_connection(data)


def is_stream(data: TableLike) -> bool:
    return can_be_scanned(data) or (isinstance(data, ArrowStream) and not is_frame(data))


def count_rows(data: TableLike) -> int:
    """Return the rows of a table in memory without reading it; 0 where it has none to count."""
    if isinstance(data, list | tuple):
        return len(data)
    shape: Any = data.shape if isinstance(data, HasShape) else ()
    return shape[0] if len(shape) == 2 and isinstance(shape[0], int) else 0


def read_frame(data: TableLike, *, label: str, prefix: str) -> tuple[tuple[str, ...], list[Cells]]:
    wrapped = frame_of(data)
    if is_dask_frame(data):
        raise DataTypeError(
            f"{label} is a Dask DataFrame, which only CriterionSelection and FeatureSelector with "
            f"a number of folds read. Pass {label}.compute() if it fits in memory."
        )
    if isinstance(wrapped, nw.LazyFrame):
        raise DataTypeError(
            f"{label} is a lazy frame ({type(data).__module__}.{type(data).__name__}). "
            f"Collect it first: {label}.collect()."
        )
    if isinstance(wrapped, nw.Series):
        name = str(wrapped.name) if wrapped.name not in (None, "") else prefix
        return (name,), [_read_series(wrapped, name)]
    names = tuple(str(name) for name in wrapped.columns)
    if len(set(names)) < len(names):
        raise DataError(_repeated(names))
    columns = zip(names, wrapped.columns, strict=True)
    return names, [_read_series(wrapped.get_column(key), name) for name, key in columns]


def frame_of(data: TableLike) -> TableLike:
    """Return a frame or series as one of Narwhals, other data unchanged: no other place asks."""
    try:
        return nw.from_native(data, pass_through=True, allow_series=True)
    except ValueError as error:  # its subclass for repeated names changed places over time
        names = [str(name) for name in data.columns] if isinstance(data, HasColumns) else []
        if len(set(names)) == len(names):
            raise
        raise DataError(_repeated(names)) from error


def _repeated(names: Sequence[str]) -> str:
    repeated = next(name for j, name in enumerate(names) if name in names[:j])
    return (
        f"more than one column is called {repeated!r}: rename them, so that results can tell them "
        "apart."
    )


def _read_series(series: Any, name: str) -> Cells:
    dtype, native = series.dtype, series.to_native()
    if isinstance(dtype, nw.List | nw.Struct | nw.Array):
        raise DataTypeError(
            f"column {name!r} holds values of type {dtype}; each cell must be a string or a number."
        )
    if isinstance(dtype, nw.Enum):
        categories = series.cat.get_categories().to_list()
        note = Note("order of an Enum", (name,))
        return replace(read_categories(series.to_numpy(), categories, name), note=note)
    native_type = native.dtype if series.implementation.is_pandas_like() else dtype
    if isinstance(native_type, np.dtype) and not native_type.isnative:
        raise DataTypeError(
            f"column {name!r} is of type {native_type.str!r}, in the byte order of another machine,"
            f" whose rows pandas cannot take: use .astype({native_type.newbyteorder('=').str!r})."
        )
    if isinstance(dtype, nw.Categorical) and str(native_type) == "category":  # pandas
        categories, ordered = native_type.categories.tolist(), bool(native_type.ordered)
        return read_categories(series.to_numpy(), categories, name, ordered=ordered)
    if isinstance(dtype, nw.Int128 | nw.UInt128):  # NumPy has no such integers
        series = series.cast(nw.Float64)
    # Other categorical types number categories as they occur: that order means nothing.
    cells = series.to_numpy()
    if cells.ndim != 1:  # an extension type of several numbers, as polars has for intervals
        raise DataTypeError(
            f"column {name!r} holds values of type {native_type}; each cell must be a string or a "
            "number."
        )
    return read_cells(cells, name)


def column_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    n_rows, n_columns = shape
    step = max(1, BLOCK_CELLS // max(n_rows, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def most_filled(X: TableLike, always: Iterable[int]) -> IntArray | None:
    """Return the columns of a sparse table that can be made dense, in order; None: all of them."""
    n_rows, n_columns = X.shape
    most = max(MOST_DENSE_CELLS // max(n_rows, 1), _FEWEST_COLUMNS)
    if n_columns <= most:
        return None
    by_column = sparse.csc_array(X)
    n_filled = np.diff(by_column.indptr).astype(np.int64)
    first = list(always)
    n_filled[first] = n_rows + 1
    return np.sort(np.argsort(-n_filled, kind="stable")[: max(most, len(first))])


def read_sparse(data: TableLike, columns: IntArray | None, label: str) -> tuple[FloatArray, Note]:
    """Return some columns of a sparse table as numbers in Fortran order, and a note about it."""
    if data.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {label} is of type {data.dtype}")
    by_column = sparse.csc_array(data)
    if columns is None:
        values = np.asfortranarray(by_column.toarray(), dtype=np.float64)
        return values, Note("made dense", figures={"megabytes": values.nbytes / 2**20})
    bad = np.flatnonzero(~np.isfinite(by_column.data))
    if len(bad):
        column = int(np.searchsorted(by_column.indptr, bad[0], side="right")) - 1
        raise DataError(
            f"Input {label} contains NaN or infinity: column {column} has {by_column.data[bad[0]]} "
            "in a sparse table of which only some columns can be read. Fill them in."
        )
    values = np.asfortranarray(by_column[:, columns].toarray(), dtype=np.float64)
    figures = {"n_columns": by_column.shape[1], "n_read": len(columns)}
    size = {"megabytes": values.nbytes / 2**20}
    return values, Note("columns not zero", figures={**figures, **size})


def sparse_names(n_columns: int, prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{j}" for j in range(n_columns))
