"""What the bounds need to know about a target."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray, Task
from pinsker.bounds._bound import METRICS
from pinsker.encoding import Target
from pinsker.exceptions import DataError


@dataclass(frozen=True)
class TargetFacts:
    """Facts about a target that turn nats into error and back.

    For several numeric targets the errors are summed: variances add up, and range and largest
    value are the root of the sum of squares, so that all bounds hold for the summed error.

    Attributes
    ----------
    task : {"classification", "regression"}
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
        Number of numeric targets whose errors are summed.

    Examples
    --------
    >>> TargetFacts(task="classification", n_classes=2, largest_prior=0.7).default_metric
    'error'
    """

    task: Task
    n_classes: int | None = None
    largest_prior: float | None = None
    target_range: float | None = None
    variance: float | None = None
    max_abs: float | None = None
    n_targets: int = 1

    @classmethod
    def of(cls, target: Target, weights: FloatArray | None = None) -> "TargetFacts":
        """Read the facts off an encoded target, whose rows may have weights."""
        if target.labels is not None:
            counts = np.bincount(target.labels, weights)
            prior = float(counts.max() / counts.sum())
            return cls("classification", n_classes=int((counts > 0).sum()), largest_prior=prior)
        assert target.raw is not None  # a regression target always keeps the user's values
        with np.errstate(over="ignore"):
            spread = float(np.linalg.norm(np.ptp(target.raw, axis=0)))
            variance = float(column_variances(target.raw, weights).sum())
        if not 0.0 < variance < np.inf:
            raise DataError(
                f"y spans {spread:.3g}, too {'far' if variance else 'little'} for squared errors "
                "in double precision: give it in another unit."
            )
        return cls(
            "regression",
            target_range=spread,
            variance=variance,
            max_abs=float(np.linalg.norm(np.abs(target.raw).max(axis=0))),
            n_targets=int(target.raw.shape[1]),
        )

    @property
    def default_metric(self) -> str:
        """Metric of a budget when none is named: error rate, or share of the variance."""
        return METRICS[self.task][0]


def column_variances(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the variance (divisor n) of every column, of weighted rows if there are weights.

    Examples
    --------
    >>> column_variances(np.array([[0.0], [4.0]]), np.array([3.0, 1.0])).tolist()
    [3.0]
    """
    if weights is None:
        return np.asarray(values.var(axis=0))
    mean = np.average(values, axis=0, weights=weights)
    return np.asarray(np.average((values - mean) ** 2, axis=0, weights=weights))
