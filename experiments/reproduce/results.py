"""What a part hands back, and how it is written: rows, CSV, Markdown, figures, claims."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
#: Called with the part, the number of its finished runs, and the number of all its runs.
OnRun = Callable[[str, int, int], None]


def no_progress(part: str, done: int, total: int) -> None:
    """Do nothing."""


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
        Ignore stored runs.
    on_run : callable
        Called after each run, for progress.
    """

    output: Path = Path("reproduction")
    quick: bool = False
    jobs: int = 2
    seed: int = 0
    fresh: bool = False
    on_run: OnRun = no_progress


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


NOTHING = "–"


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows under the union of their keys, in order of appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; the first column is text, the others are as they come."""
    body = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in body)


def _escaped(cell: Any) -> str:
    return str(cell).replace("|", "\\|")


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for a table, and a dash where there is none."""
    if value is None or not np.isfinite(value):
        return NOTHING
    return f"{value:.{digits}f}"


def chosen(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows that hold all of these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def average(rows: Sequence[Row], name: str, take: Callable[[Any], Any] = np.mean) -> float | None:
    """Return the mean (or another summary) of one column; None for no rows."""
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(take(values)) if values else None


def standard_error(rows: Sequence[Row], name: str) -> float:
    """Return the standard error of the mean of one column; rows count as independent."""
    values = np.array([row[name] for row in rows], dtype=float)
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


#: One color per recipe in every figure (Okabe and Ito's, distinct for color-blind readers).
COLOURS = {
    "published": "#7f7f7f",
    "as published": "#E69F00",
    "as printed": "#D55E00",
    "default": "#0072B2",
    "all features": "#000000",
}
LABELS = {"default": "pinsker's default", "as published": "as published, run again"}


@contextmanager
def new_figure() -> Iterator[Any]:
    """Yield an empty figure that no window belongs to."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained", figsize=(9.0, 3.6))
    yield figure
    figure.clear()


def label_of(recipe: str) -> str:
    """Return what a recipe is called in a legend."""
    return LABELS.get(recipe, recipe)


def plain_axes(axes: Any, title: str, across: str, upwards: str) -> None:
    """Name an axes and take away what says nothing."""
    axes.set(title=title, xlabel=across, ylabel=upwards)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)


def line(axes: Any, recipe: str, x: Sequence[float], y: Sequence[float], **style: Any) -> None:
    """Draw one curve of a recipe."""
    style = {"marker": "o", "markersize": 3.5, "linewidth": 1.4, "label": label_of(recipe)} | style
    axes.plot(x, y, color=COLOURS[recipe], **style)
