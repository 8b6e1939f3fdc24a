"""Squared error: worked numbers, thousands of joint distributions, tightness, round trips."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import joint_pmf
from pinsker import bounds

#: Rounding of the exact information, a sum of at most 100 terms of order one.
NU_ROUNDING = 1e-13
#: Rounding of an exact squared error with values of order one.
ERROR_ROUNDING = 1e-12


def test_worked_numbers():
    assert bounds.RangeBound(6.5).growth(0.01) == pytest.approx(0.21125)
    assert bounds.RangeBound(6.5).budget(0.21125) == pytest.approx(0.01)
    # kappa(1/4) = log 2 - h(3/4) = 0.130812: a coin on {0, 2} tilted to 1/4 and 3/4.
    assert bounds.SharpRangeBound(2.0).growth(0.130812) == pytest.approx(0.25, abs=1e-6)
    assert bounds.SharpRangeBound(2.0).budget(0.25) == pytest.approx(0.130812, abs=1e-6)
    assert bounds.GaussianBound(1.0).growth(0.01) == pytest.approx(0.0198013, abs=1e-7)
    assert bounds.SubgaussianBound(1.0).growth(0.01) == pytest.approx(0.02)
    assert bounds.SecondMomentBound(2.5).growth(0.01) == pytest.approx(0.05)
    assert bounds.PaperRegressionBound(2.0).growth(0.05) == 0.4
    assert bounds.PaperRegressionBound(2.0).budget(0.4) == 0.05


def test_tiny_information_loses_no_digit():
    nu = np.array([1e-6, 1e-12, 1e-18, 1e-200])
    ratio = bounds.SharpRangeBound(3.0).growth(nu) / bounds.RangeBound(3.0).growth(nu)
    np.testing.assert_allclose(ratio, 1.0 - nu / 3.0, rtol=1e-12)  # kappa = 2 t^2 + 4/3 t^4 + ...


def test_closed_form_is_just_above():
    nu = np.geomspace(1e-9, 0.69, 200)
    closed = nu / (1.0 + np.sqrt(1.0 + 4.0 * nu / 3.0))
    sharp = bounds.SharpRangeBound(1.0).growth(nu)
    assert np.all(sharp <= closed * (1.0 + 1e-14))
    assert np.all((closed <= 1.01 * sharp)[nu <= 0.2])
    assert np.all(closed <= 1.17 * sharp)


def test_never_violated(cases):
    nu = cases.nu + NU_ROUNDING
    sharp = cases.range**2 * bounds.SharpRangeBound(1.0).growth(nu)
    assert np.all(cases.mse <= sharp + ERROR_ROUNDING)
    assert np.all(cases.mse <= cases.variance + ERROR_ROUNDING)
    linear = cases.range**2 * bounds.RangeBound(1.0).growth(nu)
    assert np.all(sharp <= linear * (1.0 + 1e-12))
    paper = cases.largest**2 * bounds.PaperRegressionBound(1.0).growth(nu)
    assert np.all(linear <= paper * (1.0 + 1e-9))


def test_range_and_variance_are_combined(cases):
    for i in range(0, cases.nu.size, 20):
        nu, length, cap = cases.nu[i] + NU_ROUNDING, cases.range[i], cases.variance[i]
        growth = bounds.SharpRangeBound(length, cap).growth(nu)
        assert growth == min(bounds.SharpRangeBound(length).growth(nu), cap)


def test_second_moment_bound_is_never_violated(cases):
    for i in range(0, cases.nu.size, 2):
        p, y = cases.tables[i], cases.values[i]
        mass = p.sum(axis=(1, 2))
        means = (p.sum(axis=1) @ y) / np.where(mass > 0.0, mass, 1.0)
        middle = np.full(p.shape[0], (y.max() + y.min()) / 2.0)
        for centre in (means, middle, np.zeros(p.shape[0])):
            moment = max(joint_pmf.largest_second_moment(p, y, centre), 1e-12)
            growth = bounds.SecondMomentBound(moment).growth(cases.nu[i] + NU_ROUNDING)
            assert cases.mse[i] <= growth + ERROR_ROUNDING


def test_subgaussian_bound_is_never_violated(cases):
    """Two-valued targets have a known variance proxy (1 - 2q) / (2 log((1 - q) / q))."""
    for i in np.flatnonzero(cases.classes == 2):
        kept = cases.tables[i].sum(axis=1)
        mass = kept.sum(axis=1)
        q = kept[mass > 0.0, 0] / mass[mass > 0.0]
        q = np.clip(np.minimum(q, 1.0 - q), 1e-12, 0.4999999)
        proxy = float(((1.0 - 2.0 * q) / (2.0 * np.log((1.0 - q) / q))).max())
        proxy *= (1.0 + 1e-6) * cases.range[i] ** 2  # the clip at .4999999
        growth = bounds.SubgaussianBound(proxy).growth(cases.nu[i] + NU_ROUNDING)
        assert cases.mse[i] <= growth + ERROR_ROUNDING


def test_clipped_bound_is_never_violated(cases):
    rng = np.random.default_rng(5)
    for i in range(0, cases.nu.size, 4):
        p, y = cases.tables[i], cases.values[i]
        low, high = np.sort(rng.uniform(y.min(), y.max(), 2))
        tail = y - np.clip(y, low, high)
        prior = p.sum(axis=(0, 1))
        deviation = math.sqrt(max(prior @ tail**2 - (prior @ tail) ** 2, 0.0))
        growth = bounds.ClippedBound(high - low, deviation + 1e-9).growth(cases.nu[i] + NU_ROUNDING)
        assert cases.mse[i] <= growth + ERROR_ROUNDING


def test_gaussian_bound_needs_a_gaussian():
    """A rare spike: variance near one, information near zero, all of the variance lost."""
    q = 1e-5
    p = np.array([[[1.0 - q, 0.0], [0.0, q]]])
    values = np.array([0.0, q**-0.5])
    nu = joint_pmf.information_lost(p)
    full, kept = joint_pmf.squared_errors(p, values)
    assert kept - full == pytest.approx(0.99999)
    assert nu == pytest.approx(1.25e-4, abs=1e-6)
    assert bounds.GaussianBound(kept).growth(nu) < 3e-4
    assert bounds.SharpRangeBound(float(values[1]), kept).growth(nu) >= kept - full - 1e-12


def test_gaussian_identity():
    """MSE by normal equations against nu by determinants, random covariances."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        root = rng.normal(size=(6, 6))
        cov = root @ root.T
        full, kept = _gaussian_error(cov, [1, 2, 3, 4, 5]), _gaussian_error(cov, [1, 3])
        nu = 0.5 * math.log(
            np.linalg.det(cov[np.ix_([0, 1, 3], [0, 1, 3])])
            / np.linalg.det(cov[np.ix_([1, 3], [1, 3])])
            * np.linalg.det(cov[1:, 1:])
            / np.linalg.det(cov)
        )
        # Determinants of random 6 x 6 matrices lose a few digits.
        near = {"rel": 1e-6}
        assert bounds.GaussianBound(kept).growth(nu) == pytest.approx(kept - full, **near)
        limited = bounds.GaussianBound(cov[0, 0], full).growth(nu)
        assert limited == pytest.approx(kept - full, **near)
        assert bounds.GaussianBound(cov[0, 0]).growth(nu) >= limited


def _gaussian_error(cov, features):
    block, cross = cov[np.ix_(features, features)], cov[0, features]
    return float(cov[0, 0] - cross @ np.linalg.solve(block, cross))


def test_entropy_power_is_below_the_variance():
    uniform, laplace = 0.0, 1.0 + math.log(2.0)  # entropies; variances 1/12 and 2
    assert bounds.entropy_power(uniform) < 1.0 / 12.0
    assert bounds.entropy_power(laplace) < 2.0
    gaussian = 0.5 * math.log(2.0 * math.pi * math.e * 3.0)
    assert bounds.entropy_power(gaussian) == pytest.approx(3.0, rel=1e-14)
    assert bounds.largest_entropy(3.0) == pytest.approx(gaussian, rel=1e-14)
    assert bounds.largest_entropy(0.0) == -math.inf


@pytest.mark.parametrize("tilt", [1e-3, 0.05, 0.25, 0.49])
def test_sharp_where_promised(tilt):
    p = joint_pmf.tilted_coin(tilt)
    nu = joint_pmf.information_lost(p)
    full, kept = joint_pmf.squared_errors(p, np.array([-1.0, 4.0]))
    assert kept - full == pytest.approx((5.0 * tilt) ** 2, rel=1e-9)
    # nu is a sum of rounded terms of order one: relative error eps / tilt^2.
    near = {"rel": 1e-9 + 1e-15 / tilt**2}
    assert bounds.SharpRangeBound(5.0).growth(nu) == pytest.approx(kept - full, **near)
    if tilt <= 0.05:
        assert (kept - full) / bounds.RangeBound(5.0).growth(nu) > 0.99
        assert (kept - full) / bounds.SecondMomentBound(6.25).growth(nu) > 0.99
        assert (kept - full) / bounds.SubgaussianBound(6.25).growth(nu) > 0.99


@given(share=st.floats(1e-10, 0.999), length=st.floats(1e-3, 1e6))
def test_budgets_and_growths_are_inverse(share, length):
    delta = share * length**2 / 4.0
    for kind in (bounds.RangeBound, bounds.SharpRangeBound, bounds.PaperRegressionBound):
        bound = kind(length)
        assert bound.growth(bound.budget(delta)) == pytest.approx(delta, rel=1e-11)
    for kind in (bounds.SecondMomentBound, bounds.SubgaussianBound, bounds.GaussianBound):
        bound = kind(length**2)
        assert bound.growth(bound.budget(delta)) == pytest.approx(delta, rel=1e-9)
    nu = bounds.ClippedBound(length, 0.0).budget(delta)
    assert bounds.ClippedBound(length, 0.0).growth(nu) == pytest.approx(delta, rel=1e-11)


@given(delta=st.floats(1e-6, 0.9), full=st.one_of(st.just(0.0), st.floats(1e-300, 1.0)))
def test_gaussian_budget_with_a_limit_on_the_full_error(delta, full):
    nu = bounds.GaussianBound(1.0, full).budget(delta)
    if math.isfinite(nu):
        growth = bounds.GaussianBound(1.0, full).growth(nu)
        assert growth == pytest.approx(delta, rel=1e-9)
    else:
        assert full == 0.0


def test_clipping_a_sample():
    rng = np.random.default_rng(0)
    nu = np.array([0.0, 1e-4, 0.01, 0.1, 2.0])
    for y in (rng.standard_t(3, size=3000), rng.normal(size=3000), rng.uniform(size=300)):
        growth = bounds.ClippedBound.of(y).growth(nu)
        assert np.all(np.diff(growth) > 0.0)
        assert growth[0] == 0.0
        assert growth[-1] <= y.var() * (1.0 + 1e-12)
        whole = bounds.SharpRangeBound(float(np.ptp(y)), float(y.var())).growth(nu)
        assert np.all(growth <= whole * (1.0 + 1e-12))
        back = bounds.ClippedBound.of(y).budget(growth)
        np.testing.assert_allclose(back[1:-1], nu[1:-1], rtol=1e-9)
    assert bounds.ClippedBound.of(y).budget(float(y.var())) == math.inf


def test_clipping_a_gaussian_sample_helps_a_little():
    """Range 6.5 standard deviations, nu = .01: R1 says .21, clipping .15."""
    y = np.random.default_rng(3).normal(size=2000)
    y = 6.5 * (y - y.min()) / np.ptp(y)
    y /= y.std()
    assert 0.13 < bounds.ClippedBound.of(y).growth(0.01) < 0.17
