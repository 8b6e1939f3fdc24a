"""One fit of a model to some rows and features of a table, and its predictions of other rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._types import Fields, FloatArray, IntArray, TableLike
from pinsker.encoding import Encoded, Target, weights_in_rows
from pinsker.models._design import ModelDesign
from pinsker.models._model import HoldoutModel, PriorModel
from pinsker.models._raw import OwnColumns, RawModel
from pinsker.models._scores import HoldoutMetric, log_softmax
from pinsker.models._survival import SurvivalModel, grid_times, prior_of_survival


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
