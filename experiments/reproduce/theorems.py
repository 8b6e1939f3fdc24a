"""The theorems against exact enumeration on random laws, and the errata with their examples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from reproduce import exact_laws
from reproduce.drawing import COLOURS, plain_axes
from reproduce.errata import Erratum, run_errata
from reproduce.settings import Check, Report, Row, Settings, Task
from reproduce.tables import markdown_table, number

#: Ratios of a true value to a bound that pass for rounding.
ROUNDING = 1e-9
LAWS = 2000
#: Where bars of the figure end.
WIDEST = 2.0


def tasks(settings: Settings) -> list[Task]:
    """Return one run per theorem, and one for the errata."""
    laws = 60 if settings.quick else LAWS
    runs = [Task(name, run, (name, laws, settings.seed)) for name in exact_laws.THEOREMS]
    return [*runs, Task("errata", errata_rows)]


def run(name: str, laws: int, seed: int) -> list[Row]:
    """Return, for one theorem, how close true values came to each bound and how often above."""
    judge: Callable[[np.random.Generator], dict[str, float] | None] = exact_laws.THEOREMS[name]
    rng = np.random.default_rng([seed, len(name)])
    seen: dict[str, list[float]] = {}
    for _ in range(laws):
        for bound, ratio in (judge(rng) or {}).items():
            seen.setdefault(bound, []).append(ratio)
    return [
        {
            "theorem": name,
            "bound": bound,
            "laws": len(ratios),
            "largest": float(np.max(ratios)),
            "median": float(np.median(ratios)),
            "violated": float(np.mean(np.array(ratios) > 1.0 + ROUNDING)),
        }
        for bound, ratios in seen.items()
    ]


def errata_rows() -> list[Row]:
    """Return the errata of docs/errata.md, each with whether its numbers were reproduced."""
    return [erratum.row() for erratum in run_errata()]


def report(settings: Settings, results: dict[str, list[Row]]) -> Report:  # noqa: ARG001
    """Show every bound, and every erratum."""
    rows = [row for name in exact_laws.THEOREMS for row in results[name]]
    errata = [Erratum(**row) for row in results["errata"]]
    lines = [
        (row["theorem"], row["bound"], row["laws"], number(row["largest"], 4),
         number(row["median"]), f"{100 * row['violated']:.1f} %")
        for row in rows
    ]  # fmt: skip
    head = ("theorem", "bound", "laws", "largest ratio", "median", "violated")
    page = (
        "# Theorems\n\nTrue growth of the ideal error over its bound, exact, on random laws. Above "
        f"one: the statement is false.\n\n{markdown_table(head, lines)}\n\n# Errata\n\n"
        + markdown_table(("", "", "what", "its examples"), [e.line() for e in errata])
        + "\n"
    )
    listed = [*rows, *(erratum.row() for erratum in errata)]
    return Report(listed, page, lambda figure: draw(figure, rows), checks(rows, errata))


def checks(rows: list[Row], errata: list[Erratum]) -> list[Check]:
    """Return what must hold: corrected bounds always, printed ones where we say so."""
    wrong = {row["bound"] for row in rows if row["violated"] > 0.0}
    expected = {row["bound"] for row in rows if row["bound"] in exact_laws.FALSE_AS_PRINTED}
    ran = sum(e.examples for e in errata)
    failed = sum(e.failed for e in errata)
    return [
        Check("no bound is violated but those called false in the errata",
              ", ".join(sorted(wrong)) or "none violated", wrong <= exact_laws.FALSE_AS_PRINTED),
        Check("every statement called false is seen to fail", ", ".join(sorted(expected & wrong)),
              expected <= wrong),
        Check("every number of the errata is reproduced",
              f"{len(errata)} errata, {ran} examples, {failed} failures",
              failed == 0 and len(errata) == 28),
    ]  # fmt: skip


def draw(figure: Any, rows: list[Row]) -> None:
    """Draw the largest and the median ratio of every bound; above one is a violation."""
    figure.set_size_inches(9.0, 0.32 * len(rows) + 1.2)
    axes = figure.subplots()
    places = np.arange(len(rows))
    largest = [min(row["largest"], WIDEST) for row in rows]
    false = [row["violated"] > 0.0 for row in rows]
    colours = [COLOURS["as printed"] if wrong else COLOURS["default"] for wrong in false]
    axes.barh(places, largest, color=colours, height=0.6)
    axes.plot([row["median"] for row in rows], places, "k|", markersize=9)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(places, [f"{row['theorem']}: {row['bound']}" for row in rows], fontsize="small")
    for place, row in zip(places, rows, strict=True):
        if row["violated"] > 0.0:
            share = f"violated in {100 * row['violated']:.0f} %"
            axes.annotate(share, (0.02, place), va="center", fontsize="small", color="white")
    axes.set_xlim(0.0, WIDEST)
    axes.invert_yaxis()
    plain_axes(axes, "True value over bound: largest (bar), median (tick)", "ratio", "")
