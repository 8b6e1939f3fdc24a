"""What each column is worth, and how stable the choice of columns is.

Worth is the error without a column, on fresh rows or on those of a fit; stability is Nogueira's
measure over the sets that were found on parts of the rows.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Literal

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from pinsker._compat import check_columns, table_of
from pinsker._notes import Note, Notes
from pinsker._types import (
    BoolArray,
    CrossValidation,
    Fields,
    FloatArray,
    ListsByName,
    RowLabels,
    Selector,
    Splitter,
    TableLike,
    TargetLike,
)
from pinsker.bounds import Difference, column_variances, serial_blocks, simultaneous_confidence
from pinsker.encoding import RowSample, count_rows, is_dask, read_array, take, take_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import FitContext, HoldoutEvaluator, make_folds, note_weights, number_groups
from pinsker.metrics import weighted_rows
from pinsker.models import HoldoutScores

#: The note where the rows that chose the columns measure them.
SAME_ROWS = Note("importance on the same rows")
#: Of a fit: fits of the model for all columns that are left out, columns at most, and rows that
#: are enough. More would cost a fifth of the whole fit on narrow tables, but for a quick model.
_FITS, _MOST_LEFT_OUT, _ENOUGH_ROWS = 20, 20, 1000
_QUICK_FITS = 100
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
            which = np.arange(n_rows) if groups is None else groups  # rows of a group stay together
            several = np.random.default_rng(context.seed).permutation(np.unique(which))
            aside = np.isin(which, several[: max(1, round(searched * len(several)))])
            self.searched = take_rows(context.encoded, np.flatnonzero(aside))
            rest = take_rows(context.encoded, np.flatnonzero(~aside))
            own = None if groups is None else groups[~aside]
            context = replace(context, encoded=rest, groups=own)
        self.encoded, self.metric = context.encoded, context.metric
        folds = make_folds(self.encoded, cv, context.seed, groups=context.groups)
        self.evaluator = context.evaluator(folds)
        self.notes += note_weights(self.evaluator.weights)
        ranked = [*order, *(j for j in range(self.encoded.n_features) if j not in set(order))]
        self.kept = tuple(j for j in ranked if kept[j])
        self.dropped = tuple(j for j in ranked if not kept[j])
        self.names = self.encoded.feature_names
        self.evaluator.race([[self.kept] * len(folds)])
        self.base = self.evaluate([self.kept])[0]

    def evaluate(self, sets: Sequence[Sequence[int]]) -> list[HoldoutScores]:
        n_folds = len(self.evaluator.folds)
        return self.evaluator.evaluate([[tuple(one)] * n_folds for one in sets])

    def increases(self, sets: Sequence[HoldoutScores], confidence: float) -> list[Difference]:
        """Return the error of each set minus that of the kept one, with bounds for all at once."""
        return increases(self.evaluator, [(one, self.base) for one in sets], confidence)


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
        decrease when it alone is added, in `metric`, with its confidence limits: the mean of models
        that are fitted to as many rows.
    metric : str
        Metric of the errors.
    confidence : float
        That all intervals hold together (Bonferroni), the fits of the models included.
    n_rows : int
        Rows that were predicted by models that had not seen them.
    notes : tuple of Note
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
        fields = {"feature": self.features, "kept": self.kept, "importance": self.value}
        fields |= {"lower": self.lower, "upper": self.upper}
        places = range(len(self.value))
        order = sorted(places, key=lambda k: (not self.kept[k], -self.value[k]))
        return table_of({name: [held[k] for k in order] for name, held in fields.items()}, library)

    def _repr_html_(self) -> str:
        from pinsker.report import importance_card  # upwards: it has all views

        return importance_card(self)

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
    if all(model.is_quick for model in one.models):
        n_folds = min(enough, max(1, _QUICK_FITS // len(kept)))
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
    named = tuple(names[j] for j in (*kept, *dropped))
    stay = (True,) * n_kept + (False,) * len(dropped)
    limits = [(float(gap.mean), float(gap.lower), float(gap.upper)) for gap in gaps]
    value, lower, upper = zip(*limits, strict=True) if limits else ((), (), ())
    about = (evaluator.metric.name, confidence, len(base.losses), notes)
    return Importance(named, stay, value, lower, upper, *about)


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
    if evaluator.in_time and clusters is None and n:
        clusters = serial_blocks(np.hstack(columns)).clusters
    sides = columns + [-column for column in columns] if two_sided else columns
    each = simultaneous_confidence(np.hstack(sides), confidence, clusters=clusters) if n else 0.95
    known, metric = (clusters, weights, evaluator.widening), evaluator.metric.of_all_rows
    return [metric.increase(less, more, each, *known) for less, more in losses]


def _paired_losses(
    evaluator: HoldoutEvaluator, less: HoldoutScores, more: HoldoutScores
) -> tuple[FloatArray, FloatArray]:
    """Return losses of two sets; those of R² with the influence of the target's variance."""
    one, other = less.losses, more.losses
    n = len(one)
    if evaluator.metric.name == "r2":
        values = evaluator.data.rows.target.numbers
        middle = np.average(values, axis=0, weights=evaluator.data.rows.weights)
        spreads = np.sqrt(column_variances(values, evaluator.data.rows.weights))
        squares = np.sum(((values - middle) / spreads) ** 2, axis=1)[evaluator.rows[:n]]
        if evaluator.weights is not None:
            squares = weighted_rows(squares, evaluator.weights[:n])
        one = one - float((one - other).mean()) * (squares / squares.mean() - 1.0)
    return one, other


#: Below this a choice is called unstable (Nogueira et al. 2018 call 0.4 and less poor).
UNSTABLE = 0.4
#: Columns that a note names at most, and others that it names in the place of each.
_NAMED, _IN_PLACE = 5, 3
#: A column shares the place of another if it is chosen so much more often where that is not.
_MORE_OFTEN = 0.25


@dataclass(frozen=True, eq=False)
class Stability:
    """How much several choices of features agree, beyond chance.

    Attributes
    ----------
    value : float
        1 where all choices are the same, about 0 where they agree as random sets do; NaN where all
        features or none are always chosen.
    lower, upper : float
        Confidence interval, about choices from rows that overlap as much.
    frequency : ndarray of shape (n_features,)
        How often each feature was chosen, from 0 to 1.
    chosen : ndarray of shape (n_choices, n_features), bool
        The choices.
    names : tuple of str
        Names of the features.
    over : {"folds", "searches", "subsamples"}
        What the choices were made on; "searches" where some folds share one.

    References
    ----------
    Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18 (2018),
    definition 4 and theorem 10.
    """

    value: float
    lower: float
    upper: float
    frequency: FloatArray
    chosen: BoolArray
    names: tuple[str, ...]
    over: str = "folds"

    @classmethod
    def of(
        cls,
        chosen: BoolArray,
        names: Sequence[str] | None = None,
        *,
        over: str = "folds",
        confidence: float = 0.95,
    ) -> "Stability":
        """Compare choices: one row each, one column a feature."""
        masks = np.asarray(chosen, dtype=np.float64)
        n_choices, n_features = masks.shape
        called = tuple(names or (f"x{j}" for j in range(n_features)))
        frequency = masks.mean(axis=0)
        share = float(frequency.mean())
        scale = share * (1.0 - share)
        about = (frequency, np.asarray(chosen, dtype=np.bool_), called, over)
        if scale == 0.0 or n_choices < 2:
            return cls(np.nan, np.nan, np.nan, *about)
        variance = frequency * (1.0 - frequency) * n_choices / (n_choices - 1)
        value = 1.0 - float(variance.mean()) / scale
        sizes = masks.sum(axis=1) / n_features
        each = (
            (masks @ frequency) / n_features
            - sizes * share
            + value / 2 * (2 * sizes * share - sizes - share + 1)
        ) / scale
        error = 2.0 / n_choices * float(np.sqrt(np.sum((each - each.mean()) ** 2)))
        half = float(ndtri(0.5 + confidence / 2)) * error
        return cls(value, value - half, min(value + half, 1.0), *about)

    def __repr__(self) -> str:
        ends = f"{self.lower:.2f} to {self.upper:.2f}"
        return f"Stability({self.value:.2f}, {ends}, {self.n_choices} choices)"

    @property
    def n_choices(self) -> int:
        """How many choices were compared."""
        return len(self.chosen)

    def in_place_of(self, feature: int) -> list[int]:
        """Return the features that are chosen where another is not, most often first."""
        with_it = self.chosen[:, feature]
        if with_it.all():
            return []
        absent = self.chosen[~with_it].mean(axis=0)
        present = self.chosen[with_it].mean(axis=0) if with_it.any() else np.zeros(len(self.names))
        more = absent - present
        ranked = np.argsort(-more, kind="stable")
        return [int(j) for j in ranked if more[j] > _MORE_OFTEN and j != feature]

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: how often each feature was chosen."""
        order = [int(j) for j in np.argsort(-self.frequency, kind="stable")]
        columns: ListsByName = {
            "feature": [self.names[j] for j in order],
            "frequency": [float(self.frequency[j]) for j in order],
        }
        return table_of(columns, library)

    def to_dict(self) -> Fields:
        """Return plain values: stability, interval, and the frequency of each chosen feature."""
        often = zip(self.names, self.frequency, strict=True)
        return {
            **{name: getattr(self, name) for name in ("value", "lower", "upper", "n_choices")},
            "over": self.over,
            "frequency": {name: float(share) for name, share in often if share > 0},
        }

    def notes(self, kept: Sequence[int]) -> tuple[Note, ...]:
        """Return what a user should know: that a choice is unstable, and which columns are."""
        rare = [j for j in kept if self.frequency[j] < UNSTABLE]
        if not self.value < UNSTABLE and not rare:
            return ()
        kind = "unstable choice" if self.value < UNSTABLE else "unstable columns"
        others = {k for j in kept for k in self.in_place_of(j)} - set(kept)
        said = []
        for j in rare[:_NAMED]:
            times = f"chosen in {int(self.chosen[:, j].sum())} of {self.n_choices}"
            instead = [self.names[k] for k in self.in_place_of(j) if k in others][:_IN_PLACE]
            place = f" (in its place {', '.join(map(repr, instead))})" if instead else ""
            said.append(f"{self.names[j]!r} is kept, but {times}{place}")
        if len(rare) > _NAMED:
            said.append(f"{len(rare) - _NAMED} more kept columns are as rare")
        names = tuple(self.names[j] for j in rare)
        return (Note(kind, names, {"found": "; ".join([str(self), *said])}),)

    def __str__(self) -> str:
        return (
            f"stability {self.value:.2f} (95% interval {self.lower:.2f} to {self.upper:.2f}) over "
            f"{self.n_choices} {self.over}"
        )


def stability_of_orders(
    orders: Sequence[Sequence[int]], size: int, names: Sequence[str]
) -> Stability | None:
    """Return the stability of the first features of several searches; None if there is one."""
    n_folds = len(orders)
    orders = list({id(order): order for order in orders}.values())  # folds may share a search
    if len(orders) < 2:
        return None
    masks = np.zeros((len(orders), len(names)), dtype=np.bool_)
    for mask, order in zip(masks, orders, strict=True):
        mask[list(order[:size])] = True
    return Stability.of(masks, names, over="folds" if len(orders) == n_folds else "searches")


def stability_of_subsamples(
    selector: Selector, X: TableLike, y: TargetLike, draw_half: Callable[[int], RowSample], n: int,
    given: Mapping[str, RowLabels],
) -> Stability:  # fmt: skip
    """Fit a selector to random halves of the rows; ``selector.stability`` describes it."""
    if n < 2:
        raise ParameterError(f"n={n!r}: use 2 subsamples at least.", parameter="n")
    check_columns(selector, X)
    if is_dask(X):
        raise ParameterError("stability needs the rows in memory: pass X.compute().")
    if not isinstance(selector.cv, Integral | Splitter):
        raise ParameterError(
            "cv lists rows of the whole table, which a subsample does not have: use an int or a "
            "splitter.",
            parameter="cv",
        )
    about = {name: read_array(name, one) for name, one in given.items() if one is not None}
    for name, one in about.items():
        if one.shape != (count_rows(X),):
            raise ParameterError(
                f"{name} has shape {one.shape}, but there are {count_rows(X)} rows: give one "
                "for each.",
                parameter=name,
            )
    clusters = number_groups(about["groups"]) if "groups" in about else None
    chosen = []
    for seed in np.random.default_rng(selector._record.seed).integers(2**31 - 1, size=n):
        if clusters is None:  # a half of every class, else of the groups
            rows = draw_half(int(seed)).rows
            if rows is None:
                raise DataError(
                    f"X ({type(X).__name__}) has {count_rows(X)} rows: half of a table needs two "
                    "at least."
                )
        else:
            several = clusters.max() + 1
            some = np.random.default_rng(int(seed)).permutation(several)[: max(2, several // 2)]
            rows = np.flatnonzero(np.isin(clusters, some))
        of_half = {name: one[rows] for name, one in about.items()}
        other = clone(selector).set_params(random_state=int(seed), verbose=0)
        if selector.get_params(deep=False).get("suspects") == "warn":  # `fit` has named them
            other.set_params(suspects="ignore")
        support = other.fit(take(X, rows), take(y, rows), **of_half).support_
        chosen.append([support[list(columns)].all() for columns in selector.feature_columns_])
    return Stability.of(np.array(chosen), selector.path_.names, over="subsamples")
