"""The front door: several searches, one evaluator, one set."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from pinsker import BackwardElimination, ErrorBudget, FeatureCount, FeatureSelector, KNNSettings
from pinsker.datasets import NoisyXor
from pinsker.engine import Backward
from pinsker.exceptions import DataWarning, ParameterError, PinskerWarning
from pinsker.holdout import ALL_FEATURES
from pinsker.search import SearchInterrupted, SelectionPath
from pinsker.selectors import CriterionSelection, LinearSelection
from tests.truths import Clusters, MixedKinds, RedundantLinear, selection_problems

SVM = ["svm"]
TOO_FEW = "too few rows to hold any out: the cut rests on the path alone"


@pytest.fixture(scope="module")
def xor():
    return NoisyXor(n_columns=8).sample(240, seed=3)


@pytest.fixture(scope="module")
def fitted(xor):
    return FeatureSelector(models=SVM, random_state=0).fit(*xor)


def test_it_finds_an_interaction(fitted):
    assert np.flatnonzero(fitted.support_).tolist() == [0, 1]
    assert fitted.certificate_.verdict == "met"
    assert fitted.certificate_.n_kept == 2


def test_every_search_and_all_features_are_compared(fitted):
    results = fitted.cv_results_
    assert set(results["search"]) == {
        ALL_FEATURES, "forward-backward", "backward", "forward", "linear", "relevance", "pruned",
    }  # fmt: skip
    assert results["search"][0] == ALL_FEATURES
    assert (results["n_features"][0], results["increase"][0]) == (8, 0.0)
    most = results["information"].max()
    np.testing.assert_allclose(results["lost"], most - results["information"], atol=1e-9)
    assert (results["lost"] <= results["lost_upper"]).all()
    assert (results["increase_lower"] <= results["increase"]).all()
    assert (results["increase"] <= results["increase_upper"]).all()
    assert (results["excess"] >= results["increase"] - 1e-12).all()


def test_results_are_arrays_of_one_length(fitted):
    results = fitted.cv_results_
    assert set(results) == {
        "search", "n_features", "support", "information", "information_error", "lost",
        "lost_upper", "lost_lower", "behind_all", "error", "error_upper", "increase",
        "increase_lower", "increase_upper", "excess", "excess_upper", "gain_lower",
        "model_information", "model_error", "cost", "features", "few_rows_decide",
        "increase_error", "absolute_increase", "absolute_upper",
    }  # fmt: skip
    assert all(isinstance(values, np.ndarray) for values in results.values())
    assert len({len(values) for values in results.values()}) == 1
    support = np.stack(list(results["support"]))
    assert support.shape[1] == 8
    np.testing.assert_array_equal(support.sum(axis=1), results["n_features"])
    assert pd.DataFrame(results).shape == (len(support), len(results))
    assert results["support"][0].all()
    frame = pd.DataFrame({name: list(values) for name, values in results.items()})
    assert len(frame) == len(results["search"])


def test_results_of_groups_keep_their_columns_together(xor):
    groups = {"noise": [5, 6, 7], "pair": [2, 3]}
    selector = FeatureSelector(
        searches=["backward", "linear"], models=["linear"], feature_groups=groups, cv=3,
        random_state=0,
    ).fit(*xor)  # fmt: skip
    results = selector.cv_results_
    assert results["n_features"][0] == 5  # 0, 1, 4 and two groups
    for support, size in zip(results["support"], results["n_features"], strict=True):
        kept = [columns for columns in selector.feature_columns_ if support[list(columns)].all()]
        assert len(kept) == size
        assert support.sum() == sum(map(len, kept))
    chosen = results["n_features"] == selector.certificate_.n_kept
    assert any((row == selector.support_).all() for row in results["support"][chosen])


def test_the_chosen_set_is_the_smallest_that_meets_the_budget(fitted):
    comparison, rule = fitted._record.comparison, ErrorBudget(0.05)
    meeting = [
        result.size
        for result in comparison.on_paths
        if result.meets(rule, fitted.facts_, comparison.metric)
    ]
    assert fitted.support_.sum() == min(meeting)
    sizes = [result.size for result in comparison.results.values()]
    assert sizes == fitted.cv_results_["n_features"].tolist()


def test_other_budgets_and_rules_without_fitting_again(fitted):
    sizes = [fitted.support_at(error_budget=d).sum() for d in (0.0, 0.05, 0.3, 1.0)]
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 1
    assert fitted.support_at(n_features=3).sum() == 3
    assert fitted.support_at(error_budget=FeatureCount(3)).sum() == 3
    assert fitted.support_at(error_budget=ErrorBudget(0.01, metric="log-loss")).sum() >= 2


def as_lists(selector):
    return {name: list(values) for name, values in selector.cv_results_.items()}


def test_the_same_again_with_any_number_of_jobs(xor, fitted):
    again = FeatureSelector(models=SVM, n_jobs=2, random_state=0).fit(*xor)
    np.testing.assert_equal(as_lists(again), as_lists(fitted))
    assert again.certificate_ == fitted.certificate_


def test_a_seed_repeats_itself_and_no_seed_does_not(xor):
    def errors(state):
        selector = FeatureSelector(
            searches=["linear"], models=["extra trees"], cv=3, random_state=state
        )
        return selector.fit(*xor).cv_results_["information"]

    np.testing.assert_array_equal(errors(7), errors(7))
    assert not np.array_equal(errors(None), errors(None))


def test_one_search_is_a_special_case(xor):
    alone = BackwardElimination(cv=5, models=SVM, random_state=0).fit(*xor)
    one = FeatureSelector(searches=["backward"], models=SVM, random_state=0).fit(*xor)
    np.testing.assert_array_equal(one.support_, alone.support_)
    assert one.path_.order == alone.path_.order
    assert one.certificate_ == alone.certificate_


def test_own_selectors_and_orders(xor):
    X, y = xor
    selector = FeatureSelector(
        searches=[
            ("mine", [1, 0, 5]),
            ("wide", BackwardElimination(knn=KNNSettings(n_neighbors=6))),
            LinearSelection(direction="forward"),
            "relevance",
        ],
        models=SVM,
        random_state=0,
    ).fit(X, y)
    names = {"mine", "wide", "LinearSelection", "relevance", "pruned"}
    assert set(selector.cv_results_["search"][1:]) == names
    assert np.flatnonzero(selector.support_).tolist() == [0, 1]
    assert np.isfinite(selector.path_.information).all()


@pytest.mark.parametrize(
    ("searches", "message"),
    [
        ("best", "must be a str among {'auto'} or an array-like"),
        (["sideways"], "'sideways' is none of 'forward-backward'"),
        ([], "searches is empty"),
        (["backward", "backward"], "names 'backward' twice"),
        ([BackwardElimination], "BackwardElimination'> is no search: use a name, a selector"),
        ([("mine", [])], "pair that lists columns"),
        ([3], "searches: 3 is no search"),
    ],
)
def test_searches_that_make_no_sense(xor, searches, message):
    with pytest.raises((ParameterError, ValueError), match=message):
        FeatureSelector(searches=searches).fit(*xor)


@pytest.fixture
def interrupt_in_third_step(monkeypatch):
    remove, calls = Backward.remove, []

    def interrupted(state, feature):
        calls.append(state)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return remove(state, feature)

    monkeypatch.setattr(Backward, "remove", interrupted)


@pytest.mark.usefixtures("interrupt_in_third_step")
def test_a_path_that_was_broken_off_is_not_evaluated_as_if_it_were_complete(xor):
    selector = FeatureSelector(searches=["backward"], models=["linear"])
    with pytest.raises(SearchInterrupted) as interrupted:
        selector.fit(*xor)
    assert len(interrupted.value.path.moves) == 2
    assert not hasattr(selector, "support_")


@pytest.mark.usefixtures("interrupt_in_third_step")
def test_an_interrupted_search_is_not_evaluated(xor):
    selector = BackwardElimination(cv=3, models=["linear"])
    with pytest.warns(PinskerWarning, match="was interrupted after 2 steps"):
        selector.fit(*xor)
    assert selector.cv_results_ == {}
    assert selector.certificate_.verdict == "not tested"
    assert TOO_FEW not in list(map(str, selector.notes_))


def test_rules_that_are_no_budget(xor):
    selector = FeatureSelector(error_budget=FeatureCount(3), models=SVM, random_state=0).fit(*xor)
    assert selector.support_.sum() == 3
    assert {0, 1} <= set(np.flatnonzero(selector.support_))
    assert selector.certificate_.verdict == "no budget"
    assert np.isnan(selector.certificate_.budget)
    most = FeatureSelector(FeatureCount(7), models=SVM, searches=["forward", "relevance"])
    assert most.fit(*xor).support_.sum() == 7


def test_fixed_features_and_groups(xor):
    X, y = xor
    selector = FeatureSelector(
        searches=["forward-backward", "relevance"], models=SVM, fixed_features=["bundle"],
        feature_groups={"bundle": [6, 7]}, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert np.flatnonzero(selector.support_).tolist() == [0, 1, 6, 7]
    assert selector.support_at(error_budget=1.0)[[6, 7]].all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_text(library):
    X, y = MixedKinds(n_noise=1).sample(200, seed=0)
    names = [f"c{j}" for j in range(X.shape[1])]
    kinds = [float, int, str, str, float, int, str]
    frame = library(
        {n: X[:, j].astype(k) for j, (n, k) in enumerate(zip(names, kinds, strict=True))}
    )
    selector = FeatureSelector(
        searches=["forward-backward", "linear"], models=["linear"], random_state=0
    ).fit(frame, y)
    small = selector.transform(frame)
    assert isinstance(small, library)
    assert list(small.columns) == selector.get_feature_names_out().tolist()
    assert "c2" in small.columns  # the text column with an effect of its own


def test_numbers(seed):
    X, y = selection_problems()["LinearNumbers"].sample(200, seed=seed)
    selector = FeatureSelector(
        searches=["linear", "forward"], models=["linear"], random_state=seed
    ).fit(X, y)
    assert selector.certificate_.metric == "r2"
    assert 2 <= selector.support_.sum() <= 8
    absolute = FeatureSelector(
        0.1, metric="mse", searches=["linear"], models=["linear"], random_state=seed
    ).fit(X, y)
    assert absolute.certificate_.metric == "mse"
    assert absolute.certificate_.error_all == pytest.approx(
        selector.certificate_.error_all * np.var(y), rel=1e-9
    )


def test_more_columns_than_rows():
    X, y = Clusters(n_columns=120).sample(60, seed=0)
    selector = FeatureSelector(models=SVM, random_state=0).fit(X, y)
    assert selector.support_.sum() < 60


def test_without_folds_and_with_too_few_rows(xor):
    X, y = xor
    bare = FeatureSelector(cv=0).fit(X, y)
    assert bare.cv_results_ == {}
    assert bare.certificate_.verdict == "not tested"
    assert isinstance(bare.path_, SelectionPath)
    assert TOO_FEW not in list(map(str, bare.notes_))
    few = FeatureSelector().fit(X[:9], y[:9])
    assert TOO_FEW in list(map(str, few.notes_))


def test_in_pipelines_and_searches(xor):
    X, y = xor
    selector = FeatureSelector(searches=["forward-backward"], models=SVM, random_state=0)
    pipe = make_pipeline(selector, SVC())
    search = GridSearchCV(pipe, {"featureselector__error_budget": [0.05, 0.4]}, cv=2).fit(X, y)
    assert search.best_params_ == {"featureselector__error_budget": 0.05}
    other = clone(FeatureSelector(models=[LogisticRegression()], cv=3))
    assert other.get_params()["cv"] == 3


def test_progress_is_shown_on_standard_error(xor, capsys):
    FeatureSelector(searches=["forward-backward", "relevance"], models=SVM, verbose=1).fit(*xor)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "searching 2 paths in 5 folds" in shown.err
    assert len(shown.err.splitlines()) < 8  # few lines where nothing can be rewritten


def test_a_crowd_of_columns_is_no_excuse():
    # With all 20 columns models do worse than with few; the reference is the better of the two.
    X, y = RedundantLinear(n_noise=40).sample(150, seed=1)
    selector = FeatureSelector(searches=["linear"], models=["linear"], random_state=0).fit(X, y)
    certificate = selector.certificate_
    assert certificate.excess >= certificate.increase


def test_a_class_of_one_row_leaves_folds_with_one_class():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array(["common"] * 59 + ["rare"])
    with pytest.warns(DataWarning, match="'rare'"):
        selector = FeatureSelector(random_state=0).fit(X, y)
    # "common" errs in one row of 60.
    assert selector.certificate_.verdict == "not shown to be predictable"


def test_the_bounds_hold_for_all_sets_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    # Two sizes of each path, that of the last pass among them.
    for selector, n in ((BackwardElimination(), 4), (FeatureSelector(), 12)):
        selector.set_params(cv=3, random_state=0).fit(X, y)
        text = f"3-fold cross-fitting; bounds for {n} sets and any budget at once"
        assert selector.certificate_.rows == text
        assert len(selector.cv_results_["search"]) == 1 + n  # all features are no set of a path


def test_a_metric_that_the_budget_contradicts(xor):
    selector = FeatureSelector(ErrorBudget(0.05, metric="error"), metric="brier")
    with pytest.raises(ParameterError, match=r"metric='brier', but ErrorBudget.* has another one"):
        selector.fit(*xor)


@pytest.mark.parametrize("metric", ["brier", "log-loss"])
def test_errors_are_evaluated_in_the_metric(xor, metric):
    selector = FeatureSelector(
        0.2, metric=metric, searches=["backward"], models=SVM, cv=3, random_state=0
    ).fit(*xor)
    assert selector.certificate_.metric == metric
    assert np.flatnonzero(selector.support_).tolist() == [0, 1]
    prior = {"brier": 0.5, "log-loss": np.log(2)}[metric]
    assert selector.certificate_.error_all < prior + 0.1


def test_the_metric_decides_how_an_integer_target_is_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.clip(np.round(X[:, 0]), -2, 2).astype(int)
    options = {"searches": ["linear"], "models": ["linear"], "cv": 3, "random_state": 0}
    classes = FeatureSelector(metric="error", **options).fit(X, y)
    numbers = FeatureSelector(metric="r2", **options).fit(X, y)
    assert (classes.facts_.task, numbers.facts_.task) == ("classification", "regression")
    assert (classes.certificate_.metric, numbers.certificate_.metric) == ("error", "r2")


def test_the_frame_of_a_path_names_its_features(fitted):
    frame = fitted.path_.to_frame()
    assert list(frame.columns)[:3] == ["size", "feature", "index"]
    assert set(frame["feature"]) <= {f"x{j}" for j in range(8)}


def test_the_seed_reaches_selectors_that_are_searches(xor):
    def information():
        search = BackwardElimination(knn=KNNSettings(max_samples=60))
        selector = FeatureSelector(searches=[search], models=["linear"], cv=3, random_state=0)
        return selector.fit(*xor).path_.information

    assert information() == information()


def test_a_fitted_selector_can_be_pickled(xor):
    selector = FeatureSelector(
        searches=["linear", ("mine", [1, 0]), CriterionSelection("jmi", 3)],
        models=["linear"], cv=3, random_state=0,
    ).fit(*xor)  # fmt: skip
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_equal(as_lists(again), as_lists(selector))
    np.testing.assert_equal(vars(again.certificate_), vars(selector.certificate_))
    for budget in (0.0, 0.1, 0.5):
        np.testing.assert_array_equal(
            again.support_at(error_budget=budget), selector.support_at(error_budget=budget)
        )


def test_counts_that_support_at_refuses(fitted):
    for wrong, message in ((99, "more features than there are"), (0, "an integer of at least 1")):
        with pytest.raises(ParameterError, match=message):
            fitted.support_at(n_features=wrong)
    with pytest.raises(ParameterError, match="error_budget or n_features, and not both"):
        fitted.support_at()


def test_at_another_budget_is_a_fitted_transformer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    settings = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    selector = FeatureSelector(0.02, **settings).fit(X, y)
    likely, loose = selector.at(confidence=0.5), selector.at(error_budget=0.1)
    assert likely.get_params()["confidence"] == 0.5
    assert selector.get_params()["confidence"] == 0.95
    for other, support in (
        (likely, selector.support_at(error_budget=0.02, confidence=0.5)),
        (loose, selector.support_at(error_budget=0.1)),
    ):
        assert (other.support_ == support).all()
        assert other.support_.sum() < selector.support_.sum()
        assert list(other.transform(X).columns) == list(X.columns[support])
        assert other.certificate_.n_kept == support.sum()
        assert f"{support.sum()} of 30" in other._repr_html_()
        assert other.ranking_.max() > 1
    assert (selector.at().support_ == selector.support_).all()
    with pytest.raises(ParameterError, match="the selector stops by"):
        FeatureSelector(FeatureCount(2), **settings).fit(X, y).at(error_budget=0.1)
