"""The kernels read memory by sizes and numbers: nothing wrong may reach them.

Each of these ended in a segmentation fault, a double free, or a read past the end of an array.
"""

import numpy as np
import pytest

from pinsker.engine import (
    Backward,
    Forward,
    Problem,
    box_counts,
    class_probabilities,
    mean_values,
    neighbor_counts,
)
from pinsker.exceptions import DataError, ParameterError

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(np.int64)
TREES = {"n_trees": 2, "min_leaf": 1, "n_candidates": 1, "seed": 0}


@pytest.mark.parametrize(
    "given",
    [
        {"labels": Y[:10]},
        {"labels": Y.astype(float)},
        {"labels": Y[:, None]},
        {"target": X[:10, :1]},
        {"target": np.full((40, 1), np.nan)},
        {"labels": Y, "target": X[:, :1]},
        {},
        {"labels": Y, "features": np.array([0, 1])},
        {"labels": Y, "features": np.array([0, -1, 1])},
        {"labels": Y, "features": np.array([0, 2, 2])},
        {"labels": Y, "features": np.array([0.0, 1.0, 2.0])},
    ],
)
def test_problems_that_do_not_fit_together_are_refused(given):
    with pytest.raises(DataError):
        Problem.from_arrays(X, **given)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_values_are_finite(wrong):
    values = X.copy()
    values[7, 1] = wrong
    with pytest.raises(DataError, match="row 7, column 1"):
        Problem.from_arrays(values, labels=Y)


@pytest.mark.parametrize("values", [X[:0], X[:, :0], X[:, 0], X[None]])
def test_tables_have_rows_and_columns(values):
    with pytest.raises(DataError):
        Problem.from_arrays(values, labels=Y)


def test_labels_may_be_any_integers():
    plain = Backward(Problem.from_arrays(X, labels=Y)).scores()
    for labels in (2 * Y - 1, Y * 10**12, Y.astype(bool), Y.astype(np.uint8)):
        np.testing.assert_array_equal(
            Backward(Problem.from_arrays(X, labels=labels)).scores(), plain
        )


@pytest.mark.parametrize("search", [Backward, Forward])
@pytest.mark.parametrize(
    "given",
    [
        {"n_threads": -1},
        {"n_threads": 0},
        {"n_threads": 1.5},
        {"n_neighbors": 0},
        {"n_neighbors": -3},
        {"active": [3]},
        {"active": [-1]},
    ],
)
def test_searches_refuse_what_they_cannot_do(search, given):
    with pytest.raises(ParameterError, match=r"=-?\d"):
        search(Problem.from_arrays(X, labels=Y), **given)


@pytest.mark.parametrize("feature", [-1, 3, 1.0, True, "a"])
def test_steps_name_a_feature_that_is_there(feature):
    problem = Problem.from_arrays(X, labels=Y)
    with pytest.raises(ParameterError, match="feature="):
        Backward(problem).remove(feature)
    with pytest.raises(ParameterError, match="feature="):
        Forward(problem).add(feature)


@pytest.mark.parametrize("more", [1, 39, 10_000])
def test_more_neighbors_than_rows_are_all_rows(more):
    search = Backward(Problem.from_arrays(X, labels=Y), n_neighbors=more)
    assert np.isfinite(search.scores()).all()


def test_neighbor_counts_of_spaces_that_do_not_fit():
    none = np.empty((40, 0))
    for x, y, z in ((X, X[:10], none), (X, X, none[:10]), (X[:, 0], X, none)):
        with pytest.raises(DataError):
            neighbor_counts(x, y, z, k=3)
    with pytest.raises(ParameterError, match="k=0"):
        neighbor_counts(X, X, none, k=0)
    with pytest.raises(ParameterError, match="n_threads=-1"):
        neighbor_counts(X, X, none, k=3, n_threads=-1)
    with pytest.raises(ParameterError, match="strategy="):
        neighbor_counts(X, X, none, k=3, strategy="guess")
    with pytest.raises(DataError, match="radius"):
        box_counts(X, X, none, radius=np.ones(10))


def test_trees_check_their_rows():
    for labels in (Y[:10], Y - 1, Y + 1):
        with pytest.raises(DataError):
            class_probabilities(X, labels, X, 2, **TREES)
    with pytest.raises(DataError):
        class_probabilities(X, Y, X[:, :2], 2, **TREES)
    with pytest.raises(DataError):
        mean_values(X, X[:10, 0], X, **TREES)
    with pytest.raises(ParameterError, match="n_trees=0"):
        mean_values(X, X[:, 0], X, **{**TREES, "n_trees": 0})


@pytest.mark.parametrize("cells", [np.array([["a"]]), np.array([[1j]]), [[1], [1, 2]], [[None]]])
def test_what_is_no_number_is_refused_in_our_words(cells):
    calls = (
        lambda: Problem.from_arrays(cells, labels=Y),
        lambda: Problem.from_arrays(X, target=cells),
        lambda: neighbor_counts(X, cells, X, k=3),
        lambda: box_counts(X, X, X, radius=cells),
        lambda: mean_values(cells, Y, X, **TREES),
        lambda: mean_values(X, cells, X, **TREES),
        lambda: class_probabilities(X, cells, X, 2, **TREES),
    )
    for call in calls:
        with pytest.raises(DataError):
            call()
