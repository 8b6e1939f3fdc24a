"""Scorers of scikit-learn and functions of a user, as one value per row.

What is known of a score function decides how its standard error is found: a mean over rows is one,
AUC has DeLong's placements, scores of predicted classes are functions of the confusion matrix,
some others have an influence function, and the rest are computed again without blocks of rows, or
of whole groups where rows belong together.
"""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from pinsker._compat import scorer_parts
from pinsker._types import AnyArray, FloatArray, IntArray, Task
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics._confusion import matrix_score, matrix_slopes
from pinsker.metrics._influence import (
    JACKKNIFE_BLOCKS,
    Influence,
    auc_influence,
    block_jackknife,
    cell_influence,
    cell_jackknife,
    mean_influence,
    median_influence,
    one_vs_one_auc,
    one_vs_rest,
    precision_influence,
    ratio_influence,
    root_influence,
    variance_influence,
)
from pinsker.metrics._names import metric_name
from pinsker.metrics._table import best_score

#: How a standard error was found, as certificates name it.
MEAN = "mean over rows"
DELONG = "DeLong's placements"
DELTA = "influence values (delta method)"
ROWS_LEFT_OUT = "jackknife over rows"
BLOCKS_LEFT_OUT = f"jackknife over {JACKKNIFE_BLOCKS} blocks of rows"
GROUPS_LEFT_OUT = f"jackknife over groups of rows, {JACKKNIFE_BLOCKS} blocks of them at most"

#: Mean losses of numbers that return one value per output: a row is made an output.
_ROWWISE = (
    metrics.mean_squared_error,
    metrics.mean_absolute_error,
    metrics.mean_absolute_percentage_error,
    metrics.mean_squared_log_error,
    metrics.mean_pinball_loss,
)
_PREDICT = ("predict",)


@dataclass(frozen=True)
class ClassRows:
    """Held-out rows of a class target, and what a model says of them."""

    labels: IntArray  # true classes 0..n_classes-1
    scores: FloatArray  # larger for more likely classes
    log_probabilities: FloatArray  # logarithms of probabilities
    classes: AnyArray  # the classes as the user knows them
    weights: FloatArray  # of the rows
    clusters: IntArray | None = None  # which rows belong together


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

    @property
    def best(self) -> float:
        """What the score is subtracted from to give a loss: 1 for those of scikit-learn, else 0."""
        return best_score(self.name) or 0.0

    @property
    def needs(self) -> str:
        """What the function needs of a model of classes: predictions, scores or probabilities."""
        if self.response == _PREDICT:
            return "predictions"
        return "scores" if "decision_function" in self.response else "probabilities"

    def method(self, task: Task) -> str:
        """Return how the standard error is found for a target of classes or of numbers."""
        function = self.function
        if function in _MEANS:
            return MEAN
        if function in _OF_PROBABILITIES:
            return DELTA
        if task == "regression":
            return DELTA if function in _OF_NUMBERS else BLOCKS_LEFT_OUT
        if self.response == _PREDICT:
            return DELTA if self.takes_weights else ROWS_LEFT_OUT
        if function is metrics.roc_auc_score and _is_plain_auc(self.kwargs):
            return DELONG
        averaged = self.kwargs.get("average", "macro") in ("macro", "weighted")
        is_precision = function is metrics.average_precision_score and averaged
        return ROWS_LEFT_OUT if is_precision else BLOCKS_LEFT_OUT

    def of_classes(self, rows: ClassRows) -> Influence:
        """Return the loss on rows of a class target, and how each row moves it."""
        method = self.method("classification")
        if self.response == _PREDICT:
            return self._loss(self._of_predicted(rows))
        if self.function in _OF_PROBABILITIES:
            return self._loss(self._of_probabilities(rows))
        if method == BLOCKS_LEFT_OUT:
            true, given = rows.classes[rows.labels], self._given(rows)
            return self._loss(self._left_out(true, given, rows.weights, rows.clusters))
        self._refuse_absent(rows)
        return self._loss(self._of_ranks(rows))

    def of_numbers(
        self,
        predictions: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        clusters: IntArray | None = None,
    ) -> Influence:
        """Return the loss on rows of numeric targets, and how each row moves it."""
        self._refuse_values(predictions, values)
        if self.method("regression") == BLOCKS_LEFT_OUT:
            single = values.shape[1] == 1
            given = (values[:, 0], predictions[:, 0]) if single else (values, predictions)
            return self._loss(self._left_out(*given, weights, clusters))
        parts = [
            self._of_one_target(predictions[:, j], values[:, j], weights)
            for j in range(values.shape[1])
        ]
        score = float(np.mean([value for value, _ in parts]))
        return self._loss((score, np.mean([influence for _, influence in parts], axis=0)))

    def _of_one_target(
        self, predicted: FloatArray, true: FloatArray, weights: FloatArray
    ) -> Influence:
        if self.function in _ROWWISE:
            losses = self.function(
                true[None, :], predicted[None, :], multioutput="raw_values", **self.kwargs
            )
            return mean_influence(np.asarray(losses, dtype=np.float64), weights)
        if self.function in _DEVIANCES:
            return mean_influence(_DEVIANCES[self.function](true, predicted), weights)
        return _OF_NUMBERS[self.function](true, predicted, weights)

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
        return self.best - value, -influence

    def _of_predicted(self, rows: ClassRows) -> Influence:
        """Score predicted classes: all that counts is the confusion matrix."""
        codes, n_classes = rows.scores.argmax(axis=1), len(rows.classes)
        cells = np.bincount(rows.labels * n_classes + codes, rows.weights, n_classes**2)
        matrix: FloatArray = cells.astype(np.float64).reshape(n_classes, n_classes)
        present = (matrix.sum(axis=0) + matrix.sum(axis=1)) > 0
        known = matrix_score(self.function, self.kwargs, self._positive(rows), present)
        if known is not None:
            slopes = matrix_slopes(known, matrix)[rows.labels, codes]
            return float(known(matrix)), slopes * float(rows.weights.sum())
        true, predicted = rows.classes[rows.labels], rows.classes[codes]
        kwargs = self._kwargs_for(rows)
        if self.takes_weights:

            def weighted(y: AnyArray, p: AnyArray, weights: FloatArray) -> float:
                return self._call(y, p, weights, kwargs)

            return cell_influence(weighted, true, predicted, rows.weights)
        if np.ptp(rows.weights) > 0:
            raise ParameterError(
                f"metric {self.name!r} takes no sample_weight: give it one, or no weights.",
                parameter="metric",
            )
        return cell_jackknife(lambda y, p: self._call(y, p, None, kwargs), true, predicted)

    def _of_ranks(self, rows: ClassRows) -> Influence:
        """Score a ranking of the rows: AUC or average precision, over all classes."""
        one = auc_influence
        if self.function is metrics.average_precision_score:
            one = precision_influence
        if len(rows.classes) == 2:
            at = self._positive(rows)
            margin = rows.scores[:, at] - rows.scores[:, 1 - at]
            return one(rows.labels == at, margin, rows.weights)
        given = (rows.labels, rows.log_probabilities, rows.weights)
        if self.kwargs.get("multi_class") == "ovo":
            return one_vs_one_auc(*given)
        return one_vs_rest(one, *given, by_frequency=self.kwargs.get("average") == "weighted")

    def _of_probabilities(self, rows: ClassRows) -> Influence:
        """Score probabilities by log-loss or Brier score, or against those without features."""
        is_log = self.function in (metrics.log_loss, metrics.d2_log_loss_score)
        losses = self._log_losses if is_log else self._brier
        scored = mean_influence(losses(rows, rows.log_probabilities), rows.weights)
        if self.function in (metrics.log_loss, metrics.brier_score_loss):
            return scored
        # The frequencies make their own loss smallest: that they move changes nothing to first
        # order.
        shares = np.bincount(rows.labels, rows.weights, len(rows.classes)) / rows.weights.sum()
        with np.errstate(divide="ignore"):
            alike = np.tile(np.log(shares), (len(rows.labels), 1))
        value, influence = ratio_influence(
            scored, mean_influence(losses(rows, alike), rows.weights)
        )
        return 1.0 - value, -influence

    def _log_losses(self, rows: ClassRows, log_probabilities: FloatArray) -> FloatArray:
        return -_own(rows, log_probabilities)

    def _brier(self, rows: ClassRows, log_probabilities: FloatArray) -> FloatArray:
        """Return squared errors of probabilities; half their sum for two classes."""
        probabilities = np.exp(log_probabilities)
        squares = np.sum(probabilities**2, axis=1) - 2 * _own(rows, probabilities) + 1
        half = self.kwargs.get("scale_by_half", "auto")
        is_half = len(rows.classes) == 2 if half == "auto" else bool(half)
        return np.asarray(squares / 2 if is_half else squares)

    def _given(self, rows: ClassRows) -> FloatArray:
        """Return what a function of scores gets: of two classes the second, else all."""
        if len(rows.classes) > 2:
            return np.exp(rows.log_probabilities)
        at = self._positive(rows)
        if self.needs == "scores":
            return np.asarray(rows.scores[:, at] - rows.scores[:, 1 - at])
        return np.asarray(np.exp(rows.log_probabilities[:, at]))

    def _left_out(
        self, true: AnyArray, given: AnyArray, weights: FloatArray, clusters: IntArray | None
    ) -> Influence:
        equal = np.ptp(weights) == 0
        if not equal and not self.takes_weights:
            raise ParameterError(
                f"metric {self.name!r} takes no sample_weight: give it one, or no weights.",
                parameter="metric",
            )

        def score(rows: IntArray) -> float:
            return self._call(
                true[rows], given[rows], None if equal else weights[rows], self.kwargs
            )

        if (given == given[:1]).all() and not np.isfinite(score(np.arange(len(true)))):
            return 0.0, np.zeros(len(true))  # a correlation, say: no features, no skill
        return block_jackknife(score, weights, clusters)

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
        names_positive = self.kwargs.get("average", "binary") == "binary"
        accepts = "pos_label" in inspect.signature(self.function).parameters
        if accepts and names_positive and len(rows.classes) == 2:
            return {"pos_label": rows.classes[1], **self.kwargs}
        return self.kwargs

    def _positive(self, rows: ClassRows) -> int:
        wanted = self.kwargs.get("pos_label")
        return 0 if wanted is not None and wanted == rows.classes[0] else 1

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

    def _refuse_values(self, predictions: FloatArray, values: FloatArray) -> None:
        """Refuse values that a logarithm cannot take."""
        lowest = float(min(values.min(), 0.0))
        if (
            self.function in (metrics.mean_squared_log_error, metrics.root_mean_squared_log_error)
            and min(lowest, float(predictions.min())) <= -1.0
        ):
            raise DataError(
                f"metric {self.name!r} takes logarithms of 1 + y, but found values or "
                "predictions of -1 or below: use another metric.",
                parameter="metric",
            )
        if self.function in _DEVIANCES and (lowest < 0 or float(predictions.min()) <= 0):
            raise DataError(
                f"metric {self.name!r} needs targets and predictions above 0: use a model "
                "with a logarithmic link (PoissonRegressor, "
                "HistGradientBoostingRegressor(loss='poisson')), or another metric.",
                parameter="metric",
            )


def _is_plain_auc(kwargs: dict[str, Any]) -> bool:
    """Return whether the placements cover the arguments of an AUC."""
    weighted_pairs = kwargs.get("multi_class") == "ovo" and kwargs.get("average") == "weighted"
    known = kwargs.get("average", "macro") in ("macro", "weighted")
    return kwargs.get("max_fpr") is None and known and not weighted_pairs


def _own(rows: ClassRows, values: FloatArray) -> FloatArray:
    """Return the entry of each row's own class."""
    return np.asarray(values[np.arange(len(rows.labels)), rows.labels])


def _poisson(true: FloatArray, predicted: FloatArray) -> FloatArray:
    return np.asarray(2 * (xlogy(true, true / predicted) - true + predicted))


def _gamma(true: FloatArray, predicted: FloatArray) -> FloatArray:
    return np.asarray(2 * (np.log(predicted / true) + true / predicted - 1))


def _root(loss: Callable[..., Any]) -> Callable[..., Influence]:
    def influence(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> Influence:
        losses = loss(true[None, :], predicted[None, :], multioutput="raw_values")
        return root_influence(mean_influence(np.asarray(losses), weights))

    return influence


def _explained(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> Influence:
    left = variance_influence(true - predicted, weights)
    value, influence = ratio_influence(left, variance_influence(true, weights))
    return 1.0 - value, -influence


def _r2(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> Influence:
    left = mean_influence((true - predicted) ** 2, weights)
    value, influence = ratio_influence(left, variance_influence(true, weights))
    return 1.0 - value, -influence


def _d2_absolute(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> Influence:
    # The median makes the mean distance smallest: that it moves changes nothing to first order.
    middle, _ = median_influence(true, weights)
    left = mean_influence(np.abs(true - predicted), weights)
    value, influence = ratio_influence(left, mean_influence(np.abs(true - middle), weights))
    return 1.0 - value, -influence


def _median_error(true: FloatArray, predicted: FloatArray, weights: FloatArray) -> Influence:
    return median_influence(np.abs(true - predicted), weights)


_DEVIANCES: dict[Any, Callable[[FloatArray, FloatArray], FloatArray]] = {
    metrics.mean_poisson_deviance: _poisson,
    metrics.mean_gamma_deviance: _gamma,
}
_MEANS = (*_ROWWISE, *_DEVIANCES, metrics.log_loss, metrics.brier_score_loss)
#: Not every version of scikit-learn has all of them.
_OF_PROBABILITIES = tuple(
    getattr(metrics, name)
    for name in ("log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score")
    if hasattr(metrics, name)
)
_OF_NUMBERS: dict[Any, Callable[[FloatArray, FloatArray, FloatArray], Influence]] = {
    metrics.root_mean_squared_error: _root(metrics.mean_squared_error),
    metrics.root_mean_squared_log_error: _root(metrics.mean_squared_log_error),
    metrics.explained_variance_score: _explained,
    metrics.r2_score: _r2,
    metrics.d2_absolute_error_score: _d2_absolute,
    metrics.median_absolute_error: _median_error,
}
