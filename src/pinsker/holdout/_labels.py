"""Labels saved: rows on which two models predict the same need none to compare them."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from pinsker._types import (
    AnyArray,
    Estimator,
    Fields,
    FloatArray,
    IntArray,
    MetricChoice,
    RandomState,
    Selector,
    TableLike,
    TargetLike,
)
from pinsker.bounds import paired_difference
from pinsker.encoding import missing_targets, profile_of, read_array, take
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout._audit import AuditResult
from pinsker.holdout._pair import ModelPair, fit_both, notes_of_training
from pinsker.holdout._rows import compare_with_fit


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """Which rows to label, and what follows from their labels.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rows that need a label, ascending.
    times : ndarray of int
        How often each was drawn: once, unless the rows are a weighted sample.
    chances : ndarray of float or None
        Chance of every row to be a draw of the sample; None where `rows` are all that matter.
    n_rows : int
        All new rows.
    """

    pair: ModelPair
    rows: IntArray
    times: IntArray
    chances: FloatArray | None
    n_rows: int

    @property
    def n_saved(self) -> int:
        """Labels that are not needed."""
        return self.n_rows - len(self.rows)

    def audit(self, X: TableLike, y: TargetLike, *, confidence: float = 0.95) -> AuditResult:
        """Compare the models on all new rows, by the labels of `rows` or of all, some missing."""
        labels = read_array("y", y)
        labels = labels[self.rows] if len(labels) == self.n_rows else labels
        if len(labels) != len(self.rows):
            raise DataError(
                f"y has {len(labels)} labels: give {self.n_rows}, or those of the {len(self.rows)} "
                "rows to label."
            )
        missing = missing_targets(labels)
        if missing.any():
            raise DataError(
                f"{int(missing.sum())} of {len(labels)} rows that need a label have none, the "
                f"first is row {int(self.rows[missing][0])}: label them, rows_to_label names them."
            )
        gaps = np.zeros(0)
        if len(self.rows):
            # Gaps among all labels have forced a type on those that are there.
            labels = np.asarray(labels.tolist()) if labels.dtype == object else labels
            full, kept = self.pair.losses(take(X, self.rows), labels)
            gaps = kept - full
        if self.chances is None:
            everywhere = np.zeros(self.n_rows)
            everywhere[self.rows] = gaps
            found = self.pair.metric.increase(everywhere, np.zeros(self.n_rows), confidence)
        else:
            # Each draw estimates the mean over all rows (Hansen and Hurwitz 1943); the mean over
            # these rows varies around that of the distribution, too.
            weights = 1.0 / (self.n_rows * self.chances[self.rows])
            own = paired_difference(np.repeat(gaps * weights, self.times), confidence)
            spread = float(np.repeat(gaps**2 * weights, self.times).mean()) - own.mean**2
            more = float(ndtri(confidence)) ** 2 * max(spread, 0.0) / self.n_rows
            sides = (own.mean - own.lower, own.upper - own.mean)
            below, above = (math.hypot(end, math.sqrt(more)) for end in sides)
            found = replace(own, lower=own.mean - below, upper=own.mean + above)
        name = type(self.pair.model_all).__name__
        about: Fields = {"n_rows": self.n_rows, "n_labels": len(self.rows), "model": name}
        selector, errors = self.pair.selector, {"error_all": math.nan, "error_kept": math.nan}
        fresh = profile_of(X, None, like=selector._record.profile)
        about["notes"] = compare_with_fit(selector, *fresh)
        return self.pair.result(found, confidence, None, **errors, **about)


def rows_to_label(
    selector: Selector,
    model_all: Estimator,
    model_kept: Estimator,
    X_new: TableLike,
    *,
    n: int | None = None,
    metric: MetricChoice = None,
    random_state: RandomState = 0,
) -> LabelPlan:
    """Return the new rows whose labels tell what the choice of columns costs.

    Where both models predict the same class, the loss is the same for any label.

    Parameters
    ----------
    selector : fitted selector
        Whose choice is looked at.
    model_all, model_kept : fitted models
        Of all columns, and of those kept.
    X_new : table
        New rows, with the columns of the fit; no labels.
    n : int, optional
        How many draws, the likelier the more predictions differ. By default all rows that can
        differ, which needs the metric "error".
    metric : str, optional
        By default that of the selector's budget.
    random_state : int, generator or None, default=0
        Of the draws.

    Returns
    -------
    LabelPlan
        With `rows`, `n_saved` and ``audit(X_new, y)``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pinsker import FeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2300, 3))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=2300) > 0
    >>> selector = FeatureSelector(0.05, models=["linear"], random_state=0).fit(X[:300], y[:300])
    >>> both = [LogisticRegression().fit(table, y[:300])
    ...         for table in (X[:300], selector.transform(X[:300]))]
    >>> rows_to_label(selector, *both, X[300:]).n_saved > 1900
    True
    """
    pair = ModelPair.of(selector, model_all, model_kept, metric)
    apart = pair.disagreement(X_new)
    if n is None:
        if not pair.metric.row.counts:
            raise ParameterError(
                f"metric {pair.metric.name!r} differs in nearly every row: say how many labels you "
                "can afford <with n=, or use metric='error' for classes|with --n>.",
                parameter="n",
            )
        rows = np.flatnonzero(apart)
        return LabelPlan(pair, rows, np.ones(len(rows), dtype=np.int64), None, len(apart))
    if n < 2 or not apart.any():
        reason = "the models predict the same in all rows" if n > 1 else f"n={n!r} is too few"
        raise ParameterError(f"rows_to_label: {reason}: there is nothing to draw.", parameter="n")
    chances = apart / apart.sum()
    drawn = np.random.default_rng(random_state).choice(len(apart), n, p=chances)
    rows, times = np.unique(drawn, return_counts=True)
    return LabelPlan(pair, rows, times, chances, len(apart))


def audit_partial(
    selector: Selector, model: Estimator, X_test: TableLike, y_partial: AnyArray,
    train: tuple[TableLike, TargetLike], *, metric: MetricChoice, error_budget: float | None,
    confidence: float,
) -> AuditResult:  # fmt: skip
    """Audit a model where some test rows have no label."""
    if train[0] is None:
        raise ParameterError(
            f"{int(missing_targets(y_partial).sum())} test rows have no label: leave them out, or "
            "pass X_train and y_train, so that labels are needed only where models differ."
        )
    both, notes = fit_both(selector, model, *train), notes_of_training(selector, *train)
    plan = rows_to_label(selector, *both, X_test, metric=metric)
    found = plan.audit(X_test, y_partial, confidence=confidence)
    about: Fields = {"model": type(model).__name__, "budget": plan.pair.budget(error_budget)}
    return replace(found, notes=found.notes + notes, **about)
