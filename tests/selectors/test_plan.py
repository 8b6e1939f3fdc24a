"""How many rows show a budget: from an assumed error, and from a first small fit."""

import math

import numpy as np
import pandas as pd
import pytest

from pinsker import FeatureCount, FeatureSelector, plan_rows
from pinsker.bounds import rows_needed, smallest_budget
from pinsker.exceptions import DataError, ParameterError

FAST = FeatureSelector(models=["linear"], searches=["linear"], random_state=0)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    return X, 2 * X.a + 2 * X.b + 0.5 * X.c + rng.normal(size=n)


def test_from_an_assumed_error():
    plan = plan_rows(error=0.1, n_rows=500, error_budget=[0.02, 0.05])
    known = {"counts": True, "confidence": 0.96}
    assert plan.rows == tuple(rows_needed(0.144, budget, **known) for budget in (0.02, 0.05))
    assert plan.smallest_budget == smallest_budget(0.144, 500, **known)
    assert plan.rows[0] > plan.rows[1]
    assert plan_rows(error=0.1, error_budget=0.5).rows == (100.0,)  # fewer make no certificate
    more = plan_rows(error=0.1, error_budget=0.02, power=0.9, confidence=0.99).rows[0]
    assert more > plan.rows[0]
    shown = plan_rows(error=0.3, metric="r2", n_rows=200)
    assert "R² may fall by 0.01: about" in str(shown)
    assert "200 fresh rows could show a budget of about 0." in str(shown)


def test_from_a_table():
    X, y = table(400)
    plan = plan_rows(X, y, error_budget=(0.1, 0.0001), selector=FAST)
    assert (plan.metric, plan.n_rows, plan.n_fitted) == ("r2", 400, 400)
    assert plan.n_kept[0] == 2  # c is worth .03 of R²
    assert 100 <= plan.rows[0] < plan.rows[1]
    assert 0.0 < plan.increase[0] < 0.05
    assert plan.smallest_budget < 0.1
    lines = str(plan).splitlines()
    assert lines[0].endswith("from a fit to 400 rows:")
    assert "show 2 features (R² falls by 0.0" in lines[1]
    # Rows at hand are all of the table, and those of the fit at most 1000.
    larger = plan_rows(*table(1500), error_budget=0.1, selector=FAST)
    assert (larger.n_rows, larger.n_fitted) == (1500, 1000)
    assert 0.03 < larger.smallest_budget < 0.1  # that of two features


def test_where_no_smaller_set_is_likely():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    plan = plan_rows(X, X.sum(axis=1), error_budget=0.01, selector=FAST)
    assert math.isinf(plan.rows[0])
    assert "no smaller set is likely to be well within it" in str(plan)
    assert "could show" not in str(plan)


@pytest.mark.parametrize("given", [{}, {"error": 0.1, "X": np.zeros((9, 2))}, {"error": 2.0}])
def test_what_cannot_be_planned(given):
    with pytest.raises(ParameterError, match="error"):
        plan_rows(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"error_budget": FeatureCount(2)}, {"error_budget": None}, {"error_budget": "0.1"},
        {"error_budget": []}, {"error_budget": [0.1, -1.0]}, {"error": "0.1"},
        {"n_rows": "many"}, {"n_rows": -1},
    ],
)  # fmt: skip
def test_numbers_that_are_none(given):
    # Found by the fuzzer: TypeError and "math domain error".
    with pytest.raises(ParameterError, match=r"must be a number of at least 0|one error_budget"):
        plan_rows(**{"error": 0.1, **given})


def test_too_few_rows():
    with pytest.raises(DataError, match="too few rows to hold any out"):
        plan_rows(*table(8), selector=FAST)
