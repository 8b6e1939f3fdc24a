"""BackwardElimination and ForwardSelection: the engine against the slow search, and their rules."""

import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from oracles import search as slow
from pinsker import Certificate, EngineSettings, KNNSettings
from pinsker.encoding import encode
from pinsker.exceptions import DataError, MemoryBudgetError, ParameterError
from pinsker.search import ErrorBudget, FeatureCount, ScoreThreshold
from pinsker.selectors import (
    BackwardElimination,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
)

BOTH = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearSelection])
# Engine and oracle add the same terms in another order and precision: 24 terms of size 10.
ROUNDING = {"rtol": 0, "atol": 1e-12}
SEARCHES = {"backward": slow.backward, "forward": slow.forward}


def small_table(seed, task):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(24, 5))
    signal = x[:, 0] + x[:, 3] ** 2 + 0.3 * rng.normal(size=24)
    return x, (signal > 1).astype(int) if task == "classification" else signal


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@BOTH
def test_path_is_that_of_the_slow_search(kind, task, score, seed):
    X, y = small_table(seed, task)
    groups = {"pair": [1, 2]}
    params = {"patience": None} if kind is ForwardSelection else {}
    knn = KNNSettings(scale="none", score=score)
    metric = "error" if task == "classification" else "r2"
    selector = kind(metric=metric, feature_groups=groups, knn=knn, **params)
    path = selector.fit(X, y).path_
    target = y[:, None] * (1e200 if task == "classification" else 1.0)
    features = [[0], [1, 2], [3], [4]]
    moves, scores, known = SEARCHES[path.direction](X, features, target, score=score)
    assert list(path.moves) == moves
    np.testing.assert_allclose(path.scores, scores, **ROUNDING)
    np.testing.assert_allclose(path.information, known, **ROUNDING)
    assert path.names == ("x0", "pair", "x3", "x4")


@BOTH
def test_printed_algorithms_come_out(kind, seed):
    X, y = small_table(seed, "classification")
    params = {"patience": None} if kind is ForwardSelection else {}
    for delta in (0.0, 0.1, 0.5, 1.0):
        rule = ErrorBudget(delta, constants="paper", reference="full")
        knn = KNNSettings(score="direct", scale="none")
        selector = kind(error_budget=rule, knn=knn, **params).fit(X, y)
        direction = selector.path_.direction
        _, scores, _ = SEARCHES[direction](X, [[j] for j in range(5)], y[:, None] * 1e200,
                                           score="direct")  # fmt: skip
        expected = slow.size_as_printed(direction, scores, delta**2 / 2)
        assert selector.certificate_.n_kept == max(1, expected)


@EVERY
def test_nothing_happens_before_fit(kind):
    selector = kind(error_budget="nonsense", fixed_features=object())
    assert selector.error_budget == "nonsense"
    assert vars(clone(kind(error_budget=0.2))) == vars(kind(error_budget=0.2))


@EVERY
def test_budget_without_refitting_is_that_of_a_refit(kind):
    X, y = load_wine(return_X_y=True)
    selector = kind(error_budget=0.05).fit(X, y)
    for budget in (0.0, 0.1, 0.3):
        again = kind(error_budget=budget).fit(X, y)
        np.testing.assert_array_equal(selector.support_at(error_budget=budget), again.support_)
    assert selector.support_at(n_features=3).sum() == 3
    np.testing.assert_array_equal(
        selector.support_at(n_features=3), selector.support_at(error_budget=FeatureCount(3))
    )
    assert selector.support_at(error_budget=ScoreThreshold(1e9)).sum() in (1, 13)
    for wrong in ({}, {"error_budget": 0.1, "n_features": 1}):
        with pytest.raises(
            ParameterError, match="takes an error_budget or n_features, and not both"
        ):
            selector.support_at(**wrong)


@EVERY
def test_fitted_attributes_fit_together(kind):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = kind(error_budget=0.1).fit(X, y)
    size = selector.certificate_.n_kept
    assert selector.support_.sum() == size
    np.testing.assert_array_equal(selector.ranking_ == 1, selector.support_)
    np.testing.assert_array_equal(selector.get_support(), selector.support_)
    assert set(np.flatnonzero(selector.support_)) == set(selector.path_.set_at(size))
    assert selector.n_features_in_ == 30
    assert list(selector.feature_names_in_) == list(X.columns)
    assert list(selector.get_feature_names_out()) == list(X.columns[selector.support_])
    after = selector.path_.order[size:]
    assert list(selector.ranking_[list(after)]) == list(range(2, 2 + len(after)))
    certificate = selector.certificate_
    assert type(certificate) is Certificate
    assert certificate.bound <= 0.1
    information = selector.path_.information_at(size)
    assert certificate.information_lost == selector.path_.best_information - information
    assert certificate.verdict == "not tested"
    assert certificate.features == tuple(X.columns[j] for j in selector.path_.set_at(size))
    assert f"{size} of 30 features; budget not tested" in str(certificate)
    assert "evidence  " in str(certificate)
    assert selector.cv_results_ == {}


def test_columns_that_were_never_added_rank_last():
    X, y = load_breast_cancer(return_X_y=True)
    selector = ForwardSelection(patience=2, error_budget=FeatureCount(1)).fit(X, y)
    reached = len(selector.path_.moves)
    assert reached < 30
    assert (selector.ranking_ == reached + 1).sum() == 30 - reached
    assert selector.ranking_.max() == reached + 1


def test_exact_duplicates_go_for_nothing_and_the_earlier_stays():
    X, y = load_iris(return_X_y=True)
    doubled = np.hstack([X, np.exp(X)])  # increasing maps: the same ranks
    single = BackwardElimination(0.0).fit(X, y)
    both = BackwardElimination(0.0).fit(doubled, y)
    assert both.path_.scores[:4] == (0.0, 0.0, 0.0, 0.0)
    assert both.path_.moves[:4] == (7, 6, 5, 4)
    np.testing.assert_array_equal(both.support_, np.r_[single.support_, np.zeros(4, bool)])


@EVERY
def test_fixed_features_stay(kind):
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = kind(1.0, fixed_features=["ash", 4]).fit(X, y)
    assert list(selector.get_feature_names_out()) == ["ash", "magnesium"]
    assert selector.path_.n_fixed == 2
    grouped = kind(1.0, fixed_features=["pair"], feature_groups={"pair": ["ash", "alcohol"]}).fit(
        X, y
    )
    assert list(grouped.get_feature_names_out()) == ["alcohol", "ash"]
    with pytest.raises(
        ParameterError, match="fixed_features names column 'beer', which does not exist"
    ):
        kind(fixed_features=["beer"]).fit(X, y)


@EVERY
def test_groups_stay_or_go_as_one(kind):
    X, y = load_wine(return_X_y=True)
    labels = ["a", "a", "b", "b", "b", None, None, "c", "c", "d", "d", "d", None]
    selector = kind(0.1, feature_groups=labels).fit(X, y)
    for label in "abcd":
        assert (
            len({bool(s) for s, g in zip(selector.support_, labels, strict=True) if g == label})
            == 1
        )
    assert selector.path_.n_features == 7
    assert selector.transform(X).shape[1] == selector.support_.sum()


@BOTH
def test_threads_change_nothing(kind):
    X, y = load_wine(return_X_y=True)
    assert kind(n_jobs=1).fit(X, y).path_ == kind(n_jobs=2).fit(X, y).path_


@EVERY
def test_pickled_selectors_are_equal(kind):
    X, y = load_wine(return_X_y=True)
    selector = kind().fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    assert again.path_ == selector.path_
    np.testing.assert_equal(vars(again.certificate_), vars(selector.certificate_))  # with NaN
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))


def test_samples_are_seeded():
    X, y = load_breast_cancer(return_X_y=True)
    first, second, third = (
        BackwardElimination(knn=KNNSettings(max_samples=100), random_state=state).fit(X, y).path_
        for state in (0, np.random.RandomState(5), np.random.RandomState(5))
    )
    assert second == third
    assert first != second
    again = BackwardElimination(knn=KNNSettings(max_samples=100), random_state=0).fit(X, y)
    assert again.path_ == first


def test_without_a_seed_two_fits_differ_where_chance_matters():
    X, y = load_breast_cancer(return_X_y=True)
    sampled = BackwardElimination(knn=KNNSettings(max_samples=100))
    assert sampled.fit(X, y).path_ != sampled.fit(X, y).path_
    # All rows are measured: nothing is left to chance.
    everything = BackwardElimination()
    assert everything.fit(X, y).path_ == everything.fit(X, y).path_


def test_a_warm_start_without_a_seed_keeps_the_rows_of_the_earlier_fit():
    X, y = load_breast_cancer(return_X_y=True)
    selector = ForwardSelection(
        knn=KNNSettings(max_samples=100), max_features=3, patience=None, warm_start=True
    ).fit(X, y)
    begun = selector.path_
    path = selector.set_params(max_features=5).fit(X, y).path_
    assert path.moves[:3] == begun.moves
    assert path.information[:4] == begun.information
    assert path.full_information == begun.full_information


def test_forward_goes_on_past_gains_of_nothing():
    # Of an exclusive or neither half carries anything alone, and five columns are noise.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 7))
    y = (X[:, 2] > 0) ^ (X[:, 5] > 0)
    selector = ForwardSelection(0.1).fit(X, y)
    assert set(np.flatnonzero(selector.support_)) >= {2, 5}
    assert set(np.flatnonzero(BackwardElimination(0.1).fit(X, y).support_)) == {2, 5}


def test_forward_counts_the_full_set_among_those_seen():
    X, y = load_wine(return_X_y=True)
    path = ForwardSelection(max_features=1).fit(X, y).path_
    full = BackwardElimination().fit(X, y).path_.information[0]
    assert path.full_information == pytest.approx(full, abs=1e-12)
    assert path.best_information == max(full, path.information[1])


def test_a_count_overrules_patience():
    X, y = load_wine(return_X_y=True)
    assert (
        ForwardSelection(error_budget=FeatureCount(12), patience=1).fit(X, y).support_.sum() == 12
    )


def test_everything_may_go_is_noted():
    X, y = load_wine(return_X_y=True)
    selector = BackwardElimination(error_budget=1.0).fit(X, y)
    assert selector.support_.sum() == 1
    assert any("would let every feature go" in note for note in selector.notes_)
    assert "would let every feature go" in str(selector.certificate_)


def test_regression_keeps_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = np.sin(2 * X[:, 1]) + X[:, 4] ** 2 + 0.1 * rng.normal(size=500)
    for kind in (BackwardElimination, ForwardSelection):
        selector = kind(0.1).fit(X, y)
        assert np.flatnonzero(selector.support_).tolist() == [1, 4]
        assert selector.path_.metric == "r2"


@EVERY
def test_budgets_that_mean_nothing_fail_before_the_search(kind):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ParameterError, match=r"an error budget of 1\.5 means nothing in metric"):
        kind(error_budget=1.5).fit(X, y)
    with pytest.raises(
        ValueError, match=r"'error_budget' parameter of .* must be a float in the range"
    ):
        kind(error_budget=-0.1).fit(X, y)
    with pytest.raises(ParameterError, match="more features than there are \\(13\\): use k<=13"):
        kind(error_budget=FeatureCount(14)).fit(X, y)
    with pytest.raises(ParameterError, match="than are fixed \\(2\\): use k>=2"):
        kind(error_budget=FeatureCount(1), fixed_features=[0, 1]).fit(X, y)


def test_too_many_neighbors_and_too_little_memory():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="n_neighbors=150 needs at least 151 rows"):
        BackwardElimination(knn=KNNSettings(n_neighbors=150)).fit(X, y)
    with pytest.raises(MemoryBudgetError, match="max_memory allows 100"):
        BackwardElimination(engine=EngineSettings(max_memory=100)).fit(X, y)


def test_other_metrics():
    X, y = load_wine(return_X_y=True)
    selector = BackwardElimination(error_budget=ErrorBudget(0.1, metric="log-loss")).fit(X, y)
    assert selector.path_.metric == "log-loss"
    np.testing.assert_allclose(selector.path_.bounds, selector.path_.lost(), atol=1e-12)
    same = dataclasses.replace(selector.error_budget, metric="error")
    np.testing.assert_array_equal(
        selector.support_at(error_budget=same), BackwardElimination(0.1).fit(X, y).support_
    )


def test_what_the_engine_left_out_is_noted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] > 0).astype(int)
    assert BackwardElimination().fit(X, y).notes_ == ()
    sampled = ForwardSelection(knn=KNNSettings(max_samples=50)).fit(X, y)
    assert list(map(str, sampled.notes_)) == ["50 of 120 rows were measured, against all"]
    least = BackwardElimination().plan_memory(encode(X, y)).needed
    tight = BackwardElimination(engine=EngineSettings("local", max_memory=least)).fit(X, y)
    # What only forward needs, another copy of the columns, has room for one row's pairs.
    assert (
        "slower because memory is limited: 120 of 120 rows are measured, 1 keep" in tight.notes_[0]
    )
    assert tight.path_.plan.n_bytes <= tight.path_.plan.limit < least
    np.testing.assert_array_equal(tight.support_, BackwardElimination().fit(X, y).support_)


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, ForwardBackwardSelection])
def test_a_metric_that_the_budget_contradicts(kind):
    X, y = load_wine(return_X_y=True)
    rule = ErrorBudget(0.1, metric="error")
    with pytest.raises(ParameterError, match=r"metric='brier', but ErrorBudget.* has another one"):
        kind(rule, metric="brier").fit(X, y)
    np.testing.assert_array_equal(
        kind(rule, metric="error").fit(X, y).support_, kind(0.1).fit(X, y).support_
    )
    filled_in = kind(ErrorBudget(0.1), metric="brier").fit(X, y)
    assert filled_in.path_.metric == filled_in.certificate_.metric == "brier"
    with pytest.raises(ParameterError, match="has another one: leave one of them out"):
        filled_in.support_at(error_budget=ErrorBudget(0.1, metric="error"))


def test_the_metric_decides_how_an_integer_target_is_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.clip(np.round(2 * X[:, 0]), -4, 4).astype(int)
    for metric in ("error", "brier"):
        facts = BackwardElimination(metric=metric).fit(X, y).facts_
        assert (facts.task, facts.n_classes) == ("classification", 9)
    for metric in ("r2", "mse", "mae"):
        selector = BackwardElimination(metric=metric).fit(X, y)
        assert selector.facts_.task == "regression"
        assert selector.facts_.variance == pytest.approx(y.var())
        assert selector.path_.metric == metric
    # The metric of a budget decides as well.
    by_rule = BackwardElimination(ErrorBudget(0.1, metric="mse")).fit(X, y)
    assert by_rule.facts_.task == "regression"
    counted = BackwardElimination(FeatureCount(1), metric="r2").fit(X, y)
    assert counted.facts_.task == "regression"
    assert counted.path_.metric == "r2"


def test_a_metric_of_the_other_task_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        BackwardElimination(0.1, metric="error").fit(X, X[:, 0])
    with pytest.raises(ParameterError, match="does not fit a classification"):
        BackwardElimination().fit(X, X[:, 0] > 0).support_at(
            error_budget=ErrorBudget(0.1, metric="mse")
        )


def test_the_metric_is_that_of_bounds_and_certificate():
    X, y = load_wine(return_X_y=True)
    for metric in ("error", "brier", "log-loss"):
        selector = BackwardElimination(0.1, metric=metric).fit(X, y)
        assert selector.path_.metric == selector.certificate_.metric == metric
        rule = ErrorBudget(0.1, metric=metric)
        np.testing.assert_allclose(
            selector.path_.bounds, rule.growth(selector.path_, selector.facts_)
        )
        assert selector.certificate_.bound <= 0.1


@EVERY
def test_a_rule_in_place_of_a_budget(kind):
    X, y = load_wine(return_X_y=True)
    selector = kind(ScoreThreshold(0.05)).fit(X, y)
    assert np.isnan(selector.certificate_.budget)
    assert selector.certificate_.rule == "ScoreThreshold(nats=0.05)"
    np.testing.assert_array_equal(
        selector.support_, kind().fit(X, y).support_at(error_budget=ScoreThreshold(0.05))
    )


def test_other_random_states_start_from_scratch():
    X, y = load_breast_cancer(return_X_y=True)
    knn = KNNSettings(max_samples=100)
    selector = BackwardElimination(knn=knn, random_state=0, warm_start=True).fit(X, y)
    other = BackwardElimination(knn=knn, random_state=1).fit(X, y)
    assert selector.set_params(random_state=1).fit(X, y).path_ == other.path_
