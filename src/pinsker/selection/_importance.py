"""What each column is worth: the error without it, measured on fresh rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pinsker._compat import require, validate_data
from pinsker._types import BoolArray, IntArray
from pinsker.encoding import encode_again, take_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.selection._fit_data import as_settings
from pinsker.selection.holdout import (
    HoldoutEvaluator,
    Metric,
    make_folds,
    note_known_rows,
    read_groups,
)

#: Models of five folds share rows, so that losses of different folds go up and down together: the
#: variance is (1/5 + 1/4) / (1/5) of that of independent rows (Nadeau and Bengio 2003). It shows
#: in columns that are worth nothing: without it 88 to 94 % of their intervals cover, not 98.75 %.
_WIDER = 1.5
#: Dropped columns that are added one by one, at most: the first ones of the path.
MOST_ADDED = 50


class FreshSets:
    """Compares sets of features on fresh rows with the models of a fitted selector.

    Parameters
    ----------
    selector : fitted selector
        Whose columns, models and metric are used.
    X, y
        Fresh rows.
    groups : array-like, optional
        Which rows belong together.
    searched : float, default=0.0
        Share of the rows that are set aside for a search (`searched`) and evaluate nothing.
    """

    def __init__(
        self, selector: Any, X: Any, y: Any, groups: Any = None, *, searched: float = 0.0
    ) -> None:
        validate_data(selector, X, skip_check_array=True, reset=False)
        scale = as_settings("knn", selector.knn).scale
        task, seed = selector.facts_.task, selector._seed
        encoding = {**selector._encoding(), "task": task, "scale": scale}
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

    def evaluate(self, sets: Sequence[Sequence[int]]) -> list[Any]:
        """Return the best scores of every set."""
        n_folds = len(self.evaluator.folds)
        return self.evaluator.evaluate([[tuple(one)] * n_folds for one in sets])

    def increase(self, less: Any, more: Any, confidence: float) -> Any:
        """Return the error of `less` minus that of `more`, with one-sided bounds.

        R² is a ratio: its unit, the variance of the target, is as uncertain as the rows are few,
        and counts by its influence on the difference (delta method).
        """
        one, other = less.least.losses, more.least.losses
        if self.metric.name == "r2":
            values = self.encoded.target.raw
            assert values is not None  # a numeric target keeps the user's values
            squares = np.sum((values - values.mean(axis=0)) ** 2, axis=1)[self.evaluator.rows]
            one = one - float((one - other).mean()) * (squares / squares.mean() - 1.0)
        return self.metric.increase(one, other, confidence, self.evaluator.clusters)


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
    notes: tuple[str, ...] = ()

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
    selector: Any, X: Any, y: Any, *, groups: Any = None, confidence: float = 0.95
) -> Importance:
    """Measure what each column is worth on fresh rows; ``selector.importance`` describes it."""
    fresh = FreshSets(selector, X, y, groups)
    dropped = fresh.dropped[:MOST_ADDED]
    without = [tuple(j for j in fresh.kept if j != one) for one in fresh.kept]
    with_one = [(*fresh.kept, one) for one in dropped]
    found = fresh.evaluate([*without, *with_one])
    each = 1.0 - (1.0 - confidence) / (2 * len(found))  # both ends of all intervals
    n_kept = len(fresh.kept)
    gaps = [fresh.increase(one, fresh.base, each) for one in found[:n_kept]]
    gaps += [fresh.increase(fresh.base, one, each) for one in found[n_kept:]]
    notes = fresh.notes
    if len(dropped) < len(fresh.dropped):
        n_all = len(fresh.dropped)
        notes += (f"of {n_all} dropped features the first {len(dropped)} of the path were added",)
    return Importance(
        tuple(fresh.names[j] for j in (*fresh.kept, *dropped)),
        (True,) * n_kept + (False,) * len(dropped),
        tuple(float(gap.mean) for gap in gaps),
        tuple(float(gap.mean - _WIDER * (gap.mean - gap.lower)) for gap in gaps),
        tuple(float(gap.mean + _WIDER * (gap.upper - gap.mean)) for gap in gaps),
        fresh.metric.name,
        confidence,
        len(fresh.evaluator.rows),
        notes,
    )


def table_of(columns: dict[str, list[Any]], library: str) -> Any:
    """Return columns as a frame of pandas or polars."""
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
    return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)


def budget_of(selector: Any) -> float:
    """Return the error budget of a fitted selector.

    Raises
    ------
    ParameterError
        When it stops by another rule.
    """
    budget = float(selector.certificate_.budget)
    if math.isnan(budget):
        raise ParameterError(
            f"needs an error budget to compare with, but the selector stops by "
            f"{selector.certificate_.rule}: set error_budget to a number."
        )
    return budget
