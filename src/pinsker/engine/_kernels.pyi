"""Types of the compiled kernels. IN arrays are C order; OUT arrays are filled in place."""

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
