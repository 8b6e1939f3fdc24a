"""Tables in databases: rows of a query to DuckDB or SQLite, which are only ever read."""

import glob
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pinsker._compat import require
from pinsker.cli._large import DrawnRows
from pinsker.exceptions import DataError, ParameterError

#: Rows that are fetched at a time.
_BLOCK_ROWS = 2**16
#: Texts of SQL in single, double or dollar quotation marks; comments may hold single marks.
_QUOTED = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?P<single>(?:[^']|'')*)'|"(?P<double>(?:[^"]|"")*)"|"""
    r"""\$(?P<tag>\w*)\$(?P<dollar>.*?)\$(?P=tag)\$""",
    re.DOTALL,
)
_SQLITE, _DUCKDB = b"SQLite format 3\x00", b"DUCK"


def choose_source(table: str | None, database: str | None, query: str | None) -> str:
    """Return the file to read: the table, or the database of a query; "" is DuckDB without one."""
    if query is None and database is not None:
        raise ParameterError('--database needs --query "select ...", which says what to read.')
    if query is None and table is None:
        raise ParameterError('name a table, or give --query "select ..." and --database FILE.')
    if table is not None and database is not None:
        raise ParameterError(f"{table!r} and --database exclude each other: give one of them.")
    return table or database or ""


def files_in(query: str) -> list[str]:
    """Return the files that a query names: every quoted text that is one, or a pattern of some."""
    found = []
    for text in _QUOTED.finditer(query):
        single, double, dollar = text.group("single", "double", "dollar")
        name = (single or "").replace("''", "'") or (double or "").replace('""', '"') or dollar
        if name:
            name = os.path.expanduser(re.sub(r"^file:(//(?=/))?", "", name))
            found += [name, *glob.glob(name, recursive=True)]
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
    """Return the rows of a query; of more than `most` rows so many, each with the same chance."""
    query = query.strip().rstrip(";")
    if not query:
        raise ParameterError('--query is empty: use "select ... from ...".')
    with closing(_connect(database)) as connection:
        try:
            n_rows = _count(connection, query)
            if most is None or n_rows <= most:
                return _joined(_blocks(connection, query)), None
            frame = _drawn(_blocks(connection, query), n_rows, most, seed)
        except Exception as error:
            # SQLite's, DuckDB's and pandas' errors about a query share no class.
            if isinstance(error, MemoryError | DataError):
                raise
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise DataError(f"--query cannot be answered: {reason}.") from error
    return frame, DrawnRows(frame, n_rows, most, {})


def tables_in(database: str) -> list[str]:
    """Return the names of the tables and views of a database."""
    with closing(_connect(database)) as connection:
        if isinstance(connection, sqlite3.Connection):
            found = connection.execute(
                "select name from sqlite_master where type in ('table','view')"
            )
        else:
            found = connection.execute("select table_name from information_schema.tables")
        return sorted(str(name) for (name,) in found.fetchall())


def _connect(database: str) -> Any:
    """Open a database for reading."""
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
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(
            f"--database {database!r} cannot be read by DuckDB, and is none of SQLite: {reason}."
        ) from error


def _count(connection: Any, query: str) -> int:
    (n_rows,) = connection.execute(f"select count(*) from ({query}) as rows_of_query").fetchone()
    return int(n_rows)


def _blocks(connection: Any, query: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of a query, some at a time."""
    if isinstance(connection, sqlite3.Connection):
        yield from pd.read_sql_query(query, connection, chunksize=_BLOCK_ROWS)
        return
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    empty = True
    while len(block := result.fetch_df_chunk(_BLOCK_ROWS // 2048)):
        empty = False
        yield block
    if empty:
        yield pd.DataFrame(columns=names)


def _drawn(blocks: Iterator[pd.DataFrame], n_rows: int, most: int, seed: int) -> pd.DataFrame:
    """Draw rows in one pass."""
    rows = np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False, shuffle=False))
    start, pieces = 0, []
    for block in blocks:
        first, last = np.searchsorted(rows, [start, start + len(block)])
        pieces.append(block.iloc[rows[first:last] - start])
        start += len(block)
    return _joined(iter(pieces))


def _joined(blocks: Iterator[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(list(blocks), ignore_index=True)
