"""Budgets for subgroups: every named part of the rows must be within the budget."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker import FeatureSelector
from pinsker.bounds import Difference, paired_difference
from pinsker.exceptions import ParameterError
from pinsker.metrics import Metric, Subgroups
from pinsker.report import summarise, to_html
from pinsker.selectors import from_state, to_state

SETTINGS = {"models": ["linear"], "searches": ["linear"], "random_state": 0}


def table(n=1200, seed=0, share=0.15):
    """Return a table whose column c matters in one region alone."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    region = np.where(rng.random(n) < share, "west", rng.choice(["north", "south"], n))
    X["sex"] = rng.choice([0, 1], n)
    own = np.where(region == "west", 4.0 * X["c"], 0.0)
    y = (2 * X["a"] + own + 0.3 * rng.logistic(size=n) > 0).astype(int)
    return X, y, region


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = table()
    selector = FeatureSelector(0.1, fixed_features=["a"], **SETTINGS).fit(
        X[["a", "b", "d", "sex"]], y
    )
    return selector, table(seed=1)


def test_worst_is_the_largest_increase_and_shares_alpha_below():
    rng = np.random.default_rng(0)
    less, full = (rng.integers(0, 2, 400).astype(float) for _ in range(2))
    halves = np.arange(400) < 150
    groups = Subgroups(("x", "y"), np.stack([halves, ~halves]), np.full(2, np.nan), math.nan)
    metric = Metric("error", groups)
    each = [paired_difference((less - full)[m], 0.95, counts=True) for m in (halves, ~halves)]
    sure = [paired_difference((less - full)[m], 0.975, counts=True) for m in (halves, ~halves)]
    found = metric.increase(less, full, 0.95)
    assert found.upper == max(one.upper for one in each)
    assert found.lower == max(one.lower for one in sure)
    assert metric == Metric("error")  # a set is held against the same budget
    assert metric.gains([less], full, 0.95) == Metric("error").gains([less], full, 0.95)
    assert metric.increases([less], full, 0.95) == [found]


def test_weights_count_within_each_subgroup():
    rng = np.random.default_rng(1)
    less, full = rng.random(60), rng.random(60)
    weights, mask = rng.uniform(0.5, 2.0, 60), np.arange(60) < 25
    groups = Subgroups(("x",), mask[None], np.full(1, np.nan), math.nan)
    weighted = [np.average(v, weights=weights) + (v - np.average(v, weights=weights)) * weights
                / weights.mean() for v in (less, full)]  # fmt: skip
    found = Metric("mae", groups).increase(*weighted, 0.95, None, weights)
    assert found.mean == pytest.approx(np.average((less - full)[mask], weights=weights[mask]))


def test_own_budgets_shift_what_is_compared():
    less, full, mask = np.ones(50), np.zeros(50), np.arange(50) < 20
    groups = Subgroups(("x",), mask[None], np.array([0.3]), 0.1)
    found = groups.worst(lambda *_: Difference(0.25, 0.2, 0.31), less, full, 0.95)
    assert (found.mean, found.lower, found.upper) == pytest.approx((0.05, 0.0, 0.11))


def test_of_fewer_than_two_rows_nothing_is_known():
    masks = np.array([[True] * 30, [True] + [False] * 29])
    groups = Subgroups(("all rows", "one"), masks, np.full(2, np.nan), math.nan)
    assert Metric("error", groups).increase(np.zeros(30), np.zeros(30), 0.95).upper == math.inf


def test_a_subgroup_that_pays_is_found(fitted):
    selector, (X, y, region) = fitted
    X = X[["a", "b", "d", "sex"]]
    everywhere = selector.certify(X, y, subgroups={"region": region})
    names = [one.name for one in everywhere.subgroups]
    assert names == ["all rows", "region=north", "region=south", "region=west"]
    assert sum(one.n_rows for one in everywhere.subgroups[1:]) == 1200
    assert everywhere.subgroups[0].error_kept == pytest.approx(everywhere.error_kept)


@pytest.mark.parametrize("named", ["sex", ["sex"], {"sex": 0.2}, {"sex": {"0": 0.2}}])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_are_named_in_any_form(fitted, named, library):
    selector, (X, y, _) = fitted
    X = library(X[["a", "b", "d", "sex"]].to_dict("list"))
    found = selector.certify(X, y, subgroups=named)
    assert [one.name for one in found.subgroups] == ["all rows", "sex=0", "sex=1"]
    if isinstance(named, dict):
        assert found.subgroups[1].budget == 0.2
        assert found.subgroups[2].budget == (0.2 if named == {"sex": 0.2} else 0.1)
    assert (found.verdict == "met") == all(one.verdict == "met" for one in found.subgroups)


def test_masks_and_positions(fitted):
    X, y, _ = table(400)
    values = X[["a", "b", "sex"]].to_numpy()
    selector = FeatureSelector(0.2, **SETTINGS, subgroups=2).fit(values, y)
    assert [one.name for one in selector.certificate_.subgroups][1:] == ["2=0.0", "2=1.0"]
    X, y, _ = table(400, seed=2)
    found = selector.certify(X[["a", "b", "sex"]].to_numpy(), y, subgroups={"low": X["a"] < 0})
    assert [one.name for one in found.subgroups] == ["all rows", "low"]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("regoin", "there is no column 'regoin'; there are 'a', 'b'"),
        (["a"], "has 300 different values"),
        ({"m": np.ones(7, dtype=bool)}, r"'m' has shape \(7,\), but there are 300 rows"),
        ({"m": np.zeros(300, dtype=bool)}, "'m' holds none of the rows"),
        ({"sex": {"2": 0.1}}, "no value '2'"),
        ({"sex": -0.1}, "must not be negative"),
    ],
)
def test_wrong_subgroups_are_refused(fitted, named, message):
    selector, (X, y, _) = fitted
    with pytest.raises(ParameterError, match=message):
        selector.certify(X[["a", "b", "d", "sex"]][:300], y[:300], subgroups=named)


def test_metrics_that_are_no_mean_are_refused():
    X, y, _ = table(300)
    with pytest.raises(ParameterError, match="'roc_auc' is not a mean over rows"):
        FeatureSelector(metric="roc_auc", subgroups="sex", **SETTINGS).fit(X, y)


def test_a_fit_keeps_what_one_region_needs():
    X, y, region = table(1500, share=0.12)
    X["west"] = (region == "west").astype(int)
    X["own"] = np.where(region == "west", X.pop("c"), 0.0)
    settings = {**SETTINGS, "fixed_features": ["a"], "cv": 3}
    alone = FeatureSelector(0.08, **settings).fit(X, y)
    assert "own" not in alone.get_feature_names_out()
    assert alone.certificate_.verdict == "met"
    in_each = FeatureSelector(0.08, subgroups="west", **settings).fit(X, y)
    assert "own" in in_each.get_feature_names_out()


def test_groups_go_through_state_json_and_page(fitted):
    X, y, _ = table(300)
    selector = FeatureSelector(0.3, subgroups={"sex": 0.4}, cv=3, **SETTINGS).fit(X, y)
    state = json.loads(json.dumps(to_state(selector)))
    again = from_state(state)
    assert again.subgroups == {"sex": 0.4}
    assert again.certificate_.subgroups == selector.certificate_.subgroups
    found = json.loads(selector.certificate_.to_json())["subgroups"]
    assert [one["name"] for one in found] == ["all rows", "sex=0", "sex=1"]
    text = str(selector.certificate_)
    assert "rows needed" in text
    assert "in sex=" in text or "in all rows" in text
    page = to_html(summarise(selector))
    assert "In every subgroup" in page
    assert "sex=1" in page


def test_without_subgroups_the_page_says_what_a_tenth_may_pay(fitted):
    selector, _ = fitted
    assert "allows 1 in a tenth of them: subgroups= bounds" in to_html(summarise(selector))


def test_the_page_of_a_certificate_names_rows_that_are_needed(fitted):
    selector, (X, y, _) = fitted
    few = np.where(np.arange(1200) < 30, "few", "many")
    found = selector.certify(X[["a", "b", "d", "sex"]], y, subgroups={"size": few})
    small = next(one for one in found.subgroups if one.name == "size=few")
    assert small.verdict != "met"
    assert small.rows_needed > 30
    assert found.label == "estimate"
    assert any(note.kind == "small subgroups" for note in found.notes)
