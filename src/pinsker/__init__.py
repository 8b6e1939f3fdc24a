"""Feature selection by information, within an error budget.

The flow, one folder a stage; imports only point back along the arrows::

    X, y -> encoding.encode          -> Encoded         the one gate for user data
         -> engine                   -> neighbour radii and counts of every candidate at once
         -> information              -> nats
         -> bounds                   -> error, budget   one object per theorem, both ways
         -> selection                -> SelectionPath   the scikit-learn selectors
         -> report                   -> dict -> terminal, JSON, HTML, figure

`datasets` holds problems that know their own truth.
"""

from pinsker.bounds import Certificate
from pinsker.information import (
    Estimate,
    IndependenceTest,
    conditional_mutual_information,
    entropy,
    independence_test,
    mutual_information,
)
from pinsker.selection import (
    AuditResult,
    BackwardElimination,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardSelection,
    GrowShrink,
    LinearElimination,
    PermutationTest,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    audit,
    select_by_criterion,
)
from pinsker.selection._views import Views, hand_down

__all__ = [
    "AuditResult",
    "BackwardElimination",
    "Certificate",
    "CriterionSelection",
    "ErrorBudget",
    "Estimate",
    "FeatureCount",
    "FeatureSelector",
    "ForwardSelection",
    "GrowShrink",
    "IndependenceTest",
    "LinearElimination",
    "PermutationTest",
    "ScoreJump",
    "ScoreThreshold",
    "SelectionPath",
    "audit",
    "conditional_mutual_information",
    "entropy",
    "independence_test",
    "mutual_information",
    "select_by_criterion",
]

__version__ = "0.1.0"


def _load_views() -> Views:
    """Load the stage that shows selectors, when one shall be shown.

    Selection cannot import it: imports point downwards. The package stands above both.
    """
    from pinsker import report

    return report


hand_down(_load_views)
