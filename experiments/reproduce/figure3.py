"""Figure 3: accuracy and set size against the number of samples, for three neighbor fractions."""

from typing import Any

from experiments.reproduce.problems import (
    Split,
    everything,
    figure3_problem,
    measure,
    published_results,
    split_problem,
    svm,
)
from experiments.reproduce.recipes import (
    ER,
    RELEASED,
    default_sets,
    printed_sets,
    released_sets,
)
from experiments.reproduce.results import (
    COLOURS,
    DEFAULT,
    Check,
    Report,
    Row,
    Settings,
    Task,
    budget_check,
    chosen,
    markdown_table,
    number,
    plain_axes,
    summarize,
)

SAMPLES = (50, 100, 150, 200, 300, 400, 750)
FRACTIONS = (10, 20, 40)
DELTAS = (0.05, 0.1)
SPLITS = 3
RECIPES = (RELEASED, "as printed")
#: Lines of the neighbor fractions.
STYLES = ("-", "--", ":")


def tasks(settings: Settings) -> list[Task]:
    """Return two runs per number of samples and split, the long ones first."""
    samples, splits = ((60,), 1) if settings.quick else (SAMPLES, settings.splits or SPLITS)
    about = [(n, split, settings.seed) for split in range(splits) for n in reversed(samples)]
    return [
        *(
            Task(f"samples-{n:03d}-{split}", run_paper, (n, split, seed))
            for n, split, seed in about
        ),
        *(Task(f"default-{n:03d}-{s}", run_default, (n, s, seed), DEFAULT) for n, s, seed in about),
    ]


def _part(n_samples: int, split: int, seed: int, fresh: bool = True) -> Split:
    """Return the first rows of one split."""
    whole = split_problem(figure3_problem(seed), 1000 * seed + split, fresh)
    return whole._replace(X=whole.X[:n_samples], y=whole.y[:n_samples])


def run_paper(n_samples: int, split: int, seed: int) -> list[Row]:
    """Return what the recipes of the paper keep and reach."""
    part, rows, thresholds = _part(n_samples, split, seed, fresh=False), [], {ER: DELTAS}
    for fraction in FRACTIONS:
        k = max(1, n_samples // fraction)
        sets = released_sets(part.X, part.y, k, thresholds)
        sets += printed_sets(part.X, part.y, k, thresholds)
        about = {"samples": n_samples, "number": split, "fraction": fraction, "neighbors": k}
        rows += measure(part, sets, svm(1.0), **about)
    return rows


def run_default(n_samples: int, split: int, seed: int) -> list[Row]:
    """Return what the default keeps and reaches."""
    part = _part(n_samples, split, seed)
    sets = [*everything(part), *default_sets(part.X, part.y, DELTAS)]
    return measure(part, sets, svm(1.0), samples=n_samples, number=split)


def their_rows() -> list[Row]:
    """Return the small published run (another problem of the same distribution, 500 rows)."""
    rows = []
    for row in published_results().get("figure3_small_run", []):
        fraction = min(FRACTIONS, key=lambda f: abs(row["n_samples"] // f - row["n_neighbors"]))
        rows.append(
            {
                "samples": row["n_samples"],
                "fraction": fraction,
                "recipe": "published",
                "threshold": row["threshold"],
                "accuracy": row["accuracy_svm_C1"],
                "kept": row["n_selected"],
            }
        )
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Return means over splits."""
    return summarize(rows, ("samples", "recipe", "fraction", "threshold"))


def report(found: list[Row]) -> Report:
    """Compare the recipes, averaged over splits."""
    page = f"# Figure 3\n\nδ = 0.05. Accuracy / features kept.\n\n{_table(found)}\n"
    return Report(page, block(found), lambda figure: draw(figure, found), checks(found))


def block(found: list[Row]) -> str:
    """Return the table of docs/paper.md."""
    shown = (("published", 10), ("published", 40), (RELEASED, 10), ("as printed", 10),
             ("as printed", 40), ("default", None), ("all features", None))  # fmt: skip
    lines = []
    for n in sorted({row["samples"] for row in chosen(found, recipe="all features")}):
        cells = [
            _cell(found, samples=n, recipe=recipe, fraction=fraction,
                  threshold=None if recipe == "all features" else 0.05)
            for recipe, fraction in shown
        ]  # fmt: skip
        lines.append((n, *cells))
    names = [f"{r}, M/{f}" if f else r.replace("all features", "all 30") for r, f in shown]
    return markdown_table(("rows, δ = 0.05", *names), lines)


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


def checks(found: list[Row]) -> list[Check]:
    """Return what must hold: no collapse to one feature, and losses within the budget."""
    checked = []
    for delta in DELTAS:
        ours = chosen(found, recipe="default", threshold=delta)
        fewest = min(ours, key=lambda row: row["least kept"])
        reached = f"fewest {fewest['least kept']:.0f}, at {fewest['samples']} samples"
        claim = f"default at {delta:g} never collapses to one feature"
        checked.append(Check(claim, reached, fewest["least kept"] > 1))
    several = [row for row in chosen(found, recipe="default", threshold=0.05) if row["runs"] > 1]
    return checked + [budget_check(row, f"{row['samples']} samples", 30) for row in several]


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
