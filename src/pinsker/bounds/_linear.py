"""Linear models: the growth of squared error is known exactly, no information is needed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray
from pinsker.exceptions import ParameterError

#: A direction whose variance, in standardised units, is below this is a linear copy of others.
DEPENDENCE = 1e-10
#: Correlations below this count as zero where a theorem asks for uncorrelated features.
_UNCORRELATED = 1e-9


def linear_growth(
    covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike, removed: Sequence[int]
) -> float:
    r"""Growth of the squared error of the best linear model when features are removed (exact).

    .. math::
        \Delta = r^\top S^+ r, \qquad
        S = \Sigma_{AA} - \Sigma_{AK} \Sigma_{KK}^+ \Sigma_{KA}, \qquad
        r = c_A - \Sigma_{AK} \Sigma_{KK}^+ c_K

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance of the features, possibly singular.
    cross_covariance : array-like of shape (n_features,)
        Covariance of each feature with the target.
    removed : sequence of int
        The features A.

    Returns
    -------
    float
        Growth of the mean squared error; an equality, not a bound.

    See Also
    --------
    linear_growth_each : every single feature at once.
    linear_growth_minkowski : the paper's linear theorem, corrected.

    Notes
    -----
    Valid for every law with finite variances. It replaces the paper's linear theorem. Proof:
    ``docs/bounds.md``, N1. The growth for an unrestricted model can be larger or smaller.

    Examples
    --------
    A suppressor: no correlation with the target, and yet it matters.

    >>> round(linear_growth([[1.0, 0.5], [0.5, 1.0]], [0.0, -1.5], removed=[0]), 6)
    0.75
    """
    scaled, cross, out, kept = _standardise(covariance, cross_covariance, removed)
    schur, rest = _partial(scaled, cross, out, kept)
    return float(rest @ _pseudo_inverse(schur) @ rest)


def linear_growth_each(covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike) -> FloatArray:
    r"""Growth of the squared error of the best linear model for each feature removed alone.

    .. math:: \Delta_i = w_i^2 / (\Sigma^{-1})_{ii}

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance of the features, possibly singular.
    cross_covariance : array-like of shape (n_features,)
        Covariance of each feature with the target.

    Returns
    -------
    ndarray of shape (n_features,)
        Growth of the mean squared error; zero for a feature that is a linear copy of others.

    See Also
    --------
    linear_growth : several features at once, and the proof.

    Examples
    --------
    >>> linear_growth_each([[1.0, 0.5], [0.5, 1.0]], [0.0, -1.5]).round(6).tolist()
    [0.75, 3.0]
    """
    scaled, cross, *_ = _standardise(covariance, cross_covariance, [])
    values, vectors = np.linalg.eigh(scaled)
    if values.size and values[0] > DEPENDENCE:
        inverse = (vectors / values) @ vectors.T
        weights = inverse @ cross
        return np.asarray(weights**2 / np.diag(inverse), dtype=np.float64)
    alone = range(cross.size)
    return np.array([linear_growth(scaled, cross, [i]) for i in alone], dtype=np.float64)


def linear_growth_minkowski(
    covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike, removed: Sequence[int]
) -> float:
    r"""Growth of a linear model's squared error by one number per feature, corrected (N2).

    .. math:: \Delta \le \Big( \sum_{i \in A} |w_i| \, \sigma_{K \to i} \Big)^2

    with :math:`w` the weights of the full model and :math:`\sigma^2_{K \to i}` the error of the
    best linear prediction of feature i by the kept ones.

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance of the features.
    cross_covariance : array-like of shape (n_features,)
        Covariance of each feature with the target.
    removed : sequence of int
        The features A.

    Returns
    -------
    float
        Bound on the growth of the mean squared error.

    See Also
    --------
    linear_growth : exact.

    Notes
    -----
    The first half of the paper's linear theorem with absolute values, without the factor
    :math:`\sqrt{|A|}`; it implies RMSE :math:`\le \sigma + \sum |w_i| \sigma_{K \to i}`. Proof:
    ``docs/bounds.md``, N2.

    Examples
    --------
    >>> round(linear_growth_minkowski([[1.0, 0.5], [0.5, 1.0]], [0.0, -1.5], [0]), 6)
    0.75
    """
    parts = _weighted_residuals(covariance, cross_covariance, removed)
    return float(parts.sum() ** 2)


def linear_growth_cauchy_schwarz(
    covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike, removed: Sequence[int]
) -> float:
    r"""Growth of a linear model's squared error by a sum of squares (N3).

    .. math:: \Delta \le |A| \sum_{i \in A} w_i^2 \, \sigma^2_{K \to i}

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance of the features.
    cross_covariance : array-like of shape (n_features,)
        Covariance of each feature with the target.
    removed : sequence of int
        The features A.

    Returns
    -------
    float
        Bound on the growth of the mean squared error, never below
        :func:`linear_growth_minkowski`.

    Notes
    -----
    Proof: ``docs/bounds.md``, N3.

    Examples
    --------
    >>> round(linear_growth_cauchy_schwarz([[1.0, 0.5], [0.5, 1.0]], [0.0, -1.5], [0]), 6)
    0.75
    """
    parts = _weighted_residuals(covariance, cross_covariance, removed)
    return float(parts.size * np.sum(parts**2))


def linear_growth_uncorrelated(
    correlations: npt.ArrayLike,
    target_correlations: npt.ArrayLike,
    removed: Sequence[int],
    variance: float = 1.0,
) -> float:
    r"""Growth of a linear model's squared error from correlations alone, corrected (N4).

    .. math::
        \Delta = \mathrm{Var}(Y) \; v^\top (I - P P^\top)^{-1} v, \qquad
        v_i = \rho_{Yi} - \sum_{j \in K} \rho_{Yj} \rho_{ij}

    with P the correlations between removed and kept features.

    Parameters
    ----------
    correlations : array-like of shape (n_features, n_features)
        Correlations of the features; none inside the removed ones, none inside the kept ones.
    target_correlations : array-like of shape (n_features,)
        Correlation of each feature with the target.
    removed : sequence of int
        The features A.
    variance : float, default=1.0
        Variance of the target.

    Returns
    -------
    float
        Growth of the mean squared error.

    Notes
    -----
    The second half of the paper's linear theorem, which is false as printed: it uses the marginal
    correlation :math:`\rho_{Yi}` in place of :math:`v_i`. Proof: ``docs/bounds.md``, N4.

    Examples
    --------
    >>> round(linear_growth_uncorrelated([[1.0, 0.5], [0.5, 1.0]], [0.0, 0.6], [0]), 6)
    0.12
    """
    scaled, cross, out, kept = _standardise(correlations, target_correlations, removed)
    for block in (out, kept):
        inside = scaled[np.ix_(block, block)] - np.eye(block.size)
        if np.abs(inside).max(initial=0.0) > _UNCORRELATED:
            raise ParameterError(
                "features must be uncorrelated inside the removed and inside the kept ones; "
                "use linear_growth, which needs no such condition."
            )
    between = scaled[np.ix_(out, kept)]
    v = cross[out] - between @ cross[kept]
    gram = np.eye(out.size) - between @ between.T
    return float(variance * (v @ _pseudo_inverse(gram) @ v))


def _standardise(
    covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike, removed: Sequence[int]
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Correlations, scaled covariances with the target, A and K."""
    sigma = np.asarray(covariance, dtype=np.float64)
    cross = np.asarray(cross_covariance, dtype=np.float64)
    if cross.ndim != 1 or sigma.shape != (cross.size, cross.size):
        raise ParameterError(
            f"covariance must be square and fit cross_covariance, got {sigma.shape} "
            f"and {cross.shape}."
        )
    if not (np.isfinite(sigma).all() and np.isfinite(cross).all()):
        raise ParameterError("covariance and cross_covariance must be finite.")
    if not np.allclose(sigma, sigma.T, rtol=1e-8, atol=1e-12 * np.abs(sigma).max(initial=0.0)):
        raise ParameterError("covariance must be symmetric.")
    if np.any(np.diag(sigma) < 0.0):
        raise ParameterError("covariance has a negative variance on its diagonal.")
    out = np.asarray(removed, dtype=np.int64).reshape(-1)
    if np.unique(out).size < out.size or np.any((out < 0) | (out >= cross.size)):
        raise ParameterError(f"removed must be distinct indices below {cross.size}, got {removed}.")
    kept = np.setdiff1d(np.arange(cross.size), out)
    deviation = np.sqrt(np.diag(sigma))
    scale = np.where(deviation > 0.0, deviation, 1.0)  # constants have nothing to scale
    return sigma / np.outer(scale, scale), cross / scale, out, kept


def _partial(
    scaled: FloatArray, cross: FloatArray, out: IntArray, kept: IntArray
) -> tuple[FloatArray, FloatArray]:
    """What the kept features leave of the removed ones: their covariance, and with the target."""
    between = scaled[np.ix_(out, kept)]
    projection = between @ _pseudo_inverse(scaled[np.ix_(kept, kept)])
    schur = scaled[np.ix_(out, out)] - projection @ between.T
    return 0.5 * (schur + schur.T), cross[out] - projection @ cross[kept]


def _weighted_residuals(
    covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike, removed: Sequence[int]
) -> FloatArray:
    """``|w_i| sigma_{K -> i}`` for each removed feature; free of units but the target's."""
    scaled, cross, out, kept = _standardise(covariance, cross_covariance, removed)
    weights = (_pseudo_inverse(scaled) @ cross)[out]
    schur, _rest = _partial(scaled, cross, out, kept)
    spread = np.sqrt(np.maximum(np.diag(schur), 0.0))
    return np.asarray(np.abs(weights) * spread, dtype=np.float64)


def _pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a covariance in standardised units, without its null directions."""
    values, vectors = np.linalg.eigh(matrix)
    real = values > DEPENDENCE
    return np.asarray((vectors[:, real] / values[real]) @ vectors[:, real].T, dtype=np.float64)
