"""Linear models that lose or gain a feature, exactly, with the engine's interface.

With G the inner products of the columns in the model, P its inverse, W the weights and E the sum of
squares that is left, taking the columns A out of the model costs

    W_A' P_AA^-1 W_A                              (theory: linear models, exact)

and leaves ``P_KK - P_KA P_AA^-1 P_AK`` (a Schur complement) and ``W_K - P_KA P_AA^-1 W_A``. Putting
columns in is the Gram-Schmidt step: what they explain is the part of the target along the part of
them that is outside of the model.
"""

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.selection._linear_design import COLLINEAR, SMALLEST_SHARE, LinearDesign, to_nats

#: Schur complements subtract: once the diagonal of P has shrunk by this factor its digits are
#: computed afresh.
_REFRESH = 1e3


class _LinearState:
    """What both directions share: the set, what is left of the target, scores in nats."""

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        self.design = design.reduced()
        self.total = float(np.square(self.design.target).sum())
        self.inside = np.zeros(len(self.design.features), dtype=np.bool_)
        self.inside[list(active)] = True
        self.left = self.total
        # Most units are one column: their scores are computed together.
        single = [unit for unit, columns in enumerate(self.design.features) if len(columns) == 1]
        self.single = np.array(single, dtype=np.int64)
        self.single_column = self._columns(tuple(single))
        self.blocks = [
            unit for unit, columns in enumerate(self.design.features) if len(columns) > 1
        ]

    @property
    def active(self) -> tuple[int, ...]:
        """Units in the model, in increasing order."""
        return tuple(int(unit) for unit in np.flatnonzero(self.inside))

    @property
    def information(self) -> float:
        """-1/2 log of the share of the target's variance that the model leaves, in nats.

        A target that does not vary, as in a fold without the one row of a rare class, leaves
        nothing to be told.
        """
        return to_nats(self.left / self.total) if self.total > 0 else 0.0

    def _columns(self, units: tuple[int, ...]) -> IntArray:
        return np.array([j for unit in units for j in self.design.features[unit]], dtype=np.int64)

    def _nats_to(self, left: FloatArray) -> FloatArray:
        """Return the size of the change in information when so much would be left."""
        if self.total == 0:
            return np.zeros_like(left)
        floor = SMALLEST_SHARE * self.total
        now = max(self.left, floor)
        return np.asarray(np.abs(0.5 * np.log(np.maximum(left, floor) / now)))


class LinearBackward(_LinearState):
    """A linear model that features are taken out of.

    Parameters
    ----------
    design : LinearDesign
        The table.
    active : tuple of int
        Units in the model.
    """

    basis: IntArray  # columns that carry the model
    position: IntArray  # of each column among them, -1 if it is not one
    spare_columns: IntArray  # columns of the set that lie inside the span of the basis
    inverse: FloatArray
    weights: FloatArray
    largest: float

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        super().__init__(design, active)
        self._solve()

    def scores(self) -> FloatArray:
        """Return the information that each removal costs, in nats; NaN for units outside.

        While some units lie inside the span of others, those cost nothing and go first; the
        figures of the rest hold for a model without them.
        """
        costs = np.full(len(self.design.features), np.nan)
        if self._is_entangled():
            for unit in self.active:
                costs[unit] = self._cost_afresh(unit)
        else:
            alone = np.square(self.weights).sum(axis=1) / self.inverse.diagonal()
            where = self.position[self.single_column]
            costs[self.single] = np.where(where < 0, 0.0, alone[where] if len(alone) else 0.0)
            for unit in self.blocks:
                costs[unit] = self._cost_at(self._positions(unit))
        costs[~self.inside] = np.nan
        return np.where(np.isnan(costs), np.nan, self._nats_to(self.left + np.nan_to_num(costs)))

    def remove(self, unit: int) -> None:
        """Take a unit out of the model."""
        gone = self._positions(unit)
        self.inside[unit] = False
        if len(gone) == 0:
            mine = np.isin(self.spare_columns, self.design.features[unit])
            self.spare_columns = self.spare_columns[~mine]
            return
        if len(self.spare_columns):
            self._solve()  # spare columns may take the place of those that went
            return
        self.left += self._cost_at(gone)
        rest = np.setdiff1d(np.arange(len(self.basis)), gone)
        across = np.linalg.solve(self.inverse[np.ix_(gone, gone)], self.inverse[np.ix_(gone, rest)])
        self.weights = self.weights[rest] - across.T @ self.weights[gone]
        self.inverse = self.inverse[np.ix_(rest, rest)] - self.inverse[np.ix_(rest, gone)] @ across
        self._stand(self.basis[rest])
        if len(rest) and self.inverse.diagonal().max() * _REFRESH < self.largest:
            self._solve()

    def _solve(self) -> None:
        """Fit the model of the current set afresh."""
        columns = self._columns(self.active)
        inside = independent(self.design.columns[:, columns])
        self.spare_columns = columns[~inside]
        self._stand(columns[inside])
        directions, factor = np.linalg.qr(self.design.columns[:, self.basis])
        along = directions.T @ self.design.target
        root = np.linalg.solve(factor, np.eye(len(self.basis)))
        self.inverse, self.weights = root @ root.T, root @ along
        self.left = float(np.square(self.design.target - directions @ along).sum())
        self.largest = float(self.inverse.diagonal().max(initial=0.0))

    def _stand(self, basis: IntArray) -> None:
        """Note which columns carry the model, and where each stands among them."""
        self.basis = basis
        self.position = np.full(self.design.columns.shape[1], -1, dtype=np.int64)
        self.position[basis] = np.arange(len(basis))

    def _positions(self, unit: int) -> IntArray:
        found = self.position[list(self.design.features[unit])]
        return np.asarray(found[found >= 0])

    def _is_entangled(self) -> bool:
        """Whether columns are spare, but no whole unit is: only blocks can be so."""
        if not self.blocks or not len(self.spare_columns):
            return False
        return all(len(self._positions(unit)) for unit in self.active)

    def _cost_at(self, gone: IntArray) -> float:
        weights = self.weights[gone]
        block = self.inverse[np.ix_(gone, gone)]
        return float(np.sum(weights * np.linalg.solve(block, weights)))

    def _cost_afresh(self, unit: int) -> float:
        others = tuple(other for other in self.active if other != unit)
        return max(LinearBackward(self.design, others).left - self.left, 0.0)


class LinearForward(_LinearState):
    """A linear model that features are put into.

    Parameters
    ----------
    design : LinearDesign
        The table.
    active : tuple of int
        Units in the model.
    """

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        super().__init__(design, ())
        self.outside = self.design.columns.copy()
        self.residual = self.design.target.copy()
        self.lengths = np.linalg.norm(self.design.columns, axis=0)
        for unit in active:
            self.add(unit)

    def scores(self) -> FloatArray:
        """Return the information that each addition brings, in nats; NaN for units inside."""
        gains = np.full(len(self.design.features), np.nan)
        parts = self.outside[:, self.single_column]
        lengths = np.linalg.norm(parts, axis=0)
        new = lengths > COLLINEAR * self.lengths[self.single_column]
        along = np.square(parts.T @ self.residual).sum(axis=1)
        gains[self.single] = np.where(new, along / np.where(new, lengths, 1.0) ** 2, 0.0)
        for unit in self.blocks:
            gains[unit] = np.square(self._directions(unit).T @ self.residual).sum()
        gains[self.inside] = np.nan
        left = np.maximum(self.left - np.nan_to_num(gains), 0.0)
        return np.where(np.isnan(gains), np.nan, self._nats_to(left))

    def add(self, unit: int) -> None:
        """Put a unit into the model."""
        directions = self._directions(unit)
        for part in (self.outside, self.residual):
            part -= directions @ (directions.T @ part)
        self.inside[unit] = True
        self.left = float(np.square(self.residual).sum())

    def _directions(self, unit: int) -> FloatArray:
        """Return an orthonormal basis of what a unit has outside of the model."""
        columns = list(self.design.features[unit])
        parts = self.outside[:, columns]
        new = np.linalg.norm(parts, axis=0) > COLLINEAR * self.lengths[columns]
        parts = parts[:, new]
        if parts.shape[1] > 1:
            parts = parts[:, independent(parts)]
            return np.asarray(np.linalg.qr(parts)[0])
        return np.asarray(parts / np.linalg.norm(parts, axis=0))


def independent(columns: FloatArray) -> np.ndarray:
    """Return which columns lie outside of the span of those before them.

    Examples
    --------
    >>> independent(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])).tolist()
    [True, False, True]
    """
    n, p = columns.shape
    lengths = np.linalg.norm(columns, axis=0)
    if p <= n and (lengths > 0).all():
        diagonal = np.abs(np.asarray(np.linalg.qr(columns, mode="r")).diagonal())
        if (diagonal > COLLINEAR * lengths).all():
            return np.ones(p, dtype=np.bool_)
    inside = np.zeros(p, dtype=np.bool_)
    basis = np.empty((n, min(n, p)))
    rank = 0
    for j in range(p):
        if rank == n:
            break
        part = columns[:, j]
        for _ in range(2):  # twice is enough (Kahan)
            part = part - basis[:, :rank] @ (basis[:, :rank].T @ part)
        length = np.linalg.norm(part)
        if length > COLLINEAR * lengths[j]:
            basis[:, rank] = part / length
            inside[j] = True
            rank += 1
    return inside
