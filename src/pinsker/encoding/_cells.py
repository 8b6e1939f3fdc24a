"""The cells of one column: whatever Python objects they are, turned into numbers or categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from numbers import Real
from typing import Any

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray
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
    note: str = ""  # what a user should know about the reading, or nothing


def read_cells(cells: AnyArray, name: str) -> Cells:
    """Read one column from a numpy array of any type."""
    kind = cells.dtype.kind
    if kind == "f":
        return Cells(cells.astype(np.float64), Origin.NUMBER)
    if kind in "iu":
        return _read_integers(cells, name)
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


def _read_integers(cells: AnyArray, name: str) -> Cells:
    """Read integers; beyond 2**53 neighboring ones may become equal, which is noted."""
    values = cells.astype(np.float64)
    large = np.abs(values) > EXACT_INTEGERS
    if large.any() and len(np.unique(values[large])) < len(np.unique(cells[large])):
        note = f"column {name!r} holds integers so large that different ones become equal"
        return Cells(values, Origin.NUMBER, note=note)
    return Cells(values, Origin.NUMBER)


def read_times(cells: AnyArray, name: str) -> Cells:
    """Read dates as seconds since the first one, durations in seconds."""
    if np.datetime_data(cells.dtype)[0] in ("Y", "M", "generic", "as"):
        # Units without a fixed length, and attoseconds, which NumPy cannot divide by a second.
        unit = "fs" if np.datetime_data(cells.dtype)[0] == "as" else "s"
        cells = cells.astype(f"{cells.dtype.kind}8[{unit}]")
    if cells.dtype.kind == "m":
        note = f"column {name!r} holds durations, read as seconds"
        return Cells((cells / _SECOND).astype(np.float64), Origin.TIME, note=note)
    present = cells[~np.isnat(cells)]
    first = present.min() if len(present) else np.datetime64(0, "s")
    note = f"column {name!r} holds dates, read as seconds since {first}"
    return Cells(((cells - first) / _SECOND).astype(np.float64), Origin.TIME, note=note)


def _read_objects(cells: AnyArray, name: str) -> Cells:
    """Read Python objects: booleans, numbers, dates, else categories."""
    missing = np.fromiter(map(is_missing, cells), dtype=np.bool_, count=len(cells))
    present = cells[~missing]
    types = {type(cell) for cell in present}
    if _all_of(types, (bool, np.bool_)) and types:
        values = _with_gaps(present.astype(np.float64), missing)
        return Cells(values, Origin.BOOLEAN, np.array([False, True]))
    if _all_of(types, (Real, Decimal, np.bool_)):
        return Cells(_with_gaps(_floats(present, name), missing), Origin.NUMBER)
    if any(issubclass(t, complex | np.complexfloating) for t in types):
        raise DataError(f"Complex data not supported: column {name!r} holds complex numbers")
    if _all_of(types, (date, np.datetime64)) or _all_of(types, (timedelta, np.timedelta64)):
        return _read_time_objects(present, missing, name)
    return _read_labels(present, missing, types, name)


def _read_labels(present: AnyArray, missing: BoolArray, types: set[type], name: str) -> Cells:
    """Read text, or any other objects that can be compared."""
    try:
        distinct = set(present)
    except TypeError as error:
        row, culprit = _first_unhashable(present, missing)
        raise DataTypeError(
            f"column {name!r} holds a {type(culprit).__name__} in row {row}; the argument must be "
            "a string or a number in every cell."
        ) from error
    text = _all_of(types, (str,))
    if text:
        categories = sorted(distinct)
    else:
        categories = sorted(distinct, key=lambda cell: (str(type(cell)), str(cell)))
    code = {category: float(i) for i, category in enumerate(categories)}
    values = _with_gaps(np.array([code[cell] for cell in present], dtype=np.float64), missing)
    if text:
        note = numbers_note(categories, name)
    else:
        kinds = ", ".join(sorted(t.__name__ for t in types))
        note = f"column {name!r} holds objects ({kinds}), read as categories"
    return Cells(values, Origin.TEXT, object_array(categories), note)


def _read_time_objects(present: AnyArray, missing: BoolArray, name: str) -> Cells:
    """Read Python dates and durations; dates with a time zone are compared in UTC."""
    whole_days = [type(cell) is date for cell in present]
    if any(whole_days) and not all(whole_days):
        present = object_array(
            [datetime(c.year, c.month, c.day) if type(c) is date else c for c in present]
        )
    try:
        first = min(present)
        duration = isinstance(first, timedelta | np.timedelta64)
        gaps = present if duration else [cell - first for cell in present]
    except TypeError as error:
        raise DataTypeError(
            f"column {name!r} mixes dates that cannot be compared (with and without a time zone)"
        ) from error
    seconds = np.array([gap / _one_second(gap) for gap in gaps], dtype=np.float64)
    what = "durations, read as seconds" if duration else f"dates, read as seconds since {first}"
    note = f"column {name!r} holds {what}"
    return Cells(_with_gaps(seconds, missing), Origin.TIME, note=note)


def _one_second(gap: Any) -> Any:
    return timedelta(seconds=1) if isinstance(gap, timedelta) else _SECOND


def is_missing(cell: Any) -> bool:
    """Return whether a cell of any type holds no value."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # pandas may be absent
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()  # a signaling one cannot be compared
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    return isinstance(cell, np.datetime64 | np.timedelta64) and bool(np.isnat(cell))


def _all_of(types: set[type], allowed: tuple[type, ...]) -> bool:
    return all(issubclass(t, allowed) for t in types)


def _floats(present: AnyArray, name: str) -> FloatArray:
    try:
        return np.array([float(cell) for cell in present], dtype=np.float64)
    except OverflowError as error:
        raise DataError(
            f"column {name!r} holds a number too large for float64: divide the column first."
        ) from error


def _with_gaps(present: FloatArray, missing: BoolArray) -> FloatArray:
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return values


def object_array(items: Sequence[Any]) -> AnyArray:
    """Return a vector of objects."""
    return np.fromiter(items, dtype=object, count=len(items))  # tuples stay one item each


def _first_unhashable(present: AnyArray, missing: BoolArray) -> tuple[int, Any]:
    for row, cell in zip(np.flatnonzero(~missing), present, strict=True):
        try:
            hash(cell)
        except TypeError:
            return int(row), cell
    raise AssertionError("unreachable: some cell was unhashable")


def numbers_note(categories: Any, name: str) -> str:
    """Return a note when all text reads as numbers: it may be a column that was never parsed."""
    if len(categories) <= 2 or not all(isinstance(one, str | bytes) for one in categories):
        return ""
    try:
        for category in categories:
            float(category)
    except ValueError:
        return ""
    return f"column {name!r} holds text that reads as numbers; convert it if numbers are meant"
