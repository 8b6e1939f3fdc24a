"""Trees that are grown and evaluated at once: extremely randomized ones, and boosted ones."""

from collections.abc import Mapping
from typing import TypedDict, Unpack

import numpy as np

from pinsker._types import AnyArray, Arguments, BoolArray, FloatArray, IntArray, Unchecked
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._plan import check_room
from pinsker.exceptions import DataError, ParameterError

#: Of more trees a fit would take hours, and change no mean by a thousandth; twice the most
#: rows is still a size.
_MOST_TREES, _MOST_ROWS = 10**6, 2**62
#: The kernel of boosted trees numbers rows in 32 bits, and codes of categories are below this.
_MOST_FITTED, MOST_CATEGORIES = 2**32 - 1, 255


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
    by_column, test_by_column = _finite(train, test)
    settings = _check(how, *TreeSettings.__annotations__)
    n_classes = check.at_least("n_classes", n_classes, 1, check.MOST_CODES)
    codes = check.code_vector("labels", labels, by_column.shape[1], n_classes).astype(np.int64)
    n_test = test_by_column.shape[1]
    check_room("a probability per class and row", 16 * n_test * n_classes, "give fewer test rows")
    sums = np.zeros((n_test, n_classes))
    rest: Arguments = (*settings, sums)
    _kernels.class_trees(by_column, codes, test_by_column, *rest)
    return sums / how["n_trees"]


def mean_values(
    train: FloatArray, numbers: FloatArray, test: FloatArray, **how: Unpack[TreeSettings]
) -> FloatArray:
    """Return the mean over trees of the mean number in the leaf that each test row reaches."""
    by_column, test_by_column = _finite(train, test)
    settings = _check(how, *TreeSettings.__annotations__)
    numbers = check.finite_vector("numbers", numbers, by_column.shape[1])
    sums = np.zeros((test_by_column.shape[1], 1))
    rest: Arguments = (*settings, sums)
    _kernels.number_trees(by_column, numbers, test_by_column, *rest)
    return np.asarray(sums[:, 0] / how["n_trees"])


def _by_column(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both tables by column; the kernel reads the same columns of each."""
    if train.ndim != 2 or test.ndim != 2 or train.shape[1] != test.shape[1] or not train.size:
        raise DataError(
            f"training rows of shape {train.shape} and test rows of shape {test.shape}: give both "
            "the same columns, at least one row and one column."
        )
    return np.ascontiguousarray(train.T), np.ascontiguousarray(test.T)


def _finite(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    return _by_column(check.finite_matrix("train", train), check.finite_matrix("test", test))


#: The least and the most of settings that are integers.
_RANGES = {
    "n_trees": (1, _MOST_TREES), "min_leaf": (1, _MOST_ROWS), "n_candidates": (1, _MOST_ROWS),
    "seed": (0, 2**64 - 1), "n_rounds": (0, _MOST_TREES), "n_leaves": (1, _MOST_TREES),
    "patience": (1, _MOST_TREES), "n_bins": (2, MOST_CATEGORIES),
}  # fmt: skip


def _check(settings: Mapping[str, Unchecked], *names: str) -> Arguments:
    return tuple(check.at_least(name, settings[name], *_RANGES[name]) for name in names)


class BoostSettings(TypedDict):
    """How trees are boosted."""

    n_rounds: int
    n_leaves: int
    min_leaf: int
    patience: int  # rounds without a smaller loss of the rows set aside, after which it ends
    n_bins: int  # of a column of numbers at most
    rate: float


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
    by_column = _by_column(rows, others)
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
    settings = _check(how, "n_rounds", "n_leaves", "min_leaf", "patience", "n_bins")
    rate: Unchecked = how["rate"]
    if not isinstance(rate, float) or not 0.0 < rate <= 1.0:
        raise ParameterError(f"rate={rate!r} cannot be used: give a float above 0, at most 1.")
    n_bytes = 24 * 256 * n_columns * how["n_leaves"] + 40 * (n_rows + len(others)) * (n_classes + 1)
    check_room("histograms and scores", n_bytes, "give fewer columns or rows")
    out = np.zeros((len(others), 1 if n_classes < 3 else n_classes))
    rest: Arguments = (weights, nominal, by_column[1], n_fit, *settings, rate, out)
    if n_classes:
        labels = check.code_vector("target", target, n_rows, n_classes).astype(np.int64)
        _kernels.boosted_classes(by_column[0], labels, n_classes, *rest)
    else:
        _kernels.boosted_numbers(by_column[0], check.finite_vector("target", target, n_rows), *rest)
    return out
