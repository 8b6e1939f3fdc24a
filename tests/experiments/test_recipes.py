"""The printed rules, the exact distributions and the errata of the reproduction."""

import math

import numpy as np
import pytest

from experiments.reproduce import exact_distributions
from experiments.reproduce.recipes import BeyondMeaning, default_sets, printed_budget, printed_score
from experiments.reproduce.results import (
    COLOURS,
    average,
    chosen,
    markdown_table,
    number,
    standard_error,
)
from experiments.reproduce.theorems import run_errata
from pinsker.datasets import NoisyXor, Radial
from pinsker.search import ErrorBudget
from pinsker.selectors import BackwardElimination, ForwardSelection


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
def test_beyond_one_the_printed_rule_goes_on(kind):
    X, y = Radial(4, 8).sample(150, seed=3)
    selector = kind(knn=printed_score()).fit(X, y)
    for delta in (0.05, 0.2, 0.6, 1.0):
        printed = ErrorBudget(delta, constants="paper", reference="full")
        expected = selector.support_at(error_budget=printed)
        assert printed_budget(delta) == printed
        assert (selector.support_at(error_budget=BeyondMeaning(delta)) == expected).all()
    assert isinstance(printed_budget(1.5), BeyondMeaning)


def test_the_default_has_no_answer_beyond_one():
    X, y = NoisyXor(n_columns=4).sample(150, seed=0)
    assert [row[2] for row in default_sets(X, y, (0.05, 1.0, 4.0))] == [0.05, 1.0]


@pytest.mark.parametrize("theorem", exact_distributions.THEOREMS)
def test_what_is_not_called_false_holds(theorem):
    rng = np.random.default_rng(5)
    for _ in range(40):
        for bound, ratio in exact_distributions.THEOREMS[theorem](rng).items():
            assert math.isfinite(ratio)
            # Exact sums; the tolerance is rounding.
            assert ratio <= 1.0 + 1e-9 or bound in exact_distributions.FALSE_AS_PRINTED, bound


def test_what_is_called_false_fails_somewhere():
    """Each fails for 3 % or more of the distributions; 300 seeded ones show every one."""
    rng = np.random.default_rng(6)
    failed = set()
    for draw_ratios in (exact_distributions.linear, exact_distributions.forward):
        for _ in range(300):
            failed |= {bound for bound, ratio in draw_ratios(rng).items() if ratio > 1.0 + 1e-9}
    assert failed == exact_distributions.FALSE_AS_PRINTED


def test_a_claim_below_zero_has_no_ratio():
    assert exact_distributions.ratio(0.5, -1.0) == exact_distributions.CAP
    assert exact_distributions.ratio(0.5, 2.0) == 0.25


def test_all_errata_are_found_and_reproduced(tmp_path):
    errata = run_errata()
    assert [erratum.name for erratum in errata] == [f"E{n}" for n in range(1, 29)]
    assert sum(erratum.failed for erratum in errata) == 0
    assert sum(erratum.examples for erratum in errata) >= 50
    page = tmp_path / "page.md"
    page.write_text("**E1 (F).** Sums.\n\n>>> 1 + 1\n3\n>>> 2 + 2\n4\n>>> 1 / 0\n1\n")
    assert [erratum.line() for erratum in run_errata(page)] == [
        ("E1", "false as printed", "Sums.", "2 of 3 differ")
    ]


def test_tables():
    rows = [{"a": 1, "v": 1.0}, {"a": 1, "v": 3.0}, {"a": 2, "v": None}]
    assert average(chosen(rows, a=1), "v") == 2.0
    assert average(chosen(rows, a=2), "v") is None
    assert standard_error(chosen(rows, a=1), "v") == pytest.approx(1.0)
    assert markdown_table(("x", "|y|"), [(1, 2)]) == "| x | \\|y\\| |\n| --- | --- |\n| 1 | 2 |"
    assert number(None) == number(float("nan")) == "–"
    assert set(COLOURS) >= {"published", "as published", "as printed", "default"}
