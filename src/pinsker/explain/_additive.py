"""Whether features interact: cell means or counts against a model without their interaction."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, fdtrc

from pinsker._types import FloatArray, IntArray

#: Rounds of proportional fitting at most, and the change of a count that ends them.
_ROUNDS, _CHANGE = 200, 1e-6


def p_additive(codes: Sequence[IntArray], labels: IntArray, values: FloatArray | None) -> float:
    r"""Return the p-value of a set of features against the model without their interaction.

    Classes: a log-linear model with all margins but the full one, so that the log-odds of a class
    are a sum of terms of fewer features; :math:`G^2` against chi-squared. Numbers: an analysis of
    variance of cell means against sums of such terms; F.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n_rows,), int
        Bins of each feature of the set, from 0.
    labels : ndarray of shape (n_rows,), int
        Classes, from 0.
    values : ndarray of shape (n_rows,), optional
        The numbers of a numeric target.

    References
    ----------
    Bishop, Fienberg, Holland (1975). Discrete Multivariate Analysis, chapter 3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, size=(2, 1000))
    >>> p_additive([a, b], a ^ b, None) < 1e-9
    True
    >>> noise = rng.normal(size=1000)
    >>> p_additive([a, b], a, a + b + noise) > 0.05, p_additive([a, b], a, a * b + noise) < 1e-3
    (True, True)
    """
    compact = [np.unique(one, return_inverse=True)[1] for one in codes]
    sizes = [int(one.max()) + 1 for one in compact]
    degrees = int(np.prod([size - 1 for size in sizes]))
    if values is None:
        _, classes = np.unique(labels, return_inverse=True)
        n_classes = int(classes.max()) + 1
        counts = np.zeros((*sizes, n_classes))
        np.add.at(counts, (*compact, classes), 1.0)
        fitted = _without_interaction(counts)
        seen = counts > 0
        deviance = 2.0 * float(np.sum(counts[seen] * np.log(counts[seen] / fitted[seen])))
        return float(chdtrc(max(degrees * (n_classes - 1), 1), max(deviance, 0.0)))
    return _p_of_means(compact, sizes, values)


def _without_interaction(counts: FloatArray) -> FloatArray:
    """Fit all margins of a table, the last axis being the target, but the full one."""
    axes = range(counts.ndim - 1)
    summed = [(counts.ndim - 1,), *((axis,) for axis in axes)]
    fitted = np.ones_like(counts)
    for _ in range(_ROUNDS):
        before = fitted
        for axis in summed:
            now, wanted = (table.sum(axis=axis, keepdims=True) for table in (fitted, counts))
            fitted = fitted * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0.0)
        if float(np.abs(fitted - before).max()) < _CHANGE:
            break
    return fitted


def _p_of_means(codes: Sequence[IntArray], sizes: Sequence[int], values: FloatArray) -> float:
    """Return the p-value of cell means against sums of terms of fewer features."""
    cell = np.ravel_multi_index(tuple(codes), tuple(sizes))
    used, of_row, counts = np.unique(cell, return_inverse=True, return_counts=True)
    means = np.bincount(of_row, weights=values) / counts
    places = np.unravel_index(used, tuple(sizes))
    terms = []
    for some in combinations(range(len(sizes)), len(sizes) - 1):
        part = np.ravel_multi_index([places[j] for j in some], [sizes[j] for j in some])
        terms.append(part[:, None] == np.unique(part))
    design = np.hstack(terms).astype(np.float64)
    root = np.sqrt(counts)
    solved, _, rank, _ = np.linalg.lstsq(design * root[:, None], means * root, rcond=None)
    between = float(np.sum(counts * (means - design @ solved) ** 2))
    within = float(np.sum((values - means[of_row]) ** 2))
    free, rest = len(used) - int(rank), len(values) - len(used)
    if free < 1 or rest < 1:
        return 1.0
    if within <= 0.0:
        return 0.0 if between > 0.0 else 1.0
    return float(fdtrc(free, rest, (between / free) / (within / rest)))
