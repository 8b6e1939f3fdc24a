"""The formats of tables: text, Parquet, files of other programs, and queries to databases."""

import csv
import glob
import io
import json
import math
import os
import re
import sqlite3
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd

from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker._types import TableLike
from pinsker.encoding import RowSample, is_float, read_written, written_number
from pinsker.exceptions import DataError, ParameterError

_BLOCK_BYTES = 2**20
_BLOCK_ROWS = 2**16
#: Lines of one row of text at most: a lone quotation mark must not join the rest of a file.
_MOST_LINES = 1000
#: The beginning of a line of names whose first name is empty.
_NAMELESS = re.compile(rb'\s*(?:"")?([,;\t|])')
#: Texts of SQL in single, double or dollar quotation marks; comments may hold single marks.
_QUOTED = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?P<single>(?:[^']|'')*)'|"(?P<double>(?:[^"]|"")*)"|"""
    r"""\$(?P<tag>\w*)\$(?P<dollar>.*?)\$(?P=tag)\$""",
    re.DOTALL,
)
#: How a database ends the names of files that it keeps beside itself.
_BESIDE = ("-wal", "-shm", "-journal", ".wal")
#: What a DuckDB file defines that may read other files.
_DEFINED = """
select sql from duckdb_views() where not internal union all
select macro_definition from duckdb_functions() where not internal and macro_definition is not null
"""
_SQLITE, _DUCKDB = b"SQLite format 3\x00", b"DUCK"
_NEARLY = 0.5  # a text column is called nearly numeric from this fraction of numbers on
_SEPARATORS = ",;\t|"
_SAMPLE = 65536
_UTF_16 = b"\xff\xfe", b"\xfe\xff"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
#: Older versions of pandas read floats exactly only by this setting; newer ones always do.
_EXACT: Any = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}
#: Endings of names, and the format behind them.
OTHER_FORMATS = {
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".xlsx": "xlsx", ".xlsm": "xlsx",
    ".xls": "xls", ".dta": "dta", ".sav": "sav", ".zsav": "sav", ".sas7bdat": "sas7bdat",
    ".xpt": "xport",
}  # fmt: skip
#: What a format is called, and the package that reads it with the extra that installs it.
_NAMES = {
    "json": "JSON", "xlsx": "an Excel file", "xls": "an old Excel file", "dta": "Stata",
    "sav": "SPSS", "sas7bdat": "SAS", "xport": "SAS",
}  # fmt: skip
_NEEDS = {
    "xlsx": ("openpyxl", "excel"), "xls": ("python_calamine", "excel"),
    "sav": ("pyreadstat", "spss"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of a file, each drawn with the same chance."""

    content: Any  # the rows: of Parquet as a frame, of text as the text of a smaller table
    n_rows: int  # of the file
    n_drawn: int
    missing: dict[str, int]
    remarks: Notes = ()  # what else a user should know

    @property
    def notes(self) -> list[Note]:
        return list(RowSample(None, None, self.n_rows, self.n_drawn, None, self.remarks).notes)


def draw_from_parquet(handle: BinaryIO, most: int, seed: int) -> DrawnRows | None:
    """Draw rows of a Parquet file, batch by batch; None where it has no more than that."""
    arrow = require("pyarrow", purpose="reading parquet", extra="cli")
    parquet = require("pyarrow.parquet", purpose="reading parquet", extra="cli")
    file = parquet.ParquetFile(handle, pre_buffer=False)
    n_rows = int(file.metadata.num_rows)
    if n_rows <= most:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n_rows, most, replace=False, shuffle=False))
    start, pieces = 0, []
    missing = dict.fromkeys(file.schema_arrow.names, 0)
    for batch in file.iter_batches(batch_size=_BLOCK_ROWS, use_threads=False):
        batch.validate(full=True)
        first, last = np.searchsorted(rows, [start, start + batch.num_rows])
        pieces.append(batch.take(arrow.array(rows[first:last] - start)))
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            missing[name] += column.null_count
        start += batch.num_rows
    frame = arrow.Table.from_batches(pieces, schema=file.schema_arrow).to_pandas()
    return DrawnRows(frame, n_rows, most, missing)


def draw_from_text(handle: BinaryIO, most: int, seed: int) -> DrawnRows | None:
    """Draw rows of a text file, line by line; None where it has no more than that."""
    start, n_lines = peek(handle, 2), 0  # bytes of UTF-16 are no lines
    while start not in _UTF_16 and (part := handle.read(_BLOCK_BYTES)):
        n_lines += part.count(b"\n")
    handle.seek(0)
    if n_lines <= most + 1:
        return None
    rng = np.random.default_rng(seed)
    limit = (most + 6 * math.sqrt(most)) / n_lines  # some more, of which the smallest keys remain
    records = _records(handle)
    names = next(records)
    drawn: list[bytes] = []
    kept_keys, places, n_rows = [], [], 0
    while block := list(islice(records, _BLOCK_ROWS)):
        keys = rng.random(len(block))
        below = np.flatnonzero(keys < limit)
        drawn += [block[i] for i in below]
        kept_keys.append(keys[below])
        places.append(n_rows + below)
        n_rows += len(block)
    handle.seek(0)
    chosen = np.sort(np.argsort(np.concatenate(kept_keys), kind="stable")[:most])
    rows = [drawn[i] for i in chosen]
    remarks: tuple[Note, ...] = ()
    if found := _without_count(names, rows, np.concatenate(places)[chosen]):
        names, rows = found
        remarks = (Note("row counter"),)
    content = io.BytesIO(names + b"".join(rows))
    return DrawnRows(content, n_rows, len(rows), {}, remarks)


def _records(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of each row, without empty rows."""
    while line := handle.readline():
        for _ in range(_MOST_LINES):
            if line.count(b'"') % 2 == 0 or not (more := handle.readline()):
                break
            line += more
        if line.strip():
            yield line if line.endswith(b"\n") else line + b"\n"


def _without_count(names: bytes, rows: list[bytes], places: Any) -> Any:
    """Return names and rows without a nameless first column that counts rows; None without one."""
    if (found := _NAMELESS.match(names)) is None:
        return None
    separator = found.group(1)
    parts = [row.partition(separator) for row in rows]
    try:
        numbers = np.array([int(first.strip(b'" ')) for first, _, _ in parts])
    except ValueError:
        return None
    offset = numbers - places
    if offset[0] not in (0, 1) or (offset != offset[0]).any():
        return None
    return names[found.end() :], [rest for _, _, rest in parts]


def choose_source(table: str | None, database: str | None, query: str | None) -> str:
    """Return the file to read: the table, or the database of a query; "" is DuckDB without one."""
    if query is None and database is not None:
        raise ParameterError('--database needs --query "select ...", which says what to read.')
    if query is None and table is None:
        raise ParameterError('name a table, or give --query "select ..." and --database FILE.')
    if table is not None and database is not None:
        raise ParameterError(f"{table!r} and --database exclude each other: give one of them.")
    return table or database or ""


def files_read(inputs: Sequence[str | None], query: str | None) -> list[str]:
    """Return the files that inputs, a query and views name, and what lies beside databases."""
    found = [one for one in inputs if one]
    if query is not None:
        found += [file for text in (query, *map(_views, found)) for file in files_in(text)]
    return [*found, *(file + ending for file in found for ending in _BESIDE)]


def _views(database: str) -> str:
    """Return the views and macros of a DuckDB file: they may read other files."""
    if not is_database(database):
        return ""
    # What is wrong with a file is said when it is read.
    with suppress(Exception), closing(_connect(database)) as connection:
        return "\n".join(text for (text,) in connection.execute(_DEFINED).fetchall())
    return ""


def files_in(query: str) -> list[str]:
    """Return the files that a query names: every quoted text that is one, or a pattern of some."""
    found = []
    for text in _QUOTED.finditer(query):
        single, double, dollar = text.group("single", "double", "dollar")
        name = (single or "").replace("''", "'") or (double or "").replace('""', '"') or dollar
        if name:
            name = os.path.expanduser(re.sub(r"^file:(//(?=/))?", "", name))
            found += [name, *glob.glob(name, recursive=True, include_hidden=True)]
    return [name for name in found if "\0" not in name and os.path.isfile(name)]


def is_database(path: str) -> bool:
    """Return whether a file is a database by its first bytes."""
    try:
        with Path(path).open("rb") as handle:
            start = handle.read(16)
    except OSError:
        return False
    return start == _SQLITE or start[8:12] == _DUCKDB


def read_query(
    database: str, query: str, *, most: int | None = None, seed: int = 0
) -> tuple[pd.DataFrame, DrawnRows | None]:
    """Return the rows of a query; of more than `most` rows this many, each with the same chance."""
    query = query.strip().rstrip(";")
    if not query:
        raise ParameterError('--query is empty: use "select ... from ...".')
    with closing(_connect(database)) as connection:
        try:
            counted = f"select count(*) from ({query}) as rows_of_query"
            n_rows = int(connection.execute(counted).fetchone()[0])
            if most is None or n_rows <= most:
                return pd.concat(list(_blocks(connection, query)), ignore_index=True), None
            rng = np.random.default_rng(seed)
            rows = np.sort(rng.choice(n_rows, most, replace=False, shuffle=False))
            start, pieces = 0, []
            for block in _blocks(connection, query):
                first, last = np.searchsorted(rows, [start, start + len(block)])
                pieces.append(block.iloc[rows[first:last] - start])
                start += len(block)
            frame = pd.concat(pieces, ignore_index=True)
        except Exception as error:
            # SQLite's, DuckDB's and pandas' errors about a query share no class.
            if isinstance(error, MemoryError | DataError):
                raise
            raise DataError(f"--query cannot be answered: {first_line(error)}.") from error
    return frame, DrawnRows(frame, n_rows, most, {})


def tables_in(database: str) -> list[str]:
    with closing(_connect(database)) as connection:
        if isinstance(connection, sqlite3.Connection):
            try:
                found = connection.execute(
                    "select name from sqlite_master where type in ('table','view')"
                )
            except sqlite3.Error as error:
                raise DataError(f"{database!r} cannot be read by SQLite: {error}.") from error
        else:
            found = connection.execute("select table_name from information_schema.tables")
        return sorted(str(name) for (name,) in found.fetchall())


def _connect(database: str) -> Any:
    path = Path(database)
    if database and not path.is_file():
        raise DataError(f"--database {database!r}: there is no such file.")
    if database:
        with path.open("rb") as handle:
            if handle.read(16) == _SQLITE:
                return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    duckdb = require("duckdb", purpose="--query", extra="sql")
    try:
        return duckdb.connect(database, read_only=True) if database else duckdb.connect()
    except Exception as error:
        reason = first_line(error)
        raise DataError(
            f"--database {database!r} cannot be read by DuckDB, and is none of SQLite: {reason}."
        ) from error


def _blocks(connection: Any, query: str) -> Iterator[pd.DataFrame]:
    if isinstance(connection, sqlite3.Connection):
        yield from pd.read_sql_query(query, connection, chunksize=_BLOCK_ROWS)
        return
    result, empty = connection.execute(query), True
    names = [column[0] for column in result.description]
    while len(block := result.fetch_df_chunk(_BLOCK_ROWS // 2048)):
        empty = False
        yield block
    if empty:
        yield pd.DataFrame(columns=names)


def first_line(error: BaseException) -> str:
    """Return the first line of what another package says, without its full stop."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def read_values(frame: pd.DataFrame) -> tuple[dict[str, "pd.Series[Any]"], list[Note]]:
    """Return the columns of text that hold numbers or dates as such, and notes on the reading."""
    found, notes = {}, []
    for name in text_columns(frame):
        column = frame[name].str.strip()
        present = column.dropna()
        read = read_written(present.unique().tolist())
        if read is not None:
            values = column.map(read.values)
            dates = read.are_dates
            found[str(name)] = pd.to_datetime(values) if dates else values.astype("float64")
            notes += [Note("read as", (str(name),), {"what": read.note})] if read.note else []
        else:
            notes += _nearly_numeric(str(name), present)
    return found, notes


def text_columns(frame: pd.DataFrame) -> list[Any]:
    """Return the columns that hold text, missing values aside: pandas 2 counts them as none."""
    return [name for name in frame.columns if pd.api.types.is_string_dtype(frame[name].dropna())]


def _nearly_numeric(name: str, present: "pd.Series[Any]") -> list[Note]:
    """Describe which values keep a column of numbers from being read as one."""
    counts = present.value_counts(sort=False)
    distinct = [one for one in counts.index if written_number(one) is None and not is_float(one)]
    n_odd = int(counts[distinct].sum())
    if not distinct or n_odd > _NEARLY * len(present):
        return []
    shown = ", ".join(map(repr, distinct[:3])) + (" and others" if distinct[3:] else "")
    figures = {"odd": shown, "n_odd": n_odd, "n_present": len(present), "first": distinct[0]}
    return [Note("nearly numeric", (name,), figures)]


def peek(handle: BinaryIO, n_bytes: int) -> bytes:
    """Return the first bytes of a file, which is read from its beginning afterwards."""
    start = handle.read(n_bytes)
    handle.seek(0)
    return start


@dataclass(frozen=True)
class TextStyle:
    """How a text file writes a table."""

    separator: str | None = None  # between values
    decimal: str | None = None  # decimal sign
    na: Sequence[str] | None = None  # texts that mean missing, beside the usual ones
    texts: Sequence[str] = ()  # columns that stay text


def read_text(handle: BinaryIO, style: TextStyle) -> tuple[pd.DataFrame, list[Note]]:
    """Read a table from text; return it with what a user should know about the reading."""
    sample = peek(handle, _SAMPLE)
    encoding = "utf-16" if sample.startswith(_UTF_16) else "utf-8-sig"
    lines = sample.decode(encoding, errors="replace").splitlines()[:50]
    if not any(line.strip() for line in lines):
        raise DataError("the table is empty: it needs a line of column names and rows below it.")
    if "\0" in lines[0]:
        raise DataError("its names hold zero bytes, as UTF-16 without its mark: save it as UTF-8.")
    separator = style.separator or _separator(lines)
    style = replace(style, separator=separator)
    notes = []
    try:
        frame = _parse(handle, style, encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"
        try:
            frame = _parse(handle, style, encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                "this is no text in UTF-8 or Windows-1252. If it is a table in another format, let "
                "its name end in .parquet, .feather or .arff."
            ) from error
    columns = (frame[name].dropna().astype(str) for name in text_columns(frame))
    commas = (len(one) and all(map(_DECIMAL_COMMA.fullmatch, one)) for one in columns)
    if not style.decimal and separator != "," and any(commas):
        frame = _parse(handle, replace(style, decimal=","), encoding)
        notes.append(Note("decimal comma"))
    if encoding == "cp1252":
        notes.append(Note("old encoding"))
    header = Counter(next(iter(_rows(lines, separator)), []))
    repeated = [name for name, count in header.items() if name and count > 1]
    notes += [Note("repeated names", (repeated[0],))] if repeated else []
    frame = frame.rename(columns=lambda name: str(name).strip())
    clutter = []  # nameless columns that are empty or count the rows
    for position, name in enumerate(frame.columns):
        if not re.fullmatch(r"Unnamed: \d+", name):
            continue
        column = frame.iloc[:, position]
        may_count = not position and len(column) and pd.api.types.is_integer_dtype(column)
        if column.isna().all():
            clutter.append(name)
        elif may_count and column.iloc[0] in (0, 1) and (column.diff().iloc[1:] == 1).all():
            clutter.append(name)
            notes.append(Note("row counter"))
    return frame.drop(columns=clutter), notes


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
                text, sep=style.separator, decimal=style.decimal or ".",
                na_values=["?", *(style.na or ())], skipinitialspace=True, index_col=False,
                dtype=dict.fromkeys(style.texts, str), low_memory=False, **_EXACT,
            )  # fmt: skip
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
            engine: Any = "openpyxl" if kind == "xlsx" else "calamine"
            with pd.ExcelFile(handle, engine=engine) as book:  # the first sheet that holds anything
                sheets = book.sheet_names
                read = ((one, pd.read_excel(book, sheet_name=one)) for one in sheets)
                empty = (sheets[0], pd.DataFrame())
                sheet, frame = next((pair for pair in read if not pair[1].empty), empty)
            others = [str(one) for one in sheets if one != sheet]
            figures = {"sheet": sheet, "others": ", ".join(map(repr, others[:5]))}
            return frame, [Note("sheet", figures=figures)] if others else []
        if kind == "dta":
            return _with_text(pd.read_stata(handle)), []
        if kind == "sav":
            with tempfile.TemporaryDirectory() as folder:  # the reader takes files by name only
                path = Path(folder) / "table.sav"
                path.write_bytes(handle.read())
                reader = require("pyreadstat", purpose="reading SPSS", extra="spss")
                frame, _ = reader.read_sav(str(path), apply_value_formats=True)  # labels of values
            return _with_text(frame), []
        # A transport file does not say how its text is encoded.
        encoding = "infer" if kind == "sas7bdat" else None
        return _with_text(pd.read_sas(handle, format=cast(Any, kind), encoding=encoding)), []
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of zipfile and the packages, which share no class
        raise DataError(f"{source!r} cannot be read as {name}: {first_line(error)}.") from error


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


def _are_rows(part: TableLike) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(row, dict) for row in part)


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
