"""Types of the compiled kernels. IN arrays are C order; OUT arrays are filled in place."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray

openmp: bool

# neighbours.cpp: one set of columns

def neighbour_counts(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    k: int,
    n_threads: int,
    radius: FloatArray,
    counts: IntArray,
) -> None: ...

# counts.cpp: contingency tables of packed columns against (group, class)

COSTS_PER_NAT: float

def pack_columns(
    table: npt.NDArray[Any],
    home: IntArray,
    stride: IntArray,
    packed: npt.NDArray[np.uint8],
    wide: npt.NDArray[np.uint32],
) -> None: ...
def count_rows(
    packed: npt.NDArray[np.uint8],
    wide: npt.NDArray[np.uint32],
    home: IntArray,
    stride: IntArray,
    levels: IntArray,
    active: npt.NDArray[np.uint8],
    group: npt.NDArray[np.uint32],
    n_groups: int,
    label: npt.NDArray[np.uint32],
    n_classes: int,
    cost: IntArray,
    n_threads: int,
    with_classes: IntArray,
    without_classes: IntArray,
) -> None: ...
def weigh_rows(
    packed: npt.NDArray[np.uint8],
    wide: npt.NDArray[np.uint32],
    home: IntArray,
    stride: IntArray,
    levels: IntArray,
    active: npt.NDArray[np.uint8],
    group: npt.NDArray[np.uint32],
    n_groups: int,
    label: npt.NDArray[np.uint32],
    n_classes: int,
    weight: npt.NDArray[np.uint64],
    n_threads: int,
    with_classes: IntArray,
    without_classes: IntArray,
) -> None: ...
