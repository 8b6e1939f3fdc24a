"""The bound of a metric and a target: worked numbers, round trips, caps, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinsker.bounds import TargetFacts
from pinsker.encoding import Target
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics import METRICS, bound_for

CLASSES = TargetFacts("classification", n_classes=3, largest_prior=0.5)
NUMBERS = TargetFacts("regression", target_range=4.0, variance=1.5, max_abs=3.0)
CASES = [
    (metric, facts, "bounded") for facts in (CLASSES, NUMBERS) for metric in METRICS[facts.task]
] + [(metric, NUMBERS, "gaussian") for metric in ("r2", "mse", "log-loss")]


def class_target(labels):
    return Target("classification", np.asarray(labels), np.unique(labels), None, None, ("y",))


def number_target(raw):
    raw = np.asarray(raw, dtype=float).reshape(len(raw), -1)
    return Target("regression", None, None, raw, raw, ("y",))


def test_facts_of_classes():
    facts = TargetFacts.of(class_target([0, 1, 1, 2]))
    assert facts == TargetFacts("classification", n_classes=3, largest_prior=0.5)


def test_facts_of_one_numeric_target():
    facts = TargetFacts.of(number_target([-3.0, 1.0, 1.0, 1.0]))
    assert facts == TargetFacts("regression", target_range=4.0, variance=3.0, max_abs=3.0)


def test_facts_of_several_numeric_targets_are_those_of_the_mean_error():
    facts = TargetFacts.of(number_target([[0.0, 0.0], [3.0, -4.0]]))
    assert facts.target_range == pytest.approx(5.0 / math.sqrt(2))
    assert facts.max_abs == pytest.approx(5.0 / math.sqrt(2))
    assert facts.variance == (2.25 + 4.0) / 2
    assert facts.n_targets == 2
    # Divided by their standard deviations both are 0 and 2: R² has the bound of one of them.
    one = TargetFacts.of(number_target([0.0, 3.0]))
    growth = bound_for("r2", facts).growth(0.01)
    assert growth == pytest.approx(bound_for("r2", one).growth(0.01), rel=1e-12)
    # A log-loss is the mean over targets, and information that about all of them.
    assert bound_for("log-loss", facts).growth(0.01) == pytest.approx(0.005)


@pytest.mark.parametrize(("size", "how"), [(1e200, "far"), (1e-200, "little")])
def test_a_target_whose_squares_are_no_numbers(size, how):
    with pytest.raises(DataError, match=f"too {how} for squared errors .*: give it in another"):
        TargetFacts.of(number_target([-3.0 * size, 1.0 * size]))


@pytest.mark.parametrize(("metric", "facts", "model"), CASES)
@given(delta=st.floats(1e-6, 0.45))
def test_budget_and_growth_are_inverse(metric, facts, model, delta):
    nats = bound_for(metric, facts, model=model).budget(delta)
    back = bound_for(metric, facts, model=model).growth(nats)
    # Both directions are solved to a few units in the last place.
    assert back == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize(("metric", "facts", "model"), CASES)
def test_arrays_are_scalars_side_by_side(metric, facts, model):
    nu = np.array([0.0, 1e-9, 0.01, 0.3, 2.0, np.inf])
    together = bound_for(metric, facts, model=model).growth(nu)
    assert isinstance(together, np.ndarray)
    alone = [bound_for(metric, facts, model=model).growth(float(v)) for v in nu]
    assert all(type(v) is float for v in alone)
    # The root finder stops all elements together, so they differ in the last places.
    np.testing.assert_allclose(together, alone, rtol=1e-13)
    assert np.all(np.diff(together) >= 0.0)


def test_worked_budgets():
    coin = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    assert bound_for("error", coin).budget(0.1) == pytest.approx(0.02014, abs=5e-6)
    share = bound_for("r2", NUMBERS).budget(0.06)
    absolute = bound_for("mse", NUMBERS).budget(0.09)
    assert share == pytest.approx(absolute, rel=1e-14)
    # kappa(0.3 / 4) = 2 * .075^2 + 4/3 * .075^4 + ...
    assert absolute == pytest.approx(0.01125 + 4.21875e-5, abs=5e-7)
    gaussian = bound_for("r2", NUMBERS, model="gaussian").budget(0.06)
    assert gaussian == pytest.approx(-0.5 * math.log(0.94), rel=1e-14)


def test_paper_constants():
    paper = {"constants": "paper"}
    assert bound_for("error", CLASSES, **paper).budget(0.1) == pytest.approx(0.005)
    assert bound_for("error", CLASSES, **paper).growth(0.005) == pytest.approx(0.1)
    assert bound_for("mse", NUMBERS, **paper).budget(0.9) == pytest.approx(0.05)
    assert bound_for("r2", NUMBERS, **paper).budget(0.6) == pytest.approx(0.05)
    assert bound_for("r2", NUMBERS, **paper).growth(0.05) == pytest.approx(0.6)


@pytest.mark.parametrize(("metric", "facts", "model"), CASES)
def test_nothing_may_be_lost_for_nothing(metric, facts, model):
    assert bound_for(metric, facts, model=model).budget(0.0) == 0.0
    assert bound_for(metric, facts, model=model).growth(0.0) == 0.0


@pytest.mark.parametrize(
    ("metric", "facts", "free"),
    [("error", CLASSES, 0.5), ("r2", NUMBERS, 1.0), ("mse", NUMBERS, 1.5), ("mae", NUMBERS, 2.0)],
)
def test_a_budget_that_no_loss_can_exceed_is_infinite(metric, facts, free):
    assert bound_for(metric, facts).budget(free) == math.inf
    assert bound_for(metric, facts).budget(free * 0.999) < math.inf
    assert bound_for(metric, facts).growth(50.0) <= free


@pytest.mark.parametrize(
    ("metric", "facts"), [(u, f) for u, f, m in CASES if m == "bounded" and u != "log-loss"]
)
def test_an_error_limit_enlarges_the_budget(metric, facts):
    plain = bound_for(metric, facts).budget(0.04)
    known = bound_for(metric, facts, error_limit=0.1).budget(0.04)
    assert known >= plain
    assert bound_for(metric, facts, error_limit=0.1).budget(0.1) == math.inf
    assert bound_for(metric, facts, error_limit=0.1).growth(3.0) == pytest.approx(0.1)


def test_gaussian_model_takes_an_error_limit():
    limited = bound_for("r2", NUMBERS, model="gaussian", error_limit=0.2).budget(0.05)
    assert limited == pytest.approx(-0.5 * math.log(0.75), rel=1e-14)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"metric": "error", "facts": NUMBERS}, "metric='error' does not fit a regression target"),
        ({"metric": "r2", "facts": CLASSES}, "use 'error', 'log-loss', 'brier'"),
        (
            {"metric": "mae", "facts": NUMBERS, "constants": "paper"},
            "paper has no bound for metric",
        ),
        ({"metric": "mae", "facts": NUMBERS, "model": "gaussian"}, "does not go with metric='mae'"),
        (
            {"metric": "error", "facts": CLASSES, "constants": "own"},
            "constants must be one of",
        ),
        ({"metric": "mse", "facts": NUMBERS, "model": "t"}, "model must be one of 'bounded'"),
        ({"metric": "mse", "facts": TargetFacts("regression")}, "needs facts.target_range"),
        (
            {"metric": "r2", "facts": TargetFacts("regression", variance=0.0)},
            "facts.variance must",
        ),
        (
            {"metric": "mse", "facts": NUMBERS, "error_limit": -1.0},
            "error_limit must be a number of",
        ),
    ],
)
def test_refusals_say_what_to_do(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        bound_for(**kwargs)


@pytest.mark.parametrize(
    ("delta", "message"),
    [(-0.1, "delta must not be negative"), (1.5, "must be at most 1"), (math.nan, "delta is NaN")],
)
def test_budgets_outside_their_range(delta, message):
    with pytest.raises(ParameterError, match=message):
        bound_for("error", CLASSES).budget(delta)


def test_a_bound_carries_its_theorem_and_its_metric():
    found = {(metric, facts.task): bound_for(metric, facts) for metric, facts, _ in CASES}
    assert all(bound.metric == metric for (metric, _), bound in found.items())
    theorems = {metric: bound.theorem for (metric, _), bound in found.items()}
    assert theorems == {
        "error": "Theorem C", "r2": "R2", "mse": "R2", "log-loss": "L1", "brier": "L2", "mae": "L3",
    }  # fmt: skip
    assert bound_for("mse", NUMBERS, model="gaussian").theorem == "R8"
    assert bound_for("r2", NUMBERS, constants="paper").theorem == "Theorem 1 (paper)"
    assert bound_for("error", CLASSES, constants="paper").theorem == "Theorem 3 (paper)"
