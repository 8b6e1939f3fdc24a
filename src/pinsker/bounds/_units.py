"""From the user's unit of error to nats, and back: what the stopping rules ask for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pinsker._types import FloatArray
from pinsker.bounds._classification import CONSTANTS, classification_budget, classification_growth
from pinsker.bounds._gaussian import gaussian_regression_budget, gaussian_regression_growth
from pinsker.bounds._losses import (
    absolute_error_budget,
    absolute_error_growth,
    bounded_loss_budget,
    bounded_loss_growth,
    brier_budget,
    brier_growth,
    log_loss_budget,
    log_loss_growth,
)
from pinsker.bounds._regression import regression_budget, regression_growth
from pinsker.bounds._target_facts import TargetFacts
from pinsker.bounds._values import Value, like, nats, not_negative, one_of, positive, tolerated
from pinsker.exceptions import ParameterError

#: Units that exist for each task, the default first.
UNITS = {
    "classification": ("error", "log-loss", "brier"),
    "regression": ("r2", "mse", "log-loss", "mae"),
}
MODELS = ("bounded", "gaussian")
#: Largest growth that has a meaning in units with a fixed scale.
_MOST = {"error": 1.0, "r2": 1.0, "brier": 1.0}

_Curve = Callable[[FloatArray], FloatArray]


def information_budget(
    delta: Value,
    *,
    unit: str,
    facts: TargetFacts,
    error_limit: float | None = None,
    constants: str = "sharp",
    model: str = "bounded",
) -> Value:
    r"""Information that may be lost while the ideal risk grows by at most `delta`.

    ====================  ===========================================  ======================
    unit                  growth of                                    bound
    ====================  ===========================================  ======================
    ``"error"``           error rate                                   Theorem C
    ``"r2"``              mean squared error / variance                R2, or R8 (gaussian)
    ``"mse"``             mean squared error                           R2, or R8 (gaussian)
    ``"log-loss"``        log-loss, in nats                            identity L1
    ``"brier"``           Brier score, summed over classes             L2
    ``"mae"``             mean absolute (several targets: Euclidean)   L3 (L4)
    ====================  ===========================================  ======================

    Parameters
    ----------
    delta : float or ndarray
        Growth that is accepted, in `unit`.
    unit : str
        One of the above; the first and the last four lines need the fitting task.
    facts : TargetFacts
        Facts about the target.
    error_limit : float, optional
        Upper limit on the risk that the *kept* features allow, in `unit`. The share of all other
        classes and the variance are used without being given.
    constants : {"sharp", "paper"}
        "paper": the printed :math:`\delta^2/2` and :math:`\delta/(2B^2)`, and no other fact.
    model : {"bounded", "gaussian"}
        Regression: what is assumed about the target. "gaussian" takes target and features for
        jointly Gaussian: a far larger budget, valid under that assumption only.

    Returns
    -------
    float or ndarray
        Nats; infinite if no loss of information can cost more than `delta`.

    See Also
    --------
    error_growth : the inverse.

    Notes
    -----
    Validity and proofs: ``docs/bounds.md``, under the label of each bound. The range of a sample
    is a lower estimate of the target's range.

    Examples
    --------
    >>> coin = TargetFacts("classification", n_classes=2, largest_prior=0.7)
    >>> round(information_budget(0.05, unit="error", facts=coin), 5)
    0.00837
    >>> weight = TargetFacts("regression", target_range=4.0, variance=1.0, max_abs=3.0)
    >>> round(information_budget(0.05, unit="r2", facts=weight), 5)
    0.00626
    >>> round(information_budget(0.05, unit="r2", facts=weight, model="gaussian"), 5)
    0.02565
    """
    link = _link(unit, facts, error_limit, constants, model)
    growth = tolerated(delta, most=_MOST.get(unit, np.inf))
    return like(np.where(growth >= link.cap, np.inf, link.budget(growth)), delta)


def error_growth(
    nu: Value,
    *,
    unit: str,
    facts: TargetFacts,
    error_limit: float | None = None,
    constants: str = "sharp",
    model: str = "bounded",
) -> Value:
    """Largest growth of the ideal risk when `nu` nats are lost, in the user's unit.

    Parameters
    ----------
    nu : float or ndarray
        Information lost, in nats.
    unit : {"error", "r2", "mse", "log-loss", "brier", "mae"}
        Unit of the answer, see :func:`information_budget`.
    facts : TargetFacts
        Facts about the target.
    error_limit : float, optional
        Upper limit on the risk that the *kept* features allow, in `unit`.
    constants : {"sharp", "paper"}
        Which bound.
    model : {"bounded", "gaussian"}
        Regression: what is assumed about the target.

    Returns
    -------
    float or ndarray
        Growth in `unit`.

    See Also
    --------
    information_budget : the inverse; validity and proofs are given there.

    Examples
    --------
    >>> coin = TargetFacts("classification", n_classes=2, largest_prior=0.7)
    >>> round(error_growth(0.00837, unit="error", facts=coin), 4)
    0.05
    >>> error_growth(0.2, unit="log-loss", facts=coin)
    0.2
    """
    link = _link(unit, facts, error_limit, constants, model)
    return like(np.minimum(link.growth(nats(nu)), link.cap), nu)


@dataclass(frozen=True)
class _Link:
    """The two directions between nats and one unit, and the growth that nothing exceeds."""

    growth: _Curve
    budget: _Curve
    cap: float = np.inf


def _link(
    unit: str, facts: TargetFacts, error_limit: float | None, constants: str, model: str
) -> _Link:
    """Choose the bound that belongs to a unit, or say why there is none."""
    _check(unit, facts, constants, model)
    limit = not_negative(error_limit, "error_limit")
    if unit == "error":
        return _error_link(facts, limit, constants)
    if unit in ("r2", "mse"):
        scale = _known(facts.variance, "variance", unit) if unit == "r2" else 1.0
        return _squared_link(facts, limit, constants, model, scale)
    if unit == "brier":
        m = facts.n_classes
        return _Link(lambda nu: brier_growth(nu, m), lambda d: brier_budget(d, m), limit)
    if unit == "mae":
        return _absolute_link(facts, limit)
    # A density's log-loss may be negative: the error of the kept features is then no cap.
    return _Link(
        log_loss_growth, log_loss_budget, limit if facts.task == "classification" else np.inf
    )


def _error_link(facts: TargetFacts, limit: float, constants: str) -> _Link:
    """Error rate: Theorem C with the priors, or the printed bound alone."""
    prior = 0.0 if facts.largest_prior is None else facts.largest_prior
    kept = min(limit, 1.0 - prior)
    m = facts.n_classes
    return _Link(
        lambda nu: classification_growth(nu, kept, m, constants),
        lambda delta: classification_budget(delta, kept, m, constants),
    )


def _squared_link(
    facts: TargetFacts, limit: float, constants: str, model: str, scale: float
) -> _Link:
    """Squared error in units of `scale`: R2, R8, or the printed bound."""
    if constants == "paper":
        largest = _known(facts.max_abs, "max_abs", "mse")
        return _Link(
            lambda nu: 2.0 * largest**2 * nu / scale,
            lambda delta: delta * scale / (2.0 * largest**2),
        )
    cap = min(limit * scale, np.inf if facts.variance is None else facts.variance)
    if model == "gaussian":
        kept = max(min(cap, _known(facts.variance, "variance", "mse")), np.finfo(float).tiny)
        return _Link(
            lambda nu: gaussian_regression_growth(nu, kept) / scale,
            lambda delta: gaussian_regression_budget(delta * scale, kept),
            cap / scale,
        )
    length = _known(facts.target_range, "target_range", "mse")
    return _Link(
        lambda nu: regression_growth(nu, length, cap) / scale,
        lambda delta: regression_budget(delta * scale, length, cap),
        cap / scale,
    )


def _absolute_link(facts: TargetFacts, limit: float) -> _Link:
    """Absolute error: L3 for one target, L4 for the Euclidean distance of several."""
    length = _known(facts.target_range, "target_range", "mae")
    if facts.n_targets == 1:
        return _Link(
            lambda nu: absolute_error_growth(nu, length),
            lambda delta: absolute_error_budget(delta, length),
            limit,
        )
    return _Link(
        lambda nu: bounded_loss_growth(nu, length),
        lambda delta: bounded_loss_budget(delta, length),
        limit,
    )


def _check(unit: str, facts: TargetFacts, constants: str, model: str) -> None:
    """Refuse combinations that no theorem covers."""
    one_of(constants, CONSTANTS, "constants")
    one_of(model, MODELS, "model")
    known = UNITS[facts.task]
    if unit not in known:
        listed = ", ".join(repr(name) for name in known)
        raise ParameterError(f"unit={unit!r} does not fit a {facts.task} target; use {listed}.")
    if constants == "paper" and unit not in ("error", "mse", "r2"):
        raise ParameterError(f"the paper has no bound for unit={unit!r}; use constants='sharp'.")
    if model == "gaussian" and (constants == "paper" or unit not in ("mse", "r2", "log-loss")):
        raise ParameterError(
            f"model='gaussian' does not go with unit={unit!r} and constants={constants!r}: "
            "it is for squared error and log-loss of a regression target, with sharp constants."
        )


def _known(value: float | None, name: str, unit: str) -> float:
    """Return a fact that a unit cannot do without."""
    if value is None:
        raise ParameterError(f"unit={unit!r} needs facts.{name}, which is not known.")
    return positive(value, f"facts.{name}")


@dataclass(frozen=True)
class Bound:
    """Stands in until the bounds are objects."""

    args: tuple

    def growth(self, nu):
        m, f, e, c, d = self.args
        return error_growth(nu, unit=m, facts=f, error_limit=e, constants=c, model=d)

    def budget(self, delta):
        m, f, e, c, d = self.args
        return information_budget(delta, unit=m, facts=f, error_limit=e, constants=c, model=d)


def bound_for(metric, facts, *, error_limit=None, constants="sharp", model="bounded"):
    return Bound((metric, facts, error_limit, constants, model))


METRICS = UNITS
METRIC_NAMES = {
    "error": "error rate",
    "r2": "of the target's variance",
    "mse": "mean squared error",
    "log-loss": "nats of log-loss",
    "brier": "Brier score",
    "mae": "mean absolute error",
}
