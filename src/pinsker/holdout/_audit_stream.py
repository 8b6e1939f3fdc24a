"""An audit of a table that does not fit in memory: totals over batches, at the price of a scan."""

from dataclasses import dataclass, field

import numpy as np

from pinsker._types import Estimator, FloatArray, MetricChoice, Selector, TableLike, TargetLike
from pinsker.bounds import Difference, limits_of_counts, limits_of_moments
from pinsker.encoding import batches_of
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout._audit import AuditResult, missing_values
from pinsker.holdout._pair import ModelPair
from pinsker.metrics import Metric
from pinsker.models import able_to_fit, fit_clone


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
            return limits_of_counts(self.n, *self.signs.tolist(), confidence)
        powers = self.powers / (self.n * unit ** np.arange(1, 4))
        return limits_of_moments(self.n, *powers.tolist(), confidence)


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
    able = able_to_fit(model, type(model).__name__, *train)
    tables = (train[0], selector.transform(train[0]))
    pair = ModelPair.of(selector, *(fit_clone(able, one, train[1]) for one in tables), metric)
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
    certificate = selector.certificate_
    own = certificate.budget if pair.metric.name == certificate.metric else float("nan")
    errors = totals.losses / (totals.n * unit)
    return AuditResult(
        model=type(model).__name__,
        metric=pair.metric.name,
        budget=own if error_budget is None else float(error_budget),
        confidence=confidence,
        n_rows=totals.n,
        n_kept=int(selector.get_support().sum()),
        n_features=int(selector.n_features_in_),
        error_all=float(errors[0]),
        error_kept=float(errors[1]),
        increase=found.mean,
        increase_lower=found.lower,
        increase_upper=found.upper,
    )
