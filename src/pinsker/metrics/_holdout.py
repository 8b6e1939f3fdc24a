"""Scores of models on held-out rows, turned into log-likelihoods and losses, row by row."""

from dataclasses import replace

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Target
from pinsker.metrics._metric import Metric
from pinsker.models import (
    HoldoutScores,
    fit_temperature,
    grid_times,
    log_likelihood_of_numbers,
    log_likelihood_of_times,
    log_softmax,
    weighted_rows,
)


def score_holdout(
    model: str,
    scores: FloatArray,
    target: Target,
    rows: IntArray,
    metric: Metric,
    weights: FloatArray | None = None,
    groups: IntArray | None = None,
) -> HoldoutScores:
    """Turn raw held-out scores of all folds into log-likelihoods and losses."""
    if target.parts:
        return _score_parts(model, scores, target, rows, metric, weights)
    own = None if weights is None else weights[rows]
    together = None if groups is None else groups[rows]
    if target.labels is not None:
        labels = target.labels[rows]
        logs = log_softmax(fit_temperature(scores, labels, own) * scores)
        likelihood = logs[np.arange(len(labels)), labels]
        losses = metric.of_classes(
            logs, labels, scores, classes=target.classes, weights=own, clusters=together
        )
        return HoldoutScores(model, weighted_rows(likelihood, own), losses, metric.name)
    assert target.raw is not None  # numbers and censored times keep the user's values
    raw = target.raw[rows]
    if target.task == "survival":
        likelihood = log_likelihood_of_times(scores[:, 0], raw, own)
        losses = metric.of_survival(scores, raw, grid_times(target.raw), weights=own)
    else:
        likelihood = log_likelihood_of_numbers(scores, raw, target.raw, own)
        losses = metric.of_numbers(
            scores, raw, target.raw, weights=own, all_weights=weights, clusters=together
        )
    return HoldoutScores(model, weighted_rows(likelihood, own), losses, metric.name)


def _score_parts(
    model: str,
    scores: FloatArray,
    target: Target,
    rows: IntArray,
    metric: Metric,
    weights: FloatArray | None,
) -> HoldoutScores:
    """Score several class targets: log-likelihoods add up, and losses are pooled."""
    n_classes = [0 if part.classes is None else len(part.classes) for part in target.parts]
    blocks = np.split(scores, np.cumsum(n_classes)[:-1], axis=1)
    scored = [
        score_holdout(model, block, part, rows, metric, weights)
        for block, part in zip(blocks, target.parts, strict=True)
    ]
    likelihood = np.sum([one.log_likelihood for one in scored], axis=0)
    losses = metric.pooled([one.losses for one in scored])
    return replace(scored[0], log_likelihood=likelihood, losses=losses)
