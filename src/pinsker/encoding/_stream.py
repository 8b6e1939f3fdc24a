"""Tables that another engine holds: polars LazyFrames, DuckDB relations, Arrow streams.

None of them is in memory as a whole: rows are drawn in one scan, or come in batches.
"""

import sys
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pinsker._compat import require
from pinsker._types import FloatArray, Missing, TableLike, TargetLike
from pinsker.encoding._encoded import drop_note, drops_rows, plural
from pinsker.encoding._read import is_frame
from pinsker.encoding._sample import RowSample
from pinsker.exceptions import DataError, DataTypeError

#: Rows of a batch.
_BATCH = 100_000


@runtime_checkable
class ArrowStream(Protocol):
    """Anything with the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the stream."""


def is_relation(data: TableLike) -> bool:
    """Return whether something is a DuckDB relation; DuckDB is not imported to find out."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(data, duckdb.DuckDBPyRelation)


def is_lazy_frame(data: TableLike) -> bool:
    """Return whether something is a LazyFrame of polars; polars is not imported to find out."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(data, polars.LazyFrame)


def is_stream(data: TableLike) -> bool:
    """Return whether a table is held by another engine."""
    if is_relation(data) or is_lazy_frame(data):
        return True
    return isinstance(data, ArrowStream) and not is_frame(data)


def target_in(X: TableLike, y: TargetLike) -> str:
    """Return the name of the target among the columns of a stream."""
    if not isinstance(y, str):
        raise DataTypeError(
            f"X is a {type(X).__name__}, but y is of type {type(y).__name__}: pass the name of the "
            "column that holds the target."
        )
    return y


def batches_of(X: TableLike, y: TargetLike) -> Iterator[tuple[Any, Any]]:
    """Yield columns and target of some rows at a time: polars' own, or pandas frames."""
    target = target_in(X, y)
    for frame in _frames(X):
        if target not in frame.columns:
            raise DataError(f"y={target!r} is not a column of X: name one of them.")
        polars = is_lazy_frame(X)
        yield frame.drop(target) if polars else frame.drop(columns=[target]), frame[target]


def _frames(X: TableLike) -> Iterator[Any]:
    if is_lazy_frame(X):
        yield from X.collect_batches(chunk_size=_BATCH, maintain_order=True)
        return
    require("pandas", purpose="a table in batches", extra="cli")
    arrow = require("pyarrow", purpose="a table in batches", extra="cli")
    reader = X.to_arrow_reader(_BATCH) if is_relation(X) else arrow.RecordBatchReader.from_stream(X)
    for batch in reader:
        if batch.num_rows:
            yield batch.to_pandas()


def draw_from_stream(
    X: TableLike, y: TargetLike, most: int, seed: int, missing: Missing
) -> RowSample:
    """Draw rows in one scan, each with the same chance: those with the smallest random keys."""
    held: list[tuple[FloatArray, Any, Any]] = []
    n_rows = n_missing = 0
    limit = np.inf
    for number, (columns, target) in enumerate(batches_of(X, y)):
        keys = np.random.default_rng([seed, number]).random(len(target))
        gaps = _gaps(target)
        keys[gaps] = np.inf
        n_rows, n_missing = n_rows + len(keys), n_missing + int(gaps.sum())
        rows = np.flatnonzero(keys < limit)
        held.append((keys[rows], _take(columns, rows), _take(target, rows)))
        if sum(len(one) for one, _, _ in held) > 2 * most:
            held, limit = _smallest(held, most)
    if n_missing and not drops_rows(missing):
        raise DataError(
            f"Input y contains NaN: the target has missing values in {n_missing} of "
            f"{plural(n_rows, 'row')}. Use <missing=drop>, or fill them in.",
            parameter="missing",
        )
    usable = n_rows - n_missing
    if not usable:
        raise DataError(f"X is a {type(X).__name__} without a row that has a target.")
    held, _ = _smallest(held, most)
    columns, target = (_joined([one[place] for one in held]) for place in (1, 2))
    remarks = tuple(drop_note(usable, n_rows, missing))
    return RowSample(columns, target, usable, min(most, usable), remarks=remarks)


def _smallest(
    held: list[tuple[FloatArray, Any, Any]], most: int
) -> tuple[list[tuple[FloatArray, Any, Any]], float]:
    """Return the rows with the smallest keys, in their order, and the limit of these."""
    keys = np.concatenate([one for one, _, _ in held])
    limit = np.inf if len(keys) <= most else float(np.partition(keys, most)[most])
    kept = []
    for own, columns, target in held:
        rows = np.flatnonzero(own < limit)
        kept.append((own[rows], _take(columns, rows), _take(target, rows)))
    return kept, limit


def _gaps(target: Any) -> Any:
    """Return which values of a series are missing."""
    if type(target).__module__.startswith("polars"):
        target = target.fill_nan(None) if target.dtype.is_float() else target
        return target.is_null().to_numpy()
    return target.isna().to_numpy()


def _take(data: Any, rows: Any) -> Any:
    return data[rows] if type(data).__module__.startswith("polars") else data.iloc[rows]


def _joined(parts: list[Any]) -> Any:
    if type(parts[0]).__module__.startswith("polars"):
        return require("polars", purpose="a LazyFrame").concat(parts)
    return require("pandas", purpose="a table in batches").concat(parts, ignore_index=True)
