"""Budgets for subgroups: the increase in the one where it is largest, and a table of all."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray, Unchecked
from pinsker.bounds import Difference, rows_needed

#: Name of the subgroup that holds every row: a budget for parts of the rows is one for all, too.
ALL_ROWS = "all rows"
#: The increase of two sets of losses, as `Metric.increase` finds it on any rows.
Increase: TypeAlias = Callable[
    [FloatArray, FloatArray, float, IntArray | None, FloatArray | None, float], Difference
]


@dataclass(frozen=True)
class SubgroupResult:
    """What a choice costs one subgroup of the held-out rows.

    Attributes
    ----------
    name : str
        The subgroup: "column=value", or the name of a mask.
    n_rows : int
        Held-out rows in it.
    budget : float
        Error increase that is accepted in it.
    error_all, error_kept : float
        Error with all features and with those kept, in the metric.
    increase, increase_lower, increase_upper : float
        Their paired difference with its one-sided confidence bounds.
    rows_needed : float
        Held-out rows of it that would show this with probability 0.8; infinite where none would.
    """

    name: str
    n_rows: int
    budget: float
    error_all: float
    error_kept: float
    increase: float
    increase_lower: float
    increase_upper: float
    rows_needed: float

    @property
    def verdict(self) -> str:
        """Whether the budget is "met" in this subgroup, "not met", or "inconclusive"."""
        if self.increase_upper <= self.budget:
            return "met"
        return "not met" if self.increase_lower > self.budget else "inconclusive"


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Parts of the rows, each with a budget of its own."""

    names: tuple[str, ...]
    masks: BoolArray  # one row per subgroup, one column per row of a table
    budgets: FloatArray  # NaN: that of all rows
    budget: float  # of all rows; NaN where none has a budget of its own

    def on_rows(self, rows: IntArray) -> "Subgroups":
        return Subgroups(self.names, self.masks[:, rows], self.budgets, self.budget)

    def worst(
        self,
        increase: Increase,
        less: FloatArray,
        full: FloatArray,
        level: float,
        *known: Unchecked,
    ) -> Difference:
        """Return the increase that is farthest above its budget, as one above that of all rows."""
        # Within the budget means within it in every subgroup: each is tested at the whole error
        # probability (intersection-union, Berger 1982). That it is broken in one of them shares it.
        shared, losses = 1.0 - (1.0 - level) / len(self.names), (less, full)
        each, sure = (self._each(increase, losses, one, *known) for one in (level, shared))
        shifts = np.where(np.isnan(self.budgets), 0.0, self.budget - self.budgets).tolist()
        seen = [k for k, one in enumerate(each) if not math.isnan(one.mean)]
        return Difference(
            max(each[k].mean + shifts[k] for k in seen),
            max(sure[k].lower + shifts[k] for k in seen),
            max(one.upper + shift for one, shift in zip(each, shifts, strict=True)),
        )

    def table(
        self,
        increase: Increase,
        less: FloatArray,
        full: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
        widening: float = 1.0,
        *,
        budget: float,
        counts: bool,
        also: tuple[FloatArray, FloatArray] | None = None,
    ) -> tuple[SubgroupResult, ...]:
        """Return every subgroup; its bound also holds for a second pair of losses, if given."""
        budgets = np.where(np.isnan(self.budgets), budget, self.budgets)
        known, shared = (clusters, weights, widening), 1.0 - (1.0 - confidence) / len(self.names)
        each = self._each(increase, (less, full), confidence, *known)
        sure = self._each(increase, (less, full), shared, *known)
        other = each if also is None else self._each(increase, also, confidence, *known)
        found = []
        for k, (mask, own) in enumerate(zip(self.masks, budgets, strict=True)):
            kept, all_ = (_part(losses, mask, weights) for losses in (less, full))
            gaps = kept - all_
            needed = math.inf
            if gaps.ndim == 1 and len(gaps) > 1:
                needed = rows_needed(
                    float(gaps.var(ddof=1)), float(own), each[k].mean, counts=counts,
                    confidence=confidence, widening=widening,
                )  # fmt: skip
            errors = (_largest_mean(all_), _largest_mean(kept))
            limits = (each[k].mean, sure[k].lower, max(each[k].upper, other[k].upper))
            about = (self.names[k], int(mask.sum()), float(own))
            found.append(SubgroupResult(*about, *errors, *limits, needed))
        return tuple(found)

    def _each(
        self,
        increase: Increase,
        losses: tuple[FloatArray, FloatArray],
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
        widening: float = 1.0,
    ) -> list[Difference]:
        """Return the increase in each subgroup; of fewer than two rows nothing is known."""
        found = []
        for mask in self.masks[:, : len(losses[0])]:  # the first folds hold the first rows out
            if mask.sum() < 2:
                found.append(Difference(math.nan, -math.inf, math.inf))
                continue
            less, full = (_part(one, mask, weights) for one in losses)
            own = None if weights is None else weights[mask]
            together = None if clusters is None else clusters[mask]
            found.append(increase(less, full, confidence, together, own, widening))
        return found


def _part(values: FloatArray, mask: BoolArray, weights: FloatArray | None) -> FloatArray:
    """Return the losses of some rows, whose plain mean is their weighted mean."""
    if weights is None:
        return values[mask]
    if values.ndim > 1:
        return np.column_stack([_part(column, mask, weights) for column in values.T])
    # `weighted_rows` is undone for all rows, and done again for these.
    mean, own = values.mean(), weights[mask]
    raw = (mean + (values - mean) * (weights.mean() / weights))[mask]
    centre = np.average(raw, weights=own)
    return np.asarray(centre + (raw - centre) * own / own.mean())


def _largest_mean(losses: FloatArray) -> float:
    return float(losses.mean(axis=0).max()) if len(losses) else math.nan
