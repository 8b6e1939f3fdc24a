"""One line on the terminal that says where a search is, and goes when it is done."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

from rich.console import Console
from rich.markup import escape


@contextmanager
def progress(show: bool) -> Iterator[None]:
    """Show the latest line that is written to standard error, and how it turns, on a terminal."""
    if not show:
        yield
        return
    console = Console(file=sys.stderr)  # the real one: it is about to be replaced
    with console.status("starting") as status, redirect_stderr(_LatestLine(status)):
        yield


class _LatestLine(io.TextIOBase):
    """A stream that keeps nothing but the last line, on a status."""

    def __init__(self, status: Any) -> None:
        self.status = status

    def write(self, text: str) -> int:
        """Show the last line of a text."""
        lines = text.replace("\r", "\n").split("\n")
        shown = [line.strip() for line in lines if line.strip()]
        if shown:
            self.status.update(escape(shown[-1]))
        return len(text)

    def isatty(self) -> bool:
        """Say no: writers then end their lines instead of moving the cursor."""
        return False
