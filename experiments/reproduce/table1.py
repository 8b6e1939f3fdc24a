"""Table I: five data sets, five budgets, twenty splits; with the set sizes that the paper omits."""

from typing import Any

import numpy as np

from pinsker import BackwardElimination
from reproduce.drawing import COLOURS, label_of, plain_axes
from reproduce.realdata import (
    MACHINES,
    SETS,
    WITH_ROW_NUMBER,
    accuracies,
    load,
    missing_sets,
    split_rows,
)
from reproduce.recipes import ER, Kept, default_sets, printed_sets, published_sets, quiet
from reproduce.settings import Report, Row, Settings, Task
from reproduce.table1_checks import PUBLISHED, checks
from reproduce.tables import average, chosen, markdown_table, number

DELTAS = (0.05, 0.1, 0.25, 0.5, 1.0)
SPLITS = 20
#: The published code scores every column anew for every removal: hours for a thousand columns.
MOST_FOR_PUBLISHED = 30
#: One split of few rows on which it ends after some thirty removals.
ALSO_PUBLISHED = ("ALLAML", 0)


def tasks(settings: Settings) -> list[Task]:
    """Return one run per data set and split."""
    names, splits = (("wine", WITH_ROW_NUMBER), 1) if settings.quick else (SETS, SPLITS)
    names = [name for name in names if name not in missing_sets(names)]
    return [
        Task(f"{name.replace(' ', '-')}-{split:02d}", run, (name, split, settings.seed))
        for split in range(splits)
        for name in names
    ]


def run(name: str, split: int, seed: int) -> list[Row]:
    """Return what every recipe keeps and reaches on one split."""
    X, y = load(name)
    rows = split_rows(X, y, 1000 * seed + split)
    k = max(1, len(X) // 20)
    everything: Kept = ("all features", "", float("nan"), np.ones(X.shape[1], dtype=bool))
    sets = [everything]
    if X.shape[1] <= MOST_FOR_PUBLISHED or (name, split) == ALSO_PUBLISHED:
        sets += published_sets(rows.X, rows.y, k, {ER: DELTAS})
    if name != WITH_ROW_NUMBER:
        sets += printed_sets(rows.X, rows.y, k, {ER: DELTAS})
        sets += default_sets(rows.X, rows.y, DELTAS)
        sets += backward_sets(rows.X, rows.y)
    return [
        {
            "set": name,
            "split": split,
            "recipe": recipe,
            "threshold": None if np.isnan(delta) else delta,
            "kept": int(mask.sum()),
            **reached,
        }
        for (recipe, _, delta, mask), reached in zip(sets, accuracies(rows, sets), strict=True)
    ]


def backward_sets(X: np.ndarray, y: np.ndarray) -> list[Kept]:
    """Return what `BackwardElimination` keeps by the information of its own path."""
    with quiet():
        selector = BackwardElimination(task="classification").fit(X, y)
    return [
        ("backward path", ER, delta, selector.support_at(error_budget=delta)) for delta in DELTAS
    ]


def report(settings: Settings, results: dict[str, list[Row]]) -> Report:  # noqa: ARG001
    """Compare means over splits, each with its spread."""
    rows = [row for run_rows in results.values() for row in run_rows]
    found = [*published_rows(), *_means(rows)]
    absent = [f"{name} is not at hand: {reason}" for name, reason in missing_sets(SETS).items()]
    page = "\n\n".join(["# Table I", *absent, _table(found)]) + "\n"
    return Report(found, page, lambda figure: draw(figure, found), checks(found))


def published_rows() -> list[Row]:
    """Return what the paper prints."""
    return [
        {"set": name, "recipe": "published", "threshold": delta, "accuracy": value}
        for name, values in PUBLISHED.items()
        for delta, value in zip(DELTAS, values, strict=True)
    ]


def _means(rows: list[Row]) -> list[Row]:
    names = ("set", "recipe", "threshold")
    keys = dict.fromkeys(tuple(row[name] for name in names) for row in rows)
    found = []
    for key in keys:
        same = dict(zip(names, key, strict=True))
        group = chosen(rows, **same)
        summary: Row = {"kept": average(group, "kept"), "splits": len(group)}
        for machine in MACHINES:
            summary[machine] = average(group, machine)
            summary[f"{machine} spread"] = average(group, machine, np.std)
        found.append({**same, **summary})
    return found


def _table(found: list[Row]) -> str:
    recipes = ("as published, in sequence", "as printed", "default", "backward path")
    lines = []
    for name in dict.fromkeys(row["set"] for row in found):
        if not chosen(found, set=name, recipe="all features"):
            continue
        for delta in DELTAS:
            theirs = average(
                chosen(found, set=name, recipe="published", threshold=delta), "accuracy"
            )
            cells = [_cell(found, set=name, recipe=r, threshold=delta) for r in recipes]
            lines.append((name, delta, number(theirs, 2), *cells))
        lines.append((name, "all features", "", "", "", _cell(found, set=name,
                      recipe="all features"), ""))  # fmt: skip
    head = ("set", "δ", "published", "as published", "as printed", "pinsker's default",
            "backward path alone")  # fmt: skip
    words = f"Accuracy ± spread over the splits with each machine ({', '.join(MACHINES)}) / size.\n"
    return f"{words}\n{markdown_table(head, lines)}"


def _cell(found: list[Row], **wanted: Any) -> str:
    rows = chosen(found, **wanted)
    if not rows:
        return ""
    row = rows[0]
    reached = [f"{number(row[m], 2)} ± {number(row[f'{m} spread'], 2)}" for m in MACHINES]
    return f"{', '.join(reached)} / {number(row['kept'], 1)}"


def draw(figure: Any, found: list[Row]) -> None:
    """Draw one panel per data set: accuracy against the budget, sizes written beside."""
    names = [name for name in SETS if chosen(found, set=name, recipe="default")]
    figure.set_size_inches(2.6 * max(len(names), 2), 3.4)
    panels = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
    for axes, name in zip(panels, names, strict=True):
        machine = best_machine(found, name)
        for recipe in ("published", "as printed", "default"):
            column = "accuracy" if recipe == "published" else machine
            rows = chosen(found, set=name, recipe=recipe)
            axes.plot(range(len(rows)), [row[column] for row in rows], marker="o", markersize=3.5,
                      color=COLOURS[recipe], label=label_of(recipe))  # fmt: skip
        for place, row in enumerate(chosen(found, set=name, recipe="default")):
            axes.annotate(f"{row['kept']:.0f}", (place, row[machine]), fontsize="x-small",
                          xytext=(0, -10), textcoords="offset points", ha="center",
                          color=COLOURS["default"])  # fmt: skip
        axes.set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
        plain_axes(
            axes, f"{name}\n({machine} machine)", "δ", "accuracy" if name == names[0] else ""
        )
    panels[0].legend(frameon=False, fontsize="small", loc="lower left")


def best_machine(found: list[Row], name: str) -> str:
    """Return the machine that with all features comes closest to the first published value."""
    everything = chosen(found, set=name, recipe="all features")[0]
    theirs = PUBLISHED[name][0]
    return min(MACHINES, key=lambda machine: abs(everything[machine] - theirs))
