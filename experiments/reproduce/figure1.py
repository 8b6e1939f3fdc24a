"""Figure 1: accuracy by stopping criterion, for 9 to 24 useful features of 30."""

from typing import Any

from experiments.reproduce.problems import (
    Split,
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
    IN_SEQUENCE,
    JUMP,
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
    label_of,
    markdown_table,
    number,
    plain_axes,
    summarize,
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
RECIPES = ("published", RELEASED, "as printed", "default")


def tasks(settings: Settings) -> list[Task]:
    """Return two runs per problem: six numbers of useful columns, five problems each."""
    useful, problems, n_rows = (USEFUL[:1], 1, 120) if settings.quick else (USEFUL, N_PROBLEMS, 500)
    about = [(k, problem, settings.seed, n_rows) for k in useful for problem in range(problems)]
    return [
        *(Task(f"useful-{one[0]:02d}-{one[1]}", run_paper, one) for one in about),
        *(Task(f"default-{one[0]:02d}-{one[1]}", run_default, one, DEFAULT) for one in about),
    ]


def run_paper(n_useful: int, problem: int, seed: int, n_rows: int) -> list[Row]:
    """Return what the recipes of the paper keep and reach on one problem."""
    split = _split(n_useful, problem, seed, n_rows, fresh=False)
    rows = []
    for k in NEIGHBORS:
        sets = released_sets(split.X, split.y, k, THRESHOLDS)
        sets += printed_sets(split.X, split.y, k, THRESHOLDS)
        rows += measure(split, sets, problem=problem, neighbors=k)
    return rows


def run_default(n_useful: int, problem: int, seed: int, n_rows: int) -> list[Row]:
    """Return what the default keeps and reaches on one problem."""
    split = _split(n_useful, problem, seed, n_rows)
    sets = [*everything(split), *default_sets(split.X, split.y, OURS)]
    return measure(split, sets, problem=problem)


def _split(n_useful: int, problem: int, seed: int, n_rows: int, fresh: bool = True) -> Split:
    table = figure1_problem(n_useful, problem, seed, n_rows)
    return split_problem(table, 1000 * n_useful + problem, fresh)


def summary(rows: list[Row]) -> list[Row]:
    """Return medians, as the paper does, and means; all problems together for the default."""
    ours = [row for row in rows if row["recipe"] == "default"]
    together = [{**row, "n_useful": None} for row in ours]
    return summarize([*rows, *together], ("n_useful", "recipe", "criterion", "threshold"))


def their_rows() -> list[Row]:
    """Return the published medians, one row per number of useful columns and threshold."""
    names = {theirs: ours for ours, theirs in THEIR_NAMES.items()}
    return [
        {
            "n_useful": row["n_useful"],
            "recipe": "published",
            "criterion": names[row["criterion"]],
            "threshold": float(row["threshold"]),
            "median": row["median_accuracy_svm_C10"],
            "kept": row["mean_selected"],
        }
        for row in published_results().get("figure1", [])
        if row["n_useful"] in USEFUL
    ]


def report(found: list[Row]) -> Report:
    """Compare medians, as the paper does."""
    page = f"# Figure 1\n\nMedian accuracy / mean number of features kept.\n\n{_table(found)}\n"
    return Report(page, block(found), lambda figure: draw(figure, found), checks(found))


def _useful(found: list[Row]) -> list[int]:
    return sorted({row["n_useful"] for row in chosen(found, recipe="all features")})


def _table(found: list[Row]) -> str:
    lines = []
    for k in _useful(found):
        for criterion, thresholds in THRESHOLDS.items():
            for threshold in sorted({*thresholds, *(OURS if criterion == ER else ())}):
                cells = [
                    _cell(found, k, _run_as(r, criterion), criterion, threshold) for r in RECIPES
                ]
                lines.append((k, f"{criterion} {threshold:g}", *cells))
        lines.append((k, "all features", "", "", "", _cell(found, k, "all features", "", None)))
    return markdown_table(("useful", "criterion", *RECIPES), lines)


def block(found: list[Row]) -> str:
    """Return the table of docs/paper.md."""
    lines = []
    for k in _useful(found):
        names = ("published", IN_SEQUENCE, "as printed", "default")
        cells = [_cell(found, k, name, ER, 0.05) for name in names]
        ours = chosen(found, n_useful=k, recipe="default", criterion=ER, threshold=0.05)[0]
        lost = f"{ours['lost']:+.3f} ± {number(ours['lost error'])}"
        cells += [lost, _cell(found, k, "default", ER, 0.02)]
        lines.append((k, *cells, _cell(found, k, "all features", "", None)))
    head = ("useful, δ = 0.05", "published ER", "released code", "as printed", "default",
            "default: lost, paired", "default, δ = 0.02", "all 30")  # fmt: skip
    return markdown_table(head, lines)


def _run_as(recipe: str, criterion: str) -> str:
    """Return how the released code was run: its budgets in sequence, see `released_code`."""
    return IN_SEQUENCE if (recipe, criterion) == (RELEASED, ER) else recipe


def _cell(found: list[Row], k: int, recipe: str, criterion: str, threshold: float | None) -> str:
    rows = chosen(found, n_useful=k, recipe=recipe, criterion=criterion, threshold=threshold)
    return f"{number(rows[0]['median'])} / {number(rows[0]['kept'], 1)}" if rows else ""


def checks(found: list[Row]) -> list[Check]:
    """Return what must hold on these problems: losses are paired, the published stand beside."""
    result = []
    for delta in (0.05, 0.5):
        kept = [
            chosen(found, n_useful=9, recipe=recipe, criterion=ER, threshold=delta)[0]["kept"]
            for recipe in (IN_SEQUENCE, RELEASED)
        ]
        claim = f"released code keeps 30 of 30 at {delta:g} for 9 useful features"
        reached = f"{kept[0]:.1f} in sequence, {kept[1]:.1f} alone"
        result.append(Check(claim, reached, round(kept[0]) == 30))
    for k in (*_useful(found), None):
        row = chosen(found, n_useful=k, recipe="default", criterion=ER, threshold=0.05)[0]
        theirs = chosen(found, n_useful=k, recipe="published", criterion=ER, threshold=0.05)
        beside = f"; median {row['median']:.3f}"
        if theirs:
            beside += f", published {theirs[0]['median']:.3f} with {theirs[0]['kept']:.1f}"
        of = "all problems" if k is None else f"{k} useful features"
        result.append(budget_check(row, of, N_COLUMNS, beside))
    return result


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
                group = sorted(
                    (row for row in group if row["n_useful"]), key=lambda row: row["n_useful"]
                )
                x = [row["n_useful"] for row in group]
                style = {"color": COLOURS[recipe], "marker": mark, "markersize": 4, "lw": 1.1}
                upper.plot(x, [row["median"] for row in group], **style)
                lower.plot(x, [row["kept"] for row in group], **style)
        listed = ", ".join(f"{m} {t:g}" for m, t in zip("○□△", thresholds, strict=True))
        plain_axes(
            upper, f"{criterion} ({listed})", "", "median accuracy" if criterion == ER else ""
        )
        plain_axes(lower, "", "useful features", "features kept" if criterion == ER else "")
        upper.title.set_fontsize("medium")
    handles = [panels[0, 0].plot([], [], color=COLOURS[r], label=label_of(r))[0] for r in RECIPES]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
