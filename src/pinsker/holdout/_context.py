"""What every stage of one call works on, built once and handed on."""

from dataclasses import dataclass, field

from pinsker._notes import Notes
from pinsker._types import Fields, IntArray, TableLike
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.holdout._dependence import (
    note_divided_groups,
    note_few_groups,
    note_repeated_rows,
    note_weights,
)
from pinsker.holdout._evaluate import HoldoutEvaluator
from pinsker.holdout._parallel import Jobs
from pinsker.holdout._rows import Fold, RowPlan, as_own_table
from pinsker.metrics import Metric
from pinsker.models import HoldoutModel
from pinsker.search import (
    Deadline,
    ErrorBudget,
    FeatureCosts,
    KNNSearchSettings,
    StoppingRule,
)


@dataclass(frozen=True, eq=False)
class FitContext:
    """The table, the rule and the means of one fit, or of one look at fresh rows."""

    encoded: Encoded
    facts: TargetFacts
    rule: StoppingRule
    budget: ErrorBudget  # what bounds of a path are computed with: the rule, if it is one
    fixed: tuple[int, ...] = ()  # features that may not be dropped
    seed: int = 0  # of everything random
    table: TableLike = None  # the rows that were encoded, unchanged, for models of the user
    user_data: Fields = field(default_factory=dict)  # ``X`` and ``y``, for callbacks
    fingerprint: str = ""  # digest of everything that the path depends on
    origin: str = ""  # where the rows were drawn from; empty where they are all
    drawn: Notes = ()  # what a user should know of the drawing
    notes: Notes = ()  # what a user should know of the rows
    groups: IntArray | None = None  # which rows belong together
    costs: FeatureCosts | None = None  # prices of the features; None: 1 each
    models: tuple[HoldoutModel, ...] = ()
    settings: KNNSearchSettings = field(default_factory=KNNSearchSettings)
    jobs: Jobs = field(default_factory=Jobs)
    n_searches: int = 1  # searches that memory allows side by side
    in_time: bool = False  # whether rows are in order of time

    @property
    def metric(self) -> Metric:
        """The metric of the errors."""
        return Metric(self.budget.metric_for(self.facts))

    @property
    def deadline(self) -> Deadline:
        """When the fit has to end."""
        return self.settings.deadline

    @property
    def fewest(self) -> int:
        """Rows that a search needs at least."""
        return self.settings.knn.n_neighbors + 2

    def evaluator(self, folds: tuple[Fold, ...]) -> HoldoutEvaluator:
        """Return the models over folds of all rows."""
        given = (self.metric, self.jobs, self.groups, self.table)
        evaluator = HoldoutEvaluator(self.encoded, folds, self.models, *given)
        evaluator.in_time = self.in_time
        evaluator.notes = (
            *note_few_groups(evaluator.clusters),
            *note_divided_groups(self.groups, ((fold.train, fold.test) for fold in folds)),
            *note_repeated_rows(self.encoded, folds),
            *note_weights(evaluator.weights),
        )
        return evaluator

    def evaluator_of(self, plan: RowPlan) -> HoldoutEvaluator:
        """Return the models over the rows of a plan that compare sets."""
        if plan.certify is None:
            return self.evaluator(plan.folds)
        encoded, fold, rows = as_own_table(self.encoded, plan.folds[0])
        groups = None if self.groups is None else self.groups[rows]
        given = (self.metric, self.jobs, groups, self.table)
        evaluator = HoldoutEvaluator(encoded, (fold,), self.models, *given)
        evaluator.in_time = self.in_time
        return evaluator
