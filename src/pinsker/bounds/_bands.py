"""Bands: confidence limits that hold for many sets at once."""

import numpy as np
from scipy.special import ndtr

from pinsker._types import FloatArray, IntArray
from pinsker.bounds._limits import cluster_sums

#: Draws of the maximum: its 95 % quantile is then known to about half a hundredth.
_DRAWS = 4000


def simultaneous_confidence(
    differences: FloatArray,
    confidence: float = 0.95,
    *,
    clusters: IntArray | None = None,
    distance: FloatArray | None = None,
    seed: int = 0,
) -> float:
    r"""Return the confidence of each limit that makes the limits of all columns hold at once.

    .. math:: P\Bigl(\max_j \frac{\bar d_j - \mu_j}{s_j / \sqrt n} \le c\Bigr) = 1 - \alpha

    is solved for c with a multiplier bootstrap: with Gaussian multipliers the maximum is that of a
    normal vector with the correlations of the differences, which is what is drawn.

    Parameters
    ----------
    differences : ndarray of shape (n_rows, n_sets)
        Paired differences, a column for every set.
    confidence : float
        Of all limits together.
    clusters : ndarray of shape (n_rows,), int, optional
        Which rows belong together.
    distance : ndarray of shape (n_sets,), optional
        Standard errors by which the true mean of each set is known to be above the value that is
        tested: a set that is far above it is hardly ever below by chance, and costs nothing.
    seed : int
        Of the draws.

    Returns
    -------
    float
        At least `confidence`, and at most ``1 - (1 - confidence) / n_sets`` (Bonferroni). Passed to
        `paired_difference` for every column, it gives the band.

    References
    ----------
    Chernozhukov, Chetverikov, Kato (2013). Gaussian approximations and multiplier bootstrap for
    maxima of sums of high-dimensional random vectors. Annals of Statistics 41.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.normal(size=(500, 4))
    >>> round(simultaneous_confidence(independent), 2), 1 - 0.05 / 4
    (0.99, 0.9875)
    >>> simultaneous_confidence(independent[:, [0, 0, 0]])
    0.95
    """
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
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(seed).normal(size=(_DRAWS, n_sets)) @ root.T
    if distance is not None:
        drawn = drawn - distance[varying]
    # The rank of the normal maximum, so that one set alone keeps its confidence exactly.
    largest = float(np.quantile(drawn.max(axis=1), confidence))
    normal_limit = float(ndtr(largest))
    return min(max(normal_limit, confidence), 1.0 - (1.0 - confidence) / n_sets)
