"""A race of models: which one stands for a table, decided inside its training rows.

Folds come one after the other, the first with few training rows where there are many. Losses are
paired: a model is dropped once it is clearly behind the best so far. The first of the models that
are left and as good as the best is the winner, so they are listed from the cheapest on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.models._fit import ModelData, predict_rows
from pinsker.models._model import HoldoutModel
from pinsker.models._scores import HoldoutMetric, HoldoutScores

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
