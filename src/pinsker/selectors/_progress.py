"""Progress of a fit: one object that a search calls after every move, and a fit at every stage.

It feeds a line on standard error or a bar in a notebook, the log, and scikit-learn's callbacks
(since 1.9; on older ones `CallbackSupportMixin` is an empty class).
"""

import logging
import sys
import time
from collections.abc import Callable
from functools import partial
from html import escape
from importlib import import_module
from typing import Any, TextIO, TypeVar, cast

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pinsker._compat import fit_context
from pinsker._types import Estimator, Fields, Unchecked
from pinsker.search import Direction, Trace

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def _with_callbacks(method: Unchecked) -> Any:
        return method


_LOG = logging.getLogger("pinsker")
#: Seconds between lines that are no terminal's: at first, and at most.
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 60.0
_Method = TypeVar("_Method", bound=Callable[..., Any])


def fitting(method: _Method) -> _Method:
    """Make a method the ``fit`` of an estimator: parameters checked, callbacks torn down."""
    alone = threadpool_limits.wrap(limits=1)(method)
    checked = fit_context(prefer_skip_nested_validation=True)(alone)
    return cast(_Method, _with_callbacks(checked))


class Progress:
    """Follows one call of ``fit``."""

    def __init__(
        self,
        estimator: Estimator,
        data: Fields,
        n_tasks: int,
        *,
        line: "ProgressLine | None" = None,
        attributes: Callable[[Trace], Fields] | None = None,
        direction: Direction = "backward",
    ) -> None:
        self.estimator, self.data, self.line = estimator, data, line
        self.attributes = attributes
        self.move = "remove" if direction == "backward" else "add"
        self.stages: StageLine | None = None
        if estimator.verbose:
            limit = estimator.get_params(deep=False).get("time_limit")
            self.stages = StageLine(type(estimator).__name__, n_tasks, limit=limit)
        self.context: Any = None
        self._stage: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=n_tasks)
            self.context.call_on_fit_task_begin(estimator=estimator, **data)

    def on_step(self, trace: Trace) -> bool:
        """Report a move; callbacks may end the search."""
        if self.line is not None:
            self.line.show(trace)
        if self.context is None:
            return False
        step = self.context.subcontext(task_name=self.move)
        step.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        rebuild = {}
        if self.attributes is not None:
            rebuild["reconstruction_attributes"] = partial(self.attributes, trace)
        return bool(step.call_on_fit_task_end(estimator=self.estimator, **rebuild, **self.data))

    def on_stage(self, name: str) -> None:
        """Report a stage of a fit that is more than one search."""
        _LOG.info("%s: %s", type(self.estimator).__name__, name)
        if self.stages is not None:
            self.stages.begin(name)
        if self.context is not None:
            self._end_stage()
            self._stage = self.context.subcontext(task_name=name)
            self._stage.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def close(self) -> None:
        for line in (self.line, self.stages):
            if line is not None:
                line.finish()
        if self.context is not None:
            self._end_stage()
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._stage.call_on_fit_task_end(estimator=self.estimator, **self.data)
            self._stage = None


class _Output:
    """Where progress is shown: a bar in a notebook, one line of a terminal, or ever new lines."""

    def __init__(self, stream: TextIO | None) -> None:
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        is_kernel = shell is not None and "IPKernelApp" in shell.config  # and no terminal
        self.in_notebook = stream is None and is_kernel
        self.stream = sys.stderr if stream is None else stream
        self.in_place = self.in_notebook or getattr(self.stream, "isatty", lambda: False)()
        self._width, self._text = 0, ""
        self._shown: Any = None  # IPython's handle of what is displayed

    def write(self, text: str, share: float) -> None:
        """Show a text, and beside a bar which share is done."""
        if self.in_notebook:
            bar = f'<progress value="{share:.3f}" aria-label="progress"></progress> {escape(text)}'
            bundle = {"text/html": bar, "text/plain": text}
            if self._shown is None:
                display = import_module("IPython.display").display
                self._shown = display(bundle, raw=True, display_id=True)
            else:
                self._shown.update(bundle, raw=True)
        else:
            start, end = ("\r", "") if self.in_place else ("", "\n")
            print(start + text.ljust(self._width), end=end, file=self.stream, flush=True)
        self._width, self._text = len(text) if self.in_place else 0, text

    def finish(self) -> None:
        """Fill the bar, or leave the line."""
        if self.in_notebook and self._text:
            self.write(self._text.partition(":")[0] + ": done", 1.0)
        elif self.in_place and self._text:
            print(file=self.stream, flush=True)


class ProgressLine:
    """One line that shows where the search is, rewritten in place on a terminal."""

    def __init__(
        self,
        name: str,
        total: int,
        bound: Callable[[float], float],
        metric: str,
        *,
        grows: bool = False,
        stream: TextIO | None = None,
        seconds: float = 0.2,
    ) -> None:
        self.name, self.total, self.bound, self.metric = name, total, bound, metric
        self.grows, self.output = grows, _Output(stream)
        self.seconds, self.done = seconds, 0
        self.started = self.shown = time.monotonic()
        self._last: Trace | None = None

    def show(self, trace: Trace) -> None:
        """Show where the search is, unless the last line is too recent."""
        self.done += 1
        self._last = trace
        now = time.monotonic()
        if now - self.shown >= self.seconds:
            self.shown = now
            self._write(trace, now - self.started)

    def finish(self) -> None:
        if self._last is not None:
            self._write(self._last, time.monotonic() - self.started)
            self.output.finish()

    def _write(self, trace: Trace, elapsed: float) -> None:
        size = len(trace.start) + (1 if self.grows else -1) * len(trace.moves)
        lost = max(max(trace.information) - trace.information[-1], 0.0)
        remaining = elapsed / max(self.done, 1) * max(self.total - self.done, 0)
        text = (
            f"{self.name}: step {len(trace.moves)}, {size} features, "
            f"I = {trace.information[-1]:.4f} nats, bound {self.bound(lost):.4f} {self.metric}, "
            f"{clock(elapsed)} elapsed, at most {clock(remaining)} left"
        )
        self.output.write(text, self.done / max(self.total, self.done))


class StageLine:
    """Lines of a fit's stages: on a terminal one is rewritten, elsewhere they grow ever rarer."""

    def __init__(
        self,
        name: str,
        n_stages: int,
        *,
        limit: float | None = None,
        stream: TextIO | None = None,
        seconds: float | None = None,
    ) -> None:
        self.name, self.n_stages, self.limit = name, n_stages, limit
        self.output, self.share = _Output(stream), 0.0
        self.seconds = 0.2 if seconds is None and self.output.in_place else seconds
        self.started = self.stage_started = self.calls_started = self.shown = time.monotonic()
        self.stage_name = ""
        self.durations: list[float] = []  # of the stages that are over

    def begin(self, name: str) -> None:
        now = time.monotonic()
        if self.stage_name:
            self.durations.append(now - self.stage_started)
        self.stage_name, self.stage_started, self.calls_started = name, now, now
        if self.seconds is not None or not self.durations or self._is_due(now):
            self._write(now, "", None)

    def show(self, done: int, total: int) -> None:
        """Show how much of the stage is done, unless the last line is too recent."""
        now = time.monotonic()
        left = (now - self.calls_started) / done * (total - done)
        if self._is_due(now):
            self._write(now, f", {done} of {total} done", left)
        if done == total:
            self.calls_started = now  # a stage may have several rounds of calls

    def finish(self) -> None:
        self.output.finish()

    def _is_due(self, now: float) -> bool:
        """Return whether the last line is long enough ago."""
        rarely = max(_FIRST_WAIT, min((now - self.started) / 2, _LONGEST_WAIT))
        return now - self.shown >= (rarely if self.seconds is None else self.seconds)

    def left(self, now: float, of_calls: float = 0.0) -> float | None:
        """Return the seconds left of the whole fit; None while nothing like them was seen."""
        alike = self.durations[1:]
        if not alike:
            return None
        mean = sum(alike) / len(alike)
        here = max(mean - (now - self.stage_started), of_calls)
        found = here + mean * max(self.n_stages - len(self.durations) - 1, 0)
        if self.limit is None:
            return found
        return max(min(found, self.limit - (now - self.started)), 0.0)

    def _write(self, now: float, done: str, of_calls: float | None) -> None:
        self.shown = now
        stage = len(self.durations) + 1
        elapsed, left = now - self.started, self.left(now, of_calls or 0.0)
        if left is not None:
            self.share = max(self.share, elapsed / max(elapsed + left, 1e-9))  # never goes back
            done = f", {100 * self.share:.0f} % done"
            rest = f", roughly {clock(left)} left"
        else:
            rest = "" if of_calls is None else f", about {clock(of_calls)} left of this stage"
        text = (
            f"{self.name}: stage {stage} of {max(self.n_stages, stage)}, {self.stage_name}{done}, "
            f"{clock(elapsed)} elapsed{rest}"
        )
        self.output.write(text, max(self.share, (stage - 1) / max(self.n_stages, stage)))


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
