"""The metric of an error: one object from the budget to the audit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, FloatArray, IntArray, Task
from pinsker.bounds import (
    METRIC_NAMES,
    METRICS,
    Bound,
    Difference,
    TargetFacts,
    bound_for,
    bounded_loss_limit,
    column_variances,
    error_rate_limit,
    paired_difference,
)
from pinsker.encoding import Target
from pinsker.exceptions import ParameterError
from pinsker.metrics._influence import row_values
from pinsker.metrics._names import (
    OWN_METRICS,
    CostMatrix,
    UnknownBound,
    WorstTarget,
    check_metric,
    metric_name,
)
from pinsker.metrics._scorers import (
    BLOCKS_LEFT_OUT,
    DELTA,
    GROUPS_LEFT_OUT,
    MEAN,
    ClassRows,
    ScoreFunction,
)
from pinsker.metrics._survival import brier_influence, concordance_influence
from pinsker.metrics._table import best_score, shown_value
from pinsker.metrics._table import metric_words as score_name
from pinsker.models import log_likelihood_of_numbers, refuse_without_curves, weighted_rows

#: A class of fewer rows than this hardly counts in an error rate.
_RARE = 0.1


@dataclass(frozen=True)
class Metric:
    """A loss with one value per row, and what may be said about its mean."""

    metric: Any  # "error", "log-loss" (nats), "brier"

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
    def of_worst(self) -> bool:
        """Whether the worst of several targets counts, not their mean."""
        return isinstance(self.metric, WorstTarget)

    @property
    def needs(self) -> str:
        """What a classifier must give: "predictions", "scores" or "probabilities"."""
        if self.of_worst:
            return self.of_one.needs
        if self._function is not None:
            return self._function.needs
        return "predictions" if self._own == "error" else "probabilities"

    def method(self, task: Task, *, grouped: bool = False) -> str:
        """Return how the standard error is found, in words; `grouped` if rows belong together."""
        if self.of_worst:
            return self.of_one.method(task, grouped=grouped)
        if task == "survival":
            return DELTA
        found = MEAN if self._function is None else self._function.method(task)
        return GROUPS_LEFT_OUT if grouped and found == BLOCKS_LEFT_OUT else found

    def check(self, target: Target) -> None:
        """Refuse a metric that does not fit a target."""
        if target.task == "survival" and self.metric not in METRICS["survival"]:
            raise ParameterError(
                f"metric {self.name!r} is none of censored times: use 'concordance' or "
                "'integrated_brier'.",
                parameter="metric",
            )
        if target.parts or self.of_worst:
            for part in target.parts or (target,):
                self.of_one.check(part)
            return
        n_classes = target.n_classes
        kwargs = {} if self._function is None else self._function.kwargs
        if n_classes > 2 and kwargs.get("average") == "binary":
            raise ParameterError(
                f"metric {self.name!r} is for two classes, but the target has {n_classes}: use "
                f"'{self.name}_macro', '{self.name}_weighted' or 'balanced_accuracy'.",
                parameter="metric",
            )
        if isinstance(self.metric, CostMatrix):
            self._costs(n_classes)

    def _costs(self, n_classes: int) -> FloatArray:
        """Return the table of a `CostMatrix`; refuse one of another number of classes."""
        table: FloatArray = self.metric.table
        if len(table) != n_classes:
            raise ParameterError(
                f"the CostMatrix is for {len(table)} classes, but the target has "
                f"{n_classes}: give one row and one column per class, sorted.",
                parameter="metric",
            )
        return table

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
        clusters: IntArray | None = None,
    ) -> FloatArray:
        """Return the loss of every row of a class target; its mean is the loss of the metric."""
        if self.of_worst:
            return self.of_one.of_classes(
                log_probabilities, labels, scores, classes=classes, weights=weights,
                clusters=clusters,
            )  # fmt: skip
        decided = log_probabilities if scores is None else scores
        if self._function is not None:
            names = np.arange(log_probabilities.shape[1]) if classes is None else classes
            equal = np.ones(len(labels)) if weights is None else weights
            rows = ClassRows(labels, decided, log_probabilities, names, equal, clusters)
            return row_values(*self._function.of_classes(rows), weights)
        each = np.arange(len(labels))
        probabilities = np.exp(log_probabilities)
        if self.name == "error":
            losses = np.asarray(decided.argmax(axis=1) != labels, dtype=np.float64)
        elif isinstance(self.metric, CostMatrix):
            costs = self._costs(probabilities.shape[1])
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
        clusters: IntArray | None = None,
    ) -> FloatArray:
        """Return the loss of every row of a numeric target; its mean is the loss of the metric."""
        if everything is None:
            everything, all_weights = values, weights
        if self.of_worst:
            known: dict[str, Any] = {"weights": weights, "all_weights": all_weights}
            known["clusters"] = clusters
            columns = [(slice(None), [j]) for j in range(values.shape[1])]
            return self.pooled(
                [
                    self.of_one.of_numbers(predictions[c], values[c], everything[c], **known)
                    for c in columns
                ]
            )
        if self._function is not None:
            equal = np.ones(len(values)) if weights is None else weights
            scored = self._function.of_numbers(predictions, values, equal, clusters)
            return row_values(*scored, weights)
        squares = (predictions - values) ** 2
        if self.name == "r2":
            own = column_variances(everything, all_weights)
            losses = np.mean(squares / np.maximum(own, np.finfo(np.float64).tiny), axis=1)
        elif self.name == "mse":
            losses = squares.mean(axis=1)
        elif self.name == "mae":
            losses = np.sqrt(squares).mean(axis=1)
        else:
            likelihood = log_likelihood_of_numbers(predictions, values, everything, weights)
            losses = -likelihood / values.shape[1]
        return weighted_rows(losses, weights)

    def of_survival(
        self,
        predictions: FloatArray,
        raw: FloatArray,
        times: FloatArray,
        *,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return one loss per row of censored times; their mean is the loss of the metric."""
        time, event = raw[:, 0], raw[:, 1] > 0
        equal = np.ones(len(time)) if weights is None else weights
        if self.name == "concordance":
            score, influence = concordance_influence(time, event, predictions[:, 0], equal)
            return row_values(1.0 - score, -influence, weights)
        refuse_without_curves(predictions, self.name)
        curves = predictions[:, 1:]
        return row_values(*brier_influence(time, event, curves, times, equal), weights)

    def pooled(self, losses: Sequence[FloatArray]) -> FloatArray:
        """Return the losses of several targets as one: their mean, or side by side."""
        return np.column_stack(losses) if self.of_worst else np.mean(losses, axis=0)

    def increase(
        self,
        less: FloatArray,
        full: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
        widening: float = 1.0,
    ) -> Difference:
        """Return the mean of ``less - full``, paired by rows, with one-sided confidence bounds.

        `widening` is that of cross-fitting, see `paired_difference`.
        """
        if self.of_worst:
            pairs = _targets(less, full)
            shared = 1.0 - (1.0 - confidence) / len(pairs)
            known = (clusters, weights, widening)
            each = [self.of_one.increase(*one, confidence, *known) for one in pairs]
            sure = [self.of_one.increase(*one, shared, *known) for one in pairs]
            return Difference(
                max(one.mean for one in each),
                max(one.lower for one in sure),
                max(one.upper for one in each),
            )
        return paired_difference(
            less - full,
            confidence,
            counts=self._own == "error",
            steps=self.metric.steps if isinstance(self.metric, CostMatrix) else None,
            clusters=clusters,
            weights=weights,
            widening=widening,
        )

    def gain(
        self,
        losses: FloatArray,
        prior: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
    ) -> Difference:
        """Return what features are worth: the mean of ``prior - losses``, with confidence bounds.

        Of the worst of several targets it is the gain of the one that gains most.
        """
        if not self.of_worst:
            lost = self.increase(losses, prior, confidence, clusters, weights)
            return Difference(-lost.mean, -lost.upper, -lost.lower)
        pairs = _targets(losses, prior)
        shared = 1.0 - (1.0 - confidence) / len(pairs)
        each = [self.of_one.gain(*one, shared, clusters, weights) for one in pairs]
        return max(each, key=lambda one: one.lower)

    def upper_bound(self, losses: FloatArray, facts: TargetFacts, confidence: float) -> float:
        """Return an upper confidence bound of a mean loss that holds for any distribution."""
        if facts.task == "classification" and facts.n_targets > 1:
            return float("inf")
        if self._own == "error":
            n_errors = math.ceil(float(losses.sum()) - 1e-9)  # means of repeats are fractions
            return error_rate_limit(n_errors, len(losses), confidence)
        if self._own == "brier":
            return bounded_loss_limit(losses, 2.0, confidence)
        if isinstance(self.metric, CostMatrix):
            return bounded_loss_limit(losses, float(self.metric.table.max()), confidence)
        known = facts.shares if self._own == "r2" and facts.shares is not None else facts
        length, variance = known.target_range, known.variance
        if self._own not in ("r2", "mse", "mae") or length is None or not variance:
            return float("inf")
        largest = {"r2": length**2 / variance, "mse": length**2, "mae": length}
        return bounded_loss_limit(losses, largest[self._own], confidence)

    @cached_property
    def _function(self) -> ScoreFunction | None:
        """The score function of a metric that is none of ours."""
        survival = isinstance(self.metric, str) and self.metric in METRICS["survival"]
        own = self._own or survival or isinstance(self.metric, CostMatrix | WorstTarget)
        return None if own else ScoreFunction(self.metric)

    @cached_property
    def of_one(self) -> "Metric":
        """The metric of one target, where the worst of several counts; else this one."""
        return Metric(self.metric.metric) if self.of_worst else self

    @property
    def _own(self) -> str:
        """The name of a metric of ours; a user's function may have the same."""
        return self.metric if isinstance(self.metric, str) and self.metric in OWN_METRICS else ""


def _targets(one: FloatArray, other: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return the losses of two models target by target."""
    return list(zip(np.atleast_2d(one.T), np.atleast_2d(other.T), strict=True))


def several_targets_note(target: Target, metric: Any) -> Notes:
    """Return a note that errors of several targets are averaged, where no metric says otherwise."""
    single = len(target.names) == 1 or target.task == "survival"  # a time and an event are one
    if single or isinstance(metric, WorstTarget):
        return ()
    return (Note("several targets", figures={"n_targets": len(target.names)}),)


def rare_class_note(target: Target, metric: Any, weights: FloatArray | None = None) -> Notes:
    """Return a note where an error rate that nobody chose hardly sees a class."""
    if target.labels is None or target.classes is None or metric != "auto":
        return ()
    rare = []
    for part in target.parts or (target,):
        assert part.labels is not None
        assert part.classes is not None
        sizes = np.bincount(part.labels, weights)
        shares = sizes / sizes.sum()
        rarest = int(shares.argmin())
        if len(shares) == 2 and shares[rarest] < _RARE:
            rare.append((part, part.classes[rarest], float(shares[rarest])))
    if not rare:
        return ()
    part, name, share = min(rare, key=lambda one: one[2])
    figures = {
        "name": str(name), "share": share, "target": part.names[0] if target.parts else None,
        "more": len(rare) - 1,
    }  # fmt: skip
    return (Note("rare class", figures=figures),)
