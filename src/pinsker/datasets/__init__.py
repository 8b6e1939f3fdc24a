"""Problems that know their own truth, and the data sets of the paper.

One small frozen class per family; `information_problems` and `selection_problems` hold them by
name. The loaders read real data from a local folder, else from its public home.
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
from pinsker.datasets._loaders import (
    load_allaml,
    load_glass,
    load_orl,
    load_warp_ar10p,
    load_wine,
)
from pinsker.datasets._mixed import (
    HalfNormalHalfAtoms,
    LogisticClass,
    SlidingWindow,
    TwoNormalClasses,
    ZeroInflatedPoisson,
)
from pinsker.datasets._problem import InformationProblem, Sample
from pinsker.datasets._published import (
    AdditiveCurves,
    PublishedProblem,
    RadialAsPrinted,
    load_published,
)
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
from pinsker.datasets._sources import DataSource, data_sources
from pinsker.datasets._storage import data_folders

__all__ = [
    "AdditiveCurves",
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
    "DataSource",
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
    "PublishedProblem",
    "Radial",
    "RadialAsPrinted",
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
    "data_folders",
    "data_sources",
    "information_problems",
    "load_allaml",
    "load_glass",
    "load_orl",
    "load_published",
    "load_warp_ar10p",
    "load_wine",
    "selection_problems",
]
