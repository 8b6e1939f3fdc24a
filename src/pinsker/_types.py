"""Names for the arrays that travel between stages."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

Task = Literal["classification", "regression"]
Scale = Literal["copula", "standard", "none"]
Missing = Literal["error", "drop", "category"]
