"""Continuous problems that no Gaussian describes: bounded, heavy-tailed, skewed, non-monotone."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, gammaln

from pinsker.datasets._problem import InformationProblem, Sample, column

_CONTINUOUS = ("continuous", "continuous", None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x, noise = np.random.default_rng(seed).uniform(size=(2, n_rows))
        return Sample(column(x), column(x + self.epsilon * (2 * noise - 1)), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        n_columns = self.n_x + self.n_y + self.n_z
        shared = np.sqrt(self.degrees / rng.chisquare(self.degrees, size=(n_rows, 1)))
        rows = rng.normal(size=(n_rows, n_columns)) * shared
        x, y, z = np.split(rows, [self.n_x, self.n_x + self.n_y], axis=1)
        return Sample(x, y, z if self.n_z else None)

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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        rate = rng.gamma(self.theta, size=n_rows)
        return Sample(column(rate), column(rng.exponential(size=n_rows) / rate), None)


@dataclass(frozen=True)
class UniformDisc(InformationProblem):
    """A point drawn uniformly from the unit disc: uncorrelated coordinates, yet dependent."""

    kinds: ClassVar[Any] = _CONTINUOUS

    def truth(self) -> float:
        """2 h(X) - ln π, where a coordinate has the semicircle's entropy ln π - ½."""
        entropy_of_coordinate = math.log(math.pi) - 0.5
        return 2 * entropy_of_coordinate - math.log(math.pi)

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        radius, turn = np.random.default_rng(seed).uniform(size=(2, n_rows))
        radius, angle = np.sqrt(radius), 2 * math.pi * turn
        return Sample(column(radius * np.cos(angle)), column(radius * np.sin(angle)), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x, noise = np.random.default_rng(seed).exponential(size=(2, n_rows))
        x = x / self.rate_x
        return Sample(column(x), column(x + noise / self.rate_noise), None)
