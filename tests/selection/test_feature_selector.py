"""The front door: several paths, one judge, one set."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from pinsker import BackwardElimination, ErrorBudget, FeatureCount, FeatureSelector
from pinsker.datasets import NoisyXor
from pinsker.engine import Backward
from pinsker.exceptions import DataWarning, ParameterError, PinskerWarning
from pinsker.selection._crossfit_selector import TOO_FEW
from pinsker.testing import Clusters, MixedKinds, RedundantLinear, selection_problems

MACHINE = ["svm"]


@pytest.fixture(scope="module")
def xor():
    return NoisyXor(n_columns=8).sample(240, seed=3)


@pytest.fixture(scope="module")
def fitted(xor):
    return FeatureSelector(witnesses=MACHINE).fit(*xor)


def test_it_finds_an_interaction(fitted):
    assert np.flatnonzero(fitted.support_).tolist() == [0, 1]
    assert fitted.certificate_.verdict == "kept"
    assert fitted.certificate_.n_kept == 2


def test_every_path_and_the_whole_table_are_compared(fitted):
    paths = {trial.path for trial in fitted.comparison_}
    assert paths == {
        "all features", "grow-shrink", "backward", "forward", "linear", "relevance",
    }  # fmt: skip
    whole = fitted.comparison_[0]
    assert (whole.path, whole.size, whole.growth) == ("all features", 8, 0.0)
    most = max(trial.information for trial in fitted.comparison_)
    for trial in fitted.comparison_:
        assert trial.lost == pytest.approx(most - trial.information, abs=1e-9)
        assert trial.lost <= trial.lost_limit
        assert trial.growth_lower <= trial.growth <= trial.growth_upper
        assert trial.excess >= trial.growth - 1e-12


def test_the_chosen_set_is_the_smallest_that_passes(fitted):
    rule = ErrorBudget(0.05)
    passing = [
        trial.size
        for trial in fitted.comparison_[1:]
        if trial.keeps_to(rule, fitted.facts_, "error")
    ]
    assert fitted.support_.sum() == min(passing)


def test_other_budgets_and_rules_without_fitting_again(fitted):
    sizes = [fitted.support_at(error_budget=d).sum() for d in (0.0, 0.05, 0.3, 1.0)]
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 1
    assert fitted.support_at(stop=FeatureCount(3)).sum() == 3
    assert fitted.support_at(stop=ErrorBudget(0.01, unit="log-loss")).sum() >= 2


def test_the_same_again_with_any_number_of_jobs(xor, fitted):
    again = FeatureSelector(witnesses=MACHINE, n_jobs=2).fit(*xor)
    assert again.comparison_ == fitted.comparison_
    assert again.certificate_ == fitted.certificate_


def test_one_path_is_a_special_case(xor):
    alone = BackwardElimination(folds=5, witnesses=MACHINE).fit(*xor)
    one = FeatureSelector(paths=["backward"], witnesses=MACHINE).fit(*xor)
    np.testing.assert_array_equal(one.support_, alone.support_)
    assert one.path_.order == alone.path_.order


def test_own_selectors_and_orders(xor):
    X, y = xor
    selector = FeatureSelector(
        paths=[("mine", [1, 0, 5]), ("wide", BackwardElimination(n_neighbors=6)), "relevance"],
        witnesses=MACHINE,
    ).fit(X, y)
    assert {trial.path for trial in selector.comparison_[1:]} == {"mine", "wide", "relevance"}
    assert np.flatnonzero(selector.support_).tolist() == [0, 1]
    assert np.isfinite(selector.path_.information).all()


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("best", "must be a str among {'auto'} or an array-like"),
        (["sideways"], "'sideways' is none of 'grow-shrink'"),
        ([], "paths is empty"),
        (["backward", "backward"], "names 'backward' twice"),
        ([BackwardElimination], "BackwardElimination'> is no path: use a name, a selector"),
        ([("mine", [])], "pair that lists columns"),
        ([3], "paths: 3 is no path"),
    ],
)
def test_paths_that_make_no_sense(xor, paths, message):
    with pytest.raises((ParameterError, ValueError), match=message):
        FeatureSelector(paths=paths).fit(*xor)


@pytest.fixture
def interrupt_in_third_step(monkeypatch):
    scores, calls = Backward.scores, []

    def interrupted(state):
        calls.append(state)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return scores(state)

    monkeypatch.setattr(Backward, "scores", interrupted)


@pytest.mark.usefixtures("interrupt_in_third_step")
def test_a_path_that_was_broken_off_is_not_judged_as_if_it_were_whole(xor):
    with pytest.raises(KeyboardInterrupt):
        FeatureSelector(paths=["backward"], witnesses=["linear"]).fit(*xor)


@pytest.mark.usefixtures("interrupt_in_third_step")
def test_an_interrupted_search_is_left_without_a_judgement(xor):
    selector = BackwardElimination(folds=3, witnesses=["linear"])
    with pytest.warns(PinskerWarning, match="was interrupted after 2 steps"):
        selector.fit(*xor)
    assert selector.comparison_ == ()
    assert TOO_FEW not in selector.notes_


def test_rules_that_are_no_budget(xor):
    selector = FeatureSelector(stop=FeatureCount(3), witnesses=MACHINE).fit(*xor)
    assert selector.support_.sum() == 3
    assert {0, 1} <= set(np.flatnonzero(selector.support_))
    assert selector.certificate_.verdict == "not resolved"
    most = FeatureSelector(stop=FeatureCount(7), witnesses=MACHINE, paths=["forward", "relevance"])
    assert most.fit(*xor).support_.sum() == 7


def test_keep_and_groups(xor):
    X, y = xor
    selector = FeatureSelector(
        paths=["grow-shrink", "relevance"], witnesses=MACHINE, keep=["bundle"],
        groups={"bundle": [6, 7]},
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
    selector = FeatureSelector(paths=["grow-shrink", "linear"], witnesses=["linear"]).fit(frame, y)
    small = selector.transform(frame)
    assert isinstance(small, library)
    assert list(small.columns) == selector.get_feature_names_out().tolist()
    assert "c2" in small.columns  # the text column with an effect of its own


def test_numbers(seed):
    X, y = selection_problems()["LinearNumbers"].sample(200, seed=seed)
    selector = FeatureSelector(paths=["linear", "forward"], witnesses=["linear"]).fit(X, y)
    assert selector.certificate_.unit == "r2"
    assert 2 <= selector.support_.sum() <= 8
    absolute = FeatureSelector(
        stop=ErrorBudget(0.1, unit="mse"), paths=["linear"], witnesses=["linear"]
    ).fit(X, y)
    assert absolute.certificate_.unit == "mse"
    assert absolute.certificate_.error_all == pytest.approx(
        selector.certificate_.error_all * np.var(y), rel=1e-9
    )


def test_more_columns_than_rows():
    X, y = Clusters(n_columns=120).sample(60, seed=0)
    selector = FeatureSelector(witnesses=MACHINE).fit(X, y)
    assert selector.support_.sum() < 60


def test_without_folds_and_with_too_few_rows(xor):
    X, y = xor
    bare = FeatureSelector(folds=0).fit(X, y)
    assert bare.comparison_ == ()
    assert TOO_FEW not in bare.notes_
    few = FeatureSelector().fit(X[:9], y[:9])
    assert TOO_FEW in few.notes_


def test_in_pipelines_and_searches(xor):
    X, y = xor
    pipe = make_pipeline(FeatureSelector(paths=["grow-shrink"], witnesses=MACHINE), SVC())
    search = GridSearchCV(pipe, {"featureselector__error_budget": [0.05, 0.4]}, cv=2).fit(X, y)
    assert search.best_params_ == {"featureselector__error_budget": 0.05}
    other = clone(FeatureSelector(witnesses=[LogisticRegression()], folds=3))
    assert other.get_params()["folds"] == 3


def test_progress_is_told_on_standard_error(xor, capsys):
    FeatureSelector(paths=["grow-shrink", "relevance"], witnesses=MACHINE, verbose=1).fit(*xor)
    told = capsys.readouterr()
    assert told.out == ""
    assert "searching 2 paths in 5 folds" in told.err
    assert "judging relevance" in told.err


def test_a_crowd_of_columns_is_no_excuse():
    # With all 20 columns models do worse than with few; the yardstick is the better of the two.
    X, y = RedundantLinear(n_noise=40).sample(150, seed=1)
    selector = FeatureSelector(paths=["linear"], witnesses=["linear"]).fit(X, y)
    certificate = selector.certificate_
    assert certificate.ideal_growth >= certificate.growth


def test_a_class_of_one_row_leaves_folds_with_one_class():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array(["common"] * 59 + ["rare"])
    with pytest.warns(DataWarning, match="'rare'"):
        selector = FeatureSelector().fit(X, y)
    assert selector.certificate_.verdict == "kept"  # always saying "common" errs in one row of 60


def test_limits_are_shared_only_by_several_paths():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    alone = BackwardElimination(folds=3).fit(X, y).certificate_
    assert "share the limits" not in str(alone)
    assert "paths share the limits" in str(FeatureSelector(folds=3).fit(X, y).certificate_)
