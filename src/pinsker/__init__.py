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
from pinsker.holdout import AuditResult, Certificate, audit, rows_to_label
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
    Monitor,
    RowsPlan,
    plan_rows,
)

__version__ = "0.3.0.dev0"

_OF_REPORT = (
    "BoundDisplay", "CertificateDisplay", "ImportanceDisplay", "SelectionPathDisplay",
    "log_certificate", "register_onnx",
)  # fmt: skip

__all__ = [
    "AuditResult", "BackwardElimination", "BoundDisplay", "Certificate", "CertificateDisplay",
    "CostMatrix", "CriterionSelection", "EngineSettings", "ErrorBudget", "Estimate",
    "FeatureCount", "FeatureSelector", "ForwardBackwardSelection", "ForwardSelection",
    "ImportanceDisplay", "IndependenceTest", "Interactions", "KNNSettings", "LinearSelection",
    "Monitor", "PermutationTest", "RowsPlan", "ScoreJump", "ScoreThreshold", "SelectionPath",
    "SelectionPathDisplay", "WorstTarget", "audit", "conditional_mutual_information", "entropy",
    "independence_test", "interactions", "log_certificate", "mutual_information", "plan_rows",
    "register_onnx", "rows_to_label",
    "select_by_criterion",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load what the report has when it is asked for: `import pinsker` stays light."""
    if name in _OF_REPORT:
        from pinsker import report

        return getattr(report, name)
    raise AttributeError(f"module 'pinsker' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_OF_REPORT])
