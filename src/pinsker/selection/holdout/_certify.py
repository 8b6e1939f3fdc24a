"""Certificates: of a path alone, of cross-fitting, and of fresh rows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pinsker.bounds import Certificate, TargetFacts, paired_difference
from pinsker.encoding import Encoded
from pinsker.exceptions import DataError
from pinsker.information import HoldoutModel
from pinsker.selection.holdout._compare import CONFIDENCE, Comparison, SubsetResult
from pinsker.selection.holdout._crossfit import geometric_sizes
from pinsker.selection.holdout._evaluate import BestScores, FeatureSet, HoldoutEvaluator
from pinsker.selection.holdout._metrics import Metric
from pinsker.selection.holdout._parallel import Jobs
from pinsker.selection.holdout._rows import Fold, make_folds
from pinsker.selection.search import Decision, ErrorBudget, SelectionPath, StoppingRule

#: What the rows of a certificate were to the search.
SEARCH_ROWS = "those of the search itself"
FRESH_ROWS = "fresh rows"
_FOLDS_OF_FRESH_ROWS = 5


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
    lost = path.lost(budget.reference if budget else "best")
    return Certificate(
        metric=path.metric or facts.default_metric,
        budget=float(budget.delta) if budget else math.nan,
        confidence=math.nan,
        n_rows=n_rows,
        n_kept=decision.size,
        n_features=path.n_features,
        features=_names(path, decision.size),
        rows=rows,
        rule=str(rule),
        information_budget=decision.budget,
        information_lost=float(lost[position]),
        bound=path.bound_at(decision.size),
        notes=decision.notes,
    )


def crossfit_certificate(
    comparison: Comparison, result: SubsetResult, rule: StoppingRule, decision: Decision
) -> Certificate:
    """Return what the rows held out during the search say about a choice."""
    budget = comparison.absolute(rule) if isinstance(rule, ErrorBudget) else None
    everything, facts, metric = comparison.of_all, comparison.facts, comparison.metric
    return Certificate(
        metric=metric.name,
        budget=float(budget.delta) if budget else math.nan,
        confidence=CONFIDENCE,
        standard_error=metric.method(facts.task),
        n_rows=comparison.n_rows,
        n_kept=decision.size,
        n_features=everything.size,
        features=_names(comparison.paths[result.search], decision.size),
        rows=_crossfit_rows(comparison),
        rule=str(rule),
        information_budget=(result.allowed(budget, facts, metric) if budget else math.nan),
        information_lost=result.lost,
        information_upper=result.lost_upper,
        bound=_bound(result.lost_upper, metric, facts, result.error_upper),
        error_all=everything.error,
        error_kept=result.error,
        increase=result.increase,
        increase_lower=result.increase_lower,
        increase_upper=result.increase_upper,
        excess=result.excess,
        excess_upper=result.excess_upper,
        model_all=everything.model_error,
        model_kept=result.model_error,
        error_upper=result.error_upper,
        notes=decision.notes,
    )


class FreshRows:
    """Tests sets of a path on rows that took no part in the search.

    Parameters
    ----------
    encoded : Encoded
        The rows, with the columns of the search.
    rule : ErrorBudget
        What is tested.
    models : sequence of HoldoutModel
        What is fitted.
    confidence : float
        Of each confidence bound by itself.
    seed : int
        Seed of the folds and of the shuffled rows.
    jobs : Jobs
        Where models are fitted.
    folds : sequence of Fold, optional
        Which rows are fitted to and which are tested; by default five folds.
    rows : str
        What the rows were to the search.
    table : frame or array, optional
        The user's table, for models of the user.

    Notes
    -----
    Models are fitted and scored on the fresh rows alone, by cross-fitting. Two increases of the
    error must be within the budget: against models of all features, and against models that see the
    kept features together with the others in shuffled order. The second pays for as many columns
    as the first reference does, so that a wide model's own weakness is not taken for a set's worth.
    """

    def __init__(
        self,
        encoded: Encoded,
        rule: ErrorBudget,
        models: Sequence[HoldoutModel],
        confidence: float,
        seed: int,
        jobs: Jobs,
        folds: Sequence[Fold] | None = None,
        rows: str = FRESH_ROWS,
        table: Any = None,
    ) -> None:
        self.encoded, self.rule, self.confidence = encoded, rule, confidence
        self.rows = rows
        self.facts = TargetFacts.of(encoded.target)
        if folds is None:
            folds = make_folds(encoded, _FOLDS_OF_FRESH_ROWS, seed)
        if not folds:
            raise DataError(
                f"found {encoded.n_rows} fresh rows, too few to fit and score models: pass some "
                "dozens at least."
            )
        metric = Metric(rule.metric_for(self.facts))
        self.evaluator = HoldoutEvaluator(encoded, folds, models, metric, jobs, table)
        self.shuffle = np.random.default_rng(seed).permutation(encoded.n_rows)

    def certify_set(self, features: FeatureSet) -> Certificate:
        """Test one set alone: a single test, with no other before it."""
        return self._test(features, self._evaluate(tuple(range(self.encoded.n_features))))

    def certify(self, order: FeatureSet, wanted: int) -> Certificate:
        """Test sets from the largest down to the wanted size; return the last that passed.

        The first set that does not pass ends the sequence, so that no correction for many tests is
        needed (Maurer, Hothorn, Lehmacher 1995). When none passed the wanted set is returned.
        """
        full = self._evaluate(tuple(range(self.encoded.n_features)))
        sizes = [s for s in geometric_sizes(wanted, len(order)) if s < self.encoded.n_features]
        passed: Certificate | None = None
        for size in sorted(sizes, reverse=True):
            certificate = self._test(order[:size], full)
            if certificate.verdict != "met":
                break
            passed = certificate
        if passed is None:
            chosen = self._test(order[:wanted], full)
            if chosen.verdict != "met":
                return chosen
            note = (
                f"the sequence ended at its first set, {size} features: a test of these {wanted} "
                "after it is not covered by the confidence"
            )
            return replace(chosen, notes=(*chosen.notes, note))
        if passed.n_kept == wanted:
            return passed
        note = (
            f"the {wanted} features of the search were not reached: the budget was "
            f"{certificate.verdict} with {size} features"
        )
        return replace(passed, notes=(*passed.notes, note))

    def _test(self, features: FeatureSet, full: BestScores) -> Certificate:
        """Return the certificate of one set."""
        kept, shuffled = self._evaluate(features), self._evaluate_shuffled(features)
        lost = paired_difference(
            full.most.log_likelihood - shuffled.most.log_likelihood, self.confidence
        )
        metric, facts, losses = self.evaluator.metric, self.facts, kept.least.losses
        rule = self.rule.absolute(self.evaluator.error_of_none - full.least.loss)
        increase = metric.increase(losses, full.least.losses, self.confidence)
        excess = metric.increase(shuffled.least.losses, full.least.losses, self.confidence)
        upper = metric.upper_bound(losses, facts, self.confidence)
        return Certificate(
            metric=metric.name,
            budget=float(rule.delta),
            confidence=self.confidence,
            standard_error=metric.method(facts.task),
            n_rows=len(self.evaluator.rows),
            n_kept=len(features),
            n_features=self.encoded.n_features,
            features=tuple(self.encoded.feature_names[feature] for feature in features),
            rows=self.rows,
            rule=str(self.rule),
            information_budget=float(metric.bound(facts, upper).budget(float(rule.delta))),
            information_lost=max(lost.mean, 0.0),
            information_upper=max(lost.upper, 0.0),
            bound=_bound(max(lost.upper, 0.0), metric, facts, upper),
            error_all=full.least.loss,
            error_kept=kept.least.loss,
            increase=increase.mean,
            increase_lower=increase.lower,
            increase_upper=increase.upper,
            excess=excess.mean,
            excess_upper=excess.upper,
            model_all=full.least.model,
            model_kept=kept.least.model,
            error_upper=upper,
        )

    def _evaluate(self, features: FeatureSet) -> BestScores:
        return self.evaluator.evaluate([[features] * len(self.evaluator.folds)])[0]

    def _evaluate_shuffled(self, features: FeatureSet) -> BestScores:
        """Evaluate models of all features, those outside of the set in shuffled order."""
        everything = tuple(range(self.encoded.n_features))
        other = self.evaluator.with_shuffled(features, self.shuffle)
        return other.evaluate([[everything] * len(self.evaluator.folds)])[0]


def _crossfit_rows(comparison: Comparison) -> str:
    """Describe the rows of a comparison, and what its bounds are shared by."""
    n_paths = len(comparison.paths)
    folds = f"{comparison.n_folds}-fold cross-fitting"
    if comparison.n_folds == 1:
        folds = "one split into rows that train and rows that evaluate"
    shared = f" ({n_paths} searches share the confidence)" if n_paths > 1 else ""
    return f"{folds}{shared}"


def _bound(lost: float, metric: Metric, facts: TargetFacts, upper: float) -> float:
    return float(metric.bound(facts, upper).growth(lost))


def _names(path: SelectionPath, size: int) -> tuple[str, ...]:
    return tuple(path.names[feature] for feature in path.order[:size])
