"""Cells that other packages raise errors of their own about: read, or refused in our words."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker import BackwardElimination, CriterionSelection, FeatureCount, KNNSettings, entropy
from pinsker.encoding import encode, take
from pinsker.exceptions import DataError, ParameterError

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] > 0).astype(int)


def test_a_signaling_nan_is_missing():
    cells = [Decimal("sNaN"), *map(Decimal, range(N - 1))]
    with pytest.raises(DataError, match="column 'a' has missing values in 1 of 60 rows"):
        encode(pd.DataFrame({"a": cells}), Y, missing="error")


@pytest.mark.parametrize("unit", ["as", "fs", "s", "W", "M", "Y"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_times_of_every_unit(kind, unit):
    encoded = encode(np.arange(N).astype(f"{kind}[{unit}]")[:, None], Y, scale="standard")
    ranks = np.argsort(np.argsort(encoded.columns.values[:, 0], kind="stable"))
    if unit != "as":
        np.testing.assert_array_equal(ranks, np.arange(N))


def test_arrays_of_other_types():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(X)
    widest = getattr(pl, "Int128", pl.Int64)  # not in polars 1.0
    for table in (matrix, pl.DataFrame({"a": pl.Series(range(N), dtype=widest)})):
        assert encode(table, Y).n_rows == N
    if hasattr(np.dtypes, "StringDType"):
        words = np.array([[f"{i % 3}"] for i in range(N)], dtype=np.dtypes.StringDType())
        assert encode(words, Y).columns.kinds[0].value == "nominal"


def test_rows_that_share_no_categories_have_no_entropy():
    table = pd.DataFrame({"id": [f"u{i}" for i in range(N)], "x": X[:, 0]})
    with pytest.raises(DataError, match="no two rows of x share their categories"):
        entropy(table)


@pytest.mark.parametrize("scale", [1e-38, 1e-40, 1e-44, 1e-155])
def test_numbers_that_single_precision_cannot_hold(scale):
    V = np.round(np.random.default_rng(0).normal(size=(200, 4)), 1)
    y = (V[:, 0] + V[:, 1] > 0).astype(int)
    found = [
        BackwardElimination(FeatureCount(1), cv=0, knn=KNNSettings(scale="none")).fit(U, y).path_
        for U in (V, V * scale)
    ]
    assert found[0].information == found[1].information


def test_pickles_hold_no_rows_and_know_their_version():
    selector = CriterionSelection("jmi", 1).fit(X, Y)
    back = pickle.loads(pickle.dumps(selector))
    assert selector.binning_.codes.shape == (N, 2)
    assert back.binning_.codes.shape == (0, 2)
    np.testing.assert_array_equal(back.binning_.edges[0], selector.binning_.edges[0])
    np.testing.assert_array_equal(back.transform(X), selector.transform(X))
    state = selector.__getstate__()
    del state["_pickle_format"]  # as version 0.1 wrote it
    with pytest.raises(DataError, match=r"pickled by another version of pinsker \(format 1, this"):
        CriterionSelection().__setstate__(state)


@pytest.mark.parametrize("weights", [None, np.arange(N) % 3])
@pytest.mark.parametrize("scale", ["copula", "standard", "none"])
def test_dates_and_numbers_that_are_all_missing(scale, weights):
    table = pd.DataFrame({"a": X[:, 0], "when": pd.NaT, "much": np.nan})
    encoded = encode(table, Y, missing="category", scale=scale, sample_weight=weights)
    assert np.isfinite(encoded.columns.values).all()


def test_bytes_in_the_order_of_another_machine():
    other = X.astype(X.dtype.newbyteorder())
    np.testing.assert_array_equal(encode(other, Y).columns.values, encode(X, Y).columns.values)
    with pytest.raises(DataError, match=r"'a' is of type '.f8', in the byte order .*\.astype\('"):
        encode(pd.DataFrame(other, columns=["a", "b"]), Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["heavy"] * N, "holds something that is no number"),
        (np.full(N, 1e308), r"has 1e\+308 as its largest: divide"),
        (np.full(N, 5e-324), "as its largest: divide"),
    ],
)
def test_weights_that_cannot_be_added(weights, message):
    with pytest.raises(DataError, match=message) as raised:
        encode(X, Y, sample_weight=weights)
    assert raised.value.parameter == "sample_weight"


def test_labels_of_groups_of_columns_are_labels():
    with pytest.raises(ParameterError, match=r"feature_groups has \[0\] for column 'x0'"):
        encode(X, Y, feature_groups=[[0], [1]])


def test_columns_that_a_frame_cannot_read_give_no_rows():
    table = pd.DataFrame({"a": np.arange(6.0), "void": np.zeros(6, dtype="V4")})
    with pytest.raises(DataError, match="no rows could be taken"):
        take(table, np.array([0, 2]))


def test_cells_of_two_numbers_are_no_cells():
    intervals = pd.cut(pd.Series(np.arange(6.0)), 3)
    table = pl.from_pandas(
        pd.DataFrame({"a": np.arange(6.0), "b": pd.arrays.IntervalArray(intervals)})
    )
    with pytest.raises(DataError, match="'b' holds values of type"):
        encode(table, [0, 1] * 3)
