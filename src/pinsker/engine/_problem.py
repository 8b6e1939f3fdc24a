"""What the kernels see of a table: distances, features, a target, and digammas as integers."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import digamma

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded
from pinsker.engine._boundary import as_numbers, class_codes, feature_numbers, finite_matrix
from pinsker.exceptions import DataError

#: A row's term is a sum of four digammas of counts: below 2**5 for any table that fits in memory.
_TERM_BITS = 5


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Digammas of 0..n_rows, scaled by a power of two and rounded.

    Integers add up to the same sum in any order, so the engine gives the same bits for any number
    of threads, any tiling and any computer, and a term can be taken back without drift. The scale
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


@dataclass(frozen=True, eq=False)
class Problem:
    """Arrays in the form the kernels take, checked: sizes, ranges and finite numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float64, C order
        Metric form: coordinate differences are distances, `FARTHEST` and more is infinite.
    feature_of_column : ndarray of shape (n_columns,), int64
        Which feature each column belongs to, 0..n_features-1.
    n_features : int
        Number of features.
    labels : ndarray of shape (n_rows,), int64, or None
        Class codes 0, 1, 2, ..., for a class target; any integers are made such.
    target : ndarray of shape (n_rows, n_targets), float64, C order, or None
        Metric form of a numeric target.
    cache : dict
        What engines made of this table (a copy on a cluster), for the next search.
    """

    values: FloatArray
    feature_of_column: IntArray
    n_features: int
    labels: IntArray | None
    target: FloatArray | None
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {"values": finite_matrix("values", self.values)}
        n_rows, n_columns = checked["values"].shape
        if not n_rows or not n_columns:
            raise DataError(f"values has shape {n_rows, n_columns}: give rows and columns.")
        if (self.labels is None) == (self.target is None):
            raise DataError("a problem has either labels or a target: give one of them.")
        if self.labels is not None:
            checked["labels"] = class_codes("labels", self.labels, n_rows)
        else:
            checked["target"] = finite_matrix("target", self.target, n_rows)
        checked["feature_of_column"] = feature_numbers(
            "features", self.feature_of_column, n_columns, self.n_features
        )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @classmethod
    def from_arrays(
        cls,
        values: FloatArray,
        *,
        labels: IntArray | None = None,
        target: FloatArray | None = None,
        features: IntArray | None = None,
    ) -> "Problem":
        """Take arrays that are in metric form already; every column its own feature by default."""
        values = as_numbers("values", values)
        columns = np.arange(values.shape[1]) if values.ndim == 2 else np.arange(1)
        feature_of_column = columns if features is None else np.asarray(features)
        if target is not None:
            target = as_numbers("target", target)
            target = target.reshape(-1, 1) if target.ndim == 1 else target
        return cls(
            values=values,
            feature_of_column=feature_of_column,
            n_features=int(feature_of_column.max(initial=0)) + 1,
            labels=labels,
            target=target,
        )

    @classmethod
    def of(cls, encoded: Encoded) -> "Problem":
        """Lay out an encoded table for the kernels."""
        feature_of_column = np.empty(encoded.columns.n_columns, dtype=np.int64)
        for feature, columns in enumerate(encoded.features):
            feature_of_column[list(columns)] = feature
        target = encoded.target.values
        return cls(
            values=encoded.columns.metric(),
            feature_of_column=feature_of_column,
            n_features=encoded.n_features,
            labels=encoded.target.labels,
            target=target,
        )
