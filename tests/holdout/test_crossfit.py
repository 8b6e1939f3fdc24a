"""Cross-fitting: paths searched without the rows that evaluate them, and the cut that follows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from pinsker import (
    BackwardElimination,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardSelection,
)
from pinsker.bounds import TargetFacts
from pinsker.datasets import NoisyXor
from pinsker.encoding import encode, take_rows
from pinsker.holdout import (
    ALL_FEATURES,
    FitContext,
    FoundPaths,
    RowPlan,
    SubsetResult,
    find_sizes,
    geometric_sizes,
    search_paths,
)
from pinsker.metrics import Metric
from pinsker.models import named_models
from pinsker.search import KNNSearchSettings, backward, named_searches
from tests.truths import RedundantLinear

LINEAR = ["linear"]
ERROR = Metric("error")


def results_of(selector):
    """Return what is known of every set, by search and size, from the arrays."""
    other = ("support", "cost", "features")
    arrays = {name: values for name, values in selector.cv_results_.items() if name not in other}
    arrays["size"] = arrays.pop("n_features")
    rows = [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]
    return {(row["search"], int(row["size"])): SubsetResult(**row) for row in rows}


def cross_fit(table, names, known=None, searches=None, budget=0.05, n_folds=3):
    rule, facts = ErrorBudget(budget), TargetFacts.of(table.target)
    models = named_models(LINEAR, "classification", table.n_rows, 0)
    context = FitContext(table, facts, rule, rule, models=models)
    plan = RowPlan.of(table, n_folds, 0)
    names, by_name = named_searches(names, table, KNNSearchSettings())
    return context, plan, search_paths(context, plan, searches or by_name, names, known)


def compared(context, plan, found, **options):
    return find_sizes(context, plan, context.evaluator_of(plan), found, **options)


def test_every_path_is_searched_on_all_rows_and_without_each_fold():
    table = encode(*RedundantLinear(n_copies=2, n_noise=2).sample(120, seed=0))
    _, plan, found = cross_fit(table, ["backward", "linear"])
    assert list(found.paths) == ["backward", "linear"]
    assert found.paths["backward"] == backward(table, KNNSearchSettings())
    for fold, order in zip(plan.folds, found.orders["backward"], strict=True):
        assert order == backward(take_rows(table, fold.train), KNNSearchSettings()).order


def test_a_known_path_is_not_searched_again():
    table = encode(*RedundantLinear(n_copies=2, n_noise=2).sample(120, seed=0))
    known = cross_fit(table, ["backward"])[-1].paths["backward"]
    seen = []
    names, searches = named_searches(["backward"], table, KNNSearchSettings())
    plain = searches[0].find
    counted = replace(searches[0], find=lambda encoded: seen.append(encoded) or plain(encoded))
    *_, found = cross_fit(table, names, {"backward": known}, [counted])
    assert len(seen) == 3
    assert all(part.n_rows == 80 for part in seen)
    assert found.paths["backward"] is known


def test_comparing_reports_its_stages_and_repeats_itself():
    table = encode(*RedundantLinear(n_copies=2, n_noise=2).sample(120, seed=0))
    stages = []
    first = compared(*cross_fit(table, ["backward", "linear"]), on_stage=stages.append)
    evaluating = ["evaluating backward", "evaluating linear"]
    assert stages == ["comparing models", *evaluating, "a last pass"]
    again = compared(*cross_fit(table, ["backward", "linear"]))
    assert again.results == first.results
    assert (first.n_rows, first.n_folds) == (120, 3)


@pytest.mark.parametrize("kept_is_worse", [True, False])
def test_the_worse_of_what_is_kept_and_what_the_folds_found_counts(kept_is_worse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    table = encode(X, (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int))
    orders = [("good", [0, 1, 2]), ("bad", [2, 1, 0])]
    context, plan, found = cross_fit(table, orders)
    kept, in_folds = ("bad", "good") if kept_is_worse else ("good", "bad")
    mixed = FoundPaths({"p": found.paths[kept]}, {"p": found.orders[in_folds]})
    errors = {
        name: compared(
            context, plan, FoundPaths({"p": found.paths[name]}, {"p": found.orders[name]})
        )
        .results["p", 1]
        .error
        for name in ("good", "bad")
    }
    assert errors["good"] + 0.2 < errors["bad"]
    assert compared(context, plan, mixed).results["p", 1].error == errors["bad"]


def test_no_bound_rests_on_a_comparison_of_a_set_with_itself():
    X, y = NoisyXor(n_columns=4).sample(100, seed=0)
    selector = BackwardElimination(cv=3, random_state=0).fit(X, y)
    assert len(results_of(selector)) >= 3
    for one in results_of(selector).values():
        assert one.excess_upper >= max(one.excess, one.increase_upper)
        assert one.lost_upper >= max(one.lost, one.behind_all)
        assert one.lost_lower <= one.lost


def test_sizes_between_many_and_all_are_evaluated():
    # Every column carries 1/130 of the variance: 108 lack 17 %, 118 9 %, and 128 lack 2 %. A
    # model of 267 rows errs by twice as much as that. 118 and 128 are close enough.
    X = np.random.default_rng(0).normal(size=(400, 130))
    selector = BackwardElimination(error_budget=0.2, cv=3, models=LINEAR, random_state=0)
    selector.fit(X, X.sum(axis=1))
    sizes = selector.cv_results_["n_features"]
    assert sorted(sizes[sizes >= 100].tolist()) == [108, 118, 128, 129, 130]
    assert selector.support_.sum() == 128


def test_sizes_from_coarse():
    sizes = geometric_sizes(3, 1000)
    assert sizes[0] == 3
    assert sizes[-1] == 1000
    assert (np.diff(sizes) > 0).all()
    assert len(sizes) < 18
    assert geometric_sizes(4, 4) == [4]


@pytest.mark.parametrize("selector_type", [BackwardElimination, ForwardSelection])
def test_the_papers_algorithms_with_held_out_rows(selector_type):
    X, y = RedundantLinear().sample(300, seed=5)
    selector = selector_type(cv=5, models=LINEAR, random_state=0).fit(X, y)
    results = results_of(selector)
    kept = selector.path_.set_at(selector.certificate_.n_kept)
    assert {selector.feature_columns_[feature][0] for feature in kept} == set(
        np.flatnonzero(selector.support_)
    )
    # The last pass may find a smaller set: a path of its own, of features of the other.
    alone = selector_type(random_state=0).fit(X, y)
    is_pruned = selector.path_.order != alone.path_.order
    search = "pruned" if is_pruned else selector_type.__name__
    chosen = results[search, selector.support_.sum()]
    assert chosen.meets(ErrorBudget(0.05), selector.facts_, ERROR)
    assert (ALL_FEATURES, 20) in results
    # The features are those of the path on all rows.
    size = len(selector.path_.order)
    assert set(alone.path_.order[:size]) == set(selector.path_.order)
    assert selector.support_at(n_features=4).sum() == 4


def test_a_larger_budget_keeps_no_more():
    X, y = RedundantLinear().sample(300, seed=6)
    selector = BackwardElimination(cv=5, models=LINEAR, random_state=0).fit(X, y)
    sizes = [selector.support_at(error_budget=budget).sum() for budget in (0.0, 0.02, 0.1, 0.3, 1)]
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 1


def test_few_rows_fall_back_to_the_path_with_a_note():
    X, y = NoisyXor(n_columns=3).sample(9, seed=0)
    selector = BackwardElimination(cv=5).fit(X, y)
    assert any("too few rows to hold any out" in note for note in selector.notes_)
    assert selector.cv_results_ == {}
    assert selector.certificate_.verdict == "not tested"


def test_groups_of_rows_stay_together():
    X, y = RedundantLinear(n_copies=2, n_noise=2).sample(200, seed=0)
    groups = np.arange(200) // 10
    pairs = list(GroupKFold(4).split(X, y, groups))
    selector = BackwardElimination(cv=pairs, models=LINEAR, random_state=0).fit(X, y)
    assert selector.certificate_.n_rows == 200
    timed = BackwardElimination(cv=TimeSeriesSplit(3), models=LINEAR, random_state=0).fit(X, y)
    assert timed.certificate_.n_rows == 150
    assert timed.certificate_.rows.startswith("3-fold cross-fitting; ")


def test_one_fold_would_hold_out_every_row():
    X, y = NoisyXor(n_columns=3).sample(60, seed=0)
    with pytest.raises(ValueError, match=r"among \{0\}.* an int in the range \[2, inf\)"):
        BackwardElimination(cv=1).fit(X, y)


def test_forward_search_that_is_evaluated_reaches_all_features():
    X, y = NoisyXor(n_columns=30).sample(80, seed=0)
    path = ForwardSelection(patience=2, cv=3, models=LINEAR, random_state=0).fit(X, y).path_
    assert path.sizes.max() == 30
    assert ForwardSelection(patience=2).fit(X, y).path_.sizes.max() < 30


def test_sets_far_from_the_budget_are_not_evaluated_on_all_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8))
    y = (X[:, 0] + X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=1500) > 0).astype(int)
    context, plan, found = cross_fit(encode(X, y), ["linear"], budget=0.02, n_folds=5)
    evaluator, fitted = context.evaluator_of(plan), []
    plain = evaluator.evaluate

    def counted(candidates):
        fitted.extend((len(sets[0]), len(sets)) for sets in candidates if len(sets[0]) < 3)
        return plain(candidates)

    evaluator.evaluate = counted
    comparison = find_sizes(context, plan, evaluator, found)
    assert comparison.choose(ErrorBudget(0.02))[0].size == 3
    assert set(fitted) == {(1, 1), (2, 1)}  # on the first fold alone: it has 300 rows
    assert min(size for _, size in comparison.results) == 3


def test_many_rows_are_searched_once_by_rows_that_evaluate_nothing():
    X, y = RedundantLinear(n_copies=2, n_noise=2).sample(2000, seed=0)
    seen = []

    class Watched(BackwardElimination):
        def as_search(self, fixed, seed):
            plain = super().as_search(fixed, seed)
            find = lambda table: seen.append(table.n_rows) or plain.find(table)  # noqa: E731
            return replace(plain, find=find)

    selector = FeatureSelector(0.05, searches=[Watched()], models=LINEAR, random_state=0)
    certificate = selector.fit(X, y).certificate_
    assert seen == [666]
    assert certificate.n_rows == 2000 - 666
    assert certificate.verdict == "met"
    assert any("of 2000 rows 666 ordered the features" in note for note in selector.notes_)
    seen.clear()
    FeatureSelector(0.05, searches=[Watched()], models=LINEAR, cv=KFold(3)).fit(X, y)
    assert len(seen) == 4  # all rows, and without each fold: a splitter divides as it says


def test_a_path_without_an_evaluated_set_can_be_cut():
    """Where the first folds show every size of a path to be far from the budget, none is known."""
    table = encode(*RedundantLinear(n_copies=2, n_noise=2).sample(120, seed=0))
    comparison = compared(*cross_fit(table, ["backward", "linear"], budget=0.1))
    results = {
        key: one for key, one in comparison.results.items() if key[0] not in ("linear", "pruned")
    }
    chosen, decision = replace(comparison, results=results).choose(FeatureCount(1))
    assert (chosen.search, decision.size) == ("backward", 1)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_sizes_for_the_picture_change_no_figure(monkeypatch, task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12))
    signal = X[:, :4] @ [2.0, 1.5, 1.0, 0.5] + rng.normal(size=700)
    y = (signal > 0).astype(int) if task == "classes" else signal
    settings = {"error_budget": 0.05, "models": LINEAR, "random_state": 0}
    with_more = FeatureSelector(**settings).fit(X, y)
    monkeypatch.setattr("pinsker.holdout._sizes.SizeSearch.look_at_more", lambda *_: None)
    without = FeatureSelector(**settings).fit(X, y)
    assert repr(results_of(with_more)) == repr(results_of(without))  # NaN is not NaN
    for name in ("certificate_", "importance_", "front_"):
        assert repr(vars(with_more)[name]) == repr(vars(without)[name])
    more, fewer = (set(one.cv_results_.rough) for one in (with_more, without))
    assert more >= fewer
    assert all(np.isfinite(one.increase) for one in more)
    least = {one.n_features: one.increase for one in more}
    assert least[1] > 0.05  # one column of four
