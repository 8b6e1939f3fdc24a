"""The test of independence: permutations that keep z, p-values that mean what they say."""

import dataclasses

import numpy as np
import pytest

from pinsker import independence_test
from pinsker.encoding import encode_columns
from pinsker.exceptions import ParameterError
from pinsker.information._mutual import _permutations, _within_states, local_permutations
from tests.truths import BivariateNormal, Chain, Xor, information_problems


def test_dependence_is_found():
    x, y, _ = BivariateNormal(0.6).sample(150, seed=0)
    found = independence_test(x, y, n_permutations=99)
    assert found.p_value == 1 / 100
    assert found.statistic > 0.1
    assert found.n_permutations == 99
    assert found.n_neighbors == 15
    assert found.method == "knn"
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_value = 1.0


def test_dependence_through_a_condition_only():
    x, y, z = information_problems()["G3 collider given z"].sample(200, seed=0)
    assert independence_test(x, y, n_permutations=99).p_value > 0.05
    assert independence_test(x, y, z, n_permutations=99).p_value <= 0.02
    x, y, z = Xor(True).sample(60, seed=0)
    assert independence_test(x, y, z, n_permutations=99).p_value == 1 / 100


def test_p_values_are_uniform_without_dependence():
    # A p-value of 19 permutations is at most 0.1 with probability 0.1 exactly. Of 100, 10 are
    # expected with a deviation of 3: 25 are five deviations away.
    rng = np.random.default_rng(0)
    small = 0
    for number in range(100):
        x, y = rng.normal(size=(2, 40))
        small += independence_test(x, y, n_permutations=19, random_state=number).p_value <= 0.1
    assert small <= 25


@pytest.mark.slow
def test_p_values_given_z_are_not_too_small():
    # The same for a chain given its middle; neighbors in z are alike here. Twice 0.1 is allowed,
    # for what local permutation costs: 20 expected of 100 at worst, five deviations are 20.
    small = 0
    for number in range(100):
        x, y, z = Chain(True).sample(100, number)
        small += independence_test(x, y, z, n_permutations=19).p_value <= 0.1
    assert small <= 40


def test_a_constant_is_independent_of_everything():
    x = np.random.default_rng(0).normal(size=40)
    assert independence_test(x, np.full(40, 0.5), n_permutations=19).p_value == 1.0


def test_the_seed_decides():
    x, y, z = Chain(True).sample(80, seed=3)
    one = independence_test(x, y, z, n_permutations=49)
    assert one == independence_test(x, y, z, n_permutations=49)
    others = {independence_test(x, y, z, n_permutations=49, random_state=s).p_value for s in (1, 2)}
    assert others != {one.p_value}


def test_orders_within_states_are_permutations_within_states():
    states = np.array([0, 2, 1, 1, 0, 2, 2])
    orders = _within_states(states, 50, np.random.default_rng(0))
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(7))
        np.testing.assert_array_equal(states[order], states)
    assert len({tuple(order) for order in orders}) > 10


def test_local_orders_stay_near_and_seldom_repeat():
    z = np.random.default_rng(0).normal(size=(100, 1))
    orders = local_permutations(z, np.arange(100), 20, 5, np.random.default_rng(1))
    distances = np.abs(z - z.T)
    fifth = np.sort(distances, axis=1)[:, 4]
    for order in orders:
        assert (distances[np.arange(100), order] <= fifth).all()
        # Rows at the end of the queue may find all five taken, and repeat one of them.
        assert len(set(order)) > 80


def test_local_orders_never_leave_a_category():
    z = np.r_[np.arange(98.0), 1e200, 1e200][:, np.newaxis]
    orders = local_permutations(z, np.arange(100), 10, 5, np.random.default_rng(1))
    assert (orders[:, 98:] >= 98).all()
    assert (orders[:, :98] < 98).all()


def test_crowded_states_are_permuted_within_and_others_nearby():
    z = encode_columns([*[0] * 20, *range(10, 20)], scale="none", categorical_features="all")
    orders = _permutations(z, 30, 40, 5, np.random.default_rng(0))
    for order in orders:
        np.testing.assert_array_equal(np.sort(order[:20]), np.arange(20))
        assert (np.abs(order[20:] - np.arange(20, 30)) <= 4).all()


def test_counts_that_make_no_sense():
    x = np.arange(20) / 7
    with pytest.raises(ParameterError, match="n_permutations=0 is too few: use at least 1"):
        independence_test(x, x, n_permutations=0)
    with pytest.raises(ParameterError, match="n_local=1 is too few: use at least 2"):
        independence_test(x, x, n_local=1)
    with pytest.raises(ParameterError, match="n_neighbors=20 needs at least 21 rows"):
        independence_test(x, x, n_neighbors=20)
