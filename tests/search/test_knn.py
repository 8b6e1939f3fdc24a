"""Searches by neighbors as pure functions of a table and settings."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pinsker import EngineSettings, KNNSettings
from pinsker.datasets import Radial
from pinsker.encoding import encode
from pinsker.engine import Backward, Forward
from pinsker.exceptions import EngineLostError, ParameterError
from pinsker.search import (
    KNNSearchSettings,
    SearchInterrupted,
    backward,
    forward,
    forward_backward,
    forward_backward_and_forward,
    given_order,
    measure_sets,
    relevance,
)

SETTINGS = KNNSearchSettings(patience=5)
SEARCHES = pytest.mark.parametrize("search", [backward, forward, forward_backward])
MOVES = {backward: (Backward, "remove"), forward: (Forward, "add")}


@pytest.fixture(scope="module")
def table():
    return encode(*Radial(3, 12).sample(150, seed=1))


def fail_after(monkeypatch, engine, move, n_moves, error):
    """Let the engine fail at a move."""
    plain, made = getattr(engine, move), []

    def failing(state, feature):
        if len(made) == n_moves:
            raise error
        made.append(feature)
        plain(state, feature)

    monkeypatch.setattr(engine, move, failing)


@SEARCHES
def test_a_search_repeats_itself_and_leaves_the_problem_as_it_is(search, table):
    before = pickle.dumps(table)
    first = search(table, SETTINGS)
    assert search(table, SETTINGS) == first
    assert pickle.dumps(table) == before
    assert first.complete
    assert first.names == table.feature_names
    assert first.n_features == 12


@SEARCHES
def test_fixed_features_are_the_first_of_the_order(search, table):
    path = search(table, SETTINGS, (9, 4))
    assert set(path.order[:2]) == {4, 9}
    assert path.n_fixed == 2
    assert search(table, SETTINGS, (9, 4)) == path


@SEARCHES
def test_every_move_is_reported(search, table):
    seen = []
    path = search(table, SETTINGS, (), lambda trace: seen.append(tuple(trace.moves)))
    # The last removal needs no search: the empty set carries nothing.
    n_moves = len(path.moves) - (path.direction == "backward")
    assert seen == [path.moves[:size] for size in range(1, n_moves + 1)]
    assert search(table, SETTINGS) == path


@SEARCHES
def test_a_step_can_end_the_search_and_an_earlier_path_goes_on(search, table):
    path = search(table, SETTINGS, (), lambda trace: len(trace.moves) == 3)
    everything = search(table, SETTINGS)
    assert path.moves == everything.moves[:3]
    assert path.scores == everything.scores[:3]
    assert not path.complete
    again = search(table, SETTINGS, earlier=path)
    assert again == everything
    assert again.complete


@pytest.mark.parametrize("search", [backward, forward_backward])
def test_a_complete_path_is_not_searched_again(search, table, monkeypatch):
    path = search(table, SETTINGS)
    monkeypatch.setattr(Backward, "scores", lambda _: 1 / 0)
    monkeypatch.setattr(Forward, "scores", lambda _: 1 / 0)
    assert search(table, SETTINGS, earlier=path) is path


@pytest.mark.parametrize("search", [backward, forward])
def test_an_interrupt_carries_the_path(search, table, monkeypatch):
    everything = search(table, SETTINGS)
    with monkeypatch.context() as patch:
        fail_after(patch, *MOVES[search], 4, KeyboardInterrupt())
        with pytest.raises(SearchInterrupted) as interrupted:
            search(table, SETTINGS)
    path = interrupted.value.path
    assert isinstance(interrupted.value.__cause__, KeyboardInterrupt)
    assert path.moves == everything.moves[:4]
    assert path.information == everything.information[:5]
    assert not path.complete
    assert search(table, SETTINGS, earlier=path) == everything


@pytest.mark.parametrize("search", [backward, forward])
def test_a_lost_engine_carries_the_path(search, table, monkeypatch):
    everything = search(table, SETTINGS)
    with monkeypatch.context() as patch:
        fail_after(patch, *MOVES[search], 4, EngineLostError("the cluster was lost."))
        with pytest.raises(EngineLostError, match="the cluster was lost") as lost:
            search(table, SETTINGS)
    path = lost.value.path
    assert path.moves == everything.moves[:4]
    assert not path.complete
    assert search(table, SETTINGS, earlier=path) == everything


def test_growth_that_is_broken_off_is_no_path(table, monkeypatch):
    fail_after(monkeypatch, Forward, "add", 4, EngineLostError("the cluster was lost."))
    with pytest.raises(EngineLostError) as lost:
        forward_backward(table, SETTINGS)
    assert lost.value.path is None


def test_shrinking_that_is_broken_off_carries_the_path(table, monkeypatch):
    everything = forward_backward(table, SETTINGS)
    fail_after(monkeypatch, Backward, "remove", 2, KeyboardInterrupt())
    with pytest.raises(SearchInterrupted) as interrupted:
        forward_backward(table, SETTINGS)
    assert interrupted.value.path.moves == everything.moves[:2]
    assert interrupted.value.path.start == everything.start


@pytest.mark.parametrize(
    ("changes", "fixed"),
    [
        ({}, ()),
        ({"max_features": 7}, (39,)),
        ({"at_least": 30}, (5, 3)),
        ({"patience": 1}, ()),
        ({"patience": None, "max_features": 9}, ()),
        ({"knn": KNNSettings(n_neighbors=5, score="direct")}, ()),
    ],
)
def test_growth_that_is_shared_gives_the_paths_of_both(changes, fixed):
    table = encode(*Radial(4, 40).sample(200, seed=1))
    settings = replace(KNNSearchSettings(patience=10), **changes)
    both = forward_backward_and_forward(table, settings, fixed)
    assert both[0] == forward_backward(table, settings, fixed)
    assert both[1] == forward(table, settings, fixed)


@SEARCHES
def test_threads_and_memory_change_nothing(search, table):
    path = search(table, SETTINGS)
    assert search(table, replace(SETTINGS, n_threads=2)) == path
    small = replace(SETTINGS, engine=EngineSettings("local", max_memory=100_000))
    assert search(table, small) == path


def test_the_seed_draws_the_rows_that_are_measured(table):
    sampled = replace(SETTINGS, knn=KNNSettings(max_samples=60))
    first = backward(table, sampled)
    assert backward(table, sampled) == first
    assert backward(table, replace(sampled, seed=1)) != first
    assert list(map(str, first.plan.notes)) == ["60 of 150 rows were measured, against all"]


def test_too_many_neighbors(table):
    settings = KNNSearchSettings(KNNSettings(n_neighbors=150))
    with pytest.raises(ParameterError, match="n_neighbors=150 needs at least 151 rows"):
        backward(table, settings)


def test_relevance_orders_by_the_information_of_each_feature_alone(table):
    path = relevance(table, SETTINGS)
    alone = Forward(**SETTINGS.of_engine(table)).scores()
    assert path.scores == tuple(sorted(alone, reverse=True))
    assert [alone[feature] for feature in path.order] == list(path.scores)
    assert relevance(table, SETTINGS, (7,)).order[0] == 7


def test_the_sets_of_an_order_are_measured_when_they_are_needed(table):
    order = (3, 0, 7)
    path = given_order(table, order)
    assert path.order == order
    assert np.isnan(path.information[1:]).all()
    measured = measure_sets(path, table, SETTINGS)
    assert measured.order == order
    for size in (1, 2, 3):
        information = Forward(**SETTINGS.of_engine(table), active=order[:size]).information
        assert measured.information_at(size) == pytest.approx(information, abs=1e-12)
    assert measure_sets(measured, table, SETTINGS) is measured
