"""What the engine sees of a table: distances, features and a target."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded


@dataclass(frozen=True, eq=False)
class Problem:
    """Arrays in the form the kernels take.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float64, C order
        Metric form: coordinate differences are distances, `FARTHEST` and more is infinite.
    feature_of_column : ndarray of shape (n_columns,), int64
        Which feature each column belongs to, 0..n_features-1.
    n_features : int
        Number of features.
    labels : ndarray of shape (n_rows,), int64, or None
        Class codes, for a class target.
    target : ndarray of shape (n_rows, n_targets), float64, C order, or None
        Metric form of a numeric target.
    held : dict
        Where engines keep what they made of this table (a copy on a cluster), for the next search.
    """

    values: FloatArray
    feature_of_column: IntArray
    n_features: int
    labels: IntArray | None
    target: FloatArray | None
    held: dict[Any, Any] = field(default_factory=dict, repr=False)

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
        values = np.ascontiguousarray(values, dtype=np.float64)
        feature_of_column = np.arange(values.shape[1]) if features is None else np.asarray(features)
        if target is not None:
            target = np.ascontiguousarray(target, dtype=np.float64).reshape(len(values), -1)
        return cls(
            values=values,
            feature_of_column=feature_of_column.astype(np.int64),
            n_features=int(feature_of_column.max()) + 1,
            labels=None if labels is None else np.ascontiguousarray(labels, dtype=np.int64),
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
            target=None if target is None else np.ascontiguousarray(target),
        )
