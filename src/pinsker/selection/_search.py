"""The greedy search: one loop for both directions and for every way of scoring.

Nothing here knows scikit-learn, neighbours or matrices: a `State` is asked for the scores of all
candidates, and told which one goes or comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pinsker._types import FloatArray
from pinsker.exceptions import EngineLostError
from pinsker.selection._path import RESOLUTION, Direction, SelectionPath


class State(Protocol):
    """What a search needs to know of a set of features."""

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

    def remove(self, unit: int) -> None:
        """Take a feature out of the set."""


class GrowingState(State, Protocol):
    """A state that features are added to."""

    def add(self, unit: int) -> None:
        """Put a feature into the set."""


class Watch(Protocol):
    """Somebody who follows a search."""

    def before(self) -> None:
        """Hear that a move is about to be looked for."""

    def after(self, trace: "Trace") -> bool:
        """Hear what is known after a move; a true answer ends the search."""


@dataclass
class Trace:
    """What a running search has seen: the raw material of a path."""

    start: tuple[int, ...]
    information: list[float]
    moves: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    complete: bool = False
    interrupted: bool = False
    lost: EngineLostError | None = None

    @classmethod
    def resume(cls, path: SelectionPath) -> "Trace":
        """Return the trace of a path that shall go on."""
        return cls(path.first_set, list(path.information), list(path.moves), list(path.scores))

    def record(self, unit: int, score: float, information: float) -> None:
        """Note a move that was made."""
        self.moves.append(int(unit))
        self.scores.append(float(score))
        self.information.append(float(information))

    def path(
        self,
        direction: Direction,
        names: Sequence[str],
        score: str,
        *,
        n_forced: int = 0,
        full_information: float | None = None,
    ) -> SelectionPath:
        """Return what was seen as a path."""
        made = len(self.information) - 1  # noted last: an interrupt may fall between the notes
        return SelectionPath(
            direction=direction,
            names=tuple(names),
            moves=tuple(self.moves[:made]),
            scores=tuple(self.scores[:made]),
            information=tuple(self.information),
            start=self.start,
            score=score,
            full_information=full_information,
            n_forced=n_forced,
            complete=self.complete,
        )


def shrink(
    state: ShrinkingState,
    trace: Trace,
    *,
    forced: Sequence[int] = (),
    watch: Watch | None = None,
) -> Trace:
    """Remove the feature with the smallest score until none is left.

    Features in `forced` go last. Of features whose scores are equal the later one goes. The empty
    set carries no information, so that the last removal costs what its set had.

    A keyboard interrupt or the loss of the engine ends the search; the trace stays valid.
    """
    try:
        for _ in range(len(trace.start) - len(trace.moves) - 1):
            if watch:
                watch.before()
            scores = state.scores()
            unit = _last_smallest(_without(scores, forced))
            state.remove(unit)
            trace.record(unit, scores[unit], state.information)
            if watch and watch.after(trace):
                return trace
        if len(trace.moves) < len(trace.start):
            trace.record(state.active[0], state.information, 0.0)
        trace.complete = True
    except KeyboardInterrupt:
        trace.interrupted = True
    except EngineLostError as error:  # whoever makes a path of the trace raises it again
        trace.lost = error
    return trace


def grow(
    state: GrowingState,
    trace: Trace,
    *,
    n_features: int,
    forced: Sequence[int] = (),
    patience: int | None = None,
    at_least: int = 0,
    max_size: int | None = None,
    watch: Watch | None = None,
) -> Trace:
    """Add the feature with the largest score.

    Features in `forced` come first. Of features whose scores are equal the earlier one comes. The
    search ends when all are in, when there are `max_size`, or when there are `at_least` and the
    information has not risen above its largest value for `patience` additions.

    A keyboard interrupt or the loss of the engine ends the search; the trace stays valid.
    """
    most = min(n_features, max(len(forced), max_size or n_features))
    try:
        for size in range(len(trace.start) + len(trace.moves), most):
            if size >= max(len(forced), at_least) and is_idle(trace, patience):
                break
            if watch:
                watch.before()
            scores = state.scores()
            unit = _first_largest(_only(scores, forced))
            state.add(unit)
            trace.record(unit, scores[unit], state.information)
            if watch and watch.after(trace):
                return trace
        trace.complete = True
    except KeyboardInterrupt:
        trace.interrupted = True
    except EngineLostError as error:  # whoever makes a path of the trace raises it again
        trace.lost = error
    return trace


def is_idle(trace: Trace, patience: int | None) -> bool:
    """Tell whether the information has not risen for so many moves."""
    if patience is None:
        return False
    best = int(np.argmax(np.asarray(trace.information) >= max(trace.information) - RESOLUTION))
    return len(trace.information) - 1 - best >= patience


def _without(scores: FloatArray, forced: Sequence[int]) -> FloatArray:
    """Return the scores without those of the forced, unless nobody else is left."""
    loose = scores.copy()
    loose[list(forced)] = np.nan
    return scores if np.isnan(loose).all() else loose


def _only(scores: FloatArray, forced: Sequence[int]) -> FloatArray:
    """Return the scores of the forced alone, as long as there are any."""
    first = np.full_like(scores, np.nan)
    first[list(forced)] = scores[list(forced)]
    return scores if np.isnan(first).all() else first


def _last_smallest(scores: FloatArray) -> int:
    return int(np.flatnonzero(scores <= np.nanmin(scores) + RESOLUTION)[-1])


def _first_largest(scores: FloatArray) -> int:
    return int(np.flatnonzero(scores >= np.nanmax(scores) - RESOLUTION)[0])
