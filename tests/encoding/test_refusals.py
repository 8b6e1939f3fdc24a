"""What cannot be read gets one clear error."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from pinsker.encoding import encode, encode_columns
from pinsker.exceptions import DataError, DataTypeError

AWARE = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (sparse.eye(3), DataTypeError, r"Sparse data was passed as x, but dense .* x.toarray\(\)"),
        (sparse.csr_array(np.eye(3)), DataTypeError, r"Sparse data was passed as x"),
        (np.ones((2, 2), complex), DataError, "Complex data not supported: x is of type complex"),
        ([1.5, 2j], DataError, "Complex data not supported: column 'x' holds complex numbers"),
        (pd.Series([1j, 2j]), DataError, "Complex data not supported: column 'x' is of type com"),
        (3.5, DataTypeError, "x must be a table, but is of type float. Pass an array"),
        ({"a": [1]}, DataTypeError, "x must be a table, but is of type dict"),
        ("text", DataTypeError, "x must be a table, but is of type str"),
        (np.ones((2, 2, 2)), DataError, "Found array with dim 3 as x, while dim <= 2 is required"),
        ([[1, 2], [3]], DataError, "x is not a table: its rows have different lengths"),
        ([[1, 2], 3], DataError, "x is not a table: its rows have different lengths"),
        (
            [np.ones((2, 2)), np.ones((2, 3))],
            DataError,
            "x is not a table: its rows have different lengths",
        ),
        (
            np.ones(2, dtype=[("a", "f8")]),
            DataTypeError,
            r"x is a structured array, which is not read. Try pandas.DataFrame\(x\)",
        ),
        (np.ones((0, 3)), DataError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a"),
        (np.ones((3, 0)), DataError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is"),
        ([], DataError, r"0 sample\(s\)"),
        ([[], []], DataError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pd.DataFrame(), DataError, r"0 sample\(s\)"),
        (pd.DataFrame(index=[0, 1]), DataError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pl.DataFrame({"a": []}), DataError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (
            np.array([[1, {"a": 1}], [2, 3]], dtype=object),
            DataTypeError,
            "column 'x1' holds a dict in row 0; the argument must be a string or a number in every",
        ),
        (
            pl.DataFrame({"tags": [["a"], ["b"]]}),
            DataTypeError,
            r"column 'tags' holds values of type List\(String\); each cell must be a string or",
        ),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            DataError,
            "more than one column is called 'a': rename them",
        ),
        (
            pd.DataFrame([[1, 2]], columns=[1, "1"]),
            DataError,
            "more than one column is called '1'",
        ),
        (pl.LazyFrame({"a": [1]}), DataTypeError, r"x is a lazy frame .*: x.collect\(\)"),
        ([10**400, 1], DataError, "column 'x' holds a number too large for float64: divide the"),
        (
            [AWARE, AWARE.replace(tzinfo=None)],
            DataTypeError,
            r"column 'x' mixes dates that cannot be compared \(with and without a time zone\)",
        ),
    ],
)
def test_unreadable_tables(x, error, message):
    with pytest.raises(error, match=message):
        encode_columns(x)


@pytest.mark.parametrize("x", [np.ones(3), [1, 2, 3], pd.Series([1, 2, 3])])
def test_a_selector_needs_two_dimensions(x):
    with pytest.raises(DataError, match=r"Expected 2D array, got .*Reshape your data using array"):
        encode(x, [0, 1, 0])


def test_a_target_is_required():
    with pytest.raises(DataError, match="requires y to be passed, but the target y is None"):
        encode(np.eye(3), None)


def test_lengths_must_agree():
    message = r"inconsistent numbers of samples: \[3, 2\] rows in X and y. Every row needs"
    with pytest.raises(DataError, match=message):
        encode(np.eye(3), [0, 1])


def test_one_row_is_not_enough():
    with pytest.raises(DataError, match=r"Found array with 1 sample\(s\) \(shape=\(1, 2\)\) while"):
        encode([[1.5, 2.5]], [0.5])
