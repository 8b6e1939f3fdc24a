"""What a model said about rows it had not seen: log-likelihoods and losses, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Target
from pinsker.information.models._temperature import fit_temperature, log_softmax

#: Residuals below this share of the target's spread are rounding: their density has no bound.
_SMALLEST_SPREAD = 1e-8


class Loss(Protocol):
    """A loss, row by row; see `pinsker.selection.holdout.Metric`."""

    @property
    def name(self) -> str:
        """Name of the metric."""

    def of_classes(
        self, log_probabilities: FloatArray, labels: IntArray, scores: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of every row of a class target."""

    def of_numbers(
        self, predictions: FloatArray, values: FloatArray, everything: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of every row of a numeric target."""


@dataclass(frozen=True, eq=False)
class HoldoutScores:
    """One model on held-out rows.

    Attributes
    ----------
    model : str
        Who testifies.
    log_likelihood : ndarray of shape (n_rows,)
        log q(y|x) in nats. Differences between two models on the same rows are information.
    losses : ndarray of shape (n_rows,)
        Loss in `metric`, row by row.
    metric : str
        "error", "log-loss", "brier", "r2", "mse" or "mae".
    """

    model: str
    log_likelihood: FloatArray
    losses: FloatArray
    metric: str

    @property
    def loss(self) -> float:
        """Mean loss, in `metric`."""
        return float(self.losses.mean())

    def information(self, prior: "HoldoutScores") -> float:
        """Return the mean gain in log-likelihood over a model without columns, in nats."""
        return float(np.mean(self.log_likelihood - prior.log_likelihood))

    def information_error(self, prior: "HoldoutScores") -> float:
        """Return the standard error of `information`, in nats."""
        gains = self.log_likelihood - prior.log_likelihood
        return float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("inf")


def score_holdout(
    model: str, scores: FloatArray, target: Target, rows: IntArray, metric: Loss
) -> HoldoutScores:
    r"""Turn raw held-out scores of all folds into log-likelihoods and losses.

    Classes: ``log q(y|x)`` is the softmax of the scores with one temperature fitted to them.
    Numbers: a normal density around the prediction whose variance is the mean squared held-out
    residual s², hence ``mean log q = -log(2 pi e s²)/2``. One parameter is fitted to all rows at
    once, which flatters the model by about 1/(2n) nats, the same for every set of columns.

    Parameters
    ----------
    model : str
        Who testifies.
    scores : ndarray of shape (n_held_out, n_classes or n_targets)
        Class scores, or predictions in the user's unit.
    target : Target
        The whole target.
    rows : ndarray of shape (n_held_out,)
        Which of its rows the scores belong to.
    metric : Loss
        The loss, row by row.
    """
    if target.labels is not None:
        labels = target.labels[rows]
        log_probabilities = log_softmax(fit_temperature(scores, labels) * scores)
        likelihood = log_probabilities[np.arange(len(labels)), labels]
        losses = metric.of_classes(log_probabilities, labels, scores)
        return HoldoutScores(model, likelihood, losses, metric.name)
    assert target.raw is not None  # a numeric target keeps the user's values
    likelihood = log_likelihood_of_numbers(scores, target.raw[rows], target.raw)
    losses = metric.of_numbers(scores, target.raw[rows], target.raw)
    return HoldoutScores(model, likelihood, losses, metric.name)


def best_by_information(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model that shows the most information; the first of equals."""
    return max(held_out, key=lambda one: float(one.log_likelihood.mean()))


def best_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model with the smallest loss; of equals the one that shows more."""
    return min(held_out, key=lambda one: (one.loss, -float(one.log_likelihood.mean())))


def log_likelihood_of_numbers(
    predictions: FloatArray, values: FloatArray, everything: FloatArray
) -> FloatArray:
    """Return the log-density of values under normals around predictions, in nats, row by row.

    The variance is the mean squared residual of each target. `everything` holds the values whose
    spread says which residuals are rounding.
    """
    residuals = predictions - values
    floor = (_SMALLEST_SPREAD * everything.std(axis=0)) ** 2 + np.finfo(np.float64).tiny
    variance = np.maximum(np.mean(residuals**2, axis=0), floor)
    terms = -0.5 * (np.log(2 * np.pi * variance) + residuals**2 / variance)
    return np.asarray(terms.sum(axis=1))
