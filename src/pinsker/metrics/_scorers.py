"""Scorers of scikit-learn and functions of a user, as one value per row.

What is known of a score function decides how its standard error is found: a mean over rows is one,
AUC has DeLong's placements, scores of predicted classes are functions of the confusion matrix,
some others have an influence function, and the rest are computed again without blocks of rows, or
of whole groups where rows belong together.
"""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from pinsker._compat import scorer_parts
from pinsker._types import AnyArray, FloatArray, IntArray, Task
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics._confusion import matrix_slopes
from pinsker.metrics._influence import Influence, block_jackknife
from pinsker.metrics._losses import ClassRows, Column
from pinsker.metrics._names import metric_name
from pinsker.metrics._table import (
    BLOCKS_LEFT_OUT,
    DELTA,
    ROWS_LEFT_OUT,
    MetricRow,
    best_score,
    function_row,
)

_PREDICT = ("predict",)


class ScoreFunction:
    """A score function with its arguments, and whether larger is better."""

    def __init__(self, metric: Any) -> None:
        parts = scorer_parts(metrics.get_scorer(metric) if isinstance(metric, str) else metric)
        self.name = metric_name(metric)
        self.function: Callable[..., Any] = metric if parts is None else parts.function
        self.sign = 1.0 if parts is None else parts.sign
        self.kwargs = {} if parts is None else parts.kwargs
        # A plain function gets scores where a model has them.
        self.response = ("predict_proba",) if parts is None else parts.response
        parameters = inspect.signature(self.function).parameters
        if parts is None and next(iter(parameters), "") == "estimator":
            raise ParameterError(
                f"metric={metric!r} takes an estimator: use a function of (y_true, y_score, "
                "sample_weight), or make_scorer.",
                parameter="metric",
            )
        self.takes_weights = "sample_weight" in parameters
        self.takes_positive = "pos_label" in parameters

    @property
    def row(self) -> MetricRow:
        """What is known of the function; looked up, because processes exchange this object."""
        return function_row(self.function)

    @property
    def needs(self) -> str:
        """What the function needs of a model of classes: predictions, scores or probabilities."""
        if self.response == _PREDICT:
            return "predictions"
        return "scores" if "decision_function" in self.response else "probabilities"

    def method(self, task: Task) -> str:
        """Return how the standard error is found for a target of classes or of numbers."""
        if task == "classification" and self.response == _PREDICT:
            return DELTA if self.takes_weights else ROWS_LEFT_OUT
        known = self.row.influence is not None and task in self.row.tasks
        return self.row.method if known and self.row.covers(self.kwargs) else BLOCKS_LEFT_OUT

    def of_classes(self, rows: ClassRows) -> Influence:
        """Return the loss on rows of a class target, and how each row moves it."""
        if self.response == _PREDICT:
            return self._loss(self._of_predicted(rows))
        if self.row.influence is None or self.method("classification") == BLOCKS_LEFT_OUT:
            true, given = rows.classes[rows.labels], self._given(rows)
            return self._loss(self._left_out(true, given, rows.weights, rows.clusters))
        if self.row.needs_every_class:
            self._refuse_absent(rows)
        return self._loss(self.row.influence(rows, self.kwargs))

    def of_numbers(
        self,
        predictions: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        clusters: IntArray | None = None,
    ) -> Influence:
        """Return the loss on rows of numeric targets, and how each row moves it."""
        wrong = self.row.wrong_values and self.row.wrong_values(values, predictions)
        if wrong:
            raise DataError(f"metric {self.name!r} {wrong}", parameter="metric")
        if self.row.influence is None or self.method("regression") == BLOCKS_LEFT_OUT:
            single = values.shape[1] == 1
            given = (values[:, 0], predictions[:, 0]) if single else (values, predictions)
            return self._loss(self._left_out(*given, weights, clusters))
        parts = [
            self.row.influence(Column(*pair, weights, self.kwargs))
            for pair in zip(values.T, predictions.T, strict=True)
        ]
        score = float(np.mean([value for value, _ in parts]))
        return self._loss((score, np.mean([influence for _, influence in parts], axis=0)))

    def _loss(self, scored: Influence) -> Influence:
        """Turn a score into a loss: the best score minus it, or the loss that a scorer negates."""
        value, influence = scored
        if not np.isfinite(value):
            raise DataError(
                f"metric {self.name!r} is {value} on the held-out rows: it is not defined for "
                "them; use another metric, or more rows.",
                parameter="metric",
            )
        if self.sign < 0:
            return value, influence
        return (best_score(self.name) or 0.0) - value, -influence

    def _of_predicted(self, rows: ClassRows) -> Influence:
        """Score predicted classes: all that counts is the confusion matrix."""
        codes, n_classes = rows.scores.argmax(axis=1), len(rows.classes)
        cells = rows.labels * n_classes + codes
        counts = np.bincount(cells, rows.weights, n_classes**2)
        matrix: FloatArray = counts.astype(np.float64).reshape(n_classes, n_classes)
        if not self.takes_weights:
            return self._without_a_row_of_each_cell(rows, codes, cells)
        present = (matrix.sum(axis=0) + matrix.sum(axis=1)) > 0
        score = self.row.matrix and self.row.matrix(
            self.kwargs, rows.positive(self.kwargs), present
        )
        if not score:
            occupied = np.nonzero(matrix)
            true, predicted = (rows.classes[side] for side in occupied)
            kwargs = self._kwargs_for(rows)

            def score(matrices: FloatArray) -> FloatArray:
                stack = matrices.reshape(-1, n_classes, n_classes)
                return np.array([self._call(true, predicted, m[occupied], kwargs) for m in stack])

        slopes = matrix_slopes(score, matrix)[rows.labels, codes]
        return float(np.squeeze(score(matrix))), slopes * float(rows.weights.sum())

    def _without_a_row_of_each_cell(
        self, rows: ClassRows, codes: IntArray, cells: IntArray
    ) -> Influence:
        """Leave one row of each cell of the confusion matrix out: all rows of a cell are alike."""
        self._refuse_weights(rows.weights)
        true, predicted, kwargs = (
            rows.classes[rows.labels],
            rows.classes[codes],
            self._kwargs_for(rows),
        )
        _, first, cell = np.unique(cells, return_index=True, return_inverse=True)
        everything = self._call(true, predicted, None, kwargs)
        left_out = [
            self._call(np.delete(true, row), np.delete(predicted, row), None, kwargs)
            for row in first
        ]
        return everything, (len(true) - 1) * (everything - np.array(left_out))[cell]

    def _given(self, rows: ClassRows) -> FloatArray:
        """Return what a function of scores gets: of two classes the second, else all."""
        if len(rows.classes) > 2:
            return np.exp(rows.log_probabilities)
        at = rows.positive(self.kwargs)
        if self.needs == "scores":
            return np.asarray(rows.scores[:, at] - rows.scores[:, 1 - at])
        return np.asarray(np.exp(rows.log_probabilities[:, at]))

    def _left_out(
        self, true: AnyArray, given: AnyArray, weights: FloatArray, clusters: IntArray | None
    ) -> Influence:
        if not self.takes_weights:
            self._refuse_weights(weights)
        equal = np.ptp(weights) == 0

        def score(rows: IntArray) -> float:
            return self._call(
                true[rows], given[rows], None if equal else weights[rows], self.kwargs
            )

        if (given == given[:1]).all() and not np.isfinite(score(np.arange(len(true)))):
            return 0.0, np.zeros(len(true))  # a correlation, say: no features, no skill
        return block_jackknife(score, weights, clusters)

    def _refuse_weights(self, weights: FloatArray) -> None:
        if np.ptp(weights) > 0:
            raise ParameterError(
                f"metric {self.name!r} takes no sample_weight: give it one, or no weights.",
                parameter="metric",
            )

    def _call(
        self, true: AnyArray, given: AnyArray, weights: FloatArray | None, kwargs: dict[str, Any]
    ) -> float:
        weighted = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings():
            # A class that is never predicted has no precision: 0, as scikit-learn says.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            warnings.filterwarnings("ignore", message="y_pred contains classes")
            try:
                return float(self.function(true, given, **weighted, **kwargs))
            except Exception as error:
                raise ParameterError(
                    f"metric {self.name!r} failed on {len(true)} held-out rows: {error}",
                    parameter="metric",
                ) from error

    def _kwargs_for(self, rows: ClassRows) -> dict[str, Any]:
        """Return the arguments; of two classes the second is the positive one."""
        binary = len(rows.classes) == 2 and self.kwargs.get("average", "binary") == "binary"
        named = {"pos_label": rows.classes[1]} if binary and self.takes_positive else {}
        return {**named, **self.kwargs}

    def _refuse_absent(self, rows: ClassRows) -> None:
        """Refuse rows without one of the classes where a score ranks classes."""
        counts = np.bincount(rows.labels, rows.weights, len(rows.classes))
        if (counts == 0).any():
            absent = rows.classes[int(np.argmin(counts))]
            raise DataError(
                f"metric {self.name!r} needs held-out rows of every class, but there are none of "
                f"class {absent!s}: use more rows, or another metric.",
                parameter="metric",
            )
