"""What all bounds share: facts of a target, two directions, checks, exact binary divergences."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np
from scipy.special import xlog1py

from pinsker._types import FloatArray, Task
from pinsker.encoding import Target
from pinsker.exceptions import DataError, ParameterError


@dataclass(frozen=True)
class TargetFacts:
    """Facts about a target that turn nats into error and back.

    For several targets errors are the mean over targets. Of numbers, range and largest value are
    the root of the mean of squares, and the variance is the mean, so that all bounds hold for the
    mean error. Of classes, what holds for the target with the most classes and the smallest prior
    holds for every one of them, and for the mean.

    Attributes
    ----------
    task : {"classification", "regression", "survival"}
        How the target is understood.
    n_classes : int or None
        Number of classes.
    largest_prior : float or None
        Probability of the most frequent class; one minus it is an error rate without features.
    target_range, max_abs : float or None
        Largest minus smallest, and largest absolute value (the paper's B), in the target's units.
    variance : float or None
        Variance (divisor n), in squared units of the target.
    n_targets : int
        Number of targets whose errors are averaged.
    shares : TargetFacts or None
        Of several numeric targets, the facts of each divided by its standard deviation (R²).

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
        facts, numbers = cls._of_numbers(target.numbers, weights), target.numbers
        if numbers.shape[1] == 1:
            return facts
        spread = np.sqrt(column_variances(numbers, weights))
        return replace(facts, shares=cls._of_numbers(numbers / spread, weights))

    @classmethod
    def _of_numbers(cls, values: FloatArray, weights: FloatArray | None) -> "TargetFacts":
        with np.errstate(over="ignore"):
            ranges = np.ptp(values, axis=0)
            spread = _root_mean_square(ranges)
            variances = column_variances(values, weights)
        if not (variances.min() > 0.0 and variances.max() < np.inf):
            raise DataError(
                f"y spans {ranges.max():.3g}, too {'far' if variances.min() else 'little'} for "
                "squared errors in double precision: give it in another unit."
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


#: A scalar, or an array of them: what comes in is what goes out.
Value = TypeVar("Value", float, FloatArray)

#: Information is a sum of terms of order one; a sum that is negative by less than this is zero.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Bound(ABC):
    r"""A theorem that ties the error increase to the information lost.

    Removed features A hold :math:`\nu = I(Y; X_A | X_K)` nats about the target that the kept
    features K do not hold. The error increase is the Bayes risk (lowest error any model could
    reach) with K minus the Bayes risk with all features. A bound is made of the facts that its
    theorem needs, and answers in both directions, for the exact information. A subclass writes one
    formula per direction and, where the theorem has one, the cap.
    :func:`pinsker.metrics.bound_for` returns the bound of a metric and a target.

    Examples
    --------
    >>> from pinsker.bounds import PinskerBound
    >>> bound = PinskerBound()
    >>> round(bound.growth(0.02), 6), round(bound.budget(0.1), 6), bound.theorem, bound.metric
    (0.1, 0.02, 'C1', 'error')
    """

    @property
    @abstractmethod
    def theorem(self) -> str:
        """Label of the theorem in ``docs/bounds.md``."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """Metric of the error increase, as in ``pinsker.metrics.METRICS``."""

    @property
    def most(self) -> float:
        """Largest error increase that has a meaning in the metric."""
        return math.inf

    def growth(self, nu: Value) -> Value:
        """Return the largest error increase, in the bound's metric, when `nu` nats are lost."""
        return like(np.minimum(self._growth(nats(nu)), min(self._cap, self.most)), nu)

    def budget(self, delta: Value) -> Value:
        """Return the nats that may be lost while the error increases by at most `delta`."""
        accepted = increases(delta, self.most)
        return like(np.where(accepted >= self._cap, np.inf, self._budget(accepted)), delta)

    @property
    def _cap(self) -> float:
        """Error increase that no loss of information exceeds."""
        return math.inf

    @abstractmethod
    def _growth(self, nu: FloatArray) -> FloatArray:
        """Formula of the theorem, for nats of at least zero."""

    @abstractmethod
    def _budget(self, delta: FloatArray) -> FloatArray:
        """Inverse of `_growth`, for increases of at least zero; below the cap is enough."""


def like(result: FloatArray, given: Value) -> Value:
    """Return `result` as a float if a scalar was given, as an array otherwise."""
    returned: object = float(result) if np.ndim(given) == 0 else np.asarray(result, np.float64)
    return cast(Value, returned)


def nats(nu: Value, name: str = "nu") -> FloatArray:
    """Return information as an array that is never negative; infinity is allowed."""
    values = np.asarray(nu, dtype=np.float64)
    if np.isnan(values).any():
        raise ParameterError(f"{name} is NaN: information must be a number of nats.")
    lowest = float(values.min(initial=0.0))
    if lowest < -_ROUNDING:
        raise ParameterError(
            f"{name} must not be negative, got {lowest:g} nats: set estimates below zero to zero."
        )
    return np.maximum(values, 0.0)


def increases(delta: Value, most: float = math.inf, name: str = "delta") -> FloatArray:
    """Return errors, or increases of an error, each from zero to `most`."""
    values = np.asarray(delta, dtype=np.float64)
    if np.isnan(values).any():
        raise ParameterError(f"{name} is NaN: give a number of at least zero.")
    lowest = float(values.min(initial=0.0))
    highest = float(values.max(initial=0.0))
    if lowest < 0.0:
        raise ParameterError(f"{name} must not be negative, got {lowest:g}.")
    if highest > most:
        raise ParameterError(f"{name} must be at most {most:g} in this metric, got {highest:g}.")
    return values


def probability(value: float | None, name: str) -> float:
    """Return an upper limit on an error rate; nothing known is one."""
    if value is None:
        return 1.0
    if not 0.0 <= value <= 1.0:
        raise ParameterError(f"{name} must be an error rate from 0 to 1, got {value:g}.")
    return float(value)


def class_count(n_classes: int | None) -> float:
    """Return the number of classes; nothing known is infinitely many."""
    if n_classes is None:
        return math.inf
    if n_classes < 2 or int(n_classes) != n_classes:
        raise ParameterError(f"n_classes must be an integer of at least 2, got {n_classes!r}.")
    return float(n_classes)


def positive(value: float, name: str) -> float:
    if not (value > 0.0 and math.isfinite(value)):
        raise ParameterError(f"{name} must be a finite number above zero, got {value!r}.")
    return float(value)


def not_negative(value: float | None, name: str) -> float:
    """Return a quantity of at least zero; nothing known is infinity."""
    if value is None:
        return math.inf
    if not value >= 0.0:
        raise ParameterError(f"{name} must be a number of at least zero, got {value!r}.")
    return float(value)


def one_of(value: str, choices: tuple[str, ...], name: str) -> str:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be one of {listed}; got {value!r}.")
    return value


LOG2 = math.log(2.0)

# Binary divergences, exact to rounding from tiny to large arguments, are built from `phi`, whose
# terms never cancel: d(b + D || b) = b phi(D/b) + (1 - b) phi(-D/(1 - b)).
#: Below this |x| the power series of phi replaces the difference, which loses digits there.
_SERIES_BELOW = 0.1
#: Coefficients of x^18 .. x^2: (-1)^k / (k (k - 1)).
_PHI_SERIES = [(-1.0) ** k / (k * (k - 1)) for k in range(18, 1, -1)]
#: At this information the largest possible total variation is one to the last bit.
_SATURATED = 37.0
#: Chandrupatla's method needs about ten steps here; the limit only stops a faulty function.
_MOST_STEPS = 200


def phi(x: FloatArray) -> FloatArray:
    """``(1 + x) log(1 + x) - x`` for x >= -1."""
    small = np.clip(x, -_SERIES_BELOW, _SERIES_BELOW)
    series = small * small * np.polyval(_PHI_SERIES, small)
    direct = xlog1py(1.0 + x, x) - x
    return np.where(np.abs(x) < _SERIES_BELOW, series, direct)


def kappa(t: FloatArray) -> FloatArray:
    """Information that a fair coin loses when its tilt to 1/2 +- t is hidden, t in [0, 1/2]."""
    return 0.5 * (phi(2.0 * t) + phi(-2.0 * t))


def kappa_inverse(nu: FloatArray) -> FloatArray:
    """Tilt t in [0, 1/2] with ``kappa(t) = nu``; 1/2 from log 2 on."""
    inside = np.minimum(nu, LOG2)
    low, high = 0.5 * np.sqrt(inside / LOG2), np.minimum(np.sqrt(inside / 2.0), 0.5)
    return np.where(nu >= LOG2, 0.5, solve_increasing(kappa, inside, low, high))


def tilt_information(t: FloatArray) -> FloatArray:
    """Information whose loss can hide a tilt of at most t: ``kappa(t)``, infinite from 1/2 on."""
    return np.where(t < 0.5, kappa(np.minimum(t, 0.5)), np.inf)


def divergence(increase: FloatArray, kept: FloatArray) -> FloatArray:
    """``d(kept - increase || kept)``, the binary divergence of two error rates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right = (1.0 - kept) * phi(increase / (1.0 - kept))
    return kept * phi(-increase / kept) + np.where(kept < 1.0, right, np.inf)


def perspective(increase: FloatArray, kept: FloatArray) -> FloatArray:
    """``2 e kappa(D / (2 e))`` with D = increase and e = kept."""
    return kept * (phi(increase / kept) + phi(-increase / kept))


def extremal_pair(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Total variation and ``q`` of the pair (q + D, q) of least divergence, at parameter t > 0."""
    near = np.minimum(t, 1.0)
    fraction = np.full_like(near, 23.0)
    for odd in range(21, 1, -2):  # L = t / (3 + t^2 / (5 + t^2 / (7 + ...))): no cancellation
        fraction = odd + near * near / fraction
    far = np.maximum(t, 1.0)
    decay = np.exp(-2.0 * far)
    gap = np.where(t < 1.0, 1.0 - near / fraction, 1.0 / far - 2.0 * decay / (1.0 - decay))
    return 0.5 * t * gap * (2.0 - gap), 0.5 * gap


def least_divergence_error(variation: FloatArray) -> FloatArray:
    """Error rate e* that minimises ``d(e - D || e)`` for D = variation in (0, 1)."""
    with np.errstate(divide="ignore"):
        high = np.minimum(1.0 / (1.0 - variation), 1e17)
    t = solve_increasing(lambda t: extremal_pair(t)[0], variation, 2.0 * variation, high)
    return 1.0 - extremal_pair(np.maximum(t, np.finfo(float).tiny))[1]


def vajda(variation: FloatArray) -> FloatArray:
    """``V(D) = min over e of d(e - D || e)``: least divergence at total variation D."""
    inside = np.clip(variation, np.finfo(float).tiny, 1.0 - 1e-16)
    value = divergence(inside, least_divergence_error(inside))
    return np.where(variation >= 1.0, np.inf, np.where(variation > 0.0, value, 0.0))


def vajda_inverse(nu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Largest total variation D with ``V(D) <= nu``, and the error e* where it is reached."""
    inside = np.clip(nu, np.finfo(float).tiny, _SATURATED)

    def least(t: FloatArray) -> FloatArray:
        variation, q = extremal_pair(t)
        return divergence(variation, 1.0 - q)

    t = solve_increasing(least, inside, 2.0 * kappa_inverse(inside), 0.5 * np.exp(inside + 1.0))
    variation, q = extremal_pair(t)
    variation = np.where(nu >= _SATURATED, 1.0, np.where(nu > 0.0, variation, 0.0))
    return variation, 1.0 - q


def solve_increasing(
    function: Callable[[FloatArray], FloatArray],
    target: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Root of ``function(x) = target`` in [low, high], elementwise; zero where the target is."""
    # By Chandrupatla's method: inverse quadratic interpolation, or bisection where that is unsafe.
    # On logarithms of both axes: our functions are close to powers, so tiny targets cost no digits.
    tiny = np.finfo(float).tiny
    top = np.maximum(high, tiny)

    def gap(x: FloatArray) -> FloatArray:
        return np.log(np.maximum(function(top * np.exp(x)), tiny) / target)

    with np.errstate(all="ignore"):
        left, right = np.log(np.maximum(low, tiny) / top), np.zeros_like(top)
        a, b, fa, fb = left, right, gap(left), gap(right)
        at_right, at_left = fb <= 0.0, fa >= 0.0
        step, best = np.full(np.shape(a), 0.5), b
        for _ in range(_MOST_STEPS):
            x = a + step * (b - a)
            fx = gap(x)
            same = np.sign(fx) == np.sign(fa)
            c, fc = np.where(same, a, b), np.where(same, fa, fb)
            b, fb = np.where(same, b, a), np.where(same, fb, fa)
            a, fa = x, fx
            best = np.where(np.abs(fa) < np.abs(fb), a, b)
            width = np.abs(b - a)
            least = 2.0 * np.finfo(float).eps * np.maximum(np.abs(best), 0.5) / width
            done = at_right | at_left | (least > 0.5) | (fa == 0.0) | (fb == 0.0) | np.isnan(fa)
            if done.all():
                break
            xi, ratio = (a - b) / (c - b), (fa - fb) / (fc - fb)
            quadratic = (ratio**2 < xi) & ((1.0 - ratio) ** 2 < 1.0 - xi)
            guess = fa / (fb - fa) * fc / (fb - fc)
            guess += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            step = np.where(quadratic & np.isfinite(guess), guess, 0.5)
            step = np.clip(step, least, 1.0 - least)
            step = np.where(np.isfinite(step), step, 0.5)
        root = np.where(at_right, right, np.where(at_left, left, best))
        return np.where(target > 0.0, np.clip(top * np.exp(root), low, high), 0.0)
