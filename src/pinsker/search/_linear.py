"""Searches for linear models: the paper's linear case, exact.

Backward the cost of every removal comes from one least-squares fit (`LeastSquares`), which loses
columns step by step. Forward is the Gram-Schmidt step: what columns explain is the part of the
target along the part of them that is outside of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pinsker._types import BoolArray, Fields, FloatArray, IntArray, Weights
from pinsker.bounds import TargetFacts, column_variances
from pinsker.encoding import Encoded, Kind, null_martingale
from pinsker.models import MAX_ONE_HOT, one_hot
from pinsker.search._least_squares import COLLINEAR, LeastSquares, orthonormal_basis
from pinsker.search._path import Direction, OnStep, SelectionPath, Trace, grow, shrink

#: A linear path through more features than this share of the rows fits noise ...
_SHARE_OF_ROWS = 1 / 3
#: ... and goes no farther than this.
_MOST_FORWARD = 50
#: The smallest share of unexplained variance that a double can tell from none.
SMALLEST_SHARE = float(np.finfo(np.float64).eps)
#: Squared lengths are updated by subtraction, and computed anew below this share of the first one.
_FEW_DIGITS = 1e-4
#: Values this near to their mean, as a share of it, may be one value and rounding.
_NEAR_MEAN = 1e-6
#: Powers of two beyond which sums of squares may vanish or overflow.
_LARGEST_EXPONENT = 400


@dataclass(frozen=True)
class LinearSearchSettings:
    """How a search for linear models works."""

    direction: Direction = "backward"  # whether features are removed from all, or added to none
    patience: int | None = 10  # forward: when it ends, as in `KNNSearchSettings`
    max_features: int | None = None  # forward: when it ends, as in `KNNSearchSettings`
    at_least: int = 0  # forward: when it ends, as in `KNNSearchSettings`
    compares_with_all: bool = True  # forward: with a model of all columns, or the best set seen


def linear(
    problem: Encoded,
    settings: LinearSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> SelectionPath:
    if settings.direction == "backward" and earlier is not None and earlier.complete:
        return earlier
    design = LinearDesign.of(problem).reduced()
    everything, full = tuple(range(len(design.features))), None
    if settings.direction == "backward":
        removing = LinearBackward(design, everything if earlier is None else earlier.last_set)
        trace = Trace.resume(earlier) if earlier else Trace(everything, [removing.information])
        shrink(removing, trace, fixed=fixed, on_step=on_step)
    else:
        if settings.compares_with_all:
            full = LinearBackward(design, everything).information
        adding = LinearForward(design, () if earlier is None else earlier.last_set)
        trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
        limits = {name: vars(settings)[name] for name in ("patience", "at_least", "max_features")}
        n = len(everything)
        grow(adding, trace, n_features=n, fixed=fixed, on_step=on_step, **limits)
        full = max(trace.information) if full is None else full
    known = {"n_fixed": len(fixed), "full_information": full}
    return trace.finish(trace.path(settings.direction, problem.feature_names, "linear", **known))


def one_hot_width(problem: Encoded) -> int:
    """Return how many columns a table has with an indicator for each frequent category."""
    columns = problem.columns
    return sum(
        min(len(known), MAX_ONE_HOT) if kind is Kind.NOMINAL and known is not None else 1
        for kind, known in zip(columns.kinds, columns.categories, strict=True)
    )


def linear_where_rows_allow(
    problem: Encoded, fixed: Sequence[int] = (), at_least: int = 0, on_step: OnStep | None = None
) -> SelectionPath:
    """Search backward where rows carry all columns (of text: a category each), else forward."""
    most, width = int(_SHARE_OF_ROWS * problem.n_rows), one_hot_width(problem)
    if width <= most:
        return linear(problem, LinearSearchSettings(), fixed, on_step)
    most = most * problem.n_features // width if width > problem.columns.n_columns else most
    most = max(1, min(most, _MOST_FORWARD), at_least)
    # A model of all columns would fit noise, and takes most of the time.
    how: Fields = {"max_features": most, "at_least": at_least, "compares_with_all": False}
    return linear(problem, LinearSearchSettings("forward", **how), fixed, on_step)


@dataclass(frozen=True, eq=False)
class LinearDesign:
    """Columns and target of a linear model, both centred."""

    columns: FloatArray
    features: tuple[tuple[int, ...], ...]  # the columns of each feature
    target: FloatArray
    roots: FloatArray | None = None

    @classmethod
    def of(cls, encoded: Encoded) -> "LinearDesign":
        weights = encoded.weights
        target = _centred(target_numbers(encoded), weights)
        roots = None if weights is None else np.sqrt(weights / weights.mean())
        columns, gaps = encoded.columns, encoded.columns.missing
        if Kind.NOMINAL not in columns.kinds and gaps is None:
            return cls(_centred(columns.values, weights), encoded.features, target, roots)
        blocks = [
            _expand(columns.values[:, j], kind, None if gaps is None else gaps[:, j])
            for j, kind in enumerate(columns.kinds)
        ]
        edges = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
        features = tuple(
            tuple(j for column in feature for j in range(edges[column], edges[column + 1]))
            for feature in encoded.features
        )
        return cls(_centred(np.hstack(blocks), weights), features, target, roots)

    @property
    def variance(self) -> float:
        return float(np.square(self.target).sum() / len(self.target))

    @property
    def is_saturated(self) -> bool:
        return bool(self.columns.shape[1] >= len(self.columns) - 1)

    def reduced(self) -> "LinearDesign":
        n, p = self.columns.shape
        exponent = np.frexp(np.abs(self.target).max(initial=0.0))[1]
        extreme = abs(exponent) > _LARGEST_EXPONENT
        whole = np.ldexp(self.target, -exponent) if extreme else self.target
        if n <= p + whole.shape[1]:
            return replace(self, target=whole)
        # Copies of a text column under other names have the same indicators: they count once.
        seen: dict[bytes, int] = {}
        same = [seen.setdefault(column.tobytes(), len(seen)) for column in self.columns.T]
        same_as = np.array(same, dtype=np.int64)
        first = np.unique(same_as, return_index=True)[1]
        columns = self.columns if len(first) == p else self.columns[:, first]
        factor = np.asarray(np.linalg.qr(np.hstack([columns, whole]), mode="r"))
        columns, target = factor[:, : len(first)], factor[:, len(first) :]
        columns = columns if len(first) == p else columns[:, same_as]
        return LinearDesign(columns, self.features, target)

    def facts(self) -> TargetFacts:
        values = self.target if self.roots is None else self.target / self.roots[:, None]
        return TargetFacts(
            "regression",
            target_range=float(np.linalg.norm(np.ptp(values, axis=0))),
            variance=self.variance,
            max_abs=float(np.linalg.norm(np.abs(values).max(axis=0))),
            n_targets=int(self.target.shape[1]),
        )


def to_nats(share: float) -> float:
    """Return -1/2 log of a share of unexplained variance: the information of a linear model."""
    return float(-0.5 * np.log(min(max(share, SMALLEST_SHARE), 1.0)))


def _expand(values: FloatArray, kind: Kind, gaps: BoolArray | None) -> FloatArray:
    """Return the columns that stand for one: itself, or an indicator per category but the first."""
    if kind is not Kind.NOMINAL:
        if gaps is None or not gaps.any():
            return values[:, None]
        return np.column_stack([values, gaps.astype(np.float64)])
    if values.max() <= MAX_ONE_HOT:
        return one_hot(values, np.arange(1, values.max() + 1))
    counts = np.bincount(values.astype(np.int64))
    return one_hot(values, np.sort(np.argsort(-counts, kind="stable")[:MAX_ONE_HOT]))


def target_numbers(encoded: Encoded) -> FloatArray:
    """Return a target as numbers: indicators of classes, martingale residuals of times."""
    labels, classes = encoded.target.labels, encoded.target.classes
    if labels is None:
        raw = encoded.target.numbers
        if encoded.target.task == "survival":
            return null_martingale(raw[:, 0], raw[:, 1] > 0)[:, None]
        if raw.shape[1] == 1:
            return raw
        return np.asarray(raw / np.sqrt(column_variances(raw, encoded.weights)))
    assert classes is not None  # a class target keeps its classes
    return one_hot(labels, np.arange(len(classes)))


def _centred(values: FloatArray, weights: Weights) -> FloatArray:
    """Return columns less their means; one value throughout is 0, not what rounding leaves."""
    mean = values.mean(axis=0) if weights is None else weights @ values / weights.sum()
    centred = np.asarray(values - mean, dtype=np.float64)
    near = np.flatnonzero(np.abs(centred[0]) <= _NEAR_MEAN * np.abs(values[0]))
    centred[:, near[np.ptp(values[:, near], axis=0) == 0]] = 0.0
    if weights is not None:
        centred *= np.sqrt(weights / weights.mean())[:, None]
    return centred


class _LinearState:
    """What both directions share: the set, what is left of the target, scores in nats."""

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        self.design = design.reduced()
        self.total = float(np.square(self.design.target).sum())
        self.inside = np.zeros(len(self.design.features), dtype=np.bool_)
        self.inside[list(active)] = True
        self.left = self.total
        # Most features are one column: their scores are computed together.
        sizes = np.array([len(columns) for columns in self.design.features])
        self.single = np.flatnonzero(sizes == 1)
        self.single_column = self._columns(self.single.tolist())
        self.blocks = np.flatnonzero(sizes > 1).tolist()

    @property
    def active(self) -> tuple[int, ...]:
        return tuple(int(feature) for feature in np.flatnonzero(self.inside))

    @property
    def information(self) -> float:
        """-1/2 log of the share of the target's variance that the model leaves, in nats."""
        return to_nats(self.left / self.total) if self.total > 0 else 0.0

    def _columns(self, features: Sequence[int]) -> IntArray:
        columns = [j for feature in features for j in self.design.features[feature]]
        return np.array(columns, dtype=np.int64)

    def _nats_to(self, left: FloatArray) -> FloatArray:
        """Return the size of the change in information when so much would be left."""
        if self.total == 0:
            return np.zeros_like(left)
        floor = SMALLEST_SHARE * self.total
        now = max(self.left, floor)
        return np.asarray(np.abs(0.5 * np.log(np.maximum(left, floor) / now)))


class LinearBackward(_LinearState):
    """A linear model that features are taken out of."""

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        super().__init__(design, active)
        columns = self._columns(self.active)
        self.model = LeastSquares(self.design.columns, self.design.target, columns)
        self.left = self.model.left

    def scores(self) -> FloatArray:
        """Return the information that each removal costs, in nats; NaN for features outside."""
        costs = np.zeros(len(self.design.features))
        costs[self.single] = self.model.cost_of_each()[self.single_column]
        for feature in self.blocks:
            if self.inside[feature]:
                costs[feature] = self.model.cost(self._columns((feature,)))
        return np.where(self.inside, self._nats_to(self.left + costs), np.nan)

    def remove(self, feature: int) -> None:
        self.inside[feature] = False
        self.model.remove(self._columns((feature,)))
        self.left = self.model.left


class LinearForward(_LinearState):
    """A linear model that features are put into."""

    def __init__(self, design: LinearDesign, active: tuple[int, ...]) -> None:
        super().__init__(design, ())
        columns = self.design.columns
        self.lengths = np.linalg.norm(columns, axis=0)
        self.residual = self.design.target.copy()
        self.basis = np.empty((len(columns), 0))
        alone = len(self.single) == columns.shape[1]
        self.alone = columns if alone else columns[:, self.single_column]
        self.squares = np.square(self.lengths[self.single_column])
        self.outside = {feature: columns[:, self._columns((feature,))] for feature in self.blocks}
        for feature in active:
            self.add(feature)

    def scores(self) -> FloatArray:
        """Return the information that each addition brings, in nats; NaN for features inside."""
        gains = np.zeros(len(self.design.features))
        new = self.squares > np.square(COLLINEAR * self.lengths[self.single_column])
        along = np.square(self.alone.T @ self.residual).sum(axis=1)
        gains[self.single] = np.where(new, along / np.where(new, self.squares, 1.0), 0.0)
        for feature in self.blocks:
            if not self.inside[feature]:
                along = self._directions(feature).T @ self.residual
                gains[feature] = np.square(along).sum()
        left = np.maximum(self.left - gains, 0.0)
        return np.where(self.inside, np.nan, self._nats_to(left))

    def add(self, feature: int) -> None:
        directions = self._directions(feature)
        for part in (*self.outside.values(), self.residual):
            part -= directions @ (directions.T @ part)
        self.basis = np.hstack([self.basis, directions])
        self.squares = self.squares - np.square(directions.T @ self.alone).sum(axis=0)
        # Squared lengths that have lost digits are computed anew, and those inside forgotten.
        all_squares = np.square(self.lengths[self.single_column])
        short = np.flatnonzero((self.squares < _FEW_DIGITS * all_squares) & (self.squares != 0.0))
        self.squares[short] = np.square(self._outside_of(self.alone[:, short])).sum(axis=0)
        inside = self.squares[short] <= np.square(COLLINEAR) * all_squares[short]
        self.squares[short[inside]] = 0.0
        self.inside[feature] = True
        self.left = float(np.square(self.residual).sum())

    def _outside_of(self, columns: FloatArray) -> FloatArray:
        for _ in range(2):  # twice is enough (Kahan)
            columns = columns - self.basis @ (self.basis.T @ columns)
        return columns

    def _directions(self, feature: int) -> FloatArray:
        """Return an orthonormal basis of what a feature has outside of the model."""
        columns = list(self.design.features[feature])
        alone = feature not in self.outside
        parts = self.design.columns[:, columns] if alone else self.outside[feature]
        parts = self._outside_of(parts) if alone else parts
        new = np.linalg.norm(parts, axis=0) > COLLINEAR * self.lengths[columns]
        parts = parts[:, new]
        if parts.shape[1] > 1:
            return orthonormal_basis(parts)[1]
        return np.asarray(parts / np.linalg.norm(parts, axis=0))
