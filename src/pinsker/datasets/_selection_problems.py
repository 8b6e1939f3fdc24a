"""Problems that know which of their columns matter."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pinsker._types import AnyArray, FloatArray, Task


class LabelledSample(NamedTuple):
    """Rows of a selection problem.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers; an object array where some columns hold text.
    y : ndarray of shape (n_rows,)
        Classes or numbers.
    """

    X: AnyArray
    y: AnyArray


class SelectionProblem(ABC):
    """A law of rows in which only some columns matter. Subclasses are frozen dataclasses."""

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
        """Draw rows: a direction, and a radius from the chi-square law cut to its interval."""
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
class RedundantLinear(SelectionProblem):
    """A logistic class of a few columns, noisy copies of them, and noise.

    Attributes
    ----------
    n_relevant, n_copies, n_noise : int
        Columns of each sort, in this order.
    """

    n_relevant: int = 4
    n_copies: int = 8
    n_noise: int = 8

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first columns."""
        return tuple(range(self.n_relevant))

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        causes = rng.normal(size=(n_rows, self.n_relevant))
        weights = 2.0 * np.where(np.arange(self.n_relevant) % 2, -1.0, 1.0)
        y = (causes @ weights + rng.logistic(size=n_rows) > 0).astype(np.int64)
        copied = causes[:, np.arange(self.n_copies) % self.n_relevant]
        copies = copied + 0.5 * rng.normal(size=copied.shape)
        noise = rng.normal(size=(n_rows, self.n_noise))
        return LabelledSample(np.hstack([causes, copies, noise]), y)


@dataclass(frozen=True)
class NoisyXor(SelectionProblem):
    """The sign of the product of two columns, wrong for one row in twenty, among noise.

    Attributes
    ----------
    n_columns : int
        Columns.
    """

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


@dataclass(frozen=True)
class Blobs(SelectionProblem):
    """Normal clouds around the corners of a simplex in the first columns, and noise.

    Attributes
    ----------
    n_classes, n_columns : int
        Clouds, which take as many columns, and columns altogether.
    distance : float
        From the origin to each centre, in standard deviations.
    """

    n_classes: int = 5
    n_columns: int = 20
    distance: float = 3.0

    @property
    def relevant(self) -> tuple[int, ...]:
        """One column per class."""
        return tuple(range(self.n_classes))

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        y = rng.integers(0, self.n_classes, size=n_rows)
        X = rng.normal(size=(n_rows, self.n_columns))
        X[np.arange(n_rows), y] += self.distance
        return LabelledSample(X, y)


@dataclass(frozen=True)
class FewOfMany(SelectionProblem):
    """A class that depends on five of many columns, two of them through their product.

    Attributes
    ----------
    n_columns : int
        Columns.
    """

    n_columns: int = 200

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first five columns."""
        return (0, 1, 2, 3, 4)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, self.n_columns))
        signal = 2.0 * X[:, 0] + 2.0 * X[:, 1] - 2.0 * X[:, 2] + 1.5 * X[:, 3] * X[:, 4]
        return LabelledSample(X, (signal + rng.logistic(size=n_rows) > 0).astype(np.int64))


def _chi2_between(
    rng: np.random.Generator, k: int, low: float, high: float, n_rows: int
) -> FloatArray:
    """Draw from the chi-square law with k degrees of freedom inside of an interval."""
    from scipy.stats import chi2

    below, above = float(chi2.cdf(low, k)), float(chi2.cdf(high, k))
    return np.asarray(chi2.ppf(rng.uniform(below, above, size=n_rows), k))
