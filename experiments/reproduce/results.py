"""What a part hands back, and how it is written: rows, CSV, Markdown, figures, claims."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
#: The CSVs that docs/paper.md is generated from.
KNOWN = Path(__file__).resolve().parents[2] / "docs" / "_static" / "paper"
#: Groups of tasks: what moves with the default selector, and what the paper fixes.
DEFAULT, PAPER = "default", "paper"
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
    only : str
        Run the tasks of this group alone ("default": those of `FeatureSelector`); rows of the
        others are taken from `known`.
    splits : int, optional
        Splits of Figure 3 and Table I, where there shall be fewer.
    known : Path
        Folder of the CSVs of an earlier run.
    on_run : callable
        Called after each run, for progress.
    """

    output: Path = Path("reproduction")
    quick: bool = False
    jobs: int = 2
    seed: int = 0
    fresh: bool = False
    only: str = ""
    splits: int | None = None
    known: Path = KNOWN
    on_run: OnRun = no_progress


@dataclass(frozen=True)
class Task:
    """One run, stored under its name. The function must be importable by other processes."""

    name: str
    function: Callable[..., list[Row]]
    arguments: tuple[Any, ...] = ()
    group: str = PAPER


@dataclass(frozen=True)
class Check:
    """A claim that must hold; `held` is None where it could not be looked at."""

    claim: str
    reached: str
    held: bool | None


@dataclass(frozen=True)
class Report:
    """What a part makes of the rows of its CSV: Markdown, a figure, claims."""

    page: str  # all of it
    block: str  # what docs/paper.md shows
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


def read_csv(path: Path) -> list[Row]:
    """Read what `write_csv` wrote: numbers are numbers again, and empty cells None."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]
    # All features are kept by no criterion: a text, and not missing.
    for row in rows:
        if "criterion" in row:
            row["criterion"] = row["criterion"] or ""
    return rows


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


_WORDS: dict[str, Any] = {"": None, "True": True, "False": False}


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return rows of an earlier run, those of recipes that ran again replaced."""
    ran = {row["recipe"] for row in new}
    return [row for row in old if row["recipe"] not in ran] + list(new)


#: Columns of a run that are averaged, and those whose spread counts.
_AVERAGED = ("kept", "useful", "accuracy", "fresh", "lost", "lost_fresh", "rbf", "linear")
_SPREAD = ("kept", "accuracy", "lost", "rbf", "linear", "lost_rbf", "lost_linear")


def summarize(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Return one row per group of runs: means, spread, standard errors, losses above the budget."""
    found: list[Row] = []
    for key in dict.fromkeys(tuple(row.get(name) for name in names) for row in rows):
        same = dict(zip(names, key, strict=True))
        group = chosen(rows, **same)
        summary: Row = {**same, "runs": len(group)}
        for name in dict.fromkeys((*_AVERAGED, *_SPREAD)):
            if group[0].get(name) is not None:
                summary[name] = _short(average(group, name))
        for name in _SPREAD:
            if group[0].get(name) is not None:
                summary[f"{name} spread"] = _short(average(group, name, np.std))
                summary[f"{name} error"] = _short(standard_error(group, name))
        if "accuracy" in summary:
            summary["median"] = _short(average(group, "accuracy", np.median))
        summary["least kept"] = average(group, "kept", min)
        loss = "lost_fresh" if "lost_fresh" in summary else "lost"
        if loss in summary and same.get("threshold") is not None:
            summary["above budget"] = sum(row[loss] > same["threshold"] for row in group)
        found.append(summary)
    return found


def _short(value: float | None) -> float | None:
    """Return six digits: a CSV that is kept shall not differ by rounding."""
    return None if value is None else float(f"{value:.6g}")


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
    values = np.array([row[name] for row in rows if row.get(name) is not None], dtype=float)
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


#: One color per recipe in every figure (Okabe and Ito's, distinct for color-blind readers).
COLOURS = {
    "published": "#7f7f7f",
    "released code": "#E69F00",
    "as printed": "#D55E00",
    "to the letter": "#CC79A7",
    "default": "#0072B2",
    "all features": "#000000",
}
LABELS = {"default": "pinsker's default", "released code": "released code, run again"}


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


def band(axes: Any, recipe: str, rows: Sequence[Row], name: str, scale: float = 1.0) -> None:
    """Draw the standard deviation over runs around a curve of a recipe."""
    x = [row["threshold"] for row in rows]
    mean, spread = (np.array([row[n] for row in rows]) / scale for n in (name, f"{name} spread"))
    axes.fill_between(x, mean - spread, mean + spread, color=COLOURS[recipe], alpha=0.12, lw=0)


def at(rows: Sequence[Row], recipe: str, criterion: str, threshold: float | None) -> Row:
    """Return the row of a recipe at a threshold; an empty one where it was not run."""
    found = chosen(rows, recipe=recipe, criterion=criterion, threshold=threshold)
    return found[0] if found else {}


def cell(row: Row, *, useful: bool = False) -> str:
    """Return accuracy with its standard error and features kept."""
    if not row:
        return ""
    error = row.get("accuracy error")
    shown = number(row["accuracy"]) + ("" if error is None else f" ± {number(error)}")
    parts = [shown, number(row.get("kept"), 1)]
    if useful:
        parts.append(number(row.get("useful"), 1))
    return " / ".join(parts)


def budget_check(row: Row, of: str, among: int, beside: str = "") -> Check:
    """Check that a set loses no more than its budget, paired with all features on the same rows."""
    lost, error = row["lost"], row["lost error"]
    above = ""
    if row.get("lost_fresh") is not None:
        above = f", above it in {row['above budget']} of {row['runs']} runs on fresh rows"
    reached = f"lost {lost:+.3f} ± {error:.3f}{above}; {row['kept']:.1f} of {among} kept{beside}"
    claim = f"default at {row['threshold']:g}, {of}: loses at most the budget against all features"
    return Check(claim, reached, bool(lost <= row["threshold"]))
