"""Problems that know their own truth.

One small frozen class per family; `information_problems` holds them all by name.
"""

from pinsker.datasets._classes import (
    ExponentialPoissonBinomial,
    SignOfProduct,
    UniformClasses,
    UnrelatedSymbols,
)
from pinsker.datasets._continuous import (
    AdditiveUniform,
    ExponentialSum,
    GammaExponential,
    StudentT,
    UniformDisc,
)
from pinsker.datasets._discrete import (
    And,
    BinaryChannel,
    BinomialPoisson,
    JointTable,
    UniformCopy,
    Xor,
)
from pinsker.datasets._gaussian import (
    BivariateNormal,
    Chain,
    Collider,
    CommonCause,
    IrrelevantCondition,
    ManyWeakCauses,
    MultivariateNormal,
)
from pinsker.datasets._mixed import (
    HalfNormalHalfAtoms,
    LogisticClass,
    SlidingWindow,
    TwoNormalClasses,
    ZeroInflatedPoisson,
)
from pinsker.datasets._problem import InformationProblem, Sample
from pinsker.datasets._registry import information_problems

__all__ = [
    "AdditiveUniform",
    "And",
    "BinaryChannel",
    "BinomialPoisson",
    "BivariateNormal",
    "Chain",
    "Collider",
    "CommonCause",
    "ExponentialPoissonBinomial",
    "ExponentialSum",
    "GammaExponential",
    "HalfNormalHalfAtoms",
    "InformationProblem",
    "IrrelevantCondition",
    "JointTable",
    "LogisticClass",
    "ManyWeakCauses",
    "MultivariateNormal",
    "Sample",
    "SignOfProduct",
    "SlidingWindow",
    "StudentT",
    "TwoNormalClasses",
    "UniformClasses",
    "UniformCopy",
    "UniformDisc",
    "UnrelatedSymbols",
    "Xor",
    "ZeroInflatedPoisson",
    "information_problems",
]
