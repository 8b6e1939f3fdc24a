"""Figure 1: accuracy by stopping criterion, for 9 to 24 useful features of 30."""

from typing import Any

import numpy as np

from experiments.reproduce.problems import (
    everything,
    figure1_problem,
    measure,
    published_results,
    split_problem,
)
from experiments.reproduce.recipes import (
    COUNT,
    ER,
    FS,
    JUMP,
    default_sets,
    printed_sets,
    published_sets,
)
from experiments.reproduce.results import (
    COLOURS,
    Check,
    Report,
    Row,
    Settings,
    Task,
    average,
    chosen,
    label_of,
    markdown_table,
    number,
    plain_axes,
)

USEFUL, N_COLUMNS, N_PROBLEMS = (9, 12, 15, 18, 21, 24), 30, 5
NEIGHBORS = (3, 5, 7)
THRESHOLDS = {
    ER: (0.05, 0.5, 1.0),
    FS: (0.05, 0.15, 0.5),
    JUMP: (0.05, 0.15, 0.5),
    COUNT: (5, 10, 20),
}
THEIR_NAMES = {ER: "error", FS: "feature_score", JUMP: "delta_score", COUNT: "num_features"}
#: Budgets for the default; from 0.5 on nothing is asked of a classifier of two classes.
OURS = (0.01, 0.02, 0.05, 0.5, 1.0)
RECIPES = ("published", "as published", "as printed", "default")


def tasks(settings: Settings) -> list[Task]:
    """Return one run per problem: six numbers of useful columns, five problems each."""
    useful, problems, n_rows = (USEFUL[:1], 1, 120) if settings.quick else (USEFUL, N_PROBLEMS, 500)
    return [
        Task(f"useful-{k:02d}-{number}", run, (k, number, settings.seed, n_rows))
        for k in useful
        for number in range(problems)
    ]


def run(n_useful: int, problem: int, seed: int, n_rows: int) -> list[Row]:
    """Return what every recipe keeps and reaches on one problem."""
    table = figure1_problem(n_useful, problem, seed, n_rows)
    split = split_problem(table, 1000 * n_useful + problem)
    X, y = split.X, split.y
    sets = [*everything(split), *default_sets(X, y, OURS)]
    rows = measure(split, sets, problem=problem)
    for k in NEIGHBORS:
        by_the_book = [*published_sets(X, y, k, THRESHOLDS), *printed_sets(X, y, k, THRESHOLDS)]
        rows += measure(split, by_the_book, problem=problem, neighbors=k)
    return rows


def published_rows() -> list[Row]:
    """Return the published medians, one row per number of useful columns and threshold."""
    names = {theirs: ours for ours, theirs in THEIR_NAMES.items()}
    return [
        {
            "n_useful": row["n_useful"],
            "recipe": "published",
            "criterion": names[row["criterion"]],
            "threshold": float(row["threshold"]),
            "accuracy": row["median_accuracy_svm_C10"],
            "kept": row["mean_selected"],
        }
        for row in published_results().get("figure1", [])
        if row["n_useful"] in USEFUL
    ]


def report(settings: Settings, results: dict[str, list[Row]]) -> Report:  # noqa: ARG001
    """Compare medians, as the paper does."""
    rows = [row for run_rows in results.values() for row in run_rows]
    found = [*published_rows(), *_medians(rows)]
    page = f"# Figure 1\n\nMedian accuracy / mean number of features kept.\n\n{_table(found)}\n"
    return Report(found, page, lambda figure: draw(figure, found), checks(rows, found))


def _medians(rows: list[Row]) -> list[Row]:
    names = ("n_useful", "recipe", "criterion", "threshold")
    keys = dict.fromkeys(tuple(row[name] for name in names) for row in rows)
    found = []
    for key in keys:
        same = dict(zip(names, key, strict=True))
        group = chosen(rows, **same)
        middle = {name: average(group, name, np.median) for name in ("accuracy", "fresh")}
        means = {name: average(group, name) for name in ("kept", "useful")}
        found.append({**same, **middle, **means, "runs": len(group)})
    return found


def _table(found: list[Row]) -> str:
    useful = sorted({row["n_useful"] for row in chosen(found, recipe="default")})
    lines = []
    for k in useful:
        for criterion, thresholds in THRESHOLDS.items():
            for threshold in sorted({*thresholds, *(OURS if criterion == ER else ())}):
                cells = [
                    _cell(found, k, _run_as(r, criterion), criterion, threshold) for r in RECIPES
                ]
                lines.append((k, f"{criterion} {threshold:g}", *cells))
        lines.append((k, "all features", "", "", "", _cell(found, k, "all features", "", None)))
    return markdown_table(("useful", "criterion", *RECIPES), lines)


def _run_as(recipe: str, criterion: str) -> str:
    """Return how the published code was run: its budgets in sequence, see `as_published`."""
    return f"{recipe}, in sequence" if (recipe, criterion) == ("as published", ER) else recipe


def _cell(found: list[Row], k: int, recipe: str, criterion: str, threshold: float | None) -> str:
    rows = chosen(found, n_useful=k, recipe=recipe, criterion=criterion, threshold=threshold)
    return f"{number(rows[0]['accuracy'])} / {number(rows[0]['kept'], 1)}" if rows else ""


def checks(rows: list[Row], found: list[Row]) -> list[Check]:
    """Return what must hold on these problems."""
    result = []
    for delta in (0.05, 0.5):
        kept = [
            chosen(found, n_useful=9, recipe=recipe, criterion=ER, threshold=delta)[0]["kept"]
            for recipe in ("as published, in sequence", "as published")
        ]
        claim = f"as published keeps 30 of 30 at {delta:g} for 9 useful features"
        reached = f"{kept[0]:.1f} in sequence, {kept[1]:.1f} alone"
        result.append(Check(claim, reached, round(kept[0]) == 30))
    below = []
    for k in sorted({row["n_useful"] for row in rows}):
        theirs = chosen(found, n_useful=k, recipe="published", criterion=ER, threshold=0.05)
        result.append(_against_published(rows, k, theirs[0]["accuracy"] if theirs else None))
        ours = chosen(rows, n_useful=k, recipe="default", criterion=ER, threshold=0.05)
        below += [row["accuracy"] - theirs[0]["accuracy"] for row in ours if theirs]
    if below:
        error = float(np.std(below, ddof=1) / np.sqrt(len(below))) if len(below) > 1 else np.inf
        result.append(
            Check("default at 0.05, all numbers of useful features together, is not below ER",
                  f"{np.mean(below):+.3f} ± {error:.3f}", bool(np.mean(below) >= 0.0))
        )  # fmt: skip
    return result


def _against_published(rows: list[Row], k: int, theirs: float | None) -> Check:
    ours = chosen(rows, n_useful=k, recipe="default", criterion=ER, threshold=0.05)
    values = np.array([row["accuracy"] for row in ours])
    kept = average(ours, "kept") or float("nan")
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    reached = f"median {np.median(values):.3f}, mean {values.mean():.3f} ± {error:.3f}"
    held = None if theirs is None else bool(np.median(values) >= theirs and kept < 30)
    against = "" if theirs is None else f" against {theirs:.3f}"
    return Check(f"default at 0.05, {k} useful features: not below the published ER, fewer kept",
                 f"{reached}{against}; {kept:.1f} of 30 kept", held)  # fmt: skip


def draw(figure: Any, found: list[Row]) -> None:
    """Draw one panel per criterion: medians against the number of useful features."""
    figure.set_size_inches(11.0, 6.2)
    panels = figure.subplots(2, 4, sharex=True, sharey="row")
    marks = ("o", "s", "^")
    for upper, lower, (criterion, thresholds) in zip(*panels, THRESHOLDS.items(), strict=True):
        for recipe in RECIPES:
            for mark, threshold in zip(marks, thresholds, strict=True):
                name = _run_as(recipe, criterion)
                group = chosen(found, recipe=name, criterion=criterion, threshold=threshold)
                x = [row["n_useful"] for row in group]
                style = {"color": COLOURS[recipe], "marker": mark, "markersize": 4, "lw": 1.1}
                upper.plot(x, [row["accuracy"] for row in group], **style)
                lower.plot(x, [row["kept"] for row in group], **style)
        listed = ", ".join(f"{m} {t:g}" for m, t in zip("○□△", thresholds, strict=True))
        plain_axes(
            upper, f"{criterion} ({listed})", "", "median accuracy" if criterion == ER else ""
        )
        plain_axes(lower, "", "useful features", "features kept" if criterion == ER else "")
        upper.title.set_fontsize("medium")
    handles = [panels[0, 0].plot([], [], color=COLOURS[r], label=label_of(r))[0] for r in RECIPES]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
