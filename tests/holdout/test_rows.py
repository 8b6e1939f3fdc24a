"""Which rows are held out: folds of our own, and the user's divisions."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from pinsker.encoding import encode, take_rows
from pinsker.exceptions import ParameterError
from pinsker.holdout import RowPlan, make_folds, rows_of_searches, set_search_rows_aside


def encoded(n=60, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 2.0 * y
    return encode(X, y)


def test_folds_hold_out_every_row_once_and_each_gets_its_part_of_the_classes():
    table = encoded(61)
    folds = make_folds(table, 5, seed=3)
    held_out = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(61))
    labels = table.target.labels
    for fold in folds:
        assert set(fold.train).isdisjoint(fold.test)
        assert len(fold.test) in (12, 13)
        frequency = np.bincount(labels[fold.test], minlength=3) / len(fold.test)
        # At most two rows of a class away from its frequency: a class may end in two rounds.
        np.testing.assert_allclose(frequency, np.bincount(labels) / 61, atol=2 / 12)


def test_ranges_of_a_numeric_target_are_spread_over_the_folds():
    y = np.random.default_rng(0).normal(size=100)
    table = encode(np.zeros((100, 1)) + y[:, None], y)
    for fold in make_folds(table, 5):
        # Of every five neighbors in rank one is in each fold.
        ranks = np.sort(np.argsort(np.argsort(y))[fold.test])
        assert (ranks // 5 == np.arange(20)).all()


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
    folds = make_folds(table, pairs)
    assert [len(fold.train) for fold in folds] == [19, 20]
    assert table.rows[folds[1].test].tolist() == [row for row in range(20) if row != 3]
    with pytest.raises(ParameterError, match="cv names row 99 among the held-out rows"):
        make_folds(table, [(np.arange(20), np.array([99]))])


def test_time_is_not_turned_round():
    folds = make_folds(encoded(), TimeSeriesSplit(3))
    assert len(folds) == 3
    for fold in folds:
        assert fold.train.max() < fold.test.min()


def test_rows_are_taken_as_they_are():
    table = encoded()
    rows = np.array([5, 2, 9])
    part = take_rows(table, rows)
    np.testing.assert_array_equal(part.columns.values, table.columns.values[rows])
    np.testing.assert_array_equal(part.target.labels, table.target.labels[rows])
    np.testing.assert_array_equal(part.rows, rows)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (2.5, r"cv=2.5 does not divide the rows .*: use a number of folds"),
        ("kfold", "cv='kfold' does not divide the rows"),
        (GroupKFold(4), r"as in list\(splitter.split\(X, y, groups\)\)"),
        ([], "cv holds no division of the rows"),
    ],
)
def test_divisions_that_are_none(cv, message):
    with pytest.raises(ParameterError, match=message):
        make_folds(encoded(), cv)


@pytest.mark.parametrize("n", [301, 4999])
def test_rows_that_search_are_never_held_out_and_others_once(n):
    searched, folds = set_search_rows_aside(encoded(n), 5, seed=1)
    assert len(searched) == min(n // 3, 1000)
    held_out = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort([*searched, *held_out]), np.arange(n))
    for fold in folds:
        np.testing.assert_array_equal(np.sort([*fold.train, *fold.test]), np.arange(n))
        assert abs(len(fold.test) - (n - len(searched)) / 5) < 1


def test_folds_share_a_search_only_where_rows_are_many_and_half_of_them_are_left():
    many, few = encoded(1000), encoded(999)
    for table, expected in ((many, [0, 0, 1, 1, 2]), (few, [0, 1, 2, 3, 4])):
        folds = make_folds(table, 5)
        searched, search_of_fold = rows_of_searches(folds, table.n_rows)
        assert search_of_fold == expected
        for fold, k in zip(folds, search_of_fold, strict=True):
            assert set(searched[k]).isdisjoint(fold.test)
    timed = make_folds(many, TimeSeriesSplit(4))
    assert rows_of_searches(timed, 1000)[1][:2] == [0, 1]
    assert len(rows_of_searches(make_folds(many, 2), 1000)[0]) == 2


@pytest.mark.parametrize(("n", "draws"), [(999, 1), (1000, 2), (1999, 2)])
def test_folds_of_more_rows_are_drawn_twice_with_a_search_for_two_of_them(n, draws):
    table = encoded(n)
    plan = RowPlan.of(table, 5, 0)
    held_out = np.concatenate([fold.test for fold in plan.folds])
    np.testing.assert_array_equal(np.bincount(held_out), np.full(n, draws))
    for fold, k in zip(plan.folds, plan.search_of_fold, strict=True):
        assert set(plan.searched[k]).isdisjoint(fold.test)
    assert len(plan.searched) == 5
    assert len(RowPlan.of(table, 5, 0, in_parts=False).folds) == 5


def test_folds_of_wide_tables_of_many_classes_are_drawn_once():
    rng = np.random.default_rng(0)
    labels = np.arange(1000) % 26
    for n_columns, n_folds in ((70, 10), (80, 5)):
        table = encode(rng.normal(size=(1000, n_columns)), labels)
        assert len(RowPlan.of(table, 5, 0).folds) == n_folds
