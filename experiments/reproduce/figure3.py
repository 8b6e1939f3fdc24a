"""Figure 3: accuracy and set size against the number of samples, for three neighbor fractions."""

from typing import Any

from experiments.reproduce.problems import (
    everything,
    figure3_problem,
    measure,
    published_results,
    split_problem,
)
from experiments.reproduce.recipes import ER, default_sets, printed_sets, published_sets
from experiments.reproduce.results import (
    COLOURS,
    Check,
    Report,
    Row,
    Settings,
    Task,
    average,
    chosen,
    markdown_table,
    number,
    plain_axes,
)

SAMPLES = (50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 750)
FRACTIONS = (10, 20, 40)
DELTAS = (0.05, 0.1)
SPLITS = 3
RECIPES = ("as published", "as printed")
#: Lines of the neighbor fractions.
STYLES = ("-", "--", ":")


def tasks(settings: Settings) -> list[Task]:
    """Return one run per number of samples and split."""
    samples, splits = ((60,), 1) if settings.quick else (SAMPLES, SPLITS)
    return [
        Task(f"samples-{n:03d}-{split}", run, (n, split, settings.seed))
        for split in range(splits)
        for n in reversed(samples)  # the long ones first
    ]


def run(n_samples: int, split: int, seed: int) -> list[Row]:
    """Return what every recipe keeps and reaches with the first rows of one split."""
    whole = split_problem(figure3_problem(seed), 1000 * seed + split)
    part = whole._replace(X=whole.X[:n_samples], y=whole.y[:n_samples])
    about = {"samples": n_samples, "number": split}
    sets = [*everything(part), *default_sets(part.X, part.y, DELTAS)]
    rows = measure(part, sets, 1.0, **about)
    for fraction in FRACTIONS:
        k = max(1, n_samples // fraction)
        thresholds = {ER: DELTAS}
        sets = published_sets(part.X, part.y, k, thresholds)
        sets += printed_sets(part.X, part.y, k, thresholds)
        rows += measure(part, sets, 1.0, fraction=fraction, neighbors=k, **about)
    return rows


def published_rows() -> list[Row]:
    """Return the small published run (another problem of the same distribution, 500 rows)."""
    rows = []
    for row in published_results().get("figure3_small_run", []):
        fraction = min(FRACTIONS, key=lambda f: abs(row["n_samples"] // f - row["n_neighbors"]))
        rows.append(
            {
                "samples": row["n_samples"],
                "fraction": fraction,
                "neighbors": row["n_neighbors"],
                "recipe": "published",
                "threshold": row["threshold"],
                "accuracy": row["accuracy_svm_C1"],
                "kept": row["n_selected"],
            }
        )
    return rows


def report(settings: Settings, results: dict[str, list[Row]]) -> Report:  # noqa: ARG001
    """Compare the recipes, averaged over splits."""
    rows = [row for run_rows in results.values() for row in run_rows]
    found = [*published_rows(), *_means(rows)]
    page = f"# Figure 3\n\nδ = 0.05. Accuracy / features kept.\n\n{_table(found)}\n"
    return Report(found, page, lambda figure: draw(figure, found), checks(rows))


def _means(rows: list[Row]) -> list[Row]:
    names = ("samples", "recipe", "fraction", "threshold")
    keys = dict.fromkeys(tuple(row.get(name) for name in names) for row in rows)
    found = []
    for key in keys:
        same = dict(zip(names, key, strict=True))
        group = chosen(rows, **same)
        summary = {name: average(group, name) for name in ("accuracy", "fresh", "kept", "useful")}
        summary["least_kept"] = average(group, "kept", min)
        found.append({**same, **summary})
    return found


def _table(found: list[Row], delta: float = 0.05) -> str:
    samples = sorted({row["samples"] for row in chosen(found, recipe="default")})
    head = ["samples"]
    head += [f"{recipe}, M/{f}" for recipe in ("published", *RECIPES) for f in FRACTIONS]
    lines = []
    for n in samples:
        cells = [
            _cell(found, samples=n, recipe=recipe, fraction=fraction, threshold=delta)
            for recipe in ("published", *RECIPES)
            for fraction in FRACTIONS
        ]
        ours = _cell(found, samples=n, recipe="default", threshold=delta)
        lines.append((n, *cells, ours, _cell(found, samples=n, recipe="all features")))
    return markdown_table([*head, "pinsker's default", "all features"], lines)


def _cell(found: list[Row], **wanted: Any) -> str:
    rows = chosen(found, **wanted)
    return f"{number(rows[0]['accuracy'])} / {number(rows[0]['kept'], 1)}" if rows else ""


def checks(rows: list[Row]) -> list[Check]:
    """Return what must hold: no collapse to one feature."""
    found = []
    for delta in DELTAS:
        ours = chosen(rows, recipe="default", threshold=delta)
        fewest = min(ours, key=lambda row: row["kept"])
        reached = f"fewest {fewest['kept']}, at {fewest['samples']} samples"
        claim = f"default at {delta:g} never collapses to one feature"
        found.append(Check(claim, reached, fewest["kept"] > 1))
    return found


def draw(figure: Any, found: list[Row]) -> None:
    """Draw accuracy above and set size below; one line style per neighbor fraction."""
    figure.set_size_inches(9.0, 6.0)
    panels = figure.subplots(2, 3, sharex=True, sharey="row")
    names = ("published", *RECIPES)
    for (upper, lower), recipe in zip(panels.T, names, strict=True):
        ours = chosen(found, recipe="default", threshold=0.05)
        _curves(upper, lower, ours, COLOURS["default"], "-")
        full = chosen(found, recipe="all features")
        _curves(upper, lower, full, COLOURS["all features"], "-")
        for fraction, style in zip(FRACTIONS, STYLES, strict=True):
            group = chosen(found, recipe=recipe, fraction=fraction, threshold=0.05)
            _curves(upper, lower, group, COLOURS[recipe], style)
        plain_axes(upper, recipe, "", "accuracy" if recipe == "published" else "")
        plain_axes(lower, "", "samples", "features kept" if recipe == "published" else "")

    styles = [("pinsker's default", COLOURS["default"], "-"), ("all features", "black", "-")]
    styles += [(f"M/{f} neighbors", "#555555", s) for f, s in zip(FRACTIONS, STYLES, strict=True)]
    handles = [
        panels[0, 0].plot([], [], color=colour, linestyle=style, label=label)[0]
        for label, colour, style in styles
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)


def _curves(upper: Any, lower: Any, rows: list[Row], colour: str, style: str) -> None:
    rows = sorted(rows, key=lambda row: row["samples"])
    x = [row["samples"] for row in rows]
    look = {"color": colour, "linestyle": style, "marker": "o", "markersize": 3, "linewidth": 1.2}
    upper.plot(x, [row["accuracy"] for row in rows], **look)
    lower.plot(x, [row["kept"] for row in rows], **look)
