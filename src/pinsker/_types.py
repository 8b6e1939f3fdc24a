"""Names for the arrays that travel between stages, and the plain values that leave them."""

import math
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

Task = Literal["classification", "regression", "survival"]
Scale = Literal["copula", "standard", "none"]
Missing = Literal["auto", "error", "drop", "category"]


@runtime_checkable
class HasShape(Protocol):
    """An array or a frame that knows its size."""

    shape: Any


@runtime_checkable
class HasColumns(Protocol):
    """A frame that names its columns."""

    columns: Any


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: no NumPy scalar, and None for NaN and infinities."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
