"""Entropy and information of discrete columns, from the counts of their joint states."""

from typing import get_args

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import Correction, grassberger_log

CORRECTIONS: tuple[str, ...] = get_args(Correction)

#: Mixed-radix keys beyond this could overflow int64 with the next column.
_LARGEST_KEY = 2**62


def merge_states(*blocks: FloatArray | IntArray) -> tuple[IntArray, int]:
    """Number the distinct rows of several blocks of columns."""
    n_rows = blocks[0].shape[0]
    keys, size = np.zeros(n_rows, dtype=np.int64), 1
    for block in blocks:
        for column in block.T:
            codes, n_values = _compress(column)
            if size > _LARGEST_KEY // n_values:
                keys, size = _compress(keys)
            keys = keys * n_values + codes
            size *= n_values
    return _compress(keys)


def state_entropy(states: IntArray, correction: Correction = "grassberger") -> float:
    """Entropy in nats of states given as numbers; a single state has entropy zero."""
    n = states.size
    # The sum runs over the distinct counts, so that the rows' order cannot change a bit, and two
    # partitions of the same shape get the very same entropy: what should cancel does.
    counts, how_many = np.unique(np.bincount(states), return_counts=True)
    counts, how_many = counts[counts > 0], how_many[counts > 0]
    n_states = int(how_many.sum())
    if n_states == 1:
        return 0.0
    logs = grassberger_log(counts) if correction == "grassberger" else np.log(counts)
    entropy = float(np.log(n) - np.sum(how_many * (counts / n) * logs))
    return entropy + (n_states - 1) / (2 * n) if correction == "miller-madow" else entropy


def discrete_information(
    x: IntArray, y: IntArray, z: IntArray | None, correction: Correction = "grassberger"
) -> tuple[float, float]:
    """Information between states, given others or nothing, and how well the cells are filled."""
    given = np.zeros(x.size, dtype=np.int64) if z is None else z
    xz, _ = _pair(x, given)
    yz, _ = _pair(y, given)
    xyz, n_cells = _pair(xz, y)
    # (H(XZ) - H(Z)) - (H(XYZ) - H(YZ)): constants and copies give equal pairs, and exactly zero.
    gain_without_y = state_entropy(xz, correction) - state_entropy(given, correction)
    gain_with_y = state_entropy(xyz, correction) - state_entropy(yz, correction)
    return gain_without_y - gain_with_y, x.size / n_cells


def _pair(a: IntArray, b: IntArray) -> tuple[IntArray, int]:
    """Number the states of two state columns together."""
    return _compress(a * (int(b.max()) + 1) + b)


def _compress(column: FloatArray | IntArray) -> tuple[IntArray, int]:
    """Number the distinct values of a column 0, 1, ... in increasing order."""
    if column.dtype.kind == "i" and column.min() >= 0 and column.max() < 4 * column.size:
        # Small integers: counting beats sorting.
        present = np.bincount(column) > 0
        return (np.cumsum(present) - 1)[column], int(present.sum())
    values, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64, copy=False), int(values.size)
