"""The greedy walk of a criterion, and the path it leaves."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pinsker._types import FloatArray
from pinsker.selection._criterion_search import best_candidate
from pinsker.selection._criterion_state import CriterionState
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._permutation_test import CountedPath
from pinsker.selection._search import Trace, Watch


@dataclass
class CountedTrace(Trace):
    """What a running search by criterion has seen.

    Attributes
    ----------
    target_entropy : float
        H(Y) in nats.
    n_counted : int
        Size of the largest set whose information could be counted.
    p_values : list of float
        One per move; empty when nothing is tested.
    """

    target_entropy: float = float("nan")
    n_counted: int = 0
    p_values: list[float] = field(default_factory=list)

    def path(
        self,
        direction: Direction,
        names: Sequence[str],
        score: str,
        *,
        n_forced: int = 0,
        full_information: float | None = None,
    ) -> CountedPath:
        """Return what was seen as a path."""
        if full_information is None and self.n_counted < len(names):
            full_information = self.target_entropy
        plain = super().path(
            direction, names, score, n_forced=n_forced, full_information=full_information
        )
        known = {part.name: getattr(plain, part.name) for part in dataclasses.fields(SelectionPath)}
        return CountedPath(**known, n_counted=self.n_counted, p_values=tuple(self.p_values))


def resume(state: CriterionState, trace: CountedTrace, earlier: CountedPath) -> None:
    """Bring a fresh search to where an earlier path of the same data ends."""
    for unit in earlier.moves:
        state.add(unit)
    trace.moves.extend(earlier.moves)
    trace.scores.extend(earlier.scores)
    trace.information[:] = earlier.information
    trace.p_values.extend(earlier.p_values)
    trace.n_counted = earlier.n_counted


def walk(
    state: CriterionState,
    trace: CountedTrace,
    *,
    most: int,
    forced: Sequence[int],
    has_ended: Callable[[CountedTrace], bool],
    watch: Watch,
) -> CountedTrace:
    """Add the best feature until there are `most`, nothing is left to gain, or a rule has spoken.

    Features in `forced` come first. Of features whose scores are tied the first one comes.
    A keyboard interrupt between two moves ends the search; the trace stays valid.
    """
    try:
        for _ in range(len(trace.moves), max(most, len(forced))):
            if trace.moves and has_ended(trace):
                return trace
            watch.before()
            scores = state.scores()
            waiting = [unit for unit in forced if unit not in state.active]
            unit = best_candidate(_only(scores, waiting))
            if not waiting and state.is_exhausted(scores[unit]):
                break
            chance = state.p_value(scores[unit])
            state.add(unit)
            trace.record(unit, scores[unit], state.information)
            trace.n_counted = state.chosen_set.n_counted
            if not np.isnan(chance):
                trace.p_values.append(chance)
            if watch.after(trace):
                return trace
        trace.complete = True
    except KeyboardInterrupt:
        trace.interrupted = True
    return trace


def _only(scores: FloatArray, units: list[int]) -> FloatArray:
    """Return the scores of some units alone, NaN for the others; all of them if none is named."""
    if not units:
        return scores
    some = np.full_like(scores, np.nan)
    some[units] = scores[units]
    return some
