"""Those who follow a search: a line on the terminal, and scikit-learn's callbacks.

scikit-learn 1.9 introduced callbacks. On older ones `CallbackSupportMixin` is an empty class and
nobody is told.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO, TypeVar, cast

from pinsker._compat import fit_context
from pinsker.selection._search import Trace, Watch

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def _with_callbacks(method: Any) -> Any:
        return method


__all__ = [
    "CallbackStages", "CallbackSteps", "CallbackSupportMixin", "ProgressLine", "Watches", "fitting",
]  # fmt: skip

_Method = TypeVar("_Method", bound=Callable[..., Any])


def fitting(method: _Method) -> _Method:
    """Make a method the ``fit`` of an estimator: parameters checked, callbacks torn down."""
    return cast(_Method, _with_callbacks(fit_context(prefer_skip_nested_validation=True)(method)))


class Watches:
    """Several watches as one; the search ends when any of them asks."""

    def __init__(self, watches: list[Watch]) -> None:
        self.watches = watches

    def before(self) -> None:
        """Tell all of them."""
        for watch in self.watches:
            watch.before()

    def after(self, trace: Trace) -> bool:
        """Tell all of them, and whether one has seen enough."""
        answers = [watch.after(trace) for watch in self.watches]  # a list: everybody is told
        return any(answers)


class ProgressLine:
    """One line that says where the search is, rewritten in place on a terminal.

    Parameters
    ----------
    name : str
        Who searches.
    total : int
        Most moves that are to come.
    bound : callable
        From information lost (nats) to the growth of error it allows.
    unit : str
        The unit of that growth.
    grows : bool
        Whether moves add features.
    stream : text stream, optional
        Standard error by default.
    seconds : float
        At least so long between two lines.
    """

    def __init__(
        self,
        name: str,
        total: int,
        bound: Callable[[float], float],
        unit: str,
        *,
        grows: bool = False,
        stream: TextIO | None = None,
        seconds: float = 0.2,
    ) -> None:
        self.name, self.total, self.bound, self.unit = name, total, bound, unit
        self.grows = grows
        self.stream = sys.stderr if stream is None else stream
        self.seconds = seconds
        self.started = self.shown = time.monotonic()
        self.done = 0
        self.width = 0

    def before(self) -> None:
        """Nothing to say yet."""

    def after(self, trace: Trace) -> bool:
        """Show where the search is; never ends it."""
        self.done += 1
        now = time.monotonic()
        if now - self.shown >= self.seconds:
            self.shown = now
            self._show(trace, now - self.started)
        return False

    def finish(self, trace: Trace) -> None:
        """Show the end of the search, and leave the line."""
        self._show(trace, time.monotonic() - self.started)
        if self._in_place:
            print(file=self.stream, flush=True)

    @property
    def _in_place(self) -> bool:
        return bool(getattr(self.stream, "isatty", lambda: False)())

    def _show(self, trace: Trace, elapsed: float) -> None:
        size = len(trace.start) + (1 if self.grows else -1) * len(trace.moves)
        lost = max(max(trace.information) - trace.information[-1], 0.0)
        remaining = elapsed / max(self.done, 1) * max(self.total - self.done, 0)
        text = (
            f"{self.name}: step {len(trace.moves)}, {size} features, "
            f"I = {trace.information[-1]:.4f} nats, bound {self.bound(lost):.4f} {self.unit}, "
            f"{clock(elapsed)} gone, at most {clock(remaining)} left"
        )
        start, end = ("\r", "") if self._in_place else ("", "\n")
        print(start + text.ljust(self.width), end=end, file=self.stream, flush=True)
        self.width = len(text)


class CallbackSteps:
    """Tells scikit-learn's callbacks about every move, as a subtask of ``fit``.

    Parameters
    ----------
    estimator : estimator
        Who is fitted.
    context : sklearn.callback.CallbackContext
        The context of ``fit``.
    name : str
        What a move is called.
    data : dict
        ``X`` and ``y``, handed on.
    attributes : callable
        From a trace to the fitted attributes of an estimator that had stopped there.
    """

    def __init__(
        self,
        estimator: Any,
        context: Any,
        name: str,
        data: dict[str, Any],
        attributes: Callable[[Trace], dict[str, Any]],
    ) -> None:
        self.estimator, self.context, self.name = estimator, context, name
        self.data, self.attributes = data, attributes
        self.step: Any = None

    def before(self) -> None:
        """Open the subtask of the next move."""
        self.step = self.context.subcontext(task_name=self.name)
        self.step.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def after(self, trace: Trace) -> bool:
        """Close it; callbacks may ask to stop."""
        return bool(
            self.step.call_on_fit_task_end(
                estimator=self.estimator,
                reconstruction_attributes=lambda: self.attributes(trace),
                **self.data,
            )
        )


class CallbackStages:
    """Tells scikit-learn's callbacks about the stages of a ``fit`` that is more than one search.

    Parameters
    ----------
    estimator, context, data
        As in `CallbackSteps`.
    """

    def __init__(self, estimator: Any, context: Any, data: dict[str, Any]) -> None:
        self.estimator, self.context, self.data = estimator, context, data
        self.stage: Any = None

    def next(self, name: str) -> None:
        """Close the stage that is open, and open another."""
        self.close()
        self.stage = self.context.subcontext(task_name=name)
        self.stage.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def close(self) -> None:
        """Close the stage that is open. Nobody can stop a judgement half-way."""
        if self.stage is not None:
            self.stage.call_on_fit_task_end(estimator=self.estimator, **self.data)
            self.stage = None


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds.

    Examples
    --------
    >>> clock(75.2)
    '1:15'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
