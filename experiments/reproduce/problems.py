"""The data of Figures 1 to 3, their splits, and what each kept set reaches on them.

Published tables are used where they are at hand; others of the same distribution are drawn.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, SVR

from experiments.paper_data import PublishedProblem, load_published
from experiments.paper_files import data_folders
from experiments.reproduce.recipes import Kept
from experiments.reproduce.results import Row
from pinsker.datasets import Radial
from pinsker.exceptions import DataError
from tests.truths import AdditiveCurves

N_FRESH = 4000
#: Seeds of problems that are drawn lie this far from each other and from those of fresh rows.
FAR = 100_000


def svm(penalty: float = 10.0) -> SVC:
    """Return the SVM of the figures: C = 10 and gamma = 1 / n_features, on raw columns."""
    return SVC(C=penalty, gamma="auto")


def svr(penalty: float = 10.0) -> SVR:
    """Return the SVM of the regression problems."""
    return SVR(C=penalty, gamma="auto")


@cache
def published(which: Any) -> tuple[PublishedProblem, ...]:
    """Return the tables behind a figure; none where they are not at hand."""
    try:
        return load_published(which)
    except DataError:
        return ()


@cache
def published_results() -> dict[str, Any]:
    """Return the raw numbers behind the published figures; empty where they are not at hand."""
    for folder in data_folders():
        path = folder / "paper_results.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {}


def figure1_problem(n_useful: int, number: int, seed: int, n_rows: int = 500) -> PublishedProblem:
    """Return one of five problems of 500 rows and 30 columns; the published ones are not kept."""
    drawn = Radial(n_useful, 30).sample(n_rows, seed=FAR * (seed + 1) + 100 * n_useful + number)
    return PublishedProblem(*drawn, n_useful)


def figure2_problem(number: int, seed: int) -> PublishedProblem:
    """Return one of the 50 problems of 200 rows and 15 columns."""
    if published("binary"):
        return published("binary")[number]
    n_useful = 3 + number % 9  # the published ones have 3 to 11
    drawn = Radial(n_useful, 15).sample(200, seed=FAR * (seed + 1) + number)
    return PublishedProblem(*drawn, n_useful)


def figure3_problem(seed: int) -> PublishedProblem:
    """Return the 1000 x 30 problem with ten useful columns."""
    if published("figure3"):
        return published("figure3")[0]
    return PublishedProblem(*Radial(10, 30).sample(1000, seed=FAR * (seed + 1)), 10)


def regression_problem(number: int, seed: int) -> PublishedProblem:
    """Return one of the 50 regression problems of 200 rows and 15 columns."""
    if published("regression"):
        return published("regression")[number]
    drawn = AdditiveCurves().sample(200, seed=FAR * (seed + 1) + number)
    return PublishedProblem(*drawn, 4)


def fresh_rows(n_useful: int, n_columns: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return many rows of the same distribution: errors without the noise of fifty test rows."""
    sample = Radial(n_useful, n_columns).sample(N_FRESH, seed=7 * FAR + number)
    return sample.X, sample.y


class Split(NamedTuple):
    """Rows to search and train with, rows to test with, and many more of the same distribution."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    X_fresh: np.ndarray
    y_fresh: np.ndarray
    n_useful: int


def split_problem(problem: PublishedProblem, seed: int, fresh: bool = True) -> Split:
    """Split 75 to 25, as published, and draw fresh rows, which only the default is judged by."""
    X, X_test, y, y_test = train_test_split(problem.X, problem.y, random_state=seed)
    drawn = fresh_rows(problem.n_useful, X.shape[1], seed) if fresh else (X[:0], y[:0])
    return Split(X, y, X_test, y_test, *drawn, problem.n_useful)


def everything(split: Split) -> list[Kept]:
    """Return all features as if a recipe had kept them."""
    return [("all features", "", float("nan"), np.ones(split.X.shape[1], dtype=bool))]


def measure(split: Split, sets: Iterable[Kept], model: Any = None, **more: Any) -> list[Row]:
    """Return one row per kept set, with what it loses against all features on the same rows."""
    known: dict[bytes, tuple[float, float]] = {}

    def score(mask: np.ndarray) -> tuple[float, float]:
        key = mask.tobytes()
        if key not in known:
            trained = clone(svm() if model is None else model).fit(split.X[:, mask], split.y)
            test = trained.score(split.X_test[:, mask], split.y_test)
            fresh = np.nan
            if len(split.X_fresh):
                fresh = trained.score(split.X_fresh[:, mask], split.y_fresh)
            known[key] = float(test), float(fresh)
        return known[key]

    whole, rows = score(everything(split)[0][3]), []
    for recipe, criterion, threshold, mask in sets:
        accuracy, fresh = score(mask)
        row = {
            **more,
            "n_useful": split.n_useful,
            "recipe": recipe,
            "criterion": criterion,
            "threshold": None if np.isnan(threshold) else float(threshold),
            "kept": int(mask.sum()),
            "useful": int(mask[: split.n_useful].sum()),
            "accuracy": accuracy,
            "lost": whole[0] - accuracy,
        }
        if len(split.X_fresh):
            row |= {"fresh": fresh, "lost_fresh": whole[1] - fresh}
        rows.append(row)
    return rows
