"""From kept sets to rows of a table: sizes and accuracies of one split."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from pinsker.datasets import PublishedProblem
from reproduce.problems import fresh_rows, machine
from reproduce.recipes import Kept
from reproduce.settings import Row


class Split(NamedTuple):
    """Rows to search and train with, rows to test with, and many more rows of the same law."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    X_fresh: np.ndarray
    y_fresh: np.ndarray
    n_useful: int


def split_problem(problem: PublishedProblem, seed: int) -> Split:
    """Split 75 to 25, as published, and draw fresh rows."""
    X, X_test, y, y_test = train_test_split(problem.X, problem.y, random_state=seed)
    fresh = fresh_rows(problem.n_useful, X.shape[1], seed)
    return Split(X, y, X_test, y_test, *fresh, problem.n_useful)


def everything(split: Split) -> list[Kept]:
    """Return all features as if a recipe had kept them."""
    return [("all features", "", float("nan"), np.ones(split.X.shape[1], dtype=bool))]


def measure(split: Split, sets: Iterable[Kept], penalty: float = 10.0, **more: Any) -> list[Row]:
    """Return one row per kept set; sets that several recipes share are trained with once."""
    known: dict[bytes, tuple[float, float]] = {}
    rows = []
    for recipe, criterion, threshold, mask in sets:
        key = mask.tobytes()
        if key not in known:
            trained = machine(penalty).fit(split.X[:, mask], split.y)
            known[key] = (
                float(trained.score(split.X_test[:, mask], split.y_test)),
                float(trained.score(split.X_fresh[:, mask], split.y_fresh)),
            )
        accuracy, fresh = known[key]
        rows.append(
            {
                **more,
                "n_useful": split.n_useful,
                "recipe": recipe,
                "criterion": criterion,
                "threshold": None if np.isnan(threshold) else float(threshold),
                "kept": int(mask.sum()),
                "useful": int(mask[: split.n_useful].sum()),
                "accuracy": accuracy,
                "fresh": fresh,
            }
        )
    return rows
