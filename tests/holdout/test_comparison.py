"""What held-out rows say about sets, and which of them a rule takes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from pinsker.bounds import TargetFacts
from pinsker.holdout import ALL_FEATURES, Comparison, SubsetResult
from pinsker.metrics import Metric
from pinsker.search import ErrorBudget, FeatureCount, SelectionPath

FACTS = TargetFacts("classification", n_classes=2, largest_prior=0.5)
ERROR = Metric("error")
BUDGET = ErrorBudget(0.05)
KNOWN = (BUDGET, FACTS, ERROR)
NAMES = ("a", "b", "c", "d")
PATHS = {
    "p": SelectionPath(
        "backward", NAMES, (3, 2, 1, 0), (0.0, 0.1, 0.1, 0.3), (0.5, 0.5, 0.4, 0.3, 0.0)
    ),
    "q": SelectionPath("forward", NAMES, (2, 1), (0.2, 0.1), (0.0, 0.2, 0.3)),
}


def result(**changes):
    figures = {
        "search": "p", "size": 3, "information": 0.3, "information_error": 0.05, "lost": 0.5,
        "lost_upper": 0.6, "lost_lower": 0.4, "behind_all": -0.1, "error": 0.2,
        "error_upper": 0.25, "increase": 0.0, "increase_lower": -0.1, "increase_upper": 0.1,
        "excess": 0.05, "excess_upper": 0.2, "gain_lower": 0.1, "model_information": "w",
        "model_error": "m",
    }  # fmt: skip
    return SubsetResult(**{**figures, **changes})


def comparison(*results, paths=PATHS):
    return Comparison(
        paths, {(one.search, one.size): one for one in results}, FACTS, ERROR, 100, 5, 1
    )


def test_either_evidence_passes():
    assert not result().meets(*KNOWN)
    assert result(excess_upper=0.05).meets(*KNOWN)
    assert result(lost=0.0).meets(*KNOWN)
    # Errors measured in another metric say nothing about this budget.
    assert not result(excess_upper=0.0).meets(BUDGET, FACTS, Metric("brier"))
    # A kept error known to be at most 0.25 makes room for more: Theorem C.
    assert result(error_upper=0.25).allowed(*KNOWN) > 2 * 0.05**2
    # An error that is itself within the budget cannot have increased by more.
    assert result(error_upper=0.04).meets(*KNOWN)


def test_features_are_left_out_on_evidence_and_kept_without():
    # The best set loses nothing against itself; all features may still be better.
    assert not result(lost=0.0, behind_all=0.05).meets(*KNOWN)
    assert result(lost=0.0, behind_all=0.001).meets(*KNOWN)
    # All features stay unless a set is better by more than a standard error.
    everything = result(search=ALL_FEATURES, lost=0.5, behind_all=0.0)
    assert not everything.meets(*KNOWN)
    assert not everything.may_stay(*KNOWN)
    assert replace(everything, lost_lower=0.0).may_stay(*KNOWN)
    assert replace(everything, excess_upper=0.05).may_stay(*KNOWN)


def test_the_smallest_then_the_most_informative():
    everything = result(search=ALL_FEATURES, size=4, lost=0.0)
    few = [
        result(search="p", size=2, information=0.1, lost=0.0),
        result(search="q", size=2, information=0.2, lost=0.0),
    ]
    larger = result(size=3, information=0.9, lost=0.0)
    chosen, decision = comparison(everything, larger, *few).choose(BUDGET)
    assert chosen is few[1]
    assert decision.size == 2
    assert decision.notes == ()


def test_models_that_time_has_starved_leave_nothing_out_by_errors_alone():
    everything = result(search=ALL_FEATURES, size=4, excess_upper=0.4, gain_lower=-0.1)
    poor = result(size=1, excess_upper=0.0, gain_lower=-0.1)
    known = comparison(poor, everything)
    assert known.choose(BUDGET)[0] is poor
    starved = replace(known, notes=(SimpleNamespace(kind="few training rows"),))
    chosen, decision = starved.choose(BUDGET)
    assert chosen.size == 4
    assert "no larger one was tried; all are kept" in decision.notes[0]
    shown = replace(poor, gain_lower=0.1)
    assert (
        replace(starved, results={("p", 1): shown, **comparison(everything).results}).choose(
            BUDGET
        )[0]
        is shown
    )


def test_all_features_are_kept_when_no_other_set_will_do():
    poor = result(size=2, information=0.3, excess_upper=0.4)
    everything = result(
        search=ALL_FEATURES, size=4, lost_lower=0.0, excess_upper=0.4, information=0.2
    )
    chosen, decision = comparison(poor, everything).choose(BUDGET)
    assert (chosen.search, chosen.size) == ("p", 4)
    assert str(decision.notes[0]).endswith("on held-out rows; all are kept")
    chosen, decision = comparison(poor, replace(everything, lost_lower=0.4)).choose(BUDGET)
    assert chosen is poor
    assert str(decision.notes[0]).endswith("the one with the most information is kept")
    # No path holds all features: they cannot be kept.
    short = replace(poor, search="q")
    chosen, decision = comparison(short, everything, paths={"q": PATHS["q"]}).choose(BUDGET)
    assert chosen is short


def test_other_rules_cut_each_path_and_the_most_information_wins():
    everything = result(search=ALL_FEATURES, size=4)
    one, two = result(size=2, information=0.3), result(search="q", size=2, information=0.4)
    chosen, decision = comparison(everything, one, two).choose(FeatureCount(2))
    assert chosen is two
    assert decision.size == 2
    # A path that does not reach the count comes after one that does.
    chosen, decision = comparison(everything, one, two).choose(FeatureCount(3))
    assert (chosen, decision.size) == (one, 3)


def test_arrays_have_one_entry_per_set():
    everything = result(search=ALL_FEATURES, size=4)
    arrays = comparison(everything, result(size=2), result(search="q", size=1)).to_arrays(
        [(0,), (1, 4), (2,), (3,)], 5
    )
    assert {len(values) for values in arrays.values()} == {3}
    assert arrays["search"].tolist() == [ALL_FEATURES, "p", "q"]
    assert arrays["n_features"].tolist() == [4, 2, 1]
    assert all(mask.dtype == np.bool_ for mask in arrays["support"])
    kept = [np.flatnonzero(row).tolist() for row in arrays["support"]]
    assert kept == [[0, 1, 2, 3, 4], [0, 1, 4], [2]]
