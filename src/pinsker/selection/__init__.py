"""Stage: selection. A greedy search gives a `SelectionPath`; a stopping rule cuts it.

`BackwardElimination` and `ForwardSelection` are the paper's two algorithms, `LinearElimination`
its linear case. All are scikit-learn selectors and share the path, the rules and the evidence.
`FeatureSelector` tries several paths, `GrowShrink` among them, and judges them on held-out rows.
`CriterionSelection` has the classical heuristics, `select_by_criterion` the same on integers.
"""

from pinsker.selection._audit import AuditResult, audit
from pinsker.selection._backward import BackwardElimination
from pinsker.selection._base import InformationSelector
from pinsker.selection._criterion_search import CriterionPath, select_by_criterion
from pinsker.selection._criterion_selection import CriterionSelection
from pinsker.selection._crossfit_trials import Trial
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._evidence import PathEvidence
from pinsker.selection._feature_selector import FeatureSelector
from pinsker.selection._forward import ForwardSelection
from pinsker.selection._grow_shrink import GrowShrink
from pinsker.selection._linear import LinearElimination
from pinsker.selection._path import SelectionPath, Step
from pinsker.selection._permutation_test import CountedPath, PermutationTest
from pinsker.selection._rules import (
    Decision,
    FeatureCount,
    ScoreJump,
    ScoreThreshold,
    StoppingRule,
)

__all__ = [
    "AuditResult",
    "BackwardElimination",
    "CountedPath",
    "CriterionPath",
    "CriterionSelection",
    "Decision",
    "ErrorBudget",
    "FeatureCount",
    "FeatureSelector",
    "ForwardSelection",
    "GrowShrink",
    "InformationSelector",
    "LinearElimination",
    "PathEvidence",
    "PermutationTest",
    "ScoreJump",
    "ScoreThreshold",
    "SelectionPath",
    "Step",
    "StoppingRule",
    "Trial",
    "audit",
    "select_by_criterion",
]
