"""The data of each figure: the published ones where they are at hand, else drawn afresh."""

import json
from functools import cache
from typing import Any

import numpy as np
from sklearn.svm import SVC

from pinsker.datasets import PublishedProblem, Radial, data_folders, load_published
from pinsker.exceptions import DataError

N_FRESH = 4000
#: Seeds of problems that are drawn lie this far from each other and from those of fresh rows.
FAR = 100_000


def machine(penalty: float = 10.0) -> SVC:
    """Return the machine of the figures: C = 10 and gamma = 1 / n_features, on raw columns."""
    return SVC(C=penalty, gamma="auto")


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


def fresh_rows(n_useful: int, n_columns: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return many rows of the same law, for errors without the noise of fifty test rows."""
    sample = Radial(n_useful, n_columns).sample(N_FRESH, seed=7 * FAR + number)
    return sample.X, sample.y
