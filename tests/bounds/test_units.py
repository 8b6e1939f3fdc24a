"""Budgets in the user's unit: worked numbers, round trips, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinsker.bounds import UNITS, TargetFacts, error_growth, information_budget
from pinsker.encoding import Target
from pinsker.exceptions import DataError, ParameterError

CLASSES = TargetFacts("classification", n_classes=3, largest_prior=0.5)
NUMBERS = TargetFacts("regression", target_range=4.0, variance=1.5, max_abs=3.0)
CASES = [(unit, facts, "bounded") for facts in (CLASSES, NUMBERS) for unit in UNITS[facts.task]] + [
    (unit, NUMBERS, "gaussian") for unit in ("r2", "mse", "log-loss")
]


def class_target(labels):
    return Target("classification", np.asarray(labels), np.unique(labels), None, None, ("y",))


def number_target(raw):
    raw = np.asarray(raw, dtype=float).reshape(len(raw), -1)
    return Target("regression", None, None, raw, raw, ("y",))


def test_facts_of_classes():
    facts = TargetFacts.of(class_target([0, 1, 1, 2]))
    assert facts == TargetFacts("classification", n_classes=3, largest_prior=0.5)
    assert facts.default_unit == "error"


def test_facts_of_one_numeric_target():
    facts = TargetFacts.of(number_target([-3.0, 1.0, 1.0, 1.0]))
    assert facts == TargetFacts("regression", target_range=4.0, variance=3.0, max_abs=3.0)
    assert facts.default_unit == "r2"


def test_facts_of_several_numeric_targets_are_those_of_the_summed_error():
    facts = TargetFacts.of(number_target([[0.0, 0.0], [3.0, -4.0]]))
    assert facts.target_range == 5.0
    assert facts.max_abs == 5.0
    assert facts.variance == 2.25 + 4.0
    assert facts.n_targets == 2


@pytest.mark.parametrize(("unit", "how"), [(1e200, "far"), (1e-200, "little")])
def test_a_target_whose_squares_are_no_numbers(unit, how):
    with pytest.raises(DataError, match=f"too {how} for squared errors .*: give it in another"):
        TargetFacts.of(number_target([-3.0 * unit, 1.0 * unit]))


@pytest.mark.parametrize(("unit", "facts", "model"), CASES)
@given(delta=st.floats(1e-6, 0.45))
def test_budget_and_growth_are_inverse(unit, facts, model, delta):
    nats = information_budget(delta, unit=unit, facts=facts, model=model)
    back = error_growth(nats, unit=unit, facts=facts, model=model)
    # Both directions are solved to a few units in the last place.
    assert back == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize(("unit", "facts", "model"), CASES)
def test_arrays_are_scalars_side_by_side(unit, facts, model):
    nu = np.array([0.0, 1e-9, 0.01, 0.3, 2.0, np.inf])
    together = error_growth(nu, unit=unit, facts=facts, model=model)
    assert isinstance(together, np.ndarray)
    alone = [error_growth(float(v), unit=unit, facts=facts, model=model) for v in nu]
    assert all(type(v) is float for v in alone)
    # The root finder stops all elements together, so they differ in the last places.
    np.testing.assert_allclose(together, alone, rtol=1e-13)
    assert np.all(np.diff(together) >= 0.0)


def test_worked_budgets():
    coin = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    assert information_budget(0.1, unit="error", facts=coin) == pytest.approx(0.02014, abs=5e-6)
    share = information_budget(0.06, unit="r2", facts=NUMBERS)
    absolute = information_budget(0.09, unit="mse", facts=NUMBERS)
    assert share == pytest.approx(absolute, rel=1e-14)
    # kappa(0.3 / 4) = 2 * .075^2 + 4/3 * .075^4 + ...
    assert absolute == pytest.approx(0.01125 + 4.21875e-5, abs=5e-7)
    gaussian = information_budget(0.06, unit="r2", facts=NUMBERS, model="gaussian")
    assert gaussian == pytest.approx(-0.5 * math.log(0.94), rel=1e-14)


def test_paper_constants():
    paper = {"constants": "paper"}
    assert information_budget(0.1, unit="error", facts=CLASSES, **paper) == pytest.approx(0.005)
    assert error_growth(0.005, unit="error", facts=CLASSES, **paper) == pytest.approx(0.1)
    assert information_budget(0.9, unit="mse", facts=NUMBERS, **paper) == pytest.approx(0.05)
    assert information_budget(0.6, unit="r2", facts=NUMBERS, **paper) == pytest.approx(0.05)
    assert error_growth(0.05, unit="r2", facts=NUMBERS, **paper) == pytest.approx(0.6)


@pytest.mark.parametrize(("unit", "facts", "model"), CASES)
def test_nothing_may_be_lost_for_nothing(unit, facts, model):
    assert information_budget(0.0, unit=unit, facts=facts, model=model) == 0.0
    assert error_growth(0.0, unit=unit, facts=facts, model=model) == 0.0


@pytest.mark.parametrize(
    ("unit", "facts", "free"),
    [("error", CLASSES, 0.5), ("r2", NUMBERS, 1.0), ("mse", NUMBERS, 1.5), ("mae", NUMBERS, 2.0)],
)
def test_a_budget_that_no_loss_can_exceed_is_infinite(unit, facts, free):
    assert information_budget(free, unit=unit, facts=facts) == math.inf
    assert information_budget(free * 0.999, unit=unit, facts=facts) < math.inf
    assert error_growth(50.0, unit=unit, facts=facts) <= free


@pytest.mark.parametrize(
    ("unit", "facts"), [(u, f) for u, f, m in CASES if m == "bounded" and u != "log-loss"]
)
def test_an_error_limit_enlarges_the_budget(unit, facts):
    plain = information_budget(0.04, unit=unit, facts=facts)
    known = information_budget(0.04, unit=unit, facts=facts, error_limit=0.1)
    assert known >= plain
    assert information_budget(0.1, unit=unit, facts=facts, error_limit=0.1) == math.inf
    assert error_growth(3.0, unit=unit, facts=facts, error_limit=0.1) == pytest.approx(0.1)


def test_gaussian_model_takes_an_error_limit():
    limited = information_budget(0.05, unit="r2", facts=NUMBERS, model="gaussian", error_limit=0.2)
    assert limited == pytest.approx(-0.5 * math.log(0.75), rel=1e-14)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"unit": "error", "facts": NUMBERS}, "unit='error' does not fit a regression target"),
        ({"unit": "r2", "facts": CLASSES}, "use 'error', 'log-loss', 'brier'"),
        (
            {"unit": "mae", "facts": NUMBERS, "constants": "paper"},
            "paper has no bound for unit",
        ),
        ({"unit": "mae", "facts": NUMBERS, "model": "gaussian"}, "does not go with unit='mae'"),
        (
            {"unit": "error", "facts": CLASSES, "constants": "own"},
            "constants must be one of",
        ),
        ({"unit": "mse", "facts": NUMBERS, "model": "t"}, "model must be one of 'bounded'"),
        ({"unit": "mse", "facts": TargetFacts("regression")}, "needs facts.target_range"),
        (
            {"unit": "r2", "facts": TargetFacts("regression", variance=0.0)},
            "facts.variance must",
        ),
        ({"unit": "mse", "facts": NUMBERS, "error_limit": -1.0}, "error_limit must be a number of"),
    ],
)
def test_refusals_say_what_to_do(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        information_budget(0.1, **kwargs)
    with pytest.raises(ParameterError, match=message):
        error_growth(0.1, **kwargs)


@pytest.mark.parametrize(
    ("delta", "message"),
    [(-0.1, "delta must not be negative"), (1.5, "must be at most 1"), (math.nan, "delta is NaN")],
)
def test_budgets_outside_their_range(delta, message):
    with pytest.raises(ParameterError, match=message):
        information_budget(delta, unit="error", facts=CLASSES)
