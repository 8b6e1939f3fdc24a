"""The set that is kept, and what may be claimed about it."""

from dataclasses import dataclass, replace

from pinsker._notes import Note, Notes
from pinsker.holdout._certificate import Certificate
from pinsker.holdout._certify import FreshRows, crossfit_certificate
from pinsker.holdout._compare import Comparison, SubsetResult
from pinsker.holdout._context import FitContext
from pinsker.holdout._evaluate import HoldoutEvaluator
from pinsker.holdout._rows import RowPlan
from pinsker.search import Decision, ErrorBudget, SelectionPath, measure_sets

#: Rows that the information of the chosen path's sets is measured at, for the record alone: at
#: 2000 it would take longer than the search (8 of 16 s at 20 000 x 100).
_MOST_MEASURED_ROWS = 500


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
        most = min(settings.knn.max_samples or _MOST_MEASURED_ROWS, _MOST_MEASURED_ROWS)
        settings = replace(settings, knn=replace(settings.knn, max_samples=most))
    path = measure_sets(comparison.paths[result.search], searched, settings)
    comparison.paths[result.search] = path
    decision = replace(decision, notes=decision.notes + comparison.notes)
    certificate = crossfit_certificate(comparison, result, context.rule, decision)
    if plan.certify is None and certificate.verdict in ("inconclusive", "not met"):
        note = Note("chosen by information")
        certificate = replace(certificate, notes=(*certificate.notes, note))
    return Choice(comparison, result, decision, path, certificate, evaluator)


def certify(context: FitContext, plan: RowPlan, choice: Choice) -> Choice:
    """Test the chosen set on rows that chose nothing, where a plan has them."""
    is_budget, result = isinstance(context.rule, ErrorBudget), choice.result
    if plan.certify is None or not is_budget or result.size == context.encoded.n_features:
        return choice
    comparison, budget = choice.comparison, context.rule
    assert isinstance(budget, ErrorBudget)
    fresh = FreshRows.of_plan(replace(context, models=choice.evaluator.models), plan)
    best = max(comparison.on_paths, key=lambda one: one.information)
    order = comparison.paths[best.search].order[: best.size]
    delta = comparison.absolute(budget).delta
    own = [one for one in comparison.on_paths if one.search == result.search]
    smaller = [one.size for one in own if one.size < result.size and one.excess <= delta]
    larger = {one.size for one in own if one.size > result.size} - {context.encoded.n_features}
    sizes = (result.size, sorted(smaller, reverse=True), sorted(larger, reverse=True))
    certificate = fresh.certify_sizes(choice.path.order, *sizes, order)
    if certificate.n_kept != result.size:
        result = comparison.results[result.search, certificate.n_kept]
        decision = replace(choice.decision, size=certificate.n_kept)
        choice = replace(choice, result=result, decision=decision)
    return replace(choice, certificate=certificate, evaluator=fresh.evaluator, on_fresh_rows=True)
