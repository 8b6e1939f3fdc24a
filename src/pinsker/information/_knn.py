"""Information from neighbor counts: the estimator of docs/estimator.md and two relatives."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import digamma

from pinsker._types import BoolArray, FloatArray
from pinsker.encoding import NOMINAL_STEP
from pinsker.engine import (
    BoxCounts,
    NeighborCounts,
    box_counts,
    neighbor_counts,
)
from pinsker.exceptions import ParameterError

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
        """The estimate in nats, not clipped."""
        return float(self.terms.mean())


def knn_terms(
    x: FloatArray | None,
    y: FloatArray,
    z: FloatArray | None,
    *,
    k: int,
    n_threads: int = 1,
    method: KnnMethod = "knn",
) -> LocalTerms:
    """Estimate I(X;Y|Z), or I(X;Y) without z, from nearest neighbors."""
    if k < 1:
        raise ParameterError(f"n_neighbors={k} is too few: use at least 1.")
    n = y.shape[0]
    if x is None or x.shape[1] == 0:
        return LocalTerms(np.zeros(n), 0.0, 0, 0, 0.0)
    rows = _rows(x, y, np.empty((n, 0)) if z is None else z, k, n_threads, method)
    return LocalTerms(
        terms=rows.terms,
        ceiling=float(rows.ceilings.mean()),
        n_tied=int(np.count_nonzero(rows.tied)),
        n_alone=int(np.count_nonzero(rows.alone)),
        resolution=min(rows.x_resolution, rows.y_resolution),
    )


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
        cls,
        inside: FloatArray,
        in_xz: FloatArray,
        in_yz: FloatArray,
        in_z: FloatArray,
        fewest: FloatArray,
        tied: BoolArray,
        alone: BoolArray,
    ) -> "_Rows":
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
    table: FloatArray = digamma(np.maximum(np.arange(n + 1), 1))
    return table


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
    return _Rows(
        np.where(fits, terms, plain.terms),
        np.where(fits, ceilings, plain.ceilings),
        plain.tied & ~fits,
        plain.alone,
        plain.x_resolution,
        plain.y_resolution,
    )


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
    known_value = float(known.terms.mean())
    return _Rows(
        whole.terms - known.terms,
        whole.ceilings - known.terms,
        whole.tied,
        whole.alone,
        whole.x_resolution - known_value,
        whole.y_resolution - known_value,
    )
