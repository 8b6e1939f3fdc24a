"""The theorems against exact enumeration on random distributions, and the errata's examples."""

import doctest
import io
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from experiments.reproduce import exact_distributions as exact
from experiments.reproduce.results import (
    COLOURS,
    Check,
    Report,
    Row,
    Settings,
    Task,
    markdown_table,
    number,
    plain_axes,
)

#: Ratios of a true value to a bound that pass for rounding.
ROUNDING = 1e-9
DRAWS = 2000
#: Where bars of the figure end.
WIDEST = 2.0
PAGE = Path(__file__).resolve().parents[2] / "docs" / "errata.md"
_LABEL = re.compile(r"^\*\*(E\d+) \(([FGTS])\)\.\*\* (.*)$")
_KINDS = {
    "F": "false as printed",
    "G": "gap",
    "T": "slip of the pen",
    "S": "sharper or more exact",
}
N_ERRATA = 33


@dataclass(frozen=True)
class Erratum:
    """One entry of the page; examples are those between it and the next one."""

    name: str
    kind: str
    first_line: str
    examples: int
    failed: int

    def row(self) -> dict[str, object]:
        """Return a row of a table."""
        return asdict(self)

    def line(self) -> tuple[str, str, str, str]:
        """Return a line of a Markdown table."""
        ran = "reproduced" if not self.failed else f"{self.failed} of {self.examples} differ"
        return self.name, self.kind, self.first_line, ran if self.examples else "text"


def tasks(settings: Settings) -> list[Task]:
    """Return one run per theorem, and one for the errata."""
    n_draws = 60 if settings.quick else DRAWS
    runs = [Task(name, run, (name, n_draws, settings.seed)) for name in exact.THEOREMS]
    return [*runs, Task("errata", errata_rows)]


def run(name: str, n_draws: int, seed: int) -> list[Row]:
    """Return, for one theorem, how close true values came to each bound and how often above."""
    draw_ratios = exact.THEOREMS[name]
    rng = np.random.default_rng([seed, len(name)])
    seen: dict[str, list[float]] = {}
    for _ in range(n_draws):
        for bound, ratio in (draw_ratios(rng) or {}).items():
            seen.setdefault(bound, []).append(ratio)
    return [
        {
            "theorem": name,
            "bound": bound,
            "n_draws": len(ratios),
            "largest": float(np.max(ratios)),
            "median": float(np.median(ratios)),
            "violated": float(np.mean(np.array(ratios) > 1.0 + ROUNDING)),
        }
        for bound, ratios in seen.items()
    ]


def errata_rows() -> list[Row]:
    """Return the errata of docs/errata.md, each with whether its numbers were reproduced."""
    return [erratum.row() for erratum in run_errata()]


def summary(rows: list[Row]) -> list[Row]:
    """Return what every run found."""
    return [{"recipe": row.get("theorem", "errata"), **row} for row in rows]


def their_rows() -> list[Row]:
    """Return nothing: the paper prints no numbers."""
    return []


def report(found: list[Row]) -> Report:
    """Show every bound, and every erratum."""
    rows = [row for row in found if row.get("theorem")]
    names = [one.name for one in fields(Erratum)]
    errata = [Erratum(*(row[n] for n in names)) for row in found if not row.get("theorem")]
    page = (
        "# Theorems\n\nTrue increase of the Bayes risk over its bound, exact, on random "
        f"distributions. Above one: the statement is false.\n\n{block(found)}\n\n# Errata\n\n"
        + markdown_table(("", "", "what", "its examples"), [e.line() for e in errata])
        + "\n"
    )
    return Report(page, block(found), lambda figure: draw(figure, rows), checks(rows, errata))


def block(found: list[Row]) -> str:
    """Return the table of docs/paper.md."""
    lines = [
        (row["theorem"], row["bound"], row["n_draws"], _largest(row["largest"]),
         number(row["median"]), f"{100 * row['violated']:.1f} %")
        for row in found
        if row.get("theorem")
    ]  # fmt: skip
    head = ("theorem", "bound", "distributions", "largest ratio", "median", "violated")
    return markdown_table(head, lines)


def _largest(ratio: float) -> str:
    return f"above {exact.CAP:g}" if ratio >= exact.CAP else number(ratio, 4)


def checks(rows: list[Row], errata: list[Erratum]) -> list[Check]:
    """Return what must hold: corrected bounds always, printed ones where we say so."""
    wrong = {row["bound"] for row in rows if row["violated"] > 0.0}
    expected = {row["bound"] for row in rows if row["bound"] in exact.FALSE_AS_PRINTED}
    ran = sum(e.examples for e in errata)
    failed = sum(e.failed for e in errata)
    return [
        Check("no bound is violated but those called false in the errata",
              ", ".join(sorted(wrong)) or "none violated", wrong <= exact.FALSE_AS_PRINTED),
        Check("every statement called false is seen to fail", ", ".join(sorted(expected & wrong)),
              expected <= wrong),
        Check("every number of the errata is reproduced",
              f"{len(errata)} errata, {ran} examples, {failed} failures",
              failed == 0 and len(errata) == N_ERRATA),
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


def run_errata(page: Path = PAGE) -> list[Erratum]:
    """Run all examples of the page in order, as doctest does, and count them by erratum."""
    text = page.read_text(encoding="utf-8")
    labels = [(at, *_LABEL.match(line).groups()) for at, line in enumerate(text.splitlines())
              if _LABEL.match(line)]  # fmt: skip
    starts = [label[0] for label in labels]
    counts = {at: [0, 0] for at in starts}
    for lineno, failed in _examples(text, page.name):
        before = [at for at in starts if at < lineno]
        if before:
            counts[before[-1]][0] += 1
            counts[before[-1]][1] += failed
    return [
        Erratum(name, _KINDS[kind], first_line, *counts[at])
        for at, name, kind, first_line in labels
    ]


def _examples(text: str, name: str) -> list[tuple[int, bool]]:
    """Return the line of every example and whether it failed."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found: list[tuple[int, bool]] = []

    class Recording(doctest.DocTestRunner):
        def report_success(self, *arguments: Any) -> None:  # stream, test, example, output
            found.append((arguments[2].lineno, False))

        def report_failure(self, *arguments: Any) -> None:
            found.append((arguments[2].lineno, True))

        report_unexpected_exception = report_failure

    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    Recording(optionflags=flags).run(test, out=io.StringIO().write)
    return found
