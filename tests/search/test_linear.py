"""The search for linear models as a function, against least squares for every set."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from oracles import search as slow
from pinsker.encoding import encode
from pinsker.search import (
    KNNSearchSettings,
    LinearDesign,
    LinearSearchSettings,
    linear,
    named_searches,
    search_rows,
)

DIRECTIONS = pytest.mark.parametrize("direction", ["backward", "forward"])


def table(seed=0, n_rows=60, n_columns=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    y = X[:, 0] / X[:, 0].std() + X[:, 1] + rng.normal(size=n_rows)
    return X, y


@DIRECTIONS
def test_moves_are_those_of_least_squares(direction, seed):
    X, y = table(seed)
    path = linear(encode(X, y, scale="standard"), LinearSearchSettings(direction, patience=None))
    moves, left = slow.linear(direction, X, [[j] for j in range(6)], y[:, None])
    assert list(path.moves) == moves
    total = np.square(y - y.mean()).sum()
    # Both lose about cond * 1e-16.
    expected = np.array(left) / total
    np.testing.assert_allclose(np.exp(-2 * np.array(path.information)), expected, rtol=1e-7)
    assert path.score == "linear"


@DIRECTIONS
def test_it_repeats_itself_and_leaves_the_problem_as_it_is(direction):
    encoded = encode(*table(), scale="standard")
    before = pickle.dumps(encoded)
    settings = LinearSearchSettings(direction)
    assert linear(encoded, settings, (3,)) == linear(encoded, settings, (3,))
    assert pickle.dumps(encoded) == before
    assert linear(encoded, settings, (3,)).order[0] == 3


@DIRECTIONS
def test_a_step_can_end_it_and_an_earlier_path_goes_on(direction):
    encoded = encode(*table(), scale="standard")
    settings = LinearSearchSettings(direction, patience=None)
    path = linear(encoded, settings, (), lambda trace: len(trace.moves) == 2)
    everything = linear(encoded, settings)
    assert path.moves == everything.moves[:2]
    assert not path.complete
    again = linear(encoded, settings, earlier=path)
    assert again.moves == everything.moves
    np.testing.assert_allclose(again.information, everything.information, rtol=1e-12, atol=1e-15)


def test_forward_ends_as_its_settings_say():
    encoded = encode(*table(n_columns=9), scale="standard")
    settings = LinearSearchSettings("forward", max_features=2)
    assert len(linear(encoded, settings).moves) == 2
    assert len(linear(encoded, replace(settings, max_features=None, patience=None)).moves) == 9
    backward = linear(encoded, LinearSearchSettings())
    full = linear(encoded, settings).full_information
    assert full == pytest.approx(backward.information[0], rel=1e-12)


def test_more_columns_than_the_rows_carry_are_searched_forward():
    def by_name(encoded):
        _, (search,) = named_searches(["linear"], encoded, KNNSearchSettings())
        return search_rows(encoded, search)[0]

    few = encode(*table(n_rows=60, n_columns=20), scale="standard")
    assert by_name(few) == linear(few, LinearSearchSettings())
    many = encode(*table(n_rows=60, n_columns=21), scale="standard")
    path = by_name(many)
    assert path.direction == "forward"
    assert path.sizes.max() <= 20


def test_the_design_can_be_reduced_to_its_inner_products():
    X, y = table()
    design = LinearDesign.of(encode(X, y, scale="standard"))
    assert not design.is_saturated
    assert design.variance == pytest.approx(y.var())
    reduced = design.reduced()
    assert len(reduced.columns) == 7
    for one, other in ((design.columns, reduced.columns), (design.target, reduced.target)):
        np.testing.assert_allclose(one.T @ one, other.T @ other, atol=1e-10)
    facts = design.facts()
    assert (facts.task, facts.n_targets) == ("regression", 1)
    assert facts.target_range == pytest.approx(np.ptp(y))


def test_more_columns_than_rows_with_copies_among_them():
    """Lengths are updated by subtraction: copies and near copies must not look like news."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 60))
    X[:, 20:30] = X[:, :10]
    X[:, 30:40] = X[:, 10:20] + 1e-5 * rng.normal(size=(40, 10))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=40)
    encoded = encode(X, y, scale="standard")
    _, (search,) = named_searches(["linear"], encoded, KNNSearchSettings())
    (path,) = search_rows(encoded, search)
    moves, left = [], []
    total = np.square(y - y.mean()).sum()
    for _ in path.moves:
        errors = [residual(X, [*moves, j], y) for j in range(60)]
        moves.append(int(np.flatnonzero(errors <= min(errors) + 1e-9 * total)[0]))
        left.append(errors[moves[-1]] / total)
    assert list(path.moves) == moves
    np.testing.assert_allclose(np.exp(-2 * np.array(path.information[1:])), left, rtol=1e-6)


def residual(X, columns, y):
    design = np.column_stack([np.ones(len(y)), X[:, columns]])
    return np.square(y - design @ np.linalg.lstsq(design, y, rcond=1e-9)[0]).sum()
