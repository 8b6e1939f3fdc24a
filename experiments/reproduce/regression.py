"""Regression: the 50 tables that the authors ran and the paper does not show, by squared error.

Theorem 1 is a statement on squared error: budgets of Algorithm 1 are in squared units of the
target, and the scores of the sets are R² of an SVM (C = 10) on the test rows.
"""

from typing import Any

from experiments.reproduce.figure2 import SIZES, forward_path, published_rows
from experiments.reproduce.problems import (
    everything,
    measure,
    regression_problem,
    split_problem,
    svr,
)
from experiments.reproduce.recipes import (
    COUNT,
    ER,
    IN_SEQUENCE,
    RELEASED,
    default_sets,
    letter_sets,
    path_sets,
    printed_forward_sets,
    printed_sets,
    released_sets,
)
from experiments.reproduce.results import (
    DEFAULT,
    Check,
    Report,
    Row,
    Settings,
    Task,
    at,
    band,
    budget_check,
    cell,
    chosen,
    line,
    markdown_table,
    plain_axes,
    summarize,
)

N_PROBLEMS, N_COLUMNS, N_NEIGHBORS = 50, 15, 3
DELTAS = (1.0, 2.5, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0)
#: Budgets of the default, in R².
OURS = (0.02, 0.05, 0.1, 0.25)
THRESHOLDS = {ER: DELTAS, COUNT: SIZES}
RECIPES = ("published", IN_SEQUENCE, "as printed", "as printed, forward", "to the letter",
           "default")  # fmt: skip
HEAD = ("published", "released code", "Algorithm 1 as printed", "Algorithm 2 as printed",
        "Algorithm 1 to the letter", "default, δ in R² (#F: forward path)")  # fmt: skip


def tasks(settings: Settings) -> list[Task]:
    """Return two runs per problem."""
    problems = range(1 if settings.quick else N_PROBLEMS)
    return [
        *(Task(f"problem-{i:02d}", run_paper, (i, settings.seed)) for i in problems),
        *(Task(f"default-{i:02d}", run_default, (i, settings.seed), DEFAULT) for i in problems),
    ]


def run_paper(problem: int, seed: int) -> list[Row]:
    """Return what the recipes of the paper keep and reach on one problem."""
    split = split_problem(regression_problem(problem, seed), seed * 1000 + problem, fresh=False)
    X, y = split.X, split.y
    sets = [
        *released_sets(X, y, N_NEIGHBORS, THRESHOLDS, numbers=True),
        *printed_sets(X, y, N_NEIGHBORS, THRESHOLDS, metric="mse"),
        *printed_forward_sets(X, y, N_NEIGHBORS, DELTAS, metric="mse"),
        *letter_sets(X, y, N_NEIGHBORS, DELTAS, metric="mse"),
    ]
    return measure(split, sets, svr(), problem=problem)


def run_default(problem: int, seed: int) -> list[Row]:
    """Return what pinsker keeps and reaches on one problem."""
    split = split_problem(regression_problem(problem, seed), seed * 1000 + problem, fresh=False)
    X, y = split.X, split.y
    sets = [
        *everything(split),
        *default_sets(X, y, OURS, metric="r2"),
        *path_sets(X, y, SIZES, metric="r2"),
    ]
    return measure(split, sets, svr(), problem=problem)


def summary(rows: list[Row]) -> list[Row]:
    """Return means over problems."""
    return summarize(rows, ("recipe", "criterion", "threshold"))


def report(found: list[Row]) -> Report:
    """Compare the recipes, averaged over the problems."""
    page = f"# Regression\n\nR² of an SVM / features kept.\n\n{block(found)}\n"
    return Report(page, block(found), lambda figure: draw(figure, found), checks(found))


def their_rows() -> list[Row]:
    """Return the published means."""
    return published_rows("figure2_regression")


def block(found: list[Row]) -> str:
    """Return the table of docs/paper.md."""
    lines = [(f"ER {delta:g}", *_cells(found, ER, delta)) for delta in (*OURS, *DELTAS)]
    lines += [(f"#F {size}", *_cells(found, COUNT, float(size))) for size in SIZES]
    full = cell(at(found, "all features", "", None))
    lines.append(("all 15", *[""] * (len(HEAD) - 1), full))
    return markdown_table(("R² / features kept", *HEAD), lines)


def _cells(found: list[Row], criterion: str, threshold: float) -> list[str]:
    names = {"default": "forward path", IN_SEQUENCE: RELEASED} if criterion == COUNT else {}
    return [cell(at(found, names.get(r, r), criterion, threshold)) for r in RECIPES]


def draw(figure: Any, found: list[Row]) -> None:
    """Draw R² by the number of columns, and both curves of Algorithm 1 against the budget."""
    left, right = figure.subplots(1, 2)
    sources = (("published", "published"), ("released code", RELEASED),
               ("as printed", "as printed"), ("default", "forward path"))  # fmt: skip
    for recipe, source in sources:
        rows = sorted(chosen(found, recipe=source, criterion=COUNT), key=lambda r: r["threshold"])
        label = "pinsker's forward path" if source == "forward path" else None
        style = {} if label is None else {"label": label}
        x, y = [row["threshold"] for row in rows], [row["accuracy"] for row in rows]
        line(left, recipe, x, y, **style)
    sources = (("published", "published"), ("released code", IN_SEQUENCE),
               ("as printed", "as printed"), ("to the letter", "to the letter"))  # fmt: skip
    for recipe, source in sources:
        rows = sorted(chosen(found, recipe=source, criterion=ER), key=lambda r: r["threshold"])
        x, y = [row["threshold"] for row in rows], [row["accuracy"] for row in rows]
        line(right, recipe, x, y)
        if recipe in ("published", "as printed"):
            band(right, recipe, rows, "accuracy")
    for row in chosen(found, recipe="all features"):
        for axes in (left, right):
            axes.axhline(row["accuracy"], color="black", linewidth=0.8, linestyle="--")
    plain_axes(left, "A fixed number of columns", "columns kept", "R² on the test rows")
    plain_axes(right, "Algorithm 1 (band: ± standard deviation)", "δ, squared error", "")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize="small")


def checks(found: list[Row]) -> list[Check]:
    """Return every claim with what was reached."""
    full, checked = at(found, "all features", "", None), []
    for delta in (1.0, 5.0, 30.0):
        row = at(found, "as printed", ER, delta)
        theirs = at(found, "published", ER, delta)
        beside = f"; published {theirs['accuracy']:.3f} with {theirs['kept']:.1f}" if theirs else ""
        reached = f"R² {row['accuracy']:.3f} with {row['kept']:.1f} of 15{beside}"
        held = bool(row["accuracy"] >= full["accuracy"] and row["kept"] < N_COLUMNS)
        claim = f"Algorithm 1 as printed at δ = {delta:g}: fewer columns, R² not below all of them"
        checked.append(Check(claim, f"{reached}; all 15 {full['accuracy']:.3f}", held))
    ours = [at(found, "default", ER, delta) for delta in OURS[:3]]
    checked += [budget_check(row, "50 problems, R²", N_COLUMNS) for row in ours]
    return [*checked, *forward_path(found, "R²")]
