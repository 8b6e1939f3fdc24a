"""Which theorem ties a metric to information, given what is known of the target."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds import (
    AbsoluteErrorBound,
    Bound,
    BrierBound,
    GaussianBound,
    LogLossBound,
    PaperClassificationBound,
    PaperRegressionBound,
    SharpErrorBound,
    SharpRangeBound,
    TargetFacts,
    positive,
)
from pinsker.exceptions import ParameterError

#: A theorem, what its increases are divided by, and what they then never exceed.
Scaled: TypeAlias = tuple[Bound, float, float]


@dataclass(frozen=True)
class Theory:
    """How a metric is tied to information, and under which settings."""

    theorem: Callable[[TargetFacts, float, str, str], Scaled]  # of facts, limit, constants, model
    in_paper: bool = False
    is_gaussian: bool = False  # whether there is one for jointly Gaussian targets


@dataclass(frozen=True)
class InMetric(Bound):
    """A bound whose increases are divided by `scale` and never exceed `cap`, in a metric."""

    bound: Bound
    name: str
    largest_increase: float
    scale: float
    cap: float

    @property
    def theorem(self) -> str:
        return self.bound.theorem

    @property
    def metric(self) -> str:
        return self.name

    @property
    def most(self) -> float:
        return self.largest_increase

    @property
    def _cap(self) -> float:
        return self.cap

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self.bound.growth(nu) / self.scale

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.asarray(self.bound.budget(delta * self.scale))


@dataclass(frozen=True)
class UnknownBound(Bound):
    """Stands in for a metric that no theorem ties to information: both directions are NaN."""

    name: str

    theorem = "none"

    @property
    def metric(self) -> str:
        return self.name

    def _growth(self, nu: FloatArray) -> FloatArray:
        return np.full_like(nu, np.nan)

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.full_like(delta, np.nan)


def error_rate(facts: TargetFacts, limit: float, constants: str, model: str) -> Scaled:  # noqa: ARG001
    """Theorem C with the priors, or the printed bound alone."""
    if constants == "paper":
        return PaperClassificationBound(), 1.0, math.inf
    prior = 0.0 if facts.largest_prior is None else facts.largest_prior
    return SharpErrorBound(min(limit, 1.0 - prior), n_classes=facts.n_classes), 1.0, math.inf


def squared_error(
    facts: TargetFacts, limit: float, constants: str, model: str, scale: float = 1.0
) -> Scaled:
    """R2, R8, or the printed bound, in units of `scale`."""
    if constants == "paper":
        return PaperRegressionBound(_known(facts.max_abs, "max_abs", "mse")), scale, math.inf
    cap = min(limit * scale, math.inf if facts.variance is None else facts.variance)
    if model == "gaussian":
        kept = max(min(cap, _known(facts.variance, "variance", "mse")), np.finfo(float).tiny)
        return GaussianBound(float(kept)), scale, cap / scale
    length = _known(facts.target_range, "target_range", "mse")
    return SharpRangeBound(length, cap), scale, cap / scale


def variance_share(facts: TargetFacts, limit: float, constants: str, model: str) -> Scaled:
    """Squared error in units of the variance."""
    facts = facts.shares or facts
    scale = _known(facts.variance, "variance", "r2")
    return squared_error(facts, limit, constants, model, scale)


def brier(facts: TargetFacts, limit: float, constants: str, model: str) -> Scaled:  # noqa: ARG001
    """L2."""
    return BrierBound(facts.n_classes), 1.0, limit


def absolute_error(facts: TargetFacts, limit: float, constants: str, model: str) -> Scaled:  # noqa: ARG001
    """L3; of several targets by the root mean square of the ranges, at least their mean."""
    return AbsoluteErrorBound(_known(facts.target_range, "target_range", "mae")), 1.0, limit


def log_loss(facts: TargetFacts, limit: float, constants: str, model: str) -> Scaled:  # noqa: ARG001
    """L1; a density's log-loss may be negative: the error of the kept features is then no cap."""
    cap = limit if facts.task == "classification" else math.inf
    return LogLossBound(), float(facts.n_targets), cap


def _known(value: float | None, name: str, metric: str) -> float:
    """Return a fact that a metric cannot do without."""
    if value is None:
        raise ParameterError(f"metric={metric!r} needs facts.{name}, which is not known.")
    return positive(value, f"facts.{name}")
