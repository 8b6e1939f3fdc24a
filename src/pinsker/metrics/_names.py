"""Which metrics a budget may be in: our names, scikit-learn's scorers, functions, cost matrices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from pinsker._compat import scorer_parts
from pinsker._types import FloatArray
from pinsker.exceptions import ParameterError
from pinsker.metrics._table import ALIASES, METRICS, WORST, metric_row

#: What may stand for a metric: a name, a scorer of scikit-learn, a function, a cost matrix, or one
#: of these for the worst of several targets.
MetricLike: TypeAlias = "str | Callable[..., float] | CostMatrix | WorstTarget"


@dataclass(frozen=True)
class CostMatrix:
    """What each mistake costs: the metric is the mean cost of a row.

    Rows are the true classes, columns the predicted ones, both sorted as ``numpy.unique`` sorts
    them (the order of ``classes_`` in scikit-learn). Predicted is the class of least expected cost
    under the model's probabilities.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        In any unit of at least 0; an error budget is in that unit per row. A zero diagonal is
        usual.

    Examples
    --------
    >>> CostMatrix([[0, 1], [20, 0]]).costs  # missing the second class costs 20
    ((0.0, 1.0), (20.0, 0.0))
    """

    costs: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        try:
            costs = np.asarray(self.costs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"CostMatrix needs numbers ({error}).", parameter="metric"
            ) from None
        square = costs.ndim == 2 and costs.shape[0] == costs.shape[1] >= 2
        if not square or not np.isfinite(costs).all() or (costs < 0).any():
            raise ParameterError(
                "CostMatrix needs a square table of costs of at least 0, one row and one column "
                f"per class, found {self.costs!r}.",
                parameter="metric",
            )
        object.__setattr__(self, "costs", tuple(tuple(map(float, row)) for row in costs))

    @property
    def table(self) -> FloatArray:
        """The costs as an array of shape (n_classes, n_classes)."""
        return np.asarray(self.costs, dtype=np.float64)

    @property
    def steps(self) -> FloatArray:
        """What two predictions of one row can differ by in cost, beside nothing.

        Examples
        --------
        >>> CostMatrix([[0, 1], [20, 0]]).steps.tolist()
        [-20.0, -1.0, 1.0, 20.0]
        """
        costs = self.table
        values = np.unique(costs[:, :, None] - costs[:, None, :])
        return np.asarray(values[values != 0])


@dataclass(frozen=True)
class WorstTarget:
    """A metric of the worst of several targets, instead of their mean.

    A budget in it must be met in every target: of the error increases the largest counts. Every
    target's upper confidence bound must be within the budget, which needs no correction for
    several targets (a union-intersection test). Held-out rows alone decide. Its name in
    certificates and on the command line is ``"worst "`` and that of the metric.

    Parameters
    ----------
    metric : str, scorer, callable or CostMatrix
        The metric of one target, "auto" excepted.

    Examples
    --------
    >>> WorstTarget("r2")
    WorstTarget(metric='r2')
    >>> check_metric("worst roc_auc")
    WorstTarget(metric='roc_auc')
    """

    metric: Any

    def __post_init__(self) -> None:
        inner = check_metric(self.metric)
        if isinstance(inner, WorstTarget) or (isinstance(inner, str) and inner == "auto"):
            raise ParameterError(
                f"WorstTarget({self.metric!r}) needs a metric of one target, such as 'r2', "
                "'error' or 'roc_auc'.",
                parameter="metric",
            )
        object.__setattr__(self, "metric", inner)


def check_metric(metric: Any) -> Any:
    """Return what a metric stands for: one of our names where it has one, else what was given."""
    if isinstance(metric, str) and metric.startswith(WORST):
        return WorstTarget(metric.removeprefix(WORST))
    if isinstance(metric, str):
        metric = ALIASES.get(metric, metric)
        own = metric == "auto" or metric_row(metric).losses
        if not own and metric not in get_scorer_names():
            _refuse_unknown(metric)
    elif isinstance(metric, CostMatrix | WorstTarget):
        return metric
    elif not callable(metric):
        raise ParameterError(
            f"metric={metric!r} is no metric: use a name such as 'roc_auc', a scorer of "
            "make_scorer, a function (y_true, y_score, sample_weight) -> float, a CostMatrix or a "
            "WorstTarget.",
            parameter="metric",
        )
    if reason := metric_row(metric_name(metric)).refused:
        raise ParameterError(
            f"metric={metric_name(metric)!r} {reason}; use another one.", parameter="metric"
        )
    return metric


def metric_name(metric: Any) -> str:
    """Return the name of a metric in certificates: that of the function of a scorer."""
    if isinstance(metric, str):
        return metric
    if isinstance(metric, CostMatrix):
        return "cost"
    if isinstance(metric, WorstTarget):
        return WORST + metric_name(metric.metric)
    parts = scorer_parts(metric)
    function = metric if parts is None else parts.function
    name = str(getattr(function, "__name__", type(function).__name__))
    return f"neg_{name}" if parts is not None and parts.sign < 0 else name


def task_of(metric: Any) -> Any:
    """Return the task that a metric implies: "auto" where both tasks may have it."""
    metric = check_metric(metric)
    if isinstance(metric, WorstTarget):
        return task_of(metric.metric)
    if isinstance(metric, CostMatrix):
        return "classification"
    if isinstance(metric, str):
        if metric == "auto" or (tasks := metric_row(metric).tasks):
            return "auto" if metric == "auto" or len(tasks) > 1 else tasks[0]
        metric = get_scorer(metric)
    parts = scorer_parts(metric)
    module = str(getattr(metric if parts is None else parts.function, "__module__", ""))
    if not module.startswith("sklearn.metrics"):
        return "auto"
    return "regression" if module.endswith("_regression") else "classification"


def _refuse_unknown(metric: str) -> None:
    own = dict.fromkeys((*METRICS["classification"], *METRICS["regression"]))
    scorers = [name for name in get_scorer_names() if not metric_row(name).refused]
    close = get_close_matches(metric, [*own, *ALIASES, *scorers], n=3)
    raise ParameterError(
        f"metric={metric!r} is not known: use 'auto', one of {', '.join(map(repr, own))}, or the "
        "name of a scikit-learn scorer for classes or numbers, such as "
        f"{', '.join(map(repr, close or ['roc_auc', 'f1', 'neg_mean_absolute_error']))}; for "
        "censored times 'concordance' or 'integrated_brier'.",
        parameter="metric",
    )
