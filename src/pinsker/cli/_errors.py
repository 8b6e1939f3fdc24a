"""How a command ends: one line for bad input, a code for every outcome, never a traceback."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import typer
from typer.core import TyperGroup

from pinsker._compat import InvalidParameterError
from pinsker.exceptions import MemoryBudgetError, PinskerError
from pinsker.metrics import METRICS

MET = 0
BAD_INPUT = 2
NOT_MET = 3
INTERRUPTED = 130
#: Parameters whose option has another name; the others have their own, with dashes.
_OPTIONS = {
    "max_memory": "--memory",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "client": "--scheduler",
    "name": "--engine",
    "fixed_features": "--fixed",
    "categorical_features": "--kind",
    "task": "--metric",
}
#: Control characters but tabs and ends of lines, and those that turn the direction of text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Parameters behind errors that carry no name.
_PARAMETERS: dict[type[PinskerError], str] = {MemoryBudgetError: "max_memory"}
#: Values as the library writes them, and as they are typed in a shell.
_TYPED = {
    "suspects='drop', or on the command line": "--suspects drop, or",
    "metric='roc_auc' or 'average_precision'": "--metric roc_auc or average_precision",
    **{
        f"{name}='{value}'": f"--{name} {value}"
        for name, values in {
            "missing": ("auto", "error", "drop", "category"),
            "metric": ("auto", *chain(*METRICS.values()), "roc_auc", "average_precision"),
            "engine": ("auto", "local", "cuda"),
            "suspects": ("drop",),
        }.items()
        for value in values
    },
    "categorical_features=": "--kind COLUMN=KIND",
    "task='classification'": "--metric error",
    "task='regression'": "--metric r2",
    "engine='dask'": "--scheduler ADDRESS",
}


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


def option_of(parameter: str) -> str:
    """Return the option of a parameter; settings of a selector are ``knn__n_neighbors`` and so on.

    Examples
    --------
    >>> option_of("knn__n_neighbors"), option_of("max_memory")
    ('--n-neighbors', '--memory')
    """
    name = parameter.rpartition("__")[2]
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def error_text(error: BaseException) -> str:
    """Return the message of an error, behind the option that it is about."""
    message = shell_text(str(error) or type(error).__name__)
    fallback = next((name for kind, name in _PARAMETERS.items() if isinstance(error, kind)), None)
    parameter = getattr(error, "parameter", None) or fallback
    if parameter is None or option_of(parameter) in message:
        return message
    return f"{option_of(parameter)}: {message}"


def shell_text(message: str) -> str:
    """Return a message of the library in one line, values spelled as they are typed in a shell."""
    for value, typed in _TYPED.items():
        message = message.replace(value, typed)
    return " ".join(message.split())


def visible(text: str) -> str:
    """Return a text whose control characters are written out: a terminal would obey them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _print_error(message: str, code: int) -> int:
    print(f"pinsker: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code
