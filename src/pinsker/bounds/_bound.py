"""What all bounds share: two directions, the cap, one check per mistake, scalars in, float out."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from pinsker._types import FloatArray
from pinsker.exceptions import ParameterError

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
    theorem needs, and answers in both directions.

    See Also
    --------
    pinsker.metrics.bound_for : the bound that belongs to a metric and a target.

    Notes
    -----
    Valid for the best possible model and for the exact information; an estimate of the information
    passes its own error on. A subclass writes one formula per direction and, where the theorem has
    one, the cap; arguments are checked and caps are applied here.

    Examples
    --------
    >>> from pinsker.bounds import PinskerBound
    >>> bound = PinskerBound()
    >>> round(bound.growth(0.02), 6), round(bound.budget(0.1), 6)
    (0.1, 0.02)
    >>> bound.theorem, bound.metric
    ('C1', 'error')
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
        """Return the largest error increase when `nu` nats are lost.

        Parameters
        ----------
        nu : float or ndarray
            Information lost, in nats. Infinity is allowed.

        Returns
        -------
        float or ndarray
            Error increase, in the bound's metric.
        """
        return like(np.minimum(self._growth(nats(nu)), min(self._cap, self.most)), nu)

    def budget(self, delta: Value) -> Value:
        """Return the nats that may be lost while the error increases by at most `delta`.

        Parameters
        ----------
        delta : float or ndarray
            Error increase that is accepted, in the bound's metric.

        Returns
        -------
        float or ndarray
            Information, in nats; infinite where no loss of information can cost more than `delta`.
        """
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
    """Return a finite quantity above zero."""
    if not (value > 0.0 and math.isfinite(value)):
        raise ParameterError(f"{name} must be a finite number above zero, got {value!r}.")
    return float(value)


def not_negative(value: float | None, name: str, otherwise: float = math.inf) -> float:
    """Return a quantity of at least zero, or `otherwise` if nothing is known."""
    if value is None:
        return otherwise
    if not value >= 0.0:
        raise ParameterError(f"{name} must be a number of at least zero, got {value!r}.")
    return float(value)


def one_of(value: str, choices: tuple[str, ...], name: str) -> str:
    """Return a choice that exists."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be one of {listed}; got {value!r}.")
    return value
