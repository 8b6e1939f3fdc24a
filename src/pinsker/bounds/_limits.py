"""Confidence limits of what was measured on a sample, and how many rows a budget needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit  # scipy.stats takes 20 times as long

from pinsker._types import FloatArray, IntArray, Unchecked
from pinsker.exceptions import ParameterError

#: The mean rests on few rows where the 1 % with the largest influence carry more of its sum of
#: squares than this. Of numbers, whose noise makes products of tame factors look so, that limit is
#: the second, and the third one is for what predictions differ by: a column of few large values.
_FEW_ROWS_SHARE, _OF_NUMBERS, _OF_PREDICTIONS = 0.35, 0.5, 0.2
#: A class of fewer rows is too small for a certificate.
_FEW_PER_CLASS = 20
#: What zero-one losses of one row can differ by.
_ONE_ROW: FloatArray = np.array([-1.0, 1.0])


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, with a one-sided confidence limit on either side.

    Examples
    --------
    >>> Difference(0.01, -0.02, 0.04).upper
    0.04
    """

    mean: float
    lower: float
    upper: float


def paired_difference(
    differences: FloatArray, confidence: float = 0.95, *, counts: bool = False,
    steps: FloatArray | None = None, clusters: IntArray | None = None,
    weights: FloatArray | None = None, widening: float = 1.0,
) -> Difference:  # fmt: skip
    r"""Limit the mean of paired differences from either side.

    .. math:: \bar d \pm t_{n-1,\,1-\alpha}\, s_d / \sqrt n

    or Hall's limits (1992), which correct for the skewness of the differences, where those are
    farther from the mean. With ``counts=True`` the differences are those of zero-one losses: half a
    row is added to each of the four cells of the paired table (Agresti and Min 2005), and the limit
    is never nearer than that of Clopper and Pearson for the rows of one sign. How often they fail:
    ``benchmarks/limits.py``.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One per row.
    confidence : float
        Of each limit by itself.
    counts : bool
        Whether the differences are -1, 0 and 1, or means of such values over repeats or targets.
    steps : ndarray, optional
        The values beside zero that a difference can take, if they are few (those of a cost
        matrix): half a row is added for each, as rare ones may be missing from the sample.
    clusters : ndarray of shape (n,), int, optional
        Which rows belong together, and may depend on each other in any way.
    weights : ndarray of shape (n,), optional
        Weights that are in the differences already: their plain mean is the weighted one.
    widening : float
        Factor of the t and Hall half-widths (of counts: of the t half-width) where folds share the
        rows that models are fitted to: the model's own.

    Examples
    --------
    >>> zero = paired_difference(np.zeros(100), counts=True)
    >>> zero.mean, round(zero.upper, 4)
    (0.0, 0.0295)
    """
    _check_confidence(confidence)
    n = len(differences)
    mean = float(np.mean(differences))
    own, effect = None, 1.0
    if clusters is not None:
        sums = cluster_sums(differences - mean, clusters)
        # The mean of the sums is zero; scaled so that their mean has the spread of the rows' mean.
        own = _skewed_limits(mean, sums * (len(sums) / n), confidence, widening)
        # Rows of clusters that are worth one which stands alone (Korn, Graubard 1998), of one more
        # row that differs as all of its cluster do: where none differs, a cluster is one row.
        sizes, away = cluster_sums(np.ones(n), clusters), differences - mean
        size = float(sizes @ sizes) / n
        effect = max(1.0, (float(sums @ sums) + size) / (float(away @ away) + 1.0))
    if n < 2:
        return Difference(mean, float("-inf"), float("inf"))
    if counts:
        steps = _ONE_ROW
    if steps is None or not len(steps):
        return own or _skewed_limits(mean, differences - mean, confidence, widening)
    rows = np.ones(n) if weights is None else weights
    values = differences
    if weights is not None:  # undo what `weighted_rows` did
        values = mean + (differences - mean) * (weights.mean() / weights)
    rows = rows * (effective_rows(rows) / (effect * rows.sum()))
    found = limits_of_steps(mean, values, rows, steps, confidence)
    if counts:
        found = wider(found, limits_of_one_sign(mean, values, rows, confidence))
    if own is not None:
        found = wider(found, own)
    if weights is not None:
        return wider(found, _skewed_limits(mean, differences - mean, confidence, widening))
    if widening == 1.0:
        return found
    # Hall's limit explodes where few rows differ; of those the limits above know.
    half = widening * float(stdtrit(n - 1, confidence) * differences.std(ddof=1) / np.sqrt(n))
    return wider(found, Difference(mean, mean - half, mean + half))


def paired_differences(
    several: Sequence[FloatArray], confidence: float, **how: Unchecked
) -> list[Difference]:
    """Limit the means of several differences of the same rows, each as `paired_difference` does."""
    return [paired_difference(one, confidence, **how) for one in several]


def wider(one: Difference, other: Difference) -> Difference:
    """Return the farther of two limits on either side."""
    return Difference(one.mean, min(one.lower, other.lower), max(one.upper, other.upper))


def effective_rows(weights: FloatArray) -> float:
    """Return how many rows of equal weight weighted rows are worth (Kish)."""
    return float(weights.sum() ** 2 / (weights @ weights))


def cluster_sums(values: FloatArray, clusters: IntArray) -> FloatArray:
    which = np.unique(clusters, return_inverse=True)[1]
    return np.asarray(np.bincount(which, weights=values), dtype=np.float64)


#: Hall's cubic runs away where skewness times the quantile is large: three rows of 398, all worse,
#: got a limit of .066 at 99.8 %, Clopper and Pearson's exact one is .030. Up to here both agree.
_MOST_SKEWED = 0.5


def limits_of_steps(
    mean: float, values: FloatArray, rows: FloatArray, steps: FloatArray, confidence: float
) -> Difference:
    """Return the limits of differences of few values, with some more rows of each and of zero."""
    each = min(0.5, 2.0 / len(steps))
    own, zeros = float(rows.sum()), each * len(steps)
    total = own + 2.0 * zeros
    values = np.append(values, steps)
    rows = np.append(rows, np.full(len(steps), each))
    centre = float(rows @ values) / total
    away = values - centre
    second = float(rows @ away**2 + zeros * centre**2) / total
    third = float(rows @ away**3 - zeros * centre**3) / total
    error = float(np.sqrt(second / (total - 1.0)))
    quantile = float(stdtrit(max(own - 1.0, 1.0), confidence))
    skewness = third / second**1.5
    if steps is _ONE_ROW and abs(skewness) * quantile > _MOST_SKEWED * math.sqrt(total):
        skewness = 0.0  # `limits_of_one_sign` knows how few rows differ
    below, above = _hall(quantile, skewness, total)
    return Difference(mean, min(centre - below * error, mean), max(centre + above * error, mean))


def limits_of_one_sign(
    mean: float, values: FloatArray, rows: FloatArray, confidence: float
) -> Difference:
    """Return Clopper and Pearson's limits of the rows of one sign, less those of the other."""
    n = float(rows.sum())
    worse, better = (float(rows @ np.maximum(side, 0.0)) for side in (values, -values))
    most_worse, most_better = (
        float(betaincinv(count + 1.0, max(n - count, 0.5), confidence)) for count in (worse, better)
    )
    return Difference(mean, (worse / n) - most_better, most_worse - better / n)


def _skewed_limits(
    mean: float, centred: FloatArray, confidence: float, widening: float = 1.0
) -> Difference:
    """Return the wider of the t limits and Hall's limits, from centred values."""
    n = len(centred)
    if n < 2:
        return Difference(mean, float("-inf"), float("inf"))
    squares = centred * centred
    third = float(np.mean(squares * centred))  # centred**3 is 20 times slower
    return _limits_of_spread(n, mean, float(squares.mean()), third, confidence, widening)


def _limits_of_spread(
    n: int, mean: float, second: float, third: float, confidence: float, widening: float = 1.0
) -> Difference:
    quantile = float(stdtrit(n - 1, confidence))
    if second <= 0.0:
        return Difference(mean, mean, mean)
    error = widening * float(np.sqrt(second / (n - 1)))
    below, above = _hall(quantile, third / second**1.5, n)
    return Difference(mean, mean - below * error, mean + above * error)


def limits_of_moments(
    n: int, mean: float, square: float, cube: float, confidence: float
) -> Difference:
    second = max(square - mean**2, 0.0)
    third = cube - 3.0 * mean * square + 2.0 * mean**3
    return _limits_of_spread(n, mean, second, third, confidence)


def limits_of_counts(n: float, worse: float, better: float, confidence: float) -> Difference:
    """Return the limits of differences of zero-one losses, of which this many are not zero."""
    values = np.array([1.0, -1.0, 0.0])
    rows = np.array([worse, better, max(n - worse - better, 0.0)])
    mean = (worse - better) / n
    found = limits_of_steps(mean, values, rows, _ONE_ROW, confidence)
    return wider(found, limits_of_one_sign(mean, values, rows, confidence))


def _hall(quantile: float, skewness: float, n: float) -> tuple[float, float]:
    """Return the t statistics on either side that Hall's cubic takes to a quantile, or itself."""
    a = skewness / np.sqrt(n)
    if abs(a) < 1e-6:
        return quantile, quantile
    low, high = (
        float(3.0 / a * (np.cbrt(1.0 + a * (q - a / 6.0)) - 1.0)) for q in (-quantile, quantile)
    )
    return max(quantile, high), max(quantile, -low)


def few_rows_decide(influence: FloatArray, moved: FloatArray | None = None) -> bool:
    """Return whether a mean rests on few rows, so that no limit of the sample can be trusted."""
    if moved is None:
        return _share_of_few(influence) > _FEW_ROWS_SHARE
    return _share_of_few(influence) > _OF_NUMBERS or _share_of_few(moved) > _OF_PREDICTIONS


def _share_of_few(values: FloatArray) -> float:
    """Return what the hundredth of the rows that are farthest out has of the sum of squares."""
    squares = (values - values.mean()) ** 2
    largest = -(-len(squares) // 100)
    top = np.partition(squares, len(squares) - largest)[-largest:]
    return float(top.sum() / squares.sum()) if squares.any() else 0.0


def few_per_class(labels: IntArray) -> bool:
    counts = np.unique(labels, return_counts=True)[1]
    return bool(counts.min() < _FEW_PER_CLASS)


def fewest_needed(lower: FloatArray, sizes: IntArray, budget: float) -> int:
    """Return the k for which no evaluated set of fewer than k features is within the budget."""
    # Sizes are tested from the smallest on, a size passes when all of its sets do
    # (intersection-union), and the first that does not ends it: the statement has the confidence of
    # one limit.
    open_sizes = np.asarray(sizes)[np.asarray(lower) <= budget]
    if len(open_sizes):
        return int(open_sizes.min())
    return int(np.max(sizes, initial=0)) + 1


def error_rate_limit(n_errors: int, n_rows: int, confidence: float = 0.95) -> float:
    """Return the upper limit of an error rate of independent rows (Clopper, Pearson 1934).

    Examples
    --------
    >>> round(error_rate_limit(0, 59), 3)
    0.05
    """
    _check_confidence(confidence)
    if n_errors >= n_rows:
        return 1.0
    return float(betaincinv(n_errors + 1, n_rows - n_errors, confidence))


def bounded_loss_limit(losses: FloatArray, largest: float, confidence: float = 0.95) -> float:
    r"""Return the empirical Bernstein upper limit of the mean of losses in [0, `largest`].

    .. math:: \bar L + \sqrt{2 s^2 \log(2/\alpha) / n} + 7 L_{max} \log(2/\alpha) / (3(n-1))

    (Maurer, Pontil 2009, Theorem 4).

    Examples
    --------
    >>> round(bounded_loss_limit(np.zeros(101), 1.0), 4)
    0.0861
    """
    _check_confidence(confidence)
    n = len(losses)
    if n < 2:
        return largest
    weight = float(np.log(2.0 / (1.0 - confidence)))
    clipped = np.minimum(losses, largest)
    spread = float(np.sqrt(2.0 * clipped.var(ddof=1) * weight / n))
    return min(float(clipped.mean()) + spread + 7.0 * largest * weight / (3.0 * (n - 1)), largest)


def _check_confidence(confidence: float) -> None:
    if not 0.5 <= confidence < 1.0:
        raise ParameterError(f"confidence must be at least 0.5 and below 1, found {confidence!r}.")


#: Draws of the maximum: its 95 % quantile is then known to about half a hundredth. Directions with
#: less than this of the squares are rounding.
_DRAWS, _ROUNDING = 4000, 1e-12


def simultaneous_confidence(
    differences: FloatArray,
    confidence: float = 0.95,
    *,
    clusters: IntArray | None = None,
    seed: int = 0,
) -> float:
    r"""Return the confidence of each limit that makes the limits of all columns hold at once.

    .. math:: P\Bigl(\max_j \frac{\bar d_j - \mu_j}{s_j / \sqrt n} \le c\Bigr) = 1 - \alpha

    is solved for c with a multiplier bootstrap (Chernozhukov, Chetverikov, Kato 2013): the maximum
    is that of a normal vector with the correlations of the differences, which is what is drawn.

    Parameters
    ----------
    differences : ndarray of shape (n_rows, n_sets)
        Paired differences, a column for every set.
    confidence : float
        Of all limits together.
    clusters : ndarray of shape (n_rows,), int, optional
        Which rows belong together.
    seed : int
        Of the draws.

    Returns
    -------
    float
        From `confidence` to ``1 - (1 - confidence) / n_sets`` (Bonferroni).

    Examples
    --------
    >>> independent = np.random.default_rng(0).normal(size=(500, 4))
    >>> round(simultaneous_confidence(independent), 2), 1 - 0.05 / 4
    (0.99, 0.9875)
    """
    _check_confidence(confidence)
    centred = differences - differences.mean(axis=0)
    if clusters is not None:
        columns = [cluster_sums(column, clusters) for column in centred.T]
        centred = np.column_stack(columns) if columns else centred
    spread = np.sqrt(np.sum(centred**2, axis=0))
    varying = spread > 0.0
    n_sets = int(varying.sum())
    if n_sets < 2 or len(centred) < 3:
        return confidence
    unit = centred[:, varying] / spread[varying]
    values, vectors = np.linalg.eigh(unit.T @ unit)
    # The symmetric root, without what is rounding: the same to the last digits for any BLAS.
    values = np.where(values > _ROUNDING * n_sets, values, 0.0)
    root = (vectors * np.sqrt(values)) @ vectors.T
    drawn = np.random.default_rng(seed).normal(size=(_DRAWS, n_sets)) @ root
    # The rank of the normal maximum, so that one set alone keeps its confidence exactly.
    largest = float(np.quantile(drawn.max(axis=1), confidence))
    normal_limit = float(ndtr(largest))
    return min(max(normal_limit, confidence), 1.0 - (1.0 - confidence) / n_sets)


#: More rows than this are not told apart from none that would do.
_MOST_ROWS = 1e12


def rows_needed(
    variance: float, budget: float, expected: float = 0.0, *, counts: bool = False,
    confidence: float = 0.95, power: float = 0.8, widening: float = 1.0,
) -> float:  # fmt: skip
    """Return how many held-out rows show with some probability that a budget is met."""
    # n = w^2 (z_confidence + z_power)^2 v / (b - expected)^2; of zero-one losses at least as many
    # that the limits of counts, of a sample as unlucky as one in five, are within the budget.
    _check(variance, confidence, power)
    if budget <= max(expected, 0.0):
        return math.inf
    shown = partial(
        smallest_budget, variance, expected=expected, counts=counts, confidence=confidence,
        power=power, widening=widening,
    )  # fmt: skip
    low, high = 1.0, 2.0
    while shown(high) > budget:
        low, high = high, 2.0 * high
        if high > _MOST_ROWS:
            return math.inf
    while high - low > 1.0:
        middle = float(math.ceil((low + high) / 2.0))
        met = shown(middle) <= budget
        low, high = (low, middle) if met else (middle, high)
    return high


def smallest_budget(
    variance: float, n_rows: float, expected: float = 0.0, *, counts: bool = False,
    confidence: float = 0.95, power: float = 0.8, widening: float = 1.0,
) -> float:  # fmt: skip
    """Return the smallest budget that this many rows show to be met: `rows_needed` inverted."""
    _check(variance, confidence, power)
    quantile = float(ndtri(power))
    spread = widening * math.sqrt(variance / n_rows)
    normal = expected + (float(ndtri(confidence)) + quantile) * spread
    if not counts:
        return normal
    # Of counts: the limit where chance adds some standard errors to the difference.
    differ = n_rows * min(max(variance + expected**2, abs(expected)), 1.0)
    excess = n_rows * expected + quantile * math.sqrt(n_rows * variance)
    better = max((differ - excess) / 2.0, 0.0)
    worse = min(better + max(excess, 0.0), n_rows)
    return max(normal, limits_of_counts(n_rows, worse, better, confidence).upper)


def _check(variance: float, confidence: float, power: float) -> None:
    if not variance >= 0.0:
        raise ParameterError(f"variance must be at least zero, got {variance!r}.")
    for name, value in (("confidence", confidence), ("power", power)):
        if not 0.5 <= value < 1.0:
            raise ParameterError(f"{name} must be at least 0.5 and below 1, got {value!r}.")


# ------------------------------------------------------------------ rows in order of time

#: Blocks at least and at most, and the independent rows that a block is worth.
_FEWEST_BLOCKS, _MOST_BLOCKS, _ROWS_PER_BLOCK = 10, 30, 20
#: Below this many independent rows limits of blocks were wrong in up to 9 %.
_FEWEST_IN_TIME = 200
#: A larger autocorrelation is not told apart from a trend.
_LARGEST_LAG = 0.99


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
    r = min(largest + (1.0 + 3.0 * largest) / n, _LARGEST_LAG)
    n_effective = n * (1.0 - r) / (1.0 + r)
    n_blocks = int(np.clip(n_effective / _ROWS_PER_BLOCK, _FEWEST_BLOCKS, _MOST_BLOCKS))
    clusters = np.arange(n, dtype=np.int64) * min(n_blocks, n) // n
    return SerialBlocks(clusters, largest, n_effective, bool(n_effective >= _FEWEST_IN_TIME))
