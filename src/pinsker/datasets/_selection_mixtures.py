"""More problems that know their columns: duplicates, text, clusters, and numeric targets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinsker._types import FloatArray, Task
from pinsker.datasets._selection_problems import (
    Blobs,
    FewOfMany,
    LabelledSample,
    NoisyXor,
    Radial,
    RedundantLinear,
    SelectionProblem,
)


@dataclass(frozen=True)
class MixedKinds(SelectionProblem):
    """Numbers, counts and text columns; one of each matters, and one text column by itself.

    Attributes
    ----------
    n_noise : int
        Columns of each kind that do not matter.
    """

    n_noise: int = 4

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first four columns: a number, a count, two of text."""
        return (0, 1, 2, 3)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        numbers = rng.normal(size=(n_rows, 1 + self.n_noise))
        counts = rng.poisson(3.0, size=(n_rows, 1 + self.n_noise))
        levels = rng.integers(0, 4, size=(n_rows, 2 + self.n_noise))
        effect = np.array([-2.0, -0.5, 0.5, 2.0])
        turned = np.where(levels[:, 1] < 2, 1.0, -1.0)  # decides the sign of the number's effect
        signal = 2.0 * turned * numbers[:, 0] + 0.8 * (counts[:, 0] - 3.0) + effect[levels[:, 0]]
        y = (signal + rng.logistic(size=n_rows) > 0).astype(np.int64)
        text = np.array(["north", "east", "south", "west"], dtype=object)[levels]
        first = [numbers[:, :1], counts[:, :1], text[:, :2]]
        rest = [numbers[:, 1:], counts[:, 1:], text[:, 2:]]
        return LabelledSample(np.hstack([block.astype(object) for block in first + rest]), y)


@dataclass(frozen=True)
class Duplicates(SelectionProblem):
    """Three columns that matter, each with exact and with near duplicates, and noise."""

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first three columns."""
        return (0, 1, 2)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows: 3 causes, 3 copies, 6 near copies, 6 of noise, 2 copies of noise."""
        rng = np.random.default_rng(seed)
        causes = rng.normal(size=(n_rows, 3))
        signal = 2.5 * causes[:, 0] - 2.0 * causes[:, 1] + 1.5 * (causes[:, 2] ** 2 - 1.0)
        y = (signal + rng.logistic(size=n_rows) > 0).astype(np.int64)
        near = np.hstack([causes, causes]) + 0.02 * rng.normal(size=(n_rows, 6))
        noise = rng.normal(size=(n_rows, 6))
        return LabelledSample(np.hstack([causes, causes, near, noise, noise[:, :2]]), y)


@dataclass(frozen=True)
class Clusters(SelectionProblem):
    """Two classes of two normal clusters each, mixed columns of them, and noise.

    The recipe of scikit-learn's ``make_classification`` with its shuffled columns, drawn so that
    any number of rows comes from one law: `law` fixes centres and mixtures, `seed` the rows.

    Attributes
    ----------
    n_columns, n_informative, n_redundant : int
        Columns, those that hold the clusters, and linear mixtures of these.
    law : int
        Which centres and mixtures.
    """

    n_columns: int = 300
    n_informative: int = 5
    n_redundant: int = 15
    law: int = 0

    @cached_property
    def _law(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Centres, their covariance factors, mixtures, and where each column goes."""
        rng = np.random.default_rng([self.law, 20260101])
        k = self.n_informative
        corners = rng.permutation(2**k)[:4]
        bits = (corners[:, None] >> np.arange(k)) & 1
        centres = np.asarray(2.0 * bits - 1.0, dtype=np.float64)
        factors = rng.uniform(-1.0, 1.0, size=(4, k, k))
        mixtures = rng.uniform(-1.0, 1.0, size=(k, self.n_redundant))
        return centres, factors, mixtures, rng.permutation(self.n_columns).astype(np.float64)

    @property
    def relevant(self) -> tuple[int, ...]:
        """Where the informative columns are."""
        places = self._law[3].astype(np.int64)
        return tuple(sorted(int(place) for place in places[: self.n_informative]))

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        centres, factors, mixtures, places = self._law
        cluster = rng.integers(0, 4, size=n_rows)
        core = rng.normal(size=(n_rows, self.n_informative))
        core = np.einsum("ni,nij->nj", core, factors[cluster]) + centres[cluster]
        n_noise = self.n_columns - self.n_informative - self.n_redundant
        X = np.hstack([core, core @ mixtures, rng.normal(size=(n_rows, n_noise))])
        shuffled = np.empty_like(X)
        shuffled[:, places.astype(np.int64)] = X
        flipped = rng.uniform(size=n_rows) < 0.01
        return LabelledSample(shuffled, ((cluster % 2) ^ flipped).astype(np.int64))


@dataclass(frozen=True)
class Friedman(SelectionProblem):
    """Friedman's first problem: five of the columns in four curves, and noise of variance 1.

    Attributes
    ----------
    n_columns : int
        Columns.
    """

    n_columns: int = 15

    @property
    def task(self) -> Task:
        """Numbers."""
        return "regression"

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first five columns."""
        return (0, 1, 2, 3, 4)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n_rows, self.n_columns))
        y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
        y += 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=n_rows)
        return LabelledSample(X, y)


@dataclass(frozen=True)
class LinearNumbers(SelectionProblem):
    """A linear target of four columns that have noisy copies, among noise."""

    @property
    def task(self) -> Task:
        """Numbers."""
        return "regression"

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first four columns."""
        return (0, 1, 2, 3)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows: 4 causes, 8 copies, 8 of noise."""
        rng = np.random.default_rng(seed)
        causes = rng.normal(size=(n_rows, 4))
        copies = causes[:, np.arange(8) % 4] + 0.5 * rng.normal(size=(n_rows, 8))
        y = causes @ np.array([1.0, -0.8, 0.6, 0.4]) + 0.5 * rng.normal(size=n_rows)
        return LabelledSample(np.hstack([causes, copies, rng.normal(size=(n_rows, 8))]), y)


@dataclass(frozen=True)
class Heteroscedastic(SelectionProblem):
    """A curve of two columns whose noise grows with a third, among noise columns.

    Attributes
    ----------
    n_columns : int
        Columns.
    """

    n_columns: int = 15

    @property
    def task(self) -> Task:
        """Numbers."""
        return "regression"

    @property
    def relevant(self) -> tuple[int, ...]:
        """The first three columns; the third matters for the spread alone."""
        return (0, 1, 2)

    def sample(self, n_rows: int, seed: int) -> LabelledSample:
        """Draw rows."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, self.n_columns))
        spread = 0.2 + 0.8 / (1.0 + np.exp(-2.0 * X[:, 2]))
        y = 2.0 * np.sin(X[:, 0]) + X[:, 1] + spread * rng.normal(size=n_rows)
        return LabelledSample(X, y)


def selection_problems() -> dict[str, SelectionProblem]:
    """Return the problems that the benchmark of honesty runs on, by name.

    Examples
    --------
    >>> sorted(selection_problems())[:3]
    ['Blobs', 'Clusters', 'Duplicates']
    """
    problems: list[SelectionProblem] = [
        Radial(), RedundantLinear(), NoisyXor(), Blobs(), MixedKinds(), FewOfMany(), Clusters(),
        Duplicates(), Friedman(), LinearNumbers(), Heteroscedastic(),
    ]  # fmt: skip
    return {problem.name: problem for problem in problems}
