"""An audit: what the user's own model lost by the choice of features."""

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from pinsker._types import FloatArray
from pinsker.bounds import paired_difference
from pinsker.exceptions import DataError, ParameterError


@dataclass(frozen=True)
class AuditResult:
    """The loss of one model with all and with the kept features.

    Attributes
    ----------
    model : str
        Whose losses these are.
    unit : str
        "error" (error rate) or "r2" (squared error as a share of the variance of `y`).
    budget : float
        Growth that was accepted; NaN when the selector did not stop on a budget.
    confidence : float
        Of each limit by itself.
    n_rows : int
        Rows of the test.
    n_kept, n_features : int
        Columns kept, and all.
    loss_all, loss_kept : float
        Mean loss with all columns and with those kept, in `unit`.
    growth, growth_lower, growth_upper : float
        Their paired difference with its one-sided limits, in `unit`.
    """

    model: str
    unit: str
    budget: float
    confidence: float
    n_rows: int
    n_kept: int
    n_features: int
    loss_all: float
    loss_kept: float
    growth: float
    growth_lower: float
    growth_upper: float

    @property
    def held(self) -> bool:
        """Whether the loss grew by no more than the budget on these rows."""
        return self.growth <= self.budget

    @property
    def verdict(self) -> str:
        """What the limits say: "kept", "not kept" or "not resolved"."""
        if self.growth_upper <= self.budget:
            return "kept"
        return "not kept" if self.growth_lower > self.budget else "not resolved"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and the verdict as plain values."""
        return {**asdict(self), "held": self.held, "verdict": self.verdict}

    def to_json(self) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        return (
            f"{self.model} on {self.n_rows} rows: {self.unit} {self.loss_all:.4f} with all "
            f"{self.n_features} columns, {self.loss_kept:.4f} with {self.n_kept}\n"
            f"  growth {self.growth:+.4f}, limits {self.growth_lower:+.4f} and "
            f"{self.growth_upper:+.4f} ({self.confidence:.0%} each); budget {self.budget:+.4g}: "
            f"{self.verdict}"
        )


def audit(
    selector: Any,
    model: Any,
    X_test: Any,
    y_test: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    confidence: float = 0.95,
    folds: int = 5,
) -> AuditResult:
    """Measure what a model of the user's own loses by the choice of a selector.

    Parameters
    ----------
    selector : fitted selector
        Whose choice is looked at.
    model : classifier or regressor of scikit-learn
        Cloned and fitted twice: to all columns, and to those kept.
    X_test, y_test
        Rows that the selector was not fitted to.
    X_train, y_train : optional
        Rows to fit the model to. By default it is fitted to, and questioned on, parts of the test
        rows in turn.
    confidence : float, default=0.95
        Of each limit by itself.
    folds : int, default=5
        Parts of the test rows when no training rows are given.

    Returns
    -------
    AuditResult

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from pinsker import FeatureSelector
    >>> from pinsker.datasets import NoisyXor
    >>> problem = NoisyXor(n_columns=6)
    >>> selector = FeatureSelector(error_budget=0.05).fit(*problem.sample(300, seed=1))
    >>> audit(selector, SVC(), *problem.sample(500, seed=2)).held
    True
    """
    check_is_fitted(selector)
    y = np.asarray(y_test)
    _check_rows(len(y), X_train, y_train, folds)
    classes = is_classifier(model)
    losses = []
    for reduce in (lambda table: table, selector.transform):
        train = None if X_train is None else reduce(X_train)
        predicted = _predict(model, train, y_train, reduce(X_test), y, folds)
        losses.append(_losses(predicted, y, classes))
    growth = paired_difference(losses[1] - losses[0], confidence, counts=classes)
    return AuditResult(
        model=type(model).__name__,
        unit="error" if classes else "r2",
        budget=float(getattr(selector._rule(), "delta", float("nan"))),
        confidence=confidence,
        n_rows=len(y),
        n_kept=int(selector.get_support().sum()),
        n_features=int(selector.n_features_in_),
        loss_all=float(losses[0].mean()),
        loss_kept=float(losses[1].mean()),
        growth=growth.mean,
        growth_lower=growth.lower,
        growth_upper=growth.upper,
    )


def _check_rows(n_test: int, X_train: Any, y_train: Any, folds: int) -> None:
    """Refuse half a training set, and test rows that are too few to do without one."""
    if (X_train is None) != (y_train is None):
        raise ParameterError("audit takes X_train and y_train together, or neither.")
    if n_test < 2 * folds and X_train is None:
        raise DataError(
            f"found {n_test} test rows, too few for {folds} folds: pass more, or training rows."
        )


def _predict(model: Any, train: Any, y_train: Any, test: Any, y: Any, folds: int) -> Any:
    """Predict the test rows by a model that has not seen them."""
    if train is not None:
        return clone(model).fit(train, y_train).predict(test)
    if is_classifier(model) and np.unique(y, return_counts=True)[1].min() >= folds:
        return cross_val_predict(
            model, test, y, cv=StratifiedKFold(folds, shuffle=True, random_state=0)
        )
    return cross_val_predict(model, test, y, cv=KFold(folds, shuffle=True, random_state=0))


def _losses(predicted: Any, y: Any, classes: bool) -> FloatArray:
    if classes:
        return np.asarray(predicted != y, dtype=np.float64)
    squares = np.square(np.asarray(predicted, dtype=np.float64) - y)
    variance = float(np.var(y, axis=0).sum())
    return np.asarray(squares.reshape(len(y), -1).sum(axis=1) / variance)
