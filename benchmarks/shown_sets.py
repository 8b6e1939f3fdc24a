"""Which of many sets are within a budget: a sequence named beforehand, and a band over all.

On real tables the sequence gained nothing, so that the library has the band alone; `power.py`
measures both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.bounds import Difference, paired_difference, simultaneous_confidence

#: Limits of one set: its paired differences and a confidence in, the difference out.
Limit: TypeAlias = Callable[[FloatArray, float], Difference]
#: Share of the error probability that the sequence gets; the band has the rest.
_OF_SEQUENCE = 0.8


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
    # 2005, JASA 100). The sequence, whose order must not depend on `differences`, is tested set
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
    columns = differences.T
    band = simultaneous_confidence(differences, confidence, clusters=clusters, seed=seed)
    upper = np.array([limit(column, band).upper for column in columns])
    shown = upper <= budget
    while not shown.all():
        left = ~shown
        some = differences[:, left]
        each = simultaneous_confidence(some, confidence, clusters=clusters, seed=seed)
        now = left.copy()
        now[left] = [limit(column, each).upper <= budget for column in columns[left]]
        if not now.any():
            break
        shown |= now
    return shown, upper
