"""Counting states: against the slow twin, on sparse, dense, tied and constant tables."""

import math

import numpy as np
import pytest

import pinsker
from oracles import discrete as oracle
from pinsker.exceptions import DataError, ParameterError, UnreliableEstimateWarning
from pinsker.information._estimators import (
    CORRECTIONS,
    discrete_information,
    merge_states,
    state_entropy,
)


def random_block(rng, n, most_columns, most_values):
    d, n_values = int(rng.integers(1, most_columns + 1)), int(rng.integers(1, most_values + 1))
    return rng.integers(0, n_values, size=(n, d)).astype(float)


def as_rows(block):
    return [tuple(row) for row in block.tolist()]


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("table", range(40))
def test_information_equals_the_oracle(table, correction):
    rng = np.random.default_rng(table)
    n = int(rng.integers(2, 60))
    x, y, z = (random_block(rng, n, 3, 5) for _ in range(3))
    given = None if table % 3 == 0 else merge_states(z)[0]
    value, rows_per_cell = discrete_information(
        merge_states(x)[0], merge_states(y)[0], given, correction
    )
    rows = [()] * n if given is None else as_rows(z)
    # Four sums of at most 60 terms of size ln 60: rounding stays below 1e-13.
    assert value == pytest.approx(
        oracle.information(as_rows(x), as_rows(y), rows, correction), abs=1e-12
    )
    joint = {a + b + c for a, b, c in zip(as_rows(x), as_rows(y), rows, strict=True)}
    assert rows_per_cell == pytest.approx(n / len(joint))


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_entropy_equals_the_oracle_and_its_formula(correction):
    states = np.repeat(np.arange(4), [1, 2, 3, 18])
    assert state_entropy(states, correction) == pytest.approx(
        oracle.entropy(states.tolist(), correction), abs=1e-12
    )
    assert pinsker.entropy(states.astype(str), correction=correction, method="discrete") == (
        pytest.approx(state_entropy(states, correction), abs=1e-15)
    )


def test_entropies_by_hand():
    states = np.repeat(np.arange(2), [5, 15])
    plug_in = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert state_entropy(states, "none") == pytest.approx(plug_in, abs=1e-14)
    assert state_entropy(states, "miller-madow") == pytest.approx(plug_in + 1 / 40, abs=1e-14)


def test_states_are_told_apart_in_any_number_of_columns():
    # 70 columns of 3 values overflow 64-bit keys many times over.
    rng = np.random.default_rng(0)
    block = rng.integers(0, 3, size=(300, 70)).astype(float)
    block[150:] = block[:150]
    states, n_states = merge_states(block)
    assert n_states == len({tuple(row) for row in block})
    np.testing.assert_array_equal(states[150:], states[:150])


def test_states_of_any_values_and_of_no_columns():
    states, n_states = merge_states(np.array([[1e200], [-0.5], [1e200]]), np.empty((3, 0)))
    assert n_states == 2
    np.testing.assert_array_equal(states, [1, 0, 1])
    assert merge_states(np.empty((3, 0)))[1] == 1


def test_grassberger_repairs_most_of_the_bias_of_counting():
    # Independent 10 x 10 table, 200 rows. Counting overshoots by about (a-1)(b-1)/2n = 0.2.
    # 50 samples of standard deviation 0.03: the mean is known to 0.005, five of which are 0.025.
    rng = np.random.default_rng(7)
    values = {"none": [], "grassberger": []}
    for _ in range(50):
        x, y = rng.integers(0, 10, size=(2, 200))
        for correction, found in values.items():
            found.append(discrete_information(x, y, None, correction)[0])
    assert np.mean(values["none"]) > 0.175
    assert abs(np.mean(values["grassberger"])) < 0.045


def test_sparse_cells_are_a_warning_that_counts_them():
    x, y = np.arange(40).astype(str), (np.arange(40) % 2).astype(str)
    with pytest.warns(UnreliableEstimateWarning, match=r"there are 1\.0 rows per joint state"):
        pinsker.mutual_information(x, y, method="discrete")
    with pytest.warns(UnreliableEstimateWarning, match=r"there are 1\.0 rows per joint state"):
        pinsker.entropy(x)


def test_continuous_columns_cannot_be_counted():
    x, y = np.linspace(0.1, 1, 30), ["a", "b"] * 15
    with pytest.raises(DataError, match="column 'x' of x is continuous: bin it"):
        pinsker.mutual_information(x, y, method="discrete")


def test_unknown_correction():
    with pytest.raises(ParameterError, match="correction='chao' is not known: use one of"):
        pinsker.mutual_information(["a", "b"], ["a", "b"], correction="chao")
