"""Tables that another engine holds: LazyFrames, DuckDB relations and connections, Arrow streams.

None of them is in memory as a whole: rows are drawn in one scan, or come in batches.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from pinsker._compat import require
from pinsker._types import FloatArray, IntArray, Missing, TableLike, TargetLike, Unchecked
from pinsker.encoding._encoded import count_targets, drop_note, listing
from pinsker.encoding._read import is_connection, is_lazy_frame, is_relation
from pinsker.encoding._sample import RowSample, join, missing_targets, take
from pinsker.exceptions import DataError, DataTypeError

#: Rows of a batch.
_BATCH = 100_000
#: Random keys of rows, their positions, columns and targets.
_Held: TypeAlias = tuple[FloatArray, IntArray, Unchecked, Unchecked]


def as_relation(X: TableLike) -> TableLike:
    """Return the table or the query of a DuckDB connection as a relation, and all else as it is."""
    if not is_connection(X):
        return X
    connection, *named = X if isinstance(X, tuple) else (X,)
    names = [row[0] for row in connection.sql("SHOW TABLES").fetchall()]
    listed = f"it holds {listing(names) or 'no table'}"
    named = names if not named and len(names) == 1 else named
    if len(named) != 1 or not isinstance(named[0], str):
        raise DataTypeError(
            f"X is a DuckDB connection, and {listed}: say which rows are meant, as (connection, "
            "'table') or (connection, 'SELECT ...')."
        )
    text = named[0].strip("; \n")
    try:
        if text in names or " " not in text:
            return connection.table(text)
        return connection.sql(f"SELECT * FROM ({text})")  # what changes something is no part of it
    except require("duckdb", purpose="a connection", extra="sql").Error as error:
        first = str(error).splitlines()[0]
        raise DataError(f"DuckDB cannot read {text!r} ({first}): {listed}.") from error


def batches_of(X: TableLike, y: TargetLike) -> Iterator[tuple[Unchecked, Unchecked]]:
    """Yield columns and target of some rows at a time: polars' own, or pandas frames."""
    X = as_relation(X)
    if not isinstance(y, str):
        raise DataTypeError(
            f"X is a {type(X).__name__}, but y is of type {type(y).__name__}: pass the name of the "
            "column that holds the target."
        )
    for frame in _frames(X):
        if y not in frame.columns:
            raise DataError(f"y={y!r} is not a column of X: name one of them.")
        yield frame.drop(y) if is_lazy_frame(X) else frame.drop(columns=[y]), frame[y]


def _frames(X: TableLike) -> Iterator[Unchecked]:
    if is_lazy_frame(X):
        yield from X.collect_batches(chunk_size=_BATCH, maintain_order=True)
        return
    require("pandas", purpose="a table in batches", extra="cli")
    arrow = require("pyarrow", purpose="a table in batches", extra="cli")
    reader = X.to_arrow_reader(_BATCH) if is_relation(X) else arrow.RecordBatchReader.from_stream(X)
    with reader:  # an open one would keep its connection from any other query
        for batch in reader:
            if batch.num_rows:
                yield batch.to_pandas()


def draw_from_stream(
    X: TableLike, y: TargetLike, most: int, seed: int, missing: Missing
) -> RowSample:
    """Draw rows in one scan, each with the same chance: those with the smallest random keys."""
    held: list[_Held] = []
    n_rows = n_missing = 0
    limit = np.inf
    for number, (columns, target) in enumerate(batches_of(X, y)):
        keys = np.random.default_rng([seed, number]).random(len(target))
        gaps = missing_targets(target)
        keys[gaps] = np.inf
        rows = np.flatnonzero(keys < limit)
        held.append((keys[rows], n_rows + rows, take(columns, rows), take(target, rows)))
        n_rows, n_missing = n_rows + len(keys), n_missing + int(gaps.sum())
        if sum(len(one[0]) for one in held) > 2 * most:
            held, limit = _smallest(held, most)
    usable = count_targets(n_missing, n_rows, missing, type(X).__name__)
    held, _ = _smallest(held, most)
    columns, target = (join([one[place] for one in held], "a table in batches") for place in (2, 3))
    rows, remarks = np.concatenate([one[1] for one in held]), drop_note(usable, n_rows, missing)
    return RowSample(columns, target, usable, min(most, usable), rows, (*remarks,), n_rows)


def _smallest(held: list[_Held], most: int) -> tuple[list[_Held], float]:
    """Return the rows with the smallest keys, in their order, and the limit of these."""
    keys = np.concatenate([one[0] for one in held])
    limit = np.inf if len(keys) <= most else float(np.partition(keys, most)[most])
    kept = []
    for own, places, columns, target in held:
        rows = np.flatnonzero(own < limit)
        kept.append((own[rows], places[rows], take(columns, rows), take(target, rows)))
    return kept, limit
