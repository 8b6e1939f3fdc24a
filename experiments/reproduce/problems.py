"""The data of each figure: the published ones where they are at hand, else drawn afresh."""

import json
from functools import cache
from typing import Any

import numpy as np
from reproduce.datafolder import data_folder
from sklearn.svm import SVC

from pinsker.datasets import Radial

N_FRESH = 4000
#: Seeds of problems that are drawn lie this far from each other and from those of fresh rows.
FAR = 100_000


def machine(penalty: float = 10.0) -> SVC:
    """Return the machine of the figures: C = 10 and gamma = 1 / n_features, on raw columns."""
    return SVC(C=penalty, gamma="auto")


@cache
def stored(name: str) -> dict[str, np.ndarray] | None:
    """Return a published problem file, or None where it is not at hand."""
    folder = data_folder()
    if folder is None or not (folder / name).exists():
        return None
    with np.load(folder / name) as file:
        return {key: file[key] for key in file.files}


@cache
def published_results() -> dict[str, Any]:
    """Return the raw numbers behind the published figures; empty where they are not at hand."""
    folder = data_folder()
    if folder is None or not (folder / "paper_results.json").exists():
        return {}
    return json.loads((folder / "paper_results.json").read_text(encoding="utf-8"))


def figure2_problem(number: int, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return table, classes and number of useful columns of one of the 50 problems."""
    file = stored("paper_synthetic_binary.npz")
    if file is not None:
        return file["X"][number], file["y"][number], int(file["n_useful"][number])
    n_useful = 3 + number % 9  # the published ones have 3 to 11
    return *Radial(n_useful, 15).sample(200, seed=FAR * (seed + 1) + number), n_useful


def figure3_problem(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the 1000 x 30 problem with ten useful columns."""
    file = stored("paper_synthetic_k10.npz")
    if file is not None:
        return file["X"], file["y"], int(file["n_useful"])
    return *Radial(10, 30).sample(1000, seed=FAR * (seed + 1)), 10


def fresh_rows(n_useful: int, n_columns: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return many rows of the same law, for errors without the noise of fifty test rows."""
    sample = Radial(n_useful, n_columns).sample(N_FRESH, seed=7 * FAR + number)
    return sample.X, sample.y
