"""Stage: selection. A greedy search gives a `SelectionPath`; a stopping rule cuts it."""

from pinsker.selection._criterion_search import CriterionPath, select_by_criterion
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import SelectionPath, Step
from pinsker.selection._rules import (
    Decision,
    FeatureCount,
    ScoreJump,
    ScoreThreshold,
    StoppingRule,
)

__all__ = [
    "CriterionPath",
    "Decision",
    "ErrorBudget",
    "FeatureCount",
    "ScoreJump",
    "ScoreThreshold",
    "SelectionPath",
    "Step",
    "StoppingRule",
    "select_by_criterion",
]
