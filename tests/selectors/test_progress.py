"""Following a search: progress, callbacks, interrupts, and going on."""

import io
import logging
import re
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from pinsker import EngineSettings, KNNSettings
from pinsker.engine import Backward, CountTables
from pinsker.exceptions import EngineLostError, MemoryBudgetError, PinskerWarning
from pinsker.search import FeatureCount, Trace
from pinsker.selectors import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardSelection,
    LinearSelection,
    ProgressLine,
    StageLine,
)

EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearSelection])
X, y = load_wine(return_X_y=True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def trace_of(moves):
    trace = Trace((0, 1, 2, 3), [0.5])
    for move in range(moves):
        trace.record(3 - move, 0.1, 0.5 - 0.1 * (move + 1))
    return trace


def test_line_shows_where_the_search_is():
    stream = io.StringIO()
    line = ProgressLine("Search", 4, lambda nu: nu / 2, "error", stream=stream, seconds=0.0)
    line.show(trace_of(1))
    line.show(trace_of(2))
    line.finish()
    first, _, last = stream.getvalue().splitlines()
    assert first.startswith("Search: step 1, 3 features, I = 0.4000 nats, bound 0.0500 error, ")
    assert first.rstrip().endswith("left")
    assert "step 2, 2 features" in last
    ProgressLine("Search", 4, lambda nu: nu, "error", stream=stream).finish()  # nothing was seen
    assert len(stream.getvalue().splitlines()) == 3


def test_line_counts_up_when_features_are_added():
    stream = io.StringIO()
    line = ProgressLine("Search", 4, lambda nu: nu, "error", grows=True, stream=stream, seconds=0.0)
    trace = Trace((), [0.0])
    trace.record(2, 0.3, 0.3)
    line.show(trace)
    assert stream.getvalue().startswith("Search: step 1, 1 features, I = 0.3000 nats")


def test_line_is_rewritten_on_a_terminal():
    stream = Terminal()
    line = ProgressLine("Search", 4, lambda nu: nu, "error", stream=stream, seconds=0.0)
    line.show(trace_of(1))
    line.finish()
    assert stream.getvalue().count("\r") == 2
    assert stream.getvalue().endswith("\n")


def test_line_does_not_flood():
    stream = io.StringIO()
    line = ProgressLine("Search", 4, lambda nu: nu, "error", stream=stream, seconds=3600.0)
    for moves in range(1, 4):
        line.show(trace_of(moves))
    assert stream.getvalue() == ""


@EVERY
def test_verbose_writes_to_standard_error_alone(kind, capsys):
    kind(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{kind.__name__}: step ")
    kind(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_the_front_door_shows_stages_with_done_total_elapsed_and_left(capsys, monkeypatch):
    monkeypatch.setattr("pinsker.selectors._progress.StageLine.__init__.__kwdefaults__", {
        "limit": None, "stream": None, "seconds": 0.0,
    })  # fmt: skip
    searches = ["relevance", "linear"]
    FeatureSelector(searches=searches, models=["linear"], cv=3, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == ("FeatureSelector: stage 1 of 7, searching 2 paths in 3 folds, 0:00 elapsed")
    pattern = r"FeatureSelector: stage 1 of 7, searching 2 paths in 3 folds, (\d+) of 8 done, "
    rest = r"\d+:\d\d elapsed, about \d+:\d\d left of this stage$"
    found = [re.match(pattern + rest, line) for line in lines]
    assert [int(one[1]) for one in found if one] == [1, 2, 3, 4, 5, 6, 7, 8]
    # Once models were fitted, the line is about the whole fit.
    later = lines[next(k for k, line in enumerate(lines) if "evaluating relevance" in line) :]
    whole = r"FeatureSelector: stage ([3-7]) of 7, .*, \d+ % done, \S+ elapsed, roughly .* left$"
    stages = [re.match(whole, line)[1] for line in later]
    assert sorted(set(stages)) == ["3", "4", "5", "6", "7"]
    assert "importance" in lines[-1]


class Notebook:
    """Stands in for IPython with a kernel, and keeps what is displayed."""

    def __init__(self, app="IPKernelApp"):
        self.config, self.shown = {app: {}}, []

    def get_ipython(self):
        return self

    def display(self, bundle, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append([bundle])
        return self

    def update(self, bundle, *, raw):
        assert raw
        self.shown[-1].append(bundle)

    def install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "IPython", self)
        monkeypatch.setitem(sys.modules, "IPython.display", self)
        return self


@pytest.mark.parametrize("kind", [BackwardElimination, FeatureSelector])
def test_a_notebook_has_one_bar_that_fills(kind, capsys, monkeypatch):
    notebook = Notebook().install(monkeypatch)
    fast = {"searches": ["linear"], "models": ["linear"], "cv": 3}
    kind(verbose=1, **(fast if kind is FeatureSelector else {})).fit(X, y)
    assert capsys.readouterr() == ("", "")
    (bundles,) = notebook.shown  # one display, updated in place
    pattern = r'<progress value="([\d.]+)" aria-label="progress"></progress> (.*)'
    bars = [re.fullmatch(pattern, one["text/html"]) for one in bundles]
    shares = [float(bar[1]) for bar in bars]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert bars[-1][2] == f"{kind.__name__}: done"
    assert [one["text/plain"] for one in bundles] == [bar[2] for bar in bars]
    assert len(bundles) > 1


def test_ipython_in_a_terminal_gets_lines(capsys, monkeypatch):
    notebook = Notebook("TerminalIPythonApp").install(monkeypatch)
    BackwardElimination(verbose=1).fit(X, y)
    assert notebook.shown == []
    assert capsys.readouterr().err.startswith("BackwardElimination: step ")


def stage_line(monkeypatch, n_stages, **options):
    """Return a line whose clock is set by hand, with its stream."""
    clock, stream = [0.0], io.StringIO()
    monkeypatch.setattr("pinsker.selectors._progress.time.monotonic", lambda: clock[0])
    return StageLine("Fit", n_stages, stream=stream, seconds=0.0, **options), clock, stream


def test_the_time_left_is_that_of_the_whole_fit_once_a_stage_like_it_is_over(monkeypatch):
    line, clock, stream = stage_line(monkeypatch, 5)
    line.begin("searching")
    clock[0] = 30.0
    line.show(3, 6)
    clock[0] = 60.0
    line.begin("comparing models")
    clock[0] = 65.0
    line.show(1, 2)
    clock[0] = 70.0  # the search tells nothing about the four stages of models: 10 s each
    line.begin("evaluating one")
    clock[0] = 74.0
    line.show(2, 4)
    clock[0] = 95.0  # longer than those before: as long as its calls need
    line.show(3, 4)
    expected = """\
stage 1 of 5, searching, 0:00 elapsed
stage 1 of 5, searching, 3 of 6 done, 0:30 elapsed, about 0:30 left of this stage
stage 2 of 5, comparing models, 1:00 elapsed
stage 2 of 5, comparing models, 1 of 2 done, 1:05 elapsed, about 0:05 left of this stage
stage 3 of 5, evaluating one, 70 % done, 1:10 elapsed, roughly 0:30 left
stage 3 of 5, evaluating one, 74 % done, 1:14 elapsed, roughly 0:26 left
stage 3 of 5, evaluating one, 77 % done, 1:35 elapsed, roughly 0:28 left
"""
    assert stream.getvalue().replace("Fit: ", "") == expected


def test_the_time_left_ends_at_the_time_limit(monkeypatch):
    line, clock, stream = stage_line(monkeypatch, 9, limit=25.0)
    line.begin("searching")
    clock[0] = 10.0
    line.begin("comparing models")
    clock[0] = 20.0
    line.begin("evaluating one")
    assert stream.getvalue().endswith("80 % done, 0:20 elapsed, roughly 0:05 left\n")
    clock[0] = 30.0
    line.begin("evaluating two")
    assert stream.getvalue().endswith("100 % done, 0:30 elapsed, roughly 0:00 left\n")


def test_outside_of_a_terminal_lines_are_few_and_the_share_never_goes_back(monkeypatch):
    """80 lines were written in 19 s, and the share went from 79 % to 73 %."""
    clock, stream = [0.0], io.StringIO()
    monkeypatch.setattr("pinsker.selectors._progress.time.monotonic", lambda: clock[0])
    line = StageLine("Fit", 9, stream=stream)
    for stage in range(9):
        line.begin(f"stage {stage}")
        for call in range(1, 41):
            clock[0] += 0.05 * (1 + 3 * (stage % 3))
            line.show(call, 40)
    line.finish()
    lines = stream.getvalue().splitlines()
    assert 4 <= len(lines) <= 10
    shares = [
        int(found[1]) for found in (re.search(r"(\d+) % done", one) for one in lines) if found
    ]
    assert shares == sorted(shares)


def test_on_a_terminal_one_line_is_rewritten(monkeypatch):
    clock, stream = [0.0], Terminal()
    monkeypatch.setattr("pinsker.selectors._progress.time.monotonic", lambda: clock[0])
    line = StageLine("Fit", 2, stream=stream)
    line.begin("a stage of a long name")
    clock[0] = 1.0
    line.begin("short")
    line.finish()
    first, second = stream.getvalue().strip("\r\n").split("\r")
    assert len(second) == len(first)
    assert stream.getvalue().count("\n") == 1


def test_choice_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pinsker"):
        BackwardElimination().fit(X, y)
    assert "BackwardElimination: " in caplog.text
    assert " of 13 features; budget not tested" in caplog.text


class Recorder:
    """A callback that records every call, and may end the search."""

    def __init__(self, stop_after=None):
        self.calls, self.stop_after, self.sizes = [], stop_after, []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.calls.append(("end", context.task_name))
        if context.task_name == "fit":
            return False
        self.sizes.append(int(fitted_estimator.get_support().sum()))
        return len(self.sizes) == self.stop_after


@EVERY
def test_callbacks_follow_every_move(kind):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    recorder = Recorder()
    selector = kind().set_callbacks(recorder).fit(X, y)
    move = "remove" if selector.path_.direction == "backward" else "add"
    # The last removal needs no search: the empty set carries nothing.
    n_steps = len(selector.path_.moves) - (move == "remove")
    assert recorder.calls == [
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
    selector = (
        BackwardElimination(error_budget=FeatureCount(1)).set_callbacks(Recorder(4)).fit(X, y)
    )
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

    def remove(self, feature):
        if len(made) == moves:
            made.clear()
            raise KeyboardInterrupt
        made.append(feature)
        plain(self, feature)

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


def test_a_lost_engine_keeps_the_path_and_warm_start_goes_on(monkeypatch):
    selector = BackwardElimination(warm_start=True)
    plain, made = Backward.remove, []

    def remove(self, feature):
        if len(made) == 4:
            raise EngineLostError("the cluster was lost.")
        made.append(feature)
        plain(self, feature)

    with monkeypatch.context() as patch:
        patch.setattr(Backward, "remove", remove)
        with pytest.raises(EngineLostError, match=r"lost\. path_ holds the sets seen in 4 steps"):
            selector.fit(X, y)
    assert len(selector.path_.moves) == 4
    assert not selector.path_.complete
    assert selector.transform(X).shape[1] >= 9
    selector.fit(X, y)
    assert selector.path_ == BackwardElimination().fit(X, y).path_


def test_the_warning_of_an_interrupt_points_at_the_caller(monkeypatch):
    interrupt_after(monkeypatch, 3)
    with pytest.warns(PinskerWarning) as caught:
        BackwardElimination().fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_warm_start_does_not_mix_data(monkeypatch):
    selector = BackwardElimination(warm_start=True).fit(X, y)
    other = X[:, ::-1].copy()
    assert selector.fit(other, y).path_ == BackwardElimination().fit(other, y).path_
    selector.set_params(knn__n_neighbors=5)
    five = BackwardElimination(knn=KNNSettings(n_neighbors=5)).fit(X, y)
    assert selector.fit(X, y).path_ == five.path_


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
    """A callback that does not need a fitted selector."""

    def on_fit_task_end(self, estimator, context):
        self.calls.append(("end", context.task_name))


def test_callbacks_follow_every_stage_of_the_front_door():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    listener = Listener()
    FeatureSelector(cv=3, models=["linear"], random_state=0).set_callbacks(listener).fit(X, y)
    searches = ["forward-backward", "backward", "forward", "linear", "relevance"]
    stages = [
        "searching 5 paths in 3 folds",
        "comparing models",
        *[f"evaluating {name}" for name in searches],
        "a last pass",
        "certifying",
        "importance",
    ]
    assert listener.calls == [
        "setup",
        ("begin", "fit"),
        *[(what, stage) for stage in stages for what in ("begin", "end")],
        ("end", "fit"),
        "teardown",
    ]


def test_warm_start_after_a_failure_has_nothing_to_go_on_with():
    selector = BackwardElimination(engine=EngineSettings(max_memory=100), warm_start=True)
    with pytest.raises(MemoryBudgetError):
        selector.fit(X, y)
    path = selector.set_params(engine="auto").fit(X, y).path_  # AttributeError: no path_
    assert path == BackwardElimination().fit(X, y).path_


def test_warm_start_after_a_failure_does_not_take_the_path_of_other_data():
    selector = BackwardElimination(warm_start=True).fit(X, y)
    other = X[:, ::-1].copy()
    with pytest.raises(MemoryBudgetError):
        selector.set_params(engine=EngineSettings(max_memory=100)).fit(other, y)
    path = selector.set_params(engine="auto").fit(other, y).path_  # that of X
    assert path == BackwardElimination().fit(other, y).path_


def test_callbacks_follow_the_front_door_without_held_out_rows():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    listener = Listener()
    FeatureSelector(cv=0).set_callbacks(listener).fit(X, y)
    assert listener.calls[:2] == ["setup", ("begin", "fit")]
    assert listener.calls[-2:] == [("end", "fit"), "teardown"]


def test_the_warning_of_an_interrupted_criterion_points_at_the_caller(monkeypatch):
    def interrupted(tables, *groups, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(CountTables, "join", interrupted)
    with pytest.warns(PinskerWarning, match="interrupted after 0 steps") as caught:
        CriterionSelection("jmi").fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
