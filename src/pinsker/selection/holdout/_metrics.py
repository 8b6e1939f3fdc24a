"""The metric of an error: one object from the budget to the audit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray, Task
from pinsker.bounds import (
    METRIC_NAMES,
    METRICS,
    Difference,
    TargetFacts,
    bounded_loss_limit,
    error_rate_limit,
    paired_difference,
)
from pinsker.exceptions import ParameterError
from pinsker.information import log_likelihood_of_numbers

#: Metrics that only one task has: naming one of them says how the target is understood.
_TASKS: dict[str, Task] = {
    "error": "classification",
    "brier": "classification",
    "r2": "regression",
    "mse": "regression",
    "mae": "regression",
}


@dataclass(frozen=True)
class Metric:
    """A loss, row by row, and what may be said about its mean.

    Parameters
    ----------
    name : {"error", "log-loss", "brier", "r2", "mse", "mae"}
        Error rate, log-loss in nats, Brier score; squared error as a share of the target's
        variance (one minus R²), mean squared error, mean absolute error.

    Examples
    --------
    >>> metric = Metric("brier")
    >>> metric.of_classes(np.log([[0.5, 0.5]]), np.array([0])).tolist()
    [0.5]
    >>> metric.label
    'Brier score'
    """

    name: str

    def __post_init__(self) -> None:
        known = sorted({name for names in METRICS.values() for name in names})
        if self.name not in known:
            raise ParameterError(
                f"metric={self.name!r} is not known: use {', '.join(map(repr, known))}.",
            )

    @property
    def label(self) -> str:
        """What the metric is called in a sentence."""
        return METRIC_NAMES[self.name]

    def of_classes(
        self, log_probabilities: FloatArray, labels: IntArray, scores: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of every row of a class target.

        Parameters
        ----------
        log_probabilities : ndarray of shape (n_rows, n_classes)
            Logarithms of the predicted probabilities.
        labels : ndarray of shape (n_rows,)
            True classes 0..n_classes-1.
        scores : ndarray of shape (n_rows, n_classes), optional
            The largest one is the predicted class; by default the largest probability is.
        """
        each = np.arange(len(labels))
        if self.name == "error":
            decided = log_probabilities if scores is None else scores
            return np.asarray(decided.argmax(axis=1) != labels, dtype=np.float64)
        if self.name == "brier":
            probabilities = np.exp(log_probabilities)
            squares = np.sum(probabilities**2, axis=1)
            return np.asarray(squares - 2 * probabilities[each, labels] + 1)
        return np.asarray(-log_probabilities[each, labels])

    def of_numbers(
        self, predictions: FloatArray, values: FloatArray, everything: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of every row of a numeric target.

        Parameters
        ----------
        predictions, values : ndarray of shape (n_rows, n_targets)
            Predicted and true values, in the user's unit.
        everything : ndarray of shape (n_all_rows, n_targets), optional
            The values whose variance is the unit of "r2"; by default `values`.
        """
        everything = values if everything is None else everything
        squares = np.sum((predictions - values) ** 2, axis=1)
        if self.name == "r2":
            return np.asarray(
                squares / max(float(everything.var(axis=0).sum()), np.finfo(np.float64).tiny)
            )
        if self.name == "mse":
            return np.asarray(squares)
        if self.name == "mae":
            return np.asarray(np.sqrt(squares))
        return np.asarray(-log_likelihood_of_numbers(predictions, values, everything))

    def increase(
        self,
        less: FloatArray,
        full: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
    ) -> Difference:
        """Return the mean of ``less - full``, paired by rows, with one-sided confidence bounds."""
        counts = self.name == "error"
        return paired_difference(less - full, confidence, counts=counts, clusters=clusters)

    def upper_bound(self, losses: FloatArray, facts: TargetFacts, confidence: float) -> float:
        """Return an upper confidence bound of a mean loss that holds for any distribution.

        Clopper-Pearson for errors; empirical Bernstein for squared and absolute errors, taking the
        range of the sample for that of the target. Infinite for losses without an upper end.
        """
        if self.name == "error":
            return error_rate_limit(round(float(losses.sum())), len(losses), confidence)
        if self.name == "brier":
            return bounded_loss_limit(losses, 2.0, confidence)
        if self.name == "log-loss" or facts.target_range is None or not facts.variance:
            return float("inf")
        largest = {"r2": facts.target_range**2 / facts.variance, "mse": facts.target_range**2}
        return bounded_loss_limit(losses, largest.get(self.name, facts.target_range), confidence)


def task_of(metric: str) -> Any:
    """Return the task that a metric's name implies: "auto" where both tasks have it.

    Examples
    --------
    >>> task_of("mse"), task_of("log-loss")
    ('regression', 'auto')
    """
    return _TASKS.get(metric, "auto")
