"""The metric of an error: one object from the budget to the audit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

import numpy as np

from pinsker._compat import scorer_parts
from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, Fields, FloatArray, IntArray, MetricChoice, Task, Unchecked
from pinsker.bounds import (
    Bound,
    Difference,
    TargetFacts,
    bounded_loss_limit,
    error_rate_limit,
    few_rows_decide,
    paired_difference,
    paired_differences,
)
from pinsker.encoding import Target
from pinsker.exceptions import ParameterError
from pinsker.metrics._influence import ClassRows, Influence, NumberRows, TimeRows, row_values
from pinsker.metrics._scorers import (
    CostMatrix,
    ScoreFunction,
    WorstTarget,
    check_metric,
    metric_name,
)
from pinsker.metrics._subgroups import SubgroupResult, Subgroups
from pinsker.metrics._table import (
    BLOCKS_LEFT_OUT,
    DELTA,
    GROUPS_LEFT_OUT,
    MEAN,
    METRICS,
    MetricRow,
    UnknownBound,
    bound_for,
    metric_row,
    unlisted_row,
)
from pinsker.models import (
    HoldoutScores,
    calibrated,
    grid_times,
    log_likelihood_of_numbers,
    log_likelihood_of_times,
)

_refused = partial(ParameterError, parameter="metric")
#: A class of fewer rows than this hardly counts in an error rate.
_RARE = 0.1


@dataclass(frozen=True)
class Metric:
    """A loss with one value per row, and what may be said about its mean."""

    metric: MetricChoice  # a name, a scorer, a function, a `CostMatrix` or a `WorstTarget`
    subgroups: Subgroups | None = field(default=None, compare=False)  # with budgets of their own

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", check_metric(self.metric))

    @property
    def name(self) -> str:
        """Name of the metric in certificates."""
        return metric_name(self.metric)

    def is_same(self, other: "Metric") -> bool:
        """Return whether another metric is this one, with the same parameters."""
        if self.of_worst and other.of_worst:
            return self.of_one.is_same(other.of_one)
        one, two = (scorer_parts(metric.metric) for metric in (self, other))
        return self.metric == other.metric or (one is not None and one == two)

    @property
    def row(self) -> MetricRow:
        """What is known of the metric; a user's function may have the name of one of ours."""
        if isinstance(self.metric, CostMatrix):
            largest = float(self.metric.table.max())
            return replace(metric_row("cost"), losses=(self._costs,), largest_loss=largest)
        named = isinstance(self.metric, str | WorstTarget)
        return metric_row(self.name) if named else unlisted_row(self.name)

    @property
    def of_all_rows(self) -> "Metric":
        return self if self.subgroups is None else Metric(self.metric)

    def on_rows(self, rows: IntArray) -> "Metric":
        parts = self.subgroups
        return self if parts is None else replace(self, subgroups=parts.on_rows(rows))

    @property
    def has_theory(self) -> bool:
        """Whether a theorem ties the metric to information; else held-out rows alone decide."""
        return self.row.theory is not None

    @property
    def of_worst(self) -> bool:
        return isinstance(self.metric, WorstTarget)

    @property  # not a cached one: what refers to itself cannot be written by skops
    def of_one(self) -> "Metric":
        """The metric of one target, where the worst of several counts; else this one."""
        return Metric(self.metric.metric) if self.of_worst else self

    @cached_property
    def _function(self) -> ScoreFunction | None:
        """The score function of a metric of one target that is none of ours."""
        return None if self.row.losses else ScoreFunction(self.metric)

    @property
    def needs(self) -> str:
        """What a classifier must give: "predictions", "scores" or "probabilities"."""
        one = self.of_one
        return one.row.needs if one._function is None else one._function.needs

    def method(self, task: Task, *, grouped: bool = False) -> str:
        """Return how the standard error is found, in words; `grouped` if rows belong together."""
        if task == "survival":
            return DELTA
        function = self.of_one._function
        found = MEAN if function is None else function.method(task)
        return GROUPS_LEFT_OUT if grouped and found == BLOCKS_LEFT_OUT else found

    def check(self, target: Target) -> None:
        if target.task == "survival" and self.metric not in METRICS["survival"]:
            raise _refused(
                f"metric {self.name!r} is none of censored times: use "
                f"{' or '.join(map(repr, METRICS['survival']))}."
            )
        if target.parts or self.of_worst:
            for part in target.parts or (target,):
                self.of_one.check(part)
            return
        n_classes = target.n_classes
        kwargs = {} if self._function is None else self._function.kwargs
        if n_classes > 2 and kwargs.get("average") == "binary":
            raise _refused(
                f"metric {self.name!r} is for two classes, but the target has {n_classes}: use "
                f"'{self.name}_macro', '{self.name}_weighted' or 'balanced_accuracy'."
            )
        positive = kwargs.get("pos_label")
        classes = [] if target.classes is None else target.classes.tolist()
        if positive is not None and n_classes == 2 and positive not in classes:
            raise _refused(
                f"pos_label={positive!r} of metric {self.name!r} is none of the classes "
                f"{' and '.join(map(repr, classes))}: name one of them."
            )
        if isinstance(self.metric, CostMatrix):
            self._check_costs(n_classes)

    def _check_costs(self, n_classes: int) -> None:
        if len(self.metric.costs) != n_classes:
            raise _refused(
                f"the CostMatrix is for {len(self.metric.costs)} classes, but the target has "
                f"{n_classes}: give one row and one column per class, sorted."
            )

    def _costs(self, rows: ClassRows) -> FloatArray:
        """Return what the class of least expected cost costs, row by row."""
        self._check_costs(rows.log_probabilities.shape[1])
        costs: FloatArray = self.metric.table
        cheapest = (np.exp(rows.log_probabilities) @ costs).argmin(axis=1)
        return np.asarray(costs[rows.labels, cheapest])

    def bound(self, facts: TargetFacts, error_limit: float | None = None, **how: str) -> Bound:
        """Return the theorem that ties the metric to information, or an unknown one."""
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
        decided = log_probabilities if scores is None else scores
        names = np.arange(log_probabilities.shape[1]) if classes is None else classes
        known = (names, _equal_or(weights, labels), clusters)
        rows = ClassRows(labels, decided, log_probabilities, *known)
        function = self.of_one._function
        if function is not None:
            return row_values(*function.of_classes(rows), weights)
        return weighted_rows(self.of_one.row.losses_of("classification")(rows), weights)

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
            each = [
                self.of_one.of_numbers(
                    predictions[:, [j]], values[:, [j]], everything[:, [j]], weights=weights,
                    all_weights=all_weights, clusters=clusters,
                )
                for j in range(values.shape[1])
            ]  # fmt: skip
            return self.pooled(each)
        if self._function is not None:
            equal = _equal_or(weights, values)
            scored = self._function.of_numbers(predictions, values, equal, clusters)
            return row_values(*scored, weights)
        rows = NumberRows(predictions, values, everything, weights, all_weights)
        return weighted_rows(self.row.losses_of("regression")(rows), weights)

    def of_survival(
        self,
        predictions: FloatArray,
        raw: FloatArray,
        times: FloatArray,
        *,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return one loss per row of censored times; their mean is the loss of the metric."""
        when = (raw[:, 0], raw[:, 1] > 0, times)
        rows = TimeRows(predictions, *when, _equal_or(weights, raw))
        scored: Influence = self.row.losses_of("survival")(rows)
        return row_values(*scored, weights)

    def pooled(self, losses: Sequence[FloatArray]) -> FloatArray:
        """Return the losses of several targets as one: their mean, or side by side."""
        return np.column_stack(losses) if self.of_worst else np.mean(losses, axis=0)

    def score_holdout(
        self,
        model: str,
        scores: FloatArray,
        target: Target,
        rows: IntArray,
        weights: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> HoldoutScores:
        """Turn raw held-out scores of all folds into log-likelihoods and losses."""
        if target.parts:  # log-likelihoods add up, and losses are pooled
            ends = np.cumsum([part.n_classes for part in target.parts])
            blocks = zip(np.split(scores, ends[:-1], axis=1), target.parts, strict=True)
            each = [self.score_holdout(model, *one, rows, weights) for one in blocks]
            likelihood = np.sum([one.log_likelihood for one in each], axis=0)
            losses = self.pooled([one.losses for one in each])
            return HoldoutScores(model, likelihood, losses, self.name)
        own = None if weights is None else weights[rows]
        together = None if groups is None else groups[rows]
        if target.labels is not None:
            labels = target.labels[rows]
            logs = calibrated(scores, labels, own)
            likelihood = logs[np.arange(len(labels)), labels]
            losses = self.of_classes(
                logs, labels, scores, classes=target.classes, weights=own, clusters=together
            )
            return HoldoutScores(model, weighted_rows(likelihood, own), losses, self.name)
        every, raw = target.numbers, target.numbers[rows]
        if target.task == "survival":
            likelihood = log_likelihood_of_times(scores[:, 0], raw, own)
            losses = self.of_survival(scores, raw, grid_times(every), weights=own)
        else:
            likelihood = log_likelihood_of_numbers(scores, raw, every, own)
            losses = self.of_numbers(
                scores, raw, every, weights=own, all_weights=weights, clusters=together
            )
        predicted = scores[:, 0] if target.task == "regression" and scores.shape[1] == 1 else None
        return HoldoutScores(model, weighted_rows(likelihood, own), losses, self.name, predicted)

    def increase(
        self, less: FloatArray, full: FloatArray, confidence: float, *known: Unchecked
    ) -> Difference:
        """Return the mean of ``less - full`` with limits, in the subgroup where it is largest."""
        if self.subgroups is not None:
            return self.subgroups.worst(self.of_all_rows.increase, less, full, confidence, *known)
        if self.of_worst:
            pairs = _targets(less, full)
            shared = 1.0 - (1.0 - confidence) / len(pairs)
            each, sure = (
                [self.of_one.increase(*pair, level, *known) for pair in pairs]
                for level in (confidence, shared)
            )
            return Difference(
                max(one.mean for one in each),
                max(one.lower for one in sure),
                max(one.upper for one in each),
            )
        return self.increases([less], full, confidence, *known)[0]

    def increases(
        self,
        several: Sequence[FloatArray],
        full: FloatArray,
        confidence: float,
        clusters: IntArray | None = None,
        weights: FloatArray | None = None,
        widening: float = 1.0,
    ) -> list[Difference]:
        """Return the `increase` of each of several losses over the same."""
        if self.of_worst or self.subgroups is not None:
            known = (confidence, clusters, weights, widening)
            return [self.increase(less, full, *known) for less in several]
        steps = self.metric.steps if isinstance(self.metric, CostMatrix) else None
        how = {"clusters": clusters, "weights": weights, "widening": widening, "steps": steps}
        gaps = [less - full for less in several]
        return paired_differences(gaps, confidence, counts=self.row.counts, **how)

    def by_subgroup(
        self,
        less: FloatArray,
        full: FloatArray,
        *given: Unchecked,
        budget: float,
        also: tuple[FloatArray, FloatArray] | None = None,
    ) -> tuple[SubgroupResult, ...]:
        """Return the increase in every subgroup, as `increase` finds it; none without subgroups."""
        if self.subgroups is None:
            return ()
        how: Fields = {"budget": budget, "counts": self.row.counts, "also": also}
        return self.subgroups.table(self.of_all_rows.increase, less, full, *given, **how)

    def increase_of_roots(
        self,
        less: FloatArray,
        full: FloatArray,
        facts: TargetFacts,
        confidence: float,
        clusters: IntArray | None = None,
        widening: float = 1.0,
    ) -> Difference | None:
        """Return the increase of the absolute error of a squared one, unless few rows decide it."""
        if not self.row.root_unit or facts.n_targets > 1 or min(less.min(), full.min()) < 0.0:
            return None
        roots = np.sqrt(less) - np.sqrt(full)
        if few_rows_decide(roots):
            return None
        return paired_difference(roots, confidence, clusters=clusters, widening=widening)

    def gains(
        self, several: Sequence[FloatArray], prior: FloatArray, confidence: float, *known: Unchecked
    ) -> list[Difference]:
        """Return what features are worth: ``prior - losses``, of the target that gains most."""
        if not self.of_worst:
            lost = self.of_all_rows.increases(several, prior, confidence, *known)
            return [Difference(-one.mean, -one.upper, -one.lower) for one in lost]
        found = []
        for pairs in (_targets(losses, prior) for losses in several):
            shared = 1.0 - (1.0 - confidence) / len(pairs)
            each = [self.of_one.gains([one], other, shared, *known)[0] for one, other in pairs]
            found.append(max(each, key=lambda one: one.lower))
        return found

    def upper_bound(self, losses: FloatArray, facts: TargetFacts, confidence: float) -> float:
        if facts.task == "classification" and facts.n_targets > 1:
            return math.inf
        if self.row.counts:
            n_errors = math.ceil(float(losses.sum()) - 1e-9)  # means of repeats are fractions
            return _rate_limit(n_errors, len(losses), confidence)
        largest = self.row.largest_loss_of(facts)
        return math.inf if math.isinf(largest) else bounded_loss_limit(losses, largest, confidence)

    def upper_bounds(
        self, several: Sequence[FloatArray], facts: TargetFacts, confidence: float
    ) -> list[float]:
        return [self.upper_bound(losses, facts, confidence) for losses in several]

    def rare_rows(self, facts: TargetFacts, n: float) -> float:
        """Return what rows rarer than 3 in n could add: one sample in twenty has none."""
        return 3.0 / n * metric_row(self.name).largest_loss_of(facts)


#: Every set is looked at again whenever another one joins.
_rate_limit = lru_cache(maxsize=4096)(error_rate_limit)


def weighted_rows(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return values whose plain mean is the weighted mean, and whose spread gives its error."""
    if weights is None:
        return np.asarray(values)
    mean = float(np.average(values, weights=weights))
    return np.asarray(mean + (values - mean) * weights / weights.mean())


def _equal_or(weights: FloatArray | None, rows: AnyArray) -> FloatArray:
    return np.ones(len(rows)) if weights is None else weights


def _targets(one: FloatArray, other: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    return list(zip(np.atleast_2d(one.T), np.atleast_2d(other.T), strict=True))


def several_targets_note(target: Target, metric: MetricChoice) -> Notes:
    """Return a note that errors of several targets are averaged, where no metric says otherwise."""
    single = len(target.names) == 1 or target.task == "survival"  # a time and an event are one
    if single or isinstance(metric, WorstTarget):
        return ()
    return (Note("several targets", figures={"n_targets": len(target.names)}),)


def rare_class_note(
    target: Target, metric: MetricChoice, weights: FloatArray | None = None
) -> Notes:
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
