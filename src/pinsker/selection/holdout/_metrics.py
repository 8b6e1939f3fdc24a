"""The metric of an error: one object from the budget to the audit."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray, Task
from pinsker.bounds import (
    METRIC_NAMES,
    Bound,
    Difference,
    TargetFacts,
    best_score,
    bound_for,
    bounded_loss_limit,
    column_variances,
    error_rate_limit,
    paired_difference,
    shown_value,
)
from pinsker.bounds import metric_name as score_name
from pinsker.encoding import Target
from pinsker.exceptions import ParameterError
from pinsker.information import log_likelihood_of_numbers, weighted_rows
from pinsker.selection.holdout._influence import row_values
from pinsker.selection.holdout._scorers import MEAN, ClassRows, ScoreFunction
from pinsker.selection.search import (
    OWN_METRICS,
    CostMatrix,
    UnknownBound,
    check_metric,
    metric_name,
)

#: A class of fewer rows than this hardly counts in an error rate.
_RARE = 0.1


@dataclass(frozen=True)
class Metric:
    """A loss with one value per row, and what may be said about its mean.

    Parameters
    ----------
    metric : str, scorer, callable or CostMatrix
        "error", "log-loss" (nats), "brier"; "r2" (squared error as a share of the target's
        variance, one minus R²), "mse", "mae". Or the name of a scorer of scikit-learn, what
        ``make_scorer`` returns, or a function ``(y_true, y_score, sample_weight) -> float`` of
        which larger is better. Or a `CostMatrix`.

    Notes
    -----
    The loss of a score is 1 minus it for those of scikit-learn that larger is better of, the loss
    itself for its negated losses (``"neg_..."``), and the negated value of a function. A score that
    is no mean over rows has influence values: `of_classes` and `of_numbers` return an array whose
    mean is the loss and whose spread gives its standard error, so that paired differences of two
    such arrays are compared like those of any loss.

    Examples
    --------
    >>> metric = Metric("brier")
    >>> metric.of_classes(np.log([[0.5, 0.5]]), np.array([0])).tolist()
    [0.5]
    >>> metric.label
    'Brier score'
    >>> auc = Metric("roc_auc")
    >>> scores = np.log([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.3, 0.7]])
    >>> losses = auc.of_classes(scores, np.array([0, 1, 0, 1]))
    >>> auc.score(float(losses.mean())), auc.method("classification")
    (1.0, "DeLong's placements")
    """

    metric: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", check_metric(self.metric))

    @property
    def name(self) -> str:
        """Name of the metric in certificates."""
        return metric_name(self.metric)

    @property
    def label(self) -> str:
        """What the metric is called in a sentence about its error."""
        return METRIC_NAMES.get(self.name, self.score_name)

    @property
    def score_name(self) -> str:
        """What people call the score: "R²", "ROC AUC", "mean absolute error"."""
        return score_name(self.name)

    @property
    def larger_is_better(self) -> bool:
        """Whether people know the metric as a score: R², AUC, and not an error rate."""
        return best_score(self.name) is not None

    def score(self, loss: float) -> float:
        """Return a mean loss as people know it: R² and not one minus R²."""
        return shown_value(self.name, loss)

    @property
    def has_theory(self) -> bool:
        """Whether a theorem ties the metric to information; else held-out rows alone decide."""
        return bool(self._own)

    @property
    def needs(self) -> str:
        """What a classifier must give: "predictions", "scores" or "probabilities"."""
        if self._function is not None:
            return self._function.needs
        return "predictions" if self._own == "error" else "probabilities"

    def method(self, task: Task) -> str:
        """Return how the standard error is found, in words."""
        return MEAN if self._function is None else self._function.method(task)

    def check(self, target: Target) -> None:
        """Refuse a metric that does not fit the classes of a target."""
        n_classes = 0 if target.classes is None else len(target.classes)
        kwargs = {} if self._function is None else self._function.kwargs
        if n_classes > 2 and kwargs.get("average") == "binary":
            raise ParameterError(
                f"metric {self.name!r} is for two classes, but the target has {n_classes}: use "
                f"'{self.name}_macro', '{self.name}_weighted' or 'balanced_accuracy'.",
                parameter="metric",
            )
        if isinstance(self.metric, CostMatrix) and len(self.metric.costs) != n_classes:
            raise ParameterError(
                f"the CostMatrix is for {len(self.metric.costs)} classes, but the target has "
                f"{n_classes}: give one row and one column per class, sorted.",
                parameter="metric",
            )

    def bound(self, facts: TargetFacts, error_limit: float | None = None, **how: str) -> Bound:
        """Return the theorem that ties the metric to information; an unknown one where none does.

        Parameters
        ----------
        facts : TargetFacts
            The target.
        error_limit : float, optional
            Upper confidence bound of the error that the kept features allow.
        **how : str
            ``constants`` and ``model``, as in `bound_for`.
        """
        if not self.has_theory:
            return UnknownBound(self.name)
        known = None if error_limit is None or not np.isfinite(error_limit) else error_limit
        return bound_for(self.name, facts, error_limit=known, **how)

    def of_classes(
        self,
        log_probabilities: FloatArray,
        labels: IntArray,
        scores: FloatArray | None = None,
        *,
        classes: AnyArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return the loss of every row of a class target; its mean is the loss of the metric.

        Parameters
        ----------
        log_probabilities : ndarray of shape (n_rows, n_classes)
            Logarithms of the predicted probabilities.
        labels : ndarray of shape (n_rows,)
            True classes 0..n_classes-1.
        scores : ndarray of shape (n_rows, n_classes), optional
            The largest one is the predicted class; by default the largest probability is.
        classes : ndarray of shape (n_classes,), optional
            The classes as the user knows them, for scorers that name one.
        weights : ndarray of shape (n_rows,), optional
            Of the rows; by default all alike.
        """
        decided = log_probabilities if scores is None else scores
        if self._function is not None:
            names = np.arange(log_probabilities.shape[1]) if classes is None else classes
            equal = np.ones(len(labels)) if weights is None else weights
            rows = ClassRows(labels, decided, log_probabilities, names, equal)
            return row_values(*self._function.of_classes(rows), weights)
        each = np.arange(len(labels))
        probabilities = np.exp(log_probabilities)
        if self.name == "error":
            losses = np.asarray(decided.argmax(axis=1) != labels, dtype=np.float64)
        elif isinstance(self.metric, CostMatrix):
            costs = self.metric.table
            losses = costs[labels, (probabilities @ costs).argmin(axis=1)]
        elif self.name == "brier":
            losses = np.sum(probabilities**2, axis=1) - 2 * probabilities[each, labels] + 1
        else:
            losses = -log_probabilities[each, labels]
        return weighted_rows(losses, weights)

    def of_numbers(
        self,
        predictions: FloatArray,
        values: FloatArray,
        everything: FloatArray | None = None,
        *,
        weights: FloatArray | None = None,
        all_weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return the loss of every row of a numeric target; its mean is the loss of the metric.

        Parameters
        ----------
        predictions, values : ndarray of shape (n_rows, n_targets)
            Predicted and true values, in the user's unit.
        everything : ndarray of shape (n_all_rows, n_targets), optional
            The values whose variance is the unit of "r2"; by default `values`.
        weights, all_weights : ndarray of shape (n_rows,) and (n_all_rows,), optional
            Of the rows, and of `everything`; by default all alike.
        """
        if self._function is not None:
            equal = np.ones(len(values)) if weights is None else weights
            return row_values(*self._function.of_numbers(predictions, values, equal), weights)
        if everything is None:
            everything, all_weights = values, weights
        squares = np.sum((predictions - values) ** 2, axis=1)
        if self.name == "r2":
            own = column_variances(everything, all_weights)
            variance = max(float(own.sum()), np.finfo(np.float64).tiny)
            losses = np.asarray(squares / variance)
        elif self.name == "mse":
            losses = np.asarray(squares)
        elif self.name == "mae":
            losses = np.sqrt(squares)
        else:
            losses = -log_likelihood_of_numbers(predictions, values, everything, weights)
        return weighted_rows(losses, weights)

    def increase(
        self,
        less: FloatArray,
        full: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
    ) -> Difference:
        """Return the mean of ``less - full``, paired by rows, with one-sided confidence bounds.

        `weights` are those that the losses were computed with.
        """
        counts = self._own == "error"
        return paired_difference(
            less - full, confidence, counts=counts, clusters=clusters, weights=weights
        )

    def upper_bound(self, losses: FloatArray, facts: TargetFacts, confidence: float) -> float:
        """Return an upper confidence bound of a mean loss that holds for any distribution.

        Clopper-Pearson for errors; empirical Bernstein for squared and absolute errors, taking the
        range of the sample for that of the target, and for costs. Infinite for losses without an
        upper end, and for scores that are no mean over rows.
        """
        if self._own == "error":
            n_errors = math.ceil(float(losses.sum()) - 1e-9)  # means of repeats are fractions
            return error_rate_limit(n_errors, len(losses), confidence)
        if self._own == "brier":
            return bounded_loss_limit(losses, 2.0, confidence)
        if isinstance(self.metric, CostMatrix):
            return bounded_loss_limit(losses, float(self.metric.table.max()), confidence)
        length, variance = facts.target_range, facts.variance
        if self._own not in ("r2", "mse", "mae") or length is None or not variance:
            return float("inf")
        largest = {"r2": length**2 / variance, "mse": length**2, "mae": length}
        return bounded_loss_limit(losses, largest[self._own], confidence)

    @cached_property
    def _function(self) -> ScoreFunction | None:
        """The score function of a metric that is none of ours."""
        own = self._own or isinstance(self.metric, CostMatrix)
        return None if own else ScoreFunction(self.metric)

    @property
    def _own(self) -> str:
        """The name of a metric of ours; a user's function may have the same."""
        return self.metric if isinstance(self.metric, str) and self.metric in OWN_METRICS else ""


def rare_class_note(
    target: Target, metric: Any, weights: FloatArray | None = None
) -> tuple[str, ...]:
    """Return a note where an error rate that nobody chose hardly sees a class.

    Parameters
    ----------
    target : Target
        Classes or numbers.
    metric : str or other metric
        As the user gave it; only "auto" is noted.
    weights : ndarray of shape (n_rows,), optional
        Of the rows.
    """
    if target.labels is None or target.classes is None or metric != "auto":
        return ()
    sizes = np.bincount(target.labels, weights)
    shares = sizes / sizes.sum()
    rarest = int(shares.argmin())
    if len(shares) > 2 or shares[rarest] >= _RARE:
        return ()
    note = (
        f"class {target.classes[rarest]!s} has {shares[rarest]:.1%} of the rows, so that a model "
        f"which never predicts it has an error rate of only {shares[rarest]:.3g}: a budget in "
        "metric='roc_auc' or 'average_precision' sees what an error rate does not"
    )
    return (note,)
