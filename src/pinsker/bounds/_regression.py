"""Mean squared error: the sharpest bound that range and variance allow, and its inverse."""

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._range import sharp_range_budget, sharp_range_growth
from pinsker.bounds._values import Value, like, nats, not_negative, one_of, positive, tolerated
from pinsker.exceptions import ParameterError

CONSTANTS = ("sharp", "paper")


def regression_growth(
    nu: Value,
    target_range: float,
    variance: float | None = None,
    constants: str = "sharp",
    *,
    target_bound: float | None = None,
) -> Value:
    r"""Largest growth of the ideal mean squared error when `nu` nats are lost.

    .. math:: \Delta \le \min\left( R^2 [\kappa^{-1}(\nu)]^2,\; \mathrm{Var}(Y) \right)

    With ``constants="paper"`` the printed :math:`2 B^2 \nu` with B = `target_bound`, which uses
    neither the range nor the variance.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, :math:`I(Y; X_A | X_K)`, in nats.
    target_range : float
        R, length of an interval that contains the target. The range of a sample is a lower
        estimate of it; :func:`clipped_regression_growth` is the safe reading.
    variance : float, optional
        Variance of the target, or an upper limit on the error with the kept features.
    constants : {"sharp", "paper"}
        Which bound.
    target_bound : float, optional
        B, the largest :math:`|Y|`; needed for ``constants="paper"``.

    Returns
    -------
    float or ndarray
        Growth of the mean squared error.

    See Also
    --------
    regression_budget : the inverse.
    gaussian_regression_growth : far smaller, for jointly Gaussian data.

    Notes
    -----
    Valid for the conditional mean and exact `nu`. The paper's regression theorem, sharpened:
    ``docs/bounds.md``, R2 and R7.

    Examples
    --------
    >>> round(regression_growth(0.01, target_range=2.0), 6)
    0.019933
    >>> regression_growth(3.0, target_range=2.0, variance=0.3)
    0.3
    >>> round(regression_growth(0.01, 2.0, constants="paper", target_bound=5.0), 6)
    0.5
    """
    if one_of(constants, CONSTANTS, "constants") == "paper":
        return like(2.0 * _bound(target_bound) ** 2 * nats(nu), nu)
    cap = not_negative(variance, "variance")
    grown: FloatArray = np.asarray(sharp_range_growth(nu, target_range))
    return like(np.minimum(grown, cap), nu)


def regression_budget(
    delta: Value,
    target_range: float,
    variance: float | None = None,
    constants: str = "sharp",
    *,
    target_bound: float | None = None,
) -> Value:
    r"""Information that may be lost while the ideal mean squared error grows by at most `delta`.

    The inverse of :func:`regression_growth`, :math:`\kappa(\sqrt\delta / R)`;
    ``constants="paper"`` gives :math:`\delta / (2 B^2)`.

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    target_range : float
        R, length of an interval that contains the target.
    variance : float, optional
        Variance of the target, or an upper limit on the error with the kept features.
    constants : {"sharp", "paper"}
        Which bound.
    target_bound : float, optional
        B, the largest :math:`|Y|`; needed for ``constants="paper"``.

    Returns
    -------
    float or ndarray
        Nats; infinite if `delta` reaches the variance: no loss can exceed it.

    See Also
    --------
    regression_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(regression_budget(0.02, target_range=2.0), 6)
    0.010034
    >>> regression_budget(0.3, target_range=2.0, variance=0.3)
    inf
    >>> round(regression_budget(0.5, 2.0, constants="paper", target_bound=5.0), 6)
    0.01
    """
    growth = tolerated(delta)
    if one_of(constants, CONSTANTS, "constants") == "paper":
        return like(growth / (2.0 * _bound(target_bound) ** 2), delta)
    cap = not_negative(variance, "variance")
    paid: FloatArray = np.asarray(sharp_range_budget(delta, target_range))
    return like(np.where(growth >= cap, np.inf, paid), delta)


def _bound(target_bound: float | None) -> float:
    """B of the paper, which is not a function of the range."""
    if target_bound is None:
        raise ParameterError(
            'constants="paper" needs target_bound, the largest absolute value of the target.'
        )
    return positive(target_bound, "target_bound")
