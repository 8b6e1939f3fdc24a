"""Numbers and evidence in plain words: no reader has to know what a nat is."""

import math
from typing import Any

#: How each unit of error is called on an axis.
UNIT_NAMES = {
    "error": "error rate",
    "r2": "share of the target's variance",
    "mse": "mean squared error",
    "log-loss": "log-loss, nats",
    "brier": "Brier score",
    "mae": "mean absolute error",
}
#: Units that are shares: people say them in points of a hundred.
_POINTS = {"error": "of accuracy", "r2": "of R²"}


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: no NumPy scalar, and None for NaN and infinities.

    Examples
    --------
    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as people read it; a dash where it is not known.

    Examples
    --------
    >>> number(0.70512), number(-0.00012), number(1234.5), number(None)
    ('0.705', '0.000', '1234', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def short(value: float) -> str:
    """Return a setting without digits nobody typed.

    Examples
    --------
    >>> short(0.05), short(0.1 + 0.2)
    ('0.05', '0.3')
    """
    return f"{value:.6g}"


def error_in_words(value: float | None, unit: str) -> str:
    """Return an amount of error in the words of its unit.

    Examples
    --------
    >>> error_in_words(0.05, "error"), error_in_words(0.01, "r2"), error_in_words(0.3, "mse")
    ('5 points of accuracy', '1 point of R²', '0.3 of mean squared error')
    """
    if value is None or not math.isfinite(value):
        return "an unknown amount"
    if unit in _POINTS:
        points = round(100 * value, 1)
        noun = "point" if points == 1 else "points"
        return f"{points:g} {noun} {_POINTS[unit]}"
    return f"{value:.3g} of {UNIT_NAMES.get(unit, unit)}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "feature"), counted(4, "feature")
    ('1 feature', '4 features')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
