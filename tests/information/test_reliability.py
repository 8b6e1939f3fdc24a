"""Warnings where estimates cannot be trusted, none where they can, and honest standard errors."""

import warnings

import numpy as np
import pytest

from pinsker import conditional_mutual_information, entropy, mutual_information
from pinsker.exceptions import UnreliableEstimateWarning
from tests.truths import BivariateNormal, CommonCause, ManyWeakCauses, TwoNormalClasses


def test_the_ceiling_of_many_conditions():
    # 500 rows, 16 conditions, 3 neighbors: the limit is below the truth of 0.347.
    x, y, z = CommonCause(1.0, 16).sample(500, seed=0)
    with pytest.warns(UnreliableEstimateWarning, match="18 columns are too many for 500 rows"):
        found = conditional_mutual_information(x, y, z, return_details=True)
    assert found.value < found.ceiling < CommonCause(1.0, 16).truth() + 0.05
    assert len(found.warnings) == 1


def test_many_columns_without_a_condition():
    # The ceiling ln(n/k) says nothing here; the resolution does.
    x, y, _ = ManyWeakCauses(20, "all").sample(500, seed=0)
    with pytest.warns(UnreliableEstimateWarning, match="21 columns are too many"):
        assert mutual_information(x, y) < 0.2


def test_dependence_too_strong_for_the_rows():
    x, y, _ = BivariateNormal(0.999999).sample(300, seed=0)
    with pytest.warns(UnreliableEstimateWarning, match="the truth may be larger"):
        assert mutual_information(x, y) < BivariateNormal(0.999999).truth()


def test_a_column_lost_among_many_conditions():
    # 50 conditions set the distances: x, which determines y, is never the farthest.
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=400), rng.normal(size=(400, 50))
    with pytest.warns(UnreliableEstimateWarning, match="52 columns are too many for 400 rows"):
        found = conditional_mutual_information(x, x > 0, z)
    assert found < 0.2


def test_a_column_that_is_part_of_the_condition_is_zero_for_sure():
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    assert conditional_mutual_information(z[:, 3], y, z) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.99])
@pytest.mark.parametrize("n_rows", [200, 1000])
def test_no_warning_without_a_reason(rho, n_rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x, y, _ = BivariateNormal(rho).sample(n_rows, seed=1)
        mutual_information(x, y)
        x, y, z = CommonCause(rho, 1).sample(n_rows, seed=1)
        conditional_mutual_information(x, y, z)
        x, y, _ = TwoNormalClasses(rho).sample(n_rows, seed=1)
        mutual_information(x, y)
        mutual_information(np.full(n_rows, 0.5), x)
        mutual_information(np.where(y > 0, 0.5, 1.5), x)


def test_rare_categories_are_a_warning():
    rng = np.random.default_rng(0)
    y = np.r_[np.repeat(["a", "b"], 40), np.arange(20).astype(str)]
    with pytest.warns(UnreliableEstimateWarning, match="20 of 100 rows share their nominal values"):
        mutual_information(rng.normal(size=100), y)
    mixed = np.column_stack([rng.normal(size=100).astype(object), y])
    with pytest.warns(UnreliableEstimateWarning, match="20 of 100 rows share their nominal values"):
        entropy(mixed)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["knn", "gaussian", "copula", "discrete"])
def test_standard_errors_are_those_of_repeated_samples(method):
    problem = BivariateNormal(0.6)
    values, errors = [], []
    for number in range(40):
        x, y, _ = problem.sample(300, number)
        if method == "discrete":
            x, y = (np.digitize(side, [-0.5, 0.5]) for side in (x, y))
        found = mutual_information(x, y, method=method, return_details=True)
        values.append(found.value)
        errors.append(found.standard_error)
    # A deviation from 40 samples is known to 11 %; half-sampling sees the bias of small halves
    # too, which makes it too large rather than too small. Five deviations either side: 0.45 to 1.6.
    assert 0.6 < np.mean(errors) / np.std(values, ddof=1) < 1.6
