"""Example 1: what information drops, a linear model may need; and what the example says wrongly."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from reproduce.drawing import COLOURS, plain_axes
from reproduce.settings import Check, Report, Row, Settings, Task
from reproduce.tables import chosen, markdown_table, number

VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 9.0)


@cache
def script() -> Any:
    """Return experiments/example1.py, whose name this module shares."""
    path = Path(__file__).resolve().parents[1] / "example1.py"
    spec = importlib.util.spec_from_file_location("example1_script", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tasks(settings: Settings) -> list[Task]:
    """Return one run."""
    return [Task("selectors", run, (150 if settings.quick else 500, settings.seed))]


def run(n_rows: int, seed: int) -> list[Row]:
    """Return what each selector keeps, and what a free and a linear model make of it."""
    return script().kept_and_reached(*script().draw(n_rows, 1.0, seed))


def report(settings: Settings, results: dict[str, list[Row]]) -> Report:  # noqa: ARG001
    """Show selectors, and the exact correlations beside the claim."""
    rows, exact = results["selectors"], correlations()
    lines = [
        (row["selector"], row["grade"], row["kept"], number(row["r2_neighbours"]),
         number(row["r2_linear"]))
        for row in rows
    ]  # fmt: skip
    head = ("selector", "grade", "kept", "R² of 5 neighbours", "R² of a linear model")
    page = (
        "# Example 1\n\nPublished: both scores are nearly zero, and a linear model needs both "
        f"features.\n\n{markdown_table(head, lines)}\n\nPublished: for a large σ² both squared "
        "correlations with Y are high, that between the features is small. Exact, a = b = 1, and "
        f"with a = sd(X2)/sd(X1):\n\n{_exact_table(exact)}\n"
    )
    return Report([*rows, *exact], page, lambda figure: draw(figure, rows, exact), checks(rows))


def correlations() -> list[Row]:
    """Return exact squared correlations for several variances, plain and scaled."""
    found = []
    for scaled in (False, True):
        for variance in VARIANCES:
            between, first, second = script().squared_correlations(variance, scaled)
            found.append({"variance": variance, "scaled": scaled, "between": between,
                          "first": first, "second": second})  # fmt: skip
    return found


def _exact_table(exact: list[Row]) -> str:
    lines = [
        ("a = sd(X2)/sd(X1)" if row["scaled"] else "a = 1", f"{row['variance']:g}",
         *(number(row[name], 4) for name in ("between", "first", "second")))
        for row in exact
    ]  # fmt: skip
    return markdown_table(("", "σ²", "ρ²(X1, X2)", "ρ²(X1, Y)", "ρ²(X2, Y)"), lines)


def checks(rows: list[Row]) -> list[Check]:
    """Return what must hold: information keeps one feature, linear selection both."""
    one = [row for row in rows if row["grade"] != "as printed" and "Linear" not in row["selector"]]
    two = [row for row in rows if "Linear" in row["selector"]]
    kept = "; ".join(f"{row['selector']}: {row['kept']}" for row in one)
    alone = all(" " not in row["kept"] for row in one)
    linear = f"R² of a linear model {one[0]['r2_linear']:.3f} with one, {two[0]['r2_linear']:.3f}"
    return [
        Check("information keeps one of two features", kept, alone),
        Check("linear elimination keeps both", f"{linear} with both",
              all(row["kept"] == "X1 X2" for row in two)),
    ]  # fmt: skip


def draw(figure: Any, rows: list[Row], exact: list[Row]) -> None:
    """Draw exact correlations, plain and scaled, and R2 with what is kept."""
    left, middle, right = figure.subplots(1, 3)
    figure.set_size_inches(10.5, 3.4)
    for axes, scaled, title in ((left, False, "a = b = 1"), (middle, True, "a = sd(X2)/sd(X1)")):
        group = chosen(exact, scaled=scaled)
        for name, label in (("between", "X1, X2"), ("first", "X1, Y"), ("second", "X2, Y")):
            x = [row["variance"] for row in group]
            axes.plot(x, [row[name] for row in group], marker="o", markersize=3, label=label)
        plain_axes(axes, title, "σ²", "squared correlation")
        axes.legend(frameon=False, fontsize="small")
    places = range(len(rows))
    right.barh(places, [row["r2_linear"] for row in rows], color=COLOURS["default"])
    right.set_yticks(places, [f"{row['selector']}: {row['kept']}" for row in rows],
                     fontsize="x-small")  # fmt: skip
    right.invert_yaxis()
    plain_axes(right, "Linear model on what is kept", "R²", "")
