"""Checks at the door of every bound: one message per mistake, scalars in, float out."""

import math
from typing import TypeVar, cast

import numpy as np

from pinsker._types import FloatArray
from pinsker.exceptions import ParameterError

#: A scalar, or an array of them: what comes in is what goes out.
Value = TypeVar("Value", float, FloatArray)

#: Information is a sum of terms of order one; a sum that is negative by less than this is zero.
ROUNDING = 1e-12


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
    if lowest < -ROUNDING:
        raise ParameterError(
            f"{name} must not be negative, got {lowest:g} nats: set estimates below zero to zero."
        )
    return np.maximum(values, 0.0)


def tolerated(delta: Value, most: float = math.inf, name: str = "delta") -> FloatArray:
    """Return growths of error that a user accepts, each from zero to `most`."""
    values = np.asarray(delta, dtype=np.float64)
    if np.isnan(values).any():
        raise ParameterError(f"{name} is NaN: say how much error may be added.")
    lowest = float(values.min(initial=0.0))
    highest = float(values.max(initial=0.0))
    if lowest < 0.0:
        raise ParameterError(f"{name} must not be negative, got {lowest:g}.")
    if highest > most:
        raise ParameterError(f"{name} must be at most {most:g} in this unit, got {highest:g}.")
    return values


def probability(value: float | None, name: str) -> float:
    """Return an upper limit on an error rate; nothing known is one."""
    if value is None:
        return 1.0
    if not 0.0 <= value <= 1.0:
        raise ParameterError(f"{name} must be an error rate from 0 to 1, got {value:g}.")
    return float(value)


def class_count(classes: int | None) -> float:
    """Return the number of classes; nothing known is infinitely many."""
    if classes is None:
        return math.inf
    if classes < 2 or int(classes) != classes:
        raise ParameterError(f"classes must be a whole number of at least 2, got {classes!r}.")
    return float(classes)


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
