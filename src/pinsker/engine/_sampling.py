"""Which rows are measured: all of them, or a sample whose standard error is known."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import IntArray
from pinsker.engine import _kernels
from pinsker.engine._fixed_point import FixedPoint
from pinsker.engine._problem import Problem
from pinsker.exceptions import ParameterError

#: Up to so many rows all are measured unless a user asks for fewer, and never fewer by default.
EVERY_ROW_UP_TO = 50_000
#: Beyond that: as many as bring the standard error of a set's information to so many nats, what an
#: error budget of 0.05 allows to be lost (2 x 0.05**2).
STANDARD_ERROR = 0.005
#: The spread of a row's term is found from so many batches of so many rows, to 18 %.
_BATCHES = 16
_ROWS_PER_BATCH = 16


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that are measured, each against all rows of the table.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,), int64
        The rows, in increasing order.
    standard_error : float or None
        Of the information of a set in nats, against measuring every row; None if every row is
        measured, or where the table is too small to ask.
    """

    queries: IntArray
    standard_error: float | None = None


def choose_rows(
    problem: Problem, max_samples: int | None, seed: int, n_neighbors: int = 3
) -> Sample:
    """Choose every row, or a seeded sample that keeps the shares of classes (or target ranks).

    Parameters
    ----------
    problem : Problem
        The table.
    max_samples : int or None
        At most so many; None is every row of up to `EVERY_ROW_UP_TO`, and as many rows of a larger
        table as `STANDARD_ERROR` needs, but not fewer than that.
    seed : int
        Seed of the sample.
    n_neighbors : int
        Neighbours of the estimator.
    """
    n = problem.n_rows
    if max_samples is not None and max_samples < 1:
        raise ParameterError(f"max_samples must be at least 1, got {max_samples}.")
    if n <= EVERY_ROW_UP_TO:
        size = n if max_samples is None else min(max_samples, n)
        return Sample(_stratified(problem, size, seed))
    if max_samples is not None and max_samples >= n:
        return Sample(_stratified(problem, n, seed))
    spread = _spread_of_terms(problem, n_neighbors)
    size = max_samples or max(EVERY_ROW_UP_TO, _size_for(spread, n))
    error = spread * np.sqrt(1 / size - 1 / n)
    return Sample(_stratified(problem, size, seed), float(error))


def _size_for(spread: float, n: int) -> int:
    """Return the size at which a sample of n rows without replacement has the standard error."""
    return int(np.ceil(1 / ((STANDARD_ERROR / spread) ** 2 + 1 / n))) if spread else 1


def _stratified(problem: Problem, size: int, seed: int) -> IntArray:
    n = problem.n_rows
    if size >= n:
        return np.arange(n, dtype=np.int64)
    strata = problem.labels if problem.labels is not None else np.asarray(problem.target)[:, 0]
    shuffled = np.random.default_rng(seed).permutation(n)
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    # Equal steps through the rows sorted by target: each class gets its share, to one row.
    picks = (np.arange(size) * n) // size
    return np.sort(by_stratum[picks]).astype(np.int64)


def _spread_of_terms(problem: Problem, n_neighbors: int) -> float:
    """Return the standard deviation of a row's term with all features, in nats.

    The engine returns sums only, so the spread comes from the means of small batches of random
    rows. A stratified sample is a little better than this says.
    """
    key = ("spread of terms", n_neighbors)
    if key not in problem.held:
        rows = np.random.default_rng(0).choice(problem.n_rows, _BATCHES * _ROWS_PER_BATCH, False)
        fixed = FixedPoint.of(problem.n_rows)
        sums = [
            _sum_of_terms(problem, fixed, batch, n_neighbors)
            for batch in rows.reshape(_BATCHES, -1)
        ]
        means = fixed.to_nats(np.array(sums, dtype=np.int64), _ROWS_PER_BATCH)
        problem.held[key] = float(means.std(ddof=1) * np.sqrt(_ROWS_PER_BATCH))
    spread: float = problem.held[key]
    return spread


def _sum_of_terms(problem: Problem, fixed: FixedPoint, rows: IntArray, n_neighbors: int) -> int:
    search = _kernels.Backward(
        values=problem.values,
        features=problem.feature_of_column.astype(np.int32),
        n_features=problem.n_features,
        labels=problem.labels,
        target=problem.target,
        digamma=fixed.digamma,
        queries=np.ascontiguousarray(rows),
        watched_queries=0,
        rank=n_neighbors,
        direct=False,
    )
    search.start(np.ones(problem.n_features, dtype=np.uint8), 1)
    return int(search.information())
