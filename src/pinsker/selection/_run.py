"""One call of ``fit``: who follows the search, and whether the data were seen before."""

import hashlib
import logging
import sys
from typing import TYPE_CHECKING, Any

from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.exceptions import EngineLostError
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import StoppingRule
from pinsker.selection._search import Trace, Watch
from pinsker.selection._watch import CallbackStages, CallbackSteps, ProgressLine, Watches

if TYPE_CHECKING:
    from pinsker.selection._base import InformationSelector

_LOG = logging.getLogger("pinsker")
#: Parameters that change how a path is cut or shown, but not the path.
_NOT_OF_THE_PATH = {
    "error_budget", "stop", "verbose", "warm_start", "n_jobs", "max_memory", "patience",
    "max_features", "folds", "cv", "witnesses", "engine", "client",
}  # fmt: skip


class Run:
    """What one call of ``fit`` knows while it searches.

    Parameters
    ----------
    selector : InformationSelector
        Who is fitted.
    encoded, facts, rule, forced
        What it works on.
    X, y
        What the user gave, for callbacks.
    """

    def __init__(
        self,
        selector: "InformationSelector",
        encoded: Encoded,
        facts: TargetFacts,
        rule: StoppingRule,
        forced: tuple[int, ...],
        X: Any,
        y: Any,
    ) -> None:
        self.selector, self.encoded, self.facts = selector, encoded, facts
        self.rule, self.forced = rule, forced
        self.data = {"X": X, "y": y}
        self.context: Any = None
        self.stages: CallbackStages | None = None
        self.line: ProgressLine | None = None
        self.routes: list[Any] = []  # what a selector of several paths set out to search
        self.interrupted = False
        self.lost: EngineLostError | None = None

    def watch(self, n_steps: int) -> Watch:
        """Open the progress line and the callbacks of a search of at most `n_steps` steps."""
        watches: list[Watch] = []
        name = type(self.selector).__name__
        if hasattr(self.selector, "_init_callback_context"):
            self.context = self.selector._init_callback_context(max_subtasks=n_steps)
            self.context.call_on_fit_task_begin(estimator=self.selector, **self.data)
            move = "remove" if self.selector._direction == "backward" else "add"
            watches.append(
                CallbackSteps(self.selector, self.context, move, self.data, self._attributes)
            )
        if self.selector.verbose:
            yardstick = (
                self.rule if isinstance(self.rule, ErrorBudget) else self.selector._budget_rule(0.0)
            )
            self.line = ProgressLine(
                name,
                n_steps,
                lambda nu: yardstick.growth_of(nu, self.facts),
                yardstick.unit_for(self.facts),
                grows=self.selector._direction == "forward",
            )
            watches.append(self.line)
        return Watches(watches)

    def open_stages(self, n_stages: int) -> None:
        """Open the callbacks of a fit whose stages are told by `say`."""
        if self.context is None and hasattr(self.selector, "_init_callback_context"):
            self.context = self.selector._init_callback_context(max_subtasks=n_stages)
            self.context.call_on_fit_task_begin(estimator=self.selector, **self.data)
            self.stages = CallbackStages(self.selector, self.context, self.data)

    def say(self, what: str) -> None:
        """Tell where a long fit is: to the log, to the terminal and to the callbacks."""
        name = type(self.selector).__name__
        _LOG.info("%s: %s", name, what)
        if self.selector.verbose:
            sys.stderr.write(f"{name}: {what}\n")
        if self.stages is not None:
            self.stages.next(what)

    def finish(
        self, trace: Trace, score: str, full_information: float | None = None
    ) -> SelectionPath:
        """Return the path of a search that has ended."""
        if self.line:
            self.line.finish(trace)
        self.interrupted, self.lost = trace.interrupted, trace.lost
        return self._path(trace, score, full_information)

    def close(self) -> None:
        """Tell the callbacks that ``fit`` is done."""
        if self.stages is not None:
            self.stages.close()
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.selector, **self.data)

    def _path(
        self, trace: Trace, score: str = "difference", full_information: float | None = None
    ) -> SelectionPath:
        return trace.path(
            self.selector._direction,
            self.encoded.feature_names,
            score,
            n_forced=len(self.forced),
            full_information=full_information,
        )

    def _attributes(self, trace: Trace) -> dict[str, Any]:
        """Return what a selector would know had it stopped here."""
        return self.selector._fitted(self._path(trace), self.encoded, self.facts, self.rule)


def fingerprint(selector: Any, encoded: Encoded) -> str:
    """Return a digest of everything that a path depends on.

    A search may go on from an earlier one only if this has not changed.
    """
    settings = {
        name: value
        for name, value in selector.get_params(deep=False).items()
        if name not in _NOT_OF_THE_PATH
    }
    return digest_of(encoded, repr((type(selector).__name__, settings)))


def digest_of(encoded: Encoded, *words: str) -> str:
    """Return a digest of the rows of a table, and of some words."""
    digest = hashlib.blake2b(repr((words, encoded.feature_names)).encode(), digest_size=16)
    for values in (encoded.columns.values, encoded.target.labels, encoded.target.values):
        if values is not None:
            digest.update(values.tobytes())
    return digest.hexdigest()
