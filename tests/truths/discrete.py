"""Discrete problems, and those that mix discrete and continuous values.

Logic gates, noisy channels and counts; class labels beside continuous columns, and columns that
hold both sorts of values.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, xlogy
from scipy.stats import norm

from tests.truths.problem import (
    InformationProblem,
    InformationSample,
    binary_entropy,
    column,
    table_information,
)

_NOMINAL = ("nominal", "nominal", None)
_NOMINAL_GIVEN = ("nominal", "nominal", "nominal")
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class JointTable(InformationProblem):
    """Two discrete variables with a table of joint probabilities.

    Attributes
    ----------
    probabilities : tuple of tuple of float
        p(x, y), one tuple per value of x.
    """

    probabilities: tuple[tuple[float, ...], ...]
    kinds: ClassVar[Any] = _NOMINAL

    def truth(self) -> float:
        """Sum of p(x, y) ln(p(x, y) / (p(x) p(y)))."""
        return table_information(np.array(self.probabilities))

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        table = np.array(self.probabilities)
        cells = np.random.default_rng(seed).choice(table.size, size=n_rows, p=table.ravel())
        x, y = np.unravel_index(cells, table.shape)
        return InformationSample(column(x), column(y), None)


@dataclass(frozen=True)
class Xor(InformationProblem):
    """y is the exclusive or of two fair bits x and z, flipped with probability `noise`.

    Attributes
    ----------
    given_z : bool
        Whether the truth is I(X;Y|Z), or I(X;Y), which is 0.
    noise : float
        Probability that y is flipped.
    """

    given_z: bool
    noise: float = 0.0
    kinds: ClassVar[Any] = _NOMINAL_GIVEN

    def truth(self) -> float:
        """Given z, ln 2 - h(noise); 0 without z."""
        return math.log(2) - binary_entropy(self.noise) if self.given_z else 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x, z = rng.integers(0, 2, size=(2, n_rows))
        y = x ^ z ^ (rng.uniform(size=n_rows) < self.noise)
        return InformationSample(column(x), column(y), column(z) if self.given_z else None)


@dataclass(frozen=True)
class BinaryChannel(InformationProblem):
    """A fair bit sent through a channel that flips it with probability `noise`.

    Attributes
    ----------
    noise : float
        Probability of a flip.
    """

    noise: float
    kinds: ClassVar[Any] = _NOMINAL

    def truth(self) -> float:
        """Ln 2 - h(noise)."""
        return math.log(2) - binary_entropy(self.noise)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 2, size=n_rows)
        return InformationSample(
            column(x), column(x ^ (rng.uniform(size=n_rows) < self.noise)), None
        )


@dataclass(frozen=True)
class And(InformationProblem):
    """y is the conjunction of two fair bits.

    Attributes
    ----------
    which : {"first", "first given second", "both"}
        Whether x is the first bit, the first bit given the second, or both bits.
    """

    which: Literal["first", "first given second", "both"]
    kinds: ClassVar[Any] = _NOMINAL_GIVEN

    def truth(self) -> float:
        """H(¼) - ½ ln 2 for one bit, ½ ln 2 given the other, H(¼) for both."""
        if self.which == "first given second":
            return 0.5 * math.log(2)
        return binary_entropy(0.25) - (0.5 * math.log(2) if self.which == "first" else 0.0)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        bits = np.random.default_rng(seed).integers(0, 2, size=(n_rows, 2))
        y = column(bits[:, 0] & bits[:, 1])
        if self.which == "both":
            return InformationSample(bits, y, None)
        return InformationSample(bits[:, :1], y, bits[:, 1:] if self.which != "first" else None)


@dataclass(frozen=True)
class UniformCopy(InformationProblem):
    """y is x, one of m symbols drawn evenly.

    Attributes
    ----------
    n_symbols : int
        m.
    """

    n_symbols: int
    kinds: ClassVar[Any] = _NOMINAL

    def truth(self) -> float:
        """Ln m."""
        return math.log(self.n_symbols)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x = column(np.random.default_rng(seed).integers(0, self.n_symbols, size=n_rows))
        return InformationSample(x, x.copy(), None)


@dataclass(frozen=True)
class BinomialPoisson(InformationProblem):
    """Counts that share nothing but their scale: X ~ Bin(Z, ½), Y ~ Poisson(Z), Z from 1 to 10."""

    kinds: ClassVar[Any] = ("count", "count", "count")

    def truth(self) -> float:
        """0: independent given z."""
        return 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        z = rng.integers(1, 11, size=n_rows)
        return InformationSample(column(rng.binomial(z, 0.5)), column(rng.poisson(z)), column(z))


@dataclass(frozen=True)
class SignOfProduct(InformationProblem):
    """The class says whether two normal columns have the same sign: exclusive or for numbers.

    Attributes
    ----------
    given_second : bool
        Whether the truth is I(X1;Y|X2), which is ln 2, or I(X1;Y), which is 0.
    """

    given_second: bool
    kinds: ClassVar[Any] = ("continuous", "nominal", "continuous")

    def truth(self) -> float:
        """Ln 2 given the second column, else 0."""
        return math.log(2) if self.given_second else 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x1, x2 = np.random.default_rng(seed).normal(size=(2, n_rows))
        y = (x1 * x2 > 0).astype(np.int64)
        return InformationSample(column(x1), column(y), column(x2) if self.given_second else None)


@dataclass(frozen=True)
class ExponentialPoissonBinomial(InformationProblem):
    """E exponential of mean 10, P ~ Poisson(E), B ~ Bin(P, ½): P separates E from B."""

    kinds: ClassVar[Any] = ("continuous", "count", "count")

    def truth(self) -> float:
        """I(E;B|P) is 0."""
        return 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        mean = rng.exponential(10, size=n_rows)
        count = rng.poisson(mean)
        return InformationSample(column(mean), column(rng.binomial(count, 0.5)), column(count))


@dataclass(frozen=True)
class UnrelatedSymbols(InformationProblem):
    """m symbols drawn evenly, and a uniform number that does not know them.

    Attributes
    ----------
    n_symbols : int
        m.
    """

    n_symbols: int = 3
    kinds: ClassVar[Any] = ("nominal", "continuous", None)

    def truth(self) -> float:
        """0."""
        return 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        symbols = rng.integers(0, self.n_symbols, size=n_rows)
        return InformationSample(
            column(symbols), column(self.n_symbols * rng.uniform(size=n_rows)), None
        )


@dataclass(frozen=True)
class UniformClasses(InformationProblem):
    """Classes, and a column that is uniform on an interval for each of them.

    Attributes
    ----------
    weights : tuple of float
        Probability of each class.
    intervals : tuple of (float, float)
        Where the column falls for each class.
    """

    weights: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    kinds: ClassVar[Any] = ("nominal", "continuous", None)

    def truth(self) -> float:
        """Information of the table p(class, piece), cut where intervals begin and end."""
        ends = np.unique(np.array(self.intervals))
        low, high = np.array(self.intervals).T
        widths = np.diff(ends)
        inside = (ends[:-1] >= low[:, np.newaxis]) & (ends[1:] <= high[:, np.newaxis])
        density = np.array(self.weights) / (high - low)
        return table_information(np.where(inside, density[:, np.newaxis] * widths, 0.0))

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        classes = rng.choice(len(self.weights), size=n_rows, p=np.array(self.weights))
        low, high = np.array(self.intervals)[classes].T
        return InformationSample(column(classes), column(rng.uniform(low, high)), None)


@dataclass(frozen=True)
class SlidingWindow(InformationProblem):
    """X uniform on m integers, Y uniform on (X, X + 2): windows that overlap by half.

    Attributes
    ----------
    n_symbols : int
        m.
    """

    n_symbols: int
    kinds: ClassVar[Any] = ("count", "continuous", None)

    def truth(self) -> float:
        """Ln m - (m - 1)/m ln 2."""
        m = self.n_symbols
        return math.log(m) - (m - 1) / m * math.log(2)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.integers(0, self.n_symbols, size=n_rows)
        return InformationSample(column(x), column(x + 2 * rng.uniform(size=n_rows)), None)


@dataclass(frozen=True)
class ZeroInflatedPoisson(InformationProblem):
    """X exponential; Y is 0 with probability p, else Poisson of mean X.

    The often quoted (1 - p) I(p = 0) is only an upper bound: information is convex in the channel.

    Attributes
    ----------
    p_zero : float
        p.
    """

    p_zero: float
    kinds: ClassVar[Any] = ("continuous", "count", None)
    #: P(Y > 150) < 2**-150.
    _LARGEST: ClassVar[int] = 150

    def truth(self) -> float:
        """H(Y) - E H(Y|X), the mean by quadrature."""
        mixed = (1 - self.p_zero) * 0.5 ** np.arange(1, self._LARGEST + 2)
        mixed[0] += self.p_zero
        return -float(xlogy(mixed, mixed).sum()) - _mean(self._entropy_given, lambda x: np.exp(-x))

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.exponential(size=n_rows)
        y = rng.poisson(x) * (rng.uniform(size=n_rows) >= self.p_zero)
        return InformationSample(column(x), column(y), None)

    def _entropy_given(self, x: float) -> float:
        counts = np.arange(self._LARGEST + 1)
        p = (1 - self.p_zero) * np.exp(xlogy(counts, x) - x - gammaln(counts + 1))
        p[0] += self.p_zero
        return -float(xlogy(p, p).sum())


@dataclass(frozen=True)
class HalfNormalHalfAtoms(InformationProblem):
    """A fair coin decides: two normal values of correlation `rho`, or two atoms of ±1.

    Attributes
    ----------
    rho : float
        Correlation of the normal half.
    p_agree : float
        Probability of each of the two atoms where x = y; the other two share the rest.
    """

    rho: float
    p_agree: float
    kinds: ClassVar[Any] = ("continuous", "continuous", None)

    def truth(self) -> float:
        """Ln 2 + ½ I(normal half) + ½ I(atoms): which half it was shows in x and in y."""
        p, q = self.p_agree, 0.5 - self.p_agree
        atoms = table_information(np.array([[p, q], [q, p]]))
        return math.log(2) + 0.5 * atoms - 0.25 * math.log(1 - self.rho**2)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x, noise = rng.normal(size=(2, n_rows))
        y = self.rho * x + math.sqrt(1 - self.rho**2) * noise
        sign = rng.choice([-1.0, 1.0], size=n_rows)
        same = np.where(rng.uniform(size=n_rows) < 2 * self.p_agree, 1.0, -1.0)
        atom = rng.uniform(size=n_rows) < 0.5
        return InformationSample(
            column(np.where(atom, sign, x)), column(np.where(atom, sign * same, y)), None
        )


@dataclass(frozen=True)
class TwoNormalClasses(InformationProblem):
    """Two equally likely classes ±1, and X normal around class times `shift`.

    Attributes
    ----------
    shift : float
        Half the distance between the class means, in standard deviations.
    """

    shift: float
    kinds: ClassVar[Any] = ("continuous", "nominal", None)

    def truth(self) -> float:
        """Ln 2 - E ln(1 + exp(-2 μ X)) with X ~ N(μ, 1)."""
        mu = self.shift
        return math.log(2) - _mean(
            lambda x: float(np.logaddexp(0, -2 * mu * x)), lambda x: norm.pdf(x, mu), lower=-40.0
        )

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        y = rng.choice([-1, 1], size=n_rows)
        return InformationSample(column(y * self.shift + rng.normal(size=n_rows)), column(y), None)


@dataclass(frozen=True)
class LogisticClass(InformationProblem):
    """X standard normal, and the class 1 with probability 1/(1 + exp(-slope X)).

    Attributes
    ----------
    slope : float
        Steepness of the logistic curve.
    """

    slope: float
    kinds: ClassVar[Any] = ("continuous", "nominal", None)

    def truth(self) -> float:
        """Ln 2 - E h(sigmoid(slope X)); the classes are equally likely by symmetry."""
        doubt = _mean(lambda x: binary_entropy(_sigmoid(self.slope * x)), norm.pdf, lower=-40.0)
        return math.log(2) - doubt

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n_rows)
        y = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-self.slope * x))
        return InformationSample(column(x), column(y.astype(np.int64)), None)


def _sigmoid(t: float) -> float:
    return 1 / (1 + math.exp(-t)) if t > 0 else math.exp(t) / (1 + math.exp(t))


def _mean(
    function: Callable[[float], float], density: Callable[[float], Any], lower: float = 0.0
) -> float:
    """Integrate function times density from `lower` to 40 by adaptive quadrature."""
    value, _ = quad(
        lambda x: function(x) * float(density(x)),
        lower,
        40.0,
        epsabs=_TOLERANCE,
        epsrel=_TOLERANCE,
        limit=500,
        points=[0.0] if lower < 0 else None,
    )
    return float(value)
