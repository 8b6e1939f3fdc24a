"""Error rate: worked numbers, thousands of joint distributions, tightness, round trips."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import binary_divergence, joint_pmf
from pinsker import bounds
from pinsker.metrics import bound_for

#: Rounding of the exact information, a sum of at most 100 terms of order one.
NU_ROUNDING = 1e-13
#: Rounding of an error rate, for divisions by a growth of at least 1e-3.
RATIO_ROUNDING = 1e-9

BUDGETS = [  # delta, paper, nothing known, kept error at most .5, .3, .1 (computed by hand)
    (0.01, 0.00005, 0.00020, 0.00020, 0.00033, 0.00100),
    (0.02, 0.00020, 0.00080, 0.00080, 0.00133, 0.00403),
    (0.05, 0.00125, 0.00500, 0.00501, 0.00837, 0.02616),
    (0.10, 0.00500, 0.02004, 0.02014, 0.03398, math.inf),
    (0.20, 0.02000, 0.08073, 0.08228, 0.14555, math.inf),
]


@pytest.mark.parametrize("row", BUDGETS, ids=lambda row: str(row[0]))
def test_worked_budgets(row):
    delta, paper, nothing, *limited = row
    near = {"abs": 5.1e-6}  # the table has five decimals
    assert bounds.PaperClassificationBound().budget(delta) == pytest.approx(paper, **near)
    assert bounds.SharpErrorBound().budget(delta) == pytest.approx(nothing, **near)
    for limit, expected in zip((0.5, 0.3, 0.1), limited, strict=True):
        got = bounds.SharpErrorBound(limit).budget(delta)
        assert got == pytest.approx(expected, **near)


def test_worked_growths():
    """Full error .05 and 0, nu = .02: printed, C1, C4, C5."""
    assert bounds.PaperClassificationBound().growth(0.02) == pytest.approx(0.2)
    assert bounds.PinskerBound().growth(0.02) == pytest.approx(0.1)
    assert bounds.FullErrorBound(0.05).growth(0.02) == pytest.approx(0.0432, abs=5e-5)
    assert bounds.SharpErrorBound(full_error=0.05).growth(0.02) == pytest.approx(0.0421, abs=5e-5)
    assert bounds.FullErrorBound(0.0).growth(0.02) == pytest.approx(0.02)
    assert bounds.SharpErrorBound(full_error=0.0).growth(0.02) == pytest.approx(
        0.02 / (2.0 * math.log(2.0))
    )


def test_two_classes_need_no_error_limit():
    nu = np.geomspace(1e-6, 0.6, 50)
    got = bounds.SharpErrorBound(n_classes=2).growth(nu)
    np.testing.assert_allclose(got, bounds.BinaryBound().growth(nu), rtol=1e-12)


def test_nothing_known_is_vajda():
    nu = np.geomspace(1e-8, 3.0, 50)
    np.testing.assert_allclose(
        bounds.SharpErrorBound().growth(nu), bounds.VajdaBound().growth(nu), rtol=1e-12
    )


def test_binary_bound_is_false_for_three_classes():
    """Three equally likely classes, of which the removed feature makes one likelier by 1/2."""
    p = np.full((1, 3, 3), 1 / 12 / 3)
    for side in range(3):
        p[0, side, side] = 10 / 12 / 3
    full, kept = joint_pmf.bayes_errors(p)
    nu = joint_pmf.information_lost(p)
    assert kept - full == pytest.approx(0.5)
    assert nu == pytest.approx(0.5325, abs=5e-5)
    assert bounds.BinaryBound().growth(nu) == pytest.approx(0.462, abs=5e-4)
    assert bounds.SharpErrorBound(n_classes=3).growth(nu) >= 0.5 - 1e-12


@pytest.mark.parametrize("bound", [bounds.PinskerBound(), bounds.VajdaBound()])
def test_never_violated_with_nothing_known(cases, bound):
    growth = bound.growth(cases.nu + NU_ROUNDING)
    assert np.all(cases.kept - cases.full <= growth)


def test_never_violated_with_two_classes(cases):
    two = cases.classes == 2
    assert two.sum() > 500
    growth = bounds.BinaryBound().growth(cases.nu[two] + NU_ROUNDING)
    assert np.all((cases.kept - cases.full)[two] <= growth)
    below_half = cases.kept <= 0.5
    growth = bounds.BinaryBound().growth(cases.nu[below_half] + NU_ROUNDING)
    assert np.all((cases.kept - cases.full)[below_half] <= growth)


def test_theorem_c_is_never_violated(cases):
    full = np.minimum(cases.full, cases.kept)
    least = bounds.SharpErrorBound.least_information(full, cases.kept)
    assert np.all(least <= cases.nu + NU_ROUNDING)


def test_theorem_c_is_its_definition():
    kept, full = np.meshgrid(np.linspace(0.05, 0.95, 19), np.linspace(0.01, 0.94, 20))
    kept, full = kept[full < kept], full[full < kept]
    expected = binary_divergence.theorem_c(full, kept)
    np.testing.assert_allclose(
        bounds.SharpErrorBound.least_information(full, kept), expected, rtol=1e-9
    )


def growths_with_the_true_limits(cases, every):
    """Per distribution, the true growth and what each bound says with its exact side facts."""
    for i in range(0, cases.nu.size, every):
        nu = float(cases.nu[i]) + NU_ROUNDING
        kept, full, m = float(cases.kept[i]), float(cases.full[i]), int(cases.classes[i])
        prior = min(1.0 - float(cases.prior[i]) + 1e-15, 1.0)
        yield (
            kept - full,
            {
                "C3": bounds.KeptErrorBound(kept).growth(nu),
                "C3 prior": bounds.KeptErrorBound(prior).growth(nu),
                "C4": bounds.FullErrorBound(full).growth(nu),
                "C5": bounds.SharpErrorBound(full_error=full).growth(nu),
                "kept": bounds.SharpErrorBound(kept, n_classes=m).growth(nu),
                "prior": bounds.SharpErrorBound(prior, n_classes=m).growth(nu),
                "full": bounds.SharpErrorBound(None, full, m).growth(nu),
                "both": bounds.SharpErrorBound(kept, full, m).growth(nu),
            },
        )


def test_never_violated_with_a_limit_on_the_error(cases):
    for growth, limits in growths_with_the_true_limits(cases, every=31):
        for name, limit in limits.items():
            assert growth <= limit + 1e-12, name  # error rates are rounded sums
        assert limits["kept"] <= limits["C3"] + 1e-12
        assert limits["full"] <= min(limits["C4"], limits["C5"]) + 1e-12
        assert limits["both"] <= min(limits["kept"], limits["full"]) + 1e-12


def test_budgets_are_never_violated(cases):
    """The budget form: a growth above delta costs more information than its budget."""
    growth = cases.kept - cases.full
    for i in np.flatnonzero(growth > 1e-6)[::4]:
        less = float(growth[i]) * (1.0 - 1e-9)
        kept, full = float(cases.kept[i]), float(cases.full[i])
        m = int(cases.classes[i])
        assert bounds.SharpErrorBound(kept, n_classes=m).budget(less) <= cases.nu[i] + NU_ROUNDING
        assert bounds.SharpErrorBound(full_error=full).budget(less) <= cases.nu[i] + NU_ROUNDING


@pytest.mark.parametrize("tilt", [1e-4, 0.01, 0.1, 0.3, 0.49])
@pytest.mark.parametrize("kept", [0.5, 0.3, 0.05])
def test_sharp_where_promised(tilt, kept):
    """A certain class with probability 1 - 2 e, else a tilted coin: equality for every e <= 1/2."""
    p = np.zeros((2, 2, 2))
    p[0, :, 0] = (1.0 - 2.0 * kept) / 2.0
    p[1] = 2.0 * kept * joint_pmf.tilted_coin(tilt)[0]
    nu = joint_pmf.information_lost(p)
    full, reached = joint_pmf.bayes_errors(p)
    growth = reached - full
    # nu is a sum of rounded terms of order 2 e; its relative error is about eps / tilt^2.
    near = {"rel": 1e-9 + 1e-15 / tilt**2}
    assert bounds.SharpErrorBound.least_information(full, reached) == pytest.approx(nu, **near)
    assert bounds.SharpErrorBound(reached).growth(nu) == pytest.approx(growth, **near)
    assert bounds.SharpErrorBound(full_error=full).growth(nu) == pytest.approx(growth, **near)
    if tilt <= 0.1:
        assert growth / bounds.KeptErrorBound(reached).growth(nu) > 0.99
        assert growth / bounds.FullErrorBound(full).growth(nu) > 0.99
    if kept == 0.5:
        assert bounds.BinaryBound().growth(nu) == pytest.approx(growth, **near)
        if tilt <= 0.1:
            assert growth / bounds.PinskerBound().growth(nu) > 0.99


def test_random_near_extremal_distributions_come_close(cases):
    growth = cases.kept - cases.full
    some = (cases.family == "near_extremal") & (growth > 1e-3)
    ratio = growth[some] / bounds.VajdaBound().growth(cases.nu[some])
    assert 0.99 < ratio.max() <= 1.0 + RATIO_ROUNDING
    half = some & (cases.kept <= 0.5)
    least = bounds.SharpErrorBound.least_information(cases.full[half], cases.kept[half])
    assert (least / cases.nu[half]).max() > 0.999


@given(
    delta=st.floats(1e-8, 0.98),
    kept=st.one_of(st.none(), st.floats(0.001, 1.0)),
    full=st.one_of(st.none(), st.floats(0.0, 1.0)),
    classes=st.one_of(st.none(), st.integers(2, 20)),
)
def test_budget_and_growth_are_inverse(delta, kept, full, classes):
    bound = bounds.SharpErrorBound(kept, full, classes)
    nu = bound.budget(delta)
    cap = min(1.0 if kept is None else kept, 1.0 if classes is None else 1.0 - 1.0 / classes)
    if delta >= cap:
        assert nu == math.inf
        assert bound.growth(nu) == pytest.approx(cap)
    else:
        assert bound.growth(nu) == pytest.approx(delta, rel=1e-11)


@given(delta=st.floats(1e-8, 0.99), limit=st.floats(0.0, 1.0))
def test_single_bounds_and_their_inverses(delta, limit):
    limited = (bounds.FullErrorBound(limit), bounds.SharpErrorBound(full_error=limit))
    for bound in (bounds.PinskerBound(), bounds.VajdaBound(), *limited):
        assert bound.growth(bound.budget(delta)) == pytest.approx(delta, rel=1e-11)
    nu = bounds.KeptErrorBound(limit).budget(delta)
    if delta < limit:
        assert bounds.KeptErrorBound(limit).growth(nu) == pytest.approx(delta, rel=1e-11)
    else:
        assert nu == math.inf
    nu = bounds.BinaryBound().budget(delta)
    assert nu == math.inf or bounds.BinaryBound().growth(nu) == pytest.approx(delta, rel=1e-11)


@given(
    nu=st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)),
    kept=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
    full=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)
def test_more_information_or_weaker_facts_never_help(nu, kept, full):
    small = bounds.SharpErrorBound(min(kept), min(full)).growth(min(nu))
    large = bounds.SharpErrorBound(max(kept), max(full)).growth(max(nu))
    assert small <= large + 1e-12  # rounding of the root


def test_paper_constants_use_no_other_fact():
    facts = bounds.TargetFacts("classification", n_classes=2, largest_prior=0.9)
    for bound in (
        bounds.PaperClassificationBound(),
        bound_for("error", facts, error_limit=0.1, constants="paper"),
    ):
        assert bound.growth(0.5) == pytest.approx(1.0)
        assert bound.budget(0.5) == pytest.approx(0.125)


def test_an_error_of_zero_cannot_grow():
    assert bounds.SharpErrorBound(0.0).growth(0.3) == 0.0
    assert bounds.SharpErrorBound(0.0).budget(0.0) == math.inf
