"""Trees that are grown and evaluated at once: extremely randomized ones, and boosted ones."""

from typing import TypedDict, Unpack

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray, Unchecked
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._plan import check_room
from pinsker.exceptions import DataError, ParameterError

#: More would take hours, and change no mean by more than a thousandth.
_MOST_TREES = 10**6
#: Twice this is still a size.
_MOST_ROWS = 2**62
#: The kernel of boosted trees numbers rows in 32 bits.
_MOST_FITTED = 2**32 - 1


class TreeSettings(TypedDict):
    """How randomized trees are grown."""

    n_trees: int
    min_leaf: int
    n_candidates: int
    seed: int


def class_probabilities(
    train: FloatArray,
    labels: IntArray,
    test: FloatArray,
    n_classes: int,
    **how: Unpack[TreeSettings],
) -> FloatArray:
    """Return the mean over trees of the class frequencies in the leaf that each test row reaches.

    Extremely randomized trees (Geurts, Ernst, Wehenkel 2006), each grown on all training rows: a
    node draws one threshold for each of `n_candidates` random columns that vary there, and takes
    the one after which the classes are purest (Gini), unless a side has fewer than `min_leaf` rows.
    """
    by_column, test_by_column = _by_column(train, test)
    settings = _check_trees(**how)
    n_classes = check.at_least("n_classes", n_classes, 1, check.MOST_CODES)
    codes = check.code_vector("labels", labels, by_column.shape[1], n_classes).astype(np.int64)
    n_test = test_by_column.shape[1]
    check_room("a probability per class and row", 16 * n_test * n_classes, "give fewer test rows")
    sums = np.zeros((n_test, n_classes))
    _kernels.class_trees(by_column, codes, test_by_column, *settings, sums)
    return sums / how["n_trees"]


def mean_values(
    train: FloatArray, numbers: FloatArray, test: FloatArray, **how: Unpack[TreeSettings]
) -> FloatArray:
    """Return the mean over trees of the mean number in the leaf that each test row reaches."""
    by_column, test_by_column = _by_column(train, test)
    settings = _check_trees(**how)
    numbers = check.finite_vector("numbers", numbers, by_column.shape[1])
    sums = np.zeros((test_by_column.shape[1], 1))
    _kernels.number_trees(by_column, numbers, test_by_column, *settings, sums)
    return np.asarray(sums[:, 0] / how["n_trees"])


def _by_column(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both tables by column; the kernel reads the same columns of each."""
    given = (check.finite_matrix("train", train), check.finite_matrix("test", test))
    if given[0].shape[1] != given[1].shape[1] or not given[0].size:
        raise DataError(
            f"training rows of shape {given[0].shape} and test rows of shape {given[1].shape}: "
            "give both the same columns, at least one row and one column."
        )
    return np.ascontiguousarray(given[0].T), np.ascontiguousarray(given[1].T)


def _check_trees(
    n_trees: int, min_leaf: int, n_candidates: int, seed: int
) -> tuple[int, int, int, int]:
    check.at_least("n_trees", n_trees, 1, _MOST_TREES)
    check.at_least("min_leaf", min_leaf, 1, _MOST_ROWS)
    check.at_least("n_candidates", n_candidates, 1, _MOST_ROWS)
    check.at_least("seed", seed, 0, 2**64 - 1)
    return n_trees, min_leaf, n_candidates, seed


class BoostSettings(TypedDict):
    """How trees are boosted."""

    n_rounds: int
    n_leaves: int
    min_leaf: int
    patience: int  # rounds without a smaller loss of the rows set aside, after which it ends
    n_bins: int  # of a column of numbers at most
    rate: float


#: Codes of categories are below this.
MOST_CATEGORIES = 255


def boosted_scores(
    train: FloatArray,
    target: AnyArray,
    test: FloatArray,
    categorical: BoolArray,
    weights: FloatArray,
    *,
    n_classes: int,
    n_fit: int,
    **how: Unpack[BoostSettings],
) -> FloatArray:
    """Return scores of the test rows by boosted trees of histograms, fitted to `n_fit` rows.

    Of two classes these are the log-odds of the second, of more a score each (before the softmax),
    of numbers (``n_classes=0``) predictions. A round adds a tree of second-order steps (Friedman
    2001; Chen, Guestrin 2016) per score, grown from the leaf with the largest gain. Numbers are cut
    into 255 bins at most, missing ones (NaN) take the better side, and categories (codes below 255)
    are split after they are ordered by their mean gradient (Fisher 1958). The training rows behind
    the first `n_fit` say which round is the last.
    """
    rows, others = check.as_numbers("train", train), check.as_numbers("test", test)
    if rows.ndim != 2 or others.ndim != 2 or rows.shape[1] != others.shape[1] or not rows.size:
        raise DataError(
            f"training rows of shape {rows.shape} and test rows of shape {others.shape}: give both "
            "the same columns, at least one row and one column."
        )
    n_rows, n_columns = rows.shape
    nominal = check.flags("categorical", categorical, n_columns)
    for codes in (rows[:, nominal > 0], others[:, nominal > 0]):
        if not ((codes >= 0) & (codes < MOST_CATEGORIES) & (codes == np.floor(codes))).all():
            raise DataError(f"codes of categories must be integers, 0 to {MOST_CATEGORIES - 1}.")
    check.at_least("n_classes", n_classes, 0, check.MOST_CODES)
    check.at_least("n_fit", n_fit, 1, min(n_rows, _MOST_FITTED))
    weights = check.finite_vector("weights", weights, n_rows)
    if weights.min() < 0 or not weights[:n_fit].any():
        raise DataError(f"weights must be 0 or more, and some of the first {n_fit} above it.")
    settings = _check_boosting(**how)
    n_bytes = 24 * 256 * n_columns * how["n_leaves"] + 40 * (n_rows + len(others)) * (n_classes + 1)
    check_room("histograms and scores", n_bytes, "give fewer columns or rows")
    by_column = (np.ascontiguousarray(rows.T), np.ascontiguousarray(others.T))
    out = np.zeros((len(others), 1 if n_classes < 3 else n_classes))
    rest = (weights, nominal, by_column[1], n_fit, *settings, out)
    if n_classes:
        labels = check.code_vector("target", target, n_rows, n_classes).astype(np.int64)
        _kernels.boosted_classes(by_column[0], labels, n_classes, *rest)
    else:
        _kernels.boosted_numbers(by_column[0], check.finite_vector("target", target, n_rows), *rest)
    return out


def _check_boosting(
    n_rounds: int, n_leaves: int, min_leaf: int, patience: int, n_bins: int, rate: Unchecked
) -> tuple[int, int, int, int, int, float]:
    check.at_least("n_rounds", n_rounds, 0, _MOST_TREES)
    check.at_least("n_leaves", n_leaves, 1, _MOST_TREES)
    check.at_least("min_leaf", min_leaf, 1, _MOST_ROWS)
    check.at_least("patience", patience, 1, _MOST_TREES)
    check.at_least("n_bins", n_bins, 2, MOST_CATEGORIES)
    if not isinstance(rate, float) or not 0.0 < rate <= 1.0:
        raise ParameterError(f"rate={rate!r} cannot be used: give a float above 0, at most 1.")
    return n_rounds, n_leaves, min_leaf, patience, n_bins, rate
