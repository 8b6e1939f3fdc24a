"""Feature selection by information, within an error budget.

The flow, one folder a stage; imports only point back along the arrows::

    X, y -> encoding.encode          -> Encoded         the one gate for user data
         -> engine                   -> neighbor and contingency counts of every candidate at once
         -> information              -> nats
         -> bounds                   -> error, budget   one object per theorem
         -> selection.search         -> SelectionPath   pure functions
         -> selection.holdout        -> Comparison, Certificate
         -> report                   -> dict -> terminal, JSON, HTML, figure

`datasets` holds problems to try it on.
"""

from typing import Any

from pinsker.engine import EngineSettings, KNNSettings
from pinsker.explain import Interactions, interactions
from pinsker.holdout import AuditResult, Certificate, audit
from pinsker.information import (
    Estimate,
    IndependenceTest,
    conditional_mutual_information,
    entropy,
    independence_test,
    mutual_information,
)
from pinsker.metrics import CostMatrix, WorstTarget
from pinsker.search import (
    ErrorBudget,
    FeatureCount,
    PermutationTest,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    select_by_criterion,
)
from pinsker.selectors import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
    RowsPlan,
    plan_rows,
)

__version__ = "0.3.0.dev0"

_DISPLAYS = ("BoundDisplay", "CertificateDisplay", "ImportanceDisplay", "SelectionPathDisplay")

__all__ = [
    "AuditResult", "BackwardElimination", "BoundDisplay", "Certificate", "CertificateDisplay",
    "CostMatrix", "CriterionSelection", "EngineSettings", "ErrorBudget", "Estimate",
    "FeatureCount", "FeatureSelector", "ForwardBackwardSelection", "ForwardSelection",
    "ImportanceDisplay", "IndependenceTest", "Interactions", "KNNSettings", "LinearSelection",
    "PermutationTest", "RowsPlan", "ScoreJump", "ScoreThreshold", "SelectionPath",
    "SelectionPathDisplay", "WorstTarget", "audit", "conditional_mutual_information", "entropy",
    "independence_test", "interactions", "mutual_information", "plan_rows",
    "select_by_criterion",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the displays when one is asked for: `import pinsker` stays light."""
    if name in _DISPLAYS:
        from pinsker import report

        return getattr(report, name)
    raise AttributeError(f"module 'pinsker' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_DISPLAYS])
