"""Stopping rules on paths written down by hand: backward, forward, and the paper to the letter."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import search as slow
from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.metrics import bound_for
from pinsker.search import ErrorBudget, FeatureCount, ScoreJump, ScoreThreshold, SelectionPath

NAMES = ("a", "b", "c", "d")
# Exact information: a copy (c), a weak one (d), a middling one (b) and the one that matters (a).
BACKWARD = SelectionPath(
    "backward", NAMES, (2, 3, 1, 0), (0.0, 0.004, 0.076, 0.42), (0.5, 0.5, 0.496, 0.42, 0.0)
)
FORWARD = SelectionPath(
    "forward", NAMES, (0, 1, 3, 2), (0.42, 0.076, 0.004, 0.0), (0.0, 0.42, 0.496, 0.5, 0.5)
)
FAIR = TargetFacts("classification", n_classes=2, largest_prior=0.5)
NUMBERS = TargetFacts("regression", target_range=4.0, variance=1.0, max_abs=3.0)
BOTH = pytest.mark.parametrize("path", [BACKWARD, FORWARD], ids=["backward", "forward"])


@BOTH
@pytest.mark.parametrize(
    ("rule", "size"),
    [
        (ErrorBudget(0.0), 3),  # the copy goes, nothing that costs
        (ErrorBudget(0.044), 3),  # 2 * 0.044^2 < 0.004
        (ErrorBudget(0.045), 2),  # 2 * 0.045^2 > 0.004
        (ErrorBudget(0.19), 2),
        (ErrorBudget(0.21), 1),
        (ErrorBudget(0.004, metric="log-loss"), 2),  # equality is within the budget
        (ErrorBudget(0.0039, metric="log-loss"), 3),
        (ErrorBudget(0.05, constants="paper"), 3),  # 0.05^2 / 2 < 0.004
        (ErrorBudget(0.1, constants="paper"), 2),
        (ScoreThreshold(0.0), 3),
        (ScoreThreshold(0.004), 2),
        (ScoreThreshold(0.1), 1),
        (FeatureCount(1), 1),
        (FeatureCount(4), 4),
    ],
    ids=str,
)
def test_sizes_by_hand(path, rule, size):
    assert rule.size(path, FAIR) == size


@pytest.mark.parametrize(
    ("jump", "backward", "forward"), [(0.0, 3, 1), (0.05, 2, 1), (0.3, 1, 1), (0.4, 1, 4)]
)
def test_score_jump_by_hand(jump, backward, forward):
    # Backward scores rise by 0, .004, .072, .344; forward ones fall by .344, .072, .004.
    assert ScoreJump(jump).size(BACKWARD) == backward
    assert ScoreJump(jump).size(FORWARD) == forward


def test_the_first_removal_is_a_jump_from_zero():
    """No step is free: a first score above the threshold stops the search at once."""
    path = dataclasses.replace(BACKWARD, scores=(0.3, 0.35, 0.4, 0.45))
    assert ScoreJump(0.2).size(path) == 4
    assert ScoreJump(0.3).size(path) == 1


@BOTH
def test_numbers_use_the_range_or_the_printed_constant(path):
    # 0.05 of the variance: sharp R2 gives 0.00626 nats, above 0.004; printed 0.05/(2*9) = 0.0028.
    assert ErrorBudget(0.05).size(path, NUMBERS) == 2
    assert ErrorBudget(0.05, constants="paper").size(path, NUMBERS) == 3
    assert ErrorBudget(0.05, metric="mse").size(path, NUMBERS) == 2
    # Gaussian: e^{-2*0.42} - e^{-2*0.5} = 0.0638, an identity.
    assert ErrorBudget(0.0638, model="gaussian").size(path, NUMBERS) == 2
    assert ErrorBudget(0.0639, model="gaussian").size(path, NUMBERS) == 1


@BOTH
def test_gaussian_growth_is_the_identity(path):
    growth = ErrorBudget(0.1, model="gaussian").growth(path, NUMBERS)
    expected = np.exp(-2 * np.array(path.information)) - np.exp(-1.0)
    np.testing.assert_allclose(growth, expected, rtol=1e-12, atol=1e-15)  # rounding only
    in_mse = ErrorBudget(0.1, metric="mse", model="gaussian").growth(
        path, dataclasses.replace(NUMBERS, variance=2.5)
    )
    np.testing.assert_allclose(in_mse, 2.5 * expected, rtol=1e-12, atol=1e-15)


@BOTH
@pytest.mark.parametrize("rule", [ErrorBudget(0.5), ErrorBudget(1.0)], ids=str)
def test_a_budget_for_everything_keeps_one_feature_and_notes_it(path, rule):
    decision = rule.decide(path, FAIR)
    assert decision.size == 1
    assert "would let every feature go" in decision.notes[0]
    assert rule.said in decision.notes[0]
    assert "ErrorBudget" not in decision.notes[0]


def test_fixed_features_stay():
    path = dataclasses.replace(BACKWARD, n_fixed=3)
    assert ErrorBudget(1.0).size(path, FAIR) == 3
    with pytest.raises(ParameterError, match="fewer features than are fixed \\(3\\)"):
        FeatureCount(2).size(path)


def test_a_path_that_dips_is_cut_at_the_smallest_set_within_the_budget():
    dips = SelectionPath(
        "backward", NAMES, (2, 3, 1, 0), (0.2, -0.2, 0.1, 0.4), (0.5, 0.3, 0.5, 0.4, 0.0)
    )
    assert ErrorBudget(0.0).size(dips, FAIR) == 2


def test_noise_that_hides_information_costs_nothing():
    rising = SelectionPath("backward", ("a", "b", "c"), (2, 1), (-0.1, -0.2), (0.3, 0.4, 0.6))
    assert ErrorBudget(0.0).size(rising, FAIR) == 1
    np.testing.assert_allclose(ErrorBudget(0.0).growth(rising, FAIR)[-1], 0.0)


@pytest.mark.parametrize("delta", [0.0, 0.05, 0.1, 0.5, 1.0])
@BOTH
def test_printed_algorithms_come_out(path, delta):
    rule = ErrorBudget(delta, constants="paper", reference="full")
    expected = slow.size_as_printed(path.direction, path.scores, delta**2 / 2)
    assert rule.size(path, FAIR) == max(1, expected)
    expected = slow.size_as_printed(path.direction, path.scores, delta / 18)
    in_mse = dataclasses.replace(rule, metric="mse")
    assert in_mse.size(path, NUMBERS) == max(1, expected)


def test_errata_of_the_printed_rules():
    printed = ErrorBudget(0.0, constants="paper", reference="full")
    # E16: with the printed >=, delta = 0 removes nothing, not even the copy.
    assert printed.size(BACKWARD, FAIR) == 4
    assert ErrorBudget(0.0, constants="paper").size(BACKWARD, FAIR) == 3
    # E17: a budget that is never reached lets everything go; one stays by our rule.
    never = ErrorBudget(1.0, constants="paper", reference="full").decide(
        dataclasses.replace(BACKWARD, scores=(0.0, 0.0, 0.0, 0.1)), FAIR
    )
    assert never.size == 1
    assert never.notes
    # E20: forward, a larger budget keeps more when printed, less when corrected.
    printed_sizes = [
        ErrorBudget(delta, constants="paper", reference="full").size(FORWARD, FAIR)
        for delta in (0.5, 0.999)
    ]
    assert printed_sizes == [1, 2]
    assert [ErrorBudget(d).size(FORWARD, FAIR) for d in (0.05, 0.5)] == [2, 1]
    # E21: the printed forward set lacks the feature that reached the sum; ours includes it.
    coin = SelectionPath("forward", ("a", "b"), (0, 1), (0.69, 0.0), (0.0, 0.69, 0.69))
    literal = ErrorBudget(1.0, constants="paper", reference="full").decide(coin, FAIR)
    assert "would let every feature go" in literal.notes[0]
    assert ErrorBudget(0.01).size(coin, FAIR) == 1


def test_full_reference_counts_from_all_features():
    rising = SelectionPath(
        "backward", ("a", "b", "c"), (2, 1, 0), (-0.2, 0.1, 0.5), (0.4, 0.6, 0.5, 0.0)
    )
    assert ErrorBudget(0.05).size(rising, FAIR) == 2
    assert ErrorBudget(0.05, reference="full").size(rising, FAIR) == 1


@given(
    scores=st.lists(st.floats(-1, 1), min_size=1, max_size=8),
    budgets=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    forward=st.booleans(),
)
def test_more_budget_never_keeps_more(scores, budgets, forward):
    steps = np.array(scores)
    known = np.concatenate([[0.0], np.cumsum(steps)])
    names = tuple(map(str, range(len(scores))))
    path = SelectionPath(
        "forward" if forward else "backward",
        names,
        tuple(range(len(scores))),
        tuple(scores),
        tuple(known if forward else known[::-1]),
    )
    low, high = sorted(budgets)
    assert ErrorBudget(high).size(path, FAIR) <= ErrorBudget(low).size(path, FAIR)
    size = ErrorBudget(low).size(path, FAIR)
    lost = max(path.information) - path.information_at(size)
    # Unless every feature may go, the set kept is within the budget.
    allowed = bound_for("error", FAIR).budget(low)
    assert lost <= allowed + 1e-9 or (size == 1 and max(path.information) <= allowed + 1e-9)
    expected = slow.size_for_budget(path.information, path.sizes.tolist(), allowed)
    assert size == expected


def test_no_set_within_the_budget_keeps_the_best_one():
    path = dataclasses.replace(FORWARD, full_information=0.9)
    decision = ErrorBudget(0.05).decide(path, FAIR)
    assert decision.size == 3
    assert "no set on the path keeps to" in decision.notes[0]


def test_partial_paths_note_where_they_end():
    short = SelectionPath("backward", NAMES, (2,), (0.0,), (0.5, 0.5), complete=False)
    decision = FeatureCount(1).decide(short)
    assert decision.size == 3
    (note,) = decision.notes
    assert str(note) == "the search was cut short at 3 features; FeatureCount(k=1) asks for 1"
    short = SelectionPath("forward", NAMES, (0,), (0.5,), (0.0, 0.5), complete=False)
    decision = FeatureCount(3).decide(short)
    assert decision.size == 1
    assert list(map(str, decision.notes)) == [
        "the path ends at 1 features; FeatureCount(k=3) asks for 3"
    ]


@pytest.mark.parametrize(
    "rule", [ErrorBudget(0.1), ScoreThreshold(0.1), ScoreJump(0.1), FeatureCount(3)], ids=str
)
def test_rules_are_values(rule):
    assert rule == dataclasses.replace(rule)
    assert hash(rule) == hash(dataclasses.replace(rule))
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert eval(repr(rule)) == rule
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.delta = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ErrorBudget(-0.1), "an error budget must be a number of at least 0, found -0.1"),
        (lambda: ErrorBudget(float("nan")), "must be a number of at least 0, found nan"),
        (
            lambda: ErrorBudget(1.5, metric="error"),
            "1.5 means nothing in metric 'error', which ends",
        ),
        (lambda: ErrorBudget(1.5).size(BACKWARD, FAIR), "1.5 means nothing in metric 'error'"),
        (lambda: ErrorBudget(2).size(BACKWARD, NUMBERS), "2 means nothing in metric 'r2'"),
        (lambda: ErrorBudget(0.1, metric="bits"), "metric='bits' is not known: use 'auto'"),
        (lambda: ErrorBudget(0.1, constants="x"), "constants='x' is not one of 'sharp', 'paper'"),
        (lambda: ErrorBudget(0.1, reference="x"), "reference='x' is not one of 'best', 'full'"),
        (lambda: ErrorBudget(0.1, model="x"), "model='x' is not one of 'bounded', 'gaussian'"),
        (lambda: ErrorBudget(0.1).size(BACKWARD), "needs to know the target .* pass facts"),
        (lambda: ErrorBudget(0.1, metric="mse").size(BACKWARD, FAIR), "does not fit a classificat"),
        (lambda: ScoreThreshold(-1.0), "ScoreThreshold needs a number of nats of at least 0"),
        (lambda: ScoreJump(float("inf")), "ScoreJump needs a number of nats of at least 0"),
        (lambda: FeatureCount(0), "FeatureCount needs an integer of at least 1, found 0"),
        (lambda: FeatureCount(1.5), "FeatureCount needs an integer of at least 1, found 1.5"),
        (lambda: FeatureCount(True), "FeatureCount needs an integer"),
        (lambda: FeatureCount(9).size(BACKWARD), "more features than there are \\(4\\)"),
    ],
)
def test_mistakes_get_one_clear_error(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_large_budgets_are_fine_where_errors_have_no_end():
    assert ErrorBudget(30.0, metric="mse").size(BACKWARD, NUMBERS) == 1
    assert ErrorBudget(5.0, metric="log-loss").size(BACKWARD, FAIR) == 1


def test_a_budget_prints_what_is_not_the_default():
    assert str(ErrorBudget(0.05)) == "ErrorBudget(0.05)"
    assert str(ErrorBudget(4.0, metric="mse")) == "ErrorBudget(4.0, metric='mse')"
    paper = ErrorBudget(0.1, constants="paper", reference="full")
    assert str(paper) == "ErrorBudget(0.1, constants='paper', reference='full')"
    assert eval(str(paper)) == eval(repr(paper)) == paper
