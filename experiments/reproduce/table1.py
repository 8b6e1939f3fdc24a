"""Table I: five data sets, five budgets, twenty splits; with the set sizes that the paper omits."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.paper_data import load_allaml, load_glass, load_orl, load_warp_ar10p, load_wine
from experiments.reproduce.recipes import (
    ER,
    Kept,
    backward_sets,
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
from pinsker.exceptions import PinskerError

LOADERS: dict[str, Callable[[], Any]] = {
    "ORL": load_orl,
    "warpAR10P": load_warp_ar10p,
    "glass": load_glass,
    "wine": load_wine,
    "ALLAML": load_allaml,
}
#: Glass with the column that its file starts with. Rows are sorted by class, so that the number of
#: a row tells its class: the only way we found to an accuracy of 0.99.
WITH_ROW_NUMBER = "glass with row number"
SETS = (*LOADERS, WITH_ROW_NUMBER)
#: The paper names an SVM with scikit-learn's defaults. It does not say how columns were
#: scaled; unscaled, such an SVM learns nothing about wine or faces (accuracy 0.44, 0.13, 0.32).
SVMS = ("rbf", "linear")


class Rows(NamedTuple):
    """Rows to search and train with, and rows to test with."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    raw: bool = False


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return table and classes of a set."""
    if name == WITH_ROW_NUMBER:
        X, y = load_glass()
        return np.column_stack([np.arange(1.0, len(X) + 1.0), X]), y
    X, y = LOADERS[name]()
    return np.asarray(X, dtype=float), y


@cache
def missing_sets(names: tuple[str, ...]) -> dict[str, str]:
    """Return the sets that are neither in a folder nor to be downloaded, with the reason."""
    missing = {}
    for name in names:
        try:
            load(name)
        except PinskerError as error:
            missing[name] = str(error)
    return missing


def split_rows(X: np.ndarray, y: np.ndarray, seed: int) -> Rows:
    """Split 75 to 25 with the same class frequencies."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
    # Whoever left the row number in did not scale it: scaled, it would weigh as one in ten.
    raw = bool(np.array_equal(np.sort(X[:, 0]), np.arange(1.0, len(X) + 1.0)))
    return Rows(X_train, y_train, X_test, y_test, raw)


def accuracies(rows: Rows, sets: Sequence[Kept]) -> list[dict[str, float]]:
    """Return the accuracy of every SVM with every set; equal sets are trained with once."""
    known: dict[bytes, dict[str, float]] = {}
    for *_, mask in sets:
        key = mask.tobytes()
        if key not in known:
            known[key] = {name: _accuracy(rows, mask, name) for name in SVMS}
    return [known[mask.tobytes()] for *_, mask in sets]


def _accuracy(rows: Rows, mask: np.ndarray, name: str) -> float:
    svm = SVC(kernel="linear") if name == "linear" else SVC(C=10.0, gamma="auto")
    model = svm if rows.raw else make_pipeline(StandardScaler(), svm)
    model.fit(rows.X[:, mask], rows.y)
    return float(model.score(rows.X_test[:, mask], rows.y_test))


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
        sets += backward_sets(rows.X, rows.y, DELTAS)
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
        for svm in SVMS:
            summary[svm] = average(group, svm)
            summary[f"{svm} spread"] = average(group, svm, np.std)
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
    words = f"Accuracy ± spread over the splits with each SVM ({', '.join(SVMS)}) / size.\n"
    return f"{words}\n{markdown_table(head, lines)}"


def _cell(found: list[Row], **wanted: Any) -> str:
    rows = chosen(found, **wanted)
    if not rows:
        return ""
    row = rows[0]
    reached = [f"{number(row[m], 2)} ± {number(row[f'{m} spread'], 2)}" for m in SVMS]
    return f"{', '.join(reached)} / {number(row['kept'], 1)}"


def draw(figure: Any, found: list[Row]) -> None:
    """Draw one panel per data set: accuracy against the budget, sizes written beside."""
    names = [name for name in SETS if chosen(found, set=name, recipe="default")]
    figure.set_size_inches(2.6 * max(len(names), 2), 3.4)
    panels = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
    for axes, name in zip(panels, names, strict=True):
        svm = best_svm(found, name)
        for recipe in ("published", "as printed", "default"):
            column = "accuracy" if recipe == "published" else svm
            rows = chosen(found, set=name, recipe=recipe)
            axes.plot(range(len(rows)), [row[column] for row in rows], marker="o", markersize=3.5,
                      color=COLOURS[recipe], label=label_of(recipe))  # fmt: skip
        for place, row in enumerate(chosen(found, set=name, recipe="default")):
            axes.annotate(f"{row['kept']:.0f}", (place, row[svm]), fontsize="x-small",
                          xytext=(0, -10), textcoords="offset points", ha="center",
                          color=COLOURS["default"])  # fmt: skip
        axes.set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
        plain_axes(axes, f"{name}\n({svm} SVM)", "δ", "accuracy" if name == names[0] else "")
    panels[0].legend(frameon=False, fontsize="small", loc="lower left")


def best_svm(found: list[Row], name: str) -> str:
    """Return the SVM that with all features comes closest to the first published value."""
    everything = chosen(found, set=name, recipe="all features")[0]
    theirs = PUBLISHED[name][0]
    return min(SVMS, key=lambda svm: abs(everything[svm] - theirs))


#: What the paper prints, for error budgets of 0.05, 0.1, 0.25, 0.5 and 1.
PUBLISHED = {
    "ORL": (0.8, 0.75, 0.7, 0.7375, 0.7125),
    "warpAR10P": (0.97, 0.98, 0.98, 0.98, 0.98),
    "glass": (0.99, 0.99, 0.99, 0.99, 0.99),
    "wine": (0.96, 0.96, 0.96, 0.95, 0.83),
    "ALLAML": (1.0, 1.0, 1.0, 0.92, 0.78),
}
#: Sets whose published numbers no protocol of ours reaches with *all* features.
UNMATCHED = {
    "glass": "0.99 needs the row number as a feature, see 'glass with row number'",
}


def checks(found: list[Row]) -> list[Check]:
    """Return one claim per cell."""
    result = []
    for name, values in PUBLISHED.items():
        for row in chosen(found, set=name, recipe="default"):
            theirs = values[(0.05, 0.1, 0.25, 0.5, 1.0).index(row["threshold"])]
            result.append(_check(found, name, row, theirs))
    return result


def _check(found: list[Row], name: str, row: Row, theirs: float) -> Check:
    """Compare with the SVM that matches the published value best with all features.

    The published value is one split: its own standard error is the spread over ours.
    """
    full = chosen(found, set=name, recipe="all features")[0]
    svm = min(SVMS, key=lambda m: abs(full[m] - PUBLISHED[name][0]))
    ours, spread, splits = row[svm], row[f"{svm} spread"], row["splits"]
    error = float(np.sqrt(spread**2 / splits + max(spread, full[f"{svm} spread"]) ** 2))
    lost = full[svm] - ours
    mean = f"{ours:.3f} ± {spread / np.sqrt(splits):.3f}"
    reached = f"{mean} against {theirs:g}, {row['kept']:.1f} features, {svm} SVM"
    claim = f"{name} at {row['threshold']:g}: not below the published accuracy"
    if name in UNMATCHED:
        return Check(claim, f"{reached}; not to be matched: {UNMATCHED[name]}", None)
    held = bool(ours >= theirs - 2 * error)
    if held and ours < theirs - 2 * spread / np.sqrt(splits):
        reached += "; below by more than two standard errors of our mean alone"
    if not held:
        within = "within" if lost <= row["threshold"] else "above"
        reached += f"; lost {lost:.3f}, {within} the budget"
    return Check(claim, reached, held)
