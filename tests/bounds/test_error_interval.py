"""The interval of reachable error: every joint distribution inside, both ends reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import joint_pmf
from pinsker import bounds
from pinsker.exceptions import ParameterError

#: Rounding of an exact entropy; the root of Fano's equation is steep only near its ends.
ROUNDING = 1e-12


def test_every_distribution_lies_inside(cases):
    for i in range(0, cases.nu.size, 4):
        entropy, m = max(float(cases.entropy_kept[i]), 0.0), int(cases.classes[i])
        interval = bounds.ErrorInterval.from_entropy(entropy, m, float(cases.prior[i]))
        assert interval.lower <= cases.kept[i] + 1e-9
        assert cases.kept[i] <= interval.upper + 1e-9


def test_curves_are_ordered():
    entropy = np.linspace(0.0, 3.0, 400)
    exact = bounds.feder_merhav_error(entropy)
    assert np.all(exact <= bounds.hellman_raviv_error(entropy) + ROUNDING)
    assert np.all(exact <= 1.0 - np.exp(-entropy) + ROUNDING)
    assert np.all(bounds.fano_error(entropy, 30) <= exact + ROUNDING)
    assert np.all(np.diff(exact) > 0.0)
    assert np.all(np.diff(exact, 2) < ROUNDING)


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("error", [1e-6, 0.01, 0.2, 0.5])
def test_fano_is_reached(m, error):
    p = np.full(m, error / (m - 1))
    p[0] = 1.0 - error
    got = bounds.fano_error(joint_pmf.entropy(p), m)
    assert got == pytest.approx(error, rel=1e-7)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_upper_curve_is_reached(k, share):
    """Kept features that leave k equally likely classes, or k + 1."""
    entropy = (1.0 - share) * math.log(k) + share * math.log(k + 1)
    error = (1.0 - share) * (1.0 - 1.0 / k) + share * (1.0 - 1.0 / (k + 1))
    assert bounds.feder_merhav_error(entropy) == pytest.approx(error, abs=1e-12)


@given(m=st.integers(2, 50), share=st.floats(0.0, 1.0))
def test_fano_solves_its_equation(m, share):
    entropy = share * math.log(m)
    e = bounds.fano_error(entropy, m)
    back = joint_pmf.entropy([e, 1.0 - e]) + e * math.log(m - 1)
    assert back == pytest.approx(entropy, abs=1e-9)
    assert 0.0 <= e <= 1.0 - 1.0 / m


def test_ends():
    assert bounds.ErrorInterval.from_entropy(0.0, 5) == bounds.ErrorInterval(0.0, 0.0)
    uniform = bounds.ErrorInterval.from_entropy(math.log(5), 5)
    assert uniform.lower == pytest.approx(0.8)
    assert uniform.upper == pytest.approx(0.8)
    assert bounds.feder_merhav_error(100.0) == 1.0
    assert bounds.hellman_raviv_error(100.0) == 1.0


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"conditional_entropy": 1.0, "n_classes": 2}, "is above 0.693147 nats, the largest"),
        (
            {"conditional_entropy": 0.5, "n_classes": 2, "largest_prior": 0.9},
            "entropy of 2 classes with a largest prior of 0.9",
        ),
        (
            {"conditional_entropy": 0.1, "n_classes": 3, "largest_prior": 0.2},
            "largest_prior must lie between 1/3 and 1",
        ),
        ({"conditional_entropy": -0.1, "n_classes": 3}, "conditional_entropy must not be negative"),
        ({"conditional_entropy": 0.1, "n_classes": 1}, "n_classes must be an integer"),
    ],
)
def test_refusals(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        bounds.ErrorInterval.from_entropy(**kwargs)


def test_fano_refuses_too_much_entropy():
    with pytest.raises(ParameterError, match=r"at most log\(2\) = 0.693147 nats"):
        bounds.fano_error(0.8, 2)


def test_hellman_and_raviv_by_hand():
    """A coin of which half a bit is open errs at most one time in four."""
    assert bounds.hellman_raviv_error(math.log(2) / 2) == pytest.approx(0.25)
    assert bounds.hellman_raviv_error(10.0) == 1.0
