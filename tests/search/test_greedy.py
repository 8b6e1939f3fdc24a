"""The greedy loop against the slow search, with the slow state: no engine in between."""

import numpy as np
import pytest

from oracles import search as slow
from pinsker.exceptions import EngineLostError
from pinsker.search import SearchInterrupted, Trace, grow, shrink

FEATURES = [[0], [1, 2], [3], [4]]


def problem(seed=0, n=24):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = (x[:, 0] + x[:, 3] + 0.3 * rng.normal(size=n) > 0).astype(float)[:, None] * 1e200
    return x, FEATURES, y


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("fixed", [(), (2,)])
def test_shrink_follows_the_definition(score, fixed):
    table = problem()
    state = slow.SlowBackward(*table, active=range(4), score=score)
    trace = shrink(state, Trace((0, 1, 2, 3), [state.information]), fixed=fixed)
    moves, scores, known = slow.backward(*table, score=score, forced=fixed)
    assert trace.moves == moves
    # The same sums in the same order: equal to the last bit.
    assert trace.scores == scores
    assert trace.information == known
    assert trace.complete
    assert not fixed or moves[-1] == fixed[0]


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("fixed", [(), (2,)])
def test_grow_follows_the_definition(score, fixed):
    table = problem()
    state = slow.SlowForward(*table, active=(), score=score)
    trace = grow(state, Trace((), [0.0]), n_features=4, fixed=fixed)
    moves, scores, known = slow.forward(*table, score=score, forced=fixed)
    assert (trace.moves, trace.scores, trace.information) == (moves, scores, known)
    assert not fixed or moves[0] == fixed[0]


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
        for feature in range(6):
            if (feature in self.chosen) != self.grows:
                after = self.known(frozenset(self.chosen ^ {feature}))
                out[feature] = abs(self.information - after)
        return out

    def remove(self, feature):
        self.chosen.remove(feature)

    def add(self, feature):
        self.chosen.add(feature)


class StopAfter:
    """An `on_step` that ends the search after some moves."""

    def __init__(self, moves):
        self.moves, self.seen = moves, []

    def __call__(self, trace):
        self.seen.append(len(trace.moves))
        return len(trace.moves) == self.moves


class BreakAfter(StopAfter):
    """A failure after some moves: Ctrl-C, or a cluster that is lost."""

    def __init__(self, moves, error):
        super().__init__(moves)
        self.error = error

    def __call__(self, trace):
        if super().__call__(trace):
            raise self.error


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
        ({"max_features": 2}, 2),
        ({"patience": 1, "at_least": 6}, 6),
        ({"max_features": 2, "fixed": (0, 1, 5)}, 3),
    ],
)
def test_grow_ends_where_it_should(limits, size):
    trace = grow(Scripted(count_up_to(3), (), grows=True), Trace((), [0.0]), n_features=6, **limits)
    assert len(trace.moves) == size
    assert trace.complete


def test_a_step_can_end_the_search():
    on_step = StopAfter(2)
    trace = shrink(
        Scripted(count_up_to(3), range(6)), Trace(tuple(range(6)), [3.0]), on_step=on_step
    )
    assert on_step.seen == [1, 2]
    assert len(trace.moves) == 2
    assert not trace.complete
    assert trace.broken_by is None


def broken_search(search, table, error):
    """Search with a failure after two moves; return the trace, its path and what goes on."""
    names = ("a", "b", "c", "d")
    if search == "shrink":
        state = slow.SlowBackward(*table, active=range(4))
        trace = shrink(
            state, Trace((0, 1, 2, 3), [state.information]), on_step=BreakAfter(2, error)
        )
        path = trace.path("backward", names, "difference")
        again = shrink(slow.SlowBackward(*table, active=path.last_set), Trace.resume(path))
        return trace, path, again
    state = slow.SlowForward(*table, active=())
    trace = grow(state, Trace((), [0.0]), n_features=4, on_step=BreakAfter(2, error))
    path = trace.path("forward", names, "difference")
    state = slow.SlowForward(*table, active=path.last_set)
    return trace, path, grow(state, Trace.resume(path), n_features=4)


@pytest.mark.parametrize("search", ["shrink", "grow"])
def test_an_interrupt_leaves_a_valid_trace_that_can_go_on(search):
    table = problem()
    trace, path, again = broken_search(search, table, KeyboardInterrupt())
    assert isinstance(trace.broken_by, KeyboardInterrupt)
    assert not path.complete
    assert len(path.moves) == 2
    expected = slow.backward(*table) if search == "shrink" else slow.forward(*table)
    assert (again.moves, again.scores, again.information) == expected
    assert again.complete
    with pytest.raises(SearchInterrupted) as interrupted:
        trace.finish(path)
    assert interrupted.value.path is path
    assert isinstance(interrupted.value, KeyboardInterrupt)
    assert again.finish(path) is path


@pytest.mark.parametrize("search", ["shrink", "grow"])
def test_a_lost_engine_is_raised_again_with_the_path(search):
    error = EngineLostError("the cluster was lost")
    trace, path, _ = broken_search(search, problem(), error)
    assert trace.broken_by is error
    with pytest.raises(EngineLostError) as lost:
        trace.finish(path)
    assert lost.value is error
    assert lost.value.path is path


def test_other_errors_are_not_caught():
    with pytest.raises(ZeroDivisionError):
        broken_search("shrink", problem(), ZeroDivisionError())


def test_the_beginning_of_a_trace_is_a_search_that_ended_there():
    table = problem()
    trace = grow(slow.SlowForward(*table, active=()), Trace((), [0.0]), n_features=4)
    beginning = trace.beginning(2)
    moves, scores, known = slow.forward(*table)
    assert (beginning.moves, beginning.scores) == (moves[:2], scores[:2])
    assert beginning.information == known[:3]
    assert beginning.complete
    assert len(trace.moves) == 4


def test_an_interrupt_inside_of_a_note_leaves_whole_moves():
    trace = Trace((0, 1, 2), [0.5])
    trace.record(2, 0.1, 0.4)
    trace.moves.append(1)  # as far as an interrupted note may have come
    path = trace.path("backward", ("a", "b", "c"), "difference")
    assert path.moves == (2,)
    assert path.information == (0.5, 0.4)
