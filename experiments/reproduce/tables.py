"""Numbers into CSV and Markdown."""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproduce.settings import Row

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
