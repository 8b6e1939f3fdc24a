"""What the engine sees of a table: distances, units and a target."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding._encoded import Encoded


@dataclass(frozen=True, eq=False)
class Problem:
    """Arrays in the form the kernels take.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float64, C order
        Metric form: coordinate differences are distances, `FARTHEST` and more is infinite.
    unit_of_column : ndarray of shape (n_columns,), int64
        Which unit each column belongs to, 0..n_units-1.
    n_units : int
        Number of units.
    labels : ndarray of shape (n_rows,), int64, or None
        Class codes, for a class target.
    target : ndarray of shape (n_rows, n_targets), float64, C order, or None
        Metric form of a numeric target.
    held : dict
        Where engines keep what they made of this table (a copy on a cluster), for the next search.
    """

    values: FloatArray
    unit_of_column: IntArray
    n_units: int
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
        units: IntArray | None = None,
    ) -> "Problem":
        """Take arrays that are in metric form already; every column its own unit by default."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        unit_of_column = np.arange(values.shape[1]) if units is None else np.asarray(units)
        if target is not None:
            target = np.ascontiguousarray(target, dtype=np.float64).reshape(len(values), -1)
        return cls(
            values=values,
            unit_of_column=unit_of_column.astype(np.int64),
            n_units=int(unit_of_column.max()) + 1,
            labels=None if labels is None else np.ascontiguousarray(labels, dtype=np.int64),
            target=target,
        )

    @classmethod
    def of(cls, encoded: Encoded) -> "Problem":
        """Lay out an encoded table for the kernels."""
        unit_of_column = np.empty(encoded.columns.n_columns, dtype=np.int64)
        for unit, columns in enumerate(encoded.units):
            unit_of_column[list(columns)] = unit
        target = encoded.target.values
        return cls(
            values=encoded.columns.metric(),
            unit_of_column=unit_of_column,
            n_units=encoded.n_units,
            labels=encoded.target.labels,
            target=None if target is None else np.ascontiguousarray(target),
        )
