"""Extremely randomized trees, fitted and evaluated in one call."""

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine._boundary import as_numbers, at_least
from pinsker.exceptions import DataError


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
    by_column, test_by_column = _by_column(train, test)
    _check_trees(n_trees, min_leaf, n_candidates, seed)
    labels = as_numbers("labels", labels, np.int64)
    if labels.shape != by_column.shape[1:] or labels.min() < 0 or labels.max() >= n_classes:
        raise DataError(
            f"labels of shape {labels.shape} for {by_column.shape[1]} training rows and "
            f"{n_classes} classes: give each row one of 0..n_classes-1."
        )
    sums = np.zeros((test_by_column.shape[1], n_classes))
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
    by_column, test_by_column = _by_column(train, test)
    _check_trees(n_trees, min_leaf, n_candidates, seed)
    numbers = as_numbers("numbers", numbers)
    if numbers.shape != by_column.shape[1:]:
        raise DataError(f"numbers has shape {numbers.shape}: give one for each training row.")
    sums = np.zeros((test_by_column.shape[1], 1))
    _kernels.number_trees(
        by_column, numbers, test_by_column, n_trees, min_leaf, n_candidates, seed, sums
    )
    return np.asarray(sums[:, 0] / n_trees)


def _by_column(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both tables by column; the kernel reads the same columns of each."""
    given = (as_numbers("train", train), as_numbers("test", test))
    both = [np.ascontiguousarray(rows.T) for rows in given]
    if any(rows.ndim != 2 for rows in both) or len(both[0]) != len(both[1]) or not both[0].size:
        raise DataError(
            f"training rows of shape {given[0].shape} and test rows of shape {given[1].shape}: "
            "give both the same columns, at least one row and one column."
        )
    return both[0], both[1]


def _check_trees(n_trees: int, min_leaf: int, n_candidates: int, seed: int) -> None:
    least = {"n_trees": 1, "min_leaf": 1, "n_candidates": 1, "seed": 0}
    given = {"n_trees": n_trees, "min_leaf": min_leaf, "n_candidates": n_candidates, "seed": seed}
    for name, value in given.items():
        at_least(name, value, least[name])
