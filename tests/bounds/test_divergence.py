"""The special functions against sixty digits, a dense grid, and themselves backwards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import binary_divergence as oracle
from pinsker.bounds import _bound as ours

#: Our functions are sums of terms of one sign: a few units in the last place.
LAST_PLACES = 1e-14


@given(tilt=st.floats(1e-12, 0.5))
def test_kappa_has_all_digits(tilt):
    assert float(ours.kappa(np.asarray(tilt))) == pytest.approx(oracle.kappa(tilt), rel=LAST_PLACES)


@given(nu=st.floats(1e-280, 0.69))
def test_kappa_inverse_of_tiny_and_large_information(nu):
    tilt = ours.kappa_inverse(np.asarray(nu))
    assert float(ours.kappa(tilt)) == pytest.approx(nu, rel=LAST_PLACES)


def test_kappa_inverse_at_the_ends():
    nu = np.array([0.0, np.log(2.0), 5.0, np.inf])
    assert ours.kappa_inverse(nu).tolist() == [0.0, 0.5, 0.5, 0.5]


@given(kept=st.floats(0.01, 0.99), share=st.floats(1e-9, 0.999))
def test_divergence_has_all_digits(kept, share):
    full = kept - share * kept
    exact = oracle.binary_divergence(full, kept)
    got = float(ours.divergence(np.asarray(kept - full), np.asarray(kept)))
    # kept - full is rounded: a relative error of eps * kept / growth in the argument.
    assert got == pytest.approx(exact, rel=LAST_PLACES + 1e-15 / share)


@pytest.mark.parametrize("variation", [0.01, 0.1, 0.247, 0.5, 0.9, 0.99])
def test_vajda_is_the_minimum(variation):
    grid = oracle.least_divergence(variation)
    value = float(ours.vajda(np.asarray(variation)))
    assert value <= grid * (1.0 + 1e-12)
    # The grid of 2e5 points misses the minimum of a parabola by about (step / q)^2 / 8.
    assert value == pytest.approx(grid, rel=1e-6)


@given(variation=st.floats(1e-9, 0.999999))
def test_vajda_and_its_inverse(variation):
    nu = ours.vajda(np.asarray(variation))
    assert float(ours.vajda_inverse(nu)[0]) == pytest.approx(variation, rel=1e-12)


def test_vajda_at_the_ends():
    assert ours.vajda(np.array([0.0, 1.0])).tolist() == [0.0, np.inf]
    assert ours.vajda_inverse(np.array([0.0, 1e3, np.inf]))[0].tolist() == [0.0, 1.0, 1.0]


def test_vajda_lies_between_pinsker_and_the_fair_coin():
    variation = np.linspace(0.001, 0.499, 300)
    value = ours.vajda(variation)
    assert np.all(value >= 2.0 * variation**2)
    assert np.all(value <= ours.kappa(variation))
    assert np.all(np.diff(value) > 0.0)
    assert np.all(np.diff(value, 2) > 0.0)


def test_root_finder_handles_many_sizes_at_once():
    nu = np.array([[1e-200, 1e-9], [0.3, 0.69]])
    np.testing.assert_allclose(ours.kappa(ours.kappa_inverse(nu)), nu, rtol=LAST_PLACES)


@pytest.mark.parametrize(("target", "found"), [(9.0, 1.0), (1e-9, 0.1)])
def test_no_steps_are_taken_towards_what_no_end_reaches(target, found):
    """A target beyond the function's range took 63 steps, 30 ms of every certificate."""
    calls = []

    def square(x):
        calls.append(x)
        return x**2

    one = np.asarray(1.0)
    root = ours.solve_increasing(square, target * one, 0.1 * one, one)
    assert float(root) == pytest.approx(found, rel=LAST_PLACES)
    assert len(calls) <= 3
