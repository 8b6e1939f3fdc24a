"""Types of the compiled kernels. IN arrays are C order; OUT arrays are filled in place."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray

# knn/neighbors.cpp: one set of columns

def neighbour_counts(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    k: int,
    strategy: int,
    widest: int,
    n_threads: int,
    radius: FloatArray,
    counts: IntArray,
) -> None: ...
def box_counts(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    radius: FloatArray,
    widest: int,
    n_threads: int,
    extents: FloatArray,
    counts: IntArray,
) -> None: ...

# contingency/pairs.cpp: all pairs of columns, eight bins each at most

PAIR_BINS: int
PAIR_LANES: int

def pair_surplus(
    bits: npt.NDArray[np.uint64],
    margins: IntArray,
    first_word: IntArray,
    n_columns: int,
    n_bins: int,
    n_strata: int,
    n_classes: int,
    cost: IntArray,
    alone: IntArray,
    begin: int,
    n_threads: int,
    surplus: npt.NDArray[np.float32],
) -> None: ...

# contingency/counts.cpp: contingency tables of packed columns against (group, class)

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

# search/bind.cpp: every candidate of a search. Sums are in fixed point.

class Backward:
    def __init__(
        self,
        values: FloatArray,
        features: npt.NDArray[np.int32],
        n_features: int,
        labels: IntArray | None,
        target: FloatArray | None,
        digamma: IntArray,
        queries: IntArray,
        rank: int,
        direct: bool,
        watched_queries: int,
        state_bytes: int = ...,
    ) -> None: ...
    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None: ...
    def remove(self, feature: int, threads: int) -> None: ...
    def information(self) -> int: ...
    def changes(self, out: IntArray) -> None: ...
    def close_pairs(self) -> int: ...
    def state_bytes(self) -> int: ...

class Forward:
    def __init__(
        self,
        values: FloatArray,
        features: npt.NDArray[np.int32],
        n_features: int,
        labels: IntArray | None,
        target: FloatArray | None,
        digamma: IntArray,
        queries: IntArray,
        rank: int,
        direct: bool,
    ) -> None: ...
    def start(self, active: npt.NDArray[np.uint8], threads: int) -> None: ...
    def add(self, feature: int, threads: int) -> None: ...
    def information(self) -> int: ...
    def sums(self, out: IntArray) -> None: ...

# trees.cpp: extremely randomized trees, grown and evaluated in one descent

def class_trees(
    train: FloatArray,
    labels: IntArray,
    test: FloatArray,
    n_trees: int,
    min_leaf: int,
    n_candidates: int,
    seed: int,
    out: FloatArray,
) -> None: ...
def number_trees(
    train: FloatArray,
    numbers: FloatArray,
    test: FloatArray,
    n_trees: int,
    min_leaf: int,
    n_candidates: int,
    seed: int,
    out: FloatArray,
) -> None: ...

# boosted.cpp: gradient boosting of histogram trees, grown and evaluated at once

def boosted_classes(
    train: FloatArray,
    labels: IntArray,
    n_classes: int,
    weights: FloatArray,
    categorical: npt.NDArray[np.uint8],
    test: FloatArray,
    n_fit: int,
    n_rounds: int,
    n_leaves: int,
    min_leaf: int,
    patience: int,
    n_bins: int,
    rate: float,
    out: FloatArray,
) -> None: ...
def boosted_numbers(
    train: FloatArray,
    numbers: FloatArray,
    weights: FloatArray,
    categorical: npt.NDArray[np.uint8],
    test: FloatArray,
    n_fit: int,
    n_rounds: int,
    n_leaves: int,
    min_leaf: int,
    patience: int,
    n_bins: int,
    rate: float,
    out: FloatArray,
) -> None: ...
