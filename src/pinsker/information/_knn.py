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
    """The estimate, row by row.

    Attributes
    ----------
    terms : ndarray of shape (n_rows,), float64
        Each row's contribution, in nats; the estimate is their mean.
    ceiling : float
        The largest value the estimate could have taken with these radii, in nats.
    n_tied : int
        Rows that were treated as tied.
    n_alone : int
        Rows without any row at finite distance; their term is 0.
    resolution : float
        The estimate if x determined y, or y determined x, whichever is less, in nats.
    """

    terms: FloatArray
    ceiling: float
    n_tied: int
    n_alone: int
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
    """Estimate I(X;Y|Z), or I(X;Y) without z, from nearest neighbors.

    Parameters
    ----------
    x, y, z : ndarray of shape (n_rows, any), float64, C order, or None
        Columns in metric form. No columns and None are the same.
    k : int
        Number of neighbors, at least 1.
    n_threads : int, default=1
        Threads to use. The result is the same, to the last bit, for any number.
    method : {"knn", "ksg2", "gao"}, default="knn"
        "knn" is the estimator of docs/estimator.md: Kraskov's first, Frenzel and Pompe's with a
        condition, Ross's for classes, Mesner and Shalizi's at ties. See Notes for the others.

    Returns
    -------
    LocalTerms
        In nats.

    Notes
    -----
    **The ceiling** of the terms of [1]_. A row's k_i neighbors lie in its balls in xz and yz, so
    both counts are at least k_i, and the row's term at most ψ(n_z) - ψ(k_i), with n_z as the term
    has it (n without a condition) and kt for k_i at a tie. It holds for classes, too, whose radius
    comes from rows of the same class. But a nominal x or y without a condition has a ball that no
    dependence can shrink: all N rows of the category, and the bound is ψ(n) - ψ(N), whose
    mean estimates the entropy of the categories.

    **The resolution** is sharper: with the radii as they are, the counts of x alone, n_xz, bound
    the estimate by the mean of ψ(n_z) - ψ(n_xz), since n_yz is at least k_i; and those of y by the
    same. It is what x, or y, could show at this scale, and shrinks when x and y have many columns.

    **ksg2**, Kraskov's second estimator [2]_: the ball is shrunk to the box of the k_i neighbors,
    of half-width ε_x, ε_y and ε_z. With m the rows strictly inside of it, the terms are
    ψ(k) - 1/k - ψ(m_x + 1) - ψ(m_y + 1) + ψ(n), or with a condition
    ψ(k) - 2/k - ψ(m_xz + 1) - ψ(m_yz + 1) + ψ(m_z + 1). The latter is not the form of [3]_, which
    has ψ(n) - 1/n of the rows n inside or on the box for ψ(m + 1): right if each half-width came
    from one of those n rows, but it comes from one of the k neighbors, so that too much is added
    (docs/estimators.md). It presumes that one neighbor only lies on each side of the box. Rows
    where that fails (ties, a half-width of zero, as nominal columns have) get the term of "knn",
    which for a class target is all rows.

    **gao**, the estimator for mixtures of Gao et al. [4]_ as in their code, which differs from
    the paper in having digammas and open balls: ψ(k) + ln n - ψ(n_x) - ψ(n_y), where n counts the
    rows strictly inside the radius and the row itself, and at radius zero, where k is replaced,
    the rows at distance zero and the row itself. Their tolerance is absolute, here it is
    relative. With a condition it is the difference I(XZ;Y) - I(Z;Y), each with its own radius.

    References
    ----------
    .. [1] Frenzel and Pompe, "Partial mutual information for coupling analysis of multivariate
       time series", Physical Review Letters 99, 2007.
    .. [2] Kraskov, Stögbauer and Grassberger, "Estimating mutual information", Physical Review
       E 69, 2004.
    .. [3] Wibral, Vicente and Lindner, "Transfer entropy in neuroscience", in Directed
       Information Measures in Neuroscience, Springer, 2014.
    .. [4] Gao, Kannan, Oh and Viswanath, "Estimating mutual information for discrete-continuous
       mixtures", NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 2000, 1))
    >>> found = knn_terms(x, x + noise, None, k=3)
    >>> print(f"{found.value:.2f} nats, the truth is {np.log(2) / 2:.2f}")
    0.33 nats, the truth is 0.35
    """
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
