"""Copies of a user's estimator: fitted to one target, or one copy to each of several."""

import copy
import warnings
from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from pinsker._compat import classes_of, method_of
from pinsker._types import AnyArray, Estimator, FloatArray, TableLike
from pinsker.models._design import one_hot
from pinsker.models._model import log_probabilities


def fit_clone(
    estimator: Estimator, X: TableLike, y: AnyArray, weights: FloatArray | None = None
) -> Estimator:
    """Fit a copy of an estimator; a class that is none of scikit-learn's is copied as it is."""
    try:
        model = clone(estimator, safe=False)
    except RuntimeError:  # its parameters are not what they were given as (CatBoost's lists)
        model = copy.deepcopy(estimator)
    parameter = None if weights is None else weight_parameter(estimator)
    given = {} if parameter is None else {parameter: weights}
    with warnings.catch_warnings():
        # A model that has not converged shows less information, never too much.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = model.fit(X, y, **given)
    return model if fitted is None else fitted


def weight_parameter(estimator: Estimator) -> str | None:
    """Return the name that `fit` of an estimator takes weights of rows by; None if it takes none.

    With scikit-learn's metadata routing it is what the estimator requests.

    Examples
    --------
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> weight_parameter(make_pipeline(SimpleImputer(), Ridge()))
    'ridge__sample_weight'
    """
    name = "sample_weight"
    routing = method_of(estimator, "get_metadata_routing")
    if get_config()["enable_metadata_routing"] and routing is not None:
        return name if routing().consumes("fit", [name]) else None
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_parameter(last)
        return None if inner is None else f"{step}__{inner}"
    return name if has_fit_parameter(estimator, name) else None


class OnePerTarget:
    """An estimator of one target as one of several: a copy is fitted to each."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator
        self._estimator_type = getattr(estimator, "_estimator_type", None)

    def fit(
        self, X: TableLike, y: AnyArray, sample_weight: FloatArray | None = None
    ) -> "OnePerTarget":
        """Fit a copy to every column of `y`."""
        self.classes_: list[AnyArray] = []
        self.models_: list[Any] = []
        for target in np.asarray(y).T:
            values = np.unique(target)
            target = target.astype(type(values[0])) if target.dtype == object else target
            single = len(values) == 1
            model = None if single else fit_clone(self.estimator, X, target, sample_weight)
            self.models_.append(model)
            self.classes_.append(values if single else classes_of(model, values))
        return self

    def predict(self, X: TableLike) -> AnyArray:
        """Return the predictions of all copies, a column each."""
        return np.column_stack([np.ravel(found) for found in self._each("predict", X)])

    def __getattr__(self, name: str) -> Any:
        # Only methods that the copies have: callers look for one that exists.
        scores = name in ("predict_proba", "decision_function")
        if scores and method_of(self.__dict__.get("estimator"), name):
            return lambda X: self._each(name, X)
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def _each(self, method: str, X: TableLike) -> list[AnyArray]:
        found = []
        for model, classes in zip(self.models_, self.classes_, strict=True):
            if model is not None:
                found.append(np.asarray(methodcaller(method, X)(model)))
            elif method == "predict":
                found.append(np.full(X.shape[0], classes[0]))
            else:
                found.append(np.ones((X.shape[0], 1)))
        return found


def several_class_scores(
    model: Estimator, X: TableLike, names: Sequence[AnyArray], n_train: float
) -> list[FloatArray]:
    """Return the scores of a fitted classifier of several targets, one array per target."""
    predict = method_of(model, "predict_proba", "decision_function")
    if predict is None:
        predicted = np.asarray(model.predict(X))
        return [one_hot(column, own) for column, own in zip(predicted.T, names, strict=True)]
    probable = method_of(model, "predict_proba") is not None
    found = predict(X)
    if not isinstance(found, list):  # of each label the score of its second class
        found = [np.asarray(column, dtype=np.float64) for column in np.asarray(found).T]
    known = classes_of(model)
    known = known if isinstance(known, list) else list(names)
    scores = []
    for given, own, seen in zip(found, names, known, strict=True):
        given = np.asarray(given, dtype=np.float64)
        if given.ndim == 1:
            given = np.column_stack([1.0 - given if probable else -given, given])
        if probable:
            given = log_probabilities(given, n_train)
        full = np.repeat(given.min(axis=1, keepdims=True), len(own), axis=1)
        codes = {name: code for code, name in enumerate(own.tolist())}
        full[:, [codes[name] for name in np.asarray(seen).tolist()]] = given
        scores.append(full)
    return scores
