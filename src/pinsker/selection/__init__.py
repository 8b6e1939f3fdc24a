"""Stage: selection. A search gives a `SelectionPath`, held-out rows evaluate it, a rule cuts it.

`search` holds the searches as pure functions, with paths and stopping rules; `holdout` holds which
rows evaluate, and what may be claimed. The classes here are the scikit-learn side: each ``fit``
encodes, searches, evaluates and chooses. `FeatureSelector` is the front door; `BackwardElimination`
and `ForwardSelection` are the paper's two algorithms, `LinearSelection` its linear case,
`CriterionSelection` the classical heuristics.
"""

from pinsker.selection._alternatives import Alternative, Substitute
from pinsker.selection._base import InformationSelector
from pinsker.selection._criterion import CriterionSelection
from pinsker.selection._feature_selector import FeatureSelector
from pinsker.selection._importance import Importance
from pinsker.selection._interactions import Interactions, interactions
from pinsker.selection._knn_selectors import (
    BackwardElimination,
    ForwardBackwardSelection,
    ForwardSelection,
)
from pinsker.selection._linear import LinearSelection
from pinsker.selection._progress import ProgressLine, StageLine, clock
from pinsker.selection._stability import Stability
from pinsker.selection._suspects import Suspect, find_suspects
from pinsker.selection._triples import TripleScan
from pinsker.selection.holdout import (
    ALL_FEATURES,
    MOST_CERTIFIED,
    MOST_HASHES,
    MOST_READ,
    MOST_SEARCHED,
    SEARCH_ONCE_FROM,
    SPLIT_FROM,
    AuditResult,
    audit,
    trained_rows,
)
from pinsker.selection.search import (
    AUTO_SEARCHES,
    CostMatrix,
    CountedPath,
    CriterionPath,
    Decision,
    ErrorBudget,
    FeatureCount,
    PermutationTest,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    Step,
    StoppingRule,
    WorstTarget,
    interruptible,
    select_by_criterion,
    task_of,
)

__all__ = [
    "ALL_FEATURES",
    "AUTO_SEARCHES",
    "MOST_CERTIFIED",
    "MOST_HASHES",
    "MOST_READ",
    "MOST_SEARCHED",
    "SEARCH_ONCE_FROM",
    "SPLIT_FROM",
    "Alternative",
    "AuditResult",
    "BackwardElimination",
    "CostMatrix",
    "CountedPath",
    "CriterionPath",
    "CriterionSelection",
    "Decision",
    "ErrorBudget",
    "FeatureCount",
    "FeatureSelector",
    "ForwardBackwardSelection",
    "ForwardSelection",
    "Importance",
    "InformationSelector",
    "Interactions",
    "LinearSelection",
    "PermutationTest",
    "ProgressLine",
    "ScoreJump",
    "ScoreThreshold",
    "SelectionPath",
    "Stability",
    "StageLine",
    "Step",
    "StoppingRule",
    "Substitute",
    "Suspect",
    "TripleScan",
    "WorstTarget",
    "audit",
    "clock",
    "find_suspects",
    "interactions",
    "interruptible",
    "select_by_criterion",
    "task_of",
    "trained_rows",
]
