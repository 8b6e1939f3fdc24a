"""Gaussian information: against the slow twin, on singular tables, and without bias."""

import math

import numpy as np
import pytest

import pinsker
from oracles import gaussian as oracle
from pinsker.exceptions import DataError, UnreliableEstimateWarning
from pinsker.information._estimators import gaussian_entropy, gaussian_information
from tests.truths import BivariateNormal


def correlated(rng, n, d):
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 10 * rng.normal(size=d)


@pytest.mark.parametrize("table", range(20))
def test_information_and_entropy_equal_the_oracle(table):
    rng = np.random.default_rng(table)
    n_x, n_y, n_z = rng.integers(1, 3), rng.integers(1, 3), rng.integers(0, 3)
    rows = correlated(rng, int(rng.integers(12, 60)), n_x + n_y + n_z)
    x, y, z = np.split(rows, [n_x, n_x + n_y], axis=1)
    value = gaussian_information(x, y, z if n_z else None)
    # Determinants by expansion lose digits with the condition number, here up to 1e5.
    expected = oracle.information(list(x.T), list(y.T), list(z.T))
    assert value == pytest.approx(expected, abs=1e-9)
    assert gaussian_entropy(x) == pytest.approx(oracle.entropy(list(x.T), len(x)), abs=1e-9)


@pytest.mark.slow
def test_estimates_have_no_bias():
    # 12 rows, 4 columns: the plug-in is 0.3 too high. Standard error of the mean of 2000: 0.006.
    rng = np.random.default_rng(1)
    values = []
    for _ in range(2000):
        x, z = rng.normal(size=(2, 12, 1))
        y = x + z + rng.normal(size=(12, 1))
        values.append(gaussian_information(x, y, np.hstack([z, rng.normal(size=(12, 1))])))
    error = np.std(values) / math.sqrt(len(values))
    assert np.mean(values) == pytest.approx(0.5 * math.log(2), abs=5 * error)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_what_z_already_says_adds_nothing(offset):
    rng = np.random.default_rng(2)
    z = rng.normal(size=(80, 3))
    y = z[:, :1] + rng.normal(size=(80, 1))
    for x in (z[:, :1], z @ [[1.0], [2.0], [-3.0]], z[:, 1:] * 1e-6, np.full((80, 1), 0.1)):
        assert gaussian_information(x + offset, y, z) == 0.0
        assert gaussian_information(y, x + offset, z) == 0.0


def test_repeated_columns_in_a_side_change_nothing():
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=(3, 60, 2))
    y = y + x
    expected = gaussian_information(x, y, z)
    doubled = gaussian_information(np.hstack([x, x + z]), np.hstack([y, y]), np.hstack([z, 2 * z]))
    # x + z is given by x and z, so nothing is added; equal up to rounding of the factorisations.
    assert doubled == pytest.approx(expected, abs=1e-12)


def test_an_exact_relation_is_infinite_and_said_to_be():
    x = np.random.default_rng(4).normal(size=(50, 2))
    with pytest.warns(UnreliableEstimateWarning, match="linear functions of each other"):
        value = pinsker.mutual_information(x, x @ [1.0, -2.0], method="gaussian")
    assert value == math.inf


def test_copula_sees_through_monotone_maps_and_gaussian_does_not():
    x, y, _ = BivariateNormal(0.75).sample(400, seed=0)
    plain = pinsker.mutual_information(x, y, method="copula")
    assert pinsker.mutual_information(np.exp(3 * x), y**3, method="copula") == plain
    assert pinsker.mutual_information(np.exp(3 * x), y**3, method="gaussian") < plain / 2


def test_entropy_in_the_users_units():
    x = np.random.default_rng(5).normal(size=(500, 2))
    base = pinsker.entropy(x, method="gaussian")
    assert pinsker.entropy(x * 1e3, method="gaussian") == pytest.approx(base + 2 * math.log(1e3))
    # Two unit normals; the standard error of half a log-determinant is sqrt(d / 2n) = 0.045.
    assert base == pytest.approx(math.log(2 * math.pi * math.e), abs=5 * 0.045)


def test_entropy_of_dependent_columns_is_an_error():
    x = np.random.default_rng(6).normal(size=(50, 1))
    with pytest.raises(DataError, match="linear functions of each other"):
        pinsker.entropy(np.hstack([x, x]), method="gaussian")


def test_too_few_rows_and_nominal_columns_are_errors():
    x = np.random.default_rng(7).normal(size=(5, 4))
    with pytest.raises(DataError, match="with 5 columns needs at least 7 rows, but there are 5"):
        pinsker.mutual_information(x, x[:, 0], method="gaussian")
    with pytest.raises(DataError, match="column 'y' of y is nominal: use method='knn'"):
        pinsker.mutual_information(x, list("aabba"), method="copula")
    with pytest.raises(DataError, match="missing values as a category, and x has some"):
        pinsker.mutual_information(
            [1.5, None, 2.5], [1.5, 2.5, 0.5], method="gaussian", missing="category"
        )
