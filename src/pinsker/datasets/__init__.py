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
from pinsker.datasets._selection_mixtures import (
    Clusters,
    Duplicates,
    Friedman,
    Heteroscedastic,
    LinearNumbers,
    MixedKinds,
    selection_problems,
)
from pinsker.datasets._selection_problems import (
    Blobs,
    FewOfMany,
    LabelledSample,
    NoisyXor,
    Radial,
    RedundantLinear,
    SelectionProblem,
)

__all__ = [
    "AdditiveUniform",
    "And",
    "BinaryChannel",
    "BinomialPoisson",
    "BivariateNormal",
    "Blobs",
    "Chain",
    "Clusters",
    "Collider",
    "CommonCause",
    "Duplicates",
    "ExponentialPoissonBinomial",
    "ExponentialSum",
    "FewOfMany",
    "Friedman",
    "GammaExponential",
    "HalfNormalHalfAtoms",
    "Heteroscedastic",
    "InformationProblem",
    "IrrelevantCondition",
    "JointTable",
    "LabelledSample",
    "LinearNumbers",
    "LogisticClass",
    "ManyWeakCauses",
    "MixedKinds",
    "MultivariateNormal",
    "NoisyXor",
    "Radial",
    "RedundantLinear",
    "Sample",
    "SelectionProblem",
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
    "selection_problems",
]
