"""The evaluator: fits models to sets of features and scores them on rows that were held out."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from pinsker._notes import Notes
from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded, Target, weights_in_rows
from pinsker.exceptions import ParameterError
from pinsker.holdout._parallel import Jobs
from pinsker.holdout._rows import Fold
from pinsker.metrics import Metric
from pinsker.models import (
    HoldoutModel,
    HoldoutScores,
    ModelDesign,
    OwnColumns,
    PriorModel,
    RawModel,
    SurvivalModel,
    best_by_information,
    best_by_loss,
    grid_times,
    prior_of_survival,
    refuse_without_weights,
    score_holdout,
    worst_by_loss,
)

FeatureSet: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BestScores:
    """The best models for one candidate: a set of features per fold."""

    most: HoldoutScores  # the model that shows the most information
    least: HoldoutScores  # the model with the smallest loss
    close: tuple[str, ...] = ()  # models within a standard error of either

    def or_worse(self, other: "BestScores") -> "BestScores":
        """Return the lesser information and the larger loss of two candidates."""
        most = min(self.most, other.most, key=lambda scores: float(scores.log_likelihood.mean()))
        least = worst_by_loss([self.least, other.least])
        return BestScores(most, least, self.close)

    @classmethod
    def of(cls, scores: Sequence[HoldoutScores]) -> "BestScores":
        """Find the best of all models' scores of one candidate."""
        most, least = best_by_information(scores), best_by_loss(scores)
        close = tuple(
            one.model
            for one in scores
            if _is_close(most.log_likelihood - one.log_likelihood)
            or _is_close(one.losses - least.losses)
        )
        return cls(most, least, close)


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """What a fit of a model needs of a table: everything but the features it may use."""

    design: ModelDesign  # the features as models take them
    target: Target  # the target
    folds: tuple[Fold, ...]  # which rows are held out
    own: OwnColumns | None = None  # the user's table, for models of the user
    weights: FloatArray | None = None  # of the rows of the table


def fit_predict(
    data: EvaluationData, model: HoldoutModel, k: int, features: FeatureSet
) -> FloatArray:
    """Fit one model to the training rows of one fold and predict the held-out rows."""
    fold, target, weights = data.folds[k], data.target, data.weights
    if isinstance(model, RawModel) and data.own is not None and features:
        columns = data.own.columns_of(features)
        return model.fit_predict_rows(data.own, target, fold.train, fold.test, columns, weights)
    if target.task == "survival" and (isinstance(model, PriorModel) or not features):
        assert target.raw is not None  # censored times keep the user's values
        own = None if weights is None else weights[fold.train]
        times = grid_times(target.raw)
        return prior_of_survival(target.raw[fold.train], len(fold.test), times, own)
    layout = data.design.layout(model.layout)
    train, test = layout.take(fold.train, features), layout.take(fold.test, features)
    how: dict[str, Any] = {"categorical": layout.is_categorical(features)}
    if weights is not None:
        how["weights"] = weights_in_rows(weights)[fold.train]
    if target.labels is not None:
        scores = []
        for part in target.parts or (target,):
            assert part.labels is not None
            assert part.classes is not None
            given = (train, part.labels[fold.train], test, len(part.classes))
            scores.append(model.fit_predict_scores(*given, **how))
        return scores[0] if len(scores) == 1 else np.hstack(scores)
    assert target.raw is not None  # a numeric target keeps the user's values
    if isinstance(model, SurvivalModel):
        times, own = grid_times(target.raw), how.get("weights")
        return model.fit_predict_survival(train, target.raw[fold.train], test, times, own)
    return model.fit_predict(train, target.raw[fold.train], test, **how)


class HoldoutEvaluator:
    """Holds the folds and the models, and remembers every prediction."""

    def __init__(
        self,
        encoded: Encoded,
        folds: Sequence[Fold],
        models: Sequence[HoldoutModel],
        metric: Metric,
        jobs: Jobs | None = None,
        groups: IntArray | None = None,
        table: Any = None,
    ) -> None:
        self.folds = tuple(folds)
        weights = encoded.weights
        design = ModelDesign.of(encoded.columns, encoded.features, weights)
        raw = table is not None and any(isinstance(model, RawModel) for model in models)
        own = OwnColumns.of(table, encoded) if raw else None
        self.data = EvaluationData(design, encoded.target, self.folds, own, weights)
        if weights is not None:
            refuse_without_weights(models)
        if encoded.target.labels is not None:
            refuse_without_scores(models, metric)
        self.models = tuple(models)
        self.metric = metric
        self.jobs = jobs or Jobs()
        self._held_out = np.concatenate([fold.test for fold in folds])
        self.rows, self._row_of = rows_once(self._held_out)
        self.groups, self.clusters = groups, None if groups is None else groups[self.rows]
        self.weights = None if weights is None else weights[self.rows]
        self.notes: Notes = ()
        self._predictions: dict[tuple[int, FeatureSet, str], FloatArray] = {}
        self._scores: dict[tuple[str, tuple[FeatureSet, ...]], HoldoutScores] = {}
        self.prior = self.prior_of(len(self.folds))

    def prior_of(self, n_folds: int) -> HoldoutScores:
        """Return the scores of the model without features on the first folds."""
        prior = self._pool(PriorModel(), [()] * n_folds)
        if self.metric.has_theory:
            return prior
        parts = [fit_predict(self.data, PriorModel(), k, ()) for k in range(n_folds)]
        mean = np.concatenate(parts).mean(axis=0, keepdims=True)
        alike = np.repeat(mean, sum(map(len, parts)), axis=0)
        return replace(prior, losses=self._score("prior", alike).losses)

    def evaluate(self, candidates: Sequence[Sequence[FeatureSet]]) -> list[BestScores]:
        """Return the best scores of each candidate: one set of features per fold."""
        self._fit(candidates)
        return [
            BestScores.of(
                [*(self._pool(model, sets) for model in self.models), self.prior_of(len(sets))]
            )
            for sets in candidates
        ]

    def with_shuffled(self, kept: FeatureSet, shuffle: IntArray) -> "HoldoutEvaluator":
        """Return an evaluator of the same rows in which all features but some are shuffled."""
        other = copy.copy(self)
        own = None if self.data.own is None else self.data.own.with_shuffled(kept, shuffle)
        design = self.data.design.with_shuffled(kept, shuffle)
        other.data = replace(self.data, design=design, own=own)
        other._predictions, other._scores = {}, {}
        return other

    def drop_weak_models(self, evaluated: Sequence[BestScores]) -> None:
        """Drop the models that have nothing to add."""
        best = {
            max(evaluated, key=lambda one: float(one.most.log_likelihood.mean())),
            min(evaluated, key=lambda one: one.least.loss),
        }
        useful = {name for one in best for name in one.close}
        stay = tuple(model for model in self.models if model.name in useful)
        self.models = stay or self.models

    def _fit(self, candidates: Sequence[Sequence[FeatureSet]]) -> None:
        """Fit every model to every new set, in parallel and in a fixed order."""
        wanted = {
            (k, tuple(sorted(features)), model.name): model
            for sets in candidates
            for k, features in enumerate(sets)
            for model in self.models
        }
        new = {key: model for key, model in wanted.items() if key not in self._predictions}
        calls = [(model, k, features) for (k, features, _), model in new.items()]
        if not new:
            return
        with self.jobs.thread_pools.limit(limits=1):  # small fits, and `jobs` run side by side
            predictions = self.jobs.run(fit_predict, self.data, calls)
        self._predictions.update(zip(new, predictions, strict=True))

    def _pool(self, model: HoldoutModel, sets: Sequence[FeatureSet]) -> HoldoutScores:
        """Score the predictions of several folds together."""
        ordered = tuple(tuple(sorted(features)) for features in sets)
        if (model.name, ordered) not in self._scores:
            parts = []
            for k, features in enumerate(ordered):
                known = self._predictions.get((k, features, model.name))
                parts.append(fit_predict(self.data, model, k, features) if known is None else known)
            self._scores[model.name, ordered] = self._score(model.name, np.concatenate(parts))
        return self._scores[model.name, ordered]

    def _score(self, model: str, predictions: FloatArray) -> HoldoutScores:
        """Score predictions of the first folds; a row that was predicted again counts once."""
        n, data = len(predictions), self.data
        rows = self._held_out[:n]
        known = (data.target, rows, self.metric, data.weights, self.groups)
        scores = score_holdout(model, predictions, *known)
        if len(self.rows) == len(self._held_out):
            return scores
        row_of = self._row_of[:n]
        return replace(
            scores,
            log_likelihood=mean_of_rows(scores.log_likelihood, row_of),
            losses=mean_of_rows(scores.losses, row_of),
        )


def rows_once(held_out: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows in the order in which they are first held out, and the place of each there.

    Examples
    --------
    >>> rows, row_of = rows_once(np.array([4, 2, 2, 0, 4]))
    >>> rows.tolist(), row_of.tolist()
    ([4, 2, 0], [0, 1, 1, 2, 0])
    """
    sorted_rows, first, row_of = np.unique(held_out, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return sorted_rows[order], place[row_of]


def mean_of_rows(values: FloatArray, row_of: IntArray) -> FloatArray:
    """Return the mean of the values of every row; several targets have a column each."""
    sums = np.zeros((int(row_of.max()) + 1, *values.shape[1:]))
    np.add.at(sums, row_of, values)
    counts = np.bincount(row_of).astype(np.float64)
    return np.asarray(sums / counts.reshape(-1, *[1] * (values.ndim - 1)))


def refuse_without_scores(models: Sequence[HoldoutModel], metric: Metric) -> None:
    """Refuse a classifier that only predicts classes where a metric needs more."""
    for model in models:
        if isinstance(model, RawModel) and metric.needs != "predictions" and not model.gives_scores:
            raise ParameterError(
                f"metric {metric.name!r} needs {metric.needs}, but model {model.name!r} has "
                "neither predict_proba nor decision_function: use <metric=error> or another one "
                "of predicted classes, or calibrate it (CalibratedClassifierCV).",
                parameter="metric",
            )


def _is_close(gaps: FloatArray) -> bool:
    """Return whether a mean of paired gaps, of any target, is at most its standard error."""
    return bool((gaps.mean(axis=0) <= gaps.std(axis=0) / np.sqrt(len(gaps))).any())
