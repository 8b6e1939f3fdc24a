"""Two fitted models, of all columns and of those kept: their losses on new rows, or in batches."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import check_columns, classes_of
from pinsker._types import (
    AnyArray,
    Estimator,
    FloatArray,
    MetricChoice,
    Selector,
    TableLike,
    TargetLike,
    Task,
)
from pinsker.bounds import Difference, limits_of_counts, limits_of_moments
from pinsker.encoding import batches_of, is_frame, read_array
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout._audit import (
    AuditResult,
    Fit,
    losses_of_fits,
    missing_values,
    own_metric,
    response_of,
)
from pinsker.metrics import MEAN, Metric
from pinsker.models import able_to_fit, fit_clone, outputs, predicted_classes


@dataclass(frozen=True, eq=False)
class ModelPair:
    """A fitted selector, and fitted models of all columns and of those that it keeps."""

    selector: Selector
    model_all: Estimator
    model_kept: Estimator
    metric: Metric

    @classmethod
    def of(
        cls,
        selector: Selector,
        model_all: Estimator,
        model_kept: Estimator,
        metric: MetricChoice = None,
    ) -> "ModelPair":
        """Check that both models are fitted, and that the metric is a mean over rows."""
        check_is_fitted(selector)
        for name, model in (("model_all", model_all), ("model_kept", model_kept)):
            try:
                check_is_fitted(model)
            except TypeError as error:
                raise ParameterError(f"{name} is no model: {error}", parameter=name) from error
        chosen = Metric(own_metric(selector) if metric is None else metric)
        if chosen.method(selector.task_) != MEAN or selector.facts_.n_targets > 1:
            raise ParameterError(
                f"metric {chosen.name!r} has no loss of each row of one target: use 'error', "
                "'brier', 'log-loss', 'r2', 'mse' or 'mae'.",
                parameter="metric",
            )
        return cls(selector, model_all, model_kept, chosen)

    @property
    def task(self) -> Task:
        """Task of the selector."""
        task: Task = self.selector.task_
        return task

    @property
    def largest(self) -> float:
        """The largest loss of a row for any target: infinite where there is none."""
        row = self.metric.row
        return row.largest_loss_of(self.selector.facts_) if row.is_bounded else float("inf")

    def result(
        self, found: Difference, confidence: float, error_budget: float | None, **about: Any
    ) -> AuditResult:
        """Return an increase as the result of an audit."""
        certificate = self.selector.certificate_
        own = certificate.budget if self.metric.name == certificate.metric else float("nan")
        return AuditResult(
            metric=self.metric.name, budget=own if error_budget is None else float(error_budget),
            confidence=confidence, n_kept=int(self.selector.get_support().sum()),
            n_features=int(self.selector.n_features_in_), increase=found.mean,
            increase_lower=found.lower, increase_upper=found.upper, **about,
        )  # fmt: skip

    def tables(self, X: TableLike) -> tuple[TableLike, TableLike]:
        """Return new rows with all columns and with those kept."""
        if is_frame(X):
            check_columns(self.selector, X)
        return X, self.selector.transform(X)

    def losses(self, X: TableLike, y: TargetLike) -> tuple[FloatArray, FloatArray]:
        """Return the loss of every row with all columns and with those kept."""
        values = read_array("y", y)
        values = values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values
        if n_missing := int(missing_values(values).sum()):
            raise DataError(f"y is missing in {n_missing} of {len(values)} rows: leave them out.")
        # R² is in units of the variance of the fit: batches have variances of their own.
        is_r2 = self.metric.name == "r2"
        metric, unit = (Metric("mse"), self.selector.facts_.variance) if is_r2 else (self.metric, 1)
        found = []
        for model, part in zip((self.model_all, self.model_kept), self.tables(X), strict=True):
            fit = Fit(model, part, np.arange(len(values)), part)
            classes = classes_of(model, np.unique(values))
            losses = losses_of_fits(metric, self.task, [fit], values, classes, None, None)
            found.append(losses / unit)
        return found[0], found[1]

    def disagreement(self, X: TableLike) -> FloatArray:
        """Return how far the predictions differ: 0 where losses cannot, for any target."""
        models = zip((self.model_all, self.model_kept), self.tables(X), strict=True)
        if self.task == "regression":
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
    """Fit a model to all columns of training rows, and to those kept."""
    able = able_to_fit(model, type(model).__name__, X, y)
    return fit_clone(able, X, y), fit_clone(able, selector.transform(X), y)


@dataclass
class Totals:
    """Sums over rows of two losses, of powers of their difference, and of the target."""

    n: int = 0
    losses: FloatArray = field(default_factory=lambda: np.zeros(2))
    powers: FloatArray = field(default_factory=lambda: np.zeros(3))
    target: FloatArray = field(default_factory=lambda: np.zeros(2))
    signs: FloatArray = field(default_factory=lambda: np.zeros(2))  # rows that are worse, better

    def add(self, full: FloatArray, kept: FloatArray, y: TargetLike) -> None:
        """Add the losses of a batch."""
        gaps = kept - full
        self.n += len(gaps)
        self.losses += [full.sum(), kept.sum()]
        self.powers += [gaps.sum(), (gaps**2).sum(), (gaps**3).sum()]
        self.signs += [(gaps > 0).sum(), (gaps < 0).sum()]
        if y.dtype.kind in "iuf":
            self.target += [y.sum(), (y.astype(np.float64) ** 2).sum()]

    def increase(self, metric: Metric, unit: float, confidence: float) -> Difference:
        """Return the mean difference in units of the metric, with its limits."""
        if metric.row.counts:
            worse, better = self.signs.tolist()
            return limits_of_counts(self.n, worse, better, confidence)
        mean, square, cube = (self.powers / (self.n * unit ** np.arange(1, 4))).tolist()
        return limits_of_moments(self.n, mean, square, cube, confidence)


def audit_stream(
    selector: Selector,
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    train: tuple[TableLike, TargetLike],
    *,
    metric: MetricChoice = None,
    error_budget: float | None = None,
    confidence: float = 0.95,
) -> AuditResult:
    """Fit a model to training rows twice, and compare both on every row of a stream."""
    if train[0] is None:
        raise ParameterError(
            f"X_test is a {type(X).__name__}, which is read in batches: pass X_train and y_train, "
            "rows in memory that the model is fitted to."
        )
    pair = ModelPair.of(selector, *fit_both(selector, model, *train), metric)
    is_r2 = pair.metric.name == "r2"
    summed = ModelPair(selector, pair.model_all, pair.model_kept, Metric("mse")) if is_r2 else pair
    totals = Totals()
    for columns, target in batches_of(X, y):
        values = np.asarray(target)
        known = np.flatnonzero(~missing_values(values))
        if len(known) < len(values):
            raise DataError(f"y={y!r} is missing in some rows: filter them out of X_test first.")
        totals.add(*summed.losses(columns, values), values)
    if totals.n < 2:
        raise DataError(f"X_test is a {type(X).__name__} of {totals.n} rows: pass more.")
    mean, square = (totals.target / totals.n).tolist()
    unit = square - mean**2 if is_r2 else 1.0
    found = totals.increase(pair.metric, unit, confidence)
    full, kept = (totals.losses / (totals.n * unit)).tolist()
    about = {"model": type(model).__name__, "n_rows": totals.n}
    return pair.result(found, confidence, error_budget, error_all=full, error_kept=kept, **about)
