"""What a model said about rows it had not seen: log-likelihoods and losses, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Target
from pinsker.information.models._temperature import fit_temperature, log_softmax

#: Residuals below this share of the target's spread are rounding: their density has no bound.
_SMALLEST_SPREAD = 1e-8


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
    model: str, scores: FloatArray, target: Target, rows: IntArray, metric: str
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
    metric : str
        Unit of the losses.
    """
    if target.labels is not None:
        return _judge_classes(model, scores, target.labels[rows], metric)
    assert target.raw is not None  # a numeric target keeps the user's values
    return _judge_numbers(model, scores, target.raw, rows, metric)


def best_by_information(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model that shows the most information; the first of equals."""
    return max(held_out, key=lambda one: float(one.log_likelihood.mean()))


def best_by_loss(held_out: Sequence[HoldoutScores]) -> HoldoutScores:
    """Return the model with the smallest loss; of equals the one that shows more."""
    return min(held_out, key=lambda one: (one.loss, -float(one.log_likelihood.mean())))


def _judge_classes(model: str, scores: FloatArray, labels: IntArray, metric: str) -> HoldoutScores:
    log_shares = log_softmax(fit_temperature(scores, labels) * scores)
    each = np.arange(len(labels))
    likelihood = log_shares[each, labels]
    if metric == "error":
        losses = (scores.argmax(axis=1) != labels).astype(np.float64)
    elif metric == "brier":
        shares = np.exp(log_shares)
        losses = np.sum(shares**2, axis=1) - 2 * shares[each, labels] + 1
    else:
        losses = -likelihood
    return HoldoutScores(model, likelihood, losses, metric)


def _judge_numbers(
    model: str, predictions: FloatArray, values: FloatArray, rows: IntArray, metric: str
) -> HoldoutScores:
    residuals = predictions - values[rows]
    floor = (_SMALLEST_SPREAD * values.std(axis=0)) ** 2 + np.finfo(np.float64).tiny
    variance = np.maximum(np.mean(residuals**2, axis=0), floor)
    terms = -0.5 * (np.log(2 * np.pi * variance) + residuals**2 / variance)
    likelihood = terms.sum(axis=1)
    squares = np.sum(residuals**2, axis=1)
    if metric == "r2":
        losses = squares / max(float(values.var(axis=0).sum()), np.finfo(np.float64).tiny)
    elif metric == "mse":
        losses = squares
    else:
        losses = np.sqrt(squares) if metric == "mae" else -likelihood
    return HoldoutScores(model, likelihood, losses, metric)
