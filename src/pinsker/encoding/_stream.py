"""Tables that another engine holds: polars LazyFrames, DuckDB relations, Arrow streams.

None of them is in memory as a whole: rows are drawn in one scan, or come in batches.
"""

from collections.abc import Iterator

import numpy as np

from pinsker._compat import require
from pinsker._types import FloatArray, Missing, TableLike, TargetLike, Unchecked
from pinsker.encoding._encoded import drop_note, drops_rows, plural
from pinsker.encoding._read import is_lazy_frame, is_relation
from pinsker.encoding._sample import RowSample
from pinsker.exceptions import DataError, DataTypeError

#: Rows of a batch.
_BATCH = 100_000


def target_in(X: TableLike, y: TargetLike) -> str:
    if not isinstance(y, str):
        raise DataTypeError(
            f"X is a {type(X).__name__}, but y is of type {type(y).__name__}: pass the name of the "
            "column that holds the target."
        )
    return y


def batches_of(X: TableLike, y: TargetLike) -> Iterator[tuple[Unchecked, Unchecked]]:
    """Yield columns and target of some rows at a time: polars' own, or pandas frames."""
    target = target_in(X, y)
    for frame in _frames(X):
        if target not in frame.columns:
            raise DataError(f"y={target!r} is not a column of X: name one of them.")
        polars = is_lazy_frame(X)
        yield frame.drop(target) if polars else frame.drop(columns=[target]), frame[target]


def _frames(X: TableLike) -> Iterator[Unchecked]:
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
    held: list[tuple[FloatArray, Unchecked, Unchecked]] = []
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
    held: list[tuple[FloatArray, Unchecked, Unchecked]], most: int
) -> tuple[list[tuple[FloatArray, Unchecked, Unchecked]], float]:
    """Return the rows with the smallest keys, in their order, and the limit of these."""
    keys = np.concatenate([one for one, _, _ in held])
    limit = np.inf if len(keys) <= most else float(np.partition(keys, most)[most])
    kept = []
    for own, columns, target in held:
        rows = np.flatnonzero(own < limit)
        kept.append((own[rows], _take(columns, rows), _take(target, rows)))
    return kept, limit


def _gaps(target: Unchecked) -> Unchecked:
    if type(target).__module__.startswith("polars"):
        target = target.fill_nan(None) if target.dtype.is_float() else target
        return target.is_null().to_numpy()
    return target.isna().to_numpy()


def _take(data: Unchecked, rows: Unchecked) -> Unchecked:
    return data[rows] if type(data).__module__.startswith("polars") else data.iloc[rows]


def _joined(parts: list[Unchecked]) -> Unchecked:
    if type(parts[0]).__module__.startswith("polars"):
        return require("polars", purpose="a LazyFrame").concat(parts)
    return require("pandas", purpose="a table in batches").concat(parts, ignore_index=True)
