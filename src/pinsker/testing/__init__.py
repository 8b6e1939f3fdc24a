"""Problems with a known truth, for tests and benchmarks of estimators and selectors.

One small frozen class per family; `information_problems` and `selection_problems` hold all of
them by name, and `dataclasses.replace` gives one with other parameters.
"""

from pinsker.testing._continuous import BivariateNormal, Chain, CommonCause, ManyWeakCauses
from pinsker.testing._discrete import TwoNormalClasses, Xor
from pinsker.testing._problem import InformationProblem
from pinsker.testing._registry import information_problems
from pinsker.testing._selection import (
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
