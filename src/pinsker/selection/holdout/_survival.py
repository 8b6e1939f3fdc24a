"""Metrics of censored times with their influence values: concordance, integrated Brier score."""

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray
from pinsker.exceptions import DataError
from pinsker.information import step_at
from pinsker.selection.holdout._influence import Influence


def concordance_influence(
    time: FloatArray, event: BoolArray, risk: FloatArray, weights: FloatArray
) -> Influence:
    r"""Return Harrell's concordance, and how each row moves it.

    Of two rows the one with the earlier event should have the larger risk. Pairs compare where the
    earlier time is one of an event; at equal times an event comes before a censored row, and two
    events do not compare. Equal risks count half. With :math:`c_i` and :math:`a_i` the sums of
    weights of the rows that compare with row i, and of those in the right order,

    .. math:: C = \sum_i w_i a_i / \sum_i w_i c_i, \quad
        \psi_i = 2 (a_i - C c_i) \frac{\sum_j w_j}{\sum_j w_j c_j}

    is the first-order projection of a ratio of two U-statistics. Time is O(n log n).

    References
    ----------
    Harrell, Califf, Pryor, Lee, Rosati (1982). Evaluating the yield of medical tests. Kang, Chen,
    Petrick, Gallas (2015). Comparing two correlated C indices with right-censored survival outcome.
    """
    order = np.lexsort([~event, time])
    steps = (np.diff(time[order]) > 0) | (np.diff(event[order].astype(np.int8)) < 0)
    key = np.empty(len(time), dtype=np.int64)
    key[order] = np.concatenate([[0], np.cumsum(steps)])
    _, level = np.unique(risk, return_inverse=True)
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
    return score, influence


def _half_ties(key: IntArray, level: IntArray, weights: FloatArray) -> FloatArray:
    """Return the weight of the rows of a smaller key and level; equal levels count half."""
    below, up_to = (sum_below(key, level, weights, key, level + add) for add in (0, 1))
    return np.asarray((below + up_to) / 2)


def sum_below(
    x: IntArray, y: IntArray, weights: FloatArray, x_limits: IntArray, y_limits: IntArray
) -> FloatArray:
    """Return for every pair of limits the weight of the points below both.

    The points in order of x are split again and again by a bit of y, the highest first, while sums
    along them tell how much lies before a place (a wavelet matrix).

    Parameters
    ----------
    x, y, weights : ndarray of shape (n_points,)
        Points and their weights.
    x_limits, y_limits : ndarray of shape (n_limits,)
        Counted are points with ``x < x_limit`` and ``y < y_limit``.

    Examples
    --------
    >>> x, y = np.array([0, 1, 2]), np.array([5, 3, 4])
    >>> sum_below(x, y, np.ones(3), np.array([3, 2]), np.array([5, 4])).tolist()
    [2.0, 1.0]
    """
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


def brier_influence(
    time: FloatArray,
    event: BoolArray,
    curves: FloatArray,
    times: FloatArray,
    weights: FloatArray,
) -> Influence:
    r"""Return the Brier score integrated over times, censoring weighed out, and row influences.

    At time t a row that had its event before has the loss :math:`\hat S(t)^2 / \hat G(T_i-)`, one
    that is observed longer :math:`(1 - \hat S(t))^2 / \hat G(t)`, and a row censored before none:
    :math:`\hat G` is the Kaplan-Meier estimate of the probability to be uncensored, from the same
    rows. The score is the mean over the grid by the trapezoidal rule. That :math:`\hat G` is an
    estimate moves the score too, by a martingale of censoring:

    .. math:: \psi_i = L_i - \bar L + \int \frac{q(u)}{\pi(u)} dM^c_i(u), \quad
        q(u) = E[L 1(\min(T, t) > u)],\ \pi(u) = P(T \ge u)

    written here as the exact derivatives of :math:`\log \hat G`.

    References
    ----------
    Graf, Schmoor, Sauerbrei, Schumacher (1999). Assessment and comparison of prognostic
    classification schemes for survival data. Gerds, Schumacher (2006).
    """
    censored, at, open_at = _censoring(time, event, weights)
    share = np.diff(times)
    trapezoid = (np.concatenate([share, [0.0]]) + np.concatenate([[0.0], share])) / 2
    trapezoid = trapezoid / trapezoid.sum() if len(times) > 1 else np.ones(1)
    total = float(weights.sum())
    # G just before a row's own time, and after each time of the grid; at the largest times it may
    # be 0, where no row is left to be weighed by it.
    before = np.concatenate([[1.0], open_at])[at]
    losses, moved = np.zeros(len(time)), np.zeros(len(time))
    for t, curve, part in zip(times, curves.T, trapezoid, strict=True):
        after = float(step_at(censored, open_at, np.array([t]))[0])
        early, late = event & (time <= t), time > t
        loss = np.zeros(len(time))
        loss[early] = curve[early] ** 2 / before[early]
        loss[late] = (1.0 - curve[late]) ** 2 / after
        losses += part * loss
        moved += part * _martingale(time, event, weights, loss, np.minimum(time, t), late)
    score = float(weights @ losses / total)
    return score, losses - score + moved


def _censoring(
    time: FloatArray, event: BoolArray, weights: FloatArray
) -> tuple[FloatArray, AnyArray, FloatArray]:
    """Return the different times, each row's place among them, and Kaplan-Meier of censoring.

    At equal times events come before censored rows, so that a censored one is not at risk there
    for those with an event.
    """
    times, at = np.unique(time, return_inverse=True)
    leaving = np.bincount(at, weights, len(times))
    at_risk = leaving[::-1].cumsum()[::-1] - np.bincount(at, weights * event, len(times))
    lost = np.bincount(at, weights * ~event, len(times))
    hazard = np.divide(lost, at_risk, out=np.zeros(len(times)), where=at_risk > 0)
    return times, at, np.asarray(np.cumprod(1.0 - hazard), dtype=np.float64)


def _martingale(
    time: FloatArray,
    event: BoolArray,
    weights: FloatArray,
    loss: FloatArray,
    known_at: FloatArray,
    late: BoolArray,
) -> FloatArray:
    """Return how the estimate of censoring moves a mean loss, row by row.

    `known_at` is the time that a row's loss is weighed at; a row observed longer is weighed after
    it, one with an event before it.
    """
    times, at = np.unique(time, return_inverse=True)
    n = len(times)
    leaving = np.bincount(at, weights, n)
    at_risk = leaving[::-1].cumsum()[::-1] - np.bincount(at, weights * event, n)
    lost = np.bincount(at, weights * ~event, n)
    # Censoring at u weighs on rows with an event after u, and on those observed beyond it.
    place = np.searchsorted(times, known_at, side="right") - 1
    last = np.where(late, place, place - 1)  # the last time whose censoring weighs on the row
    ending = np.bincount(np.maximum(last, 0), weights * loss * (last >= 0), n)
    behind = ending[::-1].cumsum()[::-1]
    # One more row censored at u: log G falls by 1 / at risk. One more that stays: it rises.
    ratio = np.divide(behind, at_risk, out=np.zeros(n), where=at_risk > 0)
    stay = at_risk - lost
    rises = np.cumsum(np.divide(ratio * lost, stay, out=np.zeros(n), where=stay > 0))
    own = np.where(event, 0.0, ratio[at])
    until = np.concatenate([[0.0], rises])[at]
    return np.asarray(own - until)
