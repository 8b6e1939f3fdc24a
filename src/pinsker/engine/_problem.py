"""What the kernels see of a table: distances, features, a target, and digammas as integers."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import digamma

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded
from pinsker.engine._boundary import (
    FrozenArrays,
    as_array,
    as_numbers,
    at_least,
    class_codes,
    feature_numbers,
    finite_matrix,
    instance_of,
    shown,
)
from pinsker.exceptions import DataError

#: A row's term is a sum of four digammas of counts: below 2**5 for any table that fits in memory.
_TERM_BITS = 5


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Digammas of 0..n_rows, scaled by a power of two and rounded."""

    digamma: IntArray  # ``round(psi(m) * 2**shift)``
    shift: int  # binary digits after the point

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
class Problem(FrozenArrays):
    """Arrays in the form the kernels take, checked: sizes, ranges and finite numbers."""

    values: FloatArray
    feature_of_column: IntArray  # which feature each column belongs to, 0..n_features-1
    n_features: int  # number of features
    labels: IntArray | None  # class codes 0, 1, 2, ..., for a class target
    target: FloatArray | None  # metric form of a numeric target
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        given = _checked(self.values, self.feature_of_column, self.labels, self.target)
        if at_least("n_features", self.n_features, 1) != given["n_features"]:
            raise DataError(
                f"n_features={shown(self.n_features)}, but columns belong to "
                f"{given['n_features']} features."
            )
        instance_of("cache", self.cache, dict, "by default a new one")
        self.__setstate__(_copied(given))

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
        """Copy arrays that are in metric form already; every column its own feature by default."""
        given = as_array("values", values)
        if features is None:
            features = np.arange(given.shape[1] if given.ndim == 2 else 1)
        if target is not None:
            target = as_numbers("target", target)
            target = target.reshape(-1, 1) if target.ndim == 1 else target
        return cls._made(**_copied(_checked(given, features, labels, target)), cache={})

    @classmethod
    def of(cls, encoded: Encoded) -> "Problem":
        """Lay out an encoded table for the kernels."""
        instance_of("encoded", encoded, Encoded, "pinsker.encoding.encode makes one")
        feature_of_column = np.empty(encoded.columns.n_columns, dtype=np.int64)
        for feature, columns in enumerate(encoded.features):
            feature_of_column[list(columns)] = feature
        labels, target = encoded.target.labels, encoded.target.values
        target = None if target is None else target.copy()
        # The metric form is a new array: a large table is not copied again.
        checked = _checked(encoded.columns.metric(), feature_of_column, labels, target)
        return cls._made(**checked, cache={})


def _checked(values: Any, features: Any, labels: Any, target: Any) -> dict[str, Any]:
    """Return the arrays of a problem in the form the kernels take; some may be those given."""
    values = finite_matrix("values", values)
    n_rows, n_columns = values.shape
    if not n_rows or not n_columns:
        raise DataError(f"values has shape {n_rows, n_columns}: give rows and columns.")
    if (labels is None) == (target is None):
        raise DataError("a problem has either labels or a target: give one of them.")
    features = feature_numbers("features", features, n_columns)
    return {
        "values": values,
        "feature_of_column": features,
        "n_features": int(features.max()) + 1,
        "labels": None if labels is None else class_codes("labels", labels, n_rows),
        "target": None if target is None else _target(target, n_rows),
    }


def _target(target: Any, n_rows: int) -> FloatArray:
    numbers = finite_matrix("target", target, n_rows)
    if not numbers.shape[1]:
        raise DataError(f"target has shape {numbers.shape}: give one column at least.")
    return numbers


def _copied(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in fields.items()}
