"""The greedy search: one loop for both directions and every way of scoring, with a time limit.

Nothing here knows scikit-learn, neighbors or matrices. A `State` scores all candidates of a set and
makes the move that the loop picks; `shrink` and `grow` are the loop with the paper's two ends.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import Fields, FloatArray, TableLike
from pinsker.exceptions import EngineLostError
from pinsker.search._path import ROUNDING, Direction, SelectionPath


class State(Protocol):
    """A set of features, and the score of every move from it."""

    @property
    def information(self) -> float:
        """I(Y; X_S) of the current set, in nats."""

    @property
    def active(self) -> tuple[int, ...]:
        """The current set."""

    def scores(self) -> FloatArray:
        """Return the score of every candidate in nats, NaN for the others."""


class ShrinkingState(State, Protocol):
    """A state that features are removed from."""

    def remove(self, feature: int) -> None:
        """Take a feature out of the set."""


class GrowingState(State, Protocol):
    """A state that features are added to."""

    def add(self, feature: int) -> None:
        """Put a feature into the set."""


class SearchInterrupted(KeyboardInterrupt):
    """A search was interrupted from the keyboard; `path` holds the sets seen so far."""

    def __init__(self, path: SelectionPath) -> None:
        super().__init__()
        self.path = path


@dataclass
class Trace:
    """What a running search has seen: the raw material of a path."""

    start: tuple[int, ...]  # the set before the first move
    information: list[float]  # I(Y; X_S) of that set and after each move, in nats
    moves: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    complete: bool = False  # whether the search came to its own end
    broken_by: KeyboardInterrupt | EngineLostError | None = None

    @classmethod
    def resume(cls, path: SelectionPath) -> "Trace":
        """Return the trace of a path that shall go on."""
        return cls(path.first_set, list(path.information), list(path.moves), list(path.scores))

    def record(self, feature: int, score: float, information: float) -> None:
        """Note a move that was made."""
        self.moves.append(int(feature))
        self.scores.append(float(score))
        self.information.append(float(information))

    def beginning(self, n_moves: int) -> "Trace":
        """Return the first moves alone, as a search that ended there."""
        return Trace(
            self.start,
            self.information[: n_moves + 1],
            self.moves[:n_moves],
            self.scores[:n_moves],
            complete=True,
        )

    def path(
        self, direction: Direction, names: Sequence[str], score: str, **known: Any
    ) -> SelectionPath:
        """Return what was seen as a path; `known` are further fields of it."""
        made = len(self.information) - 1  # noted last: an interrupt may fall between the notes
        return SelectionPath(
            direction=direction,
            names=tuple(names),
            moves=tuple(self.moves[:made]),
            scores=tuple(self.scores[:made]),
            information=tuple(self.information),
            start=self.start,
            score=score,
            complete=self.complete,
            **known,
        )

    def finish(self, path: SelectionPath) -> SelectionPath:
        """Return the path of a search that ended, or raise what broke it off, with the path."""
        if isinstance(self.broken_by, EngineLostError):
            self.broken_by.path = path
            raise self.broken_by
        if self.broken_by is not None:
            raise SearchInterrupted(path) from self.broken_by
        return path


#: Called after every move with what the search has seen; a true answer ends the search.
OnStep: TypeAlias = Callable[[Trace], bool | None]


def greedy(
    state: Any,
    trace: Trace,
    direction: Direction,
    n_moves: int,
    *,
    fixed: Sequence[int] = (),
    is_over: Callable[[Trace], bool] | None = None,
    is_nothing: Callable[[float], bool] | None = None,
    on_step: OnStep | None = None,
) -> Trace:
    """Move the best feature until `n_moves` are made or nothing is left to do."""
    move = state.remove if direction == "backward" else state.add
    try:
        while len(trace.moves) < n_moves and not (is_over is not None and is_over(trace)):
            scores = state.scores()
            waiting = _fixed_ones(scores, fixed, direction)
            feature = _best(scores if waiting is None else waiting, direction)
            if is_nothing is not None and waiting is None and is_nothing(scores[feature]):
                break
            move(feature)
            trace.record(feature, scores[feature], state.information)
            if on_step is not None and on_step(trace):
                return trace
        trace.complete = True
    except (KeyboardInterrupt, EngineLostError) as error:
        trace.broken_by = error
    return trace


def shrink(
    state: ShrinkingState, trace: Trace, *, fixed: Sequence[int] = (), on_step: OnStep | None = None
) -> Trace:
    """Remove the feature with the smallest score until none is left, those of `fixed` last."""
    greedy(state, trace, "backward", len(trace.start) - 1, fixed=fixed, on_step=on_step)
    if trace.complete and len(trace.moves) < len(trace.start):  # no feature, no information
        trace.record(state.active[0], state.information, 0.0)
    return trace


def grow(
    state: GrowingState,
    trace: Trace,
    *,
    n_features: int,
    fixed: Sequence[int] = (),
    patience: int | None = None,
    at_least: int = 0,
    max_features: int | None = None,
    is_over: Callable[[Trace], bool] | None = None,
    on_step: OnStep | None = None,
) -> Trace:
    """Add the feature with the largest score; features in `fixed` come first."""
    most = min(n_features, max(len(fixed), max_features or n_features))

    def ends(seen: Trace) -> bool:
        if is_over is not None and is_over(seen):
            return True
        size = len(seen.start) + len(seen.moves)
        return size >= max(len(fixed), at_least) and has_stalled(seen, patience)

    n_moves = most - len(trace.start)
    return greedy(state, trace, "forward", n_moves, fixed=fixed, is_over=ends, on_step=on_step)


def has_stalled(trace: Trace, patience: int | None) -> bool:
    """Return whether the information has not risen for so many moves."""
    if patience is None:
        return False
    best = int(np.argmax(np.asarray(trace.information) >= max(trace.information) - ROUNDING))
    return len(trace.information) - 1 - best >= patience


def _fixed_ones(
    scores: FloatArray, fixed: Sequence[int], direction: Direction
) -> FloatArray | None:
    """Return the scores that `fixed` leaves to choose from; None where it says nothing."""
    if not fixed:
        return None
    left = scores.copy() if direction == "backward" else np.full_like(scores, np.nan)
    left[list(fixed)] = np.nan if direction == "backward" else scores[list(fixed)]
    return None if np.isnan(left).all() else left


def _best(scores: FloatArray, direction: Direction) -> int:
    """Return the last of the smallest scores, or the first of the largest, up to rounding."""
    best = float(np.nanmin(scores) if direction == "backward" else np.nanmax(scores))
    reach = ROUNDING * max(1.0, abs(best))
    if direction == "backward":
        return int(np.flatnonzero(scores <= best + reach)[-1])
    return int(np.flatnonzero(scores >= best - reach)[0])


#: Set by the first Ctrl-C where `interruptible` is in force; else None.
_interrupt: threading.Event | None = None


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Let the first Ctrl-C end fits in this block as a time limit does, and the second raise."""
    global _interrupt
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def end(number: int, frame: TableLike) -> None:
        if event.is_set():
            signal.default_int_handler(number, frame)
        event.set()

    before = signal.signal(signal.SIGINT, end)
    _interrupt = event
    try:
        yield event
    finally:
        _interrupt = None
        signal.signal(signal.SIGINT, before)


class TimeIsUp(Exception):  # noqa: N818 (no error: what it ends is left out)
    """A search was given up because the time of a fit is up."""


class Deadline:
    """When a fit has to end, and what was left out for it."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.part = math.inf
        self.left_out: list[str] = []
        self.interrupt = _interrupt
        self.must_finish = False

    def __getstate__(self) -> Fields:
        # The clock of another machine is another one: a search there is finished.
        return {**self.__dict__, "seconds": None, "interrupt": None}

    @property
    def is_interrupted(self) -> bool:
        """Whether a user wants the fit to end."""
        return self.interrupt is not None and self.interrupt.is_set()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        if self.is_interrupted:
            return not self.must_finish
        if self.seconds is None or math.isinf(self.part):
            return False
        return time.monotonic() - self.started >= self.part * self.seconds

    def skips(self, what: str) -> bool:
        """Return whether there is no time for something, and note what it was."""
        if self.is_over:
            self.left_out.append(what)
            return True
        return False

    @contextmanager
    def leaving_out(self, what: str) -> Iterator[None]:
        """Note what was given up in a block, instead of raising `TimeIsUp`."""
        try:
            yield
        except TimeIsUp:
            self.left_out.append(what)

    def checked(self, on_step: OnStep | None) -> OnStep | None:
        """Return what a search calls after every move; it raises `TimeIsUp` when it is."""
        if self.seconds is None and self.interrupt is None:
            return on_step

        def check(trace: Trace) -> bool | None:
            if self.is_over:
                raise TimeIsUp
            return None if on_step is None else on_step(trace)

        return check

    @property
    def notes(self) -> Notes:
        """What a user should know."""
        if not self.left_out:
            return ()
        left_out = ", ".join(dict.fromkeys(self.left_out))
        if self.is_interrupted:
            return (Note("interrupted", figures={"left_out": left_out}),)
        return (Note("time limit", figures={"seconds": self.seconds, "left_out": left_out}),)
