"""Estimators of information: counts of states, Gaussian, neighbors (docs/estimator.md)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy.linalg import qr
from scipy.special import digamma, entr

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.encoding import NOMINAL_STEP
from pinsker.engine import (
    BoxCounts,
    Correction,
    NeighborCounts,
    Problem,
    box_counts,
    grassberger_log,
    neighbor_counts,
)
from pinsker.exceptions import ParameterError

CORRECTIONS: tuple[str, ...] = get_args(Correction)

#: Mixed-radix keys beyond this could overflow int64 with the next column.
_LARGEST_KEY = 2**62


def merge_states(*blocks: FloatArray | IntArray) -> tuple[IntArray, int]:
    """Number the distinct rows of several blocks of columns."""
    n_rows = blocks[0].shape[0]
    keys, size = np.zeros(n_rows, dtype=np.int64), 1
    for block in blocks:
        for column in block.T:
            codes, n_values = _compress(column)
            if size > _LARGEST_KEY // n_values:
                keys, size = _compress(keys)
            keys = keys * n_values + codes
            size *= n_values
    return _compress(keys)


def state_entropy(
    states: IntArray, correction: Correction = "grassberger", weights: FloatArray | None = None
) -> float:
    """Entropy in nats of states given as numbers; rows of weights have no correction."""
    if weights is not None:
        return float(entr(np.bincount(states, weights) / weights.sum()).sum())
    n = states.size
    # The sum runs over the distinct counts, so that the rows' order cannot change a bit, and two
    # partitions of the same shape get the very same entropy: what should cancel does.
    counts, how_many = np.unique(np.bincount(states), return_counts=True)
    counts, how_many = counts[counts > 0], how_many[counts > 0]
    n_states = int(how_many.sum())
    if n_states == 1:
        return 0.0
    logs = grassberger_log(counts) if correction == "grassberger" else np.log(counts)
    entropy = float(np.log(n) - np.sum(how_many * (counts / n) * logs))
    return entropy + (n_states - 1) / (2 * n) if correction == "miller-madow" else entropy


def shared_information(x: IntArray, y: IntArray, weights: FloatArray | None = None) -> float:
    """Plug-in estimate of I(X;Y) in nats, of states given as numbers."""
    both, _ = _pair(x, y)
    alone = (state_entropy(one, "none", weights) for one in (x, y))
    return sum(alone) - state_entropy(both, "none", weights)


def shared_entropy(x: IntArray, y: IntArray, weights: FloatArray | None = None) -> float:
    """Plug-in estimate of I(X;Y)/H(Y), of states given as numbers; 0 where Y is constant."""
    entropy = state_entropy(y, "none", weights)
    return shared_information(x, y, weights) / entropy if entropy > 0 else 0.0


def discrete_information(
    x: IntArray, y: IntArray, z: IntArray | None, correction: Correction = "grassberger"
) -> tuple[float, float]:
    """Information between states, given others or nothing, and how well the cells are filled."""
    given = np.zeros(x.size, dtype=np.int64) if z is None else z
    xz, _ = _pair(x, given)
    yz, _ = _pair(y, given)
    xyz, n_cells = _pair(xz, y)
    # (H(XZ) - H(Z)) - (H(XYZ) - H(YZ)): constants and copies give equal pairs, and exactly zero.
    gain_without_y = state_entropy(xz, correction) - state_entropy(given, correction)
    gain_with_y = state_entropy(xyz, correction) - state_entropy(yz, correction)
    return gain_without_y - gain_with_y, x.size / n_cells


def _pair(a: IntArray, b: IntArray) -> tuple[IntArray, int]:
    """Number the states of two state columns together."""
    return _compress(a * (int(b.max()) + 1) + b)


def _compress(column: FloatArray | IntArray) -> tuple[IntArray, int]:
    """Number the distinct values of a column 0, 1, ... in increasing order."""
    if column.dtype.kind == "i" and column.min() >= 0 and column.max() < 4 * column.size:
        # Small integers: counting beats sorting.
        present = np.bincount(column) > 0
        return (np.cumsum(present) - 1)[column], int(present.sum())
    values, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64, copy=False), int(values.size)


#: A column whose part outside the span of others is relatively smaller than this adds nothing.
_SPAN_TOLERANCE = 1e-12
#: Rounding of the data themselves, in units of a column's largest value over its spread.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def gaussian_information(x: FloatArray, y: FloatArray, z: FloatArray | None) -> float:
    """Information in nats between jointly Gaussian columns, given others or nothing."""
    n_rows = x.shape[0]
    given = np.empty((n_rows, 0)) if z is None else z
    table, _, tolerance = _unit_columns(np.hstack([given, x, y]))
    # The triangular factor has the same inner products as the table, in few rows.
    table = np.asarray(np.linalg.qr(table, mode="r"), dtype=np.float64)
    n_z, n_x = given.shape[1], x.shape[1]
    z_part, x_part, y_part = table[:, :n_z], table[:, n_z : n_z + n_x], table[:, n_z + n_x :]
    z_part = _independent_part(z_part, z_part[:, :0], tolerance)
    x_part = _independent_part(x_part, z_part, tolerance)
    y_part = _independent_part(y_part, z_part, tolerance)
    xz, yz = np.hstack([z_part, x_part]), np.hstack([z_part, y_part])
    if _independent_part(y_part, xz, tolerance).shape[1] < y_part.shape[1]:
        return math.inf
    parts = (xz, yz, z_part, np.hstack([xz, y_part]))
    h_xz, h_yz, h_z, h_xyz = (_half_log_determinant(part, n_rows) for part in parts)
    return (h_xz - h_z) - (h_xyz - h_yz)


def gaussian_entropy(x: FloatArray) -> float:
    """Differential entropy in nats of Gaussian columns; ``-inf`` when they are dependent."""
    n_rows, n_columns = x.shape
    table, log_norms, tolerance = _unit_columns(x)
    table = np.asarray(np.linalg.qr(table, mode="r"), dtype=np.float64)
    if _independent_part(table, table[:, :0], tolerance).shape[1] < n_columns:
        return -math.inf
    in_user_units = _half_log_determinant(table, n_rows) + float(log_norms.sum())
    return float(0.5 * n_columns * math.log(math.pi * math.e) + in_user_units)


def _unit_columns(table: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Centre columns and divide them by their norms; constants become zero."""
    # Dividing by the largest value first keeps squares of huge and tiny values in range.
    largest = np.abs(table).max(axis=0)
    table = table / np.where(largest > 0, largest, 1.0)
    centred = table - table.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    constant = np.ptp(table, axis=0) <= _ROUNDING
    norms = np.where(constant, 1.0, norms)
    unit = np.where(constant, 0.0, centred / norms)
    log_norms = np.log(norms) + np.log(np.where(largest > 0, largest, 1.0))
    lost_digits = _ROUNDING * math.sqrt(table.shape[0]) / float(norms.min())
    return unit, log_norms, max(_SPAN_TOLERANCE, lost_digits)


def _independent_part(part: FloatArray, basis: FloatArray, tolerance: float) -> FloatArray:
    """Columns of `part` that are no linear functions of `basis` and of each other."""
    if part.shape[1] == 0:
        return part
    outside = part
    if basis.shape[1] > 0:
        directions = np.linalg.qr(basis)[0]
        for _ in range(2):  # once is not enough when little is left
            outside = outside - directions @ (directions.T @ outside)
    triangle, order = qr(outside, mode="r", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(triangle)) > tolerance))
    return part[:, np.sort(order[:rank])]


def _half_log_determinant(part: FloatArray, n_rows: int) -> float:
    """Half the logarithm of a scatter matrix's determinant, less its mean for a unit covariance."""
    n_columns = part.shape[1]
    if n_columns == 0:
        return 0.0
    diagonal = np.abs(np.diag(np.linalg.qr(part, mode="r")))
    bias = digamma((n_rows - np.arange(1, n_columns + 1)) / 2)
    return float(np.sum(np.log(diagonal)) - 0.5 * np.sum(bias))


KnnMethod = Literal["knn", "ksg2", "gao"]


@dataclass(frozen=True, eq=False)
class LocalTerms:
    """The estimate, row by row."""

    terms: FloatArray  # each row's contribution, in nats
    ceiling: float  # the largest value the estimate could have taken with these radii, in nats
    n_tied: int  # rows that were treated as tied
    n_alone: int  # rows without any row at finite distance
    resolution: float

    @property
    def value(self) -> float:
        return float(self.terms.mean())


def knn_terms(
    x: FloatArray | None, y: FloatArray, z: FloatArray | None, *, k: int, n_threads: int = 1,
    method: KnnMethod = "knn",
) -> LocalTerms:  # fmt: skip
    """Estimate I(X;Y|Z), or I(X;Y) without z, from nearest neighbors."""
    if k < 1:
        raise ParameterError(f"n_neighbors={k} is too few: use at least 1.")
    n = y.shape[0]
    if x is None or x.shape[1] == 0:
        return LocalTerms(np.zeros(n), 0.0, 0, 0, 0.0)
    rows = _rows(x, y, np.empty((n, 0)) if z is None else z, k, n_threads, method)
    n_tied, n_alone = int(np.count_nonzero(rows.tied)), int(np.count_nonzero(rows.alone))
    resolution = min(rows.x_resolution, rows.y_resolution)
    return LocalTerms(rows.terms, float(rows.ceilings.mean()), n_tied, n_alone, resolution)


def set_terms(
    problem: Problem, features: Iterable[int], *, k: int, method: KnnMethod, n_threads: int = 1
) -> LocalTerms:
    """Estimate the information of some features about the target."""
    x = problem.values[:, np.isin(problem.feature_of_column, list(features))]
    y = problem.target if problem.labels is None else problem.labels[:, None] * NOMINAL_STEP
    return knn_terms(x, np.asarray(y, np.float64), None, k=k, method=method, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Each row's term and the most it could be, in nats, and how it was treated."""

    terms: FloatArray
    ceilings: FloatArray
    tied: BoolArray
    alone: BoolArray
    x_resolution: float
    y_resolution: float

    @classmethod
    def of(
        cls, inside: FloatArray, in_xz: FloatArray, in_yz: FloatArray, in_z: FloatArray,
        fewest: FloatArray, tied: BoolArray, alone: BoolArray,
    ) -> "_Rows":  # fmt: skip
        """Put terms together from digammas of counts, leaving out the rows that are alone."""
        if alone.any():
            inside, in_xz, in_yz, in_z, fewest = (
                np.where(alone, 0.0, part) for part in (inside, in_xz, in_yz, in_z, fewest)
            )
        x_resolution, y_resolution = (float(np.mean(in_z - part)) for part in (in_xz, in_yz))
        terms = inside - in_xz - in_yz + in_z
        return cls(terms, in_z - fewest, tied & ~alone, alone, x_resolution, y_resolution)


def _rows(
    x: FloatArray, y: FloatArray, z: FloatArray, k: int, n_threads: int, method: KnnMethod
) -> _Rows:
    if method == "gao":
        if z.shape[1] == 0:
            return _gao(x, y, k, n_threads)
        return _chain(_gao(np.hstack([x, z]), y, k, n_threads), _gao(z, y, k, n_threads))
    found = neighbor_counts(x, y, z, k=k, n_threads=n_threads)
    psi = _digammas(x.shape[0])
    plain = _knn(x, y, z, found, psi)
    if method == "ksg2":
        box = box_counts(x, y, z, radius=found.radius, n_threads=n_threads)
        return _ksg2(z.shape[1] > 0, found, box, psi, plain)
    return plain


def _digammas(n: int) -> FloatArray:
    """Digamma of 0..n; the entry of 0 stands for rows that are left out and is not used."""
    return np.asarray(digamma(np.maximum(np.arange(n + 1), 1)))


def _knn(
    x: FloatArray, y: FloatArray, z: FloatArray, found: NeighborCounts, psi: FloatArray
) -> _Rows:
    tied = (
        (found.radius == 0)
        | (found.joint_closed != found.neighbors)
        | (found.xz_closed - found.xz_open > 1)
        | (found.yz_closed - found.yz_open > 1)
        | (found.z_closed - found.z_open > 1)
    )
    inside = psi[np.where(tied, found.joint_closed, found.neighbors)]
    in_xz = psi[np.where(tied, found.xz_closed, found.xz_open + 1)]
    in_yz = psi[np.where(tied, found.yz_closed, found.yz_open + 1)]
    in_z = psi[np.where(tied, found.z_closed, found.z_open + 1)]
    fewest = _fewest(inside, [] if z.shape[1] else [(x, in_xz), (y, in_yz)])
    return _Rows.of(inside, in_xz, in_yz, in_z, fewest, tied, found.neighbors == 0)


def _fewest(inside: FloatArray, sides: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Digamma of the fewest rows that the balls of all sides can hold, whatever the dependence."""
    for columns, count in sides:
        if _is_nominal(columns):
            inside = np.maximum(inside, count)
    return inside


def _is_nominal(columns: FloatArray) -> bool:
    """Whether rows are either equal in all columns or infinitely far apart."""
    return all(
        bool(np.all(np.round(column / NOMINAL_STEP) * NOMINAL_STEP == column))
        or bool(np.all(column == column[0]))
        for column in columns.T
    )


def _ksg2(
    conditional: bool, found: NeighborCounts, box: BoxCounts, psi: FloatArray, plain: _Rows
) -> _Rows:
    sides = 2 if conditional else 1  # of a box in xz or yz; one row may lie on each
    fits = (
        (np.minimum(np.minimum(box.x_extent, box.y_extent), box.z_extent) > 0)
        & (found.joint_closed == found.neighbors)
        & (box.xz_closed - box.xz_open <= sides)
        & (box.yz_closed - box.yz_open <= sides)
        & (box.z_closed - box.z_open <= 1)
    )
    k = np.maximum(found.neighbors, 1)
    inside = psi[k] - sides / k + (psi[box.z_open + 1] if conditional else psi[-1])
    terms, ceilings = inside.copy(), inside
    for is_open, closed in ((box.xz_open, box.xz_closed), (box.yz_open, box.yz_closed)):
        terms -= psi[is_open + 1]
        # Neighbors are inside or on the box: all but those on it are inside.
        ceilings = ceilings - psi[np.maximum(k - (closed - is_open), 0) + 1]
    terms, ceilings = np.where(fits, (terms, ceilings), (plain.terms, plain.ceilings))
    return replace(plain, terms=terms, ceilings=ceilings, tied=plain.tied & ~fits)


def _gao(x: FloatArray, y: FloatArray, k: int, n_threads: int) -> _Rows:
    n = x.shape[0]
    found = neighbor_counts(x, y, np.empty((n, 0)), k=k, n_threads=n_threads)
    psi = _digammas(n)
    tied = found.radius == 0
    inside = psi[np.where(tied, found.joint_closed + 1, found.neighbors)]
    in_x = psi[np.where(tied, found.xz_closed, found.xz_open) + 1]
    in_y = psi[np.where(tied, found.yz_closed, found.yz_open) + 1]
    # With ties on the radius an open ball may hold fewer rows than there are neighbors.
    least = np.minimum(inside, np.minimum(in_x, in_y))
    fewest = _fewest(least, [(x, in_x), (y, in_y)]) + least - inside
    all_rows = np.full(n, np.log(n))
    return _Rows.of(inside, in_x, in_y, all_rows, fewest, tied, found.neighbors == 0)


def _chain(whole: _Rows, known: _Rows) -> _Rows:
    """I(X;Y|Z) = I(XZ;Y) - I(Z;Y): the ceiling is that of the first, less the second."""
    terms, ceilings = whole.terms - known.terms, whole.ceilings - known.terms
    value = float(known.terms.mean())
    shown = (whole.x_resolution - value, whole.y_resolution - value)
    return _Rows(terms, ceilings, whole.tied, whole.alone, *shown)
