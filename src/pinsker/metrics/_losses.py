"""Losses of our own metrics, row by row, and influence values of scikit-learn's functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray
from pinsker.bounds import column_variances
from pinsker.metrics._influence import (
    Influence,
    mean_influence,
    median_influence,
    one_vs_one_auc,
    one_vs_rest,
    ratio_influence,
    root_influence,
    variance_influence,
)
from pinsker.models import log_likelihood_of_numbers

Arguments = dict[str, Any]  # of a score function
Ranked = Callable[[BoolArray, FloatArray, FloatArray], Influence]


@dataclass(frozen=True)
class ClassRows:
    """Held-out rows of a class target, and what a model says of them."""

    labels: IntArray  # true classes 0..n_classes-1
    scores: FloatArray  # larger for more likely classes
    log_probabilities: FloatArray  # logarithms of probabilities
    classes: AnyArray  # the classes as the user knows them
    weights: FloatArray  # of the rows
    clusters: IntArray | None = None  # which rows belong together

    def own(self, values: FloatArray) -> FloatArray:
        """Return the entry of each row's own class."""
        return np.asarray(values[np.arange(len(self.labels)), self.labels])

    def positive(self, kwargs: Arguments) -> int:
        """Return the class that counts where one does: the second, if not named."""
        wanted = kwargs.get("pos_label")
        return 0 if wanted is not None and wanted == self.classes[0] else 1

    @property
    def squares(self) -> FloatArray:
        """Squared errors of probabilities, summed over classes."""
        probabilities = np.exp(self.log_probabilities)
        return np.asarray(np.sum(probabilities**2, axis=1) - 2 * self.own(probabilities) + 1)


@dataclass(frozen=True)
class NumberRows:
    """Held-out rows of numeric targets, with the predictions and the targets of all rows."""

    predictions: FloatArray
    values: FloatArray
    everything: FloatArray
    weights: FloatArray | None
    all_weights: FloatArray | None

    @property
    def squares(self) -> FloatArray:
        """Squared errors of each target."""
        return np.asarray((self.predictions - self.values) ** 2)

    @property
    def shares(self) -> FloatArray:
        """Squared errors divided by the variance of each target over all rows."""
        own = column_variances(self.everything, self.all_weights)
        return np.asarray(self.squares / np.maximum(own, np.finfo(np.float64).tiny))

    @property
    def log_likelihood(self) -> FloatArray:
        """Log-densities under normals around the predictions, over all targets."""
        known = (self.predictions, self.values, self.everything, self.weights)
        return log_likelihood_of_numbers(*known)


@dataclass(frozen=True)
class Column:
    """Held-out rows of one numeric target, for a function with some arguments."""

    true: FloatArray
    predicted: FloatArray
    weights: FloatArray
    kwargs: Arguments

    @property
    def gaps(self) -> FloatArray:
        """Differences from the predictions."""
        return np.asarray(self.true - self.predicted)

    def mean(self, losses: FloatArray) -> Influence:
        """Return the mean of losses, and how each row moves it."""
        return mean_influence(losses, self.weights)

    def variance(self, values: FloatArray) -> Influence:
        """Return the variance of values, and how each row moves it."""
        return variance_influence(values, self.weights)

    def median(self, values: FloatArray) -> Influence:
        """Return the median of values, and how each row moves it."""
        return median_influence(values, self.weights)


def of_ranks(one: Ranked) -> Callable[[ClassRows, Arguments], Influence]:
    """Return a score of a ranking of two classes as one of any number of classes."""

    def influence(rows: ClassRows, kwargs: Arguments) -> Influence:
        if len(rows.classes) == 2:
            at = rows.positive(kwargs)
            margin = rows.scores[:, at] - rows.scores[:, 1 - at]
            return one(rows.labels == at, margin, rows.weights)
        given = (rows.labels, rows.log_probabilities, rows.weights)
        if kwargs.get("multi_class") == "ovo":
            return one_vs_one_auc(*given)
        return one_vs_rest(one, *given, by_frequency=kwargs.get("average") == "weighted")

    return influence


def are_averaged(kwargs: Arguments) -> bool:
    """Return whether a score of two classes is averaged over classes in a way we know."""
    return kwargs.get("average", "macro") in ("macro", "weighted")


def is_plain_auc(kwargs: Arguments) -> bool:
    """Return whether the placements cover the arguments of an AUC."""
    weighted_pairs = kwargs.get("multi_class") == "ovo" and kwargs.get("average") == "weighted"
    return kwargs.get("max_fpr") is None and are_averaged(kwargs) and not weighted_pairs


def mean_log_loss(rows: ClassRows, kwargs: Arguments) -> Influence:  # noqa: ARG001
    """Return the mean log-loss."""
    return mean_influence(-rows.own(rows.log_probabilities), rows.weights)


def mean_brier(rows: ClassRows, kwargs: Arguments) -> Influence:
    """Return the Brier score of scikit-learn: half the sum of squares for two classes."""
    half = kwargs.get("scale_by_half", "auto")
    is_half = len(rows.classes) == 2 if half == "auto" else bool(half)
    return mean_influence(rows.squares / 2 if is_half else rows.squares, rows.weights)


def against_frequencies(
    loss: Callable[[ClassRows, Arguments], Influence],
) -> Callable[[ClassRows, Arguments], Influence]:
    """Return one minus a loss over that of the frequencies of the classes."""

    def influence(rows: ClassRows, kwargs: Arguments) -> Influence:
        # The frequencies make their own loss smallest: that they move changes nothing to first
        # order.
        shares = np.bincount(rows.labels, rows.weights, len(rows.classes)) / rows.weights.sum()
        with np.errstate(divide="ignore"):
            alike = np.tile(np.log(shares), (len(rows.labels), 1))
        return skill(loss(rows, kwargs), loss(replace(rows, log_probabilities=alike), kwargs))

    return influence


def rowwise(function: Callable[..., Any]) -> Callable[[Column], Influence]:
    """Return a mean loss of scikit-learn that has one value per output: a row is made an output."""

    def influence(rows: Column) -> Influence:
        given = (rows.true[None, :], rows.predicted[None, :])
        losses = function(*given, multioutput="raw_values", **rows.kwargs)
        return rows.mean(np.asarray(losses, dtype=np.float64))

    return influence


def rooted(function: Callable[..., Any]) -> Callable[[Column], Influence]:
    """Return the root of such a mean loss."""
    return lambda rows: root_influence(rowwise(function)(replace(rows, kwargs={})))


def skill(left: Influence, whole: Influence) -> Influence:
    """Return one minus a ratio."""
    value, influence = ratio_influence(left, whole)
    return 1.0 - value, -influence


def not_of_logarithms(values: FloatArray, predictions: FloatArray) -> str:
    """Say what is wrong with values that a logarithm cannot take."""
    if min(float(values.min()), float(predictions.min())) > -1.0:
        return ""
    return (
        "takes logarithms of 1 + y, but found values or predictions of -1 or below: use another "
        "metric."
    )


def not_positive(values: FloatArray, predictions: FloatArray) -> str:
    """Say what is wrong with values that have no deviance."""
    if float(values.min()) >= 0 and float(predictions.min()) > 0:
        return ""
    return (
        "needs targets and predictions above 0: use a model with a logarithmic link "
        "(PoissonRegressor, HistGradientBoostingRegressor(loss='poisson')), or another metric."
    )
