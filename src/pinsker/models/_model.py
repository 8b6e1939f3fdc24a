"""A held-out model: fitted to some rows, scored on others."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import methodcaller
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pinsker._compat import method_of
from pinsker._types import (
    AnyArray,
    BoolArray,
    Estimator,
    FloatArray,
    HasShape,
    IntArray,
    TableLike,
    TargetLike,
)
from pinsker.exceptions import ParameterError
from pinsker.models._design import LayoutName, one_hot


@dataclass(frozen=True, eq=False)
class HoldoutModel:
    """A model whose scores on held-out rows show how much columns tell about a target."""

    layout: ClassVar[LayoutName] = "one-hot"
    takes_weights: ClassVar[bool] = True  # whether rows may have weights
    most_rows: ClassVar[float] = np.inf  # of more a fit takes too long
    most_classes: ClassVar[float] = np.inf  # of more a fit takes too long, or is weak
    most_columns: ClassVar[float] = np.inf
    most_cells: ClassVar[float] = np.inf  # rows times columns
    name: str  # its name in comparisons and certificates
    estimator: Estimator  # cloned before every fit

    def fit_predict_scores(
        self,
        train: FloatArray,
        labels: IntArray,
        test: FloatArray,
        n_classes: int,
        *,
        categorical: BoolArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Fit to the classes of the training rows and return class scores of the test rows."""
        present, own = np.unique(labels, return_inverse=True)
        if len(present) == 1 or train.shape[1] == 0:
            prior = PriorModel()
            return prior.fit_predict_scores(train, labels, test, n_classes, weights=weights)
        codes = _mask(categorical, train)
        seen = self._scores_of_present(train, own, test, len(present), codes, weights)
        floor = seen.min(axis=1, keepdims=True)
        scores = np.repeat(floor, n_classes, axis=1)
        scores[:, present] = seen
        return scores

    def fit_predict(
        self,
        train: FloatArray,
        values: FloatArray,
        test: FloatArray,
        *,
        categorical: BoolArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Fit to the numbers of the training rows and return predictions for the test rows."""
        mean, spread = _mean_and_spread(values, weights)
        if train.shape[1] == 0 or not (spread > 0).any():
            return PriorModel().fit_predict(train, values, test, weights=weights)
        scale = np.where(spread > 0, spread, 1.0)
        scaled = (values - mean) / scale  # models with an absolute tolerance get one scale
        codes = _mask(categorical, train)
        columns = [
            self._predictions_of_scaled(train, target, test, codes, weights)
            if varies
            else np.zeros(len(test))
            for target, varies in zip(np.ascontiguousarray(scaled.T), spread > 0, strict=True)
        ]
        return np.asarray(np.column_stack(columns) * scale + mean)

    def _scores_of_present(
        self,
        train: FloatArray,
        labels: IntArray,
        test: FloatArray,
        n_classes: int,
        categorical: BoolArray,  # noqa: ARG002
        weights: FloatArray | None,
    ) -> FloatArray:
        """Fit to classes that are all present; return one score per class."""
        model = self._fit(train, labels, weights)
        n_train = len(train) if weights is None else float(weights.sum())
        return class_scores(model, test, np.arange(n_classes), n_train)

    def _predictions_of_scaled(
        self,
        train: FloatArray,
        values: FloatArray,
        test: FloatArray,
        categorical: BoolArray,  # noqa: ARG002
        weights: FloatArray | None,
    ) -> FloatArray:
        """Fit to numbers with mean 0 and standard deviation 1; return predictions."""
        return np.asarray(self._fit(train, values, weights).predict(test))

    def _fit(self, train: FloatArray, target: TargetLike, weights: FloatArray | None) -> Estimator:
        given = {} if weights is None else {"sample_weight": weights}
        with without_advice():
            return clone(self.estimator).fit(train, target, **given)


class PriorModel(HoldoutModel):
    """The model that uses no columns: class frequencies, or the mean."""

    def __init__(self) -> None:
        super().__init__("prior", None)

    def fit_predict_scores(
        self,
        train: FloatArray,  # noqa: ARG002
        labels: IntArray,
        test: FloatArray,
        n_classes: int,
        *,
        categorical: BoolArray | None = None,  # noqa: ARG002
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return the logarithms of the class frequencies, each class counted half a time more."""
        counts = np.bincount(labels, weights, minlength=n_classes) + 0.5
        return np.asarray(np.tile(np.log(counts / counts.sum()), (len(test), 1)))

    def fit_predict(
        self,
        train: FloatArray,  # noqa: ARG002
        values: FloatArray,
        test: FloatArray,
        *,
        categorical: BoolArray | None = None,  # noqa: ARG002
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return the mean of the training rows."""
        return np.asarray(np.tile(np.average(values, axis=0, weights=weights), (len(test), 1)))


def _mean_and_spread(
    values: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    if weights is None:
        return values.mean(axis=0), values.std(axis=0)
    mean = np.average(values, axis=0, weights=weights)
    spread = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    return mean, np.where(np.ptp(values, axis=0) > 0, spread, 0.0)


def _mask(categorical: BoolArray | None, train: FloatArray) -> BoolArray:
    return np.zeros(train.shape[1], dtype=np.bool_) if categorical is None else categorical


@contextmanager
def without_advice() -> Iterator[None]:
    """Fit models of our own without scikit-learn's advice to those who chose a model themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
        yield


def class_scores(
    model: Estimator, test: TableLike, classes: AnyArray, n_train: float
) -> FloatArray:
    """Return the scores of a fitted classifier, one column per class it has seen, in its order."""
    if method_of(model, "predict_proba"):
        return log_probabilities(outputs(model, "predict_proba", test, len(classes)), n_train)
    if not method_of(model, "decision_function"):
        return one_hot(predicted_classes(model, test), classes)
    if getattr(model, "decision_function_shape", None) == "ovo" and len(classes) > 2:
        n_pairs = len(classes) * (len(classes) - 1) // 2
        pairs = outputs(model, "decision_function", test, n_pairs)
        return mean_pair_margins(pairs, len(classes))
    return outputs(model, "decision_function", test, len(classes))


def predicted_classes(model: Estimator, rows: TableLike) -> AnyArray:
    """Return the class that a fitted model predicts for each row; refuse other shapes."""
    found = np.asarray(model.predict(rows))
    n_rows = _count(rows)
    if found.shape not in ((n_rows,), (n_rows, 1)):
        raise _wrong_shape(model, "predict", found, n_rows, "one class per row")
    return found.reshape(n_rows)


def outputs(model: Estimator, method: str, rows: TableLike, n_columns: int) -> FloatArray:
    """Return what a method of a fitted model gives for some rows, a column per class or target."""
    found = np.asarray(methodcaller(method, rows)(model), dtype=np.float64)
    n_rows = _count(rows)
    if found.shape in ((n_rows,), (n_rows, 1)):
        column = found.reshape(n_rows)
        if n_columns == 1:
            return column[:, None]
        if n_columns == 2 and method == "decision_function":
            return np.column_stack([-column, column])
    if found.shape != (n_rows, n_columns):
        wanted = f"{n_columns} columns, one per {'target' if method == 'predict' else 'class'}"
        raise _wrong_shape(model, method, found, n_rows, wanted)
    return found


def _count(rows: TableLike) -> int:
    return int(rows.shape[0] if isinstance(rows, HasShape) else len(rows))


def _wrong_shape(
    model: Estimator, method: str, found: AnyArray, n_rows: int, wanted: str
) -> ParameterError:
    return ParameterError(
        f"{method} of {type(model).__name__} gave an array of shape {found.shape} for {n_rows} "
        f"rows: it must give {wanted}.",
        parameter="models",
    )


def log_probabilities(probabilities: FloatArray, n_train: float) -> FloatArray:
    """Return logarithms of class probabilities, mixed with a little of the uniform distribution."""
    n_classes = probabilities.shape[1]
    weight = 1.0 / (n_train + n_classes)
    return np.asarray(np.log((1 - weight) * probabilities + weight / n_classes))


def mean_pair_margins(margins: FloatArray, n_classes: int) -> FloatArray:
    """Return for each class the mean of its one-versus-one margins against all others."""
    scores = np.zeros((len(margins), n_classes))
    start = 0
    for one in range(n_classes - 1):
        pairs = margins[:, start : start + n_classes - 1 - one]  # against all later classes
        start += pairs.shape[1]
        # One after the other, as single additions would: NumPy's sum goes another way.
        scores[:, one] = np.cumsum(np.column_stack([scores[:, one], pairs]), axis=1)[:, -1]
        scores[:, one + 1 :] -= pairs
    return scores / (n_classes - 1)
