"""What the bounds need to know about a target."""

from dataclasses import dataclass, replace

import numpy as np

from pinsker._types import FloatArray, Task
from pinsker.encoding import Target
from pinsker.exceptions import DataError


@dataclass(frozen=True)
class TargetFacts:
    """Facts about a target that turn nats into error and back.

    For several targets errors are the mean over targets. Of numbers, range and largest value are
    the root of the mean of squares, and the variance is the mean, so that all bounds hold for the
    mean error; R² is a mean of shares, whose facts are `shares`. Of classes, information about one
    target is at most that about all: what holds for the target with the most classes and the
    smallest prior holds for every one of them, and for the mean.

    Attributes
    ----------
    task : {"classification", "regression", "survival"}
        How the target is understood.
    n_classes : int or None
        Number of classes.
    largest_prior : float or None
        Probability of the most frequent class; one minus it is an error rate that needs no
        feature.
    target_range : float or None
        Largest minus smallest value, in units of the target. Of a sample: a lower estimate.
    variance : float or None
        Variance (divisor n), in squared units of the target.
    max_abs : float or None
        Largest absolute value, the paper's B, in units of the target.
    n_targets : int
        Number of targets whose errors are averaged.
    shares : TargetFacts or None
        Of several numeric targets, the facts of each divided by its standard deviation.

    Examples
    --------
    >>> TargetFacts("classification", n_classes=2, largest_prior=0.7).n_targets
    1
    """

    task: Task
    n_classes: int | None = None
    largest_prior: float | None = None
    target_range: float | None = None
    variance: float | None = None
    max_abs: float | None = None
    n_targets: int = 1
    shares: "TargetFacts | None" = None

    @classmethod
    def of(cls, target: Target, weights: FloatArray | None = None) -> "TargetFacts":
        """Read the facts off an encoded target, whose rows may have weights."""
        if target.parts:
            own = [cls.of(part, weights) for part in target.parts]
            return cls(
                "classification",
                n_classes=max(one.n_classes or 0 for one in own),
                largest_prior=min(one.largest_prior or 0.0 for one in own),
                n_targets=len(own),
            )
        if target.labels is not None:
            counts = np.bincount(target.labels, weights)
            prior = float(counts.max() / counts.sum())
            return cls("classification", n_classes=int((counts > 0).sum()), largest_prior=prior)
        if target.task == "survival":
            return cls("survival")  # no theorem ties its metrics to information
        assert target.raw is not None  # a regression target always keeps the user's values
        facts = cls._of_numbers(target.raw, weights)
        if target.raw.shape[1] == 1:
            return facts
        spread = np.sqrt(column_variances(target.raw, weights))
        return replace(facts, shares=cls._of_numbers(target.raw / spread, weights))

    @classmethod
    def _of_numbers(cls, values: FloatArray, weights: FloatArray | None) -> "TargetFacts":
        with np.errstate(over="ignore"):
            spread = _root_mean_square(np.ptp(values, axis=0))
            variances = column_variances(values, weights)
        if not (variances.min() > 0.0 and variances.max() < np.inf):
            raise DataError(
                f"y spans {spread:.3g}, too {'far' if variances.min() else 'little'} for squared "
                "errors in double precision: give it in another unit."
            )
        return cls(
            "regression",
            target_range=spread,
            variance=float(variances.mean()),
            max_abs=_root_mean_square(np.abs(values).max(axis=0)),
            n_targets=int(values.shape[1]),
        )


def _root_mean_square(values: FloatArray) -> float:
    return float(np.linalg.norm(values) / np.sqrt(len(values)))


def column_variances(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the variance (divisor n) of every column, of weighted rows if there are weights."""
    if weights is None:
        return np.asarray(values.var(axis=0))
    mean = np.average(values, axis=0, weights=weights)
    return np.asarray(np.average((values - mean) ** 2, axis=0, weights=weights))
