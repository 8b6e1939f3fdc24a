"""What the user handed over, as one matrix of numbers and codes: the reader of the gate.

Everything that is read becomes a `RawTable`. What its columns *mean* is decided in `_kinds`.

Searches and models take dense columns. A table of text counts, 1400 x 5000, takes 56 MB as such;
one of 100 000 x 50 000 would take 40 GB. Of a table that is too large, the columns that are not
zero in the most rows are read. The choice never looks at the target, so that rows which evaluate
or certify stay held out.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from pinsker._types import AnyArray, FloatArray, HasColumns, HasShape, IntArray
from pinsker.encoding._cells import Cells, Origin, read_categories, read_cells
from pinsker.exceptions import DataError, DataTypeError

_NEVER_FRAMES = {"builtins", "numpy", "array"}
#: Cells in a block of columns; a few temporary arrays of this size stay in the processor's cache.
BLOCK_CELLS = 2**18
#: Cells that are made dense: 256 MB.
MOST_DENSE_CELLS = 2**25
#: At least so many columns are read, however many rows there are.
_FEWEST_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was read, before anything is guessed or scaled."""

    values: FloatArray  # numbers in the user's unit, or positions in `categories`
    origins: tuple[Origin, ...]  # what each column was made of
    categories: tuple[AnyArray | None, ...]  # per column, the values behind the positions
    names: tuple[str, ...]  # one per column
    label: str  # what messages call the table: ``"X"``, ``"y"``,
    notes: tuple[str, ...] = ()  # what a user should know about the reading

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def keep(self, rows: IntArray) -> "RawTable":
        """Return the table with these rows only."""
        if len(rows) == self.n_rows:
            return self
        values = np.asfortranarray(self.values[rows])
        return RawTable(values, self.origins, self.categories, self.names, self.label, self.notes)


def read_table(
    data: Any,
    *,
    label: str,
    prefix: str,
    two_dimensional: bool = False,
    columns: IntArray | None = None,
) -> RawTable:
    """Read whatever holds columns: an array, nested lists, a pandas or polars frame or series."""
    if sparse.issparse(data):
        return _read_sparse_table(data, label, prefix, columns, two_dimensional)
    if is_frame(data):
        names, cells = read_frame(data, label=label, prefix=prefix)
        _check_shape((len(cells[0].values) if cells else len(data), len(cells)), label)
        if two_dimensional and isinstance(_wrap(data), nw.Series):
            raise DataError(_one_dimension(label, "a series"))
        return _stack(cells, names, label)
    array = _as_array(data, label)
    if array.ndim == 1 and two_dimensional:
        raise DataError(_one_dimension(label, "1D array"))
    names = _default_names(array, prefix)
    array = array.reshape(len(array), -1) if array.size else array.reshape(len(array), len(names))
    _check_shape(array.shape, label)
    if array.dtype.kind == "f":
        values = np.asfortranarray(array, dtype=np.float64)
        d = len(names)
        return RawTable(values, (Origin.NUMBER,) * d, (None,) * d, names, label)
    return _stack([read_cells(array[:, j], names[j]) for j in range(len(names))], names, label)


def _read_sparse_table(
    data: Any, label: str, prefix: str, columns: IntArray | None, allowed: bool
) -> RawTable:
    """Read a matrix or array of scipy: numbers, and zeros that are not stored."""
    if not allowed:
        raise DataTypeError(
            f"Sparse data was passed as {label}, but dense data is required. "
            f"Use {label}.toarray() if it fits in memory."
        )
    if data.ndim == 1:
        raise DataError(_one_dimension(label, "1D array"))
    _check_shape(data.shape, label)
    values, notes = read_sparse(data, columns, label)
    names = sparse_names(data.shape[1], prefix)
    names = names if columns is None else tuple(names[j] for j in columns)
    d = len(names)
    return RawTable(values, (Origin.NUMBER,) * d, (None,) * d, names, label, tuple(notes))


def _as_array(data: Any, label: str) -> AnyArray:
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


def _default_names(array: AnyArray, prefix: str) -> tuple[str, ...]:
    if array.ndim == 1:
        return (prefix,)
    return tuple(f"{prefix}{j}" for j in range(array.shape[1]))


def _check_shape(shape: tuple[int, ...], label: str) -> None:
    """Refuse tables without rows or columns, in scikit-learn's words."""
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
    return RawTable(
        values,
        tuple(column.origin for column in cells),
        tuple(column.categories for column in cells),
        names,
        label,
        tuple(column.note for column in cells if column.note),
    )


def is_frame(data: Any) -> bool:
    """Whether `data` is a frame or a series of some data frame package."""
    if type(data).__module__.partition(".")[0] in _NEVER_FRAMES:
        return False  # the common case, without asking narwhals
    return isinstance(_wrap(data), nw.DataFrame | nw.LazyFrame | nw.Series)


def is_dask_frame(data: Any) -> bool:
    """Return whether something is a Dask DataFrame; Dask is not imported to find out."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(data, frames.DataFrame)


def is_dask_column(data: Any) -> bool:
    """Return whether something is a Dask Series, or a Dask Array of one dimension."""
    frames = sys.modules.get("dask.dataframe")
    series = frames is not None and isinstance(data, frames.Series)
    return series or (is_dask(data) and data.ndim == 1)


def is_dask(data: Any) -> bool:
    """Return whether something is a Dask DataFrame or Array; Dask is not imported to find out."""
    arrays = sys.modules.get("dask.array")
    return is_dask_frame(data) or (arrays is not None and isinstance(data, arrays.Array))


def count_rows(data: Any) -> int:
    """Return the rows of a table in memory without reading it; 0 where it has none to count."""
    if isinstance(data, list | tuple):
        return len(data)
    shape: Any = data.shape if isinstance(data, HasShape) else ()
    return shape[0] if len(shape) == 2 and isinstance(shape[0], int) else 0


def read_frame(data: Any, *, label: str, prefix: str) -> tuple[tuple[str, ...], list[Cells]]:
    """Return names and columns of a frame, or of a series."""
    wrapped = _wrap(data)
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


def _wrap(data: Any) -> Any:
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
    """Read one narwhals series."""
    dtype, native = series.dtype, series.to_native()
    if isinstance(dtype, nw.List | nw.Struct | nw.Array):
        raise DataTypeError(
            f"column {name!r} holds values of type {dtype}; each cell must be a string or a number."
        )
    if isinstance(dtype, nw.Enum):
        categories = series.cat.get_categories().to_list()
        note = f"the order of Enum column {name!r} is not used; to use it, declare it a 'count'"
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
    """Yield slices of columns that cover a table of this shape."""
    n_rows, n_columns = shape
    step = max(1, BLOCK_CELLS // max(n_rows, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def most_filled(X: Any, always: Iterable[int]) -> IntArray | None:
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


def read_sparse(data: Any, columns: IntArray | None, label: str) -> tuple[FloatArray, list[str]]:
    """Return some columns of a sparse table as numbers in Fortran order, and notes about it."""
    if data.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {label} is of type {data.dtype}")
    by_column = sparse.csc_array(data)
    n_columns = by_column.shape[1]
    if columns is None:
        values = np.asfortranarray(by_column.toarray(), dtype=np.float64)
        size = f"{values.nbytes / 2**20:.0f} MB"
        return values, [f"the sparse table was made dense ({size}): models and searches need that"]
    _refuse_not_finite(by_column, label)
    values = np.asfortranarray(by_column[:, columns].toarray(), dtype=np.float64)
    note = (
        f"of the sparse table's {n_columns} columns the {len(columns)} that are not zero in the "
        f"most rows were read ({values.nbytes / 2**20:.0f} MB dense): searches, models and the "
        "certificate are about these; fewer rows leave room for more columns"
    )
    return values, [note]


def sparse_names(n_columns: int, prefix: str) -> tuple[str, ...]:
    """Return the names of the columns of a table that has none."""
    return tuple(f"{prefix}{j}" for j in range(n_columns))


def _refuse_not_finite(by_column: Any, label: str) -> None:
    """Refuse missing and infinite values of a table of which only some columns are read."""
    bad = np.flatnonzero(~np.isfinite(by_column.data))
    if len(bad):
        column = int(np.searchsorted(by_column.indptr, bad[0], side="right")) - 1
        raise DataError(
            f"Input {label} contains NaN or infinity: column {column} has {by_column.data[bad[0]]} "
            "in a sparse table of which only some columns can be read. Fill them in."
        )
