"""Fits of models to some rows and features of a table, and their losses on others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from pinsker._types import Fields, FloatArray, IntArray, TableLike, Weights
from pinsker.encoding import Encoded, Target, weights_in_rows
from pinsker.models._design import ModelDesign
from pinsker.models._model import HoldoutModel, PriorModel
from pinsker.models._raw import OwnColumns, RawModel, SurvivalModel, grid_times, prior_of_survival

#: The largest weight of scores: beyond it, scores of size 1 are certainties.
_LARGEST = 1e3
#: Steps of Newton's method at most; halving the interval alone needs 40 for 1e-9.
_STEPS = 60
#: Residuals below this fraction of the target's spread are rounding: their density has no bound.
_SMALLEST_SPREAD = 1e-8


@dataclass(frozen=True, eq=False)
class HoldoutScores:
    """Log-likelihoods and losses of one model on held-out rows."""

    model: str  # name of the model
    log_likelihood: FloatArray  # log q(y|x) in nats
    losses: FloatArray  # loss in `metric`, row by row
    metric: str  # name of the metric
    predicted: FloatArray | None = None  # of one numeric target

    @cached_property
    def loss(self) -> float:
        return float(self.losses.mean(axis=0).max())


#: What turns scores of models into log-likelihoods and losses: `Metric.score_holdout`.
Score: TypeAlias = Callable[..., HoldoutScores]


def best_by_information(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    return max(held_out, key=lambda one: float(one.log_likelihood.mean()))


def best_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    return _by_target(held_out, lambda loss, shown: (loss, -shown))


def worst_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    return _by_target(held_out, lambda loss, _: (-loss, 0.0))


def _by_target(
    held_out: Sequence[HoldoutScores], rank: Callable[[float, float], tuple[float, float]]
) -> HoldoutScores:
    """Return the model with the smallest rank; its losses are those of each target's own."""

    def best(j: int | None) -> HoldoutScores:
        losses = (one.loss if j is None else float(one.losses[:, j].mean()) for one in held_out)
        shown = (float(one.log_likelihood.mean()) for one in held_out)
        ranks = [rank(*pair) for pair in zip(losses, shown, strict=True)]
        return held_out[ranks.index(min(ranks))]

    first = held_out[0]
    if first.losses.ndim == 1:
        return best(None)
    each = [best(j) for j in range(first.losses.shape[1])]
    losses = np.column_stack([one.losses[:, j] for j, one in enumerate(each)])
    most = best_by_information(each)
    names = ", ".join(dict.fromkeys(one.model for one in each))
    return HoldoutScores(names, most.log_likelihood, losses, first.metric)


def log_likelihood_of_numbers(
    predictions: FloatArray, values: FloatArray, everything: FloatArray, weights: Weights = None
) -> FloatArray:
    """Return the log-density of values under normals around predictions, in nats, row by row."""
    residuals = predictions - values
    floor = (_SMALLEST_SPREAD * everything.std(axis=0)) ** 2 + np.finfo(np.float64).tiny
    variance = np.maximum(np.average(residuals**2, axis=0, weights=weights), floor)
    terms = -0.5 * (np.log(2 * np.pi * variance) + residuals**2 / variance)
    return np.asarray(terms.sum(axis=1))


def log_softmax(scores: FloatArray) -> FloatArray:
    # Not scipy's logsumexp: its checks take half of the time that a fit to 150 rows takes.
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def calibrated(scores: FloatArray, labels: IntArray, weights: Weights) -> FloatArray:
    """Return logarithms of probabilities: scores times the weight that makes labels most likely."""
    return log_softmax(fit_temperature(scores, labels, weights) * scores)


def fit_temperature(scores: FloatArray, labels: IntArray, weights: Weights = None) -> float:
    """Return the weight b that makes softmax(b * scores) most likely."""
    centred = scores - scores.max(axis=1, keepdims=True)
    own = np.average(centred[np.arange(len(labels)), labels], weights=weights)
    # Not scipy's minimize_scalar (bounded), which uses no slopes: 2.6 to 5 times the CPU time where
    # scores are noisy, 0.6 only where classes are separable and any large weight will do.
    low, high, weight = 0.0, _LARGEST, 1.0
    for _ in range(_STEPS):
        probabilities = np.exp(log_softmax(weight * centred))
        means = np.sum(probabilities * centred, axis=1)
        # Python's own floats: where the curve underflows, the step is infinite without a warning.
        slope = float(np.average(means, weights=weights) - own)
        curves = np.sum(probabilities * centred**2, axis=1) - means**2
        curve = float(np.average(curves, weights=weights))
        low, high = (low, weight) if slope > 0 else (weight, high)
        proposed = weight - slope / curve if curve > 0 else np.inf
        step = proposed if low < proposed < high else (low + high) / 2
        if abs(step - weight) <= 1e-9 * max(weight, 1.0):
            break
        weight = float(step)
    return float(weight)


@dataclass(frozen=True)
class MeanModel(HoldoutModel):
    """Several models that predict together: mean predictions, or means of log-probabilities."""

    models: tuple[HoldoutModel, ...] = ()

    @classmethod
    def of(cls, models: Sequence[HoldoutModel]) -> HoldoutModel:
        if len(models) == 1:
            return models[0]
        return cls(f"mean of {', '.join(one.name for one in models)}", None, tuple(models))


@dataclass(frozen=True, eq=False)
class ModelData:
    """What a fit of a model needs of a table: everything but the rows and features it may use."""

    design: ModelDesign  # the features as models take them
    target: Target  # the target
    own: OwnColumns | None = None  # the user's table, for models of the user
    weights: Weights = None  # of the rows of the table

    @classmethod
    def of(cls, encoded: Encoded, table: TableLike = None) -> "ModelData":
        design = ModelDesign.of(encoded.columns, encoded.features, encoded.weights)
        own = None if table is None else OwnColumns.of(table, encoded)
        return cls(design, encoded.target, own, encoded.weights)


def predict_rows(
    data: ModelData,
    model: HoldoutModel,
    train: IntArray,
    test: IntArray,
    features: Sequence[int],
    shuffled: IntArray | None = None,
) -> FloatArray:
    """Fit a model to rows, predict others; and once more with each feature as in `shuffled`."""
    target, weights = data.target, data.weights
    if isinstance(model, MeanModel):
        several = [predict_rows(data, one, train, test, features, shuffled) for one in model.models]
        return mean_prediction(several, target)
    if isinstance(model, RawModel) and data.own is not None and features:
        columns = data.own.columns_of(features)
        return model.fit_predict_rows(data.own, target, train, test, columns, weights)
    if target.task == "survival" and (isinstance(model, PriorModel) or not features):
        own, times = None if weights is None else weights[train], grid_times(target.numbers)
        return prior_of_survival(target.numbers[train], len(test), times, own)
    layout = data.design.layout(model.layout)
    rows, others = layout.take(train, features), layout.take(test, features)
    if shuffled is not None:
        others = layout.with_each_shuffled(others, layout.take(shuffled, features), features)
    how: Fields = {"categorical": layout.is_categorical(features)}
    if weights is not None:
        how["weights"] = weights_in_rows(weights)[train]
    if target.labels is not None:
        scores = []
        for part in target.parts or (target,):
            assert part.labels is not None
            assert part.classes is not None
            given = (rows, part.labels[train], others, len(part.classes))
            scores.append(model.fit_predict_scores(*given, **how))
        return scores[0] if len(scores) == 1 else np.hstack(scores)
    if isinstance(model, SurvivalModel):
        times, own = grid_times(target.numbers), how.get("weights")
        return model.fit_predict_survival(rows, target.numbers[train], others, times, own)
    return model.fit_predict(rows, target.numbers[train], others, **how)


def losses_without(
    data: ModelData,
    model: HoldoutModel,
    train: IntArray,
    test: IntArray,
    features: Sequence[int],
    score: Score,
    shuffled: IntArray,
) -> list[float]:
    """Return the loss of a fitted model when one feature after the other says nothing."""
    predicted = predict_rows(data, model, train, test, features, shuffled)
    blocks = np.split(predicted, len(features) + 1)[1:]
    return [score(model.name, one, data.target, test).loss for one in blocks]


def mean_prediction(several: Sequence[FloatArray], target: Target) -> FloatArray:
    """Return the mean of predictions: of numbers themselves, of classes as log-probabilities."""
    if target.labels is not None:
        ends = np.cumsum([part.n_classes for part in target.parts])[:-1]
        several = [
            np.hstack([log_softmax(part) for part in np.split(scores, ends, axis=1)])
            for scores in several
        ]
    return np.asarray(np.mean(several, axis=0))


#: A model is as good as the best where its paired losses are larger by this many standard errors.
_TIED = 1.0


def is_tied(gaps: FloatArray, distance: float = _TIED) -> bool:
    """Return whether paired losses are larger by some standard errors of their mean at most."""
    return float(gaps.mean()) <= distance * float(gaps.std() / np.sqrt(len(gaps)))
