"""A model: a model of scikit-learn, asked for raw scores on rows it was not fitted to."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pinsker._types import FloatArray, IntArray
from pinsker.exceptions import ParameterError


@dataclass(frozen=True, eq=False)
class HoldoutModel:
    """A model that testifies how much columns tell about a target.

    Parameters
    ----------
    name : str
        How it is called in comparisons and certificates.
    estimator : classifier or regressor of scikit-learn
        Cloned before every fit. A classifier needs ``predict_proba`` or ``decision_function``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = HoldoutModel("logistic", LogisticRegression())
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model.fit_predict_scores(x, np.array([0, 0, 1, 1]), x, 2).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """

    name: str
    estimator: Any

    def fit_predict_scores(
        self, train: FloatArray, labels: IntArray, test: FloatArray, n_classes: int
    ) -> FloatArray:
        """Fit to classes; return scores of shape (n_test, n_classes), larger for more likely.

        A class that is absent from the training rows gets the score of the least likely one.
        """
        present, own = np.unique(labels, return_inverse=True)
        if len(present) == 1 or train.shape[1] == 0:
            return PriorModel().fit_predict_scores(train, labels, test, n_classes)
        seen = self._class_margins(train, own, test, len(present))
        floor = seen.min(axis=1, keepdims=True)
        scores = np.repeat(floor, n_classes, axis=1)
        scores[:, present] = seen
        return scores

    def fit_predict(self, train: FloatArray, values: FloatArray, test: FloatArray) -> FloatArray:
        """Fit to numbers; return predictions of shape (n_test, n_targets)."""
        spread = values.std(axis=0)
        if train.shape[1] == 0 or not (spread > 0).any():
            return PriorModel().fit_predict(train, values, test)
        mean, scale = values.mean(axis=0), np.where(spread > 0, spread, 1.0)
        scaled = (values - mean) / scale  # models with an absolute tolerance see one scale
        columns = [
            self._numbers(train, target, test) if alive else np.zeros(len(test))
            for target, alive in zip(np.ascontiguousarray(scaled.T), spread > 0, strict=True)
        ]
        return np.asarray(np.column_stack(columns) * scale + mean)

    def _class_margins(
        self, train: FloatArray, labels: IntArray, test: FloatArray, n_classes: int
    ) -> FloatArray:
        """Fit to classes that are all present; return one score per class."""
        model = self._fit(train, labels)
        return _scores_of(model, self.name, test, n_classes, len(train))

    def _numbers(self, train: FloatArray, numbers: FloatArray, test: FloatArray) -> FloatArray:
        """Fit to numbers with mean 0 and standard deviation 1; return predictions."""
        return np.asarray(self._fit(train, numbers).predict(test))

    def _fit(self, train: FloatArray, target: Any) -> Any:
        with warnings.catch_warnings():
            # A model that has not converged is a weaker model, and no danger.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(self.estimator).fit(train, target)


class PriorModel(HoldoutModel):
    """The model that looks at no column: class shares, or the mean."""

    def __init__(self) -> None:
        super().__init__("prior", None)

    def fit_predict_scores(
        self,
        train: FloatArray,  # noqa: ARG002
        labels: IntArray,
        test: FloatArray,
        n_classes: int,
    ) -> FloatArray:
        """Return the logarithms of the class shares, each class counted half a time more."""
        shares = np.bincount(labels, minlength=n_classes) + 0.5
        return np.asarray(np.tile(np.log(shares / shares.sum()), (len(test), 1)))

    def fit_predict(
        self,
        train: FloatArray,  # noqa: ARG002
        values: FloatArray,
        test: FloatArray,
    ) -> FloatArray:
        """Return the mean."""
        return np.asarray(np.tile(values.mean(axis=0), (len(test), 1)))


def _scores_of(model: Any, name: str, test: FloatArray, n_present: int, n_train: int) -> FloatArray:
    """Return the scores of a fitted classifier, one column per class it has seen."""
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(test), dtype=np.float64)
        return log_shares(shares, n_train)
    if not hasattr(model, "decision_function"):
        raise ParameterError(
            f"model {name!r} ({type(model).__name__}) has neither predict_proba nor "
            "decision_function: use a classifier that has one of them."
        )
    margins = np.asarray(model.decision_function(test), dtype=np.float64)
    if margins.ndim == 1:
        return np.asarray(np.column_stack([-margins, margins]))
    if getattr(model, "decision_function_shape", None) == "ovo":
        return sum_of_pairs(margins, n_present)
    return margins


def log_shares(shares: FloatArray, n_train: int) -> FloatArray:
    """Return logarithms of class shares; a share of zero says only that no training row was so."""
    n_classes = shares.shape[1]
    blank = 1.0 / (n_train + n_classes)
    return np.asarray(np.log((1 - blank) * shares + blank / n_classes))


def sum_of_pairs(margins: FloatArray, n_classes: int) -> FloatArray:
    """Return for each class the mean of its margins against all others."""
    scores = np.zeros((len(margins), n_classes))
    first, second = np.triu_indices(n_classes, 1)
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        scores[:, one] += margins[:, pair]
        scores[:, other] -= margins[:, pair]
    return scores / (n_classes - 1)
