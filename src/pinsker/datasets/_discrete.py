"""Discrete problems: logic gates, noisy channels, counts."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pinsker.datasets._problem import (
    InformationProblem,
    Sample,
    binary_entropy,
    column,
    table_information,
)

_NOMINAL = ("nominal", "nominal", None)
_NOMINAL_GIVEN = ("nominal", "nominal", "nominal")


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        table = np.array(self.probabilities)
        cells = np.random.default_rng(seed).choice(table.size, size=n_rows, p=table.ravel())
        x, y = np.unravel_index(cells, table.shape)
        return Sample(column(x), column(y), None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x, z = rng.integers(0, 2, size=(2, n_rows))
        y = x ^ z ^ (rng.uniform(size=n_rows) < self.noise)
        return Sample(column(x), column(y), column(z) if self.given_z else None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 2, size=n_rows)
        return Sample(column(x), column(x ^ (rng.uniform(size=n_rows) < self.noise)), None)


@dataclass(frozen=True)
class And(InformationProblem):
    """y is the conjunction of two fair bits.

    Attributes
    ----------
    asked : {"first", "first given second", "both"}
        Whether x is the first bit, the first bit given the second, or both bits.
    """

    asked: Literal["first", "first given second", "both"]
    kinds: ClassVar[Any] = _NOMINAL_GIVEN

    def truth(self) -> float:
        """H(¼) - ½ ln 2 for one bit, ½ ln 2 given the other, H(¼) for both."""
        if self.asked == "first given second":
            return 0.5 * math.log(2)
        return binary_entropy(0.25) - (0.5 * math.log(2) if self.asked == "first" else 0.0)

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        bits = np.random.default_rng(seed).integers(0, 2, size=(n_rows, 2))
        y = column(bits[:, 0] & bits[:, 1])
        if self.asked == "both":
            return Sample(bits, y, None)
        return Sample(bits[:, :1], y, bits[:, 1:] if self.asked != "first" else None)


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

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        x = column(np.random.default_rng(seed).integers(0, self.n_symbols, size=n_rows))
        return Sample(x, x.copy(), None)


@dataclass(frozen=True)
class BinomialPoisson(InformationProblem):
    """Counts that share nothing but their scale: X ~ Bin(Z, ½), Y ~ Poisson(Z), Z from 1 to 10."""

    kinds: ClassVar[Any] = ("count", "count", "count")

    def truth(self) -> float:
        """0: independent given z."""
        return 0.0

    def sample(self, n_rows: int, seed: int) -> Sample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        z = rng.integers(1, 11, size=n_rows)
        return Sample(column(rng.binomial(z, 0.5)), column(rng.poisson(z)), column(z))
