"""Stage: selection. A greedy search gives a `SelectionPath`; a stopping rule cuts it."""

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
    "Decision",
    "ErrorBudget",
    "FeatureCount",
    "ScoreJump",
    "ScoreThreshold",
    "SelectionPath",
    "Step",
    "StoppingRule",
]
