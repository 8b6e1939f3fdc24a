"""Problems with a known truth, for tests and benchmarks of estimators and selectors.

One small frozen class per family; `information_problems` and `selection_problems` hold all of
them by name, and `dataclasses.replace` gives one with other parameters.
"""

from tests.truths.continuous import BivariateNormal, Chain, CommonCause, ManyWeakCauses
from tests.truths.discrete import TwoNormalClasses, Xor
from tests.truths.problem import InformationProblem
from tests.truths.registry import information_problems
from tests.truths.selection import (
    AdditiveCurves,
    Clusters,
    Friedman,
    MixedKinds,
    RadialAsPrinted,
    RedundantLinear,
    selection_problems,
)

__all__ = [
    "AdditiveCurves",
    "BivariateNormal",
    "Chain",
    "Clusters",
    "CommonCause",
    "Friedman",
    "InformationProblem",
    "ManyWeakCauses",
    "MixedKinds",
    "RadialAsPrinted",
    "RedundantLinear",
    "TwoNormalClasses",
    "Xor",
    "information_problems",
    "selection_problems",
]
