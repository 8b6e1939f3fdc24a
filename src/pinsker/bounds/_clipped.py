"""Squared error of a heavy-tailed target: clip it, pay for the tail apart (R6)."""

import math

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray
from pinsker.bounds._divergence import kappa, kappa_inverse
from pinsker.bounds._values import Value, like, nats, not_negative, positive, tolerated
from pinsker.exceptions import ParameterError

#: Clip levels per side of the sample; the grid has the square of it.
_LEVELS = 24


def clipped_growth(nu: Value, clip_range: float, tail_deviation: float) -> Value:
    r"""Growth of the mean squared error of a target that is clipped for the bound (R6).

    .. math:: \sqrt\Delta \le R \, \kappa^{-1}(\nu) + s, \qquad
              s^2 = \mathrm{Var}(Y - \mathrm{clip}(Y))

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    clip_range : float
        R, length of the interval to which the target is clipped; zero is allowed.
    tail_deviation : float
        s, standard deviation of what clipping takes away.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal mean squared error.

    See Also
    --------
    clipped_budget : the inverse.
    clipped_regression_growth : the best interval for a sample.

    Notes
    -----
    Valid for every target with a finite variance and every interval; only the *marginal* tail of
    the target enters. Proof: ``docs/bounds.md``, R6.

    Examples
    --------
    >>> round(clipped_growth(0.01, clip_range=2.0, tail_deviation=0.1), 4)
    0.0582
    """
    length, tail = _interval(clip_range, tail_deviation)
    return like((length * kappa_inverse(nats(nu)) + tail) ** 2, nu)


def clipped_budget(delta: Value, clip_range: float, tail_deviation: float) -> Value:
    r"""Information that may be lost by a target that is clipped for the bound (R6).

    .. math:: \nu = \kappa\left( (\sqrt\delta - s) / R \right)

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    clip_range : float
        R, length of the interval to which the target is clipped.
    tail_deviation : float
        s, standard deviation of what clipping takes away.

    Returns
    -------
    float or ndarray
        Nats; zero if the tail alone may cost `delta`.

    See Also
    --------
    clipped_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(clipped_budget(0.0582, clip_range=2.0, tail_deviation=0.1), 3)
    0.01
    >>> clipped_budget(0.005, clip_range=2.0, tail_deviation=0.1)
    0.0
    """
    length, tail = _interval(clip_range, tail_deviation)
    spare = np.maximum(np.sqrt(tolerated(delta)) - tail, 0.0)
    if length == 0.0:
        return like(np.where(spare > 0.0, np.inf, 0.0), delta)
    paid = kappa(np.minimum(spare / length, 0.5))
    return like(np.where(spare < length / 2.0, paid, np.inf), delta)


def clipped_regression_growth(nu: Value, target: npt.ArrayLike) -> Value:
    """Growth of the mean squared error, with the best clip interval for a sample (R6).

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    target : array-like of shape (n_rows,)
        The target. Its sample stands for its law: the tail beyond the sample is not seen.

    Returns
    -------
    float or ndarray
        Smallest :func:`clipped_growth` over a grid of intervals; at most the variance.

    See Also
    --------
    clipped_regression_budget : the inverse.

    Notes
    -----
    Every interval gives a valid bound, so that the smallest of them is valid; the whole range of
    the sample (R2) and a single point (the variance) are among them.

    Examples
    --------
    >>> import numpy as np
    >>> heavy = np.random.default_rng(0).standard_t(3, size=2000)
    >>> round(clipped_regression_growth(0.01, heavy), 2)
    0.92
    >>> round(float(np.ptp(heavy)) ** 2 * 0.01 / 2, 2)  # R1, with the whole range
    1.86
    """
    lost = nats(nu)
    lengths, tails = clip_frontier(target)
    tilt = kappa_inverse(lost)[..., np.newaxis]
    return like(((lengths * tilt + tails) ** 2).min(axis=-1), nu)


def clipped_regression_budget(delta: Value, target: npt.ArrayLike) -> Value:
    """Information that may be lost, with the best clip interval for a sample (R6).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    target : array-like of shape (n_rows,)
        The target.

    Returns
    -------
    float or ndarray
        Nats; infinite from the sample's variance on.

    See Also
    --------
    clipped_regression_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(clipped_regression_budget(0.02, [0.0, 2.0, 0.0, 2.0]), 6)
    0.010034
    """
    accepted = tolerated(delta)
    lengths, tails = clip_frontier(target)
    spare = np.maximum(np.sqrt(accepted)[..., np.newaxis] - tails, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tilt = np.where(spare > 0.0, spare / lengths, 0.0)
    paid = np.where(tilt < 0.5, kappa(np.minimum(tilt, 0.5)), np.inf)
    variance = float(np.var(np.asarray(target, dtype=np.float64)))
    return like(np.where(accepted >= variance, np.inf, paid.max(axis=-1)), delta)


def clip_frontier(target: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Clip ranges and tail deviations of a grid of intervals, without the dominated ones."""
    y = np.asarray(target, dtype=np.float64)
    if y.ndim != 1 or y.size < 2 or not np.isfinite(y).all():
        raise ParameterError(
            f"target must be one column of at least two finite numbers, got shape {y.shape}."
        )
    shares = np.append(0.0, np.geomspace(1.0 / y.size, 0.5, _LEVELS - 1))
    lows, highs = np.quantile(y, shares), np.quantile(y, 1.0 - shares)
    below = np.array([_tail_moments(np.minimum(y - low, 0.0)) for low in lows])
    above = np.array([_tail_moments(np.maximum(y - high, 0.0)) for high in highs])
    mean = below[:, np.newaxis, 0] + above[np.newaxis, :, 0]
    square = below[:, np.newaxis, 1] + above[np.newaxis, :, 1]
    tails = np.sqrt(np.maximum(square - mean**2, 0.0)).ravel()
    lengths = (highs[np.newaxis, :] - lows[:, np.newaxis]).ravel()
    order = np.lexsort((tails, lengths))
    lengths, tails = lengths[order], tails[order]
    better = np.append(True, tails[1:] < np.minimum.accumulate(tails)[:-1])
    return lengths[better], tails[better]


def _tail_moments(tail: FloatArray) -> tuple[float, float]:
    """Mean and mean square of one tail; the two tails never overlap, so that both add up."""
    return float(tail.mean()), float(np.mean(tail * tail))


def _interval(clip_range: float, tail_deviation: float) -> tuple[float, float]:
    """Check an interval; a range of zero keeps the target at a point."""
    length = not_negative(clip_range, "clip_range")
    tail = not_negative(tail_deviation, "tail_deviation")
    if math.isinf(length):
        positive(length, "clip_range")
    return length, tail
