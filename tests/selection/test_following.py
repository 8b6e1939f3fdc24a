"""Following a search: progress, callbacks, interrupts, and going on."""

import io
import logging

import numpy as np
import pytest
from sklearn.datasets import load_wine

from pinsker.engine import Backward
from pinsker.exceptions import PinskerWarning
from pinsker.selection import (
    BackwardElimination,
    FeatureCount,
    FeatureSelector,
    ForwardSelection,
    LinearElimination,
)
from pinsker.selection._search import Trace
from pinsker.selection._watch import ProgressLine, clock

EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearElimination])
X, y = load_wine(return_X_y=True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def trace_of(moves):
    trace = Trace((0, 1, 2, 3), [0.5])
    for move in range(moves):
        trace.record(3 - move, 0.1, 0.5 - 0.1 * (move + 1))
    return trace


def test_line_says_where_the_search_is():
    stream = io.StringIO()
    line = ProgressLine("Search", 4, lambda nu: nu / 2, "error", stream=stream, seconds=0.0)
    line.before()
    assert line.after(trace_of(1)) is False
    line.finish(trace_of(2))
    first, last = stream.getvalue().splitlines()
    assert first.startswith("Search: step 1, 3 features, I = 0.4000 nats, bound 0.0500 error, ")
    assert first.rstrip().endswith("left")
    assert "step 2, 2 features" in last


def test_line_is_rewritten_on_a_terminal():
    stream = Terminal()
    line = ProgressLine("Search", 4, lambda nu: nu, "error", stream=stream, seconds=0.0)
    line.after(trace_of(1))
    line.finish(trace_of(2))
    assert stream.getvalue().count("\r") == 2
    assert stream.getvalue().endswith("\n")


def test_line_does_not_flood():
    stream = io.StringIO()
    line = ProgressLine("Search", 4, lambda nu: nu, "error", stream=stream, seconds=3600.0)
    for moves in range(1, 4):
        line.after(trace_of(moves))
    assert stream.getvalue() == ""


def test_durations():
    assert [clock(s) for s in (0.4, 59.6, 3601.0)] == ["0:00", "1:00", "60:01"]


@EVERY
def test_verbose_writes_to_standard_error_alone(kind, capsys):
    kind(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{kind.__name__}: step ")
    kind(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_choice_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pinsker"):
        BackwardElimination().fit(X, y)
    assert "BackwardElimination: kept " in caplog.text


class Recorder:
    """A callback that writes down what it hears, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.heard, self.stop_after, self.sizes = [], stop_after, []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.heard.append(("end", context.task_name))
        if context.task_name == "fit":
            return False
        self.sizes.append(int(fitted_estimator.get_support().sum()))
        return len(self.sizes) == self.stop_after


@EVERY
def test_callbacks_hear_every_move(kind):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    recorder = Recorder()
    selector = kind().set_callbacks(recorder).fit(X, y)
    move = "remove" if selector.path_.direction == "backward" else "add"
    # The last removal needs no search: the empty set knows nothing.
    n_steps = len(selector.path_.moves) - (move == "remove")
    assert recorder.heard == [
        "setup",
        ("begin", "fit"),
        *[("begin", move), ("end", move)] * n_steps,
        ("end", "fit"),
        "teardown",
    ]
    assert len(recorder.sizes) == n_steps
    assert recorder.sizes[-1] >= 1


def test_a_callback_can_stop_the_search():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    selector = BackwardElimination(stop=FeatureCount(1)).set_callbacks(Recorder(4)).fit(X, y)
    assert len(selector.path_.moves) == 4
    assert not selector.path_.complete
    assert selector.support_.sum() == 9
    assert any("cut short at 9 features" in note for note in selector.notes_)


def test_the_progress_bar_of_scikit_learn_works(capsys):
    pytest.importorskip("rich")
    callback = pytest.importorskip("sklearn.callback")
    BackwardElimination().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "BackwardElimination - fit" in capsys.readouterr().out


def interrupt_after(monkeypatch, moves):
    """Press Ctrl-C while the engine makes a move."""
    plain = Backward.remove
    made = []

    def remove(self, unit):
        if len(made) == moves:
            made.clear()
            raise KeyboardInterrupt
        made.append(unit)
        plain(self, unit)

    monkeypatch.setattr(Backward, "remove", remove)


def test_an_interrupt_keeps_the_path_and_warm_start_goes_on(monkeypatch):
    selector = BackwardElimination(warm_start=True)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 5)
        with pytest.warns(PinskerWarning, match="interrupted after 5 steps: path_ holds the sets"):
            selector.fit(X, y)
    assert len(selector.path_.moves) == 5
    assert not selector.path_.complete
    assert selector.transform(X).shape[1] >= 8
    selector.fit(X, y)
    assert selector.path_ == BackwardElimination().fit(X, y).path_


def test_warm_start_does_not_mix_data(monkeypatch):
    selector = BackwardElimination(warm_start=True).fit(X, y)
    other = X[:, ::-1].copy()
    assert selector.fit(other, y).path_ == BackwardElimination().fit(other, y).path_
    selector.set_params(n_neighbors=5)
    assert selector.fit(X, y).path_ == BackwardElimination(n_neighbors=5).fit(X, y).path_


def test_warm_start_of_a_finished_search_searches_nothing(monkeypatch):
    selector = BackwardElimination(0.0, warm_start=True).fit(X, y)
    path = selector.path_
    interrupt_after(monkeypatch, 0)  # any move would fail
    selector.set_params(error_budget=0.3).fit(X, y)
    assert selector.path_ == path
    np.testing.assert_array_equal(selector.support_, selector.support_at(error_budget=0.3))


def test_forward_goes_on():
    selector = ForwardSelection(max_features=3, warm_start=True).fit(X, y)
    assert len(selector.path_.moves) == 3
    selector.set_params(max_features=None).fit(X, y)
    assert selector.path_ == ForwardSelection().fit(X, y).path_


class Listener(Recorder):
    """A callback that does not ask for a fitted selector."""

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name))


def test_callbacks_hear_every_stage_of_the_front_door():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    listener = Listener()
    FeatureSelector(folds=3, witnesses=["linear"]).set_callbacks(listener).fit(X, y)
    paths = ["grow-shrink", "backward", "forward", "linear", "relevance"]
    stages = ["searching 5 paths in 3 folds", *[f"judging {path}" for path in paths]]
    assert listener.heard == [
        "setup",
        ("begin", "fit"),
        *[(what, stage) for stage in stages for what in ("begin", "end")],
        ("end", "fit"),
        "teardown",
    ]
