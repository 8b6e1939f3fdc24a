"""Differential entropy from distances to neighbours (Kozachenko and Leonenko)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from pinsker._types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class NeighbourEntropy:
    """Mean entropy of columns inside the cells of a partition.

    Attributes
    ----------
    value : float
        In nats; ``-inf`` when a row coincides with its neighbours.
    n_tied : int
        Rows whose distance to the k-th neighbour is zero.
    n_alone : int
        Rows that are alone in their cell; they are left out of the mean.
    """

    value: float
    n_tied: int
    n_alone: int


def neighbour_entropy(
    values: FloatArray, cells: IntArray, *, k: int, standardise: bool, n_threads: int = 1
) -> NeighbourEntropy:
    """Kozachenko-Leonenko entropy in the max norm, given the cell of each row.

    For one cell of n rows, with rho the distance to the k-th neighbour in d columns::

        h = psi(n) - psi(k) + d ln 2 + (d / n) sum ln rho

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Continuous columns, in the user's units.
    cells : ndarray of shape (n_rows,), int64
        Joint state of the discrete columns; all zero when there are none. Neighbours come from
        the same cell; a cell with too few rows uses all it has.
    k : int
        Number of neighbours.
    standardise : bool
        Measure distances in units of each column's spread (the entropy stays in the user's).
    n_threads : int
        Threads for the neighbour search; the result does not depend on it.
    """
    spread = _spreads(values) if standardise else np.ones(values.shape[1])
    scaled = values / spread
    per_row, used = np.zeros(values.shape[0]), np.ones(values.shape[0], dtype=np.bool_)
    for rows in _rows_of_cells(cells):
        if rows.size == 1:
            used[rows] = False
        else:
            per_row[rows] = _terms(scaled[rows], min(k, rows.size - 1), n_threads)
    tied = np.isneginf(per_row)
    value = _mean(per_row, used) + float(np.sum(np.log(spread)))
    return NeighbourEntropy(value, int(tied.sum()), int(np.sum(~used)))


def _terms(cell: FloatArray, k: int, n_threads: int) -> FloatArray:
    """One term of the entropy per row of a cell."""
    n_rows, n_columns = cell.shape
    found, _ = cKDTree(cell).query(cell, k=[k + 1], p=math.inf, workers=n_threads)
    radius = np.asarray(found).reshape(n_rows)
    with np.errstate(divide="ignore"):
        terms: FloatArray = n_columns * np.log(2 * radius) + digamma(n_rows) - digamma(k)
    return terms


def _spreads(values: FloatArray) -> FloatArray:
    """Standard deviations, one for a constant column."""
    largest = np.abs(values).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    spread = (values / largest).std(axis=0) * largest
    result: FloatArray = np.where(np.ptp(values, axis=0) > 0, spread, 1.0)
    return result


def _rows_of_cells(cells: IntArray) -> list[IntArray]:
    """Row numbers of each cell."""
    order = np.argsort(cells, kind="stable")
    return np.split(order, np.cumsum(np.bincount(cells))[:-1])


def _mean(per_row: FloatArray, used: BoolArray) -> float:
    """Mean over the rows that could be compared with any other."""
    if not used.any():
        return -math.inf
    # A sorted sum does not depend on the order of the rows.
    return math.fsum(per_row[used]) / int(used.sum()) if np.isfinite(per_row).all() else -math.inf
