"""Limits of what was measured, and what a certificate makes of them."""

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


def certificate(**changes):
    figures = {
        "unit": "error", "budget": 0.05, "confidence": 0.95, "n_rows": 500, "n_kept": 3,
        "n_features": 9, "source": "fresh rows", "information_budget": 0.01,
        "information_lost": 0.002, "information_limit": 0.02, "bound": 0.06, "error_all": 0.12,
        "error_kept": 0.13, "growth": 0.01, "growth_lower": -0.01, "growth_upper": 0.03,
        "model_all": "linear", "model_kept": "extra trees", "error_limit": 0.16,
    }  # fmt: skip
    return Certificate(**{**figures, **changes})


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "kept"),
        ({"growth_upper": 0.05}, "kept"),
        ({"growth_upper": 0.0500001}, "not resolved"),
        ({"ideal_growth_upper": 0.08}, "not resolved"),
        ({"growth_lower": 0.06, "growth_upper": 0.1}, "not kept"),
        ({"budget": math.nan}, "not resolved"),
        ({"n_kept": 9, "ideal_growth_upper": 0.08}, "kept"),
    ],
)
def test_verdicts(changes, verdict):
    assert certificate(**changes).verdict == verdict


def test_the_budget_that_could_be_resolved():
    assert certificate().resolvable == 0.03
    assert certificate(ideal_growth_upper=0.08).resolvable == 0.08
    assert certificate(growth_upper=-0.02).resolvable == 0.0
    assert certificate(n_kept=9, growth_upper=0.02).resolvable == 0.0


def test_text_says_what_is_known_and_on_what_grounds():
    text = str(certificate(notes=("mind the gap",)))
    assert "3 of 9 features; promise: kept" in text
    assert "if no more than 0.0200 nats are lost, the best possible predictor" in text
    assert "tier 0: no assumption but independent rows" in text
    assert "note: mind the gap" in text
    assert "guarantee" not in text
    assert "9 of 9 features; promise: kept (nothing is left out)" in str(certificate(n_kept=9))
    unsure = str(certificate(growth_upper=0.07))
    assert "not resolved at this sample size (a budget of 0.0700 could be)" in unsure
    broken = str(certificate(growth_lower=0.06, growth_upper=0.1))
    assert "not kept (the error grows by at least 0.0600)" in broken


def test_json_holds_every_figure():
    read = json.loads(certificate().to_json())
    assert read["verdict"] == "kept"
    assert read["growth_upper"] == 0.03
    assert read["ideal_growth"] is None  # not measured
    assert set(certificate().__dataclass_fields__) <= set(read)


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
