"""What the user handed over, as one matrix of numbers and codes: the reader of the gate.

Everything that is read becomes a `Table`. What its columns *mean* is decided in `_kinds`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.encoding._cells import Cells, Origin, read_cells
from pinsker.encoding._frames import is_frame, read_frame
from pinsker.exceptions import DataError, DataTypeError


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it was read, before anything is guessed or scaled.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float64, Fortran order
        Numbers in the user's unit, or positions in `levels`; NaN where a value is missing.
    origins : tuple of Origin
        What each column was made of.
    levels : tuple
        Per column, the values behind the positions; None for columns of numbers.
    names : tuple of str
        One per column.
    label : str
        What messages call the table: ``"X"``, ``"y"``, ...
    notes : tuple of str
        What a user should know about the reading.
    """

    values: FloatArray
    origins: tuple[Origin, ...]
    levels: tuple[AnyArray | None, ...]
    names: tuple[str, ...]
    label: str
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def keep(self, rows: IntArray) -> "Table":
        """Return the table with these rows only."""
        if len(rows) == self.n_rows:
            return self
        values = np.asfortranarray(self.values[rows])
        return Table(values, self.origins, self.levels, self.names, self.label, self.notes)


def read_table(data: Any, *, label: str, prefix: str, two_dimensional: bool = False) -> Table:
    """Read whatever holds columns: an array, nested lists, a pandas or polars frame or series.

    Parameters
    ----------
    data : object
        One or several columns.
    label : str
        What messages call the table.
    prefix : str
        Columns without names are called ``prefix + "0"``, ``prefix + "1"``, ...; one column
        given without a second dimension is called ``prefix``.
    two_dimensional : bool
        Whether a single dimension is an error, as it is for the table of a selector.
    """
    if sparse.issparse(data):
        raise DataTypeError(
            f"Sparse data was passed as {label}, but dense data is required. "
            f"Use {label}.toarray() if it fits in memory."
        )
    if is_frame(data):
        names, cells = read_frame(data, label=label, prefix=prefix)
        _check_shape((len(cells[0].values) if cells else len(data), len(cells)), label)
        if two_dimensional and not hasattr(data, "columns"):
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
        return Table(values, (Origin.NUMBER,) * d, (None,) * d, names, label)
    return _stack([read_cells(array[:, j], names[j]) for j in range(len(names))], names, label)


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


def _stack(cells: list[Cells], names: tuple[str, ...], label: str) -> Table:
    values = np.asfortranarray(np.stack([column.values for column in cells]).T)
    return Table(
        values,
        tuple(column.origin for column in cells),
        tuple(column.levels for column in cells),
        names,
        label,
        tuple(column.note for column in cells if column.note),
    )
