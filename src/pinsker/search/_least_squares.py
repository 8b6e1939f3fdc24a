"""Least squares that columns are taken out of, where columns may depend on others linearly.

Some columns, the *basis*, are linearly independent and span all of the model; the others are
*spare*: ``X_spare = X_basis C``. With P the inverse of the inner products of the basis and W its
weights, taking the columns A out of a model without spare columns costs

    W_A' P_AA^-1 W_A                              (docs/bounds.md: linear models, exact)

and leaves ``P_KK - P_KA P_AA^-1 P_AK`` (a Schur complement) and ``W_K - P_KA P_AA^-1 W_A``.

With spare columns less is lost. What leaves with A is spanned by the dual vectors ``D = X P_A``,
whose inner products are P_AA, and those of D with the spare columns are the rows ``C_A``. With the
root ``P_AA = L L'`` the lost directions are orthonormal; the target has the coordinates
``L^-1 W_A`` there and the spare columns ``L^-1 C_A``. The cost is the part of the first outside of
the span of the second. Spare columns then take the places of columns that go, as in a step of the
simplex method. Nothing of it needs the rows, so that one factorisation serves a whole search.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from pinsker._types import AnyArray, FloatArray, IntArray

#: A column whose part outside of the span of others is at most this share of it (in standard
#: deviations) counts as inside: what is left of it is rounding, 1e-6 squared of its variance.
COLLINEAR = 1e-6
#: Schur complements subtract: once the diagonal of P has shrunk by this factor its digits are
#: computed from scratch.
_REFRESH = 1e3
#: A spare column takes a place if at least this share of it lies there: less amplifies rounding.
_SMALLEST_PIVOT = 1e-3
#: P times the inner products may differ by so much from 1 before both are computed from scratch ...
_LARGEST_DRIFT = 1e-10
#: ... or by this many times what it was when they last were.
_MORE_DRIFT = 100.0
#: Columns that are made orthogonal to a basis together.
_CHUNK = 96


class LeastSquares:
    """A least-squares fit that columns are taken out of."""

    basis: IntArray  # independent columns that span the model
    position: IntArray  # of each column among them, -1 if it is not one
    inverse: FloatArray  # P
    weights: FloatArray  # W
    spare: IntArray  # the other columns, with those that went since `combination` was computed
    is_live: AnyArray  # which of them are still in the model
    combination: FloatArray  # C: of the basis, that gives each spare column
    touches: AnyArray  # which entries of C are more than rounding
    n_touching: IntArray  # how many live spare columns need each column of the basis

    def __init__(self, columns: FloatArray, target: FloatArray, inside: IntArray) -> None:
        self.columns = columns
        self.target = target
        self.lengths = np.linalg.norm(columns, axis=0)
        self.left = 0.0
        self._inside = inside
        self._costs: dict[bytes, float] = {}
        self._fit()

    @property
    def has_spare(self) -> bool:
        return bool(self.is_live.any())

    def cost_of_each(self) -> FloatArray:
        """Return what taking out each column alone adds to `left`; 0 for columns outside."""
        costs = np.zeros(self.columns.shape[1])
        alone = np.square(self.weights).sum(axis=1) / self.inverse.diagonal()
        costs[self.basis] = np.where(self.n_touching > 0, 0.0, alone)
        return costs

    def cost(self, block: IntArray) -> float:
        gone = self._positions(block)
        if not self.has_spare:
            return self._cost_at(gone)
        if len(gone) == 0:
            return 0.0
        key = block.tobytes()
        if key not in self._costs:
            self._costs[key] = self._cost_beside_spare(block, gone)
        return self._costs[key]

    def remove(self, block: IntArray) -> None:
        gone = self._positions(block)
        if len(gone) == 0:
            # Columns that the others make up for: the basis stays.
            mine = np.flatnonzero(np.isin(self.spare, block) & self.is_live)
            self.is_live[mine] = False
            touched = self.touches[:, mine]
            self.n_touching -= np.count_nonzero(touched, axis=1)
            needed = np.zeros(len(self.position), dtype=np.bool_)
            needed[self.basis] = touched.any(axis=1)
            self._costs = {
                key: cost
                for key, cost in self._costs.items()
                if not needed[np.frombuffer(key, dtype=np.int64)].any()
            }
            return
        had_spare = self.has_spare
        try:
            reliable = self._replace(block, gone) if had_spare else True
        except np.linalg.LinAlgError:
            reliable = False
        if reliable:
            # Out of the basis go columns that no live spare column depends on.
            gone = self._positions(block)
            rest = np.setdiff1d(np.arange(len(self.basis)), gone)
            if len(gone):
                self.left += self._cost_at(gone)
                own, beside = self.inverse[np.ix_(gone, gone)], self.inverse[np.ix_(gone, rest)]
                across = np.linalg.solve(own, beside)
                self.weights = self.weights[rest] - across.T @ self.weights[gone]
                kept = self.inverse[np.ix_(rest, rest)]
                self.inverse = kept - self.inverse[np.ix_(rest, gone)] @ across
                self._stand(self.basis[rest])
            live = np.flatnonzero(self.is_live)
            self._depend(self.spare[live], self.combination[np.ix_(rest, live)])
            shrunk = self.inverse.diagonal().max(initial=0.0) * _REFRESH < self.largest
            reliable = len(self.basis) == 0 or not shrunk
        if reliable and had_spare:
            reliable = self._drift() <= max(_LARGEST_DRIFT, _MORE_DRIFT * self.first_drift)
        if not reliable:
            self._inside = self._without(block)
            self._fit()

    def _without(self, block: IntArray) -> IntArray:
        kept = self.position >= 0
        kept[self.spare[self.is_live]] = True
        kept[block] = False
        return np.asarray(self._inside[kept[self._inside]])

    def _fit(self) -> None:
        inside = self._inside
        mask, directions, factor = orthonormal_basis(self.columns[:, inside])
        spare = inside[~mask]
        along = directions.T @ self.target
        root = np.linalg.solve(factor, np.eye(len(factor)))
        self.inverse, self.weights = root @ root.T, root @ along
        self.left = float(np.square(self.target - directions @ along).sum())
        self.largest = float(self.inverse.diagonal().max(initial=0.0))
        self._stand(inside[mask])
        self._depend(spare, root @ (directions.T @ self.columns[:, spare]))
        self.first_drift = self._drift() if len(spare) else 0.0

    def _stand(self, basis: IntArray) -> None:
        self.basis = basis
        self.position = np.full(self.columns.shape[1], -1, dtype=np.int64)
        self.position[basis] = np.arange(len(basis))

    def _depend(self, spare: IntArray, combination: FloatArray) -> None:
        """Note which columns are spare, and how they depend on the basis."""
        self.spare, self.combination = spare, combination
        self.is_live = np.ones(len(spare), dtype=np.bool_)
        # What a column has outside of the rest of the basis has the length 1 / sqrt(P_ii).
        visible = COLLINEAR * np.sqrt(np.maximum(self.inverse.diagonal(), 0.0))
        self.touches = np.abs(combination) > visible[:, None] * self.lengths[spare]
        self.n_touching = np.count_nonzero(self.touches, axis=1)
        self._costs = {}

    def _positions(self, block: IntArray) -> IntArray:
        found = self.position[block]
        return np.asarray(found[found >= 0])

    def _cost_at(self, gone: IntArray) -> float:
        weights = self.weights[gone]
        block = self.inverse[np.ix_(gone, gone)]
        return float(np.sum(weights * np.linalg.solve(block, weights)))

    def _cost_beside_spare(self, block: IntArray, gone: IntArray) -> float:
        substitutes = self._substitutes(block, gone)
        if len(substitutes) == 0:
            return self._cost_at(gone)
        try:
            root, parts = self._lost_directions(gone, substitutes)
        except np.linalg.LinAlgError:  # P_AA has no digits left
            rest = LeastSquares(self.columns, self.target, self._without(block))
            return max(rest.left - self.left, 0.0)
        directions, factor, _ = qr(parts, mode="economic", pivoting=True)
        replaced = np.asarray(directions, dtype=np.float64)[:, : _rank(factor)]
        if replaced.shape[1] == len(gone):
            return 0.0
        lost = solve_triangular(root, self.weights[gone], lower=True)
        for _ in range(2):  # twice is enough (Kahan)
            lost = lost - replaced @ (replaced.T @ lost)
        return float(np.square(lost).sum())

    def _substitutes(self, block: IntArray, gone: IntArray) -> IntArray:
        """Return which spare columns, outside of a block, depend on the places it leaves."""
        depends = self.touches[gone].any(axis=0) & self.is_live
        return np.flatnonzero(depends & ~np.isin(self.spare, block))

    def _lost_directions(
        self, gone: IntArray, substitutes: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the root L of P_AA, and the part of each spare column along what A takes away."""
        root = np.linalg.cholesky(self.inverse[np.ix_(gone, gone)])
        parts = solve_triangular(root, self.combination[np.ix_(gone, substitutes)], lower=True)
        parts = np.asarray(parts / self.lengths[self.spare[substitutes]])
        return np.asarray(root, dtype=np.float64), parts

    def _replace(self, block: IntArray, gone: IntArray) -> bool:
        """Let spare columns stand for those that go; return whether rounding allows it."""
        substitutes = self._substitutes(block, gone)
        spare = np.zeros(0, dtype=np.int64)
        if len(substitutes):
            _, parts = self._lost_directions(gone, substitutes)
            factor, order = qr(parts, mode="r", pivoting=True)
            rank = _rank(factor)
            if rank and abs(factor[rank - 1, rank - 1]) < _SMALLEST_PIVOT:
                return False
            spare = substitutes[order[:rank]]
        if len(spare):
            scale = np.sqrt(self.inverse.diagonal()[gone])
            entries = self.combination[np.ix_(gone, spare)] / scale[:, None]
            _, order = qr(entries.T, mode="r", pivoting=True)
            places, entering = gone[order[: len(spare)]], self.combination[:, spare].copy()
            pivot = entering[places]
            entering[places] -= np.eye(len(places))
            change = np.linalg.solve(pivot.T, entering.T).T  # K
            self.weights = self.weights - change @ self.weights[places]
            self.combination = self.combination - change @ self.combination[places]
            half = self.inverse - change @ self.inverse[places]
            self.inverse = half - half[:, places] @ change.T
            basis = self.basis.copy()
            basis[places] = self.spare[spare]
            self._stand(basis)
        self.is_live[spare] = False
        self.is_live[np.isin(self.spare, block)] = False
        return True

    def _drift(self) -> float:
        """Return how far P times the inner products of the basis takes a vector from itself."""
        probe = np.cos(np.arange(len(self.basis)))
        columns = self.columns[:, self.basis]
        back = self.inverse @ (columns.T @ (columns @ probe))
        return float(np.abs(back - probe).max(initial=0.0))


def orthonormal_basis(columns: FloatArray) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Return which columns lie outside of the span of those before them, and a basis of them."""
    n, p = columns.shape
    if p <= n:
        directions, factor = np.linalg.qr(columns)
        if _is_regular(factor, np.linalg.norm(columns, axis=0)):
            return np.ones(p, dtype=np.bool_), directions, factor
    outside = np.zeros(p, dtype=np.bool_)
    basis = np.empty((n, min(n, p)), order="F")
    rank = 0
    for start in range(0, p, _CHUNK):
        chunk = np.arange(start, min(start + _CHUNK, p))
        values = columns[:, chunk]
        parts = _Parts(chunk, values, np.linalg.norm(values, axis=0))
        rank = _extend(basis, rank, 0, parts, outside)
    directions = basis[:, :rank]
    return outside, directions, np.triu(directions.T @ columns[:, outside])


class _Parts(NamedTuple):
    """Columns, or what is left of them outside of a basis."""

    columns: IntArray
    values: FloatArray
    lengths: FloatArray  # of the columns as they came

    def take(self, which: AnyArray | slice) -> "_Parts":
        return _Parts(self.columns[which], self.values[:, which], self.lengths[which])


def _extend(basis: FloatArray, rank: int, since: int, parts: _Parts, outside: AnyArray) -> int:
    """Put what some columns have outside of a basis into it; return how large it is then."""
    recent = basis[:, since:rank]
    parts = parts._replace(values=parts.values - recent @ (recent.T @ parts.values))
    parts = parts.take(np.linalg.norm(parts.values, axis=0) > COLLINEAR * parts.lengths)
    size = rank + len(parts.columns)
    if size == rank or rank == len(basis):
        return rank
    if size <= len(basis):
        directions, factor = np.linalg.qr(parts.values)
        if _is_regular(factor, parts.lengths):
            known = basis[:, :rank]
            directions = directions - known @ (known.T @ directions)  # twice is enough (Kahan)
            basis[:, rank:size] = np.linalg.qr(directions)[0]
            outside[parts.columns] = True
            return size
    if size == rank + 1:
        return rank
    half = (size - rank + 1) // 2
    grown = _extend(basis, rank, rank, parts.take(slice(half)), outside)
    return _extend(basis, grown, rank, parts.take(slice(half, None)), outside)


def _is_regular(factor: FloatArray, lengths: FloatArray) -> bool:
    return bool((np.abs(factor.diagonal()) > COLLINEAR * lengths).all())


def _rank(factor: AnyArray) -> int:
    """Return the rank of a pivoted triangular factor of columns that are at most 1 long."""
    return int(np.count_nonzero(np.abs(factor.diagonal()) > COLLINEAR))
