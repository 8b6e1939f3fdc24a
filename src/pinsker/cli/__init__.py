"""Stage: cli. Parses, calls, prints; holds no logic of its own.

Typer, Rich and pandas are imported when a command runs, so that the rest of the package does
without them. The process itself, its signals and standard streams, is `pinsker_command`.
"""

import logging
import sys
from typing import Any

from pinsker._compat import require
from pinsker.exceptions import MissingDependencyError

__all__ = ["load_app", "main"]


def load_app() -> Any:
    """Return the command ``pinsker``, which runs when called; leave if a package is missing."""
    try:
        for package in ("typer", "rich", "pandas"):
            require(package, purpose="the command pinsker", extra="cli")
    except MissingDependencyError as error:
        print(f"pinsker: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    # The summary prints the notes: without a handler Python would print the log's warnings too.
    logging.getLogger("pinsker").addHandler(logging.NullHandler())
    from pinsker.cli._live import app  # needs Typer, so not before the check

    return app


def main() -> None:
    """Run the command ``pinsker`` with the arguments of the process, and leave with its code."""
    load_app()(prog_name="pinsker")
