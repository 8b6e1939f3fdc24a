"""Which of many sets are within a budget: a sequence named beforehand, and a band over all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.bounds._limits import Difference, paired_difference, simultaneous_confidence

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


#: Limits of one set: its paired differences and a confidence in, the difference out.
Limit: TypeAlias = Callable[[FloatArray, float], Difference]
#: Share of the error probability that the sequence gets, the band has the rest; and share of the
#: band's that shows which sets are far above the budget.
_OF_SEQUENCE, _OF_DISTANCE = 0.8, 0.1


@dataclass(frozen=True, eq=False)
class ShownSets:
    """Which sets are shown to be within a budget, all at once with the confidence asked for."""

    shown: BoolArray
    evidence: tuple[str, ...]  # what shows each: "band", "sequence" or ""
    mean: FloatArray  # mean differences
    #: What may be printed: of a set that is shown the budget, which is what was proven, and not the
    #: set's own limit (Hsu and Berger 1999, JASA 94); of others the limit of the band, a statement
    #: of its own at the band's confidence, and of the first that fails the sequence its own limit.
    upper: FloatArray


def shown_sets(
    differences: FloatArray,
    budget: float,
    *,
    sequence: Sequence[int] = (),
    confidence: float = 0.95,
    of_sequence: float = _OF_SEQUENCE,
    limit: Limit = paired_difference,
    clusters: IntArray | None = None,
    seed: int = 0,
) -> ShownSets:
    """Find the sets whose mean difference is shown to be at most a budget."""
    # The band is made again for the sets that it does not show, up to the end (Romano and Wolf
    # 2005, JASA 100), and sets far above the budget do not count (Romano, Shaikh and Wolf 2014,
    # Econometrica 82). The sequence, whose order must not depend on `differences`, is tested set
    # after set at the whole of its share, up to the first that neither its own limit nor the band
    # shows (Maurer, Hothorn, Lehmacher 1995). Let j be its first set that is not within the budget.
    # While the band holds it does not show j, so that the sequence passes j only if j's own limit
    # is wrong: all claims together are wrong with at most the sum of both shares, in any dependence
    # of the two.
    alpha = 1.0 - confidence
    spent = of_sequence * alpha if len(sequence) else 0.0
    shown = np.zeros(differences.shape[1], dtype=np.bool_)
    upper = np.full(len(shown), np.inf)
    if spent < alpha:
        shown, upper = _step_down(differences, budget, 1.0 - alpha + spent, limit, clusters, seed)
    by_band = shown.copy()
    for place in sequence if spent else ():
        if by_band[place]:
            continue
        own = limit(differences[:, place], 1.0 - spent).upper
        shown[place] = own <= budget
        if not shown[place]:
            upper[place] = min(upper[place], own)  # holds whenever the sequence makes no error
            break
    upper = np.where(shown, budget, np.maximum(upper, budget))
    words = np.where(by_band, "band", np.where(shown, "sequence", ""))
    return ShownSets(shown, tuple(words.tolist()), differences.mean(axis=0), upper)


def _step_down(
    differences: FloatArray,
    budget: float,
    confidence: float,
    limit: Limit,
    clusters: IntArray | None,
    seed: int,
) -> tuple[BoolArray, FloatArray]:
    """Return which sets a band shows that is made again for the others, and the band's limits."""
    beta = _OF_DISTANCE * (1.0 - confidence)
    columns = differences.T
    band = simultaneous_confidence(differences, confidence, clusters=clusters, seed=seed)
    upper = np.array([limit(column, band).upper for column in columns])
    near = 1.0 - beta / max(len(columns), 1)
    distance = np.array([_distance(limit, column, near, budget) for column in columns])
    shown = upper <= budget
    while not shown.all():
        left = ~shown
        each = simultaneous_confidence(
            differences[:, left], confidence + beta, clusters=clusters, distance=distance[left],
            seed=seed,
        )  # fmt: skip
        now = left.copy()
        now[left] = [limit(column, each).upper <= budget for column in columns[left]]
        if not now.any():
            break
        shown |= now
    return shown, upper


def _distance(limit: Limit, column: FloatArray, confidence: float, budget: float) -> float:
    """Return how many standard errors the lower limit of a set is above the budget."""
    found = limit(column, confidence)
    error = (found.mean - found.lower) / float(ndtri(confidence))
    return max(found.lower - budget, 0.0) / error if error > 0.0 else 0.0


def fewest_needed(lower: FloatArray, sizes: IntArray, budget: float) -> int:
    """Return the k for which no evaluated set of fewer than k features is within the budget."""
    # Sizes are tested from the smallest on, a size passes when all of its sets do
    # (intersection-union), and the first that does not ends it: the statement has the confidence of
    # one limit.
    open_sizes = np.asarray(sizes)[np.asarray(lower) <= budget]
    if len(open_sizes):
        return int(open_sizes.min())
    return int(np.max(sizes, initial=0)) + 1
