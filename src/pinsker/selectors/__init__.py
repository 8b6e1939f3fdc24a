"""Stage: selection. A search gives a `SelectionPath`, held-out rows evaluate it, a rule cuts it.

`search` holds the searches as pure functions, with paths and stopping rules; `holdout` holds which
rows evaluate, and what may be claimed. The classes here are the scikit-learn side: each ``fit``
encodes, searches, evaluates and chooses. `FeatureSelector` is the front door; `BackwardElimination`
and `ForwardSelection` are the paper's two algorithms, `LinearSelection` its linear case,
`CriterionSelection` the classical heuristics.
"""

from pinsker.selectors._base import FitRecord, Selector
from pinsker.selectors._criterion import CriterionSelection
from pinsker.selectors._evaluated import EvaluatedSelector
from pinsker.selectors._feature_selector import FeatureSelector
from pinsker.selectors._knn_selectors import (
    BackwardElimination,
    ForwardBackwardSelection,
    ForwardSelection,
)
from pinsker.selectors._linear import LinearSelection
from pinsker.selectors._plan import RowsPlan, plan_rows
from pinsker.selectors._progress import ProgressLine, StageLine, clock
from pinsker.selectors._state import from_state, to_state
