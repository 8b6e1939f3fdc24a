"""Grow, then shrink: one path made of two searches."""

import pickle

import numpy as np
import pytest

from pinsker import FeatureCount, ForwardSelection, GrowShrink
from pinsker.datasets import Radial
from pinsker.encoding import encode
from pinsker.engine import Backward, Forward, Problem
from pinsker.selection._crossfit_growth import SharedGrowth
from pinsker.selection._crossfit_routes import find_path


@pytest.fixture(scope="module")
def radial():
    return Radial(4, 40).sample(200, seed=1)


def test_it_shrinks_what_forward_grew(radial):
    X, y = radial
    path = GrowShrink(patience=5).fit(X, y).path_
    forward = ForwardSelection(patience=None).fit(X, y).path_
    grown = len(path.first_set)
    assert set(path.first_set) == set(forward.order[:grown])
    # It went on until the peak lay as many additions behind as it has features, five at least.
    information = np.array(forward.information)
    peak = int(information[: grown + 1].argmax())
    assert grown - peak == max(5, peak)
    state = Backward(Problem.of(encode(X, y)), active=path.first_set)
    for size in range(grown, 1, -1):
        assert state.information == pytest.approx(path.information_at(size), abs=1e-12)
        scores = state.scores()
        unit = path.order[size - 1]
        assert scores[unit] <= np.nanmin(scores) + 1e-12
        state.remove(unit)


def test_limits_of_growth(radial):
    X, y = radial
    assert len(GrowShrink(max_features=6).fit(X, y).path_.first_set) == 6
    assert GrowShrink(stop=FeatureCount(30)).fit(X, y).get_support().sum() == 30
    kept = GrowShrink(keep=[39], max_features=6).fit(X, y)
    assert kept.get_support()[39]
    assert kept.path_.order[0] == 39


def test_more_patience_than_columns(radial):
    X, y = radial
    path = GrowShrink(patience=100).fit(X, y).path_
    assert len(path.first_set) == 40


@pytest.mark.parametrize(
    ("settings", "forced"),
    [({}, ()), ({"max_features": 7}, (39,)), ({"stop": FeatureCount(30)}, (5, 3))],
)
def test_growth_that_is_shared_gives_the_paths_of_both(radial, settings, forced):
    table = encode(*radial)
    both = GrowShrink(**settings), ForwardSelection(**settings)
    shared = pickle.loads(pickle.dumps(SharedGrowth(*both, forced)))
    assert shared.forward(table) == find_path(ForwardSelection(**settings), table, forced)
    assert shared.grow_shrink(table) == find_path(GrowShrink(**settings), table, forced)
    assert shared.of(table) is shared.of(encode(*radial))  # the same rows, made again


def test_growing_needs_an_end(radial):
    with pytest.raises(ValueError, match="'patience' parameter of GrowShrink must be an int"):
        GrowShrink(patience=None).fit(*radial)


def test_an_interrupt_while_growing_leaves_no_path(radial, monkeypatch):
    def interrupted(state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Forward, "scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GrowShrink().fit(*radial)
