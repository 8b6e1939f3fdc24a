"""Files of other programs: JSON, spreadsheets, Stata, SPSS and SAS, each through pandas."""

import json
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd

from pinsker._compat import require
from pinsker._notes import Note
from pinsker.exceptions import DataError

#: Endings of names, and the format behind them.
OTHER_FORMATS = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".dta": "dta",
    ".sav": "sav",
    ".zsav": "sav",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xport",
}
#: What a format is called, and the package that reads it with the extra that installs it.
_NAMES = {
    "json": "JSON", "xlsx": "an Excel file", "xls": "an old Excel file", "dta": "Stata",
    "sav": "SPSS", "sas7bdat": "SAS", "xport": "SAS",
}  # fmt: skip
_NEEDS = {
    "xlsx": ("openpyxl", "excel"), "xls": ("python_calamine", "excel"),
    "sav": ("pyreadstat", "spss"),
}  # fmt: skip


def read_other(handle: BinaryIO, kind: str, source: str) -> tuple[pd.DataFrame, list[Note]]:
    """Read a table of another program; return it with what a user should know about the reading."""
    name = _NAMES[kind]
    if kind in _NEEDS:
        package, extra = _NEEDS[kind]
        require(package, purpose=f"reading {name}", extra=extra)
    try:
        if kind == "json":
            return _read_json(handle.read()), []
        if kind in ("xlsx", "xls"):
            return _read_sheet(handle, "openpyxl" if kind == "xlsx" else "calamine")
        if kind == "dta":
            return _with_text(pd.read_stata(handle)), []
        if kind == "sav":
            return _read_spss(handle), []
        # A transport file does not say how its text is encoded.
        encoding = "infer" if kind == "sas7bdat" else None
        return _with_text(pd.read_sas(handle, format=cast(Any, kind), encoding=encoding)), []
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of zipfile and the packages, which share no class
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(f"{source!r} cannot be read as {name}: {reason}.") from error


def _read_json(content: bytes) -> pd.DataFrame:
    """Read rows as objects, in a list or one a line, or columns as lists; inner objects flatten."""
    text = content.decode("utf-8-sig")
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        found = [json.loads(line) for line in lines]
    if isinstance(found, dict):
        inner = [part for part in found.values() if _are_rows(part)]
        found = inner[0] if len(inner) == 1 else found
    if _are_rows(found):
        return pd.json_normalize(found)
    if isinstance(found, dict) and all(isinstance(part, list | dict) for part in found.values()):
        return pd.DataFrame(found).reset_index(drop=True)
    raise DataError(
        "this JSON is no table: give a list of rows ([{...}, {...}]), a row on every line, or "
        "columns ({name: [...]})."
    )


def _are_rows(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(row, dict) for row in part)


def _read_sheet(handle: BinaryIO, engine: Any) -> tuple[pd.DataFrame, list[Note]]:
    """Read the first sheet with something in it."""
    with pd.ExcelFile(handle, engine=engine) as book:
        sheets = book.sheet_names
        frames = ((name, pd.read_excel(book, sheet_name=name)) for name in sheets)
        name, frame = next(((n, f) for n, f in frames if not f.empty), (sheets[0], pd.DataFrame()))
    others = [str(sheet) for sheet in sheets if sheet != name]
    if not others:
        return frame, []
    listed = ", ".join(map(repr, others[:5]))
    return frame, [Note("sheet", figures={"sheet": name, "others": listed})]


def _read_spss(handle: BinaryIO) -> pd.DataFrame:
    """Read labels of values as categories; the reader takes files by name only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        path.write_bytes(handle.read())
        reader = require("pyreadstat", purpose="reading SPSS", extra="spss")
        frame, _ = reader.read_sav(str(path), apply_value_formats=True)
    return _with_text(frame)


def _with_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a category without a label stays a number, and bytes are text."""
    changed = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object:
            held = _decoded(column)
            changed[str(name)] = held.mask(held == "")
        elif pd.api.types.is_string_dtype(column):
            changed[str(name)] = column.mask(column == "")
    return frame.assign(**changed)


def _decoded(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column with bytes as text: UTF-8, or Latin-1 where they are none."""

    def decode(encoding: str) -> "pd.Series[Any]":
        return column.map(lambda cell: cell.decode(encoding) if isinstance(cell, bytes) else cell)

    try:
        return decode("utf-8")
    except UnicodeDecodeError:
        return decode("latin-1")
