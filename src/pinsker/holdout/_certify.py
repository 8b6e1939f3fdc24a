"""The set that is kept, and its certificate: of a path alone, of cross-fitting, of fresh rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import Fields, FloatArray, IntArray, Unchecked
from pinsker.bounds import (
    Bound,
    Difference,
    TargetFacts,
    effective_rows,
    fano_error,
    few_per_class,
    hellman_raviv_error,
    paired_difference,
)
from pinsker.encoding import plural
from pinsker.engine import Problem
from pinsker.holdout._certificate import (
    CERTIFICATE,
    CROSS_VALIDATED,
    ESTIMATE,
    NOT_TESTED,
    Certificate,
    weights_of,
)
from pinsker.holdout._compare import (
    CONFIDENCE,
    OF_FIRST,
    Comparison,
    SubsetResult,
    first_confidence,
    note_many_categories,
    rests_on_few_rows,
)
from pinsker.holdout._evaluate import FeatureSet, FitContext, HoldoutEvaluator
from pinsker.holdout._rows import (
    Fold,
    RowPlan,
    as_own_table,
    blocks_of_time,
)
from pinsker.holdout._sizes import geometric_sizes
from pinsker.information import set_terms, state_entropy
from pinsker.metrics import METRICS, Metric
from pinsker.models import HoldoutScores
from pinsker.search import (
    Deadline,
    Decision,
    ErrorBudget,
    SelectionPath,
    StoppingRule,
    TimeIsUp,
    measure_sets,
)

#: What the rows of a certificate were to the search.
SEARCH_ROWS = "those of the search itself"
FRESH_ROWS = "fresh rows"
CERTIFICATION_ROWS = "held out for certification: they took no part in the choice"
LATEST_ROWS = "the latest, held out for certification: they took no part in the choice"
#: With fewer rows the confidence bounds are off by more than a hundredth; how far was measured at
#: 60 rows (benchmarks/calibration.py, reporting seeds: 5.5 ± 1.6 % in the worst of eight designs).
FEWEST_CERTIFIED = 100
#: R² with no features is as near to zero unless rows are few or vary unlike the others.
_OTHER_SPREAD = 0.03


def path_certificate(
    path: SelectionPath,
    rule: StoppingRule,
    decision: Decision,
    facts: TargetFacts,
    n_rows: int,
    rows: str = SEARCH_ROWS,
) -> Certificate:
    """Return what a path alone says about a decision: nothing was held out."""
    budget = rule if isinstance(rule, ErrorBudget) else None
    position = int(abs(decision.size - path.sizes[0]))
    lost = budget.lost(path) if budget else path.lost()
    return Certificate(
        metric=path.metric or METRICS[facts.task][0], confidence=math.nan,
        budget=float(budget.delta) if budget else math.nan,
        n_rows=n_rows, n_kept=decision.size, n_features=path.n_features,
        features=_names(path, decision.size), rows=rows, rule=str(rule),
        information_budget=decision.budget, information_lost=float(lost[position]),
        bound=path.bound_at(decision.size), notes=decision.notes, label=NOT_TESTED,
    )  # fmt: skip


#: Standard errors by which a figure is moved before "at most" or "at least" is said of it.
_ERRORS = 2.0


def interval_notes(context: FitContext, path: SelectionPath, size: int) -> Notes:
    """Return the error of what a set of a path lacks, and for classes both bounds of its error."""
    encoded, rule, facts = context.encoded, context.budget, context.facts
    position = int(abs(size - path.sizes[0]))
    lost = float(rule.lost(path)[position])
    if encoded.weights is not None or not rule.has_theory or not math.isfinite(lost):
        return ()
    labels, k = encoded.target.labels, context.settings.knn.n_neighbors
    best = path.order[: path.best_size] if rule.reference == "best" else range(encoded.n_features)
    problem, sets = Problem.of(encoded), (path.order[:size], best)
    kept, most = (set_terms(problem, own, k=k, method="knn").terms for own in sets)
    of_lost, of_kept = (float(np.std(one)) / math.sqrt(len(one)) for one in (most - kept, kept))
    bound = float(rule.bound(facts).growth(lost + _ERRORS * of_lost))
    by_error = Note("error of what is lost", figures={"error": of_lost, "bound": bound})
    notes: Notes = (by_error,) if of_lost > 0.0 else ()
    if labels is None or facts.n_targets > 1 or rule.metric_for(facts) != "error":
        return notes
    entropy = state_entropy(labels, "none")
    left = min(max(entropy - path.information[position], 0.0), entropy)
    ends = np.clip([left - _ERRORS * of_kept, left + _ERRORS * of_kept], 0.0, entropy)
    said = {"left": left, "error": of_kept, "upper": hellman_raviv_error(float(ends[1]))}
    said["lower"] = fano_error(float(ends[0]), int(labels.max()) + 1)
    return (*notes, Note("Bayes error of a set", figures=said))


def crossfit_certificate(
    comparison: Comparison, result: SubsetResult, rule: StoppingRule, decision: Decision
) -> Certificate:
    """Return what the rows that chose a set say about it: an estimate."""
    budget = comparison.absolute(rule) if isinstance(rule, ErrorBudget) else None
    everything, facts, metric = comparison.of_all, comparison.facts, comparison.metric
    all_stay = result.size == everything.size  # nothing is left out, and nothing lost
    doubts = comparison.doubts_about(result)
    if result.few_rows_decide and not all_stay:
        absolute = (result.absolute_increase, result.absolute_upper)
        doubts += (note_few_rows(metric, *absolute),)
    is_sure = comparison.n_folds > 1 and not doubts and weights_of(decision.notes) <= {"known"}
    likely = comparison.likely(budget) if budget else None
    certificate = Certificate(
        metric=metric.name,
        budget=float(budget.delta) if budget else math.nan,
        confidence=CONFIDENCE,
        standard_error=metric.method(facts.task, grouped=comparison.n_groups > 0),
        n_rows=comparison.n_rows,
        n_kept=decision.size,
        n_features=everything.size,
        features=_names(comparison.paths[result.search], decision.size),
        rows=_crossfit_rows(comparison),
        rule=str(rule),
        information_budget=(result.allowed(budget, facts, metric) if budget else math.nan),
        information_lost=result.lost,
        information_upper=result.lost_upper,
        bound=_bound(result.lost_upper, metric, facts, result.error_upper, budget),
        error_all=everything.error,
        error_kept=result.error,
        increase=0.0 if all_stay else result.increase,
        increase_lower=0.0 if all_stay else result.increase_lower,
        increase_upper=0.0 if all_stay else result.increase_upper,
        excess=math.nan if all_stay else result.excess,
        excess_upper=math.nan if all_stay else result.excess_upper,
        model_all=everything.model_error,
        model_kept=result.model_error,
        error_upper=result.error_upper,
        notes=decision.notes + doubts,
        label=CROSS_VALIDATED if is_sure else ESTIMATE,
        error_none=comparison.error_none,
        gain_lower=max(everything.gain_lower, result.gain_lower),
        rare_rows=metric.rare_rows(
            facts, comparison.n_groups or comparison.n_effective or comparison.n_rows
        ),
        n_groups=comparison.n_groups,
        n_train=comparison.n_train,
        fewest_needed=comparison.fewest_needed(budget) if budget else 0,
        likely=() if likely is None else comparison.features_of(likely),
        likely_increase=math.nan if likely is None else likely.increase,
        likely_upper=math.nan if likely is None else likely.excess_upper,
        rows_needed=comparison.rows_needed(likely, budget) if likely and budget else math.nan,
    )
    return with_notes(certificate)


def note_few_rows(metric: Metric, mean: float = math.nan, upper: float = math.nan) -> Note:
    """Return that few rows decide, with a metric beside that they decide less."""
    figures = {"unit": metric.row.root_unit, "mean": mean, "upper": upper}
    return Note("few rows decide", figures=figures)


def with_notes(certificate: Certificate) -> Certificate:
    """Return a certificate that says what its figures hide."""
    notes, none = certificate.notes, certificate.error_none
    if certificate.lets_all_go and certificate.verdict != "not shown to be predictable":
        by_errors = " by errors" if certificate.metric == "error" else ""
        notes += (Note(f"lets all go{by_errors}"),)
    if certificate.metric == "r2" and abs(none - 1.0) > _OTHER_SPREAD:
        notes += (Note("other spread", figures={"r2": 1.0 - none}),)
    return replace(certificate, notes=notes)


def with_subgroups(
    certificate: Certificate,
    evaluator: HoldoutEvaluator,
    losses: tuple[FloatArray, FloatArray],
    also: tuple[FloatArray, FloatArray] | None = None,
    confidence: float | None = None,
) -> Certificate:
    """Return a certificate with what its set costs each subgroup, by losses of less and of all."""
    budget, level = certificate.budget, confidence or certificate.confidence
    given = (level, evaluator.clusters, evaluator.weights, evaluator.widening)
    found = evaluator.metric.by_subgroup(*losses, *given, budget=budget, also=also)
    if not found:
        return certificate
    upper = max(one.increase_upper - one.budget for one in found) + budget
    small = tuple(one.name for one in found if one.n_rows < FEWEST_CERTIFIED)
    notes = (Note("small subgroups", small, {"fewest": FEWEST_CERTIFIED}),) if small else ()
    label = ESTIMATE if small and certificate.label == CERTIFICATE else certificate.label
    upper = max(certificate.increase_upper, upper)
    about: Fields = {"subgroups": found, "notes": certificate.notes + notes, "label": label}
    return replace(certificate, increase_upper=upper, **about)


class FreshRows:
    """Tests sets of a path on rows that took no part in the search."""

    def __init__(
        self,
        context: FitContext,
        folds: tuple[Fold, ...],
        confidence: float = CONFIDENCE,
        rows: str = FRESH_ROWS,
    ) -> None:
        self.encoded, self.facts, self.confidence = context.encoded, context.facts, confidence
        self.rule, self.rows = context.budget, rows
        self.evaluator = context.evaluator(folds)
        few, n_apart = (Note("few rows"),), len(self.evaluator.rows)
        if context.copies and self.evaluator.clusters is not None:  # a row and its copies are one
            n_apart = len(np.unique(self.evaluator.clusters))
        if self.evaluator.weights is not None:
            n_apart = min(n_apart, round(effective_rows(self.evaluator.weights)))
        weak = (*context.notes, *(few if n_apart < FEWEST_CERTIFIED else ()))
        labels = self.encoded.target.labels
        if labels is not None and few_per_class(labels[self.evaluator.rows]):
            weak += (Note("few per class"),)
        own = self.evaluator.notes
        weak += tuple(one for one in own if one.kind != "weights" and one not in context.copies)
        self.label = ESTIMATE if weak else CERTIFICATE
        self.notes = tuple(dict.fromkeys(weak + own))
        rng = np.random.default_rng(context.seed)
        self.shuffle = _shuffle(self.encoded.n_rows, context.groups, rng)

    @classmethod
    def of_plan(cls, context: FitContext, plan: RowPlan) -> "FreshRows":
        """Return the rows of a fit that took no part in its choice."""
        assert plan.certify is not None
        encoded, fold, rows = as_own_table(context.encoded, plan.certify)
        groups = None if context.groups is None else context.groups[rows]
        facts = TargetFacts.of(encoded.target, encoded.weights)
        subgroups = None if context.subgroups is None else context.subgroups.on_rows(rows)
        own = replace(
            context, encoded=encoded, facts=facts, groups=groups, subgroups=subgroups, notes=()
        )
        return cls(own, (fold,), rows=LATEST_ROWS if plan.by_time else CERTIFICATION_ROWS)

    def limit_time(self, known: HoldoutEvaluator, deadline: Deadline) -> None:
        """Leave training rows out where fits to others show that all of them take too long."""
        before = len(self.evaluator.notes)
        self.evaluator.limit_time_as(known, deadline)
        if weak := self.evaluator.notes[before:]:
            self.label, self.notes = ESTIMATE, self.notes + weak

    def certify_sizes(
        self,
        order: FeatureSet,
        size: int,
        smaller: Sequence[int],
        larger: Sequence[int],
        best: FeatureSet,
    ) -> Certificate:
        """Test a set, then smaller ones while they pass; where it fails, larger ones."""
        # Other rows named all of them: a fixed sequence needs no correction (Maurer, Hothorn,
        # Lehmacher 1995). The larger ones have the fifth of the error probability that is left.
        everything, n_folds = tuple(range(self.encoded.n_features)), len(self.evaluator.folds)
        known = [[one] * n_folds for one in (everything, order[:size], best)]
        full, alpha = self.evaluator.evaluate(known)[0], 1.0 - self.confidence  # fits side by side
        self.confidence = first_confidence(self.confidence)
        first = self._test(order[:size], full, best)
        is_met = first.verdict == "met"
        if not is_met:
            self.confidence = 1.0 - (1.0 - OF_FIRST) * alpha
        return self._last_met(order, smaller if is_met else larger, full, best) or first

    def certify(self, order: FeatureSet, wanted: int) -> Certificate:
        """Test the set of the fit; where it fails, name the smallest larger set that passes."""
        everything, n_folds = tuple(range(self.encoded.n_features)), len(self.evaluator.folds)
        self.evaluator.race([[everything] * n_folds, [order[:wanted]] * n_folds])
        full, alpha = self._evaluate(everything), 1.0 - self.confidence
        self.confidence = first_confidence(self.confidence)
        certificate = self._test(order[:wanted], full)
        if certificate.verdict == "met" or wanted == len(everything):
            return certificate
        largest = min(len(order), len(everything) - 1)
        self.confidence = 1.0 - (1.0 - OF_FIRST) * alpha
        sizes = geometric_sizes(wanted, max(largest, wanted), 1.5)[:0:-1]
        return replace(certificate, passed=self._last_met(order, sizes, full))

    def _last_met(
        self, order: FeatureSet, sizes: Sequence[int], *against: Unchecked
    ) -> Certificate | None:
        """Test sets one after the other while they pass; return the last that did."""
        passed: Certificate | None = None
        for size in sizes:
            try:
                tested = self._test(order[:size], *against)
            except TimeIsUp:  # what has passed before stays true
                break
            if tested.verdict != "met":
                break
            passed = _as_proven(tested)
        return passed

    def differences(self, features: FeatureSet) -> list[FloatArray]:
        """Return the paired differences that a certificate of a set limits, one row each."""
        full = self._evaluate(tuple(range(self.encoded.n_features)))
        pairs = (self._evaluate(features), full), (self._evaluate_shuffled(features), full)
        gaps = [less.losses - more.losses for less, more in pairs]
        return [one if one.ndim == 1 else one.mean(axis=1) for one in gaps]

    def _test(
        self, features: FeatureSet, full: HoldoutScores, best: FeatureSet | None = None
    ) -> Certificate:
        """Return the certificate of one set."""
        kept = self._evaluate(features)
        if best is None:
            less, more = self._evaluate_shuffled(features), full
        else:
            less, more = kept, self._evaluate(best)
        clusters, confidence = self._clusters(kept.losses - full.losses), self.confidence
        weights, widening = self.evaluator.weights, self.evaluator.widening
        known = (confidence, clusters, weights, widening)
        gaps = more.log_likelihood - less.log_likelihood
        lost = paired_difference(gaps, confidence, clusters=clusters, widening=widening)
        metric, facts = self.evaluator.metric, self.facts
        losses, reference = kept.losses, full.losses
        rule = self.rule.absolute(self.evaluator.prior.loss - full.loss)
        increase = self._increase(losses, reference)
        excess = self._increase(less.losses, more.losses)
        worth = metric.gains((losses, reference), self.evaluator.prior.losses, *known)
        upper = self._error_upper(losses)
        all_stay = len(features) == self.encoded.n_features
        doubts = self._doubts(features, kept, full) if not all_stay else ()
        groups = self.evaluator.clusters
        n_groups = 0 if groups is None else len(np.unique(groups))
        n_effective = len(losses) if weights is None else effective_rows(weights)
        certificate = Certificate(
            metric=metric.name,
            budget=float(rule.delta),
            confidence=confidence,
            standard_error=metric.method(facts.task, grouped=n_groups > 0),
            n_rows=len(self.evaluator.rows),
            n_kept=len(features),
            n_features=self.encoded.n_features,
            features=tuple(self.encoded.feature_names[feature] for feature in features),
            rows=self.rows,
            rule=str(self.rule),
            information_budget=float(_theorem(rule, facts, upper).budget(float(rule.delta))),
            information_lost=max(lost.mean, 0.0),
            information_upper=max(lost.upper, 0.0),
            bound=_bound(max(lost.upper, 0.0), metric, facts, upper, rule),
            error_all=full.loss,
            error_kept=kept.loss,
            increase=0.0 if all_stay else increase.mean,
            increase_lower=0.0 if all_stay else increase.lower,
            increase_upper=0.0 if all_stay else increase.upper,
            excess=math.nan if all_stay else excess.mean,
            excess_upper=math.nan if all_stay else excess.upper,
            model_all=full.model,
            model_kept=kept.model,
            error_upper=upper,
            notes=self.notes + doubts + self._worst_note(losses, reference),
            label=ESTIMATE if doubts else self.label,
            error_none=self.evaluator.prior.loss,
            gain_lower=max(one.lower for one in worth),
            rare_rows=metric.rare_rows(facts, n_groups or n_effective),
            n_groups=n_groups,
            n_train=self.evaluator.n_train,
        )
        if not all_stay:
            pairs = (losses, reference), (less.losses, more.losses)
            certificate = with_subgroups(certificate, self.evaluator, *pairs)
        return with_notes(certificate)

    def _doubts(self, features: FeatureSet, kept: HoldoutScores, full: HoldoutScores) -> Notes:
        """Return what makes the limits of an increase doubtful."""
        metric, gaps = self.evaluator.metric, kept.losses - full.losses
        doubts = note_many_categories(
            self.evaluator.many_categories, features, self.encoded.feature_names
        )
        if gaps.ndim > 1 or not gaps.any():
            return doubts
        clusters = self.evaluator.clusters
        if not metric.row.counts and rests_on_few_rows(kept, full):
            known = (self.facts, self.confidence, clusters, self.evaluator.widening)
            other = metric.increase_of_roots(kept.losses, full.losses, *known)
            doubts += (note_few_rows(metric, *((other.mean, other.upper) if other else ())),)
        return doubts + (blocks_of_time(gaps)[1] if self.evaluator.in_time else ())

    def _worst_note(self, losses: FloatArray, reference: FloatArray) -> Notes:
        """Return which of several targets has the largest increase, where the worst one counts."""
        if not self.evaluator.metric.of_worst:
            return ()
        names = self.encoded.target.names
        worst = names[int((losses - reference).mean(axis=0).argmax())]
        return (Note("worst target", (worst,), {"n_targets": len(names)}),)

    def _increase(self, losses: FloatArray, reference: FloatArray) -> Difference:
        clusters, evaluator = self._clusters(losses - reference), self.evaluator
        known = (clusters, evaluator.weights, evaluator.widening)
        return evaluator.metric.increase(losses, reference, self.confidence, *known)

    def _clusters(self, gaps: FloatArray) -> IntArray | None:
        """Return which rows depend on each other: groups, or blocks of rows in time."""
        if self.evaluator.clusters is not None or not self.evaluator.in_time:
            return self.evaluator.clusters
        return blocks_of_time(gaps)[0]

    def _error_upper(self, losses: FloatArray) -> float:
        """Return the bound of the error: the best of several models shares the confidence."""
        if self.evaluator.clusters is not None or self.evaluator.weights is not None:
            return math.inf
        shared = 1.0 - (1.0 - self.confidence) / (len(self.evaluator.models) + 1)
        return self.evaluator.metric.upper_bound(losses, self.facts, shared)

    def _evaluate(self, features: FeatureSet) -> HoldoutScores:
        return self.evaluator.evaluate([[features] * len(self.evaluator.folds)])[0]

    def _evaluate_shuffled(self, features: FeatureSet) -> HoldoutScores:
        """Evaluate models of all features, those outside of the set in shuffled order."""
        everything = tuple(range(self.encoded.n_features))
        other = self.evaluator.with_shuffled(features, self.shuffle)
        return other.evaluate([[everything] * len(self.evaluator.folds)])[0]


def _as_proven(certificate: Certificate) -> Certificate:
    """Return the certificate of a set that a sequence led to: what is proven is the budget."""
    # Its own limit was above the printed one in 8 % of runs (Hsu and Berger 1999, JASA 94).
    limits = (certificate.increase_upper, certificate.excess_upper)
    increase, excess = (max(limit, certificate.budget) for limit in limits)
    return replace(certificate, increase_upper=increase, excess_upper=excess)


def _crossfit_rows(comparison: Comparison) -> str:
    """Describe the rows of a comparison, and what its bounds hold for."""
    n_draws = comparison.n_draws
    folds = f"{comparison.n_folds // n_draws}-fold cross-fitting"
    folds += f" in {n_draws} draws" if n_draws > 1 else ""
    if comparison.n_folds == 1:
        folds = "one split into rows that train and rows that evaluate"
    sets = plural(len(comparison.on_paths), "set")
    return f"{folds}; bounds for {sets} and any budget at once"


def _shuffle(n_rows: int, groups: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Return rows in shuffled order; whole groups of them, so that their rows stay alike."""
    if groups is None:
        return rng.permutation(n_rows)
    place = rng.permutation(int(groups.max()) + 1)
    shuffled = np.empty(n_rows, dtype=np.int64)
    shuffled[np.argsort(groups, kind="stable")] = np.argsort(place[groups], kind="stable")
    return shuffled


def _theorem(rule: ErrorBudget, facts: TargetFacts, upper: float) -> Bound:
    """Return the bound of a rule, knowing an upper bound of the error with the kept features."""
    known = np.isfinite(upper) and rule.constants == "sharp"
    return rule.bound(facts, upper if known else None)


def _bound(
    lost: float, metric: Metric, facts: TargetFacts, upper: float, rule: ErrorBudget | None
) -> float:
    """Return the increase of the Bayes risk if no more information is lost."""
    rule = rule or ErrorBudget(0.0)
    return float(_theorem(replace(rule, metric=metric.metric), facts, upper).growth(lost))


def _names(path: SelectionPath, size: int) -> tuple[str, ...]:
    return tuple(path.names[feature] for feature in path.order[:size])


#: Rows that the information of the chosen path's sets is measured at, for the record alone: at
#: 2000 it would take longer than the search (8 of 16 s at 20 000 x 100).
_MOST_MEASURED_ROWS = 500
#: Sets of a path that are measured at least.
_FEWEST_MEASURED = 32


@dataclass(frozen=True, eq=False)
class Choice:
    """A set of one path, and the rows that speak for it."""

    comparison: Comparison
    result: SubsetResult
    decision: Decision
    path: SelectionPath  # with the information of its sets
    certificate: Certificate
    evaluator: HoldoutEvaluator  # of the rows of the certificate
    on_fresh_rows: bool = False  # whether these took no part in the choice

    @property
    def notes(self) -> Notes:
        """What a user should know about the set, each thing once."""
        return tuple(dict.fromkeys(self.decision.notes + self.certificate.notes))


def choose(
    context: FitContext, plan: RowPlan, evaluator: HoldoutEvaluator, comparison: Comparison
) -> Choice:
    """Take the set that a rule asks for, with what the rows that chose it say."""
    result, decision = comparison.choose(context.rule)
    settings, searched = context.settings, plan.rows_to_measure(context.encoded)
    if len(comparison.paths) > 1 or not plan.crosses:
        target = context.encoded.target  # neighbors among many targets take longer
        few = _MOST_MEASURED_ROWS // math.isqrt(len(target.names) if target.labels is None else 1)
        most = min(settings.knn.max_samples or few, few)
        settings = replace(settings, knn=replace(settings.knn, max_samples=most))
    # Every set costs more than the one before it: those far beyond the cut show nothing of it.
    most = max(_FEWEST_MEASURED, 2 * result.size)
    path = measure_sets(comparison.paths[result.search], searched, settings, most)
    comparison.paths[result.search] = path
    decision = replace(decision, notes=decision.notes + comparison.notes)
    certificate = crossfit_certificate(comparison, result, context.rule, decision)
    if evaluator.metric.subgroups is not None and certificate.n_kept < certificate.n_features:
        sets = (path.order[: result.size], range(certificate.n_features))
        found = evaluator.evaluate([[tuple(one)] * len(evaluator.folds) for one in sets])
        losses = (found[0].losses, found[1].losses)
        level = comparison.confidence  # of the band over all sets
        certificate = with_subgroups(certificate, evaluator, losses, confidence=level)
    if plan.certify is None and certificate.verdict in ("inconclusive", "not met"):
        note, rule = Note("chosen by information"), context.rule
        if isinstance(rule, ErrorBudget) and rule.confidence < CONFIDENCE:
            note = Note("chosen at less confidence", figures={"confidence": rule.confidence})
        certificate = replace(certificate, notes=(*certificate.notes, note))
    return Choice(comparison, result, decision, path, certificate, evaluator)


#: Shares of the training rows that a learning curve is measured at, the least rows that a share may
#: have, and the held-out rows that it needs.
_SHARES, _LEAST_TRAINED, _CURVE_ROWS = (0.25, 0.5, 1.0), 100, 300


def with_learning_curve(context: FitContext, choice: Choice) -> Choice:
    """Return a choice with the increase of its set when models have fewer rows to learn from."""
    certificate, evaluator = choice.certificate, choice.evaluator
    sets = [tuple(range(certificate.n_features)), choice.path.order[: certificate.n_kept]]
    least = _SHARES[0] * min(len(fold.train) for fold in evaluator.folds)
    plain = evaluator.weights is None and not evaluator.in_time
    all_stay = len(sets[1]) == len(sets[0]) or not certificate.is_tested
    if all_stay or not plain or least < _LEAST_TRAINED:
        return choice
    context.deadline.check()
    ends = np.cumsum([len(fold.test) for fold in evaluator.folds])
    # Two folds at least, so that the model of one is chosen by the other.
    n_folds = min(max(int(np.searchsorted(ends, _CURVE_ROWS)) + 1, 2), len(ends))
    gaps, curve = [], []
    for share in _SHARES:
        some = evaluator if share == 1.0 else evaluator.with_fewer_rows(share)
        full, kept = some.evaluate([[one] * n_folds for one in sets])
        gaps.append((kept.losses - full.losses).reshape(len(kept.losses), -1).mean(axis=1))
        curve.append((some.n_train, kept.loss - full.loss))
    notes, growth = certificate.notes, gaps[-1] - gaps[-2]
    clusters = None if evaluator.clusters is None else evaluator.clusters[: len(growth)]
    grows = paired_difference(growth, CONFIDENCE, clusters=clusters, widening=evaluator.widening)
    # As many rows more as the last half of them would bring it above the budget.
    if grows.lower > 0.0 and 2.0 * curve[-1][1] - curve[-2][1] > certificate.budget:
        notes += (Note("rising", figures={"half": curve[-2][0], "n_train": curve[-1][0]}),)
    certificate = replace(certificate, learning_curve=tuple(curve), notes=notes)
    return replace(choice, certificate=certificate)


def certify(context: FitContext, plan: RowPlan, choice: Choice) -> Choice:
    """Test the chosen set on rows that chose nothing, where a plan has them and there is time."""
    choice = _on_fresh_rows(context, plan, choice)
    measure = partial(with_learning_curve, context, choice)
    return choice.evaluator.until(context.deadline, "a learning curve", measure) or choice


def _on_fresh_rows(context: FitContext, plan: RowPlan, choice: Choice) -> Choice:
    is_budget, result = isinstance(context.rule, ErrorBudget), choice.result
    if plan.certify is None or not is_budget or result.size == context.encoded.n_features:
        return choice
    comparison, budget = choice.comparison, context.rule
    assert isinstance(budget, ErrorBudget)
    fresh = FreshRows.of_plan(replace(context, models=choice.evaluator.models), plan)
    fresh.limit_time(choice.evaluator, context.deadline)
    best = max(comparison.on_paths, key=lambda one: one.information)
    order = comparison.paths[best.search].order[: best.size]
    delta = comparison.absolute(budget).delta
    own = [one for one in comparison.on_paths if one.search == result.search]
    smaller = [one.size for one in own if one.size < result.size and one.excess <= delta]
    larger = {one.size for one in own if one.size > result.size} - {context.encoded.n_features}
    sizes = (result.size, sorted(smaller, reverse=True), sorted(larger, reverse=True))
    test = partial(fresh.certify_sizes, choice.path.order, *sizes, order)
    certificate = fresh.evaluator.until(context.deadline, "a certificate of fresh rows", test)
    if certificate is None:
        return choice
    needed = choice.certificate.fewest_needed
    if needed <= certificate.n_kept:
        certificate = replace(certificate, fewest_needed=needed)
    if fewer := tuple(note for note in choice.evaluator.notes if note.kind == "fewer models"):
        notes = (*certificate.notes, *fewer)
        certificate = replace(certificate, notes=notes, label=ESTIMATE)
    if certificate.n_kept != result.size:
        result = comparison.results[result.search, certificate.n_kept]
        decision = replace(choice.decision, size=certificate.n_kept)
        choice = replace(choice, result=result, decision=decision)
    return replace(choice, certificate=certificate, evaluator=fresh.evaluator, on_fresh_rows=True)
