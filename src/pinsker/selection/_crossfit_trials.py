"""What held-out rows say about every size of every path, and which set to take."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds import (
    Difference,
    TargetFacts,
    bound_for,
    bounded_loss_limit,
    error_rate_limit,
    paired_difference,
)
from pinsker.information import HoldoutScores, best_by_loss
from pinsker.selection._crossfit_judge import Testimony
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import RESOLUTION

#: Confidence of the limits that the cut is made by, for all paths together.
CONFIDENCE = 0.95
#: Confidence of one standard error: how far a set must be from all features, and all features from
#: the best set, so that the difference is not taken for chance. At a budget of 0.02 the error on
#: glass grows by 0.035 without it, by 0.011 with it and by 0.002 at 95 %; of the generators'
#: features 26, 30 and 36 % stay at 150 rows (benchmarks/evidence.py).
ONE_ERROR = 0.8413
#: Name of the trial of all features.
ALL = "all features"


@dataclass(frozen=True)
class Trial:
    """One set of one path on held-out rows.

    Attributes
    ----------
    path : str
        Which path.
    size : int
        Number of features.
    information, information_error : float
        The most that any witness shows, and its standard error, in nats.
    lost, lost_limit : float
        Information of the best trial minus that of this one, never negative, in nats; and the
        larger of the upper limits of that difference and of the one to all features, for the best
        trial differs from itself by nothing whatever the rows say.
    lost_lower : float
        The information lost against the best trial less a standard error of it, in nats.
    behind_all : float
        Information of all features minus that of this set plus a standard error of it, in nats;
        below zero where a set is better than all features by more than that.
    error, error_limit : float
        The smallest held-out error of any witness, and an upper limit of it that needs no
        assumption on the law of the rows.
    growth, growth_lower, growth_upper : float
        `error` minus that of all features, paired by rows, with its one-sided limits.
    excess, excess_upper : float
        `error` minus the smaller of that of all features and that of the trial with the most
        information: what is lost of what is known to be reachable. And its upper limit, never
        below `growth_upper`, for that trial too differs from itself by nothing.
    witness : str
        Who shows the most information.
    model : str
        Who has the smallest error.
    """

    path: str
    size: int
    information: float
    information_error: float
    lost: float
    lost_limit: float
    lost_lower: float
    behind_all: float
    error: float
    error_limit: float
    growth: float
    growth_lower: float
    growth_upper: float
    excess: float
    excess_upper: float
    witness: str
    model: str

    def keeps_to(self, rule: ErrorBudget, facts: TargetFacts, unit: str) -> bool:
        """Tell whether either evidence shows that a budget is kept.

        The information lost is within what the budget allows, or the upper limit of the excess of
        the held-out error is within the budget itself. Errors are known in one `unit` alone.

        The best of many trials looks better than it is, and loses nothing against itself. So the
        information lost against all features, which nobody chose, must be within what the budget
        allows even if a standard error is added to it.
        """
        if max(self.lost, self.behind_all) <= self.allowed(rule, facts, unit) + RESOLUTION:
            return True
        return rule.unit_for(facts) == unit and self.excess_upper <= rule.delta + RESOLUTION

    def may_stay(self, rule: ErrorBudget, facts: TargetFacts, unit: str) -> bool:
        """Tell whether all features may be kept: no set is better by more than a standard error.

        Features are left out on evidence, and kept without.
        """
        allowed = self.allowed(rule, facts, unit)
        return self.lost_lower <= allowed + RESOLUTION or self.keeps_to(rule, facts, unit)

    def allowed(self, rule: ErrorBudget, facts: TargetFacts, unit: str) -> float:
        """Return the information that a budget lets go, knowing the error of this set, in nats."""
        known = rule.unit_for(facts) == unit and rule.constants == "sharp"
        bound = bound_for(
            rule.unit_for(facts),
            facts,
            error_limit=max(self.error_limit, 0.0) if known else None,
            constants=rule.constants,
            model=rule.model,
        )
        return bound.budget(float(rule.delta))


def make_trials(
    heard: dict[tuple[str, int], Testimony], prior: HoldoutScores, facts: TargetFacts, n_paths: int
) -> dict[tuple[str, int], Trial]:
    """Compare every testimony with the best one, and with that on all features.

    The best of several paths is looked for, so that each gets its part of the error probability.
    """
    confidence = 1.0 - (1.0 - CONFIDENCE) / n_paths
    top = max(heard.values(), key=lambda one: one.most.information(prior))
    everything = next(one for (path, _), one in heard.items() if path == ALL)
    yardstick = _Yardstick(
        prior,
        top.most,
        everything.most,
        everything.least,
        best_by_loss([everything.least, top.least]),
        facts,
        confidence,
    )
    return {key: yardstick.trial(*key, one) for key, one in heard.items()}


def smallest(trials: Iterable[Trial]) -> Trial:
    """Return the trial with the fewest features; of equals the one with the most information."""
    return min(trials, key=lambda one: (one.size, -one.information))


def loss_limit(losses: FloatArray, unit: str, facts: TargetFacts, confidence: float) -> float:
    """Return an upper limit of a mean loss that holds for any law of the rows.

    Clopper-Pearson for errors; empirical Bernstein for squared and absolute errors, taking the
    range of the sample for that of the target. Infinite for losses without an upper end.
    """
    if unit == "error":
        return error_rate_limit(round(float(losses.sum())), len(losses), confidence)
    if unit == "brier":
        return bounded_loss_limit(losses, 2.0, confidence)
    if unit == "log-loss" or facts.target_range is None or not facts.variance:
        return float("inf")
    largest = {"r2": facts.target_range**2 / facts.variance, "mse": facts.target_range**2}
    return bounded_loss_limit(losses, largest.get(unit, facts.target_range), confidence)


@dataclass(frozen=True, eq=False)
class _Yardstick:
    """What every trial is compared with."""

    prior: HoldoutScores
    most: HoldoutScores
    most_of_all: HoldoutScores
    everything: HoldoutScores
    reachable: HoldoutScores
    facts: TargetFacts
    confidence: float

    def trial(self, path: str, size: int, heard: Testimony) -> Trial:
        """Return the trial of one testimony."""
        unit = self.everything.metric
        lost = self._lost(heard, self.most)
        against_all = self._lost(heard, self.most_of_all)
        growth = self._growth(heard, self.everything)
        excess = self._growth(heard, self.reachable)
        return Trial(
            path=path,
            size=size,
            information=heard.most.information(self.prior),
            information_error=heard.most.information_error(self.prior),
            lost=max(lost.mean, 0.0),
            lost_limit=max(lost.upper, against_all.upper, 0.0),
            lost_lower=self._lost(heard, self.most, ONE_ERROR).lower,
            behind_all=self._lost(heard, self.most_of_all, ONE_ERROR).upper,
            error=heard.least.loss,
            error_limit=loss_limit(heard.least.losses, unit, self.facts, self.confidence),
            growth=growth.mean,
            growth_lower=growth.lower,
            growth_upper=growth.upper,
            excess=excess.mean,
            excess_upper=max(excess.upper, growth.upper),
            witness=heard.most.model,
            model=heard.least.model,
        )

    def _lost(
        self, heard: Testimony, reference: HoldoutScores, confidence: float | None = None
    ) -> Difference:
        gaps = reference.log_likelihood - heard.most.log_likelihood
        return paired_difference(gaps, confidence or self.confidence)

    def _growth(self, heard: Testimony, reference: HoldoutScores) -> Difference:
        gaps = heard.least.losses - reference.losses
        return paired_difference(gaps, self.confidence, counts=reference.metric == "error")


def geometric_sizes(smallest_size: int, largest_size: int, ratio: float = 1.5) -> list[int]:
    """Return sizes that grow by a ratio, both ends included.

    Examples
    --------
    >>> geometric_sizes(1, 30)
    [1, 2, 3, 4, 6, 9, 13, 19, 28, 30]
    """
    sizes = [smallest_size]
    while sizes[-1] < largest_size:
        sizes.append(min(largest_size, max(sizes[-1] + 1, int(np.ceil(sizes[-1] * ratio - 0.5)))))
    return sizes
