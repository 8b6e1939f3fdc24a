"""What each column is worth: the error without it, on fresh rows or on those of a fit."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pinsker._compat import check_columns, require
from pinsker._notes import Note, Notes
from pinsker._types import BoolArray, IntArray
from pinsker.bounds import Difference, column_variances
from pinsker.encoding import encode_again, take_rows
from pinsker.engine import as_settings
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import (
    BestScores,
    Fold,
    HoldoutEvaluator,
    make_folds,
    note_known_rows,
    note_weights,
    read_groups,
)
from pinsker.metrics import Metric
from pinsker.models import weighted_rows

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
        selector: Any,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        *,
        searched: float = 0.0,
    ) -> None:
        check_columns(selector, X)
        scale = as_settings("knn", selector.knn).scale
        task, seed = selector.facts_.task, selector._seed
        encoding = {**selector._encoding(), "task": task, "scale": scale}
        encoding["sample_weight"] = sample_weight
        self.encoded = encode_again(X, y, selector.feature_columns_, **encoding)
        clusters = read_groups(groups, self.encoded)
        self.notes = note_known_rows(self.encoded, getattr(selector, "_row_hashes", None))
        if searched:
            aside = _set_aside(clusters, self.encoded.n_rows, searched, seed)
            self.searched = take_rows(self.encoded, np.flatnonzero(aside))
            self.encoded = take_rows(self.encoded, np.flatnonzero(~aside))
            clusters = None if clusters is None else clusters[~aside]
        splitter = selector.cv if hasattr(selector.cv, "split") else 5
        folds = make_folds(self.encoded, splitter, seed, groups=clusters)
        if not folds:
            raise DataError(
                f"found {self.encoded.n_rows} fresh rows, too few to fit and score models: pass "
                "some dozens at least."
            )
        models = selector._models(self.encoded, seed, X)
        budget = selector._budget_of(selector._own_rule())
        self.metric = Metric(budget.metric_for(selector.facts_))
        self.evaluator = HoldoutEvaluator(
            self.encoded, folds, models, self.metric, selector._jobs(), clusters, X
        )
        self.notes += note_weights(self.evaluator.weights)
        order = selector.path_.order
        kept = {
            j
            for j, columns in enumerate(selector.feature_columns_)
            if selector.support_[list(columns)].all()
        }
        ranked = [*order, *(j for j in range(self.encoded.n_features) if j not in set(order))]
        self.kept = tuple(j for j in ranked if j in kept)
        self.dropped = tuple(j for j in ranked if j not in kept)
        self.names = self.encoded.feature_names
        self.base = self.evaluate([self.kept])[0]
        self.evaluator.drop_weak_models([self.base])

    def evaluate(self, sets: Sequence[Sequence[int]]) -> list[BestScores]:
        """Return the best scores of every set."""
        n_folds = len(self.evaluator.folds)
        return self.evaluator.evaluate([[tuple(one)] * n_folds for one in sets])

    def increase(self, less: BestScores, more: BestScores, confidence: float) -> Difference:
        """Return the error of `less` minus that of `more`, with one-sided bounds."""
        return increase(self.evaluator, less, more, confidence)


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

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
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


def importance(
    selector: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
) -> Importance:
    """Measure what each column is worth on fresh rows; ``selector.importance`` describes it."""
    fresh = FreshSets(selector, X, y, groups, sample_weight)
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
    best = evaluator.evaluate([[tuple(kept)] * n_folds])[0].least.model
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
    each = 1.0 - (1.0 - confidence) / (2 * len(found))  # both ends of all intervals
    n_kept, wider = len(kept), _wider(folds)
    gaps = [increase(evaluator, one, base, each) for one in found[:n_kept]]
    gaps += [increase(evaluator, base, one, each) for one in found[n_kept:]]
    return Importance(
        tuple(names[j] for j in (*kept, *dropped)),
        (True,) * n_kept + (False,) * len(dropped),
        tuple(float(gap.mean) for gap in gaps),
        tuple(float(gap.mean - wider * (gap.mean - gap.lower)) for gap in gaps),
        tuple(float(gap.mean + wider * (gap.upper - gap.mean)) for gap in gaps),
        evaluator.metric.name,
        confidence,
        len(base.least.losses),
        notes,
    )


def _wider(folds: Sequence[Fold]) -> float:
    """Return by how much limits of row-wise differences are too narrow."""
    scored = sum(len(fold.test) for fold in folds)
    trained = sum(len(fold.train) for fold in folds) / len(folds)
    return math.sqrt(1.0 + scored / trained)


def increase(
    evaluator: HoldoutEvaluator, less: BestScores, more: BestScores, confidence: float
) -> Difference:
    """Return the error of one set minus that of another, with one-sided bounds."""
    one, other = less.least.losses, more.least.losses
    n = len(one)
    if evaluator.metric.name == "r2":
        values = evaluator.data.target.raw
        assert values is not None  # a numeric target keeps the user's values
        middle = np.average(values, axis=0, weights=evaluator.data.weights)
        spreads = np.sqrt(column_variances(values, evaluator.data.weights))
        squares = np.sum(((values - middle) / spreads) ** 2, axis=1)[evaluator.rows[:n]]
        if evaluator.weights is not None:
            squares = weighted_rows(squares, evaluator.weights[:n])
        one = one - float((one - other).mean()) * (squares / squares.mean() - 1.0)
    about = (evaluator.clusters, evaluator.weights)
    first: list[Any] = [None if given is None else given[:n] for given in about]
    return evaluator.metric.increase(one, other, confidence, *first)


def table_of(columns: dict[str, list[Any]], library: str) -> Any:
    """Return columns as a frame of pandas or polars."""
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
    return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)


def budget_of(selector: Any) -> float:
    """Return the error budget of a fitted selector."""
    budget = float(selector.certificate_.budget)
    if math.isnan(budget):
        raise ParameterError(
            f"needs an error budget to compare with, but the selector stops by "
            f"{selector.certificate_.rule}: set error_budget to a number."
        )
    return budget
