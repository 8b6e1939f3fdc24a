"""Squared error of a target with a known range: R1, R2 and their inverses."""

import numpy as np

from pinsker.bounds._divergence import kappa, kappa_inverse
from pinsker.bounds._values import Value, like, nats, positive, tolerated


def range_growth(nu: Value, target_range: float) -> Value:
    r"""Growth of the mean squared error of a target with range R, linear in `nu` (R1).

    .. math:: \Delta \le R^2 \nu / 2

    The paper's regression theorem has :math:`2 B^2 \nu` with :math:`|Y| \le B`; the two agree if
    the range is symmetric about zero, otherwise this one is smaller.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal mean squared error.

    See Also
    --------
    range_budget : the inverse.
    sharp_range_growth : never larger.

    Notes
    -----
    Valid for every target in an interval of length R. The constant 1/2 is the best possible one.
    Proof: ``docs/bounds.md``, R1.

    Examples
    --------
    >>> round(range_growth(0.01, target_range=2.0), 6)
    0.02
    """
    return like(positive(target_range, "target_range") ** 2 * nats(nu) / 2.0, nu)


def range_budget(delta: Value, target_range: float) -> Value:
    r"""Information that may be lost for a growth of `delta` in mean squared error (R1).

    .. math:: \nu = 2 \delta / R^2

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Nats.

    See Also
    --------
    range_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(range_budget(0.02, target_range=2.0), 6)
    0.01
    """
    return like(2.0 * tolerated(delta) / positive(target_range, "target_range") ** 2, delta)


def sharp_range_growth(nu: Value, target_range: float) -> Value:
    r"""Growth of the mean squared error of a target with range R, sharp (R2).

    .. math:: \Delta \le R^2 \left[\kappa^{-1}(\nu)\right]^2, \qquad
              \kappa(t) = \log 2 - h(1/2 + t)

    and :math:`R^2/4` from :math:`\nu = \log 2` on.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Largest growth of the ideal mean squared error.

    See Also
    --------
    sharp_range_budget : the inverse.

    Notes
    -----
    Valid for every target in an interval of length R, attained for every `nu` by a fair coin on
    the two ends. Proof: ``docs/bounds.md``, R2. A closed form above it, by less than
    one per cent up to 0.2 nats, is :math:`R^2 \nu / (1 + \sqrt{1 + 4\nu/3})`.

    Examples
    --------
    >>> round(sharp_range_growth(0.5, target_range=2.0), 6)
    0.816534
    """
    tilt = kappa_inverse(nats(nu))
    return like((positive(target_range, "target_range") * tilt) ** 2, nu)


def sharp_range_budget(delta: Value, target_range: float) -> Value:
    r"""Information that may be lost for a growth of `delta` in mean squared error, sharp (R2).

    .. math:: \nu = \kappa(\sqrt{\delta} / R)

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    target_range : float
        Length of an interval that contains the target.

    Returns
    -------
    float or ndarray
        Nats; infinite from :math:`\delta = R^2/4` on: no variance is larger.

    See Also
    --------
    sharp_range_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(sharp_range_budget(0.02, target_range=2.0), 6)
    0.010034
    """
    tilt = np.sqrt(tolerated(delta)) / positive(target_range, "target_range")
    return like(np.where(tilt < 0.5, kappa(np.minimum(tilt, 0.5)), np.inf), delta)
