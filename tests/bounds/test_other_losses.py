"""Log-loss, Brier score, absolute error, costs: joint distributions, tightness, round trips."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import joint_pmf
from pinsker import bounds
from pinsker.metrics import bound_for

#: Rounding of exact information and errors: sums of at most 100 terms of order one.
ROUNDING = 1e-12


def test_log_loss_is_an_identity(cases):
    growth = bounds.LogLossBound().growth(cases.nu)
    np.testing.assert_allclose(growth, cases.entropy_kept - cases.entropy_full, atol=ROUNDING)
    assert bounds.LogLossBound().budget(0.25) == 0.25


def test_brier_is_never_violated(cases):
    assert np.all(cases.brier <= bounds.BrierBound().growth(cases.nu + ROUNDING) + ROUNDING)
    for m in range(2, 6):
        some = cases.classes == m
        limit = bounds.BrierBound(m).growth(cases.nu[some] + ROUNDING)
        assert np.all(cases.brier[some] <= limit + ROUNDING)


def test_absolute_error_is_never_violated(cases):
    share = bounds.AbsoluteErrorBound(1.0).growth(cases.nu + ROUNDING)
    assert np.all(cases.mae <= cases.range * share + ROUNDING)


def test_costs_are_never_violated(cases):
    rng = np.random.default_rng(3)
    for i in range(0, cases.nu.size, 2):
        costs = rng.exponential(size=(3, cases.classes[i])) ** 2
        full, kept = joint_pmf.cost_risks(cases.tables[i], costs)
        if i % 10 == 0:
            sharp = bounds.BoundedLossBound(float(np.ptp(costs))).growth(cases.nu[i] + ROUNDING)
            assert kept - full <= sharp + ROUNDING
        assert kept - full <= np.ptp(costs) * math.sqrt((cases.nu[i] + ROUNDING) / 2.0) + ROUNDING


@pytest.mark.parametrize("tilt", [0.01, 0.2, 0.45])
def test_attained_by_the_tilted_coin(tilt):
    p = joint_pmf.tilted_coin(tilt)
    nu = joint_pmf.information_lost(p)
    full, kept = joint_pmf.brier_scores(p)
    near = {"rel": 1e-9}  # nu of a tilt of .01 is 2e-4, with rounding 1e-16
    assert bounds.BrierBound(2).growth(nu) == pytest.approx(kept - full, **near)
    full, kept = joint_pmf.absolute_errors(p, np.array([0.0, 3.0]))
    assert bounds.AbsoluteErrorBound(3.0).growth(nu) == pytest.approx(kept - full, **near)
    if tilt == 0.01:
        assert (kept - full) / (3.0 * math.sqrt(nu / 2.0)) > 0.999
        assert (kept - full) / bounds.BoundedLossBound(3.0).growth(nu) > 0.999
        full, kept = joint_pmf.brier_scores(p)
        assert (kept - full) / nu > 0.999


def test_mean_error_of_two_targets_is_never_violated(cases):
    """Facts of several targets: the root of the mean of squared ranges."""
    rng = np.random.default_rng(8)
    for i in range(0, cases.nu.size, 8):
        y = rng.uniform(size=(2, cases.classes[i]))
        growth = np.mean([np.diff(joint_pmf.squared_errors(cases.tables[i], v))[0] for v in y])
        length = float(np.linalg.norm(np.ptp(y, axis=1)) / math.sqrt(2))
        facts = bounds.TargetFacts("regression", target_range=length, n_targets=2)
        limit = bound_for("mse", facts).growth(float(cases.nu[i]) + ROUNDING)
        assert growth <= limit + ROUNDING


def test_mean_distance_of_two_targets_is_bounded_as_one_of_their_mean_range():
    """The root mean square of the ranges is at least their mean, which the bound is linear in."""
    facts = bounds.TargetFacts("regression", target_range=5.0, n_targets=2)
    bound = bound_for("mae", facts)
    got = bound.growth(0.1)
    assert got == bounds.AbsoluteErrorBound(5.0).growth(0.1)
    assert bound.theorem == "L3"
    assert bound.budget(got) == pytest.approx(0.1, rel=1e-11)


@given(share=st.floats(1e-8, 0.99), length=st.floats(1e-3, 1e4))
def test_budgets_and_growths_are_inverse(share, length):
    delta = share * length
    absolute, general = bounds.AbsoluteErrorBound(length), bounds.BoundedLossBound(length)
    for bound, reached in ((absolute, delta / 2.0), (general, delta)):
        assert bound.growth(bound.budget(reached)) == pytest.approx(reached, rel=1e-11)
    for m in (2, 3, 7, None):
        cap = 1.0 if m is None else 1.0 - 1.0 / m
        nu = bounds.BrierBound(m).budget(share * cap)
        assert bounds.BrierBound(m).growth(nu) == pytest.approx(share * cap, rel=1e-11)
        assert bounds.BrierBound(m).budget(cap) == math.inf


def test_nothing_exceeds_the_caps():
    assert bounds.BrierBound(4).growth(50.0) == 0.75
    assert bounds.AbsoluteErrorBound(3.0).growth(50.0) == 1.5
    assert bounds.AbsoluteErrorBound(3.0).budget(1.5) == math.inf
    assert bounds.BoundedLossBound(3.0).growth(math.inf) == 3.0
    assert bounds.BoundedLossBound(3.0).budget(3.0) == math.inf
