"""Which theorem ties a metric to information, given what is known of the target."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
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
class Known:
    """What is known of a target, and which theorem is asked for."""

    facts: TargetFacts
    limit: float  # of the error with the kept features
    constants: str
    model: str


@dataclass(frozen=True)
class Theory:
    """How a metric is tied to information, and under which settings."""

    theorem: Callable[[Known], Scaled]
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


def error_rate(known: Known) -> Scaled:
    """Theorem C with the priors, or the printed bound alone."""
    if known.constants == "paper":
        return PaperClassificationBound(), 1.0, math.inf
    most = min(known.limit, 1.0 - (known.facts.largest_prior or 0.0))
    return SharpErrorBound(most, n_classes=known.facts.n_classes), 1.0, math.inf


def squared_error(known: Known, scale: float = 1.0) -> Scaled:
    """R2, R8, or the printed bound, in units of `scale`."""
    facts = known.facts
    if known.constants == "paper":
        return PaperRegressionBound(fact(facts.max_abs, "max_abs", "mse")), scale, math.inf
    cap = min(known.limit * scale, math.inf if facts.variance is None else facts.variance)
    if known.model == "gaussian":
        kept = max(min(cap, fact(facts.variance, "variance", "mse")), np.finfo(float).tiny)
        return GaussianBound(float(kept)), scale, cap / scale
    length = fact(facts.target_range, "target_range", "mse")
    return SharpRangeBound(length, cap), scale, cap / scale


def variance_share(known: Known) -> Scaled:
    """Squared error in units of the variance."""
    facts = known.facts.shares or known.facts
    return squared_error(replace(known, facts=facts), fact(facts.variance, "variance", "r2"))


def brier(known: Known) -> Scaled:
    """L2."""
    return BrierBound(known.facts.n_classes), 1.0, known.limit


def absolute_error(known: Known) -> Scaled:
    """L3; of several targets by the root mean square of the ranges, at least their mean."""
    length = fact(known.facts.target_range, "target_range", "mae")
    return AbsoluteErrorBound(length), 1.0, known.limit


def log_loss(known: Known) -> Scaled:
    """L1; a density's log-loss may be negative: the error of the kept features is then no cap."""
    cap = known.limit if known.facts.task == "classification" else math.inf
    return LogLossBound(), float(known.facts.n_targets), cap


def fact(value: float | None, name: str, metric: str) -> float:
    """Return a fact that a metric cannot do without."""
    if value is None:
        raise ParameterError(f"metric={metric!r} needs facts.{name}, which is not known.")
    return positive(value, f"facts.{name}")
