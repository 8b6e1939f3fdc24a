"""Radii and neighbor counts of one (x, y, z), for every row."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.exceptions import DataError, ParameterError

Strategy = Literal["auto", "tree", "sweep", "pairs"]
#: In the order of the kernel's enumeration.
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
#: Bits of vector registers.
REGISTERS = (512, 256, 128)


@dataclass(frozen=True, eq=False)
class NeighborCounts:
    """What the kNN estimator needs to know of each row (docs/estimator.md)."""

    radius: FloatArray  # distance to the k_i-th neighbor in the joint space
    neighbors: IntArray  # k_i: k, or the number of rows at finite joint distance if that is smaller
    # Other rows inside ("open") and inside or on ("closed") the radius, in each space.
    joint_closed: IntArray
    xz_open: IntArray
    xz_closed: IntArray
    yz_open: IntArray
    yz_closed: IntArray
    z_open: IntArray
    z_closed: IntArray


@dataclass(frozen=True, eq=False)
class BoxCounts:
    """Rows in boxes that have a width of their own in x, y and z (Kraskov's second estimator)."""

    # Largest distance among the rows inside or on the radius.
    z_extent: FloatArray
    x_extent: FloatArray
    y_extent: FloatArray
    # Other rows strictly inside the box ("open"), and inside or on it ("closed").
    xz_open: IntArray
    xz_closed: IntArray
    yz_open: IntArray
    yz_closed: IntArray
    z_open: IntArray
    z_closed: IntArray


def neighbor_counts(
    x: FloatArray, y: FloatArray, z: FloatArray, *, k: int, n_threads: int = 1,
    strategy: Strategy = "auto", widest: int = 512,
) -> NeighborCounts:  # fmt: skip
    """Find each row's radius in (x, y, z) and count its neighbors in xz, yz and z."""
    x, y, z = _spaces(x, y, z)
    k, n_threads = check.at_least("k", k, 1, check.MOST_NEIGHBORS), check.thread_count(n_threads)
    check.one_of("strategy", strategy, STRATEGIES)
    widest = _register_bits(widest)
    n = x.shape[0]
    k = min(k, n)  # more than there are rows are all of them
    radius = np.zeros(n)
    counts = np.zeros((8, n), dtype=np.int64)
    number = STRATEGIES.index(strategy)
    _kernels.neighbour_counts(x, y, z, k, number, widest, n_threads, radius, counts)
    return NeighborCounts(radius, *counts)


def box_counts(
    x: FloatArray, y: FloatArray, z: FloatArray, *, radius: FloatArray, n_threads: int = 1,
    widest: int = 512,
) -> BoxCounts:  # fmt: skip
    """Shrink each row's ball to the box of the rows in it, and count its neighbors there."""
    x, y, z = _spaces(x, y, z)
    n = x.shape[0]
    radius = check.finite_vector("radius", radius, n)
    if (radius < 0).any():
        raise DataError("radius holds negative numbers: give those that neighbor_counts found.")
    n_threads, widest = check.thread_count(n_threads), _register_bits(widest)
    extents = np.zeros((3, n))
    counts = np.zeros((6, n), dtype=np.int64)
    _kernels.box_counts(x, y, z, radius, widest, n_threads, extents, counts)
    return BoxCounts(*extents, *counts)


def _register_bits(widest: int) -> int:
    if check.at_least("widest", widest, min(REGISTERS)) not in REGISTERS:
        raise ParameterError(f"widest={widest!r}: use one of {REGISTERS}.", parameter="widest")
    return int(widest)


def _spaces(
    x: FloatArray, y: FloatArray, z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Check the three spaces: the kernels read as many rows of each as x has."""
    x = check.finite_matrix("x", x)
    if not len(x):
        raise DataError(f"x has shape {x.shape}: give one row at least.")
    return x, check.finite_matrix("y", y, len(x)), check.finite_matrix("z", z, len(x))
