"""Folds, the judge, trials and the cut that they lead to."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from pinsker import BackwardElimination, ForwardSelection
from pinsker.bounds import TargetFacts
from pinsker.datasets import NoisyXor
from pinsker.encoding import encode
from pinsker.exceptions import ParameterError
from pinsker.information.models import default_models
from pinsker.selection import ErrorBudget, FeatureCount, _crossfit_judge
from pinsker.selection._crossfit_folds import make_folds, take_rows
from pinsker.selection._crossfit_jobs import Jobs
from pinsker.selection._crossfit_judge import Judge
from pinsker.selection._crossfit_selector import TOO_FEW
from pinsker.selection._crossfit_trials import ALL, Trial, geometric_sizes, smallest
from pinsker.testing import RedundantLinear

LINEAR = ["linear"]


def encoded(n=60, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 2.0 * y
    return encode(X, y)


def trial(**changes):
    figures = {
        "path": "p", "size": 3, "information": 0.3, "information_error": 0.05, "lost": 0.5,
        "lost_limit": 0.6, "lost_lower": 0.4, "behind_all": -0.1, "error": 0.2,
        "error_limit": 0.25, "growth": 0.0, "growth_lower": -0.1, "growth_upper": 0.1,
        "excess": 0.05, "excess_upper": 0.2, "witness": "w", "model": "m",
    }  # fmt: skip
    return Trial(**{**figures, **changes})


def test_folds_hold_out_every_row_once_and_share_the_classes():
    table = encoded(61)
    folds = make_folds(table, 5, seed=3)
    held_out = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(61))
    labels = table.target.labels
    for fold in folds:
        assert set(fold.train).isdisjoint(fold.test)
        assert len(fold.test) in (12, 13)
        share = np.bincount(labels[fold.test], minlength=3) / len(fold.test)
        # At most two rows of a class away from its share: a class may end in two rounds.
        np.testing.assert_allclose(share, np.bincount(labels) / 61, atol=2 / 12)


def test_folds_repeat_themselves_and_depend_on_the_seed():
    table = encoded()
    first, again, other = (make_folds(table, 4, seed=seed)[0].test for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_too_few_rows_make_no_folds():
    assert make_folds(encoded(9, n_classes=2), 5) == ()
    assert make_folds(encoded(60), 0) == ()
    assert make_folds(encoded(60), 5, fewest=50) == ()
    assert len(make_folds(encoded(12, n_classes=2), 5)) == 5


def test_own_division_follows_the_rows_that_are_left():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[3, 1] = np.nan
    y = np.arange(40) % 2
    table = encode(X, y, missing="drop")
    pairs = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    folds = make_folds(table, 5, pairs)
    assert [len(fold.train) for fold in folds] == [19, 20]
    assert table.rows[folds[1].test].tolist() == [row for row in range(20) if row != 3]
    with pytest.raises(ParameterError, match="cv names row 99 among the held-out rows"):
        make_folds(table, 5, [(np.arange(20), np.array([99]))])


def test_time_is_not_turned_round():
    for fold in make_folds(encoded(), 5, TimeSeriesSplit(3)):
        assert fold.train.max() < fold.test.min()


def test_rows_are_taken_as_they_are():
    table = encoded()
    rows = np.array([5, 2, 9])
    part = take_rows(table, rows)
    np.testing.assert_array_equal(part.columns.values, table.columns.values[rows])
    np.testing.assert_array_equal(part.target.labels, table.target.labels[rows])
    np.testing.assert_array_equal(part.rows, rows)


def test_judge_equals_plain_cross_validation():
    table = encoded(90)
    folds = make_folds(table, 3)
    model = LogisticRegression(tol=1e-2)
    judge = Judge(table, folds, default_models("classification", 90)[2:], "error")
    heard = judge.hear([[(0, 2)] * 3])[0]
    values = table.columns.values[:, [0, 2]]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    labels = table.target.labels
    wrong = [
        model.fit(values[fold.train], labels[fold.train]).predict(values[fold.test])
        != labels[fold.test]
        for fold in folds
    ]
    np.testing.assert_array_equal(heard.least.losses, np.concatenate(wrong))


def test_judge_asks_nothing_twice_and_any_number_of_jobs_agrees(monkeypatch):
    table = encoded(80)
    folds = make_folds(table, 4)
    asked = []
    answers = []
    plain = _crossfit_judge.answer
    sets = [[(0, 1)] * 4, [(1, 0)] * 4, [(2,)] * 4]
    witnesses = default_models("classification", 80)
    judges = [Judge(table, folds, witnesses, "error", Jobs(n_jobs)) for n_jobs in (1, 2)]
    monkeypatch.setattr(
        _crossfit_judge, "answer", lambda *question: asked.append(question) or plain(*question)
    )
    for judge in judges:
        answers.append(judge.hear(sets))
        count = len(asked)
        judge.hear(sets)
        assert len(asked) == count
    assert len(asked) == 2 * 2 * 4 * 3
    for one, two in zip(*answers, strict=True):
        np.testing.assert_array_equal(one.most.log_likelihood, two.most.log_likelihood)


def test_useless_witnesses_are_sent_home():
    X, y = NoisyXor(n_columns=4).sample(300, seed=0)
    table = encode(X, y)
    folds = make_folds(table, 3)
    judge = Judge(table, folds, default_models("classification", 300), "error")
    judge.dismiss(judge.hear([[(0, 1, 2, 3)] * 3, [(0, 1)] * 3]))
    assert "linear" not in [witness.name for witness in judge.witnesses]
    assert judge.witnesses


def test_either_evidence_passes():
    facts = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    rule = ErrorBudget(0.05)
    assert not trial().keeps_to(rule, facts, "error")
    assert trial(excess_upper=0.05).keeps_to(rule, facts, "error")
    assert trial(lost=0.0).keeps_to(rule, facts, "error")
    # Errors measured in another unit say nothing about this budget.
    assert not trial(excess_upper=0.0).keeps_to(rule, facts, "brier")
    # A kept error known to be at most 0.25 makes room for more: Theorem C.
    assert trial(error_limit=0.25).allowed(rule, facts, "error") > 2 * 0.05**2
    # An error that is itself within the budget cannot have grown by more.
    assert trial(error_limit=0.04).keeps_to(rule, facts, "error")


def test_features_are_left_out_on_evidence_and_kept_without():
    facts = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    known = (ErrorBudget(0.05), facts, "error")
    # The best set loses nothing against itself; all features may still be better.
    assert not trial(lost=0.0, behind_all=0.05).keeps_to(*known)
    assert trial(lost=0.0, behind_all=0.001).keeps_to(*known)
    # All features stay unless a set is better by more than a standard error.
    whole = trial(path=ALL, lost=0.5, behind_all=0.0)
    assert not whole.keeps_to(*known)
    assert not whole.may_stay(*known)
    assert replace(whole, lost_lower=0.0).may_stay(*known)
    assert replace(whole, excess_upper=0.05).may_stay(*known)


def test_no_limit_rests_on_a_comparison_of_a_set_with_itself():
    X, y = NoisyXor(n_columns=4).sample(100, seed=0)
    selector = BackwardElimination(folds=3).fit(X, y)
    for one in selector.comparison_:
        assert one.excess_upper >= max(one.excess, one.growth_upper)
        assert one.lost_limit >= max(one.lost, one.behind_all)
        assert one.lost_lower <= one.lost


def test_sizes_between_many_and_all_are_asked_about():
    # Every column carries 1/130 of the variance: 100 lack 23 %, 114 12 %, and 122 lack 6 %. A
    # model of 267 rows errs by twice as much as that.
    X = np.random.default_rng(0).normal(size=(400, 130))
    selector = BackwardElimination(error_budget=0.2, folds=3, witnesses=LINEAR)
    selector.fit(X, X.sum(axis=1))
    assert sorted(one.size for one in selector.comparison_ if one.size >= 100) == [
        100, 114, 122, 130,
    ]  # fmt: skip
    assert selector.support_.sum() == 122


def test_smallest_then_most_informative():
    few = [trial(size=2, information=0.1, path="a"), trial(size=2, information=0.2, path="b")]
    assert smallest([trial(size=5), *few]).path == "b"


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
    selector = selector_type(folds=5, witnesses=LINEAR).fit(X, y)
    trials = {(one.path, one.size): one for one in selector.comparison_}
    kept = selector.path_.set_at(selector.certificate_.n_kept)
    assert {selector.feature_columns_[unit][0] for unit in kept} == set(
        np.flatnonzero(selector.support_)
    )
    chosen = trials[selector_type.__name__, selector.support_.sum()]
    assert chosen.keeps_to(ErrorBudget(0.05), selector.facts_, "error")
    assert (ALL, 20) in trials
    # The features are those of the path on all rows.
    alone = selector_type().fit(X, y)
    assert alone.path_.order == selector.path_.order
    count = selector.support_at(stop=FeatureCount(4))
    assert count.sum() == 4


def test_a_larger_budget_keeps_no_more():
    X, y = RedundantLinear().sample(300, seed=6)
    selector = BackwardElimination(folds=5, witnesses=LINEAR).fit(X, y)
    sizes = [selector.support_at(error_budget=budget).sum() for budget in (0.0, 0.02, 0.1, 0.3, 1)]
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 1


def test_few_rows_fall_back_to_the_path_with_a_note():
    X, y = NoisyXor(n_columns=3).sample(9, seed=0)
    selector = BackwardElimination(folds=5).fit(X, y)
    assert TOO_FEW in selector.notes_
    assert selector.comparison_ == ()


def test_groups_of_rows_stay_together():
    X, y = RedundantLinear(n_copies=2, n_noise=2).sample(200, seed=0)
    groups = np.arange(200) // 10
    pairs = list(GroupKFold(4).split(X, y, groups))
    selector = BackwardElimination(cv=pairs, witnesses=LINEAR).fit(X, y)
    assert selector.certificate_.n_rows == 200
    timed = BackwardElimination(cv=TimeSeriesSplit(3), witnesses=LINEAR).fit(X, y)
    assert timed.certificate_.n_rows == 150


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (5, r"cv=5 does not divide the rows .*: use folds= for a number of folds"),
        ("kfold", "cv='kfold' does not divide the rows"),
        (GroupKFold(4), r"as in list\(splitter.split\(X, y, groups\)\)"),
        ([], "cv holds no division of the rows"),
    ],
)
def test_divisions_that_are_none(cv, message):
    with pytest.raises(ParameterError, match=message):
        make_folds(encoded(), 5, cv)


def test_one_fold_would_hold_out_every_row():
    X, y = NoisyXor(n_columns=3).sample(60, seed=0)
    with pytest.raises(ValueError, match=r"among \{0\} or an int in the range \[2, inf\)"):
        BackwardElimination(folds=1).fit(X, y)


def test_the_worse_of_two_testimonies_counts():
    table = encoded(90)
    folds = make_folds(table, 3)
    judge = Judge(table, folds, default_models("classification", 90)[2:], "error")
    good, bad = judge.hear([[(0,)] * 3, [(2,)] * 3])
    for one, other in ((good, bad), (bad, good)):
        worse = one.or_worse(other)
        assert worse.most is bad.most
        assert worse.least is bad.least


def test_all_features_are_kept_when_no_other_set_will_do():
    X, y = NoisyXor(n_columns=4).sample(100, seed=0)
    selector = BackwardElimination(folds=3, witnesses=LINEAR).fit(X, y)
    poor = trial(path="BackwardElimination", size=2, lost=0.5, excess_upper=0.4, information=0.3)
    whole = trial(path=ALL, size=4, lost=0.5, lost_lower=0.0, excess_upper=0.4, information=0.2)
    trials = {(one.path, one.size): one for one in (poor, whole)}
    judgement = replace(selector._judgement, trials=trials)
    chosen, decision = judgement.choose(ErrorBudget(0.05))
    assert (chosen.path, chosen.size) == ("BackwardElimination", 4)
    assert decision.notes[0].endswith("on held-out rows; all are kept")
    neither = trials | {(ALL, 4): replace(whole, lost_lower=0.4)}
    chosen, decision = replace(judgement, trials=neither).choose(ErrorBudget(0.05))
    assert chosen is poor
    assert decision.notes[0].endswith("the one with the most information is kept")


def test_forward_search_that_is_judged_reaches_all_features():
    X, y = NoisyXor(n_columns=30).sample(80, seed=0)
    path = ForwardSelection(patience=2, folds=3, witnesses=LINEAR).fit(X, y).path_
    assert path.sizes.max() == 30
    assert ForwardSelection(patience=2).fit(X, y).path_.sizes.max() < 30
