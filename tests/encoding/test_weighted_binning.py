"""Bins of weighted rows against bins of repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pinsker.encoding import bin_columns, encode_columns, weighted_cuts
from pinsker.exceptions import ParameterError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    x[:, 1] = np.round(x[:, 1], 1)  # ties
    return x, rng.integers(1, 5, 60), rng.integers(0, 2, 60)


@pytest.mark.parametrize("strategy", ["frequency", "width", "mdl"])
@pytest.mark.parametrize("bins", [2, 5])
def test_whole_weights_are_repeated_rows(table, strategy, bins):
    x, weights, labels = table
    x[:, 0] += 2 * labels  # so that mdl finds a cut
    repeated = np.repeat(np.arange(60), weights)
    want = bin_columns(
        encode_columns(x[repeated], scale="none"), labels[repeated], bins=bins, strategy=strategy
    )
    got = bin_columns(
        encode_columns(x, scale="none"),
        labels,
        weights.astype(float),
        bins=bins,
        strategy=strategy,
    )
    for ours, theirs in zip(got.edges, want.edges, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)  # interpolated in float64
    assert_array_equal(got.n_categories, want.n_categories)
    assert_array_equal(got.codes[repeated], want.codes)


def test_scaling_other_weights_changes_no_bin(table):
    x, _, _ = table
    weights = np.random.default_rng(1).exponential(size=60)
    columns = encode_columns(x, scale="none")
    assert_array_equal(
        bin_columns(columns, None, weights).codes,
        bin_columns(columns, None, 7.3 * weights).codes,
    )


def test_bins_are_about_equally_heavy():
    rng = np.random.default_rng(2)
    values, weights = rng.normal(size=2000), rng.exponential(size=2000)
    codes = np.searchsorted(weighted_cuts(values, weights, 4), values)
    heavy = np.bincount(codes, weights) / weights.sum()
    # A cut is off by less than the two rows around it, and no weight is above 12 of 2000.
    np.testing.assert_allclose(heavy, 0.25, atol=0.012)


def test_missing_values_keep_a_level_of_their_own():
    columns = encode_columns([1.5, np.nan, 2.5, 3.5, 9.5], scale="none", missing="category")
    binned = bin_columns(columns, None, np.array([1.0, 5.0, 2.0, 1.0, 1.0]), bins=2)
    assert binned.codes.ravel().tolist() == [0, 2, 0, 1, 1]
    assert binned.n_categories.tolist() == [3]


def test_codes_of_other_kinds_stay():
    columns = encode_columns(
        np.array([[0, 1.5], [2, 2.5], [7, 3.5]]), scale="none", categorical_features=[True, False]
    )
    binned = bin_columns(columns, None, np.array([2.0, 1.0, 1.0]), bins=2)
    assert binned.codes[:, 0].tolist() == [0, 1, 2]
    assert binned.edges[0] is None


def test_mdl_needs_integer_weights(table):
    x, _, labels = table
    with pytest.raises(ParameterError, match=r"strategy='mdl' counts rows, so it needs integer"):
        bin_columns(encode_columns(x, scale="none"), labels, np.full(60, 0.5), strategy="mdl")


def test_nothing_to_cut():
    assert weighted_cuts(np.empty(0), np.empty(0), 5).size == 0
