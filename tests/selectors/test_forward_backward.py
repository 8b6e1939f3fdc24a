"""ForwardBackwardSelection: one path made of a growing and a shrinking search."""

import numpy as np
import pytest

from pinsker import FeatureCount, ForwardBackwardSelection, ForwardSelection
from pinsker.datasets import Radial
from pinsker.encoding import encode
from pinsker.engine import Backward, Forward, Problem


@pytest.fixture(scope="module")
def radial():
    return Radial(4, 40).sample(200, seed=1)


def test_it_shrinks_what_forward_grew(radial):
    X, y = radial
    path = ForwardBackwardSelection(patience=5).fit(X, y).path_
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
        feature = path.order[size - 1]
        assert scores[feature] <= np.nanmin(scores) + 1e-12
        state.remove(feature)


def test_limits_of_growth(radial):
    X, y = radial
    assert len(ForwardBackwardSelection(max_features=6).fit(X, y).path_.first_set) == 6
    assert (
        ForwardBackwardSelection(error_budget=FeatureCount(30)).fit(X, y).get_support().sum() == 30
    )
    kept = ForwardBackwardSelection(fixed_features=[39], max_features=6).fit(X, y)
    assert kept.get_support()[39]
    assert kept.path_.order[0] == 39


def test_more_patience_than_columns(radial):
    X, y = radial
    path = ForwardBackwardSelection(patience=100).fit(X, y).path_
    assert len(path.first_set) == 40


def test_growing_needs_an_end(radial):
    with pytest.raises(
        ValueError, match="'patience' parameter of ForwardBackwardSelection must be an int"
    ):
        ForwardBackwardSelection(patience=None).fit(*radial)


def test_an_interrupt_while_growing_leaves_no_path(radial, monkeypatch):
    def interrupted(state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Forward, "scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ForwardBackwardSelection().fit(*radial)
