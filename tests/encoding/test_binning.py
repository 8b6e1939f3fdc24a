"""Binning: the recipes of the literature, and supervised cuts against their twin."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from oracles import discretisation as oracle
from pinsker.encoding import bin_columns, bin_values, encode_columns
from pinsker.exceptions import DataError, ParameterError

# SHA-256 of the tables (int8, C order, class in the last column) that FEAST 2.0 was run on.
FEAST_TABLES = {
    ("breast_cancer", "frequency", 5): (
        "67a881efa0c8451bfba29e86bf284a76dd4db3724251eb4e111df52edbdbd6fc"
    ),
    ("breast_cancer", "width", 5): (
        "a3c059b1ce90fe297be2bdb46446a6de73860367485c52db817b5ec892959cc5"
    ),
    ("breast_cancer", "width", 10): (
        "06ed3304dea0db27a22c7bdb17202503dbea4d13d4165a7118df2bfbe783930f"
    ),
    ("wine", "frequency", 5): ("49bd82e0fd8e095dfc7d01b9a61bdf43820729122235be50cd1e4184cecde6e6"),
    ("wine", "width", 5): ("ba6713a59a1d43150ee6b7318e06f9f97803a51dc27c8f757d19e060fea9aa53"),
    ("wine", "width", 10): ("d635fe3934eee89c2becba9fce8c73680c6da129d6204a4f5a7e710b12fe3d03"),
}
LOADERS = {"breast_cancer": load_breast_cancer, "wine": load_wine}


@pytest.mark.parametrize(("case", "digest"), FEAST_TABLES.items(), ids=str)
def test_tables_of_the_reference_library(case, digest):
    name, strategy, bins = case
    X, y = LOADERS[name](return_X_y=True)
    columns = encode_columns(X, scale="none", categorical_features="none")
    codes = bin_columns(columns, bins=bins, strategy=strategy).codes
    table = np.ascontiguousarray(np.column_stack([codes, y]).astype(np.int8))
    assert hashlib.sha256(table.tobytes()).hexdigest() == digest


def test_counts_are_numbered_without_gaps():
    X, _ = load_digits(return_X_y=True)
    codes = bin_columns(encode_columns(X, scale="none", categorical_features="all")).codes
    for mine, theirs in zip(codes.T, X.T, strict=True):
        # The same partition of the rows, other numbers.
        assert len(np.unique(np.column_stack([mine, theirs]), axis=0)) == len(np.unique(theirs))
        assert np.unique(mine).tolist() == list(range(len(np.unique(theirs))))


rows = st.lists(
    st.tuples(st.integers(0, 15).map(lambda v: v / 2), st.integers(0, 2)), min_size=2, max_size=60
)


@given(rows)
def test_mdl_equals_the_twin(pairs):
    values, labels = np.array(pairs).T
    _, cuts = bin_values(values, labels.astype(np.int64), strategy="mdl")
    np.testing.assert_allclose(cuts, oracle.mdl_cuts(pairs), rtol=1e-15)


def test_mdl_equals_the_twin_where_it_cuts(seed):
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(20):
        values = rng.normal(size=120)
        labels = np.digitize(values, [-0.5, 0.5]) ^ (rng.random(120) < 0.1)
        _, cuts = bin_values(values, labels, strategy="mdl")
        expected = oracle.mdl_cuts(list(zip(values.tolist(), labels.tolist(), strict=True)))
        np.testing.assert_allclose(cuts, expected, rtol=1e-15)
        found += len(cuts)
    assert found >= 20  # the comparison was not between empty lists


def test_mdl_by_hand():
    # Ten rows of each class, apart: gain 1 bit; log2(19)/20 + (log2(7) - 2)/20 = 0.253 bits.
    values = np.arange(20.0)
    labels = np.repeat([0, 1], 10)
    codes, cuts = bin_values(values, labels, strategy="mdl")
    assert cuts.tolist() == [9.5]
    assert codes.tolist() == labels.tolist()
    # Two rows of each: gain 1 bit; log2(3)/4 + (log2(7) - 2)/4 = 0.598: still worth it. Of one
    # each: 0 + (log2(7) - 2)/2 = 0.404.
    assert bin_values(values[:2], np.array([0, 1]), strategy="mdl")[1].tolist() == [0.5]
    # Alternating classes are worth no cut.
    assert bin_values(values, np.arange(20) % 2, strategy="mdl")[1].tolist() == []


def test_mdl_cuts_between_neighboring_floats():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    codes, _ = bin_values(np.repeat([low, high], 9), np.repeat([0, 1], 9), strategy="mdl")
    assert codes.tolist() == [0] * 9 + [1] * 9


def test_mdl_with_many_classes():
    n = 1000
    codes, cuts = bin_values(np.arange(n * 2.0), np.repeat(np.arange(n), 2), strategy="mdl")
    assert np.isfinite(cuts).all()
    assert codes.max() == len(cuts)


@given(st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=40), st.integers(2, 9))
def test_codes_follow_the_order_and_the_edges(values, bins):
    values = np.array(values)
    for strategy in ("frequency", "width"):
        codes, cuts = bin_values(values, bins=bins, strategy=strategy)
        assert 0 <= codes.min() <= codes.max() <= len(cuts) < bins
        assert (np.diff(cuts) > 0).all()
        order = np.argsort(values)
        assert (np.diff(codes[order]) >= 0).all()


def test_equal_frequency_is_balanced_without_ties(seed):
    values = np.random.default_rng(seed).normal(size=1000)
    codes, _ = bin_values(values, bins=10)
    assert np.bincount(codes).tolist() == [100] * 10


def test_kinds_that_are_kept():
    table = pd.DataFrame(
        {
            "size": [0.5, 1.5, 2.5, 3.5],
            "count": [3, 9, 3, 9],
            "word": list("abca"),
            "flag": [True, False, True, True],
        }
    )
    binned = bin_columns(encode_columns(table, scale="none"), bins=2)
    assert binned.codes.T.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 0], [1, 0, 1, 1]]
    assert binned.n_categories.tolist() == [2, 2, 3, 2]
    assert binned.edges[0].tolist() == [2.0]
    assert binned.edges[1:] == (None, None, None)
    assert binned.names == ("size", "count", "word", "flag")
    assert binned.codes.flags.f_contiguous
    for array in (binned.codes, binned.n_categories, binned.edges[0]):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("categories", "dtype"),
    [(256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.int32)],
)
def test_the_smallest_type(categories, dtype):
    columns = encode_columns(np.arange(categories), categorical_features="all", scale="none")
    codes = bin_columns(columns).codes.ravel()
    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes, np.arange(categories))


def test_missing_is_a_code_of_its_own():
    columns = encode_columns([[0.5, 1], [1.5, None], [None, 1]], missing="category", scale="none")
    binned = bin_columns(columns, bins=2)
    assert binned.codes.T.tolist() == [[0, 1, 2], [0, 1, 0]]
    assert binned.n_categories.tolist() == [3, 2]
    nothing = encode_columns([[None, 0.5], [None, 1.5]], missing="category")
    assert bin_columns(nothing).codes[:, 0].tolist() == [1, 1]


def test_notes():
    columns = encode_columns(np.arange(300), categorical_features="all")
    (note,) = bin_columns(columns).notes
    assert str(note) == "more than 256 categories, so most cells of a table are empty: 'x'"
    columns = encode_columns(np.c_[np.full(4, 0.5), [0.5, 1.5, 2.5, 3.5]])
    binned = bin_columns(columns, np.array([0, 1, 0, 1]), strategy="mdl")
    assert str(binned.notes[0]) == "no cut was found, so one bin holds all: 'x0', 'x1'"
    assert binned.n_categories.tolist() == [1, 1]


def test_parameters_that_do_not_fit():
    columns = encode_columns([0.5, 1.5])
    with pytest.raises(ParameterError, match="strategy='equal' is not known: use 'frequency', 'w"):
        bin_columns(columns, strategy="equal")
    for bins in (1, 2.5, True):
        with pytest.raises(ParameterError, match=f"bins={bins} must be an integer of at least"):
            bin_columns(columns, bins=bins)
    with pytest.raises(ParameterError, match="strategy='mdl' needs class labels: it cuts where"):
        bin_columns(columns, strategy="mdl")
    with pytest.raises(DataError, match="labels has 3 rows, but the columns have 2"):
        bin_columns(columns, np.array([0, 1, 0]), strategy="mdl")
