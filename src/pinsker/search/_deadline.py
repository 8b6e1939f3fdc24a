"""The time limit of a fit."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pinsker._notes import Note, Notes
from pinsker.search._greedy import OnStep, Trace

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

    def end(number: int, frame: Any) -> None:
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

    def __getstate__(self) -> dict[str, Any]:
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
