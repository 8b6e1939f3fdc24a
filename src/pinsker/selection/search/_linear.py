"""Searches for linear models: the paper's linear case, exact.

With G the inner products of the columns in the model, P its inverse, W the weights and E the sum of
squares that is left, taking the columns A out of the model costs

    W_A' P_AA^-1 W_A                              (docs/bounds.md: linear models, exact)

and leaves ``P_KK - P_KA P_AA^-1 P_AK`` (a Schur complement) and ``W_K - P_KA P_AA^-1 W_A``. Putting
columns in is the Gram-Schmidt step: what they explain is the part of the target along the part of
them that is outside of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, Kind
from pinsker.information import one_hot
from pinsker.selection.search._greedy import OnStep, Trace, grow, shrink
from pinsker.selection.search._path import Direction, SelectionPath

#: A linear path through more features than this share of the rows fits noise ...
_SHARE_OF_ROWS = 1 / 3
#: ... and goes no farther than this.
_MOST_FORWARD = 50
#: A column whose part outside of the span of others is at most this share of it (in standard
#: deviations) counts as inside: what is left of it is rounding, 1e-6 squared of its variance.
COLLINEAR = 1e-6
#: The smallest share of unexplained variance that a double can tell from none.
SMALLEST_SHARE = float(np.finfo(np.float64).eps)
#: Schur complements subtract: once the diagonal of P has shrunk by this factor its digits are
#: computed from scratch.
_REFRESH = 1e3


@dataclass(frozen=True)
class LinearSearchSettings:
    """How a search for linear models works.

    Attributes
    ----------
    direction : {"backward", "forward"}
        Whether features are removed from all, or added to none.
    patience, max_features, at_least
        Forward: when it ends, as in `KNNSearchSettings`.
    """

    direction: Direction = "backward"
    patience: int | None = 10
    max_features: int | None = None
    at_least: int = 0


def linear(
    problem: Encoded,
    settings: LinearSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    """Remove, or add, features by what they are worth to a linear model.

    Parameters as in the searches by neighbors. The information of a set is that of a linear model,
    ``-log(1 - R²) / 2``.
    """
    design = LinearDesign.of(problem)
    if settings.direction == "backward":
        return _linear_backward(design, problem, fixed, on_step, earlier)
    n_features = len(design.features)
    full = LinearBackward(design, tuple(range(n_features)))
    state = LinearForward(design, () if earlier is None else earlier.last_set)
    trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
    grow(
        state,
        trace,
        n_features=n_features,
        fixed=fixed,
        patience=settings.patience,
        at_least=settings.at_least,
        max_features=settings.max_features,
        on_step=on_step,
    )
    return trace.finish(
        trace.path(
            "forward",
            problem.feature_names,
            "linear",
            n_fixed=len(fixed),
            full_information=to_nats(full.left / full.total),
        )
    )


def linear_where_rows_allow(problem: Encoded, fixed: Sequence[int] = ()) -> SelectionPath:
    """Search backward where the rows carry all columns, else forward as far as they carry."""
    most = int(_SHARE_OF_ROWS * problem.n_rows)
    if problem.columns.n_columns <= most:
        return linear(problem, LinearSearchSettings(), fixed)
    most = max(1, min(most, _MOST_FORWARD))
    return linear(problem, LinearSearchSettings("forward", max_features=most), fixed)


def _linear_backward(
    design: "LinearDesign",
    problem: Encoded,
    fixed: Sequence[int],
    on_step: OnStep | None,
    earlier: SelectionPath | None,
) -> SelectionPath:
    if earlier is not None and earlier.complete:
        return earlier
    everything = tuple(range(len(design.features)))
    state = LinearBackward(design, everything if earlier is None else earlier.last_set)
    trace = Trace.resume(earlier) if earlier else Trace(everything, [state.information])
    shrink(state, trace, fixed=fixed, on_step=on_step)
    return trace.finish(trace.path("backward", problem.feature_names, "linear", n_fixed=len(fixed)))


@dataclass(frozen=True, eq=False)
class LinearDesign:
    """Columns and target of a linear model, both centred.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_columns), float64
        Numeric columns with standard deviation 1; a nominal one as indicators, one less than
        it has categories.
    features : tuple of tuple of int
        The columns of each feature.
    target : ndarray of shape (n_rows, n_targets), float64
        Numbers in the user's unit, or one indicator per class.
    """

    columns: FloatArray
    features: tuple[tuple[int, ...], ...]
    target: FloatArray

    @classmethod
    def of(cls, encoded: Encoded) -> "LinearDesign":
        """Lay out an encoded table."""
        blocks = [
            _expand(values, kind)
            for values, kind in zip(encoded.columns.values.T, encoded.columns.kinds, strict=True)
        ]
        edges = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
        features = tuple(
            tuple(j for column in feature for j in range(edges[column], edges[column + 1]))
            for feature in encoded.features
        )
        return cls(_centred(np.hstack(blocks)), features, _centred(_numbers(encoded)))

    @property
    def variance(self) -> float:
        """Variance of the target, summed over its columns."""
        return float(np.square(self.target).sum() / len(self.target))

    @property
    def is_saturated(self) -> bool:
        """Whether there are enough columns to fit any target of these rows."""
        return bool(self.columns.shape[1] >= len(self.columns) - 1)

    def reduced(self) -> "LinearDesign":
        """Return a design of as many rows as columns with the same inner products.

        A triangular factor: the searches work on it as on the rows, whatever their number.
        """
        together = np.hstack([self.columns, self.target])
        if together.shape[0] <= together.shape[1]:
            return self
        factor = np.asarray(np.linalg.qr(together, mode="r"))
        p = self.columns.shape[1]
        return LinearDesign(factor[:, :p], self.features, factor[:, p:])

    def facts(self) -> TargetFacts:
        """Return what the bounds need: for classes, of the indicators."""
        return TargetFacts(
            "regression",
            target_range=float(np.linalg.norm(np.ptp(self.target, axis=0))),
            variance=self.variance,
            max_abs=float(np.linalg.norm(np.abs(self.target).max(axis=0))),
            n_targets=int(self.target.shape[1]),
        )


def to_nats(share: float) -> float:
    """Return -1/2 log of a share of unexplained variance: the information of a linear model."""
    return float(-0.5 * np.log(min(max(share, SMALLEST_SHARE), 1.0)))


def _expand(values: FloatArray, kind: Kind) -> FloatArray:
    """Return the columns that stand for one: itself, or an indicator per category but the first."""
    if kind is not Kind.NOMINAL:
        return values[:, None]
    return one_hot(values, np.arange(1, values.max() + 1))


def _numbers(encoded: Encoded) -> FloatArray:
    labels, classes = encoded.target.labels, encoded.target.classes
    if labels is None:
        assert encoded.target.raw is not None  # a numeric target keeps the user's values
        return encoded.target.raw
    assert classes is not None  # a class target keeps its classes
    return one_hot(labels, np.arange(len(classes)))


def _centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(axis=0), dtype=np.float64)


class _LinearState:
    """What both directions share: the set, what is left of the target, scores in nats."""

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        self.design = design.reduced()
        self.total = float(np.square(self.design.target).sum())
        self.inside = np.zeros(len(self.design.features), dtype=np.bool_)
        self.inside[list(active)] = True
        self.left = self.total
        # Most features are one column: their scores are computed together.
        single = [
            feature for feature, columns in enumerate(self.design.features) if len(columns) == 1
        ]
        self.single = np.array(single, dtype=np.int64)
        self.single_column = self._columns(tuple(single))
        self.blocks = [
            feature for feature, columns in enumerate(self.design.features) if len(columns) > 1
        ]

    @property
    def active(self) -> tuple[int, ...]:
        """Features in the model, in increasing order."""
        return tuple(int(feature) for feature in np.flatnonzero(self.inside))

    @property
    def information(self) -> float:
        """-1/2 log of the share of the target's variance that the model leaves, in nats.

        A target that does not vary, as in a fold without the one row of a rare class, leaves
        nothing to be told.
        """
        return to_nats(self.left / self.total) if self.total > 0 else 0.0

    def _columns(self, features: tuple[int, ...]) -> IntArray:
        return np.array(
            [j for feature in features for j in self.design.features[feature]], dtype=np.int64
        )

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
        Features in the model.
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
        """Return the information that each removal costs, in nats; NaN for features outside.

        While some features lie inside the span of others, those cost nothing and go first; the
        figures of the rest hold for a model without them.
        """
        costs = np.full(len(self.design.features), np.nan)
        if self._is_entangled():
            for feature in self.active:
                costs[feature] = self._cost_from_scratch(feature)
        else:
            alone = np.square(self.weights).sum(axis=1) / self.inverse.diagonal()
            where = self.position[self.single_column]
            costs[self.single] = np.where(where < 0, 0.0, alone[where] if len(alone) else 0.0)
            for feature in self.blocks:
                costs[feature] = self._cost_at(self._positions(feature))
        costs[~self.inside] = np.nan
        return np.where(np.isnan(costs), np.nan, self._nats_to(self.left + np.nan_to_num(costs)))

    def remove(self, feature: int) -> None:
        """Take a feature out of the model."""
        gone = self._positions(feature)
        self.inside[feature] = False
        if len(gone) == 0:
            mine = np.isin(self.spare_columns, self.design.features[feature])
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
        """Fit the model of the current set from scratch."""
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

    def _positions(self, feature: int) -> IntArray:
        found = self.position[list(self.design.features[feature])]
        return np.asarray(found[found >= 0])

    def _is_entangled(self) -> bool:
        """Whether columns are spare, but no whole feature is: only blocks can be so."""
        if not self.blocks or not len(self.spare_columns):
            return False
        return all(len(self._positions(feature)) for feature in self.active)

    def _cost_at(self, gone: IntArray) -> float:
        weights = self.weights[gone]
        block = self.inverse[np.ix_(gone, gone)]
        return float(np.sum(weights * np.linalg.solve(block, weights)))

    def _cost_from_scratch(self, feature: int) -> float:
        others = tuple(other for other in self.active if other != feature)
        return max(LinearBackward(self.design, others).left - self.left, 0.0)


class LinearForward(_LinearState):
    """A linear model that features are put into.

    Parameters
    ----------
    design : LinearDesign
        The table.
    active : tuple of int
        Features in the model.
    """

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        super().__init__(design, ())
        self.outside = self.design.columns.copy()
        self.residual = self.design.target.copy()
        self.lengths = np.linalg.norm(self.design.columns, axis=0)
        for feature in active:
            self.add(feature)

    def scores(self) -> FloatArray:
        """Return the information that each addition brings, in nats; NaN for features inside."""
        gains = np.full(len(self.design.features), np.nan)
        parts = self.outside[:, self.single_column]
        lengths = np.linalg.norm(parts, axis=0)
        new = lengths > COLLINEAR * self.lengths[self.single_column]
        along = np.square(parts.T @ self.residual).sum(axis=1)
        gains[self.single] = np.where(new, along / np.where(new, lengths, 1.0) ** 2, 0.0)
        for feature in self.blocks:
            gains[feature] = np.square(self._directions(feature).T @ self.residual).sum()
        gains[self.inside] = np.nan
        left = np.maximum(self.left - np.nan_to_num(gains), 0.0)
        return np.where(np.isnan(gains), np.nan, self._nats_to(left))

    def add(self, feature: int) -> None:
        """Put a feature into the model."""
        directions = self._directions(feature)
        for part in (self.outside, self.residual):
            part -= directions @ (directions.T @ part)
        self.inside[feature] = True
        self.left = float(np.square(self.residual).sum())

    def _directions(self, feature: int) -> FloatArray:
        """Return an orthonormal basis of what a feature has outside of the model."""
        columns = list(self.design.features[feature])
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
