"""How many rows show that an increase is within a budget, and what budget rows can show."""

import math
from functools import partial

import numpy as np
from scipy.special import ndtri

from pinsker.bounds._limits import limits_of_one_sign, limits_of_steps, wider
from pinsker.exceptions import ParameterError

#: More rows than this are not told apart from none that would do.
_MOST_ROWS = 1e12


def rows_needed(
    variance: float,
    budget: float,
    expected: float = 0.0,
    *,
    counts: bool = False,
    confidence: float = 0.95,
    power: float = 0.8,
    widening: float = 1.0,
) -> float:
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
    variance: float,
    n_rows: float,
    expected: float = 0.0,
    *,
    counts: bool = False,
    confidence: float = 0.95,
    power: float = 0.8,
    widening: float = 1.0,
) -> float:
    """Return the smallest budget that this many rows show to be met: `rows_needed` inverted."""
    _check(variance, confidence, power)
    quantile = float(ndtri(power))
    spread = widening * math.sqrt(variance / n_rows)
    normal = expected + (float(ndtri(confidence)) + quantile) * spread
    if not counts:
        return normal
    return max(normal, _count_limit(variance, n_rows, expected, quantile, confidence))


def _count_limit(
    variance: float, n_rows: float, expected: float, quantile: float, confidence: float
) -> float:
    """Return the limit of counts where chance adds some standard errors to the difference."""
    differ = n_rows * min(max(variance + expected**2, abs(expected)), 1.0)
    excess = n_rows * expected + quantile * math.sqrt(n_rows * variance)
    better = max((differ - excess) / 2.0, 0.0)
    worse = min(better + max(excess, 0.0), n_rows)
    values, rows = np.array([1.0, -1.0]), np.array([worse, better])
    mean, zeros = (worse - better) / n_rows, max(n_rows - worse - better, 0.0)
    values, rows = np.append(values, 0.0), np.append(rows, zeros)
    found = limits_of_steps(mean, values, rows, np.array([-1.0, 1.0]), confidence)
    return wider(found, limits_of_one_sign(mean, values, rows, confidence)).upper


def _check(variance: float, confidence: float, power: float) -> None:
    if not variance >= 0.0:
        raise ParameterError(f"variance must be at least zero, got {variance!r}.")
    for name, value in (("confidence", confidence), ("power", power)):
        if not 0.5 <= value < 1.0:
            raise ParameterError(f"{name} must be at least 0.5 and below 1, got {value!r}.")
