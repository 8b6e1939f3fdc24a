"""Extremely randomized trees, fitted and evaluated in one call."""

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels


def class_probabilities(
    train: FloatArray,
    labels: IntArray,
    test: FloatArray,
    n_classes: int,
    *,
    n_trees: int,
    min_leaf: int,
    n_candidates: int,
    seed: int,
) -> FloatArray:
    """Return the mean over trees of the class frequencies in the leaf that each test row reaches.

    Every tree is grown on all training rows. In each node one threshold, uniform between the
    smallest and the largest value, is drawn for each of `n_candidates` random columns that vary
    there, and the one after which the classes are purest (Gini) is taken, unless a side has fewer
    than `min_leaf` rows. A node's random numbers are a function of the seed and of its place in
    the tree.

    Parameters
    ----------
    train, test : ndarray of shape (n_train, n_columns) and (n_test, n_columns)
        At least one row and one column each.
    labels : ndarray of shape (n_train,), int64
        Classes 0..n_classes-1.
    n_classes, n_trees, min_leaf, n_candidates : int
        As above.
    seed : int
        Not negative.

    Returns
    -------
    ndarray of shape (n_test, n_classes)
        Rows add up to 1.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006). Extremely randomized trees. Machine Learning 63.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> class_probabilities(
    ...     x, np.array([0, 0, 1, 1]), x, 2, n_trees=50, min_leaf=2, n_candidates=1, seed=0
    ... ).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    sums = np.zeros((len(test), n_classes))
    by_column, test_by_column = np.ascontiguousarray(train.T), np.ascontiguousarray(test.T)
    _kernels.class_trees(
        by_column, labels, test_by_column, n_trees, min_leaf, n_candidates, seed, sums
    )
    return sums / n_trees


def mean_values(
    train: FloatArray,
    numbers: FloatArray,
    test: FloatArray,
    *,
    n_trees: int,
    min_leaf: int,
    n_candidates: int,
    seed: int,
) -> FloatArray:
    """Return the mean over trees of the mean number in the leaf that each test row reaches.

    As `class_probabilities`; splits are scored by the squared deviations inside of the two sides.

    Returns
    -------
    ndarray of shape (n_test,)
    """
    sums = np.zeros((len(test), 1))
    by_column, test_by_column = np.ascontiguousarray(train.T), np.ascontiguousarray(test.T)
    _kernels.number_trees(
        by_column, numbers, test_by_column, n_trees, min_leaf, n_candidates, seed, sums
    )
    return np.asarray(sums[:, 0] / n_trees)
