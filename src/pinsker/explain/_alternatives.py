"""What instead: columns that can replace a kept one, and other sets within the budget."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from pinsker._types import FloatArray
from pinsker.bounds import effective_rows
from pinsker.encoding import Encoded, take_features
from pinsker.engine import PairTables
from pinsker.explain._importance import FreshSets
from pinsker.holdout import geometric_sizes
from pinsker.information import shared_entropy, shared_information
from pinsker.search import PairProblem, SelectionPath, count_and_search, pairs

#: Dropped columns that are tried in the place of a kept one: the most dependent on it.
_TRIED = 5
#: Probability that a column without dependence is tried.
_LEVEL = 0.01
#: Share of the fresh rows that order the features of alternatives; the others evaluate them.
SEARCHED = 0.4
#: Largest alternative, as a multiple of the chosen set.
_LARGER = 3


@dataclass(frozen=True)
class Substitute:
    """What takes the place of a kept column best.

    Attributes
    ----------
    feature : str
        The column that is left out.
    replacement : tuple of str
        One dropped column, or two; empty where no dropped column depends on this one.
    dependence : float
        Information about the column in the replacement, as a share of the column's entropy.
    increase, increase_upper : float
        Error increase against the kept set, and its upper confidence bound for all candidates
        together, in the metric of the budget.
    within_budget : bool
        Whether the upper bound is within the budget.
    pair : tuple of str
        The two dropped columns that say most about this one together; empty where no pair says more
        than one column by more than chance.
    pair_increase, pair_increase_upper : float
        The same of the pair; NaN without one.
    """

    feature: str
    replacement: tuple[str, ...]
    dependence: float
    increase: float
    increase_upper: float
    within_budget: bool
    pair: tuple[str, ...] = ()
    pair_increase: float = np.nan
    pair_increase_upper: float = np.nan

    def __str__(self) -> str:
        if not self.within_budget:
            return f"{self.feature}: none within the budget"
        place = " and ".join(self.replacement) or "nothing needed"
        return f"{self.feature}: {place} (increase at most {self.increase_upper:+.4f})"


@dataclass(frozen=True)
class Alternative:
    """Another set of features.

    Attributes
    ----------
    features : tuple of str
        The set.
    overlap : float
        Share of its features that the chosen set has too.
    error : float
        Held-out error.
    increase, increase_upper : float
        Error increase against the chosen set, and its upper confidence bound for all sets that were
        tried together.
    """

    features: tuple[str, ...]
    overlap: float
    error: float
    increase: float
    increase_upper: float


@dataclass(frozen=True, eq=False)
class _Bins:
    """Features cut into few bins, and how much they say about each other."""

    codes: npt.NDArray[np.uint8]  # bins of each feature, 0 to 7
    shares: FloatArray  # weights of the rows, with sum 1

    @classmethod
    def of(cls, encoded: Encoded) -> "_Bins":
        weights = np.ones(encoded.n_rows) if encoded.weights is None else encoded.weights
        return cls(PairProblem.of(encoded).codes, weights / weights.sum())

    def most_dependent(self, one: int, others: tuple[int, ...]) -> list[int]:
        real = []  # by more than chance
        for j in others:
            own, their = (self.codes[k].astype(np.int64) for k in (one, j))
            degrees = max(int(own.max()) * int(their.max()), 1)
            nats = shared_information(own, their, self.shares)
            if chdtrc(degrees, 2 * effective_rows(self.shares) * nats) <= _LEVEL / len(others):
                real.append(j)
        return sorted(real, key=lambda j: -self.dependence(one, (j,)))[:_TRIED]

    def closest(self, one: int, several: list[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the smallest replacement, and of those the most dependent one."""
        return min(several, key=lambda instead: (len(instead), -self.dependence(one, instead)))

    def best_pair(self, one: int, others: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the pair that says most about a feature, if it says more than either by chance."""
        if len(others) < 2:
            return []
        own = np.unique(self.codes[one], return_inverse=True)[1].astype(np.int64)
        tables = PairTables.of(self.codes[list(others)], own)
        best, pair = -np.inf, (0, 1)
        for first, surplus in tables.blocks():
            alone = tables.alone.astype(np.float32)
            together = surplus + alone[first : first + len(surplus), None] + alone
            at = np.unravel_index(int(np.argmax(together)), together.shape)
            if together[at] > best:
                best, pair = float(together[at]), (first + int(at[0]), int(at[1]))
        more = best - float(tables.alone[list(pair)].max())
        bins = [int(self.codes[others[j]].max()) for j in pair]
        degrees = max(bins[0] * bins[1] * int(own.max()), 1)
        n_pairs = len(others) * (len(others) - 1) / 2
        if chdtrc(degrees, 2 * self.codes.shape[1] * more) > _LEVEL / n_pairs:
            return []
        return [(others[pair[0]], others[pair[1]])]

    def dependence(self, one: int, others: tuple[int, ...]) -> float:
        """Return I(X;Z)/H(X)."""
        if not others:
            return 0.0
        joint = np.zeros(self.codes.shape[1], dtype=np.int64)
        for j in others:
            joint = joint * 8 + self.codes[j]
        return shared_entropy(joint, self.codes[one].astype(np.int64), self.shares)


def substitutes(
    fresh: FreshSets, budget: float, confidence: float = 0.95
) -> tuple[Substitute, ...]:
    """Find a replacement of every kept column; ``selector.substitutes`` describes it."""
    bins = _Bins.of(fresh.encoded)
    tried: dict[int, list[tuple[int, ...]]] = {}
    for one in fresh.kept:
        near = bins.most_dependent(one, fresh.dropped)
        tried[one] = [(), *((j,) for j in near), *bins.best_pair(one, fresh.dropped)]
    keys = [(one, instead) for one, several in tried.items() for instead in several]
    others = {one: [j for j in fresh.kept if j != one] for one in tried}
    found = fresh.evaluate([(*others[one], *instead) for one, instead in keys])
    gaps = dict(zip(keys, fresh.increases(found, confidence), strict=True))
    results = []
    for one, several in tried.items():
        several = several[1:] or several  # without a stand-in: what leaving out alone costs
        meeting = [instead for instead in several if gaps[one, instead].upper <= budget]
        ranked = sorted(several, key=lambda instead: gaps[one, instead].mean)
        best = bins.closest(one, meeting) if meeting else ranked[0]
        gap, pair = gaps[one, best], next((few for few in several if len(few) == 2), ())
        together = gaps[one, pair] if pair else None
        instead, beside = (tuple(fresh.names[j] for j in few) for few in (best, pair))
        figures = (float(gap.mean), float(gap.upper), bool(gap.upper <= budget))
        both = (float(together.mean), float(together.upper)) if together else ()
        about = (fresh.names[one], instead, bins.dependence(one, best))
        results.append(Substitute(*about, *figures, beside, *both))
    return tuple(results)


def alternatives(
    fresh: FreshSets,
    budget: float,
    confidence: float = 0.95,
    *,
    n: int = 5,
    max_overlap: float = 0.5,
) -> tuple[Alternative, ...]:
    """Find other sets within the budget; ``selector.alternatives`` describes it."""
    banned = set(fresh.kept)
    bins = _Bins.of(fresh.searched)

    def closest(one: int) -> float:
        return max((bins.dependence(one, (j,)) for j in fresh.dropped), default=0.0)

    # Kept features that no dropped one says much about may come back first.
    back = sorted(fresh.kept, key=closest)[: int(max_overlap * len(fresh.kept))]
    most = 2 * n * len(_sizes(fresh)) * len(_searches(fresh)) * (2 if back else 1)
    each = 1.0 - (1.0 - confidence) / max(most, 1)  # of every set that may be tried
    results: list[Alternative] = []
    for _ in range(2 * n):
        found = _within(fresh, banned, budget, each)
        if found is None and back:
            found = _within(fresh, banned - set(back), budget, each)
        if found is None:
            break
        features, scores, gap = found
        common = len(set(features) & set(fresh.kept)) / len(features)
        if common <= max_overlap:
            names = tuple(fresh.names[j] for j in features)
            error = float(scores.loss)
            results.append(Alternative(names, common, error, float(gap.mean), float(gap.upper)))
        new = [j for j in features if j not in banned]
        banned |= set(new[: max(1, len(new) // 2)])
        if len(results) == n or not new:
            break
    return tuple(results)


def _sizes(fresh: FreshSets) -> list[int]:
    most = min(_LARGER * len(fresh.kept) + 2, fresh.encoded.n_features)
    return geometric_sizes(1, most, 1.5)


def _searches(fresh: FreshSets) -> tuple[Callable[[Encoded], SelectionPath], ...]:
    """Return the searches for alternatives; pairs are counted in rows of equal weight."""
    count_jmi = partial(count_and_search, criterion="jmi")
    return (count_jmi,) if fresh.encoded.weights is not None else (pairs, count_jmi)


def _within(
    fresh: FreshSets, banned: set[int], budget: float, confidence: float
) -> tuple[tuple[int, ...], Any, Any] | None:
    """Return the smallest set without some features that meets the budget, if one does."""
    left = [j for j in range(fresh.encoded.n_features) if j not in banned]
    if not left:
        return None
    table = take_features(fresh.searched, left)
    for search in _searches(fresh):
        order = [left[j] for j in search(table).order]
        sets = [tuple(order[:size]) for size in _sizes(fresh) if size <= len(order)]
        for features, scores in zip(sets, fresh.evaluate(sets), strict=True):
            gap = fresh.increases([scores], confidence)[0]
            if gap.upper <= budget:
                return features, scores, gap
    return None
