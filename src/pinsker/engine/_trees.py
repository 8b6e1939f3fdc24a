"""Extremely randomized trees, fitted and evaluated in one call."""

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine._plan import check_room
from pinsker.engine._problem import MOST_CODES, at_least, code_vector, finite_matrix, finite_vector
from pinsker.exceptions import DataError

#: More would take hours, and change no mean by more than a thousandth.
_MOST_TREES = 10**6
#: Twice this is still a size.
_MOST_ROWS = 2**62


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

    Extremely randomized trees (Geurts, Ernst, Wehenkel, Machine Learning 63, 2006), each grown on
    all training rows: a node draws one threshold for each of `n_candidates` random columns that
    vary there, and takes the one after which the classes are purest (Gini), unless a side has fewer
    than `min_leaf` rows. Its random numbers are a function of the seed and of its place.
    """
    by_column, test_by_column = _by_column(train, test)
    _check_trees(n_trees, min_leaf, n_candidates, seed)
    n_classes = at_least("n_classes", n_classes, 1, MOST_CODES)
    codes = code_vector("labels", labels, by_column.shape[1], n_classes).astype(np.int64)
    n_test = test_by_column.shape[1]
    check_room("a probability per class and row", 16 * n_test * n_classes, "give fewer test rows")
    sums = np.zeros((n_test, n_classes))
    _kernels.class_trees(
        by_column, codes, test_by_column, n_trees, min_leaf, n_candidates, seed, sums
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
    """Return the mean over trees of the mean number in the leaf that each test row reaches."""
    by_column, test_by_column = _by_column(train, test)
    _check_trees(n_trees, min_leaf, n_candidates, seed)
    numbers = finite_vector("numbers", numbers, by_column.shape[1])
    sums = np.zeros((test_by_column.shape[1], 1))
    _kernels.number_trees(
        by_column, numbers, test_by_column, n_trees, min_leaf, n_candidates, seed, sums
    )
    return np.asarray(sums[:, 0] / n_trees)


def _by_column(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both tables by column; the kernel reads the same columns of each."""
    given = (finite_matrix("train", train), finite_matrix("test", test))
    if given[0].shape[1] != given[1].shape[1] or not given[0].size:
        raise DataError(
            f"training rows of shape {given[0].shape} and test rows of shape {given[1].shape}: "
            "give both the same columns, at least one row and one column."
        )
    return np.ascontiguousarray(given[0].T), np.ascontiguousarray(given[1].T)


def _check_trees(n_trees: int, min_leaf: int, n_candidates: int, seed: int) -> None:
    at_least("n_trees", n_trees, 1, _MOST_TREES)
    at_least("min_leaf", min_leaf, 1, _MOST_ROWS)
    at_least("n_candidates", n_candidates, 1, _MOST_ROWS)
    at_least("seed", seed, 0, 2**64 - 1)
