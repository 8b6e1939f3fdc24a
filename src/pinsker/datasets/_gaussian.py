"""Gaussian problems, and non-Gaussian ones whose information is a Gaussian's."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import norm

from pinsker._types import FloatArray
from pinsker.datasets._problem import InformationProblem, Sample, column

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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        noise = np.random.default_rng(seed).normal(size=(n_rows, 2))
        x = noise[:, 0]
        y = self.rho * x + math.sqrt(1 - self.rho**2) * noise[:, 1]
        if self.bend != "none":
            bent = {"exp": np.exp(x), "cube": x**3, "cdf": norm.cdf(x)}
            x, y = bent[self.bend], y**3
        return Sample(column(x), column(y), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x, y, _ = BivariateNormal(self.rho).sample(n_rows, seed)
        other = np.random.default_rng([seed, 1])
        return Sample(x, y, other.normal(size=(n_rows, self.n_conditions)))


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        root = np.linalg.cholesky(np.array(self.covariance))
        rows = np.random.default_rng(seed).normal(size=(n_rows, len(root))) @ root.T
        x, y, z = self._split(list(range(len(root))))
        return Sample(rows[:, x], rows[:, y], rows[:, z] if z else None)

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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        steps = np.cumsum(np.random.default_rng(seed).normal(size=(n_rows, 3)), axis=1)
        x, z, y = (column(step) for step in steps.T)
        return Sample(x, y, z if self.given_z else None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x, y, noise = np.random.default_rng(seed).normal(size=(3, n_rows))
        return Sample(column(x), column(y), column(x + y + noise) if self.given_z else None)


@dataclass(frozen=True)
class ManyWeakCauses(InformationProblem):
    """y is the normed sum of d independent causes plus unit noise.

    Attributes
    ----------
    n_causes : int
        d.
    asked : {"first given rest", "first", "all"}
        Whether x is the first cause given the others, the first alone, or all of them.
    """

    n_causes: int
    asked: Literal["first given rest", "first", "all"] = "first given rest"
    kinds: ClassVar[Any] = _CONTINUOUS_GIVEN

    def truth(self) -> float:
        """½ ln(1 + 1/d) given the rest; -½ ln(1 - 1/(2d)) alone; ½ ln 2 for all."""
        if self.asked == "first given rest":
            return 0.5 * math.log1p(1 / self.n_causes)
        if self.asked == "first":
            return -0.5 * math.log1p(-1 / (2 * self.n_causes))
        return 0.5 * math.log(2)

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rows = np.random.default_rng(seed).normal(size=(n_rows, self.n_causes + 1))
        causes = rows[:, 1:]
        y = column(causes.sum(axis=1) / math.sqrt(self.n_causes) + rows[:, 0])
        if self.asked == "all":
            return Sample(causes, y, None)
        return Sample(causes[:, :1], y, causes[:, 1:] if self.asked != "first" else None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n_rows, self.n_causes))
        e1, e2 = rng.normal(size=(2, n_rows))
        f, g = self._causes(z)
        return Sample(column(f + e1), column(g + self.coupling * e1 + e2), z)

    def _causes(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = z.sum(axis=1) / math.sqrt(self.n_causes)
        return (total, total) if self.shape == "linear" else (2 * np.sin(2 * total), total**2)
