"""What a review found: each failed before."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, RepeatedKFold

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
    ScoreThreshold,
    audit,
)
from pinsker.exceptions import ParameterError
from pinsker.holdout import Certificate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
WIDE = RNG.normal(size=(150, 130))
WIDE_Y = (WIDE[:, 0] > 0).astype(int)


@pytest.mark.parametrize("searches", [["relevance"], [("mine", [0, 1, 2])], ["linear"]], ids=str)
def test_more_than_a_hundred_fixed_features_stay(searches):
    fixed = list(range(5, 115))
    selector = FeatureSelector(
        0.1, searches=searches, fixed_features=fixed, models=["linear"], cv=2, random_state=0
    ).fit(WIDE, WIDE_Y)
    assert selector.support_[fixed].all()


def test_figures_of_another_size_are_noted():
    V = np.random.default_rng(1).normal(size=(120, 45))
    selector = FeatureSelector(
        FeatureCount(38), searches=["linear"], models=["linear"], random_state=0
    ).fit(V, (V[:, 0] > 0).astype(int))
    certificate = selector.certificate_
    assert certificate.n_kept == selector.support_.sum() == 38
    at = selector.cv_results_["n_features"] == 38
    noted = any("held-out figures are those of" in note for note in certificate.notes)
    assert noted or certificate.error_kept in selector.cv_results_["error"][at]


def test_a_division_of_rows_of_which_the_last_is_dropped():
    Z = X.copy()
    Z[-1, 0] = np.nan
    cv = list(KFold(4).split(X))
    selector = BackwardElimination(missing="drop", cv=cv, models=["linear"], random_state=0)
    assert selector.fit(Z, Y).certificate_.n_rows == 79


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(80), np.arange(80))], r"cv has rows 0, 1, 2 and 77 more among the training"),
        ([(np.arange(40), np.array([50, 50]))], "cv holds row 50 out more than once in one fold"),
        ([(np.arange(40), np.array([-1]))], "cv names row -1 among the held-out rows"),
    ],
)
def test_rows_count_once(cv, message):
    with pytest.raises(ParameterError, match=message) as caught:
        BackwardElimination(cv=cv, models=["linear"]).fit(X, Y)
    assert caught.value.parameter == "cv"


def test_repeats_of_a_row_are_averaged():
    once, often = (
        BackwardElimination(cv=cv, models=["linear"], random_state=0).fit(X, Y)
        for cv in (
            RepeatedKFold(n_splits=4, n_repeats=1, random_state=0),
            RepeatedKFold(n_splits=4, n_repeats=10, random_state=0),
        )
    )
    assert once.certificate_.n_rows == often.certificate_.n_rows == 80
    assert any("held out 10 times on average" in note for note in often.certificate_.notes)
    # Ten looks at a row are not ten rows: 800 of them would have an upper bound of 0.01.
    assert often.certificate_.error_upper > often.certificate_.error_kept + 0.02
    widths = [one.certificate_.increase_upper - one.certificate_.increase for one in (once, often)]
    # Averages vary a little less than single looks; those of ten times the rows would by 0.32.
    assert widths[1] > 0.7 * widths[0]


@pytest.mark.filterwarnings("ignore:.*test rows are among")
def test_repeats_of_a_row_are_averaged_in_an_audit():
    selector = BackwardElimination(random_state=0, models=["linear"]).fit(X, Y)
    often = audit(selector, LogisticRegression(), X, Y, cv=RepeatedKFold(n_splits=4, n_repeats=5))
    assert often.n_rows == 80
    assert often.increase_upper - often.increase > 0.01
    with pytest.raises(ParameterError, match="rows 0, 1, 2 and 77 more"):
        audit(selector, LogisticRegression(), X, Y, cv=[(np.arange(80), np.arange(80))])


def test_rules_that_read_scores_get_measured_paths():
    order = [("mine", [0, 1, 2, 3])]
    rule = ScoreThreshold(0.01)
    held_out = FeatureSelector(rule, searches=order, models=["linear"], random_state=0).fit(X, Y)
    alone = FeatureSelector(rule, searches=order, cv=0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(held_out.support_, alone.support_)


def test_warm_starts_follow_changed_ends():
    options = {"warm_start": True, "random_state": 0}
    both = ForwardBackwardSelection(FeatureCount(3), patience=3, **options).fit(WIDE, WIDE_Y)
    assert both.set_params(error_budget=FeatureCount(30)).fit(WIDE, WIDE_Y).support_.sum() == 30
    forward = ForwardSelection(max_features=12, **options).fit(WIDE, WIDE_Y)
    assert len(forward.set_params(max_features=3).fit(WIDE, WIDE_Y).path_.moves) == 3
    counted = CriterionSelection("jmi", 8, warm_start=True).fit(WIDE, WIDE_Y)
    counted.set_params(n_features_to_select=3).fit(WIDE, WIDE_Y)
    fresh = CriterionSelection("jmi", 3).fit(WIDE, WIDE_Y)
    np.testing.assert_array_equal(counted.ranking_, fresh.ranking_)


def test_another_budget_is_in_the_metric_of_the_rule():
    y = 5 * X[:, 0] + X[:, 1]
    selector = LinearSelection(ErrorBudget(6.0, metric="mse", model="gaussian")).fit(X, y)
    np.testing.assert_array_equal(selector.support_at(error_budget=6.0), selector.support_)


def test_a_number_of_features_that_no_path_reaches():
    selector = ForwardSelection(max_features=4).fit(WIDE, WIDE_Y)
    with pytest.raises(ParameterError, match="no path of this selector reaches 30 features, but 4"):
        selector.support_at(n_features=30)


def test_the_task_is_that_of_the_fit():
    rule = ErrorBudget(0.5, metric="mse", model="gaussian")
    assert LinearSelection(rule).fit(X, Y).task_ == "regression"
    assert CriterionSelection("jmi", 2).fit(X, Y).task_ == "classification"


def test_a_certificate_without_upper_bounds_resolves_nothing():
    known = BackwardElimination(cv=3, models=["linear"], random_state=0).fit(X, Y).certificate_
    fields = {**known.__dict__, "increase_upper": np.nan, "excess_upper": np.nan, "n_kept": 2}
    assert Certificate(**fields).resolvable == np.inf


@pytest.mark.parametrize("names", [list("dcba"), list("wxyz")])
def test_columns_are_matched_by_name(names):
    frame = pd.DataFrame(X, columns=list("abcd"))
    selector = FeatureSelector(0.1, models=["linear"], random_state=0).fit(frame, Y)
    other = pd.DataFrame(RNG.normal(size=(80, 4)), columns=names)
    for method in (selector.certify, selector.importance, selector.substitutes):
        with pytest.raises(ValueError, match="feature names should match"):
            method(other, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        audit(selector, LogisticRegression(), other, Y)


@pytest.mark.filterwarnings("ignore:.*test rows are among")
@pytest.mark.parametrize("model", [LogisticRegression(), LinearRegression()], ids=str)
def test_a_target_of_one_column_is_audited_as_a_plain_one(model):
    y = Y if isinstance(model, LogisticRegression) else X[:, 0] + 0.1 * X[:, 1]
    selector = FeatureSelector(0.1, searches=["linear"], models=["linear"], random_state=0)
    selector.fit(X, y)
    plain, column, frame = (
        audit(selector, model, X, given) for given in (y, y[:, None], pd.DataFrame({"y": y}))
    )
    assert plain == column == frame


def test_warm_starts_know_kinds_and_missing_values():
    X = np.round(RNG.normal(size=(80, 3)), 1)
    Y = (X[:, 0] > 0).astype(int)
    options = {"error_budget": FeatureCount(2), "warm_start": True, "random_state": 0}
    warm = BackwardElimination(**options).fit(X, Y)
    for changed in ({"categorical_features": [0, 1]}, {"missing": "category"}):
        Z = X.copy()
        if "missing" in changed:
            Z[:30, 0] = np.nan
        warm.set_params(**changed).fit(Z, Y)
        cold = BackwardElimination(FeatureCount(2), random_state=0, **changed).fit(Z, Y)
        np.testing.assert_array_equal(warm.path_.information, cold.path_.information)
        warm.set_params(categorical_features="from_dtype")


def test_rows_that_folds_share_are_named():
    noise = np.tile(RNG.normal(size=(60, 3)), (8, 1))
    y = np.tile(RNG.integers(0, 2, 60), 8)
    notes = FeatureSelector(0.1, models=["linear"], random_state=0).fit(noise, y).certificate_.notes
    assert any("of 480 rows 60 are different: copies of a row" in note for note in notes)
