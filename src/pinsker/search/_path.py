"""What a search returns, a path of nested feature sets, and the greedy loop that finds one.

The loop is one for both directions and every way of scoring, with a time limit. Nothing here knows
scikit-learn, neighbors or matrices. A `State` scores all candidates of a set and makes the move
that the loop picks; `shrink` and `grow` are the loop with the paper's two ends.
"""

import dataclasses
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np

from pinsker._compat import table_of
from pinsker._notes import Note, Notes
from pinsker._types import Fields, FloatArray, IntArray, TableLike, Unchecked
from pinsker.exceptions import EngineLostError, ParameterError

Direction = Literal["backward", "forward"]
Reference = Literal["best", "full"]

#: Differences of information below this many nats are rounding.
ROUNDING = 1e-12

#: The version that `to_json` writes; version 1 was that of pinsker 0.1.
_SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One removal or addition."""

    size: int  # number of features in the set after the step
    feature: str  # name of the feature that was removed or added
    index: int  # its position among ``path.names``
    score: float  # what the search saw in it: the information it carries beyond the others, in nats
    information: float  # I(Y; X_S) of that set, in nats
    lost: float  # information of the best set seen minus that of this one, in nats
    spent: float  # sum of the scores so far, each clipped at zero, in nats
    bound: float  # largest increase of the Bayes risk that `lost` allows, in the path's metric


@dataclass(frozen=True)
class SelectionPath:
    """Nested feature sets in the order in which a greedy search met them.

    Read the same way for both directions: the set of ``s`` features is ``order[:s]``, for every
    size ``s`` in `sizes`. A feature is what is kept or dropped as one: a column, or a group.

    Examples
    --------
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.1, 0.6), (0.7, 0.7, 0.6, 0.0)
    ... )
    >>> path
    SelectionPath(backward, 3 features, 3 steps, best: 2 features with 0.7000 nats)
    >>> path.order, path.set_at(2)
    ((1, 0, 2), (1, 0))
    >>> path.lost().round(2).tolist()
    [0.0, 0.0, 0.1, 0.7]
    """

    direction: Direction  # whether the moves remove or add
    names: tuple[str, ...]  # of all features that the search was given, kept or not
    moves: tuple[int, ...]  # features in the order of their removal or addition
    scores: tuple[float, ...]  # one per move, in nats
    information: tuple[float, ...]  # I(Y; X_S) before the first move and after each, in nats
    start: tuple[int, ...] | None = None  # the set before the first move; None: all, or none
    score: str = "difference"  # how the search scored
    full_information: float | None = None  # of all features, where known and not on the path
    bounds: tuple[float, ...] = ()  # increase of the Bayes risk that each set allows
    metric: str = ""  # of `bounds`
    n_fixed: int = 0  # features that may not be dropped; they come first in `order`
    complete: bool = True  # False when the search was cut short and could go on
    #: Which rows a search by neighbors measured, and how it used memory; not saved
    plan: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.start is None:
            everything = tuple(range(len(self.names)))
            object.__setattr__(self, "start", everything if self.direction == "backward" else ())
        n_moves, n_sets = len(self.moves), len(self.information)
        if len(self.scores) != n_moves or n_sets != n_moves + 1:
            raise ParameterError(
                f"a path of {n_moves} moves needs {n_moves} scores and {n_moves + 1} information "
                f"values, found {len(self.scores)} and {n_sets}."
            )
        if self.bounds and len(self.bounds) != n_sets:
            raise ParameterError(
                f"a path of {n_moves} moves needs {n_sets} bounds, found {len(self.bounds)}."
            )

    @property
    def n_features(self) -> int:
        """Number of features that the search was given."""
        return len(self.names)

    @property
    def first_set(self) -> tuple[int, ...]:
        """The set before the first move."""
        assert self.start is not None  # filled in by __post_init__
        return self.start

    @property
    def last_set(self) -> tuple[int, ...]:
        """The set after the last move."""
        return self.order[: int(self.sizes[-1])]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Features such that the set of size ``s`` is ``order[:s]``."""
        if self.direction == "forward":
            return self.first_set + self.moves
        gone = set(self.moves)
        return tuple(i for i in self.first_set if i not in gone) + self.moves[::-1]

    @cached_property
    def sizes(self) -> IntArray:
        """Sizes of the sets on the path, one per entry of `information`."""
        step = 1 if self.direction == "forward" else -1
        return len(self.first_set) + step * np.arange(len(self.information), dtype=np.int64)

    @property
    def best_information(self) -> float:
        """Largest information seen, the full set included when it is known, in nats."""
        seen = float(np.nanmax(self.information))  # orders are paths of sets not yet measured
        return seen if self.full_information is None else max(seen, self.full_information)

    @property
    def best_size(self) -> int:
        """Smallest size on the path that carries the path's largest information."""
        values = np.asarray(self.information)
        return int(self.sizes[values >= np.nanmax(values) - ROUNDING].min())

    @cached_property
    def spent(self) -> FloatArray:
        """Sum of the scores so far, each clipped at zero: one per entry of `information`."""
        clipped = np.maximum(np.asarray(self.scores, dtype=np.float64), 0.0)
        return np.concatenate([np.zeros(1), np.cumsum(clipped)])

    def lost(self, reference: Reference = "best") -> FloatArray:
        """Information that each set lacks of the best set seen, or of all, in nats, never below 0.

        Since ``I(Y; X) >= I(Y; X_S)`` for every S, the best set seen is the better estimate.
        """
        if reference == "best":
            most = self.best_information
        elif self.full_information is not None:
            most = self.full_information
        elif self.n_features in (self.sizes[0], self.sizes[-1]):
            most = self.information_at(self.n_features)
        else:
            raise ParameterError(
                "this path does not pass through the set of all features, so reference='full' has "
                "nothing to compare with: use reference='best', or give full_information."
            )
        lost = most - np.asarray(self.information, dtype=np.float64)
        return np.where(lost <= ROUNDING, 0.0, lost)  # of a set that was not measured: NaN

    def set_at(self, size: int) -> tuple[int, ...]:
        """Return the features of the set of this size, which the path has to pass through."""
        self._position(size)
        return self.order[:size]

    def information_at(self, size: int) -> float:
        """Return I(Y; X_S) of the set of this size, in nats."""
        return self.information[self._position(size)]

    def bound_at(self, size: int) -> float:
        """Return the increase of the Bayes risk that the set of this size allows, or NaN."""
        position = self._position(size)
        return self.bounds[position] if self.bounds else float("nan")

    @property
    def steps(self) -> tuple[Step, ...]:
        """The moves one by one, with everything known about the set that each leaves."""
        bounds = self.bounds or (float("nan"),) * len(self.information)
        lost, spent = self.lost()[1:].tolist(), self.spent[1:].tolist()
        measured = (self.scores, self.information[1:], lost, spent, bounds[1:])
        columns = (self.sizes[1:].tolist(), self.moves, *measured)
        return tuple(
            Step(size, self.names[feature], feature, *seen)
            for size, feature, *seen in zip(*columns, strict=True)
        )

    def with_bounds(self, bounds: tuple[float, ...], metric: str) -> Self:
        """Return the same path with its bounds filled in."""
        return replace(self, bounds=bounds, metric=metric)

    def continued(self, features: Sequence[int]) -> Self:
        """Return a forward path that goes on with features whose sets were not measured."""
        unknown = (float("nan"),) * len(features)
        return replace(
            self,
            moves=self.moves + tuple(features),
            scores=self.scores + unknown,
            information=self.information + unknown,
        )

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return the steps as a frame of pandas or polars: one row a step, columns as in `Step`."""
        names, steps = [column.name for column in dataclasses.fields(Step)], self.steps
        return table_of({name: [getattr(one, name) for one in steps] for name in names}, library)

    def to_json(self) -> str:
        """Return the path as JSON text that `from_json` turns back into an equal path."""
        names = [part.name for part in dataclasses.fields(self) if part.name != "plan"]
        content = {name: _plain(getattr(self, name)) for name in names}
        return json.dumps({"schema": _SCHEMA, **content}, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise ParameterError(f"not the JSON of a selection path: {error}.") from error
        schema = content.pop("schema", None) if isinstance(content, dict) else None
        if schema != _SCHEMA:
            raise ParameterError(
                f"not the JSON of a selection path: expected schema {_SCHEMA}, found {schema!r}."
            )
        if content.get("full_information") is not None:
            content["full_information"] = float(content["full_information"])
        for name in [name for name, value in content.items() if isinstance(value, list)]:
            numbers = name in ("scores", "information", "bounds", "p_values")
            content[name] = tuple(map(float, content[name]) if numbers else content[name])
        return cls(**content)

    def _repr_html_(self) -> str:
        from pinsker.report import path_card  # upwards: it has all views

        return path_card(self)

    def __repr__(self) -> str:
        state = "" if self.complete else ", partial"
        return (
            f"SelectionPath({self.direction}, {self.n_features} features, {len(self.moves)} steps"
            f"{state}, best: {self.best_size} features with {np.nanmax(self.information):.4f} nats)"
        )

    def _position(self, size: int) -> int:
        first, last = int(self.sizes[0]), int(self.sizes[-1])
        if not min(first, last) <= size <= max(first, last):
            raise ParameterError(
                f"size {size} is not on this path, which has sizes {min(first, last)} to "
                f"{max(first, last)}."
            )
        return abs(size - first)


@dataclass(frozen=True, repr=False)
class CountedPath(SelectionPath):
    """The path of a search by criterion."""

    n_counted: int = 0  # up to this size the information of a set is counted
    p_values: tuple[float, ...] = ()


def _plain(value: Unchecked) -> Any:
    """Return what JSON can hold: floats survive exactly, NaN and infinity become text."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # float("nan"), float("inf") read it back
    return value


class State(Protocol):
    """A set of features that can `add` or `remove` one, and the score of every move from it."""

    @property
    def information(self) -> float: ...

    @property
    def active(self) -> tuple[int, ...]: ...

    def scores(self) -> FloatArray:
        """Return the score of every candidate in nats, NaN for the others."""


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
        return cls(path.first_set, list(path.information), list(path.moves), list(path.scores))

    def record(self, feature: int, score: float, information: float) -> None:
        self.moves.append(int(feature))
        self.scores.append(float(score))
        self.information.append(float(information))

    def beginning(self, n_moves: int) -> "Trace":
        seen = self.information[: n_moves + 1], self.moves[:n_moves], self.scores[:n_moves]
        return Trace(self.start, *seen, complete=True)

    def path(
        self, direction: Direction, names: Sequence[str], score: str, **known: Any
    ) -> SelectionPath:
        made = len(self.information) - 1  # noted last: an interrupt may fall between the notes
        seen = tuple(self.moves[:made]), tuple(self.scores[:made]), tuple(self.information)
        known |= {"start": self.start, "score": score, "complete": self.complete}
        return SelectionPath(direction, tuple(names), *seen, **known)

    def finish(self, path: SelectionPath) -> SelectionPath:
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
    known = None
    try:
        while len(trace.moves) < n_moves and not (is_over is not None and is_over(trace)):
            scores = state.scores() if known is None else known
            waiting = _fixed_ones(scores, fixed, direction)
            feature = _best(scores if waiting is None else waiting, direction)
            if is_nothing is not None and waiting is None and is_nothing(scores[feature]):
                break
            known = move(feature)
            trace.record(feature, scores[feature], state.information)
            if on_step is not None and on_step(trace):
                return trace
        trace.complete = True
    except (KeyboardInterrupt, EngineLostError) as error:
        trace.broken_by = error
    return trace


def shrink(
    state: State, trace: Trace, *, fixed: Sequence[int] = (), on_step: OnStep | None = None
) -> Trace:
    """Remove the feature with the smallest score until none is left, those of `fixed` last."""
    greedy(state, trace, "backward", len(trace.start) - 1, fixed=fixed, on_step=on_step)
    if trace.complete and len(trace.moves) < len(trace.start):  # no feature, no information
        trace.record(state.active[0], state.information, 0.0)
    return trace


def grow(
    state: State,
    trace: Trace,
    *,
    n_features: int,
    fixed: Sequence[int] = (),
    patience: int | None = None,
    at_least: int = 0,
    max_features: int | None = None,
    on_step: OnStep | None = None,
) -> Trace:
    """Add the feature with the largest score; features in `fixed` come first."""

    def ends(seen: Trace) -> bool:
        size = len(seen.start) + len(seen.moves)
        return size >= max(len(fixed), at_least) and has_stalled(seen, patience)

    n_moves = most_grown(n_features, fixed, max_features) - len(trace.start)
    return greedy(state, trace, "forward", n_moves, fixed=fixed, is_over=ends, on_step=on_step)


def most_grown(n_features: int, fixed: Sequence[int], max_features: int | None) -> int:
    return min(n_features, max(len(fixed), max_features or n_features))


def has_stalled(trace: Trace, patience: int | None) -> bool:
    if patience is None:
        return False
    best = int(np.argmax(np.asarray(trace.information) >= max(trace.information) - ROUNDING))
    return len(trace.information) - 1 - best >= patience


def _fixed_ones(
    scores: FloatArray, fixed: Sequence[int], direction: Direction
) -> FloatArray | None:
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
        self.keeps_steps = False  # whether a search ends with its steps, as no other has any

    def __getstate__(self) -> Fields:
        # The clock of another machine is another one: a search there is finished.
        return {**self.__dict__, "seconds": None, "interrupt": None}

    @property
    def is_interrupted(self) -> bool:
        return self.interrupt is not None and self.interrupt.is_set()

    @property
    def may_end(self) -> bool:
        """Whether there is a limit, or someone who can interrupt."""
        return self.seconds is not None or self.interrupt is not None

    @property
    def is_over(self) -> bool:
        return self.is_late and not self.must_finish

    @property
    def is_late(self) -> bool:
        """Whether time is up, also for what must be finished."""
        if self.is_interrupted:
            return True
        if self.seconds is None or math.isinf(self.part):
            return False
        return self.spent >= self.part * self.seconds

    @property
    def spent(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that are left: infinite without a limit, negative when they are over."""
        return math.inf if self.seconds is None else self.seconds - self.spent

    def skips(self, what: str) -> bool:
        is_over = self.is_over
        self.left_out += [what] if is_over else []
        return is_over

    @contextmanager
    def leaving_out(self, what: str) -> Iterator[None]:
        """Note what was given up in a block, instead of raising `TimeIsUp`."""
        try:
            yield
        except TimeIsUp:
            self.left_out.append(what)

    def checked(self, on_step: OnStep | None) -> OnStep | None:
        """Return what a search calls after every move; it raises `TimeIsUp` when it is."""
        if not self.may_end:
            return on_step

        def check(trace: Trace) -> bool | None:
            self.check()
            if self.is_over:
                return True
            return None if on_step is None else on_step(trace)

        return check

    def check(self) -> None:
        if self.is_over and not self.keeps_steps:
            raise TimeIsUp

    @property
    def notes(self) -> Notes:
        if not self.left_out:
            return ()
        left_out = ", ".join(dict.fromkeys(self.left_out))
        if self.is_interrupted:
            return (Note("interrupted", figures={"left_out": left_out}),)
        return (Note("time limit", figures={"seconds": self.seconds, "left_out": left_out}),)
