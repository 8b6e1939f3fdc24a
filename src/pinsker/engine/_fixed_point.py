"""Digammas as integers, so that sums of terms are exact in any order."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from pinsker._types import FloatArray, IntArray

#: A row's term is a sum of four digammas of counts: below 2**5 for any table that fits in memory.
_TERM_BITS = 5


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Digammas of 0..n_rows, scaled by a power of two and rounded.

    Integers add up to the same sum in any order, so the engine gives the same bits for any number
    of threads, any tiling and any machine, and a term can be taken back without drift. The scale
    is the largest that cannot overflow 63 bits: for 1000 rows a digamma is rounded to 2e-15, for a
    million to 4e-12.

    Attributes
    ----------
    digamma : ndarray of shape (n_rows + 1,), int64
        ``round(psi(m) * 2**shift)``; entry 0 is unused.
    shift : int
        Binary digits after the point.
    """

    digamma: IntArray
    shift: int

    @classmethod
    def of(cls, n_rows: int) -> "FixedPoint":
        """Make the table for counts up to `n_rows`."""
        shift = 62 - _TERM_BITS - math.ceil(math.log2(n_rows + 1))
        table = np.zeros(n_rows + 1, dtype=np.int64)
        exact = digamma(np.arange(1, n_rows + 1, dtype=np.float64))
        table[1:] = np.rint(np.ldexp(exact, shift)).astype(np.int64)
        table.flags.writeable = False
        return cls(table, shift)

    def to_nats(self, sums: IntArray, count: int) -> FloatArray:
        """Return the mean of summed terms over `count` rows, in nats."""
        # One division per score; the scaling by a power of two before it is exact.
        return sums / (count * 2.0**self.shift)
