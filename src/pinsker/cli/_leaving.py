"""How a command ends: one line for bad input, a code for every outcome, never a traceback."""

import os
import re
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from pinsker._compat import InvalidParameterError
from pinsker.exceptions import PinskerError

KEPT = 0
BAD_INPUT = 2
NOT_KEPT = 3
_INTERRUPTED = 130
#: How others put it, and how it reads in a shell: parameters become options.
_IN_SHELL = [
    (re.compile(r"Value error, "), ""),
    (re.compile(r"\bengine='dask'"), "--scheduler ADDRESS"),
    (re.compile(r"\b(missing|task|engine)='(\w+)'"), r"--\1 \2"),
    (re.compile(r"\btask=(?=\s|$)"), "--task"),
    (re.compile(r"\bdiscrete=(?=\s|$)"), "--kind COLUMN=KIND"),
    (re.compile(r"\bmax_memory\b"), "--memory"),
    (re.compile(r"\berror_budget\b"), "--error-budget"),
    (re.compile(r"The '(\w+)' parameter of \w+ must be an? int"), r"--\1 must be an int"),
]


class OneLineGroup(TyperGroup):
    """Commands whose mistakes end in one line on standard error."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; leave with its code, or return it where nobody wants to leave."""
        code = _run(super().main, *args, **extra)
        if standalone_mode:
            sys.exit(code)
        return code


def _run(main: Any, *args: Any, **extra: Any) -> int:
    try:
        done = main(*args, standalone_mode=False, **extra)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as `head` has: what is left must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return KEPT
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", _INTERRUPTED)
    except (PinskerError, InvalidParameterError, OSError, MemoryError) as error:
        return _complain(str(error) or type(error).__name__, BAD_INPUT)
    except Exception as error:
        # Typer carries click inside or depends on it, by version; both write messages this way.
        if not hasattr(error, "format_message"):
            raise
        return _complain(error.format_message(), BAD_INPUT)
    if done == _INTERRUPTED:  # Typer turns an interrupt into this code by itself
        return _complain("interrupted", _INTERRUPTED)
    return done if isinstance(done, int) else KEPT


def in_shell(message: str) -> str:
    r"""Return a message of the library in one line, with options instead of parameters.

    Examples
    --------
    >>> in_shell("Use missing='drop',\nor raise max_memory.")
    'Use --missing drop, or raise --memory.'
    """
    for pattern, words in _IN_SHELL:
        message = pattern.sub(words, message)
    return " ".join(message.split())


def _complain(message: str, code: int) -> int:
    print(f"pinsker: {in_shell(message)}", file=sys.stderr)
    return code
