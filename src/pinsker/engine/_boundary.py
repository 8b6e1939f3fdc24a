"""What the kernels are given, checked once: they read memory by these sizes and numbers."""

from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.exceptions import DataError, ParameterError


def as_numbers(name: str, values: Any, dtype: type = np.float64) -> AnyArray:
    """Return values as an array of a number type in C order; refuse what has no such value."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("they are complex")
        return np.asarray(array, dtype=dtype, order="C")
    except Exception as error:  # of any package: polars has errors of its own for 128-bit integers
        raise DataError(
            f"{name} cannot be read as numbers ({error}): give an array of them."
        ) from error


def finite_matrix(name: str, values: Any, n_rows: int | None = None) -> FloatArray:
    """Return numbers as a float64 matrix in C order; refuse other shapes, NaN and infinity."""
    matrix: FloatArray = as_numbers(name, values)
    if matrix.ndim != 2:
        raise DataError(f"{name} has shape {matrix.shape}: give a matrix of rows and columns.")
    if n_rows is not None and len(matrix) != n_rows:
        raise DataError(f"{name} has {len(matrix)} rows, but there are {n_rows}: give one each.")
    if not np.isfinite(matrix).all():
        row, column = (int(at[0]) for at in np.nonzero(~np.isfinite(matrix)))
        raise DataError(
            f"{name} holds {matrix[row, column]} in row {row}, column {column}: the kernels take "
            "finite numbers (pinsker.encoding.encode makes them from any table)."
        )
    return matrix


def class_codes(name: str, labels: Any, n_rows: int) -> IntArray:
    """Return integer labels, whatever they are, as class codes 0, 1, 2, ... in int64."""
    codes = np.asarray(labels)
    if codes.shape != (n_rows,):
        raise DataError(
            f"{name} has shape {codes.shape}: give one class for each of {n_rows} rows."
        )
    if codes.dtype.kind not in "iub":
        raise DataError(f"{name} has dtype {codes.dtype}: give integers.")
    return np.ascontiguousarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


def feature_numbers(name: str, features: Any, n_columns: int, n_features: int) -> IntArray:
    """Return the feature of each column as int64; every feature has one column at least."""
    numbers = np.asarray(features)
    if numbers.shape != (n_columns,) or numbers.dtype.kind not in "iu":
        raise DataError(
            f"{name} has shape {numbers.shape} and dtype {numbers.dtype}: give one integer for "
            f"each of {n_columns} columns."
        )
    wrong = np.flatnonzero((numbers < 0) | (numbers >= n_features))
    if len(wrong):
        raise DataError(
            f"{name} holds {numbers[wrong[0]]} at position {wrong[0]}: features are "
            f"0..{n_features - 1}."
        )
    if len(np.unique(numbers)) < n_features:
        empty = np.setdiff1d(np.arange(n_features), numbers)[0]
        raise DataError(f"feature {empty} of {name} has no column: number them without gaps.")
    return np.ascontiguousarray(numbers, dtype=np.int64)


def at_least(name: str, value: Any, least: int) -> int:
    """Return an integer parameter; refuse what is none, or below the least."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(
            f"{name}={value!r}: give an integer of at least {least}.", parameter=name
        )
    return int(value)


def feature_index(feature: Any, n_features: int) -> int:
    """Return the number of a feature; refuse one that is not there, negative ones included."""
    index = at_least("feature", feature, 0)
    if index >= n_features:
        raise ParameterError(
            f"feature={index}, but there are {n_features}: give one of 0..{n_features - 1}.",
            parameter="feature",
        )
    return index
