"""Models of a user, fitted to the user's own columns as they came; and models of censored times.

Predictions of censored times are an array of shape (n_rows, 1 + n_times): a risk, larger where the
event is expected earlier, and the probability to be without the event at every time of a grid.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pinsker._compat import classes_of, method_of, require
from pinsker._types import (
    AnyArray,
    Estimator,
    FloatArray,
    HasColumns,
    IntArray,
    TableLike,
    Task,
    Weights,
)
from pinsker.encoding import (
    Encoded,
    Target,
    as_structured,
    check_lengths,
    frame_of,
    is_frame,
    weights_in_rows,
)
from pinsker.exceptions import DataError, DataWarning, MissingDependencyError, ParameterError
from pinsker.models._design import one_hot
from pinsker.models._model import (
    HoldoutModel,
    OnePerTarget,
    class_scores,
    fit_clone,
    outputs,
    predicted_classes,
    several_class_scores,
    weight_parameter,
)

_refused = partial(ParameterError, parameter="models")
#: Times of the grid that survival curves are compared at.
N_TIMES = 16
#: The grid ends where fewer than this share of the rows are still observed: later curves rest on
#: few rows, which censoring gives large weights.
_LEAST_AT_RISK = 0.1
#: Times of a forest: more make it larger (a curve in every leaf) and not better.
_TIMES_OF_FOREST = 48
#: Steps of Newton's method at most, and the largest weight of standardized risks.
_STEPS, _LARGEST = 50, 50.0


def grid_times(raw: FloatArray) -> FloatArray:
    """Return the times at which survival curves are compared: quantiles of the times of events."""
    time, event = raw[:, 0], raw[:, 1] > 0
    latest = np.quantile(time, 1.0 - _LEAST_AT_RISK)
    seen = time[event & (time <= latest)]
    seen = seen if len(seen) else time[event]
    return np.unique(np.quantile(seen, np.linspace(0.05, 1.0, N_TIMES)))


def step_at(times: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return a step function that is 1 before its first time, at some times."""
    return np.concatenate([[1.0], values])[np.searchsorted(times, wanted, side="right")]


def prior_of_survival(
    raw: FloatArray, n_test: int, times: FloatArray, weights: Weights = None
) -> FloatArray:
    """Return the predictions of the model without columns: one risk, and Kaplan-Meier's curve."""
    weights = np.ones(len(raw)) if weights is None else weights
    known, at = np.unique(raw[:, 0], return_inverse=True)
    at_risk = np.bincount(at, weights, len(known))[::-1].cumsum()[::-1]
    seen = np.bincount(at, weights * (raw[:, 1] > 0), len(known))
    curve = step_at(known, np.asarray(np.cumprod(1.0 - seen / at_risk)), times)
    return np.tile(np.concatenate([[0.0], curve]), (n_test, 1))


@dataclass(frozen=True, eq=False)
class SurvivalModel(HoldoutModel):
    """A model of scikit-survival as one that evaluates."""

    n_times: int = 0  # different times that the estimator is fitted to at most
    counts: bool = False

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        return weight_parameter(self.estimator) is not None

    def fit_predict_survival(
        self,
        train: TableLike,
        raw: FloatArray,
        test: TableLike,
        times: FloatArray,
        weights: Weights = None,
    ) -> FloatArray:
        if self.n_times and len(np.unique(raw[:, 0])) > self.n_times:
            edges = np.quantile(raw[:, 0], np.linspace(0.0, 1.0, self.n_times))
            rounded = edges[np.searchsorted(edges, raw[:, 0])]
            raw = np.column_stack([rounded, raw[:, 1]])
        y = as_structured(raw, ("time", "event"))
        try:
            model = fit_clone(self.estimator, train, y, weights)
            return survival_predictions(model, train, test, times, counts=self.counts)
        except (AttributeError, ImportError, TypeError) as error:  # made for another scikit-learn
            raise MissingDependencyError(
                f"model {self.name!r} of scikit-survival does not work with this scikit-learn "
                f"({type(error).__name__}: {error}): install versions that belong together, or "
                "pass <models=[...] of your own|--models cox or survival forest alone>."
            ) from error


def survival_predictions(
    model: Estimator, train: TableLike, test: TableLike, times: FloatArray, *, counts: bool = False
) -> FloatArray:
    """Return the risks of a fitted model, less those of training rows, and its survival curves."""
    own, risk = (np.ravel(np.asarray(model.predict(X), dtype=np.float64)) for X in (train, test))
    if counts:
        own, risk = (np.log(np.maximum(part, 1e-12)) for part in (own, risk))
    curves = np.full((len(risk), len(times)), np.nan)
    predict_curves = method_of(model, "predict_survival_function")
    if predict_curves is not None:
        for i, function in enumerate(predict_curves(test)):
            curves[i] = step_at(function.x, np.asarray(function(function.x)), times)
    return np.column_stack([risk - own.mean(), curves])


def survival_models(seed: int) -> tuple[HoldoutModel, ...]:
    purpose = "the default models of censored times (or pass models=[...] of your own)"
    linear = require("sksurv.linear_model", purpose=purpose, extra="survival")
    ensemble = require("sksurv.ensemble", purpose=purpose, extra="survival")
    how = {"n_estimators": 50, "min_samples_leaf": 5, "max_features": None, "random_state": seed}
    forest = ensemble.ExtraSurvivalTrees(**how)
    trees = SurvivalModel("survival forest", forest, _TIMES_OF_FOREST, counts=True)
    return SurvivalModel("cox", linear.CoxPHSurvivalAnalysis(alpha=1.0)), trees


def log_likelihood_of_times(
    risk: FloatArray, raw: FloatArray, weights: Weights = None
) -> FloatArray:
    """Return how likely times and events are under risks, in nats, row by row."""
    weights = np.ones(len(risk)) if weights is None else weights
    spread = float(risk.std())
    scaled = (risk - risk.mean()) / spread if spread > 0 else np.zeros_like(risk)
    times, at = np.unique(raw[:, 0], return_inverse=True)
    event = weights * raw[:, 1]
    seen = np.bincount(at, event, len(times))
    own = float(event @ scaled)

    def sums(b: float, power: int) -> FloatArray:
        terms = weights * np.exp(b * scaled) * scaled**power
        return np.bincount(at, terms, len(times))[::-1].cumsum()[::-1]

    b, low, high = 1.0, 0.0, _LARGEST
    for _ in range(_STEPS if spread > 0 else 0):
        zero, one, two = (sums(b, power) for power in range(3))
        slope = own - float(seen @ (one / zero))
        curve = float(seen @ (two / zero - (one / zero) ** 2))
        low, high = (b, high) if slope > 0 else (low, b)
        proposed = b + slope / curve if curve > 0 else np.inf
        step = proposed if low < proposed < high else (low + high) / 2
        if abs(step - b) <= 1e-9:
            break
        b = step
    zero = sums(b, 0)
    hazard = np.cumsum(seen / zero)
    return np.asarray(raw[:, 1] * (b * scaled - np.log(zero[at])) - np.exp(b * scaled) * hazard[at])


#: Parameters that list columns by name or position: of CatBoost, and of scikit-learn's boosting.
_LISTS_OF_COLUMNS = {"cat_features", "categorical_features"}
#: A column of more categories gets a 0/1 column for each of the most frequent ones.
_MOST_CATEGORIES = 50
#: Rows that show whether an estimator can be fitted to the columns as they are.
_PROBED = 200


@dataclass(frozen=True, eq=False)
class OwnColumns:
    """The user's table, and which of its rows are used."""

    table: TableLike  # as it was given to ``fit``
    rows: IntArray  # positions in the table of the rows that are used
    features: tuple[tuple[int, ...], ...] = ()
    shuffled: frozenset[int] = frozenset()  # columns whose values come from other rows
    shuffle: IntArray | None = None  # from which of the rows that are used

    @classmethod
    def of(cls, X: TableLike, encoded: Encoded) -> "OwnColumns":
        return cls(as_table(X), encoded.rows, encoded.feature_columns)

    def columns_of(self, features: Iterable[int]) -> list[int]:
        return sorted(j for feature in features for j in self.features[feature])

    def take(self, rows: IntArray, columns: Sequence[int]) -> TableLike:
        """Return some of the rows that are used, with some columns: a frame stays a frame."""
        taken = self._take(self.rows[rows], columns)
        moved = [k for k, column in enumerate(columns) if column in self.shuffled]
        if not moved or self.shuffle is None:
            return taken
        others = self._take(self.rows[self.shuffle[rows]], [columns[k] for k in moved])
        return replace_columns(taken, moved, others)

    def with_shuffled(self, kept: Iterable[int], shuffle: IntArray) -> "OwnColumns":
        others = set(range(len(self.features))) - set(kept)
        return replace(self, shuffled=frozenset(self.columns_of(others)), shuffle=shuffle)

    def _take(self, positions: IntArray, columns: Sequence[int]) -> TableLike:
        wanted = [int(j) for j in columns]
        if not is_frame(self.table):
            return self.table[positions][:, wanted]
        return frame_of(self.table)[positions, wanted].to_native()


def take_columns(table: TableLike, columns: IntArray) -> TableLike:
    if not is_frame(table):
        return table[:, columns]
    return frame_of(table)[:, columns.tolist()].to_native()


def column_names(table: TableLike) -> list[str]:
    return [str(name) for name in table.columns] if isinstance(table, HasColumns) else []


def of_columns(estimator: Estimator, names: Sequence[str], columns: Sequence[int]) -> Estimator:
    """Return an estimator whose list of categorical columns holds those that are there."""
    params = method_of(estimator, "get_params")
    given = {} if params is None else params(deep=False)
    fewer: dict[str, list[str | int]] = {}
    for parameter in _LISTS_OF_COLUMNS & given.keys():
        listed = given[parameter]
        if isinstance(listed, str) or not np.iterable(listed) or np.asarray(listed).dtype == bool:
            continue
        there: dict[str | int, str | int] = {j: place for place, j in enumerate(columns)}
        there |= {names[j]: names[j] for j in columns if names}
        fewer[parameter] = [there[column] for column in listed if column in there]
    # A new one: CatBoost's cannot be changed once its parameters were read.
    return type(estimator)(**{**given, **fewer}) if fewer else estimator


def as_table(X: TableLike) -> TableLike:
    """Return frames, arrays and sparse arrays as they are, and other tables as arrays."""
    if is_frame(X) and len(X.shape) == 2:
        return X
    is_sparse = sparse.issparse(X)
    try:
        table = X.tocsr() if is_sparse else np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is no table, its rows differ in length: {error}") from error
    if table.ndim != 2:
        raise DataError(
            f"Found array with dim {table.ndim} as X, while dim 2 is required: rows and columns."
        )
    return table


def replace_columns(taken: TableLike, places: Sequence[int], others: TableLike) -> TableLike:
    if not is_frame(taken):
        taken = taken.copy()
        taken[:, list(places)] = others
        return taken
    moved = frame_of(others)
    series = [moved[:, k] for k in range(len(places))]
    return frame_of(taken).with_columns(*series).to_native()


#: A predicted class has a score this much larger than all others.
_AHEAD = 1e-9


@dataclass(frozen=True, eq=False)
class RawModel(HoldoutModel):
    """A classifier, regressor or pipeline of a user, fitted to the user's own columns."""

    decides: bool = False  # whether what it predicts counts, and not its largest score

    def fit_predict_rows(
        self,
        own: OwnColumns,
        target: Target,
        train: IntArray,
        test: IntArray,
        columns: Sequence[int],
        weights: Weights = None,
    ) -> FloatArray:
        given = own.take(train, columns)
        able = replace(self, estimator=of_columns(self.estimator, column_names(own.table), columns))
        of_train = None if weights is None else weights[train]
        if target.task == "survival":
            y = as_structured(target.numbers, target.names)
            model = able._fitted(given, y[train], of_train)
            grid = grid_times(target.numbers)
            return survival_predictions(model, given, own.take(test, columns), grid)
        if target.labels is None:
            values = target.numbers[train]
            numbers = values[:, 0] if values.shape[1] == 1 else values
            model = able._fitted(given, numbers, of_train)
            return outputs(model, "predict", own.take(test, columns), values.shape[1])
        n_train = len(train) if of_train is None else float(weights_in_rows(of_train).sum())
        if target.parts:
            model = able._fitted(given, class_matrix(target)[train], of_train)
            known = [class_names(part) for part in target.parts]
            return np.hstack(several_class_scores(model, own.take(test, columns), known, n_train))
        names = class_names(target)
        model = able._fitted(given, names[target.labels[train]], of_train)
        seen, known_to_it = np.unique(target.labels[train]), classes_of(model)
        if known_to_it is not None and len(known_to_it) == len(seen):
            codes = {name: code for code, name in enumerate(names.tolist())}
            seen = np.array([codes[name] for name in np.asarray(known_to_it).tolist()])
        rows = own.take(test, columns)
        scores = class_scores(model, rows, names[seen], n_train)
        if self.decides:  # at a threshold of its own, perhaps
            predicted = one_hot(predicted_classes(model, rows), names[seen]).argmax(axis=1)
            other = np.flatnonzero(predicted != scores.argmax(axis=1))
            scores[other, predicted[other]] = scores[other].max(axis=1) + _AHEAD
        full = np.repeat(scores.min(axis=1, keepdims=True), len(names), axis=1)
        full[:, seen] = scores
        return full

    def _fitted(self, given: TableLike, target: AnyArray, weights: Weights) -> Estimator:
        try:
            return fit_clone(self.estimator, given, target, weights)
        except OSError:
            raise  # a file, a licence, a cluster: the columns are not the cause
        except Exception as error:
            columns = given.columns if isinstance(given, HasColumns) else range(given.shape[1])
            names = list(map(str, columns))
            raise _refused(
                f"model {self.name!r} ({type(self.estimator).__name__}) cannot be fitted to the "
                f"columns {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}: {error}. It "
                "gets subsets of your columns as they came: a pipeline must select columns by "
                "kind (make_column_selector), not by names that may be missing, and encode text "
                "itself."
            ) from error


def class_names(target: Target) -> AnyArray:
    assert target.classes is not None  # a class target keeps its classes
    return np.asarray(target.classes)


def class_matrix(target: Target) -> AnyArray:
    columns = [class_names(part)[part.labels] for part in target.parts]
    same = len({column.dtype.kind for column in columns}) == 1
    return np.column_stack(columns if same else [column.astype(object) for column in columns])


def refuse_without_weights(models: Sequence[HoldoutModel]) -> None:
    for model in models:
        raw = isinstance(model, RawModel)
        routed = raw and get_config()["enable_metadata_routing"]  # a model may decline there
        ignores = weight_parameter(model.estimator) is None if raw else not model.takes_weights
        if ignores and not routed:
            raise _refused(
                f"model {model.name!r} takes no sample_weight in fit: leave it out of models, or "
                "fit without sample_weight."
            )


def task_of_model(model: Estimator) -> Task | None:
    try:
        if is_classifier(model):
            return "classification"
        return "regression" if is_regressor(model) else None
    except (AttributeError, TypeError):  # a class that is none of scikit-learn's
        return None


def able_to_fit(estimator: Estimator, name: str, X: TableLike, y: AnyArray) -> Estimator:
    """Return an estimator that can be fitted to a table: itself, or behind a default encoding."""
    table = as_table(X)
    check_lengths({"X": table.shape[0], "y": len(y)})
    rows = np.arange(len(y))
    if len(y) > _PROBED:  # of every part of a target that is sorted, or of every class
        order = np.argsort(np.asarray(y).reshape(len(y), -1)[:, 0], kind="stable")
        rows = np.sort(order[np.linspace(0, len(y) - 1, _PROBED).astype(np.int64)])
    part = OwnColumns(table, np.arange(len(y))).take(rows, range(table.shape[1]))
    able, error = _first_able(estimator, part, y[rows])
    if able is not None:
        return able
    _refuse_named_classes(estimator, name, part, y[rows])
    if is_frame(part):
        text = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES,
            sparse_output=False,
        )  # fmt: skip
        numbers = SimpleImputer(add_indicator=True, keep_empty_features=True)
        steps = (("numbers", numbers, True), ("text", text, False))
        chosen = [(name, step, partial(_columns_of, numeric=own)) for name, step, own in steps]
        encoded = make_pipeline(ColumnTransformer(chosen), estimator)
        able, _ = _first_able(encoded, part, y[rows])
    if able is None:
        raise _refused(
            f"model {name!r} ({type(estimator).__name__}) cannot be fitted to these columns as "
            f"they came: {str(error).rstrip('.')}. Pass a pipeline that encodes text and missing "
            "values, for example make_pipeline(make_column_transformer((OneHotEncoder("
            "handle_unknown='ignore', sparse_output=False), make_column_selector(dtype_exclude="
            "'number')), remainder='passthrough'), model)."
        ) from error
    reason = str(error).partition("\n")[0]
    warnings.warn(
        f"model {name!r} cannot take these columns as they are ({reason}): it gets text "
        "one-hot, and missing numbers filled and marked. Pass a pipeline with an encoder of "
        "your own to decide otherwise.",
        DataWarning,
        stacklevel=2,
    )
    return able


def _first_able(estimator: Estimator, part: TableLike, y: AnyArray) -> tuple[Any, Exception]:
    """Return the estimator, or one copy of it per target, whichever fits and predicts; or None."""
    failed: Exception = ValueError("")
    several = y.ndim == 2
    for one in [estimator, OnePerTarget(estimator)] if several else [estimator]:
        try:
            fitted = fit_clone(one, part, y)
            fitted.predict(part)  # dates with a zone can be fitted to, but not predicted from
        except OSError:
            raise
        except Exception as error:  # a library may have errors of its own
            failed = error
        else:
            return one, failed
    return None, failed


def prepare_models(
    models: Sequence[HoldoutModel], X: TableLike, encoded: Encoded, *, decide: bool = False
) -> tuple[HoldoutModel, ...]:
    """Return models that can be fitted to the user's table; `decide`: by predicted classes."""
    if not any(isinstance(model, RawModel) for model in models):
        return tuple(models)
    target = encoded.target
    if target.parts:
        y = class_matrix(target)
    elif target.task == "survival":
        y = as_structured(target.numbers, target.names)
    else:
        y = target.numbers if target.labels is None else class_names(target)[target.labels]
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    own = OwnColumns.of(X, encoded)
    table = own.take(np.arange(len(y)), own.columns_of(range(encoded.n_features)))
    return tuple(
        replace(model, estimator=able_to_fit(model.estimator, model.name, table, y), decides=decide)
        if isinstance(model, RawModel)
        else model
        for model in models
    )


def _columns_of(frame: TableLike, *, numeric: bool) -> list[str]:
    numbers = nw.selectors.numeric()
    return list(frame_of(frame).select(numbers if numeric else ~numbers).columns)


def _refuse_named_classes(estimator: Estimator, name: str, X: TableLike, y: AnyArray) -> None:
    """Refuse classes that a model takes as 0, 1, ... alone, as XGBClassifier does."""
    if task_of_model(estimator) != "classification" or y.ndim == 2:
        return
    try:
        classes, codes = np.unique(y, return_inverse=True)
        if np.array_equal(classes, np.arange(len(classes))):
            return
        fit_clone(estimator, X, codes)
    except OSError:
        raise
    except Exception:
        return  # the columns are the cause, or classes that have no order
    raise _refused(
        f"model {name!r} ({type(estimator).__name__}) takes classes 0, 1, ... alone, but found "
        f"{', '.join(map(repr, classes[:3].tolist()))}: encode the target first, "
        "y = LabelEncoder().fit_transform(y)."
    )
