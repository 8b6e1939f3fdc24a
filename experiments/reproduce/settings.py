"""What a reproduction is asked for, and what its parts hand back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
#: Told the part, how many of its runs are done, and how many there are.
Watch = Callable[[str, int, int], None]


def nobody_watches(part: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Settings:
    """How to run.

    Attributes
    ----------
    output : Path
        Folder of tables, figures and stored runs.
    quick : bool
        A miniature: fewer problems and splits.
    jobs : int
        Processes.
    seed : int
        Of all splits and problems that are drawn.
    fresh : bool
        Forget stored runs.
    """

    output: Path = Path("reproduction")
    quick: bool = False
    jobs: int = 2
    seed: int = 0
    fresh: bool = False
    watch: Watch = nobody_watches


@dataclass(frozen=True)
class Task:
    """One run, stored under its name. The function must be importable by other processes."""

    name: str
    function: Callable[..., list[Row]]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Check:
    """A claim that must hold; `held` is None where it could not be looked at."""

    claim: str
    reached: str
    held: bool | None


@dataclass(frozen=True)
class Report:
    """What a part makes of its runs: rows of a CSV, a page in Markdown, a figure, claims."""

    rows: list[Row]
    page: str
    draw: Callable[[Any], None] | None = None
    checks: list[Check] = field(default_factory=list)
