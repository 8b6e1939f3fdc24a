"""Class labels and symbols with continuous columns, where the truth needs no integral."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pinsker.datasets._problem import InformationProblem, Sample, column, table_information


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x1, x2 = np.random.default_rng(seed).normal(size=(2, n_rows))
        y = (x1 * x2 > 0).astype(np.int64)
        return Sample(column(x1), column(y), column(x2) if self.given_second else None)


@dataclass(frozen=True)
class ExponentialPoissonBinomial(InformationProblem):
    """E exponential of mean 10, P ~ Poisson(E), B ~ Bin(P, ½): P separates E from B."""

    kinds: ClassVar[Any] = ("continuous", "count", "count")

    def truth(self) -> float:
        """I(E;B|P) is 0."""
        return 0.0

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        mean = rng.exponential(10, size=n_rows)
        count = rng.poisson(mean)
        return Sample(column(mean), column(rng.binomial(count, 0.5)), column(count))


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        symbols = rng.integers(0, self.n_symbols, size=n_rows)
        return Sample(column(symbols), column(self.n_symbols * rng.uniform(size=n_rows)), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        classes = rng.choice(len(self.weights), size=n_rows, p=np.array(self.weights))
        low, high = np.array(self.intervals)[classes].T
        return Sample(column(classes), column(rng.uniform(low, high)), None)
