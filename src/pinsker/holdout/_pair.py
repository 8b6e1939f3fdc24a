"""Two fitted models, of all columns and of those kept: their losses on new rows, row by row."""

from dataclasses import dataclass

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
from pinsker.encoding import is_frame, read_array
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout._audit import Fit, losses_of_fits, missing_values, own_metric, response_of
from pinsker.metrics import MEAN, Metric
from pinsker.models import outputs, predicted_classes


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
        return np.abs(found[0] - found[1]).sum(axis=1)
