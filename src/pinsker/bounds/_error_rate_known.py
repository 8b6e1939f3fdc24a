"""Error rate when a limit on one of the two errors is known: C3, C4, C5 and Theorem C.

``kept`` is the Bayes error with the kept features, ``full`` the one with all features. Both limits
are upper limits: the bounds grow with them, so that any model's error, made safe, may be given.
"""

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._divergence import (
    divergence,
    least_divergence_error,
    perspective,
    solve_increasing,
    vajda_inverse,
)
from pinsker.bounds._values import Value, like, nats, probability, tolerated


def least_information(full_error: Value, kept_error: Value) -> Value:
    r"""Smallest information loss that can raise the Bayes error from `full` to `kept` (Theorem C).

    .. math::
        \nu \ge \max\{ d(\epsilon \| e), P(\epsilon, e) \}, \qquad
        P(\epsilon, e) = 2 e \, \kappa\!\left(\frac{e - \epsilon}{2 e}\right)

    The second is the larger one while :math:`e \le 1/2`, the first beyond.

    Parameters
    ----------
    full_error, kept_error : float or ndarray
        Bayes errors with all features and with the kept ones; the second is not smaller.

    Returns
    -------
    float or ndarray
        Nats. No joint distribution loses less.

    Notes
    -----
    Valid for any number of classes; attained for every pair with :math:`e \le 1/2`. All bounds on
    the error rate in this package follow from it. Proof: ``docs/bounds.md``, Theorem C.

    Examples
    --------
    >>> round(least_information(0.05, 0.1), 4)
    0.0262
    """
    kept = tolerated(kept_error, most=1.0, name="kept_error")
    full = tolerated(full_error, most=1.0, name="full_error")
    return like(_least(np.maximum(kept - full, 0.0), kept), kept_error)


def kept_error_growth(nu: Value, error_limit: float) -> Value:
    r"""Growth of the error rate when the error with the kept features has a limit (C3).

    .. math:: \Delta \le \min\left( \sqrt{\nu \min(1/2, e_{up})},\; e_{up} \right)

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    error_limit : float
        Upper limit on the Bayes error with the kept features: of the held-out error of any model
        on them, or one minus the largest prior.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate.

    See Also
    --------
    kept_error_budget : the inverse.
    pinsker.bounds.classification_growth : sharper, without a closed form.

    Notes
    -----
    Valid for any number of classes. Proof: ``docs/bounds.md``, C3.

    Examples
    --------
    >>> round(kept_error_growth(0.02, error_limit=0.1), 6)
    0.044721
    """
    limit = probability(error_limit, "error_limit")
    return like(np.minimum(np.sqrt(nats(nu) * min(0.5, limit)), limit), nu)


def kept_error_budget(delta: Value, error_limit: float) -> Value:
    r"""Information that may be lost when the error with the kept features has a limit (C3).

    .. math:: \nu = \delta^2 / \min(1/2, e_{up})

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.
    error_limit : float
        Upper limit on the Bayes error with the kept features.

    Returns
    -------
    float or ndarray
        Nats; infinite if `delta` reaches `error_limit`: the growth cannot exceed the error.

    See Also
    --------
    kept_error_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(kept_error_budget(0.05, error_limit=0.1), 6)
    0.025
    """
    limit = probability(error_limit, "error_limit")
    growth = tolerated(delta, most=1.0)
    with np.errstate(all="ignore"):  # a limit of next to nothing divides to infinity
        paid = growth**2 / min(0.5, limit)
    return like(np.where(growth < limit, paid, np.inf), delta)


def full_error_growth(nu: Value, full_error_limit: float) -> Value:
    r"""Growth of the error rate when the error with all features has a limit (C4).

    .. math:: \Delta \le \nu/2 + \sqrt{\nu \epsilon_{up} + \nu^2/4}

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    full_error_limit : float
        Upper limit on the Bayes error with all features.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate, at most one.

    See Also
    --------
    full_error_budget : the inverse.
    sharp_growth : sharper, without a closed form.

    Notes
    -----
    Valid for any number of classes; linear in `nu` if all features leave no error. Proof:
    ``docs/bounds.md``, C4.

    Examples
    --------
    >>> round(full_error_growth(0.02, full_error_limit=0.05), 4)
    0.0432
    """
    limit = probability(full_error_limit, "full_error_limit")
    lost = np.minimum(nats(nu), 1e3)  # far beyond the cap, and its square stays finite
    return like(np.minimum(lost / 2.0 + np.sqrt(lost * limit + lost**2 / 4.0), 1.0), nu)


def full_error_budget(delta: Value, full_error_limit: float) -> Value:
    r"""Information that may be lost when the error with all features has a limit (C4).

    .. math:: \nu = \delta^2 / (\epsilon_{up} + \delta)

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.
    full_error_limit : float
        Upper limit on the Bayes error with all features.

    Returns
    -------
    float or ndarray
        Nats; infinite for ``delta = 1``.

    See Also
    --------
    full_error_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(full_error_budget(0.05, full_error_limit=0.05), 6)
    0.025
    """
    limit = probability(full_error_limit, "full_error_limit")
    growth = tolerated(delta, most=1.0)
    paid = growth**2 / np.maximum(limit + growth, np.finfo(float).tiny)
    return like(np.where(growth < 1.0, paid, np.inf), delta)


def sharp_growth(nu: Value, full_error_limit: float) -> Value:
    r"""Growth of the error rate when the error with all features has a limit, sharp (C5).

    The largest :math:`e - \epsilon` with :math:`\epsilon \le \epsilon_{up}` that
    :func:`least_information` allows for `nu`.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    full_error_limit : float
        Upper limit on the Bayes error with all features.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal error rate.

    See Also
    --------
    sharp_budget : the inverse.

    Notes
    -----
    Valid for any number of classes; attained while the error stays at most 1/2. Proof:
    ``docs/bounds.md``, C5.

    Examples
    --------
    >>> round(sharp_growth(0.02, full_error_limit=0.05), 4)
    0.0421
    >>> round(sharp_growth(0.02, full_error_limit=0.0), 4)
    0.0144
    """
    limit = probability(full_error_limit, "full_error_limit")
    return like(largest_growth(nats(nu), 1.0, limit), nu)


def sharp_budget(delta: Value, full_error_limit: float) -> Value:
    """Information that may be lost when the error with all features has a limit, sharp (C5).

    Parameters
    ----------
    delta : float or ndarray
        Growth of the error rate that is accepted, from 0 to 1.
    full_error_limit : float
        Upper limit on the Bayes error with all features.

    Returns
    -------
    float or ndarray
        Nats; infinite for ``delta = 1``.

    See Also
    --------
    sharp_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(sharp_budget(0.05, full_error_limit=0.05), 4)
    0.0262
    """
    limit = probability(full_error_limit, "full_error_limit")
    return like(smallest_information(tolerated(delta, most=1.0), 1.0, limit), delta)


def smallest_information(growth: FloatArray, kept_limit: float, full_limit: float) -> FloatArray:
    """Least `nu` that can cause `growth` within both limits; infinite if none can exceed it.

    For a given growth the least information falls as the kept error rises, up to the error e*
    of least divergence: it is reached at the smallest of the limits and e*.
    """
    tiny = np.finfo(float).tiny
    inside = np.clip(growth, tiny, 1.0 - 1e-16)
    kept = np.minimum(kept_limit, inside + full_limit)
    if np.any(kept > 0.5):
        kept = np.minimum(kept, least_divergence_error(inside))
    value = _least(inside, np.maximum(kept, inside))
    return np.where(growth >= kept_limit, np.inf, np.where(growth > 0.0, value, 0.0))


def largest_growth(nu: FloatArray, kept_limit: float, full_limit: float) -> FloatArray:
    """Inverse of `smallest_information`: the largest growth that `nu` allows within the limits."""
    if kept_limit == 0.0:
        return np.zeros_like(nu)

    def least_at_limit(growth: FloatArray) -> FloatArray:
        return _least(growth, np.maximum(np.minimum(kept_limit, growth + full_limit), growth))

    high = np.full_like(nu, kept_limit)
    low = 1e-9 * kept_limit * np.minimum(nu, 1.0)  # the growth is of order nu at the very least
    bound = solve_increasing(least_at_limit, nu, low, high)
    if kept_limit > 0.5:  # e* is above 1/2: it may be within the limits
        free, free_error = vajda_inverse(nu)
        inside = free_error <= np.minimum(kept_limit, free + full_limit)
        bound = np.where(inside, free, bound)
    return np.minimum(bound, kept_limit)


def _least(growth: FloatArray, kept: FloatArray) -> FloatArray:
    """Theorem C in terms of the growth and the kept error."""
    some = np.maximum(kept, np.finfo(float).tiny)
    return np.where(kept <= 0.5, perspective(growth, some), divergence(growth, some))
