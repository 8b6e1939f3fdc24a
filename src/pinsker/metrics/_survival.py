"""Metrics of censored times with their influence values: concordance, integrated Brier score."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.exceptions import DataError
from pinsker.metrics._influence import Influence
from pinsker.models import refuse_without_curves, step_at


@dataclass(frozen=True)
class TimeRows:
    """Held-out rows of censored times: risks, then survival curves at some times."""

    predictions: FloatArray
    raw: FloatArray
    times: FloatArray
    weights: FloatArray

    @property
    def time(self) -> FloatArray:
        """When a row had its event, or was last seen."""
        return self.raw[:, 0]

    @property
    def event(self) -> BoolArray:
        """Whether it had one."""
        return self.raw[:, 1] > 0


def discordance(rows: TimeRows) -> Influence:
    """Return one minus Harrell's concordance, and how each row moves it."""
    time, event, weights = rows.time, rows.event, rows.weights
    order = np.lexsort([~event, time])
    steps = (np.diff(time[order]) > 0) | (np.diff(event[order].astype(np.int8)) < 0)
    key = np.empty(len(time), dtype=np.int64)
    key[order] = np.concatenate([[0], np.cumsum(steps)])
    _, level = np.unique(rows.predictions[:, 0], return_inverse=True)
    every, seen = weights, np.where(event, weights, 0.0)
    after = -key  # rows after row i have a smaller number here
    later = sum_below(after, np.zeros_like(level), every, after, np.ones_like(level))
    lower = _half_ties(after, level, every)
    earlier = sum_below(key, np.zeros_like(level), seen, key, np.ones_like(level))
    higher = _half_ties(key, -level, seen)
    comparable = np.where(event, later, 0.0) + earlier
    right = np.where(event, lower, 0.0) + higher
    total = float(weights @ comparable)
    if total <= 0.0:
        raise DataError(
            "metric 'concordance' needs held-out rows with an event before the time of another "
            "row, and there are none: use more rows."
        )
    score = float(weights @ right) / total
    influence = 2.0 * (right - score * comparable) * float(weights.sum()) / total
    return 1.0 - score, -influence


def _half_ties(key: IntArray, level: IntArray, weights: FloatArray) -> FloatArray:
    """Return the weight of the rows of a smaller key and level; equal levels count half."""
    below, up_to = (sum_below(key, level, weights, key, level + add) for add in (0, 1))
    return np.asarray((below + up_to) / 2)


def sum_below(
    x: IntArray, y: IntArray, weights: FloatArray, x_limits: IntArray, y_limits: IntArray
) -> FloatArray:
    """Return for every pair of limits the weight of the points below both."""
    order = np.argsort(x, kind="stable")
    end = np.searchsorted(x[order], x_limits, side="left")
    least = int(min(y.min(), y_limits.min()))
    values, limits, weights = y[order] - least, y_limits - least, weights[order]
    start, found = np.zeros_like(end), np.zeros(len(end))
    for bit in reversed(range(int(max(values.max(), limits.max())).bit_length())):
        zero = (values >> bit) & 1 == 0
        before = np.concatenate([[0], np.cumsum(zero)])
        weight_before = np.concatenate([[0.0], np.cumsum(np.where(zero, weights, 0.0))])
        goes_up = (limits >> bit) & 1 == 1
        found += np.where(goes_up, weight_before[end] - weight_before[start], 0.0)
        n_zero = int(before[-1])
        start = np.where(goes_up, n_zero + start - before[start], before[start])
        end = np.where(goes_up, n_zero + end - before[end], before[end])
        split = np.argsort(~zero, kind="stable")
        values, weights = values[split], weights[split]
    return found


def integrated_brier(rows: TimeRows) -> Influence:
    """Return the Brier score integrated over times, censoring weighed out, and row influences."""
    refuse_without_curves(rows.predictions, "integrated_brier")
    time, event, weights, times = rows.time, rows.event, rows.weights, rows.times
    curves = rows.predictions[:, 1:]
    censoring = _Censoring.of(time, event, weights)
    share = np.diff(times)
    trapezoid = (np.concatenate([share, [0.0]]) + np.concatenate([[0.0], share])) / 2
    trapezoid = trapezoid / trapezoid.sum() if len(times) > 1 else np.ones(1)
    before = np.concatenate([[1.0], censoring.open])[censoring.at]  # G just before a row's own time
    losses, moved = np.zeros(len(time)), np.zeros(len(time))
    for t, curve, part in zip(times, curves.T, trapezoid, strict=True):
        after = float(step_at(censoring.times, censoring.open, np.array([t]))[0])
        early, late = event & (time <= t), time > t
        loss = np.zeros(len(time))
        loss[early] = curve[early] ** 2 / before[early]
        loss[late] = (1.0 - curve[late]) ** 2 / after
        losses += part * loss
        moved += part * censoring.moves(event, weights * loss, t, late)
    score = float(np.average(losses, weights=weights))
    return score, losses - score + moved


@dataclass(frozen=True, eq=False)
class _Censoring:
    """Kaplan-Meier's estimate of the probability to be uncensored."""

    times: FloatArray  # the different times
    at: IntArray  # each row's place among them
    at_risk: FloatArray
    lost: FloatArray
    open: FloatArray

    @classmethod
    def of(cls, time: FloatArray, event: BoolArray, weights: FloatArray) -> "_Censoring":
        """Estimate it from some rows."""
        times, at = np.unique(time, return_inverse=True)
        n = len(times)
        leaving = np.bincount(at, weights, n)
        at_risk = leaving[::-1].cumsum()[::-1] - np.bincount(at, weights * event, n)
        lost = np.bincount(at, weights * ~event, n)
        hazard = np.divide(lost, at_risk, out=np.zeros(n), where=at_risk > 0)
        opened = np.asarray(np.cumprod(1.0 - hazard), dtype=np.float64)
        counts = np.asarray([at_risk, lost], dtype=np.float64)
        return cls(times, at.astype(np.int64), counts[0], counts[1], opened)

    def moves(self, event: BoolArray, losses: FloatArray, t: float, late: BoolArray) -> FloatArray:
        """Return how the estimate moves a mean of weighted losses at time t, row by row."""
        n = len(self.times)
        last = np.where(late, np.searchsorted(self.times, t, side="right"), self.at) - 1
        ending = np.bincount(np.maximum(last, 0), losses * (last >= 0), n)
        # One more row censored at u: log G falls by 1 / at risk. One more that stays: it rises.
        behind = ending[::-1].cumsum()[::-1]
        ratio = np.divide(behind, self.at_risk, out=np.zeros(n), where=self.at_risk > 0)
        stay = self.at_risk - self.lost
        rises = np.cumsum(np.divide(ratio * self.lost, stay, out=np.zeros(n), where=stay > 0))
        own = np.where(event, 0.0, ratio[self.at])
        return np.asarray(own - np.concatenate([[0.0], rises])[self.at])
