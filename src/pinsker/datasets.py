"""Two problems whose relevant columns are known, to try selectors on."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pinsker._types import AnyArray, FloatArray, Task

__all__ = ["LabelledSample", "NoisyXor", "Radial", "SelectionProblem"]


class LabelledSample(NamedTuple):
    """Rows of a selection problem."""

    X: AnyArray  # numbers; an object array where some columns hold text
    y: AnyArray  # classes or numbers


class SelectionProblem(ABC):
    """Rows in which only some columns matter. Subclasses are frozen dataclasses."""

    @property
    def name(self) -> str:
        """Name of the problem in tables."""
        return type(self).__name__

    @property
    def task(self) -> Task:
        """Whether the target holds classes or numbers."""
        return "classification"

    @property
    @abstractmethod
    def relevant(self) -> tuple[int, ...]:
        """Columns that the target was made from."""

    @abstractmethod
    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw independent rows; the same seed gives the same rows."""


@dataclass(frozen=True)
class Radial(SelectionProblem):
    """Whether a point lies outside of a sphere in the first columns (the paper's problem).

    Half of the rows have a sum of squares between 3(k-2) and 4k, the others one below 3.5(k-2);
    all columns are normal otherwise.

    Attributes
    ----------
    n_relevant : int
        k, at least 3.
    n_columns : int
        Columns, the others noise.

    Examples
    --------
    >>> X, y = Radial(4, 10).sample(100, seed=0)
    >>> X.shape, int(y.sum())
    ((100, 10), 50)
    """

    n_relevant: int = 5
    n_columns: int = 15

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first k columns."""
        return tuple(range(self.n_relevant))

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows: a direction, and a radius from a truncated chi-square distribution."""
        rng = np.random.default_rng(seed)
        k = self.n_relevant
        y = rng.permutation(np.arange(n_rows) % 2)
        squares = np.where(
            y == 1,
            _chi2_between(rng, k, 3.0 * (k - 2), 4.0 * k, n_rows),
            _chi2_between(rng, k, 0.0, 3.5 * (k - 2), n_rows),
        )
        X = rng.normal(size=(n_rows, self.n_columns))
        directions = X[:, :k] / np.linalg.norm(X[:, :k], axis=1, keepdims=True)
        X[:, :k] = directions * np.sqrt(squares)[:, None]
        return LabelledSample(X, y)


@dataclass(frozen=True)
class NoisyXor(SelectionProblem):
    """The sign of the product of two columns, wrong for one row in twenty, among noise."""

    n_columns: int = 12

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first two columns."""
        return (0, 1)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, self.n_columns))
        y = (X[:, 0] * X[:, 1] > 0) ^ (rng.uniform(size=n_rows) < 0.05)
        return LabelledSample(X, y.astype(np.int64))


def _chi2_between(
    rng: np.random.Generator, k: int, low: float, high: float, n_rows: int
) -> FloatArray:
    """Draw from the chi-square distribution with k degrees of freedom inside of an interval."""
    from scipy.stats import chi2

    below, above = float(chi2.cdf(low, k)), float(chi2.cdf(high, k))
    return np.asarray(chi2.ppf(rng.uniform(below, above, size=n_rows), k))
