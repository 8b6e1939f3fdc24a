"""Tables that another engine holds: polars LazyFrames, DuckDB relations, Arrow streams.

None of them is in memory as a whole: rows are drawn in one scan, or come in batches.
"""

from collections.abc import Iterator

import numpy as np

from pinsker._compat import require
from pinsker._types import FloatArray, Missing, TableLike, TargetLike, Unchecked
from pinsker.encoding._encoded import drop_note, refuse_missing_targets
from pinsker.encoding._read import is_lazy_frame, is_relation
from pinsker.encoding._sample import RowSample, join, missing_targets, take
from pinsker.exceptions import DataError, DataTypeError

#: Rows of a batch.
_BATCH = 100_000


def batches_of(X: TableLike, y: TargetLike) -> Iterator[tuple[Unchecked, Unchecked]]:
    """Yield columns and target of some rows at a time: polars' own, or pandas frames."""
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
        gaps = missing_targets(target)
        keys[gaps] = np.inf
        n_rows, n_missing = n_rows + len(keys), n_missing + int(gaps.sum())
        rows = np.flatnonzero(keys < limit)
        held.append((keys[rows], take(columns, rows), take(target, rows)))
        if sum(len(one) for one, _, _ in held) > 2 * most:
            held, limit = _smallest(held, most)
    refuse_missing_targets(n_missing, n_rows, missing)
    usable = n_rows - n_missing
    if not usable:
        raise DataError(f"X is a {type(X).__name__} without a row that has a target.")
    held, _ = _smallest(held, most)
    columns, target = (join([one[place] for one in held], "a table in batches") for place in (1, 2))
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
        kept.append((own[rows], take(columns, rows), take(target, rows)))
    return kept, limit
