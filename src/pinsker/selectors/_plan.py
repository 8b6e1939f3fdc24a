"""How many rows show a budget: from a first small fit, or from nothing but an assumed error."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from pinsker._types import Fields, FloatArray, TableLike, TargetLike
from pinsker.bounds import paired_difference, rows_needed, smallest_budget
from pinsker.encoding import draw_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import CONFIDENCE, FEWEST_CERTIFIED, FreshRows, first_confidence, make_folds
from pinsker.models import HoldoutModel
from pinsker.search import read_budget
from pinsker.selectors._feature_selector import FeatureSelector

#: Rows of the first fit at most: it tells how much losses of sets differ, and more tell it better.
_MOST_FITTED = 1000
#: The set to show is the smallest whose estimated increase is within this share of the budget: at
#: the budget itself no number of rows is enough.
_AIM = 0.5
#: Standard errors that are added to an increase which a small table shows: it is uncertain itself,
#: and the set was chosen for it.
_MORE = 0.75
#: Of an assumed error: half of the wrong predictions are others with fewer columns; of numbers the
#: errors with and without the dropped columns correlate by this much.
_CORRELATION = 0.95


@dataclass(frozen=True)
class RowsPlan:
    """Rows that show budgets, and the smallest budget that some rows can show.

    Attributes
    ----------
    budgets, rows : tuple of float
        Error budgets, and fresh rows that `certify` needs to show each with probability `power`;
        infinite where no smaller set is likely to be within half of the budget.
    n_kept, increase : tuple
        Features of the set that each is about (0: an error was assumed), and its increase.
    metric : str
        Metric of the budgets.
    n_rows, smallest_budget
        Rows at hand, and what they show with probability `power`; NaN if there are none.
    confidence, power : float
        Of the certificate, and of getting it.
    n_fitted : int
        Rows of the fit that the plan comes from; 0 where an error was assumed.
    """

    budgets: tuple[float, ...]
    rows: tuple[float, ...]
    n_kept: tuple[int, ...]
    increase: tuple[float, ...]
    metric: str
    n_rows: int
    smallest_budget: float
    confidence: float
    power: float
    n_fitted: int = 0

    def to_dict(self) -> Fields:
        """Return all figures as plain values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def __str__(self) -> str:
        from pinsker.report import plan_text  # upwards: it has all words

        return plan_text(self)


def plan_rows(
    X: TableLike = None,
    y: TargetLike = None,
    *,
    error_budget: float | Sequence[float] = (0.01, 0.02, 0.05),
    selector: FeatureSelector | None = None,
    error: float | None = None,
    metric: Literal["error", "r2"] = "error",
    n_rows: int = 0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> RowsPlan:
    r"""Tell how many fresh rows `certify` needs to show that a budget is met.

    .. math:: n \approx w^2 (z_{1-\alpha} + z_{power})^2 \, v / (b - \delta)^2

    with v the variance of the paired differences of losses, w the model's factor for
    cross-fitting, b the budget and :math:`\delta` the increase that is expected. Of error rates at
    least as many rows as the limits of counts ask for.

    Parameters
    ----------
    X, y : optional
        A table, 1000 rows of which are fitted to at most: v and :math:`\delta` are those of the
        smallest set whose estimated increase is within half of the budget.
    error_budget : float or sequence of float
        Budgets, in the metric.
    selector : FeatureSelector, optional
        Settings of the fit: metric, models, searches and so on.
    error : float, optional
        Without a table: the error that is assumed of all columns (the error rate, or 1 - R²); the
        smaller set errs as often, half of the time in other rows.
    metric : {"error", "r2"}
        Of an assumed error.
    n_rows : int
        Without a table: rows at hand.
    confidence, power : float
        Of the certificate, and of getting it.

    Returns
    -------
    RowsPlan

    Examples
    --------
    >>> plan = plan_rows(error=0.1, n_rows=500, error_budget=[0.02, 0.05])
    >>> [round(rows, -1) for rows in plan.rows], round(plan.smallest_budget, 3)
    ([2420.0, 390.0], 0.044)
    """
    budgets = [read_budget(one) for one in np.atleast_1d(np.asarray(error_budget, dtype=object))]
    read_budget(n_rows, "n_rows")
    if not budgets:
        raise ParameterError("plan_rows takes one error_budget at least.")
    if (X is None) == (error is None):
        raise ParameterError("plan_rows takes a table (X and y) or an assumed error=, one of them.")
    n_fitted = 0
    if error is not None:
        if not 0.0 < read_budget(error, "error") <= 1.0 or metric not in ("error", "r2"):
            raise ParameterError(
                f"error={error!r} in {metric!r}: assume an error rate, or 1 - R² (metric='r2'), "
                "above 0 and at most 1."
            )
        counts = metric == "error"  # a set that is as good as all columns
        variance = error if counts else 4.0 * error**2 * (1.0 - _CORRELATION**2)
        moments = ((0.0, HoldoutModel.widening**2 * variance),)
        sets = [_PlannedSet(metric, counts=counts, moments=moments)] * len(budgets)
    else:
        sample = draw_rows(X, y, _MOST_FITTED, 0)
        n_rows, n_fitted = sample.n_rows, sample.n_drawn
        sets = [_find(selector, _AIM * budget, sample.X, sample.y) for budget in budgets]
    how = {"confidence": first_confidence(confidence), "power": power}
    rows = [one.rows(budget, how) for one, budget in zip(sets, budgets, strict=True)]
    smallest = min(one.smallest_budget(n_rows, how) for one in sets) if n_rows else math.nan
    needed = tuple(max(float(count), float(FEWEST_CERTIFIED)) for count in rows)
    sizes, increases = tuple(one.size for one in sets), tuple(one.increase for one in sets)
    about = (sets[0].metric, n_rows, smallest, confidence, power, n_fitted)
    return RowsPlan(tuple(budgets), needed, sizes, increases, *about)


@dataclass(frozen=True)
class _PlannedSet:
    """What a certificate of a set limits: means and variances of differences."""

    metric: str
    size: int = 0
    increase: float = 0.0
    counts: bool = False
    moments: tuple[tuple[float, float], ...] = ()  # none: no smaller set is likely

    def rows(self, budget: float, how: Fields) -> float:
        each = [rows_needed(v, budget, mean, counts=self.counts, **how) for mean, v in self.moments]
        return max(each, default=math.inf)

    def smallest_budget(self, n: int, how: Fields) -> float:
        each = [smallest_budget(v, n, mean, counts=self.counts, **how) for mean, v in self.moments]
        return max(each, default=math.inf)


def _find(
    selector: FeatureSelector | None, budget: float, X: TableLike, y: TargetLike
) -> _PlannedSet:
    copy = FeatureSelector(random_state=0) if selector is None else clone(selector)
    copy.set_params(error_budget=budget, confidence=0.5).fit(X, y)
    context, size = copy._read(X, y, None, None), copy.certificate_.n_kept
    folds = make_folds(context.encoded, copy.cv, context.seed)
    if not copy.certificate_.is_tested or not folds:
        raise DataError("too few rows to hold any out: give more, or an assumed error.")
    metric, everything = context.metric, tuple(range(context.encoded.n_features))
    if size == len(everything):
        return _PlannedSet(metric.name, size)
    fresh = FreshRows(context, folds)
    fresh.evaluator.race([[everything] * len(folds)])
    gaps = fresh.differences(tuple(copy.path_.order[:size]))
    moments = [_moments(one, fresh.evaluator.widening, counts=metric.row.counts) for one in gaps]
    about = (float(gaps[0].mean()), metric.row.counts, tuple(moments))
    return _PlannedSet(metric.name, size, *about)


def _moments(gaps: FloatArray, widening: float, *, counts: bool) -> tuple[float, float]:
    """Return an increase with some more, and the variance of a row that gives a limit its width."""
    limit = paired_difference(gaps, CONFIDENCE, widening=widening)  # skewness widens it
    variance = len(gaps) * ((limit.upper - limit.mean) / float(ndtri(CONFIDENCE))) ** 2
    if counts:  # as if one row differed at least; limits of counts know the rest
        variance = max(widening**2 * float(gaps.var(ddof=1)), 1.0 / len(gaps))
    return max(limit.mean, 0.0) + _MORE * math.sqrt(variance / len(gaps)), variance
