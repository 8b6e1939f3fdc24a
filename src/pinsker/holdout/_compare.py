"""What held-out rows say about every size of every path, and which set to take."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtri

from pinsker._compat import table_of
from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, Fields, FloatArray, IntArray, TableLike
from pinsker.bounds import (
    Difference,
    TargetFacts,
    effective_rows,
    few_per_class,
    few_rows_decide,
    fewest_needed,
    paired_differences,
    rows_needed,
    serial_blocks,
    simultaneous_confidence,
)
from pinsker.holdout._evaluate import ROWS_A_CATEGORY, HoldoutEvaluator
from pinsker.metrics import Metric
from pinsker.models import HoldoutScores, best_by_information, best_by_loss
from pinsker.search import (
    ROUNDING,
    Decision,
    ErrorBudget,
    FeatureCosts,
    SelectionPath,
    StoppingRule,
)


class CVResults(dict[str, AnyArray]):
    """What held-out rows say about every evaluated set: a dict of arrays, one entry per set."""

    rough: tuple["RoughIncrease", ...] = ()  # of sets that some folds evaluated, for pictures

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: one row a set, all columns but ``"support"``."""
        columns = {name: list(values) for name, values in self.items() if name != "support"}
        if "features" in columns:
            columns["features"] = [", ".join(names) for names in columns["features"]]
        return table_of(columns, library)

    def __repr__(self) -> str:
        if not self:
            return "CVResults(no rows were held out)"
        n_sets = len(next(iter(self.values())))
        sets = "1 evaluated set" if n_sets == 1 else f"{n_sets} evaluated sets"
        return f"CVResults({sets}, {len(self)} columns; to_frame() shows them)"


#: Confidence of the bounds that the cut is made by, for all sets that are evaluated together.
CONFIDENCE = 0.95
#: Confidence of one standard error: how far a set must be from all features, and all features from
#: the best set, so that the difference is not taken for chance. At a budget of 0.02 the error on
#: glass increases by 0.035 without it, by 0.011 with it and by 0.002 at 95 %; of the generators'
#: features 26, 30 and 36 % stay at 150 rows (benchmarks/evidence.py).
ONE_ERROR = 0.8413
#: Share of the error probability that `certify` gives the set of the fit; others have the rest.
OF_FIRST = 0.8
#: Notes of models that had too little time to learn.
_STARVED = ("few training rows", "fewer models")
#: Name of the result of all features.
ALL_FEATURES = "all features"


def first_confidence(confidence: float) -> float:
    """Return the confidence at which `certify` tests the set of the fit."""
    return 1.0 - OF_FIRST * (1.0 - confidence)


@dataclass(frozen=True)
class SubsetResult:
    """One set of one path on held-out rows."""

    search: str  # name of the search whose path it is on
    size: int  # number of features
    information: float  # the most that any model shows, and its standard error, in nats
    information_error: float
    lost: float  # information of the best set minus that of this one, never negative, in nats
    lost_upper: float
    lost_lower: float
    behind_all: float
    error: float
    error_upper: float
    increase: float
    increase_lower: float
    increase_upper: float
    excess: float
    excess_upper: float
    gain_lower: float  # lower 95 % confidence bound of the error without any feature minus `error`
    model_information: str
    model_error: str
    few_rows_decide: bool = False  # whether a hundredth of the rows carries the increase
    increase_error: float = math.nan  # standard error of the increase, widened
    absolute_increase: float = math.nan  # of the absolute error, where few rows decide
    absolute_upper: float = math.nan

    def meets(self, rule: ErrorBudget, facts: TargetFacts, metric: Metric) -> bool:
        """Return whether held-out rows speak for a set: by its errors, or by its information."""
        # Of classes the information lost is measured far better than the error rate; of numbers it
        # is the squared error by another name: on 79 tables twice as many sets broke the budget.
        # Nothing is chosen so that is not shown to predict (accuracy fell from .81 to .62).
        same = rule.metric_for(facts) == metric.metric
        upper = self.excess_upper
        if rule.confidence != CONFIDENCE:  # which the bounds of all sets have together
            part = float(ndtri(rule.confidence) / ndtri(CONFIDENCE))
            upper = self.excess + part * (upper - self.excess)
        if same and upper <= rule.delta + ROUNDING:
            return True
        if same and (facts.task != "classification" or self.excess > rule.delta + ROUNDING):
            return False
        if self.gain_lower <= 0.0:
            return False
        allowed = self.allowed(rule, facts, metric)
        return max(self.lost, self.behind_all) <= allowed + ROUNDING

    def may_stay(self, rule: ErrorBudget, facts: TargetFacts, metric: Metric) -> bool:
        """Return whether all features may be kept: they are left out on evidence alone."""
        if not metric.has_theory:
            return True  # held-out errors alone decide: a better set would have passed
        allowed = self.allowed(rule, facts, metric)
        return self.lost_lower <= allowed + ROUNDING or self.meets(rule, facts, metric)

    def allowed(self, rule: ErrorBudget, facts: TargetFacts, metric: Metric) -> float:
        """Return the information that a budget lets go, knowing the error of this set, in nats."""
        same = rule.metric_for(facts) == metric.metric and rule.constants == "sharp"
        known = same and np.isfinite(self.error_upper)
        bound = rule.bound(facts, max(self.error_upper, 0.0) if known else None)
        return float(bound.budget(float(rule.delta)))


#: Results by search and size.
Results: TypeAlias = dict[tuple[str, int], SubsetResult]


@dataclass(frozen=True, eq=False)
class References:
    """What every set is compared with."""

    prior: HoldoutScores  # the model without features
    most: HoldoutScores  # the most information of any set
    everything: HoldoutScores  # of all features
    reachable: HoldoutScores
    facts: TargetFacts  # what the bounds know of the target
    metric: Metric  # the metric of the errors
    confidence: float  # of the bounds of each set, so that all of them hold together with 95 %
    clusters: IntArray | None = None  # which held-out rows belong together
    weights: FloatArray | None = None  # weights of the held-out rows
    widening: float = 1.0  # of limits, where folds share the rows that models are fitted to
    doubts: Notes = ()  # what makes the limits doubtful

    @classmethod
    def of(
        cls,
        evaluated: dict[tuple[str, int], HoldoutScores],
        evaluator: HoldoutEvaluator,
        facts: TargetFacts,
    ) -> "References":
        """Find the best set and all features among those that were evaluated."""
        clusters, metric = evaluator.clusters, evaluator.metric
        top = best_by_information(list(evaluated.values()))
        everything = next(one for (path, _), one in evaluated.items() if path == ALL_FEATURES)
        reachable = best_by_loss([everything, top])
        gaps = np.column_stack([one.losses - everything.losses for one in evaluated.values()])
        doubts: Notes = ()
        if evaluator.in_time and clusters is None:
            blocks = serial_blocks(gaps)
            clusters = blocks.clusters
            if not blocks.enough:
                doubts = (Note("serial rows", figures={"r": blocks.autocorrelation}),)
        confidence = simultaneous_confidence(gaps, CONFIDENCE, clusters=clusters)
        known = (clusters, evaluator.weights, evaluator.widening, doubts)
        sets = (evaluator.prior, top, everything, reachable)
        return cls(*sets, facts, metric, confidence, *known)

    def compare(self, evaluated: dict[tuple[str, int], HoldoutScores]) -> Results:
        several, ends = list(evaluated.values()), (self.most, self.everything)
        gaps = [[end.log_likelihood - one.log_likelihood for one in several] for end in ends]
        how: Fields = {"clusters": self.clusters}
        near = [paired_differences(each, ONE_ERROR, **how) for each in gaps]
        how["widening"] = self.widening
        sure = [paired_differences(each, self.confidence, **how) for each in gaps]
        losses, known = [one.losses for one in several], (self.clusters, self.weights)
        limits = (self.confidence, *known, self.widening)
        increases = self.metric.increases(losses, self.everything.losses, *limits)
        excesses = self.metric.increases(losses, self.reachable.losses, *limits)
        gains = self.metric.gains(losses, self.prior.losses, CONFIDENCE, *limits[1:])
        uppers = [math.inf] * len(several)
        if self.clusters is None and self.weights is None:  # else there is no bound
            uppers = self.metric.upper_bounds(losses, self.facts, self.confidence)
        few = [False] * len(several)
        if not self.metric.row.counts and self.everything.losses.ndim == 1:
            few = [rests_on_few_rows(one, self.everything) for one in several]
        errors, prior = self._errors(several), self.prior.log_likelihood
        nats = np.stack([one.log_likelihood - prior for one in several])  # over no features
        n, means = nats.shape[1], nats.mean(axis=1).tolist()
        spreads = nats.std(axis=1, ddof=1) / math.sqrt(n) if n > 1 else np.full(len(nats), np.inf)
        information = list(zip(means, spreads.tolist(), strict=True))
        unknown, results = Difference(math.nan, math.nan, math.nan), {}
        for k, ((search, size), scores) in enumerate(evaluated.items()):
            absolute, increase, excess = None, increases[k], excesses[k]
            if few[k] and self.weights is None:
                about = (self.facts, self.confidence, self.clusters, self.widening)
                reference = self.everything.losses
                absolute = self.metric.increase_of_roots(scores.losses, reference, *about)
            results[search, size] = SubsetResult(
                search=search, size=size, information=information[k][0],
                information_error=information[k][1], lost=max(sure[0][k].mean, 0.0),
                lost_upper=max(sure[0][k].upper, sure[1][k].upper, 0.0),
                lost_lower=near[0][k].lower, behind_all=near[1][k].upper, error=scores.loss,
                error_upper=uppers[k], increase=increase.mean, increase_lower=increase.lower,
                increase_upper=increase.upper, excess=excess.mean,
                excess_upper=max(excess.upper, increase.upper), gain_lower=gains[k].lower,
                model_information=scores.model, model_error=scores.model, few_rows_decide=few[k],
                increase_error=errors[k], absolute_increase=(absolute or unknown).mean,
                absolute_upper=(absolute or unknown).upper,
            )  # fmt: skip
        return results

    def _errors(self, several: Sequence[HoldoutScores]) -> list[float]:
        """Return the standard errors of the increases, of the worst target if there are more."""
        gaps = np.stack([one.losses - self.everything.losses for one in several])
        columns = np.moveaxis(gaps.reshape(*gaps.shape[:2], -1), 1, 2)  # sets x targets x rows
        flat = list(columns.reshape(-1, columns.shape[2]))
        limits = paired_differences(flat, ONE_ERROR, clusters=self.clusters)
        halves = np.array([(one.upper - one.lower) / 2.0 for one in limits])
        worst = halves.reshape(len(several), -1).max(axis=1)
        return [self.widening * float(half) for half in worst]


def note_many_categories(many: Iterable[int], kept: Collection[int], names: Sequence[str]) -> Notes:
    """Name the features left out that models do not show the worth of."""
    gone = tuple(names[feature] for feature in many if feature not in kept)
    return (Note("few rows a category", gone, {"fewest": ROWS_A_CATEGORY}),) if gone else ()


def rests_on_few_rows(one: HoldoutScores, other: HoldoutScores) -> bool:
    moved = None
    if one.predicted is not None and other.predicted is not None:
        moved = one.predicted - other.predicted
    gaps = one.losses - other.losses
    return bool(gaps.any()) and few_rows_decide(gaps, moved)


class RoughIncrease(NamedTuple):
    """A set that some folds evaluated: none is chosen by it."""

    search: str
    n_features: int
    increase: float  # error minus that of all features on the same rows


class FrontPoint(NamedTuple):
    """A set that no other beats in cost and in error increase."""

    cost: float  # prices of its features together
    increase: float  # held-out error minus that of all features, in the metric
    features: tuple[str, ...]  # their names


@dataclass(frozen=True, eq=False)
class Comparison:
    """What held-out rows say about the sets of several paths."""

    paths: dict[str, SelectionPath]  # the paths on all rows
    results: Results
    facts: TargetFacts  # what the bounds know of the target
    metric: Metric  # the metric of the errors
    n_rows: int  # held-out rows, and folds
    n_folds: int
    n_draws: int  # of these folds
    error_none: float = math.nan  # held-out error without any feature
    n_groups: int = 0  # groups among the held-out rows
    notes: Notes = ()  # what a user should know of the held-out rows
    costs: FeatureCosts | None = None  # prices of the features
    n_train: int = 0  # rows that the models of a fold are fitted to
    n_effective: float = 0.0  # rows of equal weight that weighted ones are worth
    confidence: float = CONFIDENCE  # of the bounds of each set
    doubts: Notes = ()  # what makes the limits of all sets doubtful
    #: Sizes of sets that the first folds showed to be far from the budget, and lower limits.
    far: tuple[tuple[int, float], ...] = ()
    rough: tuple[RoughIncrease, ...] = ()  # sets that some folds evaluated, for pictures
    many_categories: tuple[int, ...] = ()  # features with few training rows in a category

    def __getstate__(self) -> Fields:
        return {**vars(self), "results": list(self.results.values())}  # names of JSON are texts

    def __setstate__(self, state: Fields) -> None:
        results = {(one.search, one.size): one for one in state["results"]}
        vars(self).update(state, results=results)

    def absolute(self, rule: ErrorBudget) -> ErrorBudget:
        return rule.absolute(self.error_none - self.of_all.error)

    @classmethod
    def of(
        cls,
        evaluated: dict[tuple[str, int], HoldoutScores],
        evaluator: HoldoutEvaluator,
        facts: TargetFacts,
        paths: dict[str, SelectionPath],
        costs: FeatureCosts | None = None,
    ) -> "Comparison":
        """Compare every set that was evaluated with the best, with all and with no features."""
        references = References.of(evaluated, evaluator, facts)
        labels, doubts = evaluator.data.rows.target.labels, references.doubts
        if labels is not None and few_per_class(labels[evaluator.rows]):
            doubts += (Note("few per class"),)
        clusters = evaluator.clusters
        return cls(
            paths, references.compare(evaluated), facts, evaluator.metric,
            n_rows=len(evaluator.rows), n_folds=len(evaluator.folds), n_draws=evaluator.n_draws,
            n_train=evaluator.n_train,
            error_none=evaluator.prior.loss, notes=evaluator.notes, costs=costs,
            n_groups=0 if clusters is None else len(np.unique(clusters)),
            n_effective=0.0 if evaluator.weights is None else effective_rows(evaluator.weights),
            confidence=references.confidence, doubts=doubts,
            many_categories=evaluator.many_categories,
        )  # fmt: skip

    def cost(self, result: SubsetResult) -> float:
        """Return what a set costs: its number of features, if they have no prices."""
        return float(result.size) if self.costs is None else self.costs.of(self._features(result))

    @property
    def front(self) -> list[FrontPoint]:
        """The sets that were evaluated and that no other beats in cost and in error increase."""
        front: list[FrontPoint] = []
        priced = [(self.cost(one), one.increase, one.size, one) for one in self.results.values()]
        for cost, increase, _, one in sorted(priced, key=lambda point: point[:3]):
            if not front or increase < front[-1].increase - ROUNDING:
                front.append(FrontPoint(cost, increase, self.features_of(one)))
        return front

    def doubts_about(self, result: SubsetResult) -> Notes:
        """Return what makes the limits of a set doubtful."""
        names, kept = next(iter(self.paths.values())).names, set(self._features(result))
        return self.doubts + note_many_categories(self.many_categories, kept, names)

    def _features(self, result: SubsetResult) -> Sequence[int]:
        path = self.paths.get(result.search)
        return path.order[: result.size] if path else range(result.size)

    @property
    def on_paths(self) -> list[SubsetResult]:
        return [result for result in self.results.values() if result.search != ALL_FEATURES]

    @property
    def of_all(self) -> SubsetResult:
        return next(one for one in self.results.values() if one.search == ALL_FEATURES)

    def likely(self, rule: ErrorBudget) -> SubsetResult | None:
        """Return the cheapest set whose estimated excess is within a budget, if one is smaller."""
        fewer = [one for one in self.on_paths if one.size < self.of_all.size]
        within = [one for one in fewer if one.excess <= rule.delta + ROUNDING]
        return min(within, key=lambda one: (self.cost(one), one.excess), default=None)

    def fewest_needed(self, rule: ErrorBudget) -> int:
        """Return the k for which no evaluated set of fewer features is within a budget; 0: none."""
        known = [*((one.size, one.increase_lower) for one in self.on_paths), *self.far]
        sizes = np.array([size for size, _ in known], dtype=np.int64)
        lower = np.array([limit for _, limit in known])
        found = min(fewest_needed(lower, sizes, float(rule.delta)), self.of_all.size)
        return found if np.any(sizes < found) else 0

    def features_of(self, result: SubsetResult) -> tuple[str, ...]:
        names = next(iter(self.paths.values())).names
        return tuple(names[feature] for feature in self._features(result))

    def rows_needed(self, result: SubsetResult, rule: ErrorBudget) -> float:
        expected, counts = max(result.excess, 0.0), self.metric.row.counts
        variance = max(self.n_rows * result.increase_error**2, counts / self.n_rows)
        sure = first_confidence(CONFIDENCE)
        return rows_needed(variance, float(rule.delta), expected, counts=counts, confidence=sure)

    def choose(self, rule: StoppingRule) -> tuple[SubsetResult, Decision]:
        if not isinstance(rule, ErrorBudget):
            return self._cut(rule)
        rule = self.absolute(rule)
        known = (rule, self.facts, self.metric)
        fewer = [result for result in self.on_paths if result.size < self.of_all.size]
        # Models that time has starved err alike with and without: that is no evidence to drop.
        starved = any(note.kind in _STARVED for note in self.notes)
        meeting = [result for result in fewer if result.meets(*known)]
        meeting = [one for one in meeting if one.gain_lower > 0.0 or not starved]
        if meeting:
            chosen = min(meeting, key=lambda one: (self.cost(one), one.size, -one.information))
            return chosen, Decision(chosen.size, chosen.allowed(*known))
        some = list(self.on_paths) or [self.of_all]  # one feature alone has no smaller set
        best = max(some, key=lambda result: (result.information, -result.size))
        of_all = self.of_all
        whole = [name for name, path in self.paths.items() if path.sizes.max() == of_all.size]
        for every in [replace(of_all, search=name) for name in whole[:1]]:
            if every.may_stay(*known) or best.gain_lower <= 0.0:
                alone = starved and len(fewer) == 1
                kind = "all are kept, one was tried" if alone else "all are kept"
                note = Note(kind, figures={"rule": rule.said})
                return every, Decision(every.size, every.allowed(*known), (note,))
        note = Note("most information is kept", figures={"rule": rule.said})
        return best, Decision(best.size, rule.budget(self.facts), (note,))

    def to_arrays(self, feature_columns: Sequence[Sequence[int]], n_columns: int) -> CVResults:
        """Return the results as arrays, one entry per set, as scikit-learn's searches do."""
        results = list(self.results.values())
        arrays: dict[str, AnyArray] = {}
        for part in fields(SubsetResult):
            values: list[Any] = [getattr(result, part.name) for result in results]
            is_text = isinstance(values[0], str)
            name = "n_features" if part.name == "size" else part.name
            arrays[name] = np.array(values, dtype=object if is_text else None)
        # One mask and one tuple an entry: a frame takes them.
        masks, features = np.empty(len(results), dtype=object), np.empty(len(results), dtype=object)
        for at, result in enumerate(results):
            kept, mask = self._features(result), np.zeros(n_columns, dtype=np.bool_)
            mask[[column for feature in kept for column in feature_columns[feature]]] = True
            masks[at], features[at] = mask, self.features_of(result)
        costs = np.array([self.cost(result) for result in results])
        found = CVResults({**arrays, "cost": costs, "features": features, "support": masks})
        found.rough = self.rough
        return found

    def _cut(self, rule: StoppingRule) -> tuple[SubsetResult, Decision]:
        """Cut every path by a rule that is no budget, and take the cut with most information."""
        cuts = {name: rule.decide(path, self.facts) for name, path in self.paths.items()}
        known = {result.search for result in self.on_paths}  # all sets of a path may be far off
        near = [self._nearest(name, cut.size) for name, cut in cuts.items() if name in known]
        near = near or [replace(self.of_all, search=next(iter(cuts)))]
        # A note says that a path does not go where the rule asks.
        best = max(near, key=lambda result: (not cuts[result.search].notes, result.information))
        cut = cuts[best.search]
        if best.size == cut.size:
            return best, cut
        note = Note("nearest set", figures={"size": best.size})
        return best, replace(cut, notes=(*cut.notes, note))

    def _nearest(self, name: str, size: int) -> SubsetResult:
        own = [result for result in self.on_paths if result.search == name]
        return min(own, key=lambda result: (abs(result.size - size), result.size))
