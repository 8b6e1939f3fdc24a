"""What is refused at the door, with which words, and what is let in."""

import math

import numpy as np
import pytest

from pinsker import bounds
from pinsker.exceptions import ParameterError

GROWTHS = [
    bounds.pinsker_growth,
    bounds.vajda_growth,
    bounds.binary_growth,
    bounds.classification_growth,
    bounds.log_loss_growth,
    bounds.brier_growth,
    lambda nu: bounds.kept_error_growth(nu, 0.3),
    lambda nu: bounds.full_error_growth(nu, 0.1),
    lambda nu: bounds.sharp_growth(nu, 0.1),
    lambda nu: bounds.range_growth(nu, 2.0),
    lambda nu: bounds.sharp_range_growth(nu, 2.0),
    lambda nu: bounds.regression_growth(nu, 2.0),
    lambda nu: bounds.second_moment_growth(nu, 2.0),
    lambda nu: bounds.subgaussian_growth(nu, 2.0),
    lambda nu: bounds.clipped_growth(nu, 2.0, 0.1),
    lambda nu: bounds.clipped_regression_growth(nu, [0.0, 1.0, 5.0]),
    lambda nu: bounds.gaussian_regression_growth(nu, 2.0, 0.5),
    lambda nu: bounds.absolute_error_growth(nu, 2.0),
    lambda nu: bounds.bounded_loss_growth(nu, 2.0),
]
BUDGETS = [
    bounds.pinsker_budget,
    bounds.vajda_budget,
    bounds.binary_budget,
    bounds.classification_budget,
    bounds.log_loss_budget,
    bounds.brier_budget,
    lambda d: bounds.kept_error_budget(d, 0.3),
    lambda d: bounds.full_error_budget(d, 0.1),
    lambda d: bounds.sharp_budget(d, 0.1),
    lambda d: bounds.range_budget(d, 2.0),
    lambda d: bounds.sharp_range_budget(d, 2.0),
    lambda d: bounds.regression_budget(d, 2.0),
    lambda d: bounds.second_moment_budget(d, 2.0),
    lambda d: bounds.subgaussian_budget(d, 2.0),
    lambda d: bounds.clipped_budget(d, 2.0, 0.1),
    lambda d: bounds.clipped_regression_budget(d, [0.0, 1.0, 5.0]),
    lambda d: bounds.gaussian_regression_budget(d, 2.0, 0.5),
    lambda d: bounds.absolute_error_budget(d, 2.0),
    lambda d: bounds.bounded_loss_budget(d, 2.0),
]


@pytest.mark.parametrize("growth", GROWTHS)
def test_growth_refuses_what_is_no_information(growth):
    with pytest.raises(ParameterError, match=r"nu must not be negative, got -0\.01 nats: set est"):
        growth(-0.01)
    with pytest.raises(ParameterError, match="nu is NaN"):
        growth(np.array([0.1, math.nan]))


@pytest.mark.parametrize("growth", GROWTHS)
def test_growth_forgives_rounding_and_takes_infinity(growth):
    assert growth(-1e-15) == growth(0.0)
    assert growth(math.inf) >= growth(5.0)
    assert not math.isnan(growth(math.inf))


@pytest.mark.parametrize("budget", BUDGETS)
def test_budget_refuses_what_is_no_growth(budget):
    with pytest.raises(ParameterError, match=r"delta must not be negative, got -0\.01"):
        budget(-0.01)
    with pytest.raises(ParameterError, match="delta is NaN"):
        budget(math.nan)


@pytest.mark.parametrize("function", GROWTHS + BUDGETS)
def test_scalars_arrays_and_order(function):
    grid = np.linspace(0.0, 0.9, 31)
    together = function(grid)
    assert together.shape == grid.shape
    assert np.all(together[1:] >= together[:-1])
    assert type(function(0.25)) is float
    assert type(function(np.float64(0.25))) is float
    assert function(grid.reshape(1, 31)).shape == (1, 31)
    assert function(np.array([])).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.pinsker_budget(1.5), "delta must be at most 1 in this unit, got 1.5"),
        (lambda: bounds.kept_error_growth(0.1, 1.2), "error_limit must be an error rate from 0"),
        (lambda: bounds.sharp_growth(0.1, -0.1), "full_error_limit must be an error rate"),
        (lambda: bounds.classification_growth(0.1, math.nan), "error_limit must be an error rate"),
        (lambda: bounds.classification_growth(0.1, classes=1), "classes must be a whole number"),
        (lambda: bounds.brier_growth(0.1, classes=2.5), "of at least 2, got 2.5"),
        (lambda: bounds.classification_growth(0.1, constants="x"), "constants must be one of"),
        (lambda: bounds.least_information(0.1, 1.2), "kept_error must be at most 1"),
        (lambda: bounds.bounded_loss_growth(0.1, 0.0), "loss_range must be a finite number above"),
        (lambda: bounds.gaussian_regression_growth(0.1, math.inf), "variance must be a finite"),
        (lambda: bounds.second_moment_growth(0.1, math.nan), "second_moment must be a finite"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_every_public_name_is_exported_and_documented():
    for name in bounds.__all__:
        public = getattr(bounds, name)
        if callable(public) and name != "ErrorInterval":
            assert "Examples" in public.__doc__, name
