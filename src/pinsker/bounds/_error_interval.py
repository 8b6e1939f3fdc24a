"""The error that a conditional entropy leaves possible: I1 to I3 for classes, R9 for numbers."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from pinsker._types import FloatArray
from pinsker.bounds._bound import LOG2, Value, class_count, increases, like, nats, solve_increasing
from pinsker.exceptions import ParameterError

#: Entropies at most this far above their largest value are that value, rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ErrorInterval:
    """Bayes error rates that a conditional entropy leaves possible (I1 to I3).

    Attributes
    ----------
    lower, upper : float
        Error rates: no classifier errs less often than `lower`, and the Bayes classifier errs at
        most as often as `upper`.

    Examples
    --------
    >>> interval = ErrorInterval.from_entropy(0.5, n_classes=2, largest_prior=0.7)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.1997, 0.3)
    """

    lower: float
    upper: float

    @classmethod
    def from_entropy(
        cls, conditional_entropy: float, n_classes: int, largest_prior: float | None = None
    ) -> "ErrorInterval":
        """Return the interval that holds the Bayes error rate (``docs/bounds.md``, I1 to I3).

        Parameters
        ----------
        conditional_entropy : float
            :math:`H(Y | X_K) = H(Y) - I(Y; X_K)` in nats.
        n_classes : int
            Number of classes.
        largest_prior : float, optional
            Probability of the most frequent class.

        Returns
        -------
        ErrorInterval
            From Fano's bound to the smaller of :func:`feder_merhav_error` and 1 - `largest_prior`.
        """
        count = class_count(n_classes)
        prior = 1.0 / count if largest_prior is None else largest_prior
        if not 1.0 / count - _ROUNDING <= prior <= 1.0 + _ROUNDING:
            raise ParameterError(
                f"largest_prior must lie between 1/{n_classes} and 1, got {prior:g}."
            )
        majority_error = min(max(1.0 - prior, 0.0), 1.0 - 1.0 / count)
        most = float(_fano_entropy(np.asarray(majority_error), count))
        if conditional_entropy > most + _ROUNDING:
            raise ParameterError(
                f"conditional_entropy={conditional_entropy:g} is above {most:g} nats, the largest "
                f"entropy of {n_classes} classes with a largest prior of {prior:g}."
            )
        entropy = min(conditional_entropy, most)
        lower, upper = fano_error(entropy, n_classes), feder_merhav_error(entropy)
        return cls(min(lower, majority_error), min(upper, majority_error))


def fano_error(conditional_entropy: Value, n_classes: int) -> Value:
    r"""Least error rate that a conditional entropy leaves possible (I1, Fano).

    The root e in :math:`[0, 1 - 1/m]` of

    .. math:: h(e) + e \log(m - 1) = H(Y | X_K)

    in nats, with m = `n_classes`; attained for every entropy. Proof: ``docs/bounds.md``, I1.

    Examples
    --------
    >>> round(fano_error(0.325083, n_classes=2), 4)
    0.1
    """
    count = class_count(n_classes)
    entropy = nats(conditional_entropy, "conditional_entropy")
    if np.any(entropy > math.log(count) + _ROUNDING):
        raise ParameterError(
            f"conditional_entropy must be at most log({n_classes}) = {math.log(count):g} nats, "
            f"got {float(entropy.max()):g}."
        )
    high = np.full_like(entropy, 1.0 - 1.0 / count)
    low = np.minimum(1e-6 * entropy**2, high)
    root = solve_increasing(lambda e: _fano_entropy(e, count), entropy, low, high)
    return like(root, conditional_entropy)


def feder_merhav_error(conditional_entropy: Value) -> Value:
    r"""Largest Bayes error rate that a conditional entropy leaves possible (I2, Feder and Merhav).

    Linear between the entropies of uniform distributions: for :math:`\log k \le H \le \log(k+1)`

    .. math:: e \le \frac{k-1}{k} + \frac{H - \log k}{k (k+1) \log(1 + 1/k)}

    Valid for any number of classes, attained for every entropy. Proof: ``docs/bounds.md``, I2.

    Examples
    --------
    >>> feder_merhav_error(np.log([1, 2, 4])).round(6).tolist()
    [0.0, 0.5, 0.75]
    """
    entropy = nats(conditional_entropy, "conditional_entropy")
    k = np.maximum(np.floor(np.exp(np.minimum(entropy, 30.0))), 1.0)
    within = (entropy - np.log(k)) / (k * (k + 1.0) * np.log1p(1.0 / k))
    return like(np.where(entropy < 30.0, (k - 1.0) / k + within, 1.0), conditional_entropy)


def hellman_raviv_error(conditional_entropy: Value) -> Value:
    r"""Largest Bayes error rate by the line of Hellman and Raviv (I3).

    .. math:: e \le H(Y | X_K) / (2 \log 2)

    Valid for any number of classes, never below I2. Proof: ``docs/bounds.md``, I3.

    Examples
    --------
    >>> round(hellman_raviv_error(0.2), 6)
    0.14427
    """
    entropy = nats(conditional_entropy, "conditional_entropy")
    return like(np.minimum(entropy / (2.0 * LOG2), 1.0), conditional_entropy)


def entropy_power(conditional_entropy: Value) -> Value:
    r"""Least mean squared error that a conditional entropy leaves possible (R9).

    .. math:: \sigma^2_K \ge \frac{e^{2 h(Y | X_K)}}{2 \pi e}

    Valid if the target has a density; :math:`h(Y | X_K) = h(Y) - I(Y; X_K)` in nats may be
    negative. Proof: ``docs/bounds.md``, R9.

    Examples
    --------
    >>> round(entropy_power(1.4189385), 6)
    1.0
    """
    entropy = np.asarray(conditional_entropy, dtype=np.float64)
    return like(np.exp(2.0 * entropy - 1.0) / (2.0 * math.pi), conditional_entropy)


def largest_entropy(mean_squared_error: Value) -> Value:
    r"""Largest conditional entropy that a mean squared error leaves possible (R9).

    .. math:: h(Y | X_K) \le \tfrac12 \log(2 \pi e \, \sigma^2_K)

    The inverse of :func:`entropy_power`.

    Examples
    --------
    >>> round(largest_entropy(1.0), 6)
    1.418939
    """
    error = increases(mean_squared_error, name="mean_squared_error")
    with np.errstate(divide="ignore"):
        return like(0.5 * (np.log(2.0 * math.pi * error) + 1.0), mean_squared_error)


def _fano_entropy(error: FloatArray, count: float) -> FloatArray:
    """Largest entropy of `count` classes of which the likeliest has ``1 - error``."""
    return entr(error) + entr(1.0 - error) + error * math.log(count - 1.0)
