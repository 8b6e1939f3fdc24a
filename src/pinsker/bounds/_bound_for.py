"""The bound that belongs to a metric and a target: what stopping rules and certificates use."""

import math
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._bound import METRICS, Bound, not_negative, one_of, positive
from pinsker.bounds._error_rate import PaperClassificationBound, SharpErrorBound
from pinsker.bounds._other_losses import (
    AbsoluteErrorBound,
    BrierBound,
    LogLossBound,
)
from pinsker.bounds._squared_error import GaussianBound, PaperRegressionBound, SharpRangeBound
from pinsker.bounds._target_facts import TargetFacts
from pinsker.exceptions import ParameterError

_CONSTANTS = ("sharp", "paper")
_MODELS = ("bounded", "gaussian")


def bound_for(
    metric: str,
    facts: TargetFacts,
    *,
    error_limit: float | None = None,
    constants: str = "sharp",
    model: str = "bounded",
) -> Bound:
    r"""Return the bound on the increase of a metric, for a target of which some facts are known.

    ====================  ===========================================  ======================
    metric                increase of                                  bound
    ====================  ===========================================  ======================
    ``"error"``           error rate                                   Theorem C
    ``"r2"``              mean squared error / variance                R2, or R8 (gaussian)
    ``"mse"``             mean squared error                           R2, or R8 (gaussian)
    ``"log-loss"``        log-loss, in nats                            identity L1
    ``"brier"``           Brier score, summed over classes             L2
    ``"mae"``             mean absolute error                          L3
    ====================  ===========================================  ======================

    Of several targets it is the mean increase over targets.

    Parameters
    ----------
    metric : str
        One of the above that fits the task, see ``METRICS``.
    facts : TargetFacts
        Facts about the target.
    error_limit : float, optional
        Upper limit on the Bayes risk with the *kept* features, in `metric`: no increase exceeds
        it. One minus the largest prior and the variance are used without being given.
    constants : {"sharp", "paper"}
        "paper": the printed :math:`\sqrt{2\nu}` and :math:`2 B^2 \nu`, and no other fact.
    model : {"bounded", "gaussian"}
        Regression: what is assumed about the target. "gaussian" takes target and features for
        jointly Gaussian: a far larger budget, valid under that assumption only.

    Returns
    -------
    Bound
        Its ``growth(nu)`` is in `metric`, its ``budget(delta)`` takes an increase in `metric`.

    Raises
    ------
    ParameterError
        If the metric does not fit the task, no theorem covers the combination, or a fact that the
        theorem needs is not known.

    Notes
    -----
    Validity and proofs: ``docs/bounds.md``, under the label of each bound. The range of a sample
    is a lower estimate of the target's range.

    Examples
    --------
    >>> coin = TargetFacts("classification", n_classes=2, largest_prior=0.7)
    >>> bound = bound_for("error", coin)
    >>> round(bound.budget(0.05), 5), round(bound.growth(0.00837), 4)
    (0.00837, 0.05)
    >>> weight = TargetFacts("regression", target_range=4.0, variance=1.0, max_abs=3.0)
    >>> round(bound_for("r2", weight).budget(0.05), 5)
    0.00626
    >>> round(bound_for("r2", weight, model="gaussian").budget(0.05), 5)
    0.02565
    """
    _check(metric, facts, constants, model)
    limit = not_negative(error_limit, "error_limit")
    if metric == "error":
        return _error_rate_bound(facts, limit, constants)
    if metric in ("r2", "mse"):
        facts = facts.shares if metric == "r2" and facts.shares is not None else facts
        scale = _known(facts.variance, "variance", metric) if metric == "r2" else 1.0
        return _squared_error_bound(metric, facts, limit, constants, model, scale)
    if metric == "brier":
        return _InMetric(BrierBound(facts.n_classes), metric, cap=limit)
    if metric == "mae":
        # Of several targets the root mean square of the ranges, which is at least their mean.
        length = _known(facts.target_range, "target_range", metric)
        return _InMetric(AbsoluteErrorBound(length), metric, cap=limit)
    # A density's log-loss may be negative: the error of the kept features is then no cap.
    cap = limit if facts.task == "classification" else math.inf
    return _InMetric(LogLossBound(), metric, float(facts.n_targets), cap)


@dataclass(frozen=True)
class _InMetric(Bound):
    """A bound whose increases are divided by `scale` and never exceed `cap`, in a metric."""

    bound: Bound
    name: str
    scale: float = 1.0
    cap: float = math.inf

    @property
    def theorem(self) -> str:
        return self.bound.theorem

    @property
    def metric(self) -> str:
        return self.name

    @property
    def _cap(self) -> float:
        return self.cap

    def _growth(self, nu: FloatArray) -> FloatArray:
        return self.bound.growth(nu) / self.scale

    def _budget(self, delta: FloatArray) -> FloatArray:
        return np.asarray(self.bound.budget(delta * self.scale))


def _error_rate_bound(facts: TargetFacts, limit: float, constants: str) -> Bound:
    """Error rate: Theorem C with the priors, or the printed bound alone."""
    if constants == "paper":
        return PaperClassificationBound()
    prior = 0.0 if facts.largest_prior is None else facts.largest_prior
    return SharpErrorBound(kept_error=min(limit, 1.0 - prior), n_classes=facts.n_classes)


def _squared_error_bound(
    metric: str, facts: TargetFacts, limit: float, constants: str, model: str, scale: float
) -> Bound:
    """Squared error in units of `scale`: R2, R8, or the printed bound."""
    if constants == "paper":
        largest = _known(facts.max_abs, "max_abs", "mse")
        return _InMetric(PaperRegressionBound(largest), metric, scale)
    cap = min(limit * scale, math.inf if facts.variance is None else facts.variance)
    if model == "gaussian":
        kept = max(min(cap, _known(facts.variance, "variance", "mse")), np.finfo(float).tiny)
        return _InMetric(GaussianBound(float(kept)), metric, scale, cap / scale)
    length = _known(facts.target_range, "target_range", "mse")
    return _InMetric(SharpRangeBound(length, cap), metric, scale, cap / scale)


def _check(metric: str, facts: TargetFacts, constants: str, model: str) -> None:
    """Refuse combinations that no theorem covers."""
    one_of(constants, _CONSTANTS, "constants")
    one_of(model, _MODELS, "model")
    known = METRICS[facts.task]
    if metric not in known:
        listed = ", ".join(repr(name) for name in known)
        raise ParameterError(f"metric={metric!r} does not fit a {facts.task} target; use {listed}.")
    if constants == "paper" and metric not in ("error", "mse", "r2"):
        raise ParameterError(
            f"the paper has no bound for metric={metric!r}; use constants='sharp'."
        )
    if model == "gaussian" and (constants == "paper" or metric not in ("mse", "r2", "log-loss")):
        raise ParameterError(
            f"model='gaussian' does not go with metric={metric!r} and constants={constants!r}: "
            "it is for squared error and log-loss of a regression target, with sharp constants."
        )


def _known(value: float | None, name: str, metric: str) -> float:
    """Return a fact that a metric cannot do without."""
    if value is None:
        raise ParameterError(f"metric={metric!r} needs facts.{name}, which is not known.")
    return positive(value, f"facts.{name}")
