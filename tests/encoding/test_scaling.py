"""Scaling: against the twin, and what must not change when units do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import discretisation as oracle
from pinsker.encoding import FARTHEST, encode_columns, normal_scores
from pinsker.exceptions import DataError, ParameterError

shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12)
tied_tables = hnp.arrays(np.float64, shapes, elements=st.integers(-4, 4).map(float))
# Spread of the order of the values: an offset costs digits that no scaling can bring back.
tables = hnp.arrays(np.float64, shapes, elements=st.floats(-100, 100, width=32))
powers = st.floats(-290, 290).map(lambda power: 10.0**power)
SCALES = ("copula", "standard", "none")


def standardize(values):
    """Scale columns of numbers to mean 0 and standard deviation 1 through the gate."""
    return encode_columns(values, scale="standard", categorical_features="none").values


@given(st.one_of(tied_tables, tables))
def test_normal_scores_equal_the_twin(values):
    expected = np.array([oracle.normal_scores(list(column)) for column in values.T]).T
    # 1e-12: NormalDist and ndtri are two approximations, each good to about 1e-15 relative.
    np.testing.assert_allclose(normal_scores(values), expected, rtol=1e-12, atol=1e-12)


@given(tied_tables)
def test_normal_scores_see_the_order_alone(values):
    scores = normal_scores(values)
    np.testing.assert_array_equal(normal_scores(np.exp(values) - 7.0), scores)
    np.testing.assert_array_equal(normal_scores(values * 1e300), scores)
    np.testing.assert_array_equal(normal_scores(-values), -scores)


@given(tables, powers)
def test_standardising_forgets_the_unit(values, factor):
    # 1e-10 is the tolerance of the estimator. Rounding `values * factor` moves a value of at most
    # 100 by 1e-14; values are 1e-3 apart if they differ, so by at most 2e-11 of their deviation.
    values = np.round(values, 3)
    np.testing.assert_allclose(
        standardize(values * factor), standardize(values), rtol=1e-10, atol=1e-10
    )


@given(tables, st.integers(-1000, 900))
def test_standardising_is_exact_for_powers_of_two(values, power):
    values = np.round(values, 3)
    np.testing.assert_array_equal(standardize(np.ldexp(values, power)), standardize(values))


@given(tables, st.integers(0, 2**32 - 1))
def test_row_order_and_other_columns_change_no_bit(values, seed):
    order = np.random.default_rng(seed).permutation(len(values))
    for scale in (normal_scores, standardize):
        whole = scale(values)
        np.testing.assert_array_equal(scale(values[order]), whole[order])
        np.testing.assert_array_equal(scale(values[:, :1]), whole[:, :1])


@given(tables)
def test_standardized_columns_have_mean_0_and_deviation_1(values):
    values = np.round(values, 3)
    scaled = standardize(values)
    varies = values.max(axis=0) > values.min(axis=0)
    # At most 12 rows, values of about 1: rounding stays far below 1e-12.
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), varies.astype(float), atol=1e-12)


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1.0, 1e300, 1.7e308 / 3])
def test_extreme_units_neither_overflow_nor_vanish(unit):
    values = np.array([[-3.0], [1.0], [2.0]]) * unit
    np.testing.assert_allclose(standardize(values), standardize(values / unit), rtol=1e-15)


def test_the_whole_range_of_floats_fits_in_one_column():
    largest = np.finfo(float).max
    np.testing.assert_array_equal(standardize(np.array([[-largest], [largest]])), [[-1.0], [1.0]])


def test_blocks_change_nothing(monkeypatch, seed):
    values = np.random.default_rng(seed).normal(size=(20, 7))
    values[3, 4] = np.nan
    whole = [encode_columns(values, scale=scale, missing="category") for scale in SCALES]
    monkeypatch.setattr("pinsker.encoding._read.BLOCK_CELLS", 45)  # two columns, one is left
    for scale, expected in zip(SCALES, whole, strict=True):
        got = encode_columns(values, scale=scale, missing="category")
        np.testing.assert_array_equal(got.values, expected.values)


@pytest.mark.parametrize("scale", ["copula", "standard"])
def test_constant_columns_become_zeros(scale):
    columns = encode_columns(
        np.full((5, 2), [3.5, 1e300]), scale=scale, categorical_features="none"
    )
    np.testing.assert_array_equal(columns.values, 0.0)


def test_counts_are_standardized_under_copula():
    columns = encode_columns([0, 0, 0, 0, 0, 0, 1, 1, 5], scale="copula")
    assert columns.kinds == ("count",)
    np.testing.assert_allclose(columns.values, standardize(np.c_[[0.0] * 6 + [1, 1, 5]]))


def test_none_leaves_numbers_alone():
    columns = encode_columns([[1.5, 3], [2.5, 3], [0.5, 9]], scale="none")
    np.testing.assert_array_equal(columns.values, [[1.5, 3], [2.5, 3], [0.5, 9]])


def test_values_that_look_infinitely_far_are_refused():
    far = [[1.5, FARTHEST], [2.5, 0.0]]
    with pytest.raises(DataError, match=r"column 'x1' of x reaches 1e\+100, too far .* scale='cop"):
        encode_columns(far, scale="none")
    assert np.abs(encode_columns(far, scale="standard").values).max() < 10


def test_unknown_scale():
    with pytest.raises(ParameterError, match="scale='log' is not known: use 'copula', 'standard'"):
        encode_columns([1.0, 2.0], scale="log")
