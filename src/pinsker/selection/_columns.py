"""Columns and units: who must stay, and frames in and out."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pinsker._compat import output_container, require
from pinsker._types import IntArray
from pinsker.encoding import Encoded, find_columns


def forced_units(encoded: Encoded, keep: Iterable[Any] | None) -> tuple[int, ...]:
    """Return the units that must stay.

    Parameters
    ----------
    encoded : Encoded
        The table.
    keep : iterable, optional
        Columns by name or position, and groups by name. A group stays if one of its columns must.
    """
    unit_of_name = {name: unit for unit, name in enumerate(encoded.feature_names)}
    feature_of_column = {
        column: u for u, columns in enumerate(encoded.features) for column in columns
    }
    forced = set()
    for item in () if keep is None else keep:
        if isinstance(item, str) and item in unit_of_name:
            forced.add(unit_of_name[item])
        else:
            column = find_columns([item], encoded.columns.names, "keep")[0]
            forced.add(feature_of_column[column])
    return tuple(sorted(forced))


def column_values(units: Sequence[tuple[int, ...]], values: IntArray) -> IntArray:
    """Give every column the value of its unit."""
    spread = np.empty(sum(len(columns) for columns in units), dtype=np.int64)
    for columns, value in zip(units, values, strict=True):
        spread[list(columns)] = value
    return spread


def take_columns(X: Any, columns: IntArray, estimator: Any) -> Any:
    """Return some columns of a frame, in the container that ``set_output`` asks for."""
    import narwhals.stable.v1 as nw  # only frames come here

    taken = nw.from_native(X, eager_only=True)[:, [int(j) for j in columns]]
    wanted = output_container(estimator)
    if wanted == "pandas":
        return taken.to_pandas()
    if wanted == "polars" and not taken.implementation.is_polars():
        polars = require("polars", purpose='set_output(transform="polars")')
        return polars.from_pandas(taken.to_pandas())
    return taken.to_native()
