"""Which metrics a budget may be in: our names, scikit-learn's scorers, functions, cost matrices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from pinsker._compat import scorer_parts
from pinsker._types import FloatArray, Task
from pinsker.bounds import METRICS, Bound
from pinsker.exceptions import ParameterError
from pinsker.metrics._table import WORST

#: Metrics that theory ties to information; "auto" is the first one of the task.
OwnMetric: TypeAlias = Literal["auto", "error", "r2", "mse", "log-loss", "brier", "mae"]
#: What may stand for a metric: a name, a scorer of scikit-learn, a function, a cost matrix, or one
#: of these for the worst of several targets.
MetricLike: TypeAlias = "str | Callable[..., float] | CostMatrix | WorstTarget"

OWN_METRICS = tuple(
    dict.fromkeys(name for task in ("classification", "regression") for name in METRICS[task])
)
#: Scorers of scikit-learn that are one of our metrics under another name.
_ALIASES = {
    "accuracy": "error",
    "neg_log_loss": "log-loss",
    "neg_mean_squared_error": "mse",
    "neg_mean_absolute_error": "mae",
}
#: Metrics that only one task has: naming one of them says how the target is understood.
_TASKS: dict[str, Task] = {
    name: task for task, names in METRICS.items() for name in names if name != "log-loss"
}
#: Scorers that no budget can be in, and why.
_OF_CLUSTERS = "compares clusterings: it is no score of a classifier"
_OF_LABEL_SETS = "is for several labels per row"
_REFUSED = {
    **dict.fromkeys(
        [
            "adjusted_mutual_info_score",
            "adjusted_rand_score",
            "completeness_score",
            "fowlkes_mallows_score",
            "homogeneity_score",
            "mutual_info_score",
            "normalized_mutual_info_score",
            "rand_score",
            "v_measure_score",
        ],
        _OF_CLUSTERS,
    ),
    **{f"{name}_samples": _OF_LABEL_SETS for name in ("f1", "jaccard", "precision", "recall")},
    "neg_max_error": "is the error of a single row: no sample bounds it",
    "max_error": "is the error of a single row: no sample bounds it",
}


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


@dataclass(frozen=True)
class UnknownBound(Bound):
    """Stands in for a metric that no theorem ties to information: both directions are NaN."""

    name: str

    @property
    def theorem(self) -> str:
        """None: there is no theorem."""
        return "none"

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.name

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.full_like(nu, np.nan)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.full_like(delta, np.nan)


def check_metric(metric: Any) -> Any:
    """Return what a metric stands for: one of our names where it has one, else what was given."""
    if isinstance(metric, str) and metric.startswith(WORST):
        return WorstTarget(metric.removeprefix(WORST))
    if isinstance(metric, str):
        metric = _ALIASES.get(metric, metric)
        own = metric == "auto" or metric in OWN_METRICS or metric in METRICS["survival"]
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
    if (name := metric_name(metric)) in _REFUSED:
        raise ParameterError(
            f"metric={name!r} {_REFUSED[name]}; use another one.", parameter="metric"
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
    if isinstance(metric, str) and (metric in ("auto", "log-loss") or metric in _TASKS):
        return _TASKS.get(metric, "auto")
    parts = scorer_parts(get_scorer(metric) if isinstance(metric, str) else metric)
    module = str(getattr(metric if parts is None else parts.function, "__module__", ""))
    if not module.startswith("sklearn.metrics"):
        return "auto"
    return "regression" if module.endswith("_regression") else "classification"


def _refuse_unknown(metric: str) -> None:
    known = [*OWN_METRICS, *(name for name in get_scorer_names() if name not in _REFUSED)]
    close = get_close_matches(metric, known, n=3) or ["roc_auc", "f1", "neg_mean_absolute_error"]
    raise ParameterError(
        f"metric={metric!r} is not known: use 'auto', one of "
        f"{', '.join(map(repr, OWN_METRICS))}, or the name of a scikit-learn scorer for classes or "
        f"numbers, such as {', '.join(map(repr, close))}; for censored times 'concordance' or "
        "'integrated_brier'.",
        parameter="metric",
    )
