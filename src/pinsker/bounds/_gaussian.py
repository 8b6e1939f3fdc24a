"""Jointly Gaussian data: the growth of squared error is an identity (R8); the entropy power (R9).

Nothing here holds for other laws. Callers that use it say so ("gaussian").
"""

import math

import numpy as np

from pinsker.bounds._values import Value, like, nats, not_negative, positive, tolerated


def gaussian_regression_growth(
    nu: Value, variance: float, full_error_limit: float | None = None
) -> Value:
    r"""Growth of the mean squared error of jointly Gaussian data (R8).

    .. math::
        \sigma^2_K = \sigma^2 e^{2\nu}, \qquad
        \Delta = \sigma^2_K (1 - e^{-2\nu}) = \sigma^2 (e^{2\nu} - 1)

    An equality; limits on either error are put in where the error is not known.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    variance : float
        Upper limit on :math:`\sigma^2_K`, the error with the kept features: the variance of the
        target, or better.
    full_error_limit : float, optional
        Upper limit on :math:`\sigma^2`, the error with all features.

    Returns
    -------
    float or ndarray
        Growth of the mean squared error, at most `variance`.

    See Also
    --------
    gaussian_regression_budget : the inverse.

    Notes
    -----
    Valid only if target and features are jointly Gaussian, or, with errors of linear models
    throughout, for ``nu = log(MSE_K / MSE) / 2`` of those. Proof: ``docs/bounds.md``, R8.

    Examples
    --------
    >>> round(gaussian_regression_growth(0.01, variance=1.0), 6)
    0.019801
    >>> round(gaussian_regression_growth(0.01, variance=1.0, full_error_limit=0.1), 6)
    0.00202
    """
    lost = nats(nu)
    grown = positive(variance, "variance") * -np.expm1(-2.0 * lost)
    if full_error_limit is not None:
        full = not_negative(full_error_limit, "full_error_limit")
        with np.errstate(over="ignore", invalid="ignore"):
            # exp(2 nu) - 1 as a product: it overflows where the other form is smaller anyway.
            other = full * np.exp(lost) * 2.0 * np.sinh(lost)
        grown = np.minimum(grown, other) if full > 0.0 else np.zeros_like(grown)
    return like(grown, nu)


def gaussian_regression_budget(
    delta: Value, variance: float, full_error_limit: float | None = None
) -> Value:
    r"""Information that jointly Gaussian data may lose for a growth of `delta` (R8).

    .. math:: \nu = \max\left\{ -\tfrac12 \log(1 - \delta/\sigma^2_K),\;
              \tfrac12 \log(1 + \delta/\sigma^2) \right\}

    Parameters
    ----------
    delta : float or ndarray
        Growth of the mean squared error that is accepted.
    variance : float
        Upper limit on the error with the kept features: the variance of the target, or better.
    full_error_limit : float, optional
        Upper limit on the error with all features.

    Returns
    -------
    float or ndarray
        Nats; infinite if `delta` reaches `variance`.

    See Also
    --------
    gaussian_regression_growth : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(gaussian_regression_budget(0.05, variance=1.0), 6)
    0.025647
    """
    growth = tolerated(delta)
    share = growth / positive(variance, "variance")
    paid = np.where(share < 1.0, -0.5 * np.log1p(-np.minimum(share, 1.0 - 1e-16)), np.inf)
    if full_error_limit is not None:
        full = not_negative(full_error_limit, "full_error_limit")
        with np.errstate(all="ignore"):  # an error of next to nothing divides to infinity
            other = np.where(growth > 0.0, 0.5 * np.log1p(growth / full), 0.0)
        paid = np.maximum(paid, other)
    return like(paid, delta)


def entropy_power(conditional_entropy: Value) -> Value:
    r"""Least mean squared error that a conditional entropy leaves possible (R9).

    .. math:: \sigma^2_K \ge \frac{e^{2 h(Y | X_K)}}{2 \pi e}

    For regression what Fano's inequality is for classes.

    Parameters
    ----------
    conditional_entropy : float or ndarray
        Differential entropy :math:`h(Y | X_K) = h(Y) - I(Y; X_K)` in nats; may be negative.

    Returns
    -------
    float or ndarray
        Mean squared error below which no predictor gets, in squared units of the target.

    See Also
    --------
    largest_entropy : the inverse.

    Notes
    -----
    Valid if the target has a density; equality for Gaussian residuals of constant variance. Proof:
    ``docs/bounds.md``, R9.

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

    Parameters
    ----------
    mean_squared_error : float or ndarray
        Mean squared error of any predictor on the kept features.

    Returns
    -------
    float or ndarray
        Nats.

    See Also
    --------
    entropy_power : the inverse; formula, validity and proof are given there.

    Examples
    --------
    >>> round(largest_entropy(1.0), 6)
    1.418939
    """
    error = tolerated(mean_squared_error, name="mean_squared_error")
    with np.errstate(divide="ignore"):
        return like(0.5 * (np.log(2.0 * math.pi * error) + 1.0), mean_squared_error)
