"""How many rows show a budget: from a first small fit, or from nothing but an assumed error."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from scipy.special import ndtri
from sklearn.base import clone

from pinsker._types import Fields, FloatArray, TableLike, TargetLike
from pinsker.bounds import paired_difference, rows_needed, smallest_budget
from pinsker.encoding import draw_rows
from pinsker.exceptions import DataError, ParameterError
from pinsker.explain import table_of
from pinsker.holdout import (
    CONFIDENCE,
    FEWEST_CERTIFIED,
    FreshRows,
    first_confidence,
    make_folds,
)
from pinsker.metrics import Metric
from pinsker.models import HoldoutModel
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
    budgets : tuple of float
        Error budgets, in `metric`.
    rows : tuple of float
        Fresh rows that `certify` needs to show each with probability `power`; infinite where no
        smaller set is likely to be within half of the budget.
    n_kept : tuple of int
        Features of the set that each is about; 0 where an error was assumed.
    increase : tuple of float
        Its estimated error increase.
    metric : str
        Metric of the budgets.
    n_rows : int
        Rows at hand; 0 if none.
    smallest_budget : float
        What these show with probability `power`; NaN if there are none.
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

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: one row a budget."""
        columns = {name: asdict(self)[name] for name in ("budgets", "rows", "n_kept", "increase")}
        return table_of({name: list(values) for name, values in columns.items()}, library)

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
        A table to plan from: for every budget the smallest set whose estimated increase is within
        half of it is found with 1000 rows at most; v and :math:`\delta` are those of that set.
    error_budget : float or sequence of float
        Budgets, in the metric.
    selector : FeatureSelector, optional
        Settings of the fit: metric, models, searches and so on.
    error : float, optional
        Without a table: the error that is assumed of all columns (the error rate, or 1 - R²). The
        smaller set errs as often, half of the time in other rows (v = `error`); of numbers the two
        errors correlate at 0.95.
    metric : {"error", "r2"}
        Of an assumed error.
    n_rows : int
        Without a table: rows at hand.
    confidence : float
        Of the certificate.
    power : float
        Probability that these rows show it.

    Returns
    -------
    RowsPlan

    Notes
    -----
    The rows are fresh ones, beside those that chose the set. Power at the number of rows that is
    printed was 78 to 84 % in six designs (``benchmarks/power.py --plan``).

    Examples
    --------
    >>> plan = plan_rows(error=0.1, n_rows=500, error_budget=[0.02, 0.05])
    >>> [round(rows, -1) for rows in plan.rows], round(plan.smallest_budget, 3)
    ([2420.0, 390.0], 0.044)
    """
    several = error_budget if isinstance(error_budget, Sequence) else [error_budget]
    budgets, known = tuple(map(float, several)), {"confidence": confidence, "power": power}
    if (X is None) == (error is None):
        raise ParameterError("plan_rows takes a table (X and y) or an assumed error=, one of them.")
    if error is not None:
        return _from_error(budgets, error, metric, n_rows, known)
    sample = draw_rows(X, y, _MOST_FITTED, 0)
    sets = [_PlannedSet.of(selector, _AIM * budget, sample.X, sample.y) for budget in budgets]
    rows = [one.rows(budget, known) for one, budget in zip(sets, budgets, strict=True)]
    smallest = min(one.smallest_budget(sample.n_rows, known) for one in sets)
    sizes, increases = tuple(one.size for one in sets), tuple(one.increase for one in sets)
    about = (sets[0].metric.name, sample.n_rows, smallest, confidence, power, sample.n_drawn)
    return RowsPlan(budgets, _at_least(rows), sizes, increases, *about)


@dataclass(frozen=True)
class _PlannedSet:
    """The set that a budget is planned with: means and variances of what a certificate limits."""

    metric: Metric
    size: int
    increase: float
    moments: tuple[tuple[float, float], ...]  # empty where no smaller set is likely

    @classmethod
    def of(
        cls, selector: FeatureSelector | None, budget: float, X: TableLike, y: TargetLike
    ) -> "_PlannedSet":
        """Find the smallest set whose estimated increase is within a budget."""
        copy = FeatureSelector(random_state=0) if selector is None else clone(selector)
        copy.set_params(error_budget=budget, confidence=0.5).fit(X, y)
        context = copy._read(X, y, None, None)
        folds = make_folds(context.encoded, copy.cv, context.seed)
        if copy._record.comparison is None or not folds:
            raise DataError("too few rows to hold any out: give more, or an assumed error.")
        size = copy.certificate_.n_kept
        if size == context.encoded.n_features:
            return cls(context.metric, size, 0.0, ())
        chosen = tuple(copy.path_.order[:size])
        fresh = FreshRows(context, folds)
        fresh.evaluator.race([[tuple(range(context.encoded.n_features))] * len(folds)])
        wide, counts = fresh.evaluator.widening, context.metric.row.counts
        gaps = fresh.differences(chosen)
        variances = [_variance(one, wide, counts=counts) for one in gaps]
        pairs = zip(gaps, variances, strict=True)
        expected = [max(one.mean(), 0.0) + _MORE * math.sqrt(v / len(one)) for one, v in pairs]
        moments = tuple(zip(map(float, expected), variances, strict=True))
        return cls(context.metric, size, float(gaps[0].mean()), moments)

    def rows(self, budget: float, known: Fields) -> float:
        """Return the rows that show a budget."""
        how = {"counts": self.metric.row.counts, **_how(known)}
        each = [rows_needed(v, budget, mean, **how) for mean, v in self.moments]
        return max(each, default=math.inf)

    def smallest_budget(self, n_rows: int, known: Fields) -> float:
        """Return the smallest budget that this many rows show."""
        how = {"counts": self.metric.row.counts, **_how(known)}
        each = [smallest_budget(v, n_rows, mean, **how) for mean, v in self.moments]
        return max(each, default=math.inf)


def _variance(gaps: FloatArray, widening: float, *, counts: bool) -> float:
    """Return the variance of a row that gives a limit its width, skewness included."""
    if counts:  # as if one row differed at least; limits of counts know the rest
        return max(widening**2 * float(gaps.var(ddof=1)), 1.0 / len(gaps))
    found = paired_difference(gaps, CONFIDENCE, widening=widening)
    return len(gaps) * ((found.upper - found.mean) / float(ndtri(CONFIDENCE))) ** 2


def _how(known: Fields) -> Fields:
    """Return the confidence of the first set that is certified, and the power."""
    return {**known, "confidence": first_confidence(known["confidence"])}


def _from_error(
    budgets: tuple[float, ...], error: float, metric: str, n_rows: int, known: Fields
) -> RowsPlan:
    """Return the plan for a set that is as good as all columns, from their error alone."""
    if not 0.0 < error <= 1.0 or metric not in ("error", "r2"):
        raise ParameterError(
            f"error={error!r} in {metric!r}: assume an error rate, or 1 - R² (metric='r2'), above "
            "0 and at most 1."
        )
    counts = metric == "error"
    variance = error if counts else 4.0 * error**2 * (1.0 - _CORRELATION**2)
    how = {"counts": counts, "widening": HoldoutModel.widening, **_how(known)}
    rows = [rows_needed(variance, budget, **how) for budget in budgets]
    smallest = smallest_budget(variance, n_rows, **how) if n_rows else math.nan
    none = (0,) * len(budgets), (0.0,) * len(budgets)
    return RowsPlan(budgets, _at_least(rows), *none, metric, n_rows, smallest, **known)


def _at_least(rows: Sequence[float]) -> tuple[float, ...]:
    """Return numbers of rows that are enough for a certificate, too."""
    return tuple(max(float(count), float(FEWEST_CERTIFIED)) for count in rows)
