"""What each column is worth: the error without it, on fresh rows or on those of a fit."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker._types import BoolArray, CrossValidation, FloatArray, IntArray, ListsByName, TableLike
from pinsker.bounds import (
    CROSS_FITTED,
    Difference,
    column_variances,
    simultaneous_confidence,
)
from pinsker.encoding import take_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import (
    FitContext,
    HoldoutEvaluator,
    make_folds,
    note_weights,
)
from pinsker.models import HoldoutScores, weighted_rows

#: The note where the rows that chose the columns measure them.
SAME_ROWS = Note("importance on the same rows")
#: Of a fit: fits of the model for all columns that are left out, columns at most, and rows that
#: are enough. More would cost a fifth of the whole fit on narrow tables.
_FITS, _MOST_LEFT_OUT, _ENOUGH_ROWS = 20, 20, 1000
#: Dropped columns that are added one by one, at most: the first ones of the path.
MOST_ADDED = 50


class FreshSets:
    """Compares sets of features on fresh rows with the models of a fitted selector."""

    def __init__(
        self,
        context: FitContext,
        cv: CrossValidation,
        order: Sequence[int],
        kept: Sequence[bool],
        *,
        searched: float = 0.0,
    ) -> None:
        self.notes = context.notes
        if searched:
            groups, n_rows = context.groups, context.encoded.n_rows
            aside = _set_aside(groups, n_rows, searched, context.seed)
            self.searched = take_rows(context.encoded, np.flatnonzero(aside))
            context = replace(
                context,
                encoded=take_rows(context.encoded, np.flatnonzero(~aside)),
                groups=None if groups is None else groups[~aside],
            )
        self.encoded, self.metric = context.encoded, context.metric
        folds = make_folds(self.encoded, cv, context.seed, groups=context.groups)
        if not folds:
            raise DataError(
                f"found {self.encoded.n_rows} fresh rows, too few to fit and score models: pass "
                "some dozens at least."
            )
        self.evaluator = context.evaluator(folds)
        self.notes += note_weights(self.evaluator.weights)
        ranked = [*order, *(j for j in range(self.encoded.n_features) if j not in set(order))]
        self.kept = tuple(j for j in ranked if kept[j])
        self.dropped = tuple(j for j in ranked if not kept[j])
        self.names = self.encoded.feature_names
        self.evaluator.race([[self.kept] * len(folds)])
        self.base = self.evaluate([self.kept])[0]

    def evaluate(self, sets: Sequence[Sequence[int]]) -> list[HoldoutScores]:
        """Return the best scores of every set."""
        n_folds = len(self.evaluator.folds)
        return self.evaluator.evaluate([[tuple(one)] * n_folds for one in sets])

    def increases(self, sets: Sequence[HoldoutScores], confidence: float) -> list[Difference]:
        """Return the error of each set minus that of the kept one, with bounds for all at once."""
        return increases(self.evaluator, [(one, self.base) for one in sets], confidence)


def _set_aside(clusters: IntArray | None, n_rows: int, share: float, seed: int) -> BoolArray:
    """Return a random share of the rows; rows that belong together stay together."""
    which = np.arange(n_rows) if clusters is None else clusters
    several = np.random.default_rng(seed).permutation(np.unique(which))
    return np.asarray(np.isin(which, several[: max(1, round(share * len(several)))]))


@dataclass(frozen=True)
class Importance:
    """Of every column the error that it saves, with limits that hold for all columns at once.

    Attributes
    ----------
    features : tuple of str
        Kept ones first, in order of the path.
    kept : tuple of bool
        Whether each is kept.
    value, lower, upper : tuple of float
        Of a kept feature the error increase when it alone is left out, of a dropped one the
        decrease when it alone is added, in `metric`, with its confidence limits.
    metric : str
        Metric of the errors.
    confidence : float
        That all intervals hold together (Bonferroni), the fits of the models included.
    n_rows : int
        Rows that were predicted by models that had not seen them.
    notes : tuple of str
        What a user should know.
    """

    features: tuple[str, ...]
    kept: tuple[bool, ...]
    value: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    metric: str
    confidence: float
    n_rows: int
    notes: Notes = ()

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: one row a feature, the most important first."""
        fields = {
            "feature": self.features,
            "kept": self.kept,
            "importance": self.value,
            "lower": self.lower,
            "upper": self.upper,
        }
        places = range(len(self.value))
        order = sorted(places, key=lambda k: (not self.kept[k], -self.value[k]))
        return table_of({name: [held[k] for k in order] for name, held in fields.items()}, library)

    def __repr__(self) -> str:
        kept = f"{sum(self.kept)} kept of {len(self.features)} features"
        return f"Importance({kept}, metric={self.metric!r}, {self.n_rows} rows)"


def importance(fresh: FreshSets, confidence: float = 0.95) -> Importance:
    """Measure what each column is worth on fresh rows; ``selector.importance`` describes it."""
    dropped = fresh.dropped[:MOST_ADDED]
    notes = fresh.notes
    if len(dropped) < len(fresh.dropped):
        n_all = len(fresh.dropped)
        notes += (Note("some were added", figures={"n_all": n_all, "n_added": len(dropped)}),)
    sets = (fresh.names, fresh.kept, dropped)
    return _leave_one_out(fresh.evaluator, *sets, confidence=confidence, notes=notes)


def importance_at_hand(
    evaluator: HoldoutEvaluator, kept: Sequence[int], names: Sequence[str], notes: Notes
) -> Importance | None:
    """Measure what each kept column is worth with the rows and the best model of a fit."""
    if not 0 < len(kept) <= _MOST_LEFT_OUT:
        return None
    rows = np.cumsum([len(fold.test) for fold in evaluator.folds])
    enough = int(np.searchsorted(rows, min(_ENOUGH_ROWS, rows[-1]))) + 1
    n_folds = min(enough, max(1, _FITS // len(kept)))
    best = evaluator.evaluate([[tuple(kept)] * n_folds])[0].model
    one = copy.copy(evaluator)  # with the predictions that are known
    one.models = tuple(model for model in one.models if model.name == best) or one.models[:1]
    return _leave_one_out(one, names, kept, notes=notes, n_folds=n_folds)


def _leave_one_out(
    evaluator: HoldoutEvaluator,
    names: Sequence[str],
    kept: Sequence[int],
    dropped: Sequence[int] = (),
    *,
    confidence: float = 0.95,
    notes: Notes = (),
    n_folds: int | None = None,
) -> Importance:
    """Leave every kept column out and add every dropped one, on the first folds or on all."""
    without = [tuple(j for j in kept if j != one) for one in kept]
    with_one = [(*kept, one) for one in dropped]
    folds = evaluator.folds[:n_folds]
    sets = [tuple(kept), *without, *with_one]
    base, *found = evaluator.evaluate([[one] * len(folds) for one in sets])
    n_kept = len(kept)
    pairs = [(one, base) for one in found[:n_kept]] + [(base, one) for one in found[n_kept:]]
    gaps = increases(evaluator, pairs, confidence, two_sided=True)
    return Importance(
        tuple(names[j] for j in (*kept, *dropped)),
        (True,) * n_kept + (False,) * len(dropped),
        tuple(float(gap.mean) for gap in gaps),
        tuple(float(gap.lower) for gap in gaps),
        tuple(float(gap.upper) for gap in gaps),
        evaluator.metric.name,
        confidence,
        len(base.losses),
        notes,
    )


def increases(
    evaluator: HoldoutEvaluator,
    pairs: Sequence[tuple[HoldoutScores, HoldoutScores]],
    confidence: float,
    *,
    two_sided: bool = False,
) -> list[Difference]:
    """Return the error of each first set minus that of the second, with bounds for all at once."""
    losses = [_paired_losses(evaluator, *pair) for pair in pairs]
    n = len(losses[0][0]) if losses else 0
    clusters = None if evaluator.clusters is None else evaluator.clusters[:n]
    weights = None if evaluator.weights is None else evaluator.weights[:n]
    columns = [(one - other).reshape(n, -1) for one, other in losses]
    sides = columns + [-column for column in columns] if two_sided else columns
    each = simultaneous_confidence(np.hstack(sides), confidence, clusters=clusters) if n else 0.95
    return [increase(evaluator, *one, each, clusters, weights) for one in losses]


def increase(
    evaluator: HoldoutEvaluator,
    less: FloatArray,
    more: FloatArray,
    confidence: float,
    clusters: IntArray | None,
    weights: FloatArray | None,
) -> Difference:
    """Return the mean difference of paired losses, with the widening of several folds."""
    widening = CROSS_FITTED if len(evaluator.folds) > 1 else 1.0
    return evaluator.metric.increase(less, more, confidence, clusters, weights, widening)


def _paired_losses(
    evaluator: HoldoutEvaluator, less: HoldoutScores, more: HoldoutScores
) -> tuple[FloatArray, FloatArray]:
    """Return losses of two sets; those of R² with the influence of the target's variance."""
    one, other = less.losses, more.losses
    n = len(one)
    if evaluator.metric.name == "r2":
        values = evaluator.data.rows.target.raw
        assert values is not None  # a numeric target keeps the user's values
        middle = np.average(values, axis=0, weights=evaluator.data.rows.weights)
        spreads = np.sqrt(column_variances(values, evaluator.data.rows.weights))
        squares = np.sum(((values - middle) / spreads) ** 2, axis=1)[evaluator.rows[:n]]
        if evaluator.weights is not None:
            squares = weighted_rows(squares, evaluator.weights[:n])
        one = one - float((one - other).mean()) * (squares / squares.mean() - 1.0)
    return one, other


def table_of(columns: ListsByName, library: str) -> TableLike:
    """Return columns as a frame of pandas or polars."""
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
    return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)
