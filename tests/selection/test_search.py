"""The greedy loop against the slow search, with the slow state: no engine in between."""

import numpy as np
import pytest

from oracles import search as slow
from pinsker.selection._search import Trace, grow, shrink

UNITS = [[0], [1, 2], [3], [4]]


def problem(seed=0, n=24):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = (x[:, 0] + x[:, 3] + 0.3 * rng.normal(size=n) > 0).astype(float)[:, None] * 1e200
    return x, UNITS, y


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("forced", [(), (2,)])
def test_shrink_follows_the_definition(score, forced):
    table = problem()
    state = slow.SlowBackward(*table, active=range(4), score=score)
    trace = shrink(state, Trace((0, 1, 2, 3), [state.information]), forced=forced)
    moves, scores, known = slow.backward(*table, score=score, forced=forced)
    assert trace.moves == moves
    # The same sums in the same order: equal to the last bit.
    assert trace.scores == scores
    assert trace.information == known
    assert trace.complete
    assert not forced or moves[-1] == forced[0]


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("forced", [(), (2,)])
def test_grow_follows_the_definition(score, forced):
    table = problem()
    state = slow.SlowForward(*table, active=(), score=score)
    trace = grow(state, Trace((), [0.0]), n_features=4, forced=forced)
    moves, scores, known = slow.forward(*table, score=score, forced=forced)
    assert (trace.moves, trace.scores, trace.information) == (moves, scores, known)
    assert not forced or moves[0] == forced[0]


class Scripted:
    """A state whose information per set is written down."""

    def __init__(self, known, active, *, grows=False):
        self.known, self.chosen, self.grows = known, set(active), grows

    @property
    def active(self):
        return tuple(sorted(self.chosen))

    @property
    def information(self):
        return self.known(frozenset(self.chosen))

    def scores(self):
        out = np.full(6, np.nan)
        for unit in range(6):
            if (unit in self.chosen) != self.grows:
                out[unit] = abs(self.information - self.known(frozenset(self.chosen ^ {unit})))
        return out

    def remove(self, unit):
        self.chosen.remove(unit)

    def add(self, unit):
        self.chosen.add(unit)


class StopAfter:
    """A watch that has seen enough after some moves."""

    def __init__(self, moves):
        self.moves, self.begun = moves, 0

    def before(self):
        self.begun += 1

    def after(self, trace):
        assert self.begun == len(trace.moves)
        return len(trace.moves) == self.moves


class InterruptAfter(StopAfter):
    """Somebody at the keyboard."""

    def before(self):
        if self.begun == self.moves:
            raise KeyboardInterrupt
        super().before()

    def after(self, trace):
        return False


def count_up_to(most):
    return lambda chosen: float(min(len(chosen), most))


def test_equal_scores_keep_the_earlier_feature():
    state = Scripted(lambda chosen: float(bool(chosen & {1, 4})), range(6))
    trace = shrink(state, Trace(tuple(range(6)), [1.0]))
    assert trace.moves == [5, 4, 3, 2, 0, 1]
    state = Scripted(lambda chosen: float(bool(chosen & {1, 4})), (), grows=True)
    assert grow(state, Trace((), [0.0]), n_features=6, patience=1).moves == [1, 0]


@pytest.mark.parametrize(
    ("limits", "size"),
    [
        ({}, 6),
        ({"patience": 1}, 4),
        ({"patience": 2}, 5),
        ({"max_size": 2}, 2),
        ({"patience": 1, "at_least": 6}, 6),
        ({"max_size": 2, "forced": (0, 1, 5)}, 3),
    ],
)
def test_grow_ends_where_it_should(limits, size):
    trace = grow(Scripted(count_up_to(3), (), grows=True), Trace((), [0.0]), n_features=6, **limits)
    assert len(trace.moves) == size
    assert trace.complete


def test_listener_can_end_the_search():
    trace = shrink(
        Scripted(count_up_to(3), range(6)),
        Trace(tuple(range(6)), [3.0]),
        watch=StopAfter(2),
    )
    assert len(trace.moves) == 2
    assert not trace.complete
    assert not trace.interrupted


@pytest.mark.parametrize("search", ["shrink", "grow"])
def test_an_interrupt_leaves_a_valid_trace_that_can_go_on(search):
    table = problem()
    names = ("a", "b", "c", "d")

    if search == "shrink":
        state = slow.SlowBackward(*table, active=range(4))
        trace = shrink(state, Trace((0, 1, 2, 3), [state.information]), watch=InterruptAfter(2))
        path = trace.path("backward", names, "difference")
        again = shrink(slow.SlowBackward(*table, active=path.set_at(2)), Trace.resume(path))
        expected = slow.backward(*table)
    else:
        trace = grow(
            slow.SlowForward(*table, active=()),
            Trace((), [0.0]),
            n_features=4,
            watch=InterruptAfter(2),
        )
        path = trace.path("forward", names, "difference")
        again = grow(
            slow.SlowForward(*table, active=path.set_at(2)), Trace.resume(path), n_features=4
        )
        expected = slow.forward(*table)
    assert trace.interrupted
    assert not path.complete
    assert len(path.moves) == 2
    assert (again.moves, again.scores, again.information) == expected
    assert again.complete


def test_an_interrupt_inside_of_a_note_leaves_whole_moves():
    trace = Trace((0, 1, 2), [0.5])
    trace.record(2, 0.1, 0.4)
    trace.moves.append(1)  # as far as an interrupted note may have come
    path = trace.path("backward", ("a", "b", "c"), "difference")
    assert path.moves == (2,)
    assert path.information == (0.5, 0.4)
