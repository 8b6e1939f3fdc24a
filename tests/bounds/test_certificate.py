"""What a certificate makes of its figures, and the limits that they come from."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom

from pinsker.bounds import (
    Certificate,
    bounded_loss_limit,
    error_rate_limit,
    paired_difference,
)
from pinsker.exceptions import ParameterError


def on_path(**changes):
    """Return a certificate of a path alone: no rows were held out."""
    figures = {
        "metric": "error", "budget": 0.05, "confidence": math.nan, "n_rows": 500, "n_kept": 3,
        "n_features": 9, "features": ("a", "b", "c"), "rows": "those of the search itself",
        "rule": "ErrorBudget(0.05)", "information_budget": 0.01, "information_lost": 0.002,
        "bound": 0.03,
    }  # fmt: skip
    return Certificate(**{**figures, **changes})


def held_out(**changes):
    figures = {
        "confidence": 0.95, "rows": "fresh rows", "information_upper": 0.02, "bound": 0.06,
        "error_all": 0.12, "error_kept": 0.13, "increase": 0.01, "increase_lower": -0.01,
        "increase_upper": 0.03, "model_all": "linear", "model_kept": "extra trees",
        "error_upper": 0.16,
    }  # fmt: skip
    return on_path(**{**figures, **changes})


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "met"),
        ({"increase_upper": 0.05}, "met"),
        ({"increase_upper": 0.0500001}, "inconclusive"),
        ({"excess_upper": 0.08}, "inconclusive"),
        ({"increase_lower": 0.06, "increase_upper": 0.1}, "not met"),
        ({"budget": math.nan}, "no budget"),
        ({"n_kept": 9, "excess_upper": 0.08}, "met"),
    ],
)
def test_verdicts(changes, verdict):
    assert held_out(**changes).verdict == verdict


@pytest.mark.parametrize("bound", [0.0, 0.03, 0.9])
def test_without_held_out_rows_nothing_is_tested(bound):
    certificate = on_path(bound=bound)
    assert not certificate.is_tested
    assert certificate.verdict == "not tested"
    assert math.isnan(certificate.resolvable)


def test_the_budget_that_could_be_resolved():
    assert held_out().resolvable == 0.03
    assert held_out(excess_upper=0.08).resolvable == 0.08
    assert held_out(increase_upper=-0.02).resolvable == 0.0
    assert held_out(n_kept=9, increase_upper=0.02).resolvable == 0.0


def test_text_of_held_out_rows():
    lines = str(held_out(excess=0.02, excess_upper=0.04, notes=("mind the gap",))).splitlines()
    against_best = "[hold-out estimate against what is known to be reachable]"
    assert lines == [
        "3 of 9 features; budget met",
        "  budget                +0.05 error rate (0.01 nats)",
        "  evidence              500 rows, fresh rows; 95% confidence bounds",
        "  information lost      0.0020 nats, upper bound 0.0200   [model-based estimate]",
        "    if no more is lost, the Bayes risk increases by at most 0.0600",
        "  held-out error        0.1200 with all features (linear)",
        "                        0.1300 with those kept (extra trees), upper bound 0.1600",
        "    increase +0.0100, upper bound +0.0300   [hold-out estimate for these models]",
        f"    increase +0.0200, upper bound +0.0400   {against_best}",
        "  note: mind the gap",
    ]
    assert "best set known" not in str(held_out())  # it was not measured


def test_text_of_a_path_alone():
    lines = str(on_path()).splitlines()
    assert lines == [
        "3 of 9 features; budget not tested (no rows were held out)",
        "  budget                +0.05 error rate (0.01 nats)",
        "  evidence              500 rows, those of the search itself",
        "  information lost      0.0020 nats   [estimate on the search's rows]",
        "    if no more is lost, the Bayes risk increases by at most 0.0300 (error)",
    ]
    by_count = on_path(budget=math.nan, information_budget=math.nan, rule="FeatureCount(k=3)")
    assert "  budget                none (FeatureCount(k=3))\n" in str(by_count)


@pytest.mark.parametrize(
    ("changes", "heading"),
    [
        ({"n_kept": 9}, "9 of 9 features; budget met (nothing is left out)"),
        ({"increase_upper": 0.07}, "inconclusive: these rows could show a budget of 0.0700"),
        (
            {"increase_lower": 0.06, "increase_upper": 0.1},
            "budget not met (the error increases by at least 0.0600)",
        ),
    ],
)
def test_headings(changes, heading):
    assert heading in str(held_out(**changes)).splitlines()[0]


@pytest.mark.parametrize("certificate", [on_path(), held_out(), held_out(budget=math.nan)])
def test_json_holds_every_figure_and_no_nan(certificate):
    def refuse(constant):
        raise AssertionError(constant)

    read = json.loads(certificate.to_json(), parse_constant=refuse)
    assert set(certificate.__dataclass_fields__) <= set(read)
    assert read["verdict"] == certificate.verdict
    assert read["features"] == ["a", "b", "c"]
    assert read["excess"] is None  # not measured
    assert (read["error_all"] is None) == (not certificate.is_tested)
    assert "distribution-free" in read["evidence"]["error_upper"]


def test_paired_limits_cover_error_rates(seed):
    # 2000 draws of 120 pairs; of the upper 95 % limits at most 5 % may lie below the truth. The
    # adjusted limit is known to be a little conservative; 6.5 % is three standard errors above 5 %.
    rng = np.random.default_rng(seed)
    truth = 0.08 - 0.05
    draws = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.87, 0.08], size=(2000, 120))
    uppers = np.array([paired_difference(row, counts=True).upper for row in draws])
    assert np.mean(uppers < truth) <= 0.065


def test_paired_limits_by_hand():
    values = np.array([1.0, 2.0, 3.0])
    found = paired_difference(values, 0.95)
    reach = 2.919986 / np.sqrt(3)  # t quantile with two degrees of freedom, standard deviation 1
    assert found.mean == 2.0
    assert found.upper == pytest.approx(2.0 + reach, rel=1e-6)
    assert found.lower == pytest.approx(2.0 - reach, rel=1e-6)
    assert paired_difference(values[:1]).upper == math.inf


def test_clopper_pearson_inverts_the_binomial():
    for errors, n in ((0, 10), (3, 40), (39, 40)):
        limit = error_rate_limit(errors, n)
        assert binom.cdf(errors, n, limit) == pytest.approx(0.05, rel=1e-6)
    assert error_rate_limit(5, 5) == 1.0


def test_bernstein_holds_and_is_capped():
    losses = np.r_[np.zeros(900), np.ones(100)]
    limit = bounded_loss_limit(losses, 1.0)
    assert 0.1 < limit < 0.15
    assert bounded_loss_limit(np.ones(3), 1.0) == 1.0


def test_confidence_must_mean_something():
    with pytest.raises(ParameterError, match=r"confidence must be at least 0\.5 and below 1"):
        paired_difference(np.zeros(4), 1.0)
