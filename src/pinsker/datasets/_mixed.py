"""Problems that mix discrete and continuous values, side by side or within one column."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, xlogy
from scipy.stats import norm

from pinsker.datasets._problem import (
    InformationProblem,
    Sample,
    binary_entropy,
    column,
    table_information,
)

_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SlidingWindow(InformationProblem):
    """X uniform on m whole numbers, Y uniform on (X, X + 2): windows that overlap by half.

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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.integers(0, self.n_symbols, size=n_rows)
        return Sample(column(x), column(x + 2 * rng.uniform(size=n_rows)), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.exponential(size=n_rows)
        y = rng.poisson(x) * (rng.uniform(size=n_rows) >= self.p_zero)
        return Sample(column(x), column(y), None)

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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x, noise = rng.normal(size=(2, n_rows))
        y = self.rho * x + math.sqrt(1 - self.rho**2) * noise
        sign = rng.choice([-1.0, 1.0], size=n_rows)
        same = np.where(rng.uniform(size=n_rows) < 2 * self.p_agree, 1.0, -1.0)
        atom = rng.uniform(size=n_rows) < 0.5
        return Sample(column(np.where(atom, sign, x)), column(np.where(atom, sign * same, y)), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        y = rng.choice([-1, 1], size=n_rows)
        return Sample(column(y * self.shift + rng.normal(size=n_rows)), column(y), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n_rows)
        y = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-self.slope * x))
        return Sample(column(x), column(y.astype(np.int64)), None)


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
