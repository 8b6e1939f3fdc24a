"""Information from neighbour counts: the estimator of docs/estimator.md and two relatives."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import digamma

from pinsker._types import FloatArray
from pinsker.engine._neighbours import NeighbourCounts, neighbour_counts
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
    """

    terms: FloatArray
    ceiling: float
    n_tied: int
    n_alone: int

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
    """Estimate I(X;Y|Z), or I(X;Y) when z is None, from nearest neighbours."""
    if k < 1:
        raise ParameterError(f"n_neighbors is {k}; ask for at least 1.")
    if method != "knn":
        raise NotImplementedError(method)
    n = y.shape[0]
    if x is None or x.shape[1] == 0:
        return LocalTerms(np.zeros(n), 0.0, 0, 0)
    found = neighbour_counts(x, y, np.empty((n, 0)) if z is None else z, k=k, n_threads=n_threads)
    return _knn(found)


def _knn(found: NeighbourCounts) -> LocalTerms:
    n = found.radius.shape[0]
    psi = digamma(np.maximum(np.arange(n + 1), 1))  # psi[0] is only read for rows left out
    alone = found.neighbours == 0
    tied = (
        (found.radius == 0)
        | (found.joint_closed != found.neighbours)
        | (found.xz_closed - found.xz_open > 1)
        | (found.yz_closed - found.yz_open > 1)
        | (found.z_closed - found.z_open > 1)
    )
    inside = psi[np.where(tied, found.joint_closed, found.neighbours)]
    in_xz = psi[np.where(tied, found.xz_closed, found.xz_open + 1)]
    in_yz = psi[np.where(tied, found.yz_closed, found.yz_open + 1)]
    in_z = psi[np.where(tied, found.z_closed, found.z_open + 1)]
    terms = np.where(alone, 0.0, inside - in_xz - in_yz + in_z)
    ceiling = np.where(alone, 0.0, in_z - inside)
    return LocalTerms(terms, float(ceiling.mean()), int((tied & ~alone).sum()), int(alone.sum()))
