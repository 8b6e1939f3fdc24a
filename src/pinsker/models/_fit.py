"""Fits of models to some rows and features of a table, their losses on others, and a race.

A race decides inside the training rows which model stands for a table. Folds come one after the
other, the first with few training rows where there are many. Losses are paired: a model is dropped
once it is clearly behind the best so far. The first of the models that are left and as good as the
best is the winner, so they are listed from the cheapest on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pinsker._types import Fields, FloatArray, IntArray, TableLike
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

    @property
    def loss(self) -> float:
        """Mean loss, in `metric`; that of the worst target where it counts."""
        return float(self.losses.mean(axis=0).max())

    def information(self, prior: "HoldoutScores") -> float:
        """Return the mean gain in log-likelihood over a model without columns, in nats."""
        return float(np.mean(self.log_likelihood - prior.log_likelihood))

    def information_error(self, prior: "HoldoutScores") -> float:
        """Return the standard error of `information`, in nats."""
        gains = self.log_likelihood - prior.log_likelihood
        return float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("inf")


class HoldoutMetric(Protocol):
    """What turns scores of models into log-likelihoods and losses: `pinsker.metrics.Metric`."""

    def score_holdout(
        self,
        model: str,
        scores: FloatArray,
        target: Target,
        rows: IntArray,
        weights: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> HoldoutScores:
        """Score held-out rows."""


def weighted_rows(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return values whose plain mean is the weighted mean, and whose spread gives its error."""
    if weights is None:
        return np.asarray(values)
    mean = float(np.average(values, weights=weights))
    return np.asarray(mean + (values - mean) * weights / weights.mean())


def best_by_information(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model that shows the most information; the first of equals."""
    return max(held_out, key=lambda one: float(one.log_likelihood.mean()))


def best_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model with the smallest loss; of equals the one that shows more information."""
    return _by_target(held_out, lambda loss, shown: (loss, -shown))


def worst_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model with the largest loss; of equals the first."""
    return _by_target(held_out, lambda loss, _: (-loss, 0.0))


def _by_target(
    held_out: Sequence[HoldoutScores], rank: Callable[[float, float], tuple[float, float]]
) -> HoldoutScores:
    """Return the model with the smallest rank; its losses are those of each target's own."""

    def rank_in(j: int | None) -> Callable[[HoldoutScores], tuple[float, float]]:
        return lambda one: rank(
            one.loss if j is None else float(one.losses[:, j].mean()),
            float(one.log_likelihood.mean()),
        )

    first = held_out[0]
    if first.losses.ndim == 1:
        return min(held_out, key=rank_in(None))
    each = [min(held_out, key=rank_in(j)) for j in range(first.losses.shape[1])]
    losses = np.column_stack([one.losses[:, j] for j, one in enumerate(each)])
    most = best_by_information(each)
    names = ", ".join(dict.fromkeys(one.model for one in each))
    return HoldoutScores(names, most.log_likelihood, losses, first.metric)


def log_likelihood_of_numbers(
    predictions: FloatArray,
    values: FloatArray,
    everything: FloatArray,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return the log-density of values under normals around predictions, in nats, row by row."""
    residuals = predictions - values
    floor = (_SMALLEST_SPREAD * everything.std(axis=0)) ** 2 + np.finfo(np.float64).tiny
    variance = np.maximum(np.average(residuals**2, axis=0, weights=weights), floor)
    terms = -0.5 * (np.log(2 * np.pi * variance) + residuals**2 / variance)
    return np.asarray(terms.sum(axis=1))


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return the logarithms of probabilities proportional to the exponentials of scores."""
    # Not scipy's logsumexp: its checks take half of the time that a fit to 150 rows takes.
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def fit_temperature(
    scores: FloatArray, labels: IntArray, weights: FloatArray | None = None
) -> float:
    """Return the weight b that makes softmax(b * scores) most likely."""
    centred = scores - scores.max(axis=1, keepdims=True)
    own = np.average(centred[np.arange(len(labels)), labels], weights=weights)
    # Not scipy's minimize_scalar (bounded), which uses no slopes: on 320 score matrices of 2 and 10
    # classes it took 2.6 to 5 times the CPU time where scores are noisy, for weights of 3e-8
    # relative error instead of 2e-9. It is faster (0.6) only where classes are separable and any
    # large weight will do; useless scores take 1.7 to 2 times as long.
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
        """Return the mean of some models; a single one is itself."""
        if len(models) == 1:
            return models[0]
        return cls(f"mean of {', '.join(one.name for one in models)}", None, tuple(models))


@dataclass(frozen=True, eq=False)
class ModelData:
    """What a fit of a model needs of a table: everything but the rows and features it may use."""

    design: ModelDesign  # the features as models take them
    target: Target  # the target
    own: OwnColumns | None = None  # the user's table, for models of the user
    weights: FloatArray | None = None  # of the rows of the table

    @classmethod
    def of(cls, encoded: Encoded, table: TableLike = None) -> "ModelData":
        """Describe an encoded table, and the user's table where models of the user need it."""
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
    """Fit a model to some rows and features, and return its raw predictions of other rows.

    With `shuffled`, the test rows in another order, their predictions follow once more for each
    feature, which is taken from there.
    """
    target, weights = data.target, data.weights
    if isinstance(model, MeanModel):
        several = [predict_rows(data, one, train, test, features, shuffled) for one in model.models]
        return mean_prediction(several, target)
    if isinstance(model, RawModel) and data.own is not None and features:
        columns = data.own.columns_of(features)
        return model.fit_predict_rows(data.own, target, train, test, columns, weights)
    if target.task == "survival" and (isinstance(model, PriorModel) or not features):
        assert target.raw is not None  # censored times keep the user's values
        own = None if weights is None else weights[train]
        return prior_of_survival(target.raw[train], len(test), grid_times(target.raw), own)
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
    assert target.raw is not None  # a numeric target keeps the user's values
    if isinstance(model, SurvivalModel):
        times, own = grid_times(target.raw), how.get("weights")
        return model.fit_predict_survival(rows, target.raw[train], others, times, own)
    return model.fit_predict(rows, target.raw[train], others, **how)


def losses_without(
    data: ModelData,
    model: HoldoutModel,
    train: IntArray,
    test: IntArray,
    features: Sequence[int],
    metric: HoldoutMetric,
    shuffled: IntArray,
) -> list[float]:
    """Return the loss of a fitted model when one feature after the other says nothing."""
    predicted = predict_rows(data, model, train, test, features, shuffled)
    blocks = np.split(predicted, len(features) + 1)[1:]
    scored = [metric.score_holdout(model.name, one, data.target, test) for one in blocks]
    return [one.loss for one in scored]


def members(model: HoldoutModel) -> tuple[HoldoutModel, ...]:
    """Return the models that predict together, or the one that predicts alone."""
    return model.models if isinstance(model, MeanModel) else (model,)


def mean_prediction(several: Sequence[FloatArray], target: Target) -> FloatArray:
    """Return the mean of predictions: of numbers themselves, of classes as log-probabilities."""
    if len(several) == 1:
        return several[0]
    alike = several if target.labels is None else [_log_shares(one, target) for one in several]
    return np.asarray(np.mean(alike, axis=0))


def _log_shares(scores: FloatArray, target: Target) -> FloatArray:
    """Return scores of each class target as logarithms of probabilities."""
    ends = np.cumsum([part.n_classes for part in target.parts or (target,)])
    return np.hstack([log_softmax(part) for part in np.split(scores, ends[:-1], axis=1)])


#: A model is dropped where its paired losses are larger by this many standard errors ...
_BEHIND = 2.0
#: ... and a model is as good as the best where they are larger by at most this many.
_TIED = 1.0
#: The first round fits to this many rows where a fold has at least twice as many.
_FIRST_ROWS = 600
FEW_ROWS_FROM = 2 * _FIRST_ROWS
#: What few rows show must hold with many: a model is dropped there at twice the distance.
_FEW_ROWS_BEHIND = 2.0 * _BEHIND


@dataclass(frozen=True, eq=False)
class Race:
    """What a race of models found."""

    winner: HoldoutModel  # the first of the tied models
    tied: tuple[HoldoutModel, ...]  # as good as the best, from the cheapest on
    losses: dict[str, float]  # mean loss of each model on the last rows it was scored on
    n_train: int  # rows the last fits were made to


def race(
    data: ModelData,
    models: Sequence[HoldoutModel],
    folds: Sequence[tuple[IntArray, IntArray]],
    metric: HoldoutMetric,
    features: Sequence[int],
    groups: IntArray | None = None,
) -> Race:
    """Return the model that predicts a target best from all of some features.

    Parameters
    ----------
    data : ModelData
        The table.
    models : sequence of HoldoutModel
        From the cheapest on.
    folds : sequence of (train, test)
        Inside the rows that may choose a model: no row of them certifies anything.
    metric : HoldoutMetric
        What is compared, row by row.
    features : sequence of int
        What the models may use.
    groups : IntArray, optional
        Group of each row of the table.
    """
    left = list(models)
    losses: dict[str, list[FloatArray]] = {model.name: [] for model in models}

    def lose(model: HoldoutModel, train: IntArray, test: IntArray) -> FloatArray:
        scores = predict_rows(data, model, train, test, features)
        known = (data.target, test, data.weights, groups)
        return _row_losses(metric.score_holdout(model.name, scores, *known))

    means: dict[str, float] = {}
    train, test = folds[0]
    if len(train) >= FEW_ROWS_FROM and len(left) > 1:
        left = list(left_by_few_rows(data, left, folds[0], metric, features, groups))
    for train, test in folds:
        if len(left) == 1:
            break
        for model in left:
            losses[model.name].append(lose(model, train, test))
            means[model.name] = float(np.concatenate(losses[model.name]).mean())
        left = _not_behind(left, losses, _BEHIND)
    tied = _not_behind(left, losses, _TIED) if len(left) > 1 else left
    return Race(tied[0], tuple(tied), means, len(train))


def left_by_few_rows(
    data: ModelData,
    models: Sequence[HoldoutModel],
    fold: tuple[IntArray, IntArray],
    metric: HoldoutMetric,
    features: Sequence[int],
    groups: IntArray | None = None,
) -> tuple[HoldoutModel, ...]:
    """Return the models that few of the training rows do not show to be far behind."""
    train, test = _thinned(fold[0]), fold[1]
    known = (data.target, test, data.weights, groups)
    few = {}
    for model in models:
        scores = predict_rows(data, model, train, test, features)
        few[model.name] = [_row_losses(metric.score_holdout(model.name, scores, *known))]
    return tuple(_not_behind(models, few, _FEW_ROWS_BEHIND))


def is_behind(gaps: FloatArray) -> bool:
    """Return whether paired losses above those of another model are clearly more than chance."""
    return _excess(gaps) > _BEHIND


def is_tied(gaps: FloatArray) -> bool:
    """Return whether paired losses above those of the best model are no more than chance."""
    return _excess(gaps) <= _TIED


def _row_losses(scores: HoldoutScores) -> FloatArray:
    """Return one loss per row; several targets count alike."""
    return scores.losses if scores.losses.ndim == 1 else np.asarray(scores.losses.mean(axis=1))


def _thinned(train: IntArray) -> IntArray:
    """Return some of the training rows, evenly spread: sorted rows keep their parts."""
    return train[np.linspace(0, len(train) - 1, _FIRST_ROWS).astype(np.int64)]


def _not_behind(
    models: Sequence[HoldoutModel], losses: dict[str, list[FloatArray]], distance: float
) -> list[HoldoutModel]:
    """Return the models whose losses are at most this many standard errors above the least."""
    pooled = {model.name: np.concatenate(losses[model.name]) for model in models}
    best = min(pooled.values(), key=lambda one: float(one.mean()))
    return [model for model in models if _excess(pooled[model.name] - best) <= distance]


def _excess(gaps: FloatArray) -> float:
    """Return a mean of paired gaps in standard errors."""
    mean, error = float(gaps.mean()), float(gaps.std() / np.sqrt(len(gaps)))
    if error == 0.0:
        return 0.0 if mean <= 0.0 else np.inf
    return mean / error


def choose_inside(losses: Sequence[Sequence[FloatArray]], distance: float = _TIED) -> FloatArray:
    """Return for each fold the weights of the models that were best on the other folds.

    ``losses[m][k]`` holds the losses of model ``m`` on the rows of fold ``k``. The models within
    `distance` standard errors of the best share a fold alike. No row has a part in the choice of
    the model that is scored on it.

    Returns
    -------
    ndarray of shape (n_folds, n_models)
        Rows add up to 1.

    Examples
    --------
    >>> good, bad = [np.array([0.0, 1.0])] * 3, [np.array([1.0, 1.0])] * 3
    >>> choose_inside([good, bad]).tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    """
    n_models, n_folds = len(losses), len(losses[0])
    counts = np.array([len(one) for one in losses[0]], dtype=np.float64)
    sums = np.array([[one.sum() for one in own] for own in losses])  # models x folds
    # Sums of products of all pairs of models: squares of differences follow without the rows.
    products = np.array(
        [(held := np.stack([own[k] for own in losses])) @ held.T for k in range(n_folds)]
    )
    weights = np.zeros((n_folds, n_models))
    for k in range(n_folds):
        n = counts.sum() - counts[k]
        if n == 0:
            weights[k] = 1.0 / n_models
            continue
        means = (sums.sum(axis=1) - sums[:, k]) / n
        squares = (products.sum(axis=0) - products[k]) / n
        best = int(np.argmin(means))
        gaps = means - means[best]
        variances = squares.diagonal() + squares[best, best] - 2.0 * squares[best] - gaps**2
        errors = np.sqrt(np.maximum(variances, 0.0) / n)
        tied = gaps <= distance * errors
        tied[best] = True
        weights[k] = tied / tied.sum()
    return weights


def mix_losses(losses: Sequence[Sequence[FloatArray]], weights: FloatArray) -> FloatArray:
    """Return the losses of all folds, those of each fold averaged over models by its weights."""
    return np.concatenate(
        [
            np.tensordot(weights[k], np.stack([own[k] for own in losses]), axes=1)
            for k in range(len(losses[0]))
        ]
    )
