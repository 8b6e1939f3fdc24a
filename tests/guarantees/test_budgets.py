"""Are budgets met on fresh rows? Slow: minutes. ``benchmarks/honesty.py`` prints larger tables.

Limits: a count of budgets that were not met is compared with the largest that chance allows if each
is met with the required probability, ``binom.isf(1e-6, n, 1 - p)``: a right method crosses it once
in a million runs. Fractions of features are means over all runs and far from their limits.
"""

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import honesty_certify, honesty_methods, honesty_problems
from experiments.reproduce.problems import figure2_problem

pytestmark = pytest.mark.slow

#: Probability with which a budget is to be met, per budget.
REQUIRED = {0.02: 0.90, 0.05: 0.95, 0.1: 0.95}
#: Largest mean share of the features that stays, per budget. At 0.1 it was 17 % at 150 rows; two
#: points more are allowed to bounds that hold for few differing rows.
SHARES = {0.02: 0.40, 0.05: 0.30, 0.1: 0.19}


def runs(table, names, sizes, seeds, method):
    """Yield budget, increase of the error on fresh rows, and share of features, run by run."""
    for _, draw in honesty_problems.draws(table, names, sizes, seeds):
        rows = draw()
        masks, _ = honesty_methods.METHODS[method](rows)
        for budget, mask in zip(honesty_methods.BUDGETS, masks, strict=True):
            yield budget, rows.error(mask) - rows.error_all, mask.mean()


def assert_budgets_met(found, shares=None):
    for budget, required in REQUIRED.items():
        increase = np.array([g for b, g, _ in found if b == budget])
        broken = int((increase > budget).sum())
        assert broken <= binom.isf(1e-6, len(increase), 1 - required), (
            budget,
            broken,
            len(increase),
        )
        if shares:
            assert np.mean([s for b, _, s in found if b == budget]) <= shares[budget]


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.PinskerWarning")
@pytest.mark.parametrize("n_rows", [150, 500])
def test_the_front_door_meets_its_budget(n_rows):
    found = list(runs("generators", None, [n_rows], range(3), "FeatureSelector"))
    assert_budgets_met(found, SHARES)


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.PinskerWarning")
@pytest.mark.parametrize("method", ["BackwardElimination", "ForwardSelection"])
def test_the_papers_algorithms_meet_it_with_held_out_rows(method):
    problems = "Radial,RedundantLinear,Blobs,Duplicates,LinearNumbers,Heteroscedastic"
    assert_budgets_met(list(runs("generators", problems, [150], range(4), method)))


def test_the_papers_problems(monkeypatch):
    # The published tables where they are at hand, elsewhere others of the same distribution.
    tables = tuple(figure2_problem(number, seed=0) for number in range(50))
    monkeypatch.setattr(honesty_problems, "load_published", lambda: tables)
    found = [
        (increase, share)
        for budget, increase, share in runs("paper", None, [], range(8), "FeatureSelector")
        if budget == 0.05
    ]
    increase, share = np.array(found).T
    assert increase.mean() < 0.0  # better than with all features
    assert share.mean() < 0.8
    assert (increase > 0.05).sum() <= binom.isf(1e-6, len(increase), 0.1)


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.PinskerWarning")
@pytest.mark.parametrize("name", ["wine", "breast_cancer", "glass"])
def test_real_data_in_the_mean_of_ten_splits(name, request, monkeypatch):
    # The splits are fixed: nothing is left to chance, and the increase must be within the budget.
    if name == "glass":
        monkeypatch.setenv("PINSKER_DATA", str(request.getfixturevalue("data_folder")))
    found = list(runs("real", name, [], range(10), "FeatureSelector"))
    for budget in honesty_methods.BUDGETS:
        increase = np.array([g for b, g, _ in found if b == budget])
        assert increase.mean() <= budget, (budget, increase)


@pytest.mark.parametrize("design", honesty_certify.DESIGNS)
@pytest.mark.parametrize("budget", [0.02, 0.05])
def test_met_verdicts_are_right(design, budget):
    certified = [honesty_certify.one_run(design, budget, seed) for seed in range(200)]
    wrong = sum(run["verdict"] == "met" and run["increase"] > budget for run in certified)
    assert wrong <= binom.isf(1e-6, len(certified), 0.05)
    # A test that never finds the budget met is never wrong: it must find so in a good part of them.
    least = 0.3 if design == "sparse" else 0.02
    assert np.mean([run["verdict"] == "met" for run in certified]) >= least
