"""Models of censored times: their risks and survival curves on held-out rows, and how likely.

Predictions of a model are an array of shape (n_rows, 1 + n_times): a risk, larger where the event
is expected earlier, and the probability to be without the event at every time of a grid.
"""

from dataclasses import dataclass

import numpy as np

from pinsker._compat import method_of, require
from pinsker._types import BoolArray, Estimator, FloatArray, TableLike
from pinsker.encoding import as_structured
from pinsker.exceptions import ParameterError
from pinsker.models._copies import fit_clone, weight_parameter
from pinsker.models._model import HoldoutModel

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


def kaplan_meier(
    time: FloatArray, event: BoolArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the different times, and the probability to be without the event after each."""
    weights = np.ones(len(time)) if weights is None else weights
    times, at = np.unique(time, return_inverse=True)
    leaving = np.bincount(at, weights, len(times))
    at_risk = leaving[::-1].cumsum()[::-1]
    seen = np.bincount(at, weights * event, len(times))
    return times, np.asarray(np.cumprod(1.0 - seen / at_risk))


def step_at(times: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return a step function that is 1 before its first time, at some times."""
    return np.concatenate([[1.0], values])[np.searchsorted(times, wanted, side="right")]


def prior_of_survival(
    raw: FloatArray, n_test: int, times: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return the predictions of the model without columns: one risk, and Kaplan-Meier's curve."""
    curve = step_at(*kaplan_meier(raw[:, 0], raw[:, 1] > 0, weights), times)
    return np.tile(np.concatenate([[0.0], curve]), (n_test, 1))


@dataclass(frozen=True, eq=False)
class SurvivalModel(HoldoutModel):
    """A model of scikit-survival as one that evaluates."""

    n_times: int = 0  # different times that the estimator is fitted to at most
    counts: bool = False

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether rows may have weights."""
        return weight_parameter(self.estimator) is not None

    def fit_predict_survival(
        self,
        train: TableLike,
        raw: FloatArray,
        test: TableLike,
        times: FloatArray,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Fit to times and events of the training rows, and predict the test rows."""
        if self.n_times and len(np.unique(raw[:, 0])) > self.n_times:
            edges = np.quantile(raw[:, 0], np.linspace(0.0, 1.0, self.n_times))
            rounded = edges[np.searchsorted(edges, raw[:, 0])]
            raw = np.column_stack([rounded, raw[:, 1]])
        y = as_structured(raw, ("time", "event"))
        model = fit_clone(self.estimator, train, y, weights)
        return survival_predictions(model, train, test, times, counts=self.counts)


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


def survival_models(n_rows: int, seed: int = 0) -> tuple[HoldoutModel, ...]:  # noqa: ARG001
    """Return the default models of censored times: a Cox model and extremely randomized trees."""
    purpose = "the default models of censored times (or pass models=[...] of your own)"
    linear = require("sksurv.linear_model", purpose=purpose, extra="survival")
    ensemble = require("sksurv.ensemble", purpose=purpose, extra="survival")
    forest = ensemble.ExtraSurvivalTrees(
        n_estimators=50, min_samples_leaf=5, max_features=None, random_state=seed
    )
    cox = linear.CoxPHSurvivalAnalysis(alpha=1.0)
    return (
        SurvivalModel("cox", cox),
        SurvivalModel("survival forest", forest, _TIMES_OF_FOREST, counts=True),
    )


def log_likelihood_of_times(
    risk: FloatArray, raw: FloatArray, weights: FloatArray | None = None
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


def refuse_without_curves(predictions: FloatArray, name: str) -> None:
    """Refuse a model without survival curves where a metric compares them."""
    if np.isnan(predictions[:, 1:]).any():
        raise ParameterError(
            f"metric {name!r} compares survival curves, but a model has no "
            "predict_survival_function: use <metric=concordance>, or another model.",
            parameter="metric",
        )
