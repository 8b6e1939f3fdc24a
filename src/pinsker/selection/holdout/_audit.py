"""An audit: what the user's own model loses by the choice of features."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from pinsker._types import FloatArray, Task, plain
from pinsker.bounds import METRIC_NAMES, METRICS
from pinsker.exceptions import DataError, ParameterError
from pinsker.information import able_to_fit, log_softmax, one_hot
from pinsker.selection.holdout._metrics import Metric
from pinsker.selection.search import ErrorBudget, task_of


@dataclass(frozen=True)
class AuditResult:
    """The error of one model with all and with the kept features.

    Attributes
    ----------
    model : str
        Class of the model.
    metric : str
        Metric of the errors: that of the selector's budget, unless another one was asked for.
    budget : float
        Error increase that was accepted, in `metric`; NaN when the selector did not stop on a
        budget in this metric.
    confidence : float
        Of each confidence bound by itself.
    n_rows : int
        Rows of the test.
    n_kept, n_features : int
        Columns kept, and all.
    error_all, error_kept : float
        Mean loss with all columns and with those kept, in `metric`.
    increase, increase_lower, increase_upper : float
        Their paired difference with its one-sided confidence bounds, in `metric`.
    """

    model: str
    metric: str
    budget: float
    confidence: float
    n_rows: int
    n_kept: int
    n_features: int
    error_all: float
    error_kept: float
    increase: float
    increase_lower: float
    increase_upper: float

    @property
    def within_budget(self) -> bool:
        """Whether the error increased by no more than the budget on these rows."""
        return self.increase <= self.budget

    @property
    def verdict(self) -> str:
        """What the confidence bounds say: budget "met", "not met", "inconclusive", "no budget"."""
        if math.isnan(self.budget):
            return "no budget"
        if self.increase_upper <= self.budget:
            return "met"
        return "not met" if self.increase_lower > self.budget else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and the verdict as plain values."""
        return {**asdict(self), "within_budget": self.within_budget, "verdict": self.verdict}

    def to_json(self) -> str:
        """Return the result as JSON text; what is not a finite number becomes null."""
        return json.dumps(plain(self.to_dict()), allow_nan=False)

    def __str__(self) -> str:
        label = METRIC_NAMES.get(self.metric, self.metric)
        known = not math.isnan(self.budget)
        budget = f"; budget {self.budget:+.4g}: {self.verdict}" if known else ""
        return (
            f"{self.model} on {self.n_rows} rows: {label} {self.error_all:.4f} with all "
            f"{self.n_features} columns, {self.error_kept:.4f} with {self.n_kept}\n"
            f"  error increase {self.increase:+.4f}, confidence bounds {self.increase_lower:+.4f} "
            f"and {self.increase_upper:+.4f} ({self.confidence:.0%} each){budget}"
        )


def audit(
    selector: Any,
    model: Any,
    X_test: Any,
    y_test: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    metric: Any = None,
    cv: Any = 5,
    confidence: float = 0.95,
) -> AuditResult:
    """Measure what a model of the user's own loses by the choice of a selector.

    Parameters
    ----------
    selector : fitted selector
        Whose choice is looked at.
    model : classifier or regressor of scikit-learn
        Cloned and fitted twice: to all columns, and to those kept, as they came. A model that
        cannot take text or missing values gets them encoded, with a warning: text one-hot, missing
        numbers filled by their mean and marked.
    X_test, y_test
        Rows that the selector was not fitted to.
    X_train, y_train : optional
        Rows to fit the model to. By default the model is cross-validated on the test rows.
    metric : str, scorer, callable or CostMatrix, optional
        Metric of the error, as in `ErrorBudget`; by default that of the selector's budget.
    cv : int or splitter, default=5
        How the test rows are divided when no training rows are given.
    confidence : float, default=0.95
        Of each confidence bound by itself.

    Returns
    -------
    AuditResult

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from pinsker import FeatureSelector
    >>> from pinsker.datasets import NoisyXor
    >>> problem = NoisyXor(n_columns=6)
    >>> selector = FeatureSelector(random_state=0).fit(*problem.sample(300, seed=1))
    >>> audit(selector, SVC(), *problem.sample(500, seed=2)).within_budget
    True
    """
    check_is_fitted(selector)
    y, y_train = _column(y_test), None if y_train is None else _column(y_train)
    _check_rows(len(y), X_train, y_train, cv)
    certificate = selector.certificate_
    loss = Metric(_own_metric(selector) if metric is None else metric)
    _check_task(loss, model)
    name = type(model).__name__
    rows = (X_test, y) if X_train is None else (X_train, y_train)
    model = able_to_fit(model, name, *rows)
    losses = []
    for reduce in (lambda table: table, selector.transform):
        train = None if X_train is None else (reduce(X_train), y_train)
        losses.append(_losses(loss, model, train, reduce(X_test), y, cv))
    increase = loss.increase(losses[1], losses[0], confidence)
    return AuditResult(
        model=name,
        metric=loss.name,
        budget=certificate.budget if loss.name == certificate.metric else float("nan"),
        confidence=confidence,
        n_rows=len(y),
        n_kept=int(selector.get_support().sum()),
        n_features=int(selector.n_features_in_),
        error_all=float(losses[0].mean()),
        error_kept=float(losses[1].mean()),
        increase=increase.mean,
        increase_lower=increase.lower,
        increase_upper=increase.upper,
    )


def _own_metric(selector: Any) -> Any:
    """Return the metric of a selector's budget: a name, or the function that was given."""
    rule = selector._own_rule()
    own = rule.metric if isinstance(rule, ErrorBudget) else getattr(selector, "metric", "auto")
    return selector.certificate_.metric if isinstance(own, str) else own


def _column(y: Any) -> Any:
    """Return a target; one of shape (n, 1) as a plain column."""
    values = np.asarray(y)
    return values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values


def _check_rows(n_test: int, X_train: Any, y_train: Any, cv: Any) -> None:
    """Refuse half a training set, and test rows that are too few to do without one."""
    if (X_train is None) != (y_train is None):
        raise ParameterError("audit takes X_train and y_train together, or neither.")
    if X_train is None and isinstance(cv, int) and n_test < 2 * cv:
        raise DataError(
            f"found {n_test} test rows, too few for {cv} folds: pass more, or training rows."
        )


def _check_task(loss: Metric, model: Any) -> None:
    task: Task = "classification" if is_classifier(model) else "regression"
    if task_of(loss.metric) not in (task, "auto"):
        raise ParameterError(
            f"{type(model).__name__} is a model for {task}, but the metric is {loss.name!r}: "
            f"pass another model, or metric= one of {', '.join(map(repr, METRICS[task]))} or a "
            f"scorer of scikit-learn for {task}."
        )


def _losses(loss: Metric, model: Any, train: Any, test: Any, y: Any, cv: Any) -> FloatArray:
    """Return the loss of every test row, by a model that was not fitted to it."""
    if not is_classifier(model):
        predicted = np.asarray(_predict(model, train, test, y, cv, "predict"), dtype=np.float64)
        values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return loss.of_numbers(predicted.reshape(len(y), -1), values)
    classes = np.unique(y if train is None else np.asarray(train[1]))
    unseen = np.setdiff1d(y, classes)
    if len(unseen) and loss.name != "error":
        raise DataError(f"class {unseen.tolist()[0]!r} of the test rows is in no training row.")
    if loss.name == "error":
        return np.asarray(_predict(model, train, test, y, cv, "predict") != y, dtype=np.float64)
    method = _response(loss, model)
    given = np.asarray(_predict(model, train, test, y, cv, method))
    labels = np.searchsorted(classes, y)
    smallest = np.finfo(np.float64).eps
    if method == "decision_function":
        margins = np.column_stack([-given, given]) if given.ndim == 1 else given
        return loss.of_classes(log_softmax(margins), labels, margins, classes=classes)
    if method == "predict":
        given = one_hot(given, classes)
    logarithms = np.log(np.clip(np.asarray(given, dtype=np.float64), smallest, 1.0))
    return loss.of_classes(logarithms, labels, classes=classes)


def _response(loss: Metric, model: Any) -> str:
    """Return the method of a classifier that gives what a metric needs."""
    wanted = {
        "predictions": ("predict",),
        "scores": ("predict_proba", "decision_function"),
        "probabilities": ("predict_proba",),
    }[loss.needs]
    for method in wanted:
        if hasattr(model, method):
            return method
    raise ParameterError(
        f"metric {loss.name!r} needs {loss.needs}, but {type(model).__name__} has no "
        f"{' or '.join(wanted)}: calibrate it (CalibratedClassifierCV), or use metric='error'.",
        parameter="metric",
    )


def _predict(model: Any, train: Any, test: Any, y: Any, cv: Any, method: str) -> Any:
    if train is not None:
        return getattr(clone(model).fit(*train), method)(test)
    if isinstance(cv, int):
        rare = is_classifier(model) and np.unique(y, return_counts=True)[1].min() < cv
        kind = StratifiedKFold if is_classifier(model) and not rare else KFold
        cv = kind(cv, shuffle=True, random_state=0)
    return cross_val_predict(model, test, y, cv=cv, method=method)
