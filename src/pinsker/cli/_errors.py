"""How a command ends: one line for bad input, a code for every outcome, never a traceback."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from pinsker._compat import InvalidParameterError
from pinsker._notes import option_of, spell
from pinsker.exceptions import MemoryBudgetError, PinskerError

MET = 0
BAD_INPUT = 2
NOT_MET = 3
INTERRUPTED = 130
#: Control characters but tabs and ends of lines, and those that turn the direction of text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class OneLineGroup(TyperGroup):
    """Commands whose errors are one line on standard error."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; exit with its code, or return it when not in standalone mode."""
        code = _run(super().main, *args, **extra)
        if standalone_mode:
            sys.exit(code)
        return code


def _run(main: Any, *args: Any, **extra: Any) -> int:
    try:
        done = main(*args, standalone_mode=False, **extra)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return MET
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("interrupted", INTERRUPTED)
    except (PinskerError, InvalidParameterError, OSError, MemoryError) as error:
        return _print_error(error_text(error), BAD_INPUT)
    except Exception as error:
        # Typer carries click inside or depends on it, by version; both write messages this way.
        if not hasattr(error, "format_message"):
            raise
        # Typer puts the words of pydantic in front of some.
        return _print_error(error.format_message().replace("Value error, ", ""), BAD_INPUT)
    if done == INTERRUPTED:  # Typer turns an interrupt into this code by itself
        return _print_error("interrupted", INTERRUPTED)
    return done if isinstance(done, int) else MET


@contextmanager
def until_closed() -> Iterator[None]:
    """Print as far as the reader of a pipe wants it: a command ends with its own code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()


def _drop_output() -> None:
    """Write nothing more: `head` closes the pipe, and what is left must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def error_text(error: BaseException) -> str:
    """Return the message of an error, behind the option that it is about."""
    message, parameter = str(error), None
    if isinstance(error, PinskerError):
        message, parameter = spell(error.said, "command"), error.parameter
    message = " ".join((message or type(error).__name__).split())
    if parameter is None and isinstance(error, MemoryBudgetError):
        parameter = "max_memory"
    if parameter is None or option_of(parameter) in message:
        return message
    return f"{option_of(parameter)}: {message}"


def visible(text: str) -> str:
    """Return a text whose control characters are written out: a terminal would obey them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _print_error(message: str, code: int) -> int:
    print(f"pinsker: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code
