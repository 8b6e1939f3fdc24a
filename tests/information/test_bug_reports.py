"""Bug reports of other libraries, pinned."""

import math

import numpy as np
import pytest
from scipy.special import digamma

from pinsker import conditional_mutual_information, mutual_information
from pinsker.exceptions import UnreliableEstimateWarning


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6])
def test_a_constant_column_tells_nothing_of_a_rare_class(value):
    # scikit-learn #30772: noise on a constant 1.0 gave 11.7 times H(Y) at 200 000 rows.
    y = np.zeros(200_000, dtype=int)
    y[:100] = 1
    assert (
        mutual_information(np.full(200_000, value), y, categorical_features={"x": "count"}) == 0.0
    )
    few = np.r_[y[:110], y[-890:]]
    assert mutual_information(np.full(1000, value), few, method="knn") == 0.0
    assert mutual_information(np.full(1000, value), few.astype(str), method="knn") == 0.0


@pytest.mark.parametrize("method", ["auto", "knn"])
def test_a_target_of_one_class_has_no_information(method):
    # scikit-learn #16355: the estimate was negative before it was clipped.
    x = np.random.default_rng(0).normal(size=50)
    for y in (np.ones(50, dtype=int), ["only"] * 50, np.full(50, 0.3)):
        assert mutual_information(x, y, method=method) == 0.0


def test_labels_that_are_all_different_are_no_error_and_no_information():
    # scikit-learn #13711: an error from an empty array. No row has another to be compared with.
    x = np.random.default_rng(0).normal(size=30)
    y = [f"label {i}" for i in range(30)]
    with pytest.warns(UnreliableEstimateWarning, match="30 of 30 rows share their nominal values"):
        assert mutual_information(x, y) == 0.0


def test_ties_do_not_depend_on_the_unit():
    # Closed balls without a tolerance gave 0.224 or 0.289 on one-decimal data, by the unit.
    rng = np.random.default_rng(3)
    x, y, z = np.round(rng.normal(size=(3, 150)), 1)
    kinds = {"x": "continuous", "y": "continuous", "z": "continuous"}
    values = [
        conditional_mutual_information(
            x * a, y * a, z * a, categorical_features=kinds, scale="standard"
        )
        for a in (1.0, 0.1, 3 / 7, 1e5)
    ]
    # Same counts, so equal up to the rounding of a mean.
    assert np.ptp(values) < 1e-12


def test_ties_do_not_depend_on_the_unit_without_scaling():
    rng = np.random.default_rng(4)
    x, y = np.round(rng.normal(size=(2, 150)), 1)
    kinds = {"x": "continuous", "y": "continuous"}
    values = [
        mutual_information(x * a, y * a, categorical_features=kinds, scale="none")
        for a in (1.0, 0.1, 3 / 7)
    ]
    assert np.ptp(values) < 1e-12


def test_information_of_a_class_with_itself():
    # Noise-adding estimators exceed H(Y) here.
    y = np.repeat(["a", "b", "c", "d"], 25)
    assert mutual_information(y, y, correction="none") == pytest.approx(math.log(4), abs=1e-12)
    # By neighbors: psi(24) - 2 psi(24) + psi(99), since every row has 24 copies.
    by_neighbors = mutual_information(y, y, method="knn")
    assert by_neighbors == pytest.approx(digamma(99) - digamma(24), abs=1e-12)
