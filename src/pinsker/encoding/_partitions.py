"""Dask frames larger than memory: their partitions, and a sample of their rows."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._compat import require
from pinsker.exceptions import DataError, DataTypeError

#: Rows that kinds and cuts are found from; all of them where a table has no more.
SAMPLED_ROWS = 100_000
_SEED = 0
#: A target that was given by itself is put among the columns under this name.
_TARGET = "target of pinsker"


def is_dask_frame(data: Any) -> bool:
    """Tell whether something is a Dask DataFrame; Dask is not imported to find out."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(data, frames.DataFrame)


@dataclass(frozen=True, eq=False)
class Partitions:
    """A table and its target in pieces that fit in memory, none of them read yet.

    Attributes
    ----------
    parts : tuple of Delayed
        Pandas frames that hold the target among their columns.
    target : str
        Name of that column.
    called : str
        What the user calls the target.
    empty : pandas.DataFrame
        The columns without the target and without any row.
    lengths : tuple of int
        Rows of each part.
    """

    parts: tuple[Any, ...]
    target: Any
    called: str
    empty: Any
    lengths: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Rows in all."""
        return sum(self.lengths)

    @classmethod
    def of(cls, X: Any, y: Any) -> "Partitions":
        """Divide a Dask DataFrame; `y` is the name of one of its columns, or a Dask Series."""
        target = called = y
        if not isinstance(y, str):
            X, target, called = _with_target(X, y), _TARGET, str(y.name or "y")
        elif y not in X.columns:
            raise DataError(f"y={y!r} is not a column of X: name one of them, or pass a series.")
        # One promise per part: Dask may divide two frames from the same files differently.
        parts = tuple(X.to_delayed())
        lengths = compute([delayed(len)(part) for part in parts])
        return cls(parts, target, called, X._meta.drop(columns=[target]), tuple(lengths))

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return ``function(columns, target, *args)`` of every part, as promises."""
        task = delayed(_apply)
        return [task(part, self.target, self.called, function, *args) for part in self.parts]

    def sample(self) -> tuple[Any, Any]:
        """Return rows of every part in proportion to its length, in their order, in memory."""
        wanted = min(self.n_rows, SAMPLED_ROWS)
        ends = np.concatenate([[0], np.cumsum(self.lengths)]) * wanted // max(1, self.n_rows)
        draw = delayed(_draw)
        promises = [
            draw(part, int(size), number)
            for number, (part, size) in enumerate(zip(self.parts, np.diff(ends), strict=True))
        ]
        join = require("pandas", purpose="a Dask DataFrame", extra="dask").concat
        rows = join(compute(promises), ignore_index=True)
        columns, target = _apply(rows, self.target, self.called, lambda *both: both)
        return columns, target


def delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose calls are promises."""
    promise: Callable[..., Any] = require("dask", purpose="a Dask DataFrame", extra="dask").delayed(
        function, pure=False
    )
    return promise


def compute(promises: Sequence[Any]) -> list[Any]:
    """Keep promises: on the active cluster, or as Dask is configured to."""
    dask = require("dask", purpose="a Dask DataFrame", extra="dask")
    return list(dask.compute(*promises))


def _with_target(X: Any, y: Any) -> Any:
    """Put a Dask Series among the columns of a frame."""
    if not hasattr(y, "to_delayed") or getattr(y, "ndim", 1) != 1:
        raise DataTypeError(
            f"X is a Dask DataFrame, but y is of type {type(y).__name__}: pass the name of a "
            "column of X, or a Dask Series with the same index."
        )
    return X.assign(**{_TARGET: y})  # Dask matches rows by their index


def _apply(frame: Any, target: Any, called: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with the columns and the target of a part."""
    return function(frame.drop(columns=[target]), frame[target].rename(called), *args)


def _draw(frame: Any, size: int, number: int) -> Any:
    """Draw some rows of a part, in their order."""
    rng = np.random.default_rng([_SEED, number])
    return frame.iloc[np.sort(rng.choice(len(frame), size, replace=False))]
