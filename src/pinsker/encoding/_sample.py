"""Some of very many rows, drawn before they are encoded: the cost is that of the sample.

Every row has the same chance to be drawn, so that what held-out rows say of the sample holds for
the table. The target is read in full; the other columns only where a row was drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker._types import (
    Arguments,
    FloatArray,
    IntArray,
    Missing,
    RowLabels,
    TableLike,
    TargetLike,
    Task,
)
from pinsker.encoding._dask import compute, delayed, put_target
from pinsker.encoding._encode import check_lengths
from pinsker.encoding._encoded import (
    count_targets,
    drop_note,
    drops_rows,
    listing,
    read_array,
    usable_rows,
)
from pinsker.encoding._read import (
    count_rows,
    frame_of,
    is_dask,
    is_dask_frame,
    is_frame,
    is_missing,
)
from pinsker.encoding._target import class_labels, guess_task, read_target
from pinsker.exceptions import DataError, DataTypeError, ParameterError

#: A partition returns this many times its expected share of the sample: enough in one pass, unless
#: its length is more than this many times the mean.
_OVERSAMPLING = 2.0


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows of a table and its target, as they came, and how many there were."""

    X: TableLike  # the rows, in the container of the table and in its order
    y: TargetLike  # the rows, in the container of the table and in its order
    n_rows: int  # rows of the table that could be drawn: those with a target
    n_drawn: int  # rows of the sample
    rows: IntArray | None = None  # their positions in the table
    remarks: Notes = ()  # what else a user should know
    n_given: int = 0  # rows of the table in memory

    def labels_of_rows(self, labels: RowLabels, name: str = "groups") -> RowLabels:
        """Return the group, or the weight, of each row of the sample; None if there are none."""
        if labels is None or (self.rows is None and self.n_given):
            return labels
        if self.rows is None:
            raise ParameterError(
                f"{name} needs the rows in memory, but X is a Dask collection: leave it out, or "
                "pass X.compute().",
                parameter=name,
            )
        labels = read_array(name, labels)
        check_lengths({"X": self.n_given, name: len(labels)})
        return labels[self.rows]

    @property
    def origin(self) -> str:
        """Where the rows come from, for a certificate; empty where they are all."""
        if self.n_drawn == self.n_rows:
            return ""
        return f"of {self.n_drawn} drawn from {self.n_rows}"

    @property
    def notes(self) -> Notes:
        if self.n_drawn == self.n_rows:
            return self.remarks
        figures = {"drawn": self.n_drawn, "n_rows": self.n_rows}
        return (Note("read on a sample", figures=figures), *self.remarks)


def draw_rows(
    X: TableLike,
    y: TargetLike,
    most: int,
    seed: int,
    *,
    missing: Missing = "error",
    task: Literal["auto"] | Task = "auto",
) -> RowSample:
    """Draw rows without replacement, each with the same chance; all of them if they are few."""
    if is_dask(X):
        parts, place, called = _parts(X, y)
        drawing = _Drawing(most, seed, len(parts), drops_rows(missing), place, called)
        found = drawing.over(parts)
        n_rows, n_missing = sum(p.n_rows for p in found), sum(p.n_missing for p in found)
        n_usable = count_targets(n_missing, n_rows, missing, "Dask collection")
        limit = (most + 100) / n_usable
        while (kept := _smallest(found, most)) is None:
            limit *= 1.2
            found = replace(drawing, limit=limit).over(parts)
        ends = np.cumsum([len(part.keys) for part in found])[:-1]
        each = [np.flatnonzero(mask) for mask in np.split(kept, ends)]
        both = [(take(p.X, some), take(p.y, some)) for p, some in zip(found, each, strict=True)]
        columns, targets = (join(list(pieces)) for pieces in zip(*both, strict=True))
        dropped = tuple(drop_note(n_usable, n_rows, missing))
        return RowSample(columns, targets, n_usable, int(kept.sum()), remarks=dropped)
    n_rows = count_rows(X)
    if n_rows <= most or y is None:
        return RowSample(X, y, n_rows, n_rows, n_given=max(n_rows, 1))
    target, task = read_target(y, task)
    check_lengths({"X": n_rows, "y": target.n_rows})
    usable = usable_rows([], missing, target=target)
    target = target.keep(usable)
    if task == "auto":
        task, _ = guess_task(target)
    remarks = drop_note(len(usable), n_rows, missing)
    if task != "classification":
        chosen = _draw(len(usable), most, seed)
    else:
        labels, classes = class_labels(target)
        chosen = _draw(len(usable), most, seed, labels)
        sizes = np.bincount(labels, minlength=len(classes))
        lost = np.flatnonzero(np.bincount(labels[chosen], minlength=len(classes)) == 0)
        if len(lost):
            figures = {"classes": listing(list(classes[lost])), "lost": int(sizes[lost].sum())}
            remarks += [Note("classes too rare", figures={**figures, "n_rows": len(labels)})]
    rows = usable[chosen]
    taken = (take(X, rows), take(y, rows), len(usable), len(rows))
    return RowSample(*taken, rows, tuple(remarks), n_given=n_rows)


def take(data: TableLike, rows: IntArray) -> TableLike:
    if isinstance(data, list | tuple):
        return [data[row] for row in rows.tolist()]
    if sparse.issparse(data):
        matrix: Any = data
        return (matrix if matrix.format in ("csr", "csc") else matrix.tocsr())[rows]
    if is_frame(data):
        try:
            return frame_of(data)[rows].to_native()
        except TypeError as error:  # a column of a type that its container holds but cannot read
            raise DataError(
                f"no rows could be taken from a {type(data).__name__} ({error}): leave out columns "
                "that are neither numbers, texts, truth values nor times."
            ) from error
    return (data if isinstance(data, np.ndarray) else np.asarray(data))[rows]


def _draw(n_rows: int, most: int, seed: int, labels: IntArray | None = None) -> IntArray:
    """Return positions, ascending; with labels every class has its share to within one row."""
    if n_rows <= most:
        return np.arange(n_rows)
    rng = np.random.default_rng(seed)
    if labels is None:
        return np.sort(rng.choice(n_rows, most, replace=False, shuffle=False))
    # Every (n / m)-th row of the classes one after the other, each of them shuffled.
    order = rng.permutation(n_rows)
    order = order[np.argsort(labels[order], kind="stable")]
    places = ((np.arange(most) + rng.random()) * (n_rows / most)).astype(np.int64)
    return np.sort(order[np.minimum(places, n_rows - 1)])


# ---------------------------------------------------------------------- Dask


@dataclass(frozen=True)
class _Drawing:
    """How partitions draw: rows whose random keys are the smallest of the whole table."""

    most: int
    seed: int
    n_parts: int
    drop: bool
    target: TargetLike = None
    called: str | None = None
    limit: float | None = None

    def over(self, parts: Sequence[Arguments]) -> "list[_Drawn]":
        draw = delayed(self.draw)
        return compute([draw(number, *part) for number, part in enumerate(parts)])

    def draw(self, number: int, X: TableLike, y: TargetLike = None) -> "_Drawn":
        if self.target is not None:
            X, y = X.drop(columns=[self.target]), X[self.target].rename(self.called)
        if len(X) != len(y):
            raise DataError(
                f"chunk {number} of X has {len(X)} rows, but that of y {len(y)}: divide both alike."
            )
        gaps = missing_targets(y)
        keys = np.random.default_rng([self.seed, number]).random(len(X))
        if self.drop:
            keys[gaps] = np.inf
        limit = self.limit
        if limit is None:
            limit = _OVERSAMPLING * self.most / max(1, len(X) * self.n_parts)
        limit = min(limit, 1.0)
        rows = np.flatnonzero(keys < limit)
        return _Drawn(take(X, rows), take(y, rows), keys[rows], limit, len(X), int(gaps.sum()))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Rows of one partition with the smallest keys: all those below a limit."""

    X: TableLike
    y: TargetLike
    keys: FloatArray
    limit: float
    n_rows: int
    n_missing: int


def _smallest(found: Sequence[_Drawn], most: int) -> Any:
    """Return which of the rows found are the sample; None where some partition holds back more."""
    keys = np.concatenate([part.keys for part in found])
    limit = min(part.limit for part in found)
    if len(keys) <= most:
        return np.ones(len(keys), dtype=np.bool_) if limit >= 1.0 else None
    chosen = np.argpartition(keys, most - 1)[:most]
    if limit < 1.0 and keys[chosen].max() >= limit:
        return None
    mask = np.zeros(len(keys), dtype=np.bool_)
    mask[chosen] = True
    return mask


def _parts(X: TableLike, y: TargetLike) -> tuple[list[Arguments], Any, str | None]:
    """Return the delayed parts of a table, with the name of the target where it is among them."""
    if is_dask_frame(X):
        X, target, called = put_target(X, y)
        return [(part,) for part in X.to_delayed()], target, called
    if not is_dask(y) or is_dask_frame(y):
        raise DataTypeError(
            f"X is a Dask Array, but y is of type {type(y).__name__}: pass a Dask Array with as "
            "many rows."
        )
    if X.ndim != 2:
        raise DataError(f"Found array with dim {X.ndim} as X, while dim 2 is required.")
    lengths = X.shape[0], y.shape[0]
    if lengths[0] == lengths[0] and lengths[1] == lengths[1]:  # neither is NaN: unknown
        check_lengths({"X": int(lengths[0]), "y": int(lengths[1])})
        y = y.rechunk({0: X.chunks[0]})
    elif X.numblocks[0] != y.numblocks[0]:
        raise DataError(
            f"X has {X.numblocks[0]} chunks of unknown lengths, but y {y.numblocks[0]}: call "
            "compute_chunk_sizes() on both."
        )
    # All columns of a row in one chunk.
    whole = [one.rechunk(dict.fromkeys(range(1, one.ndim), -1)) for one in (X, y)]
    blocks = [one.to_delayed().reshape(-1) for one in whole]
    return list(zip(*blocks, strict=True)), None, None


def missing_targets(y: TargetLike) -> Any:
    if type(y).__module__.startswith("polars"):
        return (y.fill_nan(None) if y.dtype.is_float() else y).is_null().to_numpy()
    if isinstance(y, np.ndarray):
        cells = y.reshape(len(y), math.prod(y.shape[1:]))  # of no rows, too
        gaps = np.frompyfunc(is_missing, 1, 1)(cells) if y.dtype.kind == "O" else cells != cells
        return gaps.astype(np.bool_).any(axis=1)
    return y.isna().to_numpy()


def join(pieces: list[Any], purpose: str = "a Dask DataFrame") -> TableLike:
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    if type(pieces[0]).__module__.startswith("polars"):
        return require("polars", purpose=purpose).concat(pieces)
    return require("pandas", purpose=purpose, extra="dask").concat(pieces, ignore_index=True)
