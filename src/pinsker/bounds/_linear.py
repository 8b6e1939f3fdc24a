"""Linear models: the increase of the squared error is known exactly, no information is needed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray
from pinsker.exceptions import ParameterError

#: A direction whose variance, in standardised units, is below this is a linear copy of others.
_DEPENDENCE = 1e-10
#: Correlations below this count as zero where a theorem needs uncorrelated features.
_UNCORRELATED = 1e-9


class LinearModel:
    r"""The best linear model, and by how much its squared error increases without features.

    Removing the features A and keeping K increases the mean squared error by exactly (N1)

    .. math::
        \Delta = r^\top S^+ r, \qquad
        S = \Sigma_{AA} - \Sigma_{AK} \Sigma_{KK}^+ \Sigma_{KA}, \qquad
        r = c_A - \Sigma_{AK} \Sigma_{KK}^+ c_K

    Valid for every distribution with finite variances. Proofs: ``docs/bounds.md``, N1 to N4.

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariance of the features, possibly singular.
    cross_covariance : array-like of shape (n_features,)
        Covariance of each feature with the target.

    Examples
    --------
    A suppressor: no correlation with the target, and yet it matters.

    >>> model = LinearModel([[1.0, 0.5], [0.5, 1.0]], [0.0, -1.5])
    >>> round(model.growth(removed=[0]), 6), model.growth_each().round(6).tolist()
    (0.75, [0.75, 3.0])
    """

    def __init__(self, covariance: npt.ArrayLike, cross_covariance: npt.ArrayLike) -> None:
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
        deviation = np.sqrt(np.diag(sigma))
        scale = np.where(deviation > 0.0, deviation, 1.0)  # constants have nothing to scale
        self._scaled, self._cross = sigma / np.outer(scale, scale), cross / scale

    def growth(self, removed: Sequence[int]) -> float:
        """Return the increase of the mean squared error without some features (N1, exact)."""
        out, kept = self._split(removed)
        schur, rest = self._partial(out, kept)
        return float(rest @ _pseudo_inverse(schur) @ rest)

    def growth_each(self) -> FloatArray:
        r"""Return the increase without each feature alone (N1); zero for a linear copy of others.

        .. math:: \Delta_i = w_i^2 / (\Sigma^{-1})_{ii}
        """
        values, vectors = np.linalg.eigh(self._scaled)
        if values.size and values[0] > _DEPENDENCE:
            inverse = (vectors / values) @ vectors.T
            weights = inverse @ self._cross
            return np.asarray(weights**2 / np.diag(inverse), dtype=np.float64)
        scaled = LinearModel(self._scaled, self._cross)
        return np.array([scaled.growth([i]) for i in range(self._cross.size)], dtype=np.float64)

    def growth_minkowski(self, removed: Sequence[int]) -> float:
        r"""Return a bound on the increase by one number per feature (N2).

        .. math:: \Delta \le \Big( \sum_{i \in A} |w_i| \, \sigma_{K \to i} \Big)^2

        with :math:`w` the weights of the full model and :math:`\sigma^2_{K \to i}` the error of
        the best linear prediction of feature i by the kept ones.
        """
        return float(self._weighted_residuals(removed).sum() ** 2)

    def growth_cauchy_schwarz(self, removed: Sequence[int]) -> float:
        r"""Return a bound on the increase by a sum of squares (N3), never below N2.

        .. math:: \Delta \le |A| \sum_{i \in A} w_i^2 \, \sigma^2_{K \to i}
        """
        parts = self._weighted_residuals(removed)
        return float(parts.size * np.sum(parts**2))

    def growth_uncorrelated(self, removed: Sequence[int]) -> float:
        r"""Return the increase for features that are uncorrelated inside A and inside K (N4).

        .. math::
            \Delta = \mathrm{Var}(Y) \; v^\top (I - P P^\top)^{-1} v, \qquad
            v_i = \rho_{Yi} - \sum_{j \in K} \rho_{Yj} \rho_{ij}

        with P the correlations between removed and kept features; in units of Var(Y) if the model
        was given correlations. Corrects the second half of the paper's Theorem 2.
        """
        out, kept = self._split(removed)
        for block in (out, kept):
            inside = self._scaled[np.ix_(block, block)] - np.eye(block.size)
            if np.abs(inside).max(initial=0.0) > _UNCORRELATED:
                raise ParameterError(
                    "features must be uncorrelated inside the removed and inside the kept ones; "
                    "use growth, which needs no such condition."
                )
        between = self._scaled[np.ix_(out, kept)]
        v = self._cross[out] - between @ self._cross[kept]
        gram = np.eye(out.size) - between @ between.T
        return float(v @ _pseudo_inverse(gram) @ v)

    def _split(self, removed: Sequence[int]) -> tuple[IntArray, IntArray]:
        n_features = self._cross.size
        out = np.asarray(removed, dtype=np.int64).reshape(-1)
        if np.unique(out).size < out.size or np.any((out < 0) | (out >= n_features)):
            raise ParameterError(
                f"removed must be distinct indices below {n_features}, got {removed}."
            )
        return out, np.setdiff1d(np.arange(n_features), out)

    def _partial(self, out: IntArray, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        """Covariance of what K leaves of A, and its covariance with the target."""
        between = self._scaled[np.ix_(out, kept)]
        projection = between @ _pseudo_inverse(self._scaled[np.ix_(kept, kept)])
        schur = self._scaled[np.ix_(out, out)] - projection @ between.T
        return 0.5 * (schur + schur.T), self._cross[out] - projection @ self._cross[kept]

    def _weighted_residuals(self, removed: Sequence[int]) -> FloatArray:
        """``|w_i| sigma_{K -> i}`` for each removed feature, in units of the target."""
        out, kept = self._split(removed)
        weights = (_pseudo_inverse(self._scaled) @ self._cross)[out]
        schur, _rest = self._partial(out, kept)
        spread = np.sqrt(np.maximum(np.diag(schur), 0.0))
        return np.asarray(np.abs(weights) * spread, dtype=np.float64)


def _pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a covariance in standardised units, without its null directions."""
    values, vectors = np.linalg.eigh(matrix)
    real = values > _DEPENDENCE
    return np.asarray((vectors[:, real] / values[real]) @ vectors[:, real].T, dtype=np.float64)
