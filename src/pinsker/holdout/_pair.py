"""Two fitted models, of all columns and of those kept: their losses on new rows, or in batches."""

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import check_columns, classes_of
from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    Estimator,
    FloatArray,
    IntArray,
    MetricChoice,
    Selector,
    TableLike,
    TargetLike,
    Task,
)
from pinsker.bounds import Difference, error_rate_limit, limits_of_counts, limits_of_moments
from pinsker.encoding import (
    RowSample,
    batches_of,
    can_be_scanned,
    check_lengths,
    count_rows,
    is_dask,
    is_frame,
    is_stream,
    missing_targets,
    profile_of,
    take,
)
from pinsker.exceptions import DataError, DataWarning, ParameterError
from pinsker.holdout._audit import (
    MODELS_OF_NOTHING,
    AuditResult,
    Fit,
    compare_training,
    losses_of_fits,
    own_budget,
    own_metric,
    response_of,
    target_column,
)
from pinsker.holdout._certificate import Certificate
from pinsker.holdout._evaluate import FeatureSet, FitContext
from pinsker.holdout._rows import compare_with_fit
from pinsker.metrics import MEAN, METRICS, CostMatrix, Metric, WorstTarget
from pinsker.models import (
    OwnColumns,
    RawModel,
    able_to_fit,
    as_table,
    column_names,
    fit_clone,
    of_columns,
    outputs,
    predicted_classes,
    prepare_models,
    replace_columns,
    take_columns,
)
from pinsker.search import read_budget


@dataclass(frozen=True, eq=False)
class ModelPair:
    """A fitted selector, and fitted models of all columns and of those that it keeps."""

    selector: Selector
    model_all: Estimator
    model_kept: Estimator
    metric: Metric

    @classmethod
    def of(
        cls, selector: Selector, model_all: Estimator, model_kept: Estimator,
        metric: MetricChoice = None,
    ) -> "ModelPair":  # fmt: skip
        """Check that both models are fitted, and that the metric is a mean over rows."""
        check_is_fitted(selector)
        for name, model in (("model_all", model_all), ("model_kept", model_kept)):
            try:
                check_is_fitted(model)
            except TypeError as error:
                raise ParameterError(f"{name} is no model: {error}", parameter=name) from error
        chosen = Metric(own_metric(selector) if metric is None else metric)
        several = isinstance(chosen.metric, WorstTarget) or selector.facts_.n_targets > 1
        if several or chosen.method(selector.task_) != MEAN:
            what = "of one target" if several else f"of {selector.task_}"
            own = METRICS[selector.task_]
            means = (name for name in own if Metric(name).method(selector.task_) == MEAN)
            known = ", ".join(map(repr, means)) or "none"
            raise ParameterError(
                f"metric {chosen.name!r} has no loss of each row {what}: <pass metric= one of "
                f"|select with --direction auto and --metric one of >{known}.",
                parameter="metric",
            )
        return cls(selector, model_all, model_kept, chosen)

    @property
    def largest(self) -> float:
        """The largest loss of a row for any target: infinite where there is none."""
        row = self.metric.row
        return row.largest_loss_of(self.selector.facts_) if row.is_bounded else math.inf

    def budget(self, given: float | None) -> float:
        """Return the budget that is given, or that of the selector; NaN in another metric."""
        return own_budget(self.selector, self.metric) if given is None else read_budget(given)

    def result(
        self, found: Difference, confidence: float, error_budget: float | None, **about: Any
    ) -> AuditResult:
        return AuditResult(
            metric=self.metric.name, budget=self.budget(error_budget), confidence=confidence,
            n_kept=int(self.selector.get_support().sum()),
            n_features=int(self.selector.n_features_in_), increase=found.mean,
            increase_lower=found.lower, increase_upper=found.upper, **about,
        )  # fmt: skip

    def tables(self, X: TableLike) -> tuple[TableLike, TableLike]:
        if is_stream(X) or is_dask(X):
            raise DataError(f"X is a {type(X).__name__}: pass rows in memory, batch by batch.")
        X = as_table(X)
        if is_frame(X):
            check_columns(self.selector, X)
        return X, self.selector.transform(X)

    def losses(self, X: TableLike, y: TargetLike) -> tuple[FloatArray, FloatArray]:
        tables, values = self.tables(X), target_column(y)
        check_lengths({"X": count_rows(X), "y": len(values)})
        if n_missing := int(missing_targets(values).sum()):
            raise DataError(f"y is missing in {n_missing} of {len(values)} rows: leave them out.")
        if self.selector.task_ == "regression":
            try:
                values = values.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(f"y must hold numbers, as in the fit: {error}.") from error
        # R² is in units of the variance of the fit: batches have variances of their own.
        is_r2 = self.metric.name == "r2"
        metric, unit = (Metric("mse"), self.selector.facts_.variance) if is_r2 else (self.metric, 1)
        models = zip((self.model_all, self.model_kept), tables, strict=True)
        full, kept = (_losses(metric, self.selector.task_, *one, values) / unit for one in models)
        return full, kept

    def disagreement(self, X: TableLike) -> FloatArray:
        """Return how far the predictions differ: 0 where losses cannot, for any target."""
        models = zip((self.model_all, self.model_kept), self.tables(X), strict=True)
        if self.selector.task_ == "regression":
            one, other = (outputs(model, "predict", part, 1)[:, 0] for model, part in models)
            return np.abs(one - other)
        if self.metric.needs == "predictions":
            one, other = (predicted_classes(model, part) for model, part in models)
            return np.asarray(one != other, dtype=np.float64)
        found: list[AnyArray] = []
        for model, part in models:
            method, known = response_of(self.metric, model), classes_of(model)
            found.append(outputs(model, method, part, len(known)))
        return np.asarray(np.abs(found[0] - found[1]).sum(axis=1))


def fit_both(
    selector: Selector, model: Estimator, X: TableLike, y: TargetLike
) -> tuple[Estimator, Estimator]:
    able = able_to_fit(model, type(model).__name__, X, y)
    return fit_clone(able, X, y), fit_clone(able, selector.transform(X), y)


def notes_of_training(selector: Selector, X: TableLike, y: TargetLike) -> Notes:
    """Return which dropped columns are empty in training rows, unlike those of the fit."""
    like = selector._record.profile
    trained = profile_of(X, y, selector.task_, like)[0]
    return compare_training(like, like, trained, np.flatnonzero(selector.get_support()))


def _losses(
    metric: Metric, task: Task, model: Estimator, part: TableLike, values: AnyArray
) -> FloatArray:
    fit = Fit(model, part, np.arange(len(values)), part)
    classes = classes_of(model, np.unique(values)) if task == "classification" else values
    return losses_of_fits(metric, task, [fit], values, classes, None, None)


class Totals:
    """Sums over the rows of a stream: of losses of models, and of differences of pairs of them."""

    def __init__(
        self, metric: Metric, task: Task, models: Sequence[Estimator], *pairs: tuple[int, int]
    ) -> None:
        if isinstance(metric.metric, CostMatrix):  # whose limits know the steps of every row
            raise ParameterError("a CostMatrix needs the rows in memory: use another metric.")
        self.metric, self.task, self.models, self.pairs = metric, task, models, pairs
        # R² is in units of the variance of all rows, which is known at the end.
        self.summed = Metric("mse") if metric.name == "r2" else metric
        self.losses, self.powers = np.zeros(len(models)), np.zeros((len(pairs), 3))
        self.n, self.origin, self.target = 0, 0.0, np.zeros(2)

    def add(self, parts: Sequence[TableLike], y: AnyArray) -> None:
        """Add the losses of some rows, whose columns each model gets as it needs them."""
        given = zip(self.models, parts, strict=True)
        losses = [_losses(self.summed, self.task, model, part, y) for model, part in given]
        gaps = [losses[one] - losses[other] for one, other in self.pairs]
        self.losses += [one.sum() for one in losses]
        self.powers += [[gap.sum(), (gap * gap).sum(), (gap * gap * gap).sum()] for gap in gaps]
        if self.metric.name == "r2":
            self.origin = self.origin if self.n else float(y[0])
            away = y.astype(np.float64) - self.origin
            self.target += [away.sum(), (away * away).sum()]
        self.n += len(y)

    @property
    def unit(self) -> float:
        """What sums of losses are divided by for the loss of one row."""
        mean, square = (self.target / self.n).tolist()
        return float(square - mean**2) if self.metric.name == "r2" else 1.0

    def increase(self, pair: int, confidence: float) -> Difference:
        """Return the mean difference of a pair with its limits: those of all rows in memory."""
        if self.metric.row.counts:  # differences are -1, 0 and 1
            first, second, _ = self.powers[pair].tolist()
            return limits_of_counts(self.n, (second + first) / 2, (second - first) / 2, confidence)
        mean, square, cube = (self.powers[pair] / (self.n * self.unit ** np.arange(1, 4))).tolist()
        return limits_of_moments(self.n, mean, square, cube, confidence)


def audit_stream(
    selector: Selector, model: Estimator, X: TableLike, y: TargetLike,
    train: tuple[TableLike, TargetLike], *, metric: MetricChoice, error_budget: float | None,
    confidence: float,
) -> AuditResult:  # fmt: skip
    """Fit a model to training rows twice, and compare both on every row of a stream."""
    if train[0] is None:
        raise ParameterError(
            f"X_test is a {type(X).__name__}, which is read in batches: pass X_train and y_train, "
            "rows in memory that the model is fitted to."
        )
    pair = ModelPair.of(selector, *fit_both(selector, model, *train), metric)
    nothing = fit_clone(MODELS_OF_NOTHING[selector.task_], np.zeros((len(train[1]), 1)), train[1])
    models = (pair.model_all, pair.model_kept, nothing)
    totals = Totals(pair.metric, selector.task_, models, (1, 0), (0, 2), (1, 2))
    like, profile, hashes = selector._record.profile, None, []
    notes = notes_of_training(selector, *train)
    for columns, values, _ in _rows_of(X, y, None):
        totals.add((*pair.tables(columns), columns), values)
        own, some = profile_of(columns, values, selector.task_, like)
        profile = own if profile is None or like is None else profile.with_more(own)
        hashes.append(some)
    notes += compare_with_fit(selector, profile, np.concatenate(hashes))
    full, kept, _ = (totals.losses / (totals.n * totals.unit)).tolist()
    gains = [-totals.increase(place, confidence).upper for place in (1, 2)]
    return pair.result(
        totals.increase(0, confidence), confidence, error_budget, model=type(model).__name__,
        n_rows=totals.n, error_all=full, error_kept=kept, gain_lower=max(gains), notes=notes,
    )  # fmt: skip


def certify_stream(context: FitContext, found: Certificate, features: FeatureSet) -> Certificate:
    """Return a certificate of drawn rows with the figures of all others, where a scan can tell."""
    encoded, metric, task = context.encoded, context.metric, context.facts.task
    drawn, y = context.user_data["drawn"], np.asarray(context.user_data["drawn"].y)
    raw = [RawModel(one.name, one.as_estimator(task)) for one in context.models]
    raw = [one for one in raw if one.estimator is not None]
    if not (raw and _is_streamed(context) and len(features) < encoded.n_features):
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # models of ours get text one-hot
        able = prepare_models(raw, context.table, encoded)
    models = {one.name: one for one in able}
    if not {found.model_all, found.model_kept} <= models.keys():
        return found  # another model could see less, and call "met" what these rows do not
    chosen = [models[name] for name in (found.model_all, found.model_kept)]
    own, order = OwnColumns.of(context.table, encoded), np.random.default_rng(context.seed)
    shuffle, train = order.permutation(len(y)), np.arange(len(y))
    all_, kept = (own.columns_of(one) for one in (range(encoded.n_features), features))
    gone = [k for k, column in enumerate(all_) if column not in kept]
    tables = ((own, all_), (own, kept), (own.with_shuffled(features, shuffle), all_))
    fitted = [fit_clone(MODELS_OF_NOTHING[task], np.zeros((len(y), 1)), y)]
    for model, (table, columns) in zip((*chosen, chosen[0]), tables, strict=True):
        own_model = of_columns(model.estimator, column_names(context.table), columns)
        fitted.append(fit_clone(own_model, table.take(train, columns), y))
    totals = Totals(metric, task, fitted, (2, 1), (3, 1), (1, 0), (2, 0))
    for table, values, rows in _rows_of(context.user_data["X"], context.user_data["y"], drawn):
        full, less = (take_columns(table, np.array(one)) for one in (all_, kept))
        others = own.take(shuffle[rows % len(y)], [all_[k] for k in gone])  # of some other row
        totals.add((full, full, less, replace_columns(full, gone, others)), values)
    increase, excess, *gains = (totals.increase(pair, found.confidence) for pair in range(4))
    none, error_all, error_kept, _ = (totals.losses / (totals.n * totals.unit)).tolist()
    note = Note("in batches", figures={"train": len(y), "rows": totals.n})
    counted = (round(error_kept * totals.n), totals.n, found.confidence)
    return replace(
        found, budget=float(context.budget.absolute(none - error_all).delta), n_rows=totals.n,
        error_none=none, error_all=error_all, error_kept=error_kept,
        error_upper=error_rate_limit(*counted) if metric.row.counts else math.inf,
        increase=increase.mean, increase_lower=increase.lower, increase_upper=increase.upper,
        excess=excess.mean, excess_upper=excess.upper, gain_lower=max(-one.upper for one in gains),
        model_all=chosen[0].name, model_kept=chosen[1].name, notes=(*found.notes, note),
        passed=None, rare_rows=metric.rare_rows(context.facts, totals.n), n_train=len(y),
    )  # fmt: skip


#: Drawn rows of a class that models which stay fitted need: some are set aside by scikit-learn's.
_FEWEST_OF_CLASS = 3


def _is_streamed(context: FitContext) -> bool:
    """Return whether sums over rows say all, and as many rows as were drawn can be scanned."""
    drawn, metric, facts = context.user_data["drawn"], context.metric, context.facts
    parts = (context.encoded.weights, context.groups, context.subgroups)
    apart = all(one is None for one in parts) and not context.in_time and facts.n_targets == 1
    is_sum = metric.method(facts.task) == MEAN and not isinstance(metric.metric, CostMatrix)
    enough = drawn.n_rows >= 2 * drawn.n_drawn == 2 * context.encoded.n_rows
    labels = context.encoded.target.labels
    if labels is not None and np.bincount(labels).min() < _FEWEST_OF_CLASS:
        return False
    return apart and is_sum and enough and can_be_scanned(context.user_data["X"])


def _rows_of(
    X: TableLike, y: TargetLike, drawn: RowSample | None
) -> Iterator[tuple[TableLike, AnyArray, IntArray]]:
    """Yield columns, targets and positions of the rows of a stream that were not drawn from it."""
    first, skipped, known = 0, np.zeros(0, dtype=np.int64), np.zeros(0)
    if drawn is not None and drawn.rows is not None:
        skipped, known = drawn.rows, np.asarray(drawn.y)
    for columns, target in batches_of(X, y):
        values, used = np.asarray(target), ~missing_targets(target)
        if drawn is None and not used.all():
            raise DataError(f"y={y!r} is missing in some rows: filter them out of X_test first.")
        ends = slice(*np.searchsorted(skipped, [first, first + len(values)]))
        own = skipped[ends] - first
        if (values[own] != known[ends]).any():
            break
        used[own] = False
        rows = np.flatnonzero(used)
        yield take(columns, rows) if len(rows) < len(used) else columns, values[rows], first + rows
        first += len(values)
    if first < 2 if drawn is None else first != drawn.n_given:
        raise DataError(
            f"a scan of X gave {first} rows that can be used, or its rows in another order than "
            "the scan before: pass more, sort the query, or write it to a table."
        )
