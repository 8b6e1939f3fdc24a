"""Scores of a confusion matrix, for many matrices at once, and their derivatives by its cells.

The same numbers as scikit-learn's functions, which take milliseconds a call: a derivative needs two
calls for each cell.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pinsker._types import BoolArray, FloatArray

#: From matrices of shape (..., n_classes, n_classes), true classes in rows, to scores.
MatrixScore: TypeAlias = Callable[[FloatArray], FloatArray]
#: From arguments of a function of scikit-learn, the class that counts where one does, and the
#: classes that occur among true or predicted ones, to its score; None if it does not know them.
MatrixFunction: TypeAlias = Callable[[dict[str, Any], int, BoolArray], MatrixScore | None]
#: From hits, missed and wrongly called rows of each class, and beta, to a part and the whole.
Ratio: TypeAlias = Callable[
    [FloatArray, FloatArray, FloatArray, float], tuple[FloatArray, FloatArray]
]
#: Relative change of a cell in a numerical derivative.
_STEP = 1e-4


def ratio_score(parts: Ratio, *more: str) -> MatrixFunction:
    """Return a ratio of counts as a score of matrices, averaged over classes as asked."""

    def of_arguments(
        kwargs: dict[str, Any], positive: int, present: BoolArray
    ) -> MatrixScore | None:
        beta, average = float(kwargs.get("beta", 1.0)), kwargs.get("average", "binary")
        known = set(kwargs) <= {"average", "pos_label", *more}
        if not known or average not in ("binary", "micro", "macro", "weighted"):
            return None

        def score(matrices: FloatArray) -> FloatArray:
            hits = np.diagonal(matrices, axis1=-2, axis2=-1)
            support = matrices.sum(axis=-1)
            missed, called = support - hits, matrices.sum(axis=-2) - hits
            if average == "micro":
                hits, missed, called = (
                    part.sum(-1, keepdims=True) for part in (hits, missed, called)
                )
            each = _ratio(*parts(hits, missed, called, beta))
            if average == "weighted":
                return np.asarray((each * support).sum(axis=-1) / support.sum(axis=-1))
            if average == "macro":
                return np.asarray(each[..., present].mean(axis=-1))
            return np.asarray(each[..., 0 if average == "micro" else positive])

        return score

    return of_arguments


def plain_score(score: MatrixScore) -> MatrixFunction:
    """Return a score of matrices that knows no arguments."""
    return lambda kwargs, _positive, _present: None if kwargs else score


def matrix_slopes(score: MatrixScore, matrix: FloatArray) -> FloatArray:
    """Return the derivative of a score by each occupied cell of a confusion matrix; 0 elsewhere."""
    slopes = np.zeros_like(matrix)
    occupied = np.flatnonzero(matrix > 0)
    steps = _STEP * matrix.ravel()[occupied]
    sides = []
    for sign in (1.0, -1.0):
        moved = np.repeat(matrix.reshape(1, -1), len(occupied), axis=0)
        moved[np.arange(len(occupied)), occupied] += sign * steps
        sides.append(score(moved.reshape(-1, *matrix.shape)))
    slopes.ravel()[occupied] = (sides[0] - sides[1]) / (2 * steps)
    return slopes


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide; what has no cases scores 0, as in scikit-learn."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def balanced_accuracy(matrices: FloatArray) -> FloatArray:
    """Return the mean recall of the classes that occur."""
    support = matrices.sum(axis=-1)
    recall = _ratio(np.diagonal(matrices, axis1=-2, axis2=-1), support)
    return np.asarray(recall.sum(axis=-1) / (support > 0).sum(axis=-1))


def matthews(matrices: FloatArray) -> FloatArray:
    """Return Matthews' correlation of true and predicted classes."""
    true, predicted = matrices.sum(axis=-1), matrices.sum(axis=-2)
    n = true.sum(axis=-1)
    right = np.trace(matrices, axis1=-2, axis2=-1)
    covariance = right * n - (true * predicted).sum(axis=-1)
    spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (true**2).sum(axis=-1))
    return _ratio(np.asarray(covariance), np.sqrt(np.maximum(spread, 0.0)))


def f_beta(
    hits: FloatArray, missed: FloatArray, called: FloatArray, beta: float
) -> tuple[FloatArray, FloatArray]:
    """Return part and whole of F-beta."""
    part = (1 + beta**2) * hits
    return part, part + beta**2 * missed + called
