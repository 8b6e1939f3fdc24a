"""Continuous problems: Gaussian ones, and bounded, heavy-tailed, skewed, non-monotone ones."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import digamma, gammaln
from scipy.stats import norm

from tests.truths.problem import InformationProblem, InformationSample, column

_CONTINUOUS = ("continuous", "continuous", None)
_CONTINUOUS_GIVEN = ("continuous", "continuous", "continuous")


@dataclass(frozen=True)
class BivariateNormal(InformationProblem):
    """Two normal variables of correlation `rho`; monotone maps change nothing: -½ ln(1-ρ²).

    Attributes
    ----------
    rho : float
        Correlation.
    bend : {"none", "exp", "cube", "cdf"}
        Monotone map applied to x (and its cube to y unless "none").
    """

    rho: float
    bend: Literal["none", "exp", "cube", "cdf"] = "none"
    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """-½ ln(1 - ρ²)."""
        return -0.5 * math.log(1 - self.rho**2)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        noise = np.random.default_rng(seed).normal(size=(n_rows, 2))
        x = noise[:, 0]
        y = self.rho * x + math.sqrt(1 - self.rho**2) * noise[:, 1]
        if self.bend != "none":
            bent = {"exp": np.exp(x), "cube": x**3, "cdf": norm.cdf(x)}
            x, y = bent[self.bend], y**3
        return InformationSample(column(x), column(y), None)


@dataclass(frozen=True)
class IrrelevantCondition(InformationProblem):
    """Two normal variables of correlation `rho`, given columns that have nothing to do with them.

    Attributes
    ----------
    rho : float
        Correlation.
    n_conditions : int
        Number of independent normal columns in z.
    """

    rho: float = 0.8
    n_conditions: int = 1
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """-½ ln(1 - ρ²): an independent condition takes nothing away."""
        return BivariateNormal(self.rho).truth()

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x, y, _ = BivariateNormal(self.rho).sample(n_rows, seed)
        other = np.random.default_rng([seed, 1])
        return InformationSample(x, y, other.normal(size=(n_rows, self.n_conditions)))


@dataclass(frozen=True)
class MultivariateNormal(InformationProblem):
    """Normal columns of any covariance, in the order x, y, z.

    Attributes
    ----------
    covariance : tuple of tuple of float
        Covariance of all columns.
    n_x, n_y : int
        Number of columns of x and of y; the rest is z.
    """

    covariance: tuple[tuple[float, ...], ...]
    n_x: int = 1
    n_y: int = 1
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """½ ln(|Σ_xz| |Σ_yz| / (|Σ_z| |Σ|))."""
        everything = range(len(self.covariance))
        x, y, z = self._split(list(everything))
        log_det = self._log_determinant
        return 0.5 * (log_det(x + z) + log_det(y + z) - log_det(z) - log_det(x + y + z))

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        root = np.linalg.cholesky(np.array(self.covariance))
        rows = np.random.default_rng(seed).normal(size=(n_rows, len(root))) @ root.T
        x, y, z = self._split(list(range(len(root))))
        return InformationSample(rows[:, x], rows[:, y], rows[:, z] if z else None)

    def _split(self, columns: list[int]) -> tuple[list[int], list[int], list[int]]:
        end_of_y = self.n_x + self.n_y
        return columns[: self.n_x], columns[self.n_x : end_of_y], columns[end_of_y:]

    def _log_determinant(self, columns: list[int]) -> float:
        block = np.array(self.covariance)[np.ix_(columns, columns)]
        return float(np.linalg.slogdet(block)[1])


@dataclass(frozen=True)
class Chain(InformationProblem):
    """x causes z causes y, each with unit noise: z separates x from y.

    Attributes
    ----------
    given_z : bool
        Whether the truth is I(X;Y|Z), which is 0, or I(X;Y).
    """

    given_z: bool
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """0 given z, else ½ ln(3/2)."""
        return 0.0 if self.given_z else 0.5 * math.log(1.5)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        steps = np.cumsum(np.random.default_rng(seed).normal(size=(n_rows, 3)), axis=1)
        x, z, y = (column(step) for step in steps.T)
        return InformationSample(x, y, z if self.given_z else None)


@dataclass(frozen=True)
class Collider(InformationProblem):
    """Independent x and y with a common effect z = x + y + noise: z couples them.

    Attributes
    ----------
    given_z : bool
        Whether the truth is I(X;Y|Z), or I(X;Y), which is 0.
    """

    given_z: bool
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """-½ ln(3/4) given z (partial correlation -½), else 0."""
        return -0.5 * math.log(0.75) if self.given_z else 0.0

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x, y, noise = np.random.default_rng(seed).normal(size=(3, n_rows))
        return InformationSample(
            column(x), column(y), column(x + y + noise) if self.given_z else None
        )


@dataclass(frozen=True)
class ManyWeakCauses(InformationProblem):
    """y is the normed sum of d independent causes plus unit noise.

    Attributes
    ----------
    n_causes : int
        d.
    which : {"first given rest", "first", "all"}
        Whether x is the first cause given the others, the first alone, or all of them.
    """

    n_causes: int
    which: Literal["first given rest", "first", "all"] = "first given rest"
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """½ ln(1 + 1/d) given the rest; -½ ln(1 - 1/(2d)) alone; ½ ln 2 for all."""
        if self.which == "first given rest":
            return 0.5 * math.log1p(1 / self.n_causes)
        if self.which == "first":
            return -0.5 * math.log1p(-1 / (2 * self.n_causes))
        return 0.5 * math.log(2)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rows = np.random.default_rng(seed).normal(size=(n_rows, self.n_causes + 1))
        causes = rows[:, 1:]
        y = column(causes.sum(axis=1) / math.sqrt(self.n_causes) + rows[:, 0])
        if self.which == "all":
            return InformationSample(causes, y, None)
        return InformationSample(causes[:, :1], y, causes[:, 1:] if self.which != "first" else None)


@dataclass(frozen=True)
class CommonCause(InformationProblem):
    """x = f(Z) + e1 and y = g(Z) + b e1 + e2 with unit normal noise: ½ ln(1 + b²) for any f, g.

    Attributes
    ----------
    coupling : float
        b.
    n_causes : int
        Number of columns of z.
    shape : {"linear", "wave"}
        f and g: the normed sum; or the sine and the square of two normed sums.
    """

    coupling: float = 1.0
    n_causes: int = 1
    shape: Literal["linear", "wave"] = "linear"
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """½ ln(1 + b²)."""
        return 0.5 * math.log1p(self.coupling**2)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n_rows, self.n_causes))
        e1, e2 = rng.normal(size=(2, n_rows))
        f, g = self._causes(z)
        return InformationSample(column(f + e1), column(g + self.coupling * e1 + e2), z)

    def _causes(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = z.sum(axis=1) / math.sqrt(self.n_causes)
        return (total, total) if self.shape == "linear" else (2 * np.sin(2 * total), total**2)


@dataclass(frozen=True)
class AdditiveUniform(InformationProblem):
    """Y = X + U(-ε, ε) with X uniform on (0, 1).

    Attributes
    ----------
    epsilon : float
        Half the width of the noise.
    """

    epsilon: float
    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """ε - ln 2ε for ε <= ½, else 1/(4ε)."""
        if self.epsilon <= 0.5:
            return self.epsilon - math.log(2 * self.epsilon)
        return 1 / (4 * self.epsilon)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x, noise = np.random.default_rng(seed).uniform(size=(2, n_rows))
        return InformationSample(column(x), column(x + self.epsilon * (2 * noise - 1)), None)


@dataclass(frozen=True)
class StudentT(InformationProblem):
    """Uncorrelated columns of one multivariate Student t: dependent through their tails only.

    Attributes
    ----------
    degrees : float
        Degrees of freedom.
    n_x, n_y, n_z : int
        Number of columns on each side; no condition when n_z is 0.
    """

    degrees: float
    n_x: int = 1
    n_y: int = 1
    n_z: int = 0
    kinds: ClassVar[Any] = ("continuous", "continuous", "continuous")

    def truth(self) -> float:
        """h(d_x + d_z) + h(d_y + d_z) - h(d_z) - h(d_x + d_y + d_z)."""
        h = self._entropy
        z = self.n_z
        return h(self.n_x + z) + h(self.n_y + z) - h(z) - h(self.n_x + self.n_y + z)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        n_columns = self.n_x + self.n_y + self.n_z
        shared = np.sqrt(self.degrees / rng.chisquare(self.degrees, size=(n_rows, 1)))
        rows = rng.normal(size=(n_rows, n_columns)) * shared
        x, y, z = np.split(rows, [self.n_x, self.n_x + self.n_y], axis=1)
        return InformationSample(x, y, z if self.n_z else None)

    def _entropy(self, n_columns: int) -> float:
        """Differential entropy of some of the columns; zero for none."""
        nu, half = self.degrees, (self.degrees + n_columns) / 2
        volume = gammaln(nu / 2) - gammaln(half) + n_columns / 2 * math.log(nu * math.pi)
        return float(volume + half * (digamma(half) - digamma(nu / 2)))


@dataclass(frozen=True)
class GammaExponential(InformationProblem):
    """X is Gamma(θ), and Y given X exponential with rate X.

    Attributes
    ----------
    theta : float
        Shape of the Gamma distribution.
    """

    theta: float
    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """ψ(θ + 1) - ln θ."""
        return float(digamma(self.theta + 1)) - math.log(self.theta)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        rate = rng.gamma(self.theta, size=n_rows)
        return InformationSample(column(rate), column(rng.exponential(size=n_rows) / rate), None)


@dataclass(frozen=True)
class UniformDisc(InformationProblem):
    """A point drawn uniformly from the unit disc: uncorrelated coordinates, yet dependent."""

    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """2 h(X) - ln π, where a coordinate has the semicircle's entropy ln π - ½."""
        entropy_of_coordinate = math.log(math.pi) - 0.5
        return 2 * entropy_of_coordinate - math.log(math.pi)

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        radius, turn = np.random.default_rng(seed).uniform(size=(2, n_rows))
        radius, angle = np.sqrt(radius), 2 * math.pi * turn
        return InformationSample(
            column(radius * np.cos(angle)), column(radius * np.sin(angle)), None
        )


@dataclass(frozen=True)
class ExponentialSum(InformationProblem):
    """Y = X + E with exponential X of rate a and independent exponential E of rate b > a.

    Attributes
    ----------
    rate_x, rate_noise : float
        a and b.
    """

    rate_x: float
    rate_noise: float
    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """γ + ln((b - a)/a) + ψ(b/(b - a))."""
        gap = self.rate_noise - self.rate_x
        return float(np.euler_gamma + math.log(gap / self.rate_x) + digamma(self.rate_noise / gap))

    def sample(self, n_rows: int, seed: int) -> InformationSample:
        """Draw rows."""
        x, noise = np.random.default_rng(seed).exponential(size=(2, n_rows))
        x = x / self.rate_x
        return InformationSample(column(x), column(x + noise / self.rate_noise), None)
