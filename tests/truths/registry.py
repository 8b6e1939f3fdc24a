"""All problems with a known truth, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.truths.continuous import (
    AdditiveUniform,
    BivariateNormal,
    Chain,
    Collider,
    CommonCause,
    ExponentialSum,
    GammaExponential,
    IrrelevantCondition,
    ManyWeakCauses,
    MultivariateNormal,
    StudentT,
    UniformDisc,
)
from tests.truths.discrete import (
    And,
    BinaryChannel,
    BinomialPoisson,
    ExponentialPoissonBinomial,
    HalfNormalHalfAtoms,
    JointTable,
    LogisticClass,
    SignOfProduct,
    SlidingWindow,
    TwoNormalClasses,
    UniformClasses,
    UniformCopy,
    UnrelatedSymbols,
    Xor,
    ZeroInflatedPoisson,
)
from tests.truths.problem import InformationProblem

#: Covariance of x = u1, y = u2 + u3 + 2 u4, z = (2 u1 + u3, u1 + u4) for independent unit normals.
_FOUR_GAUSSIANS = (
    (1.0, 0.0, 2.0, 1.0),
    (0.0, 6.0, 1.0, 2.0),
    (2.0, 1.0, 5.0, 2.0),
    (1.0, 2.0, 2.0, 2.0),
)


def information_problems() -> Mapping[str, InformationProblem]:
    """Return every problem whose information is known, by name.

    The letter says what the columns are: G Gaussian, C continuous, D discrete, M mixed.

    Returns
    -------
    mapping of str to InformationProblem
        Each has ``truth()`` in nats and ``sample(n_rows, seed)``.

    Examples
    --------
    >>> from tests.truths import information_problems
    >>> problem = information_problems()["G1 rho=0.6"]
    >>> round(problem.truth(), 6)
    0.223144
    >>> problem.sample(100, seed=0).x.shape
    (100, 1)
    """
    return MappingProxyType(_gaussian() | _continuous() | _discrete() | _mixed())


def _gaussian() -> dict[str, InformationProblem]:
    problems: dict[str, InformationProblem] = {
        f"G1 rho={rho}": BivariateNormal(rho) for rho in (0.3, 0.6, 0.75, 0.9, 0.99)
    }
    problems |= {
        f"G1 rho=0.75 {bend}": BivariateNormal(0.75, bend) for bend in ("exp", "cube", "cdf")
    }
    problems |= {f"G1 rho=0.8 given {d}": IrrelevantCondition(0.8, d) for d in (1, 5, 9)}
    problems |= {"G2 chain": Chain(False), "G2 chain given z": Chain(True)}
    problems |= {"G3 collider": Collider(False), "G3 collider given z": Collider(True)}
    problems["G4"] = MultivariateNormal(((1.0, 0.6, 0.5), (0.6, 1.0, 0.5), (0.5, 0.5, 1.0)))
    for d in (2, 5, 10, 20):
        problems[f"G5 d={d}"] = ManyWeakCauses(d)
        problems[f"G5 d={d} first"] = ManyWeakCauses(d, "first")
        problems[f"G5 d={d} all"] = ManyWeakCauses(d, "all")
    problems["G6"] = MultivariateNormal(_FOUR_GAUSSIANS)
    problems["G7"] = MultivariateNormal(((1.0, 1.0, 1.0), (1.0, 4.0, 1.0), (1.0, 1.0, 9.0)))
    for d in (1, 4, 8, 16):
        problems[f"GN linear d={d}"] = CommonCause(1.0, d)
        problems[f"GN wave d={d}"] = CommonCause(1.0, d, "wave")
    return problems


def _continuous() -> dict[str, InformationProblem]:
    problems: dict[str, InformationProblem] = {
        f"C1 eps={eps}": AdditiveUniform(eps) for eps in (0.1, 0.5, 0.75)
    }
    for d, nu in ((1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 3)):
        problems[f"C2 {d}x{d} nu={nu}"] = StudentT(nu, d, d)
    problems["C2c nu=3"] = StudentT(3, 1, 1, 1)
    problems |= {f"C3 theta={theta}": GammaExponential(theta) for theta in (1, 2, 3)}
    problems["C5"] = UniformDisc()
    problems |= {
        f"C7 {a},{b}": ExponentialSum(a, b) for a, b in ((1.0, 2.0), (0.2, 0.3), (3.0, 3.1))
    }
    return problems


def _discrete() -> dict[str, InformationProblem]:
    return {
        "D1": JointTable(((0.4, 0.1), (0.1, 0.4))),
        "D2 xor": Xor(False),
        "D2 xor given z": Xor(True),
        "D3": BinaryChannel(0.1),
        "D4 first": And("first"),
        "D4 first given second": And("first given second"),
        "D4 both": And("both"),
        "D5": UniformCopy(5),
        "D6": Xor(True, 0.1),
        "D7": BinomialPoisson(),
    }


def _mixed() -> dict[str, InformationProblem]:
    problems: dict[str, InformationProblem] = {f"M1 m={m}": SlidingWindow(m) for m in (3, 5, 10)}
    problems |= {f"M2 p={p}": ZeroInflatedPoisson(p) for p in (0.0, 0.15, 0.3, 0.5)}
    problems |= {"M3": HalfNormalHalfAtoms(0.8, 0.4), "M3b": HalfNormalHalfAtoms(0.9, 0.45)}
    problems |= {f"M4 shift={mu}": TwoNormalClasses(mu) for mu in (0.5, 1.0, 2.0)}
    problems |= {f"M5 slope={b}": LogisticClass(b) for b in (1.0, 2.0, 5.0)}
    problems |= {"M6": SignOfProduct(False), "M6 given second": SignOfProduct(True)}
    problems |= {"M7": ExponentialPoissonBinomial(), "M7 symbols": UnrelatedSymbols()}
    problems |= {
        f"M8 p={p}": UniformClasses((1 - p, p), ((-1.0, 1.0), (0.0, 2.0))) for p in (0.3, 0.5, 0.7)
    }
    thirds = tuple(weight / 1.7 for weight in (0.2, 1.0, 0.5))
    problems["M10"] = UniformClasses(thirds, ((0.0, 1.0), (0.1, 1.2), (0.2, 1.3)))
    return problems
