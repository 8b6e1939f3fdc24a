"""Scores of a confusion matrix, for many matrices at once, and their derivatives by its cells.

The same numbers as scikit-learn's functions, which take milliseconds a call: a derivative needs two
calls for each cell.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn import metrics

from pinsker._types import BoolArray, FloatArray

#: From matrices of shape (..., n_classes, n_classes), true classes in rows, to scores.
MatrixScore: TypeAlias = Callable[[FloatArray], FloatArray]
#: Relative change of a cell in a numerical derivative.
_STEP = 1e-4


def matrix_score(
    function: Any, kwargs: dict[str, Any], positive: int, present: BoolArray
) -> MatrixScore | None:
    """Return a function of scikit-learn as a score of confusion matrices; None if it is not known.

    Parameters
    ----------
    function : callable
        Of true and predicted classes.
    kwargs : dict
        Its arguments.
    positive : int
        The class that counts where one does (``average="binary"``).
    present : ndarray of shape (n_classes,), bool
        Classes that occur among true or predicted ones: averages are over these.
    """
    known = (
        {"average", "pos_label", "beta"}
        if function is metrics.fbeta_score
        else {
            "average",
            "pos_label",
        }
    )
    if not set(kwargs) <= known:
        return None
    if function is metrics.balanced_accuracy_score and not kwargs:
        return _balanced_accuracy
    if function is metrics.matthews_corrcoef and not kwargs:
        return _matthews
    if function not in _RATIOS:
        return None
    beta = float(kwargs.get("beta", 1.0))
    average = kwargs.get("average", "binary")

    def score(matrices: FloatArray) -> FloatArray:
        hits = np.diagonal(matrices, axis1=-2, axis2=-1)
        missed, called = matrices.sum(axis=-1) - hits, matrices.sum(axis=-2) - hits
        if average == "micro":
            hits, missed, called = (part.sum(-1, keepdims=True) for part in (hits, missed, called))
            return _ratio(*_RATIOS[function](hits, missed, called, beta))[..., 0]
        each = _ratio(*_RATIOS[function](hits, missed, called, beta))
        if average == "binary":
            return np.asarray(each[..., positive])
        if average == "weighted":
            support = matrices.sum(axis=-1)
            return np.asarray((each * support).sum(axis=-1) / support.sum(axis=-1))
        return np.asarray(each[..., present].mean(axis=-1))

    return score if average in ("binary", "micro", "macro", "weighted") else None


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
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def _balanced_accuracy(matrices: FloatArray) -> FloatArray:
    support = matrices.sum(axis=-1)
    recall = _ratio(np.diagonal(matrices, axis1=-2, axis2=-1) + 0.0, support)
    return np.asarray(recall.sum(axis=-1) / (support > 0).sum(axis=-1))


def _matthews(matrices: FloatArray) -> FloatArray:
    true, predicted = matrices.sum(axis=-1), matrices.sum(axis=-2)
    n = true.sum(axis=-1)
    right = np.trace(matrices, axis1=-2, axis2=-1)
    covariance = right * n - (true * predicted).sum(axis=-1)
    spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (true**2).sum(axis=-1))
    return _ratio(np.asarray(covariance), np.sqrt(np.maximum(spread, 0.0)))


_RATIOS: dict[Any, Callable[..., tuple[FloatArray, FloatArray]]] = {
    metrics.precision_score: lambda hits, missed, called, beta: (hits + 0.0, hits + called),  # noqa: ARG005
    metrics.recall_score: lambda hits, missed, called, beta: (hits + 0.0, hits + missed),  # noqa: ARG005
    metrics.jaccard_score: lambda hits, missed, called, beta: (hits + 0.0, hits + missed + called),  # noqa: ARG005
    metrics.f1_score: lambda hits, missed, called, beta: (2 * hits, 2 * hits + missed + called),  # noqa: ARG005
    metrics.fbeta_score: lambda hits, missed, called, beta: (
        (1 + beta**2) * hits,
        (1 + beta**2) * hits + beta**2 * missed + called,
    ),
}
