"""Tables as text: separator, decimal sign, encoding, columns that only count rows."""

import csv
import io
import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import pandas as pd

from pinsker._notes import Note
from pinsker.cli._values import text_columns
from pinsker.exceptions import DataError

_SEPARATORS = ",;\t|"
_SAMPLE = 65536
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
#: Older versions of pandas read floats exactly only by this setting; newer ones always do.
_EXACT: Any = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}


@dataclass(frozen=True)
class TextStyle:
    """How a text file writes a table."""

    separator: str = ""  # between values
    decimal: str = ""  # decimal sign
    missing: tuple[str, ...] = ()


def read_text(handle: BinaryIO, style: TextStyle) -> tuple[pd.DataFrame, list[Note]]:
    """Read a table from text; return it with what a user should know about the reading."""
    sample = handle.read(_SAMPLE)
    handle.seek(0)
    encoding = _encoding(sample)
    lines = sample.decode(encoding, errors="replace").splitlines()[:50]
    if not any(line.strip() for line in lines):
        raise DataError("the table is empty: it needs a line of column names and rows below it.")
    style = replace(style, separator=style.separator or _separator(lines))
    notes = []
    try:
        frame = _parse(handle, style, encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"
        frame = _parse_old(handle, style, encoding)
    if not style.decimal and style.separator != "," and _has_decimal_commas(frame):
        frame = _parse(handle, replace(style, decimal=","), encoding)
        notes.append(Note("decimal comma"))
    if encoding == "cp1252":
        notes.append(Note("old encoding"))
    notes += _repeated_names(lines, style.separator)
    frame, about_columns = _without_clutter(frame)
    return frame, notes + about_columns


def _encoding(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8-sig"


def _separator(lines: list[str]) -> str:
    """Return the separator that cuts the first line into most columns, and the others alike."""
    filled = [line for line in lines if line.strip()]
    whole = filled[:-1] or filled  # the last line of the sample may be cut off

    def columns_under(separator: str) -> tuple[bool, int]:
        rows = _rows(whole, separator)
        if not rows:
            return False, 0
        alike = sum(len(row) == len(rows[0]) for row in rows)
        return len(rows[0]) > 1 and 2 * alike > len(rows), len(rows[0])

    return max(_SEPARATORS, key=columns_under)


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    """Return the cells of lines; none of text that is no table (a cell without end)."""
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []


def _parse(handle: BinaryIO, style: TextStyle, encoding: str) -> pd.DataFrame:
    handle.seek(0)
    text = io.TextIOWrapper(handle, encoding=encoding, newline="")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: pd.DataFrame = pd.read_csv(
                text,
                sep=style.separator,
                decimal=style.decimal or ".",
                na_values=["?", *style.missing],
                skipinitialspace=True,
                index_col=False,
                low_memory=False,
                **_EXACT,
            )
            return frame
    except pd.errors.ParserWarning as error:
        raise DataError(
            "the rows hold more values than the first line has names: name every column."
        ) from error
    except UnicodeDecodeError:
        raise
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        raise DataError(f"the table cannot be read: {reason}.") from error
    finally:
        text.detach()  # the file stays open: it may be read again in another way


def _parse_old(handle: BinaryIO, style: TextStyle, encoding: str) -> pd.DataFrame:
    try:
        return _parse(handle, style, encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            "this is no text in UTF-8 or Windows-1252. If it is a table in another format, let "
            "its name end in .parquet, .feather or .arff."
        ) from error


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    for name in text_columns(frame):
        values = frame[name].dropna().astype(str)
        if len(values) and values.map(lambda text: bool(_DECIMAL_COMMA.fullmatch(text))).all():
            return True
    return False


def _repeated_names(lines: list[str], separator: str) -> list[Note]:
    header = next(iter(_rows(lines, separator)), [])
    repeated = [name for name, count in Counter(header).items() if name and count > 1]
    if not repeated:
        return []
    return [Note("repeated names", (repeated[0],))]


def _without_clutter(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Note]]:
    """Leave out nameless columns that are empty or count the rows; strip spaces off names."""
    frame = frame.rename(columns=lambda name: str(name).strip())
    notes, clutter = [], []
    for position, name in enumerate(frame.columns):
        if not re.fullmatch(r"Unnamed: \d+", name):
            continue
        column = frame.iloc[:, position]
        if column.isna().all():
            clutter.append(name)
        elif position == 0 and _counts_rows(column):
            clutter.append(name)
            notes.append(Note("row counter"))
    return frame.drop(columns=clutter), notes


def _counts_rows(column: "pd.Series[Any]") -> bool:
    if not pd.api.types.is_integer_dtype(column) or not len(column):
        return False
    return bool((column.diff().iloc[1:] == 1).all()) and column.iloc[0] in (0, 1)
