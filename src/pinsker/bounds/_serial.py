"""Rows that are in order of time."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray, IntArray

#: Blocks at least and at most, and the independent rows that a block is worth.
_FEWEST_BLOCKS, _MOST_BLOCKS, _ROWS_PER_BLOCK = 10, 30, 20
#: Below this many independent rows limits of blocks were wrong in up to 9 %.
_FEWEST_ROWS = 200
#: A larger autocorrelation is not told apart from a trend.
_LARGEST = 0.99


@dataclass(frozen=True, eq=False)
class SerialBlocks:
    """Rows in time, cut into blocks."""

    clusters: IntArray  # block of each row
    autocorrelation: float  # of neighboring rows (lag 1), of the set where it is largest
    n_effective: float  # independent rows that these are worth
    enough: bool  # whether that is enough for a certificate; otherwise the label is "estimate"


def serial_blocks(differences: FloatArray) -> SerialBlocks:
    """Cut rows that are in order of time into blocks that are long beside their dependence."""
    # Columns and noise AR(r), least squares in 5 folds in time, 1.2 times the limits of block sums:
    # wrong in 2.2 % (r = 0, 1000 rows), 2.4 (0.5), 4.9 (0.8, not enough), 7.4 (0.9, not enough),
    # 4.3 (0.9, 3000 rows); with rows taken as independent in 1.6, 6.9, 21, 32 and 31 %
    # (benchmarks/power.py --serial, 1000 runs).
    centred = differences.reshape(len(differences), -1)
    centred = centred - centred.mean(axis=0)
    n = len(centred)
    squares = np.sum(centred**2, axis=0)
    products = np.sum(centred[1:] * centred[:-1], axis=0)
    lag_one = products[squares > 0.0] / squares[squares > 0.0]
    largest = float(np.max(lag_one, initial=0.0))
    # Of n rows it is estimated too small by (1 + 3 r) / n (Marriott and Pope 1954).
    r = min(largest + (1.0 + 3.0 * largest) / n, _LARGEST)
    n_effective = n * (1.0 - r) / (1.0 + r)
    n_blocks = int(np.clip(n_effective / _ROWS_PER_BLOCK, _FEWEST_BLOCKS, _MOST_BLOCKS))
    clusters = np.arange(n, dtype=np.int64) * min(n_blocks, n) // n
    return SerialBlocks(clusters, largest, n_effective, bool(n_effective >= _FEWEST_ROWS))
