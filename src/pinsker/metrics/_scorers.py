"""Metrics by name, scikit-learn's scorers and functions of a user, as one value per row.

What is known of a score function decides how its standard error is found: by its influence, that of
a confusion matrix, or without blocks of rows in turn.
"""

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names

from pinsker._compat import ScorerParts, scorer_parts
from pinsker._types import AnyArray, Fields, FloatArray, IntArray, MetricChoice, Task
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics._influence import (
    ClassRows,
    Column,
    Influence,
    block_jackknife,
    gini,
    matrix_slopes,
)
from pinsker.metrics._table import (
    ALIASES,
    BLOCKS_LEFT_OUT,
    DELTA,
    METRICS,
    ROWS_LEFT_OUT,
    WORST,
    MetricRow,
    best_score,
    function_row,
    metric_row,
)

_refused = partial(ParameterError, parameter="metric")
_undefined = partial(DataError, parameter="metric")


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
            raise _refused(f"CostMatrix needs numbers ({error}).") from None
        square = costs.ndim == 2 and costs.shape[0] == costs.shape[1] >= 2
        if not square or not np.isfinite(costs).all() or (costs < 0).any():
            raise _refused(
                "CostMatrix needs a square table of costs of at least 0, one row and one column "
                f"per class, found {self.costs!r}."
            )
        object.__setattr__(self, "costs", tuple(tuple(map(float, row)) for row in costs))

    @property
    def table(self) -> FloatArray:
        """The costs as an array of shape (n_classes, n_classes)."""
        return np.asarray(self.costs, dtype=np.float64)

    @property
    def steps(self) -> FloatArray:
        """What two predictions of one row can differ by in cost, beside nothing."""
        costs = self.table
        values = np.unique(costs[:, :, None] - costs[:, None, :])
        return np.asarray(values[values != 0])


@dataclass(frozen=True)
class WorstTarget:
    """A metric of the worst of several targets, instead of their mean.

    A budget in it must be met in every target, by held-out rows alone. Its name in certificates
    and on the command line is ``"worst "`` and that of the metric.

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

    metric: MetricChoice

    def __post_init__(self) -> None:
        inner = check_metric(self.metric)
        if isinstance(inner, WorstTarget) or (isinstance(inner, str) and inner == "auto"):
            raise _refused(
                f"WorstTarget({self.metric!r}) needs a metric of one target, such as 'r2', "
                "'error' or 'roc_auc'."
            )
        object.__setattr__(self, "metric", inner)


#: A score that people know by name, and scikit-learn does not.
_GINI = metrics.make_scorer(gini, response_method=("decision_function", "predict_proba"))


#: What may stand for a metric: a name, a scorer of scikit-learn, a function, a cost matrix, or one
#: of these for the worst of several targets.
MetricLike: TypeAlias = str | Callable[..., float] | CostMatrix | WorstTarget


def check_metric(metric: MetricChoice) -> MetricChoice:
    """Return what a metric stands for: one of our names where it has one, else what was given."""
    if isinstance(metric, str) and metric.startswith(WORST):
        return WorstTarget(metric.removeprefix(WORST))
    if isinstance(metric, str):
        metric = ALIASES.get(metric, metric)
        if metric == "gini":
            return _GINI
        own = metric == "auto" or metric_row(metric).losses
        if not own and metric not in get_scorer_names():
            known = dict.fromkeys((*METRICS["classification"], *METRICS["regression"]))
            scorers = [name for name in get_scorer_names() if not metric_row(name).refused]
            close = get_close_matches(metric, [*known, *ALIASES, "gini", *scorers], n=3)
            near = close or ["roc_auc", "f1", "neg_mean_absolute_error"]
            raise _refused(
                f"metric={metric!r} is not known: use 'auto', one of "
                f"{', '.join(map(repr, known))}, or the name of a scikit-learn scorer for classes "
                f"or numbers, such as {', '.join(map(repr, near))}; for censored times "
                "'concordance' or 'integrated_brier'."
            )
    elif isinstance(metric, CostMatrix | WorstTarget):
        return metric
    elif not callable(metric):
        raise _refused(
            f"metric={metric!r} is no metric: use a name such as 'roc_auc', a scorer of "
            "make_scorer, a function (y_true, y_score, sample_weight) -> float, a CostMatrix or a "
            "WorstTarget."
        )
    if reason := metric_row(metric_name(metric)).refused:
        raise _refused(f"metric={metric_name(metric)!r} {reason}; use another one.")
    return metric


def metric_name(metric: MetricChoice) -> str:
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


def task_of(metric: MetricChoice) -> Any:
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
    function = metric if parts is None else parts.function
    module = function.__module__ if isinstance(function, FunctionType) else ""
    if not module.startswith("sklearn.metrics"):
        return "auto"
    return "regression" if module.endswith("_regression") else "classification"


_PREDICT = ("predict",)


class ScoreFunction:
    """A score function with its arguments, and whether larger is better."""

    def __init__(self, metric: MetricChoice) -> None:
        parts = scorer_parts(metrics.get_scorer(metric) if isinstance(metric, str) else metric)
        self.name = metric_name(metric)
        # A plain function gets scores where a model has them.
        plain = ScorerParts(metric, 1.0, {}, ("predict_proba",))
        self.function, self.sign, self.kwargs, self.response = parts or plain
        parameters = inspect.signature(self.function).parameters
        if parts is None and next(iter(parameters), "") == "estimator":
            raise _refused(
                f"metric={metric!r} takes an estimator: use a function of (y_true, y_score, "
                "sample_weight), or make_scorer."
            )
        self.takes_weights = "sample_weight" in parameters
        self.takes_positive = "pos_label" in parameters

    @property
    def row(self) -> MetricRow:
        """What is known of the function; looked up, because processes exchange this object."""
        return function_row(self.function)

    @property
    def needs(self) -> str:
        """What the function needs of a model of classes: predictions, scores or probabilities."""
        if self.response == _PREDICT:
            return "predictions"
        return "scores" if "decision_function" in self.response else "probabilities"

    def method(self, task: Task) -> str:
        """Return how the standard error is found for a target of classes or of numbers."""
        if task == "classification" and self.response == _PREDICT:
            return DELTA if self.takes_weights else ROWS_LEFT_OUT
        known = self.row.influence is not None and task in self.row.tasks
        return self.row.method if known and self.row.covers(self.kwargs) else BLOCKS_LEFT_OUT

    def of_classes(self, rows: ClassRows) -> Influence:
        """Return the loss on rows of a class target, and how each row moves it."""
        if self.response == _PREDICT:
            return self._loss(self._of_predicted(rows))
        if self.row.influence is None or self.method("classification") == BLOCKS_LEFT_OUT:
            at, true = rows.positive(self.kwargs), rows.classes[rows.labels]
            if len(rows.classes) > 2:
                given = np.exp(rows.log_probabilities)
            elif self.needs == "scores":  # those of the second class, as probabilities are
                given = rows.scores[:, at] - rows.scores[:, 1 - at]
            else:
                given = np.exp(rows.log_probabilities[:, at])
            return self._loss(self._left_out(true, given, rows.weights, rows.clusters))
        counts = np.bincount(rows.labels, rows.weights, len(rows.classes))
        if self.row.needs_every_class and (counts == 0).any():  # a score that ranks classes
            absent = rows.classes[int(np.argmin(counts))]
            raise _undefined(
                f"metric {self.name!r} needs held-out rows of every class, but there are none of "
                f"class {absent!s}: use more rows, or another metric."
            )
        return self._loss(self.row.influence(rows, self.kwargs))

    def of_numbers(
        self,
        predictions: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        clusters: IntArray | None = None,
    ) -> Influence:
        """Return the loss on rows of numeric targets, and how each row moves it."""
        wrong = self.row.wrong_values and self.row.wrong_values(values, predictions)
        if wrong:
            raise _undefined(f"metric {self.name!r} {wrong}")
        if self.row.influence is None or self.method("regression") == BLOCKS_LEFT_OUT:
            single = values.shape[1] == 1
            given = (values[:, 0], predictions[:, 0]) if single else (values, predictions)
            return self._loss(self._left_out(*given, weights, clusters))
        parts = [
            self.row.influence(Column(*pair, weights, self.kwargs))
            for pair in zip(values.T, predictions.T, strict=True)
        ]
        score = float(np.mean([value for value, _ in parts]))
        return self._loss((score, np.mean([influence for _, influence in parts], axis=0)))

    def _loss(self, scored: Influence) -> Influence:
        """Turn a score into a loss: the best score minus it, or the loss that a scorer negates."""
        value, influence = scored
        if not np.isfinite(value):
            raise _undefined(
                f"metric {self.name!r} is {value} on the held-out rows: it is not defined for "
                "them; use another metric, or more rows."
            )
        if self.sign < 0:
            return value, influence
        return (best_score(self.name) or 0.0) - value, -influence

    def _of_predicted(self, rows: ClassRows) -> Influence:
        """Score predicted classes: all that counts is the confusion matrix."""
        codes, n_classes = rows.scores.argmax(axis=1), len(rows.classes)
        cells = rows.labels * n_classes + codes
        counts = np.bincount(cells, rows.weights, n_classes**2)
        matrix: FloatArray = counts.astype(np.float64).reshape(n_classes, n_classes)
        if not self.takes_weights:
            # One row of each cell of the confusion matrix is left out: all of a cell are alike.
            self._refuse_weights(rows.weights)
            true, predicted = rows.classes[rows.labels], rows.classes[codes]
            kwargs = self._kwargs_for(rows)
            _, first, cell = np.unique(cells, return_index=True, return_inverse=True)
            whole = self._call(true, predicted, None, kwargs)
            sides = [(np.delete(true, row), np.delete(predicted, row)) for row in first]
            left_out = np.array([self._call(*pair, None, kwargs) for pair in sides])
            return whole, (len(true) - 1) * (whole - left_out)[cell]
        present = (matrix.sum(axis=0) + matrix.sum(axis=1)) > 0
        score = self.row.matrix and self.row.matrix(
            self.kwargs, rows.positive(self.kwargs), present
        )
        if not score:
            occupied = np.nonzero(matrix)
            true, predicted = (rows.classes[side] for side in occupied)
            kwargs = self._kwargs_for(rows)

            def score(matrices: FloatArray) -> FloatArray:
                stack = matrices.reshape(-1, n_classes, n_classes)
                return np.array([self._call(true, predicted, m[occupied], kwargs) for m in stack])

        slopes = matrix_slopes(score, matrix)[rows.labels, codes]
        return float(np.squeeze(score(matrix))), slopes * float(rows.weights.sum())

    def _left_out(
        self, true: AnyArray, given: AnyArray, weights: FloatArray, clusters: IntArray | None
    ) -> Influence:
        if not self.takes_weights:
            self._refuse_weights(weights)
        equal = np.ptp(weights) == 0

        def score(rows: IntArray) -> float:
            own = None if equal else weights[rows]
            return self._call(true[rows], given[rows], own, self.kwargs)

        if (given == given[:1]).all() and not np.isfinite(score(np.arange(len(true)))):
            return 0.0, np.zeros(len(true))  # a correlation, say: no features, no skill
        return block_jackknife(score, weights, clusters)

    def _refuse_weights(self, weights: FloatArray) -> None:
        if np.ptp(weights) > 0:
            raise _refused(
                f"metric {self.name!r} takes no sample_weight: give it one, or no weights."
            )

    def _call(
        self, true: AnyArray, given: AnyArray, weights: FloatArray | None, kwargs: Fields
    ) -> float:
        weighted = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings():
            # A class that is never predicted has no precision: 0, as scikit-learn says.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            warnings.filterwarnings("ignore", message="y_pred contains classes")
            try:
                return float(self.function(true, given, **weighted, **kwargs))
            except Exception as error:
                raise _refused(
                    f"metric {self.name!r} failed on {len(true)} held-out rows: {error}"
                ) from error

    def _kwargs_for(self, rows: ClassRows) -> Fields:
        """Return the arguments; of two classes the second is the positive one."""
        binary = len(rows.classes) == 2 and self.kwargs.get("average", "binary") == "binary"
        named = {"pos_label": rows.classes[1]} if binary and self.takes_positive else {}
        return {**named, **self.kwargs}
