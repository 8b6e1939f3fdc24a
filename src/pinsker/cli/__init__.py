"""Stage: cli. Parses, calls, prints; holds no logic of its own.

Typer, Rich and pandas are imported when a command runs, so that the rest of the package does
without them.
"""

import logging
import sys

from pinsker._compat import require
from pinsker.exceptions import MissingDependencyError

__all__ = ["main"]


def main() -> None:
    """Run the command ``pinsker`` with the arguments of the process, and leave with its code."""
    try:
        for package in ("typer", "rich", "pandas"):
            require(package, purpose="the command pinsker", extra="cli")
    except MissingDependencyError as error:
        print(f"pinsker: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    # The summary prints the notes: without a handler Python would print the log's warnings too.
    logging.getLogger("pinsker").addHandler(logging.NullHandler())
    from pinsker.cli._app import app  # needs Typer, so not before the check

    app(prog_name="pinsker")
