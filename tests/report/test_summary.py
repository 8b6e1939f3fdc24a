"""The dict: plain values, all of them those of the selector."""

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pinsker import (
    BackwardElimination,
    Certificate,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    KNNSettings,
    LinearSelection,
    mutual_information,
)
from pinsker.exceptions import DataError, ParameterError
from pinsker.report import summarise, to_json

KEYS = {
    "schema", "selector", "source", "kept", "budget", "target", "path", "cv_results", "choices",
    "rough", "features", "certificate", "importance", "interactions", "substitutes", "alternatives",
    "stability", "data", "versions",
}  # fmt: skip


def test_schema(summary):
    assert summary["schema"] == 3
    assert set(summary) == KEYS
    assert set(summary["features"][0]) == {
        "rank", "name", "index", "columns", "kept", "adds", "alone", "given_kept", "stand_in",
    }  # fmt: skip
    assert set(summary["path"]["sets"][0]) == {"size", "feature", "information", "lost", "bound"}


def test_json_reads_back_equal(summary):
    assert json.loads(to_json(summary)) == summary


def test_path_is_the_path_of_the_selector(selector, summary):
    path = selector.path_
    sets = summary["path"]["sets"]
    assert [item["size"] for item in sets] == list(range(14))
    for item in sets:
        assert item["information"] == path.information_at(item["size"])
        assert item["bound"] == path.bound_at(item["size"])
    assert sets[0]["feature"] is None
    assert sets[3]["feature"] == path.names[path.order[2]]


def kept_by_table(choices, order, position):
    """Read the table as the page does."""
    entry = [item for item in choices["sets"] if item["first"] <= position][-1]
    found = entry["features"]
    return set(order[: entry["size"]] if found is None else found)


@pytest.mark.parametrize(
    "name", ["classes", "numbers", "mse", "linear", "count", "paper", "cross-fitted"]
)
def test_every_position_of_the_slider_is_support_at(name, wine, numeric, cross_fitted):
    X, y = wine
    _, numbers, target = numeric
    printed = ErrorBudget(0.3, constants="paper", reference="full")
    fitted = {
        "classes": lambda: BackwardElimination(error_budget=0.03).fit(X, y),
        "numbers": lambda: numeric[0],
        "mse": lambda: BackwardElimination(900.0, metric="mse").fit(numbers, target),
        "linear": lambda: LinearSelection(error_budget=0.01).fit(numbers, target),
        "count": lambda: BackwardElimination(FeatureCount(3)).fit(X, y),
        "cross-fitted": lambda: cross_fitted,
        "paper": lambda: BackwardElimination(printed, knn=KNNSettings(score="direct")).fit(X, y),
    }[name]()
    summary = summarise(fitted)
    choices = summary["choices"]
    assert len(choices["budgets"]) > 50
    assert choices["budgets"] == sorted(choices["budgets"])
    for position, budget in enumerate(choices["budgets"]):
        shown = kept_by_table(choices, summary["path"]["order"], position)
        at = replace(printed, delta=budget) if name == "paper" else budget
        expected = fitted.support_at(error_budget=at)
        assert shown == set(np.flatnonzero(expected)), budget


def test_own_budget_is_a_position(summary):
    choices = summary["choices"]
    assert choices["budgets"][choices["current"]] == 0.1
    kept = kept_by_table(choices, summary["path"]["order"], choices["current"])
    assert kept == {item["index"] for item in summary["features"] if item["kept"]}


def test_another_rule_has_no_budget(wine):
    summary = summarise(BackwardElimination(FeatureCount(3)).fit(*wine))
    assert summary["budget"]["value"] is None
    assert summary["choices"]["current"] is None
    assert summary["kept"]["size"] == 3
    assert "import BackwardElimination, FeatureCount" in summary["selector"]["call"]


def test_call_reproduces(wine):
    X, y = wine
    fitted = BackwardElimination(
        ErrorBudget(0.2), fixed_features=["ash"], knn=KNNSettings(n_neighbors=4)
    ).fit(X, y)
    names = {"X": X, "y": y}
    exec(summarise(fitted)["selector"]["call"], names)
    assert (names["selector"].support_ == fitted.support_).all()


def test_single_features_are_what_mutual_information_says(wine, summary):
    X, y = wine
    by_name = {item["name"]: item for item in summary["features"]}
    # The same estimator summed in another order: 1e-9 is far above rounding, far below a neighbor.
    for name in ("flavanoids", "magnesium", "ash"):
        expected = mutual_information(X[name], y)
        assert by_name[name]["alone"] == pytest.approx(expected, abs=1e-9)
    went = by_name["total_phenols"]
    expected = mutual_information(X[went["stand_in"]["name"]], X["total_phenols"])
    assert went["stand_in"]["information"] == pytest.approx(expected, abs=1e-9)


def test_a_copy_has_its_original_as_stand_in():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "noise"])
    X["copy of a"] = 3 * X["a"] + 1
    X["level"] = np.where(X["b"] > 0, "high", "low")
    y = (X["a"] + X["b"] > 0).astype(int)
    fitted = BackwardElimination(FeatureCount(2), fixed_features=["a", "b"]).fit(X, y)
    features = {item["name"]: item for item in summarise(fitted, X, y)["features"]}
    assert features["copy of a"]["stand_in"]["name"] == "a"
    assert features["copy of a"]["stand_in"]["dependence"] > 0.99
    assert features["level"]["stand_in"]["name"] == "b"
    assert features["a"]["stand_in"] is None
    # A copy tells much alone and nothing new: estimates of nothing scatter by some 0.05 here.
    assert features["copy of a"]["alone"] > 0.2
    assert abs(features["copy of a"]["given_kept"]) < 0.1


def test_numbers_and_a_path_that_ends_early(numeric):
    fitted, X, y = numeric
    summary = summarise(fitted, X, y)
    assert summary["budget"]["metric"] == "r2"
    assert summary["target"]["task"] == "regression"
    assert len(summary["features"]) == 10
    unmet = [item for item in summary["features"] if item["rank"] is None]
    assert len(unmet) == 4
    assert all(item["adds"] is None and item["alone"] is not None for item in unmet)


def test_groups(wine):
    X, y = wine
    groups = {"phenols": ["total_phenols", "flavanoids", "nonflavanoid_phenols"]}
    fitted = BackwardElimination(error_budget=0.1, feature_groups=groups).fit(X, y)
    summary = summarise(fitted, X, y)
    assert summary["kept"]["n_columns"] == 13
    assert summary["kept"]["n_features"] == 11
    assert {item["name"]: item["columns"] for item in summary["features"]}["phenols"] == 3


def test_without_data_what_needs_them_is_unknown(selector):
    summary = summarise(selector)
    assert summary["data"]["columns"] is None
    assert all(item["alone"] is None for item in summary["features"])


def test_many_rows_are_measured_on_a_spread():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1700, 2))
    y = (X[:, 0] > 0).astype(int)
    summary = summarise(
        BackwardElimination(knn=KNNSettings(max_samples=100), random_state=0).fit(X, y), X, y
    )
    assert (summary["data"]["n_rows"], summary["data"]["n_rows_measured"]) == (1700, 1500)


def test_other_data_are_refused(selector, wine):
    X, y = wine
    with pytest.raises(DataError, match=r"12 features that are not those of fit \(13\)"):
        summarise(selector, X.drop(columns="ash"), y)


def test_half_the_data_are_refused(selector, wine):
    with pytest.raises(ParameterError, match="both X and y, or neither"):
        summarise(selector, wine[0])


def test_results_on_held_out_rows(cross_fitted):
    summary = summarise(cross_fitted)
    assert summary["path"]["search"] in ("forward", "linear", "pruned")
    searches = {row["search"] for row in summary["cv_results"]}
    assert searches == {"all features", "forward", "linear", "pruned"}
    assert summary["certificate"]["tested"]
    choices = summary["choices"]
    at_own = [item for item in choices["sets"] if item["first"] <= choices["current"]][-1]
    assert at_own["limit"] == summary["certificate"]["figures"]["resolvable"]
    assert at_own["search"] == summary["path"]["search"]
    assert json.loads(to_json(summary)) == summary


def test_a_cross_fitted_certificate_in_words(cross_fitted, summary):
    certificate = summarise(cross_fitted)["certificate"]
    assert certificate["verdict"] == cross_fitted.certificate_.verdict
    text = " ".join(certificate["sentences"])
    assert "Cross-validated estimate: 178 rows, 3-fold cross-fitting; bounds for " in text
    assert "; 95 % upper confidence bound: error rate rises by" in text
    assert "distribution-free" not in text  # the rows have chosen the set
    assert summary["certificate"]["verdict"] == "not tested"
    assert "No row was held out" in " ".join(summary["certificate"]["sentences"])


CERTIFICATE = Certificate(
    metric="error", budget=0.05, confidence=0.95, n_rows=500, n_kept=3, n_features=9,
    features=("a", "b", "c"), rows="fresh rows", rule="ErrorBudget(0.05)", information_budget=0.01,
    information_lost=0.002, information_upper=0.02, bound=0.06, error_all=0.12, error_kept=0.13,
    increase=0.01, increase_lower=-0.01, increase_upper=0.03, model_all="forest",
    model_kept="linear", error_upper=0.16, label="certificate", error_none=0.4, gain_lower=0.2,
)  # fmt: skip


def shown_of(selector, certificate):
    """Return what is shown of a certificate."""
    other = copy.copy(selector)
    other.certificate_ = certificate
    return summarise(other)["certificate"]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "met"),
        ({"increase_lower": 0.06, "increase_upper": 0.08}, "not met"),
        ({"increase_upper": 0.08}, "inconclusive"),
    ],
)
def test_certificates_in_words(selector, changes, verdict):
    certificate = replace(CERTIFICATE, **changes)
    shown = shown_of(selector, certificate)
    assert shown["verdict"] == verdict
    text = " ".join(shown["sentences"])
    assert "Certificate: 500 rows, fresh rows." in text
    errors = "0.1200 with all features, 0.1300 with those kept, 0.4000 with none"
    assert f"Error rate {errors}." in text
    assert "Models: forest of all features, linear of those kept." in text
    limit = f"error rate rises by {certificate.increase_upper:.4f}"
    assert f"95 % upper confidence bound: {limit}." in text
    assert "Bayes risk" not in text  # a bound above the budget says nothing
    within = shown_of(selector, replace(certificate, bound=0.04))
    assert (
        "Bayes risk rises by at most 0.0400 [model-based estimate]. The Bayes risk is the lowest"
        in " ".join(within["sentences"])
    )
    assert "The distribution-free 95 % upper confidence bound of the error with" in text
    assert ("Inconclusive: these rows could show a budget of 0.0800." in text) == (
        verdict == "inconclusive"
    )


def test_without_a_budget_there_is_no_verdict_to_read(selector):
    certificate = shown_of(selector, replace(CERTIFICATE, budget=float("nan")))
    assert certificate["verdict_words"] == "no error budget was set"
    assert "The budget is" not in " ".join(certificate["sentences"])


def test_a_certified_set_is_shown_at_its_budget(selector, wine):
    """A set of fresh rows may be larger than the one of the budget: the slider agrees with it."""
    larger = replace(
        CERTIFICATE,
        n_kept=6,
        n_features=13,
        features=tuple(selector.path_.names[j] for j in selector.path_.order[:6]),
    )
    summary = summarise(selector.with_certified(larger), *wine)
    assert summary["kept"]["size"] == 6
    choices = summary["choices"]
    shown = [one for one in choices["sets"] if one["first"] <= choices["current"]][-1]
    assert shown["size"] == 6
    assert summary["certificate"]["verdict"] == "met"


def test_numbers_that_were_counted_or_modelled_are_read_again(numeric):
    """Their facts are about bins or indicators, and do not say how the target was read."""
    _, X, y = numeric
    classes = np.where(y > y.median(), "high", "low")
    for fitted, target in (
        (CriterionSelection(n_features_to_select=3).fit(X, y), y),
        (LinearSelection().fit(X, classes), classes),
        (LinearSelection(metric="r2").fit(X, y.round(-2).astype(int)), y.round(-2).astype(int)),
    ):
        assert summarise(fitted, X, target)["features"][0]["alone"] is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64("nan"), None),
        (np.array([1.5, np.inf]), [1.5, None]),
        ({1: (np.int64(2), True)}, {"1": [2, True]}),
        (np.bool_(False), False),
    ],
)
def test_values_that_json_can_hold(value, expected):
    assert json.loads(to_json({"value": value})) == {"value": expected}


def test_many_categories_stand_in_for_nothing_by_chance():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"city": rng.integers(0, 280, 2000).astype(str)})
    table["age"] = rng.integers(18, 90, 2000)  # few rows a city: its mean tells much by chance
    table["region"] = (table["city"].astype(int) // 10).astype(str)
    target = (table["city"].astype(int) % 3 == 0).astype(int)
    selector = CriterionSelection("mrmr", n_features_to_select=1, fixed_features=["city"])
    selector.fit(table, target)
    features = {one["name"]: one for one in summarise(selector, X=table, y=target)["features"]}
    assert features["age"]["stand_in"] is None
    assert features["region"]["stand_in"]["name"] == "city"


def test_noise_has_no_stand_in():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    table["like_a"] = table["a"] + 0.1 * rng.normal(size=300)
    target = (table["a"] > 0).astype(int)
    selector = BackwardElimination(FeatureCount(1), fixed_features=["a"]).fit(table, target)
    features = {one["name"]: one for one in summarise(selector, X=table, y=target)["features"]}
    assert features["like_a"]["stand_in"]["name"] == "a"
    assert [features[name]["stand_in"] for name in "bcdef"] == [None] * 5


def test_figures_of_single_features_do_not_hide_that_rows_had_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > 0
    note = "is that of rows of equal weight"
    for weights, wanted in ((None, 0), (rng.integers(1, 3, size=60), 1)):
        selector = FeatureSelector(0.3, models=["linear"], cv=2, searches=["linear"])
        selector.fit(X, y, sample_weight=weights)
        notes = summarise(selector, X, y)["data"]["notes"]
        assert sum(note in one for one in notes) == wanted
        assert not any(note in one for one in summarise(selector)["data"]["notes"])


def test_the_target_has_its_name(wine, selector):
    X, y = wine
    assert summarise(selector)["target"]["name"] == "target"
    assert summarise(selector)["data"]["n_rows"] == 178
    unnamed = BackwardElimination(error_budget=0.1).fit(X.to_numpy(), y.to_numpy())
    assert summarise(unnamed)["target"]["name"] is None


def test_the_slider_is_logarithmic_and_ends_where_everything_may_go(cross_fitted, cross_summary):
    choices, certificate = cross_summary["choices"], cross_fitted.certificate_
    budgets, baseline = choices["budgets"], choices["baseline"]
    assert baseline == certificate.error_none - certificate.error_all
    assert budgets[0] == 0.0
    assert baseline <= budgets[-1] < 1.01 * baseline
    thirds = np.searchsorted(budgets, baseline * np.array([1e-3, 1e-2, 1e-1, 1.0]))
    assert np.ptp(np.diff(thirds)) <= 3  # as many of each power of ten
    all_go = [verdict["lets_all_go"] for verdict in choices["verdicts"]]
    assert all_go[-1]
    assert not any(all_go[:-1])


def test_a_relative_budget_is_shown_in_the_metric(wine):
    """The slider is in units of the metric, the parameter a share of what features are worth."""
    fitted = FeatureSelector(
        ErrorBudget(0.1, relative=True),
        searches=["linear"],
        cv=2,
        models=["linear"],
        random_state=0,
    ).fit(*wine)
    summary = summarise(fitted)
    choices, gain = summary["choices"], summary["certificate"]["baseline"]
    assert choices["budgets"][choices["current"]] == pytest.approx(0.1 * gain)
    for position in range(0, len(choices["budgets"]), 7):
        budget = choices["budgets"][position]
        share = ErrorBudget(min(budget / gain, 1.0), relative=True)
        shown = kept_by_table(choices, summary["path"]["order"], position)
        assert shown == set(np.flatnonzero(fitted.support_at(error_budget=share)))


def test_fresh_rows_count_from_the_budget_that_they_tested(selector):
    """What they show for a budget they show for all larger ones, and not for smaller ones."""
    size, path = int(selector.support_.sum()), selector.path_
    names = tuple(path.names[j] for j in path.order[:size])
    tested = replace(CERTIFICATE, budget=0.1, n_kept=size, n_features=13, features=names)
    summary = summarise(selector.with_certified(tested))
    choices = summary["choices"]
    for position, budget in enumerate(choices["budgets"]):
        verdict = choices["verdicts"][position]["verdict"]
        shown = [one for one in choices["sets"] if one["first"] <= position][-1]
        if budget == 0.1 or (budget > 0.1 and shown["size"] == size):
            assert (verdict, shown["error"]) == ("met", tested.error_kept)
        elif budget < 0.1:
            assert verdict == "not tested"


def test_certificate_at_is_about_the_set_of_support_at(selector):
    names = tuple(selector.path_.names[j] for j in selector.path_.order[:6])
    larger = replace(CERTIFICATE, budget=0.1, n_kept=6, n_features=13, features=names)
    certified = selector.with_certified(larger)
    for budget in (0.01, 0.05, 0.1, 0.2, 0.5):
        kept = certified.support_at(error_budget=budget)
        about = certified.certificate_at(error_budget=budget)
        assert set(about.features) == set(certified.feature_names_in_[kept])
        assert about.budget == budget


def test_findings_are_in_the_summary(cross_fitted, findings):
    summary = summarise(cross_fitted, **findings, command="pinsker select wines.csv -t target")
    assert json.loads(to_json(summary)) == summary
    assert summary["source"] == "cellar/wines, 1991.csv"
    assert summary["selector"]["command"].startswith("pinsker select")
    rows = summary["importance"]["features"]
    assert [row["value"] for row in rows if row["kept"]] == sorted(
        (row["value"] for row in rows if row["kept"]), reverse=True
    )
    assert rows[0]["lower"] < rows[0]["value"] < rows[0]["upper"]
    assert summary["substitutes"][1] == {
        "feature": findings["substitutes"][1].feature, "replacement": [], "dependence": 0.0,
        "increase": 0.05, "increase_upper": 0.09, "within_budget": False,
    }  # fmt: skip
    assert summary["alternatives"][0]["overlap"] == 0.25
    assert summary["interactions"]["n_sets"] == 78
    assert summary["stability"]["n_choices"] == 3
    assert max(row["frequency"] for row in summary["stability"]["features"]) <= 1.0
    without = summarise(cross_fitted)
    assert without["interactions"] is None
    assert without["substitutes"] is None
