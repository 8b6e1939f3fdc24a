"""``pinsker reproduce``: the paper's figures and tables, run again from a clone."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import pinsker
from pinsker._compat import require
from pinsker.cli import _options as options
from pinsker.cli._leaving import KEPT, NOT_KEPT
from pinsker.exceptions import ParameterError


class Part(StrEnum):
    """What can be run again; Typer lists enumerations, not literals."""

    FIGURE1 = "figure1"
    FIGURE2 = "figure2"
    FIGURE3 = "figure3"
    TABLE1 = "table1"
    EXAMPLE1 = "example1"
    THEOREMS = "theorems"
    ALL = "all"


Parts = Annotated[list[Part], typer.Argument(help="What to run again.", show_default=False)]
Folder = Annotated[
    str, typer.Option("--output", "-o", metavar="FOLDER", help="Where tables and figures go.")
]
Watch = Callable[[str, int, int], None]


def reproduce(
    parts: Parts,
    output: Folder = "reproduction",
    quick: Annotated[bool, typer.Option("--quick", help="A miniature, in seconds.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of splits and of drawn problems.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget stored runs.")] = False,
    quiet: options.Quiet = False,
) -> int:
    """Run the paper's experiments again, beside its published numbers (see docs/paper.md)."""
    experiments = load_experiments()
    require("matplotlib", purpose="pinsker reproduce", extra="plot")
    wanted = (
        experiments.PARTS if Part.ALL in parts else [part.value for part in dict.fromkeys(parts)]
    )
    with watching(sys.stderr.isatty() and not quiet) as watch:
        settings = experiments.Settings(Path(output), quick, jobs, seed, fresh, watch)
        checks = experiments.reproduce(wanted, settings)
    if not quiet:
        _print_summary(checks, output)
    return NOT_KEPT if any(check.held is False for check in checks) else KEPT


def load_experiments() -> Any:
    """Import the experiments of the clone that pinsker runs from, or of the working folder."""
    for root in (Path(pinsker.__file__).resolve().parents[2], Path.cwd()):
        folder = root / "experiments"
        if (folder / "reproduce" / "__init__.py").is_file():
            if str(folder) not in sys.path:
                sys.path.insert(0, str(folder))
            return importlib.import_module("reproduce")
    raise ParameterError(
        "the experiments are not part of the installed package: clone the repository and run "
        "pinsker reproduce in its folder."
    )


@contextmanager
def watching(show: bool) -> Iterator[Watch]:
    """Yield a function that moves one bar per part on a terminal, and does nothing elsewhere."""
    if not show:
        yield lambda part, done, total: None  # noqa: ARG005
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(file=sys.stderr)) as bars:
        known: dict[str, Any] = {}

        def watch(part: str, done: int, total: int) -> None:
            if part not in known:
                known[part] = bars.add_task(part, total=total)
            bars.update(known[part], completed=done)

        yield watch


def _print_summary(checks: list[Any], output: str) -> None:
    words = {True: "pass", False: "MISS", None: "not checked"}
    for check in checks:
        print(f"{words[check.held]:<12} {check.claim}: {check.reached}")
    print(f"tables and figures: {output}")
