"""Influence values of every score: how much each row moves it.

Every function returns the score and, per row, its derivative by the weight of that row, times the
sum of the weights. The score plus them (`row_values`) is an array whose mean is the score and whose
spread gives its standard error. Scores of a confusion matrix are computed for many at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeAlias

import numpy as np
from sklearn.metrics import roc_auc_score

from pinsker._types import AnyArray, BoolArray, Fields, FloatArray, Function, IntArray
from pinsker.bounds import column_variances, effective_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.models import log_likelihood_of_numbers, step_at

#: A score, and the influence of each row on it.
Influence: TypeAlias = tuple[float, FloatArray]
#: Blocks of rows that are left out in turn where nothing is known of a score. The standard error
#: of 100 blocks has itself a relative error of 7 %.
JACKKNIFE_BLOCKS = 100


def row_values(
    score: float, influence: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return one value per row whose mean is a score and whose spread gives its standard error."""
    moved = influence if weights is None else influence * weights / weights.mean()
    return np.asarray(score + (moved - moved.mean()))


def mean_influence(losses: FloatArray, weights: FloatArray) -> Influence:
    mean = float(np.average(losses, weights=weights))
    return mean, losses - mean


def auc_influence(positive: BoolArray, scores: FloatArray, weights: FloatArray) -> Influence:
    """Return the area under the ROC curve, by the placements of DeLong."""
    _, level = np.unique(scores, return_inverse=True)
    of_positive = np.where(positive, weights, 0.0)
    of_negative = np.where(positive, 0.0, weights)
    ones, zeros = np.bincount(level, of_positive), np.bincount(level, of_negative)
    n_ones, n_zeros = float(ones.sum()), float(zeros.sum())
    below = (np.cumsum(zeros) - zeros / 2) / n_zeros
    above = 1.0 - (np.cumsum(ones) - ones / 2) / n_ones
    auc = float(ones @ below / n_ones)
    total = n_ones + n_zeros
    influence = np.where(
        positive,
        (below[level] - auc) * total / n_ones * _stretch(of_positive, weights),
        (above[level] - auc) * total / n_zeros * _stretch(of_negative, weights),
    )
    return auc, influence


def gini(y_true: AnyArray, y_score: FloatArray, sample_weight: FloatArray | None = None) -> float:
    """Return the Gini coefficient of a score, as credit scoring has it: 2 AUC - 1."""
    return 2.0 * float(roc_auc_score(y_true, y_score, sample_weight=sample_weight)) - 1.0


def gini_influence(positive: BoolArray, scores: FloatArray, weights: FloatArray) -> Influence:
    auc, influence = auc_influence(positive, scores, weights)
    return 2.0 * auc - 1.0, 2.0 * influence


def _stretch(of_class: FloatArray, weights: FloatArray) -> float:
    """Return what makes a sum of squares over a class an unbiased variance, as DeLong's is."""
    rows, everything = effective_rows(of_class), effective_rows(weights)
    if rows <= 1.0 + 1e-9:
        return 1.0
    return float(np.sqrt(rows / (rows - 1.0) * (everything - 1.0) / everything))


def precision_influence(positive: BoolArray, scores: FloatArray, weights: FloatArray) -> Influence:
    r"""Return the average precision, :math:`\sum_n (R_n - R_{n-1}) P_n` over distinct scores."""
    _, level = np.unique(scores, return_inverse=True)
    ones = np.bincount(level, np.where(positive, weights, 0.0))
    every = np.bincount(level, weights)
    hits, called = np.cumsum(ones[::-1])[::-1], np.cumsum(every[::-1])[::-1]
    total, n_ones = float(every.sum()), float(ones.sum())
    step = float(weights[weights > 0].min())
    fewer = np.maximum(called - step, np.finfo(np.float64).tiny)
    without_hit, without_call = np.maximum(hits - step, 0.0) / fewer, np.minimum(hits / fewer, 1.0)
    all_hits = ones * hits / called
    score = float(all_hits.sum() / n_ones)
    above = all_hits.sum() - np.cumsum(all_hits)  # thresholds beyond the row's own score
    of_negative = (np.cumsum(ones * without_call) + above) / n_ones
    left_ones = n_ones - step if n_ones > step else np.inf  # a single one: nothing is found then
    of_positive = (np.cumsum(ones * without_hit) - step * without_hit + above) / left_ones
    left = np.where(positive, of_positive[level], of_negative[level])
    return score, (total / step - 1.0) * (score - left)


def block_jackknife(
    score: Callable[[IntArray], float], weights: FloatArray, clusters: IntArray | None = None
) -> Influence:
    """Leave out blocks of rows in turn, for a score of which nothing is known."""
    n = len(weights)
    unit = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    n_units = int(unit.max()) + 1
    dealt = np.random.default_rng(n_units).permutation(n_units) % JACKKNIFE_BLOCKS
    block_of, everything = dealt[unit], score(np.arange(n))
    carriers, changes = [], []
    for block in np.unique(block_of):
        inside = block_of == block
        share = float(weights[inside].sum() / weights.sum())
        if share == 0.0:
            continue
        left = score(np.flatnonzero(~inside))
        changes.append((1.0 - share) * (everything - left))  # what the block adds to the score
        carriers.append(int(np.argmax(np.where(inside, weights, -1.0))))
    influence = np.zeros(n)
    # `row_values` multiplies by the weight of the row over the mean weight.
    scale = n * weights.mean() / weights[carriers]
    influence[carriers] = scale * (np.array(changes) - np.mean(changes))
    return everything, influence


#: From matrices of shape (..., n_classes, n_classes), true classes in rows, to scores.
MatrixScore: TypeAlias = Callable[[FloatArray], FloatArray]
#: From arguments of a function of scikit-learn, the class that counts where one does, and the
#: classes that occur among true or predicted ones, to its score; None if it does not know them.
MatrixFunction: TypeAlias = Callable[[Fields, int, BoolArray], MatrixScore | None]
#: From hits, missed and wrongly called rows of each class, and beta, to a part and the whole.
Ratio: TypeAlias = Callable[
    [FloatArray, FloatArray, FloatArray, float], tuple[FloatArray, FloatArray]
]
#: Relative change of a cell in a numerical derivative.
_STEP = 1e-4


def ratio_score(parts: Ratio, *more: str) -> MatrixFunction:
    """Return a ratio of counts as a score of matrices, averaged over classes as asked."""

    def of_arguments(kwargs: Fields, positive: int, present: BoolArray) -> MatrixScore | None:
        beta, average = float(kwargs.get("beta", 1.0)), kwargs.get("average", "binary")
        known = set(kwargs) <= {"average", "pos_label", *more}
        if not known or average not in ("binary", "micro", "macro", "weighted"):
            return None

        def score(matrices: FloatArray) -> FloatArray:
            hits = np.diagonal(matrices, axis1=-2, axis2=-1)
            support = matrices.sum(axis=-1)
            missed, called = support - hits, matrices.sum(axis=-2) - hits
            if average == "micro":
                hits, missed, called = (
                    part.sum(-1, keepdims=True) for part in (hits, missed, called)
                )
            each = _ratio(*parts(hits, missed, called, beta))
            if average == "weighted":
                return np.asarray((each * support).sum(axis=-1) / support.sum(axis=-1))
            if average == "macro":
                return np.asarray(each[..., present].mean(axis=-1))
            return np.asarray(each[..., 0 if average == "micro" else positive])

        return score

    return of_arguments


def plain_score(score: MatrixScore) -> MatrixFunction:
    """Return a score of matrices that knows no arguments."""
    return lambda kwargs, _positive, _present: None if kwargs else score


def matrix_slopes(score: MatrixScore, matrix: FloatArray) -> FloatArray:
    """Return the derivative of a score by each occupied cell of a confusion matrix; 0 elsewhere."""
    slopes = np.zeros_like(matrix)
    occupied = np.flatnonzero(matrix > 0)
    steps = _STEP * matrix.ravel()[occupied]
    sides = []
    for sign in (1.0, -1.0):
        moved = np.repeat(matrix.reshape(1, -1), len(occupied), axis=0)
        moved[np.arange(len(occupied)), occupied] += sign * steps
        sides.append(score(moved.reshape(-1, *matrix.shape)))
    slopes.ravel()[occupied] = (sides[0] - sides[1]) / (2 * steps)
    return slopes


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide; what has no cases scores 0, as in scikit-learn."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def balanced_accuracy(matrices: FloatArray) -> FloatArray:
    support = matrices.sum(axis=-1)
    recall = _ratio(np.diagonal(matrices, axis1=-2, axis2=-1), support)
    return np.asarray(recall.sum(axis=-1) / (support > 0).sum(axis=-1))


def matthews(matrices: FloatArray) -> FloatArray:
    true, predicted = matrices.sum(axis=-1), matrices.sum(axis=-2)
    n = true.sum(axis=-1)
    right = np.trace(matrices, axis1=-2, axis2=-1)
    covariance = right * n - (true * predicted).sum(axis=-1)
    spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (true**2).sum(axis=-1))
    return _ratio(np.asarray(covariance), np.sqrt(np.maximum(spread, 0.0)))


def f_beta(
    hits: FloatArray, missed: FloatArray, called: FloatArray, beta: float
) -> tuple[FloatArray, FloatArray]:
    part = (1 + beta**2) * hits
    return part, part + beta**2 * missed + called


@dataclass(frozen=True)
class TimeRows:
    """Held-out rows of censored times: risks, then survival curves at some times."""

    predictions: FloatArray
    time: FloatArray  # when a row had its event, or was last seen
    event: BoolArray  # whether it had one
    times: FloatArray
    weights: FloatArray


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
    time, event, weights, times = rows.time, rows.event, rows.weights, rows.times
    curves = rows.predictions[:, 1:]
    if np.isnan(curves).any():
        raise ParameterError(
            "metric 'integrated_brier' compares survival curves, but a model has no "
            "predict_survival_function: use <metric=concordance>, or another model.",
            parameter="metric",
        )
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
        times, at = np.unique(time, return_inverse=True)
        n = len(times)
        leaving = np.bincount(at, weights, n)
        at_risk = leaving[::-1].cumsum()[::-1] - np.bincount(at, weights * event, n)
        lost = np.bincount(at, weights * ~event, n)
        hazard = np.divide(lost, at_risk, out=np.zeros(n), where=at_risk > 0)
        opened = np.asarray(np.cumprod(1.0 - hazard), dtype=np.float64)
        return cls(times, at.astype(np.int64), np.asarray(at_risk), np.asarray(lost), opened)

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


Ranked = Callable[[BoolArray, FloatArray, FloatArray], Influence]


@dataclass(frozen=True)
class ClassRows:
    """Held-out rows of a class target, and what a model says of them."""

    labels: IntArray  # true classes 0..n_classes-1
    scores: FloatArray  # larger for more likely classes
    log_probabilities: FloatArray  # logarithms of probabilities
    classes: AnyArray  # the classes as the user knows them
    weights: FloatArray  # of the rows
    clusters: IntArray | None = None  # which rows belong together

    def own(self, values: FloatArray) -> FloatArray:
        """Return the entry of each row's own class."""
        return np.asarray(values[np.arange(len(self.labels)), self.labels])

    def positive(self, kwargs: Fields) -> int:
        """Return the class that counts where one does: the second, if not named."""
        wanted = kwargs.get("pos_label")
        return 0 if wanted is not None and wanted == self.classes[0] else 1

    @property
    def squares(self) -> FloatArray:
        """Squared errors of probabilities, summed over classes."""
        probabilities = np.exp(self.log_probabilities)
        return np.asarray(np.sum(probabilities**2, axis=1) - 2 * self.own(probabilities) + 1)


@dataclass(frozen=True)
class NumberRows:
    """Held-out rows of numeric targets, with the predictions and the targets of all rows."""

    predictions: FloatArray
    values: FloatArray
    everything: FloatArray
    weights: FloatArray | None
    all_weights: FloatArray | None

    @property
    def squares(self) -> FloatArray:
        return np.asarray((self.predictions - self.values) ** 2)

    @property
    def shares(self) -> FloatArray:
        """Squared errors divided by the variance of each target over all rows."""
        own = column_variances(self.everything, self.all_weights)
        return np.asarray(self.squares / np.maximum(own, np.finfo(np.float64).tiny))

    @property
    def log_likelihood(self) -> FloatArray:
        """Log-densities under normals around the predictions, over all targets."""
        known = (self.predictions, self.values, self.everything, self.weights)
        return log_likelihood_of_numbers(*known)


@dataclass(frozen=True)
class Column:
    """Held-out rows of one numeric target, for a function with some arguments."""

    true: FloatArray
    predicted: FloatArray
    weights: FloatArray
    kwargs: Fields

    @property
    def gaps(self) -> FloatArray:
        return np.asarray(self.true - self.predicted)

    def mean(self, losses: FloatArray) -> Influence:
        return mean_influence(losses, self.weights)

    def variance(self, values: FloatArray) -> Influence:
        """Return the variance (divisor n) of values, and how each row moves it."""
        return self.mean((values - np.average(values, weights=self.weights)) ** 2)

    def median(self, values: FloatArray) -> Influence:
        """Return the median of values, and :math:`(1/2 - [v < m]) / f(m)` for each row."""
        order, weights = np.argsort(values, kind="stable"), self.weights
        ranks = np.cumsum(weights[order]) / weights.sum()
        reach = min(0.5 * effective_rows(weights) ** (-1 / 3), 0.4)
        ends = np.searchsorted(ranks, [0.5 - reach, 0.5, 0.5 + reach])
        low, median, high = values[order][ends]
        if np.ptp(weights) == 0.0:
            median = np.median(values)
        below = np.where(values < median, 1.0, 0.0) + 0.5 * (values == median)
        influence = (high - low) / (2 * reach) * (0.5 - below)
        return float(median), influence - float(np.average(influence, weights=weights))


def of_ranks(one: Ranked) -> Callable[[ClassRows, Fields], Influence]:
    """Return a score of a ranking of two classes as one of any number of classes."""

    def influence(rows: ClassRows, kwargs: Fields) -> Influence:
        if len(rows.classes) == 2:
            at = rows.positive(kwargs)
            margin = rows.scores[:, at] - rows.scores[:, 1 - at]
            return one(rows.labels == at, margin, rows.weights)
        labels, scores, weights = rows.labels, rows.log_probabilities, rows.weights
        if kwargs.get("multi_class") != "ovo":
            parts = [one(labels == c, scores[:, c], weights) for c in range(scores.shape[1])]
            values = np.array([value for value, _ in parts])  # of every class against the rest
            if kwargs.get("average") != "weighted":
                return float(values.mean()), np.mean([moved for _, moved in parts], axis=0)
            shares = np.bincount(labels, weights, scores.shape[1]) / weights.sum()
            score, each = float(shares @ values), zip(shares, parts, strict=True)
            within = np.sum([share * moved for share, (_, moved) in each], axis=0)
            return score, np.asarray(within + values[labels] - score)
        # The AUC of all pairs of classes, ranked by both scores, averaged (Hand and Till 2001).
        pairs = list(permutations(range(scores.shape[1]), 2))
        value, moves, total = 0.0, np.zeros(len(labels)), float(weights.sum())
        for a, b in pairs:
            some = np.flatnonzero((labels == a) | (labels == b))
            part, moved = auc_influence(labels[some] == a, scores[some, a], weights[some])
            value += part / len(pairs)
            moves[some] += moved * total / float(weights[some].sum()) / len(pairs)
        return value, moves

    return influence


def are_averaged(kwargs: Fields) -> bool:
    """Return whether a score of two classes is averaged over classes in a way we know."""
    return kwargs.get("average", "macro") in ("macro", "weighted")


def is_plain_auc(kwargs: Fields) -> bool:
    """Return whether the placements cover the arguments of an AUC."""
    weighted_pairs = kwargs.get("multi_class") == "ovo" and kwargs.get("average") == "weighted"
    return kwargs.get("max_fpr") is None and are_averaged(kwargs) and not weighted_pairs


def mean_log_loss(rows: ClassRows, kwargs: Fields) -> Influence:  # noqa: ARG001
    return mean_influence(-rows.own(rows.log_probabilities), rows.weights)


def mean_brier(rows: ClassRows, kwargs: Fields) -> Influence:
    """Return the Brier score of scikit-learn: half the sum of squares for two classes."""
    half = kwargs.get("scale_by_half", "auto")
    is_half = len(rows.classes) == 2 if half == "auto" else bool(half)
    return mean_influence(rows.squares / 2 if is_half else rows.squares, rows.weights)


def against_frequencies(
    loss: Callable[[ClassRows, Fields], Influence],
) -> Callable[[ClassRows, Fields], Influence]:
    """Return one minus a loss over that of the frequencies of the classes."""

    def influence(rows: ClassRows, kwargs: Fields) -> Influence:
        # The frequencies make their own loss smallest: that they move changes nothing to first
        # order.
        shares = np.bincount(rows.labels, rows.weights, len(rows.classes)) / rows.weights.sum()
        with np.errstate(divide="ignore"):
            alike = np.tile(np.log(shares), (len(rows.labels), 1))
        return skill(loss(rows, kwargs), loss(replace(rows, log_probabilities=alike), kwargs))

    return influence


def rowwise(function: Function) -> Callable[[Column], Influence]:
    """Return a mean loss of scikit-learn that has one value per output: a row is made an output."""

    def influence(rows: Column) -> Influence:
        given = (rows.true[None, :], rows.predicted[None, :])
        losses = function(*given, multioutput="raw_values", **rows.kwargs)
        return rows.mean(np.asarray(losses, dtype=np.float64))

    return influence


def rooted(function: Function) -> Callable[[Column], Influence]:
    """Return the root of such a mean loss, by the delta method."""

    def influence(rows: Column) -> Influence:
        mean, moved = rowwise(function)(replace(rows, kwargs={}))
        root = float(np.sqrt(mean))
        return root, moved / (2 * root) if root > 0 else np.zeros_like(moved)

    return influence


def skill(left: Influence, whole: Influence) -> Influence:
    """Return one minus a ratio, by the delta method."""
    ratio = left[0] / whole[0]
    return 1.0 - ratio, -((left[1] - ratio * whole[1]) / whole[0])


def not_of_logarithms(values: FloatArray, predictions: FloatArray) -> str:
    """Say what is wrong with values that a logarithm cannot take."""
    if min(float(values.min()), float(predictions.min())) > -1.0:
        return ""
    return (
        "takes logarithms of 1 + y, but found values or predictions of -1 or below: use another "
        "metric."
    )


def not_positive(values: FloatArray, predictions: FloatArray) -> str:
    """Say what is wrong with values that have no deviance."""
    if float(values.min()) >= 0 and float(predictions.min()) > 0:
        return ""
    return (
        "needs targets and predictions above 0: use a model with a logarithmic link "
        "(PoissonRegressor, HistGradientBoostingRegressor(loss='poisson')), or another metric."
    )
