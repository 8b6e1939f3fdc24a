"""Random tables for the engine's tests: every kind of column that users bring, and every trap."""

from dataclasses import dataclass

import numpy as np

NOMINAL_STEP = 1e200  # as in docs/estimator.md
STYLES = ("continuous", "tied", "nominal", "mixed", "repeated", "constant")


@dataclass(frozen=True)
class Table:
    """A table in metric form. `target` is what an estimator gets; `labels` are its classes."""

    values: np.ndarray
    features: list[list[int]]
    target: np.ndarray
    labels: np.ndarray | None

    @property
    def feature_of_column(self):
        feature_of_column = np.empty(self.values.shape[1], dtype=np.int64)
        for feature, columns in enumerate(self.features):
            feature_of_column[columns] = feature
        return feature_of_column


def draw(seed, *, rows, columns, style, target, grouped=False):
    """A table of one style; `target` is "classes", "rare classes", "number" or "numbers"."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns))
    if style in ("tied", "mixed"):
        values = np.round(values * 2) / 2
    if style in ("nominal", "mixed"):
        values[:, 0] = rng.integers(0, 3, rows) * NOMINAL_STEP
        values[:, columns // 2] = rng.integers(0, 2, rows) * NOMINAL_STEP
    if style == "repeated":
        values[:, -1] = values[:, 0]
    if style == "constant":
        values[:, 0] = 0.0
    features = [[c] for c in range(columns)]
    if grouped and columns > 3:  # columns of a feature need not be neighbours
        features = [[0, 2], [1, columns - 1]] + [[c] for c in range(3, columns - 1)]
    return Table(values, features, *_draw_target(rng, values, rows, target, style))


def _draw_target(rng, values, rows, target, style):
    finite = np.where(np.abs(values) < NOMINAL_STEP / 2, values, 0.0)
    if target in ("classes", "rare classes"):
        labels = (finite[:, -1] + rng.normal(size=rows) > 0).astype(np.int64)
        if target == "rare classes":  # two rows, and one alone: fewer than any number of neighbours
            labels[:3] = (2, 2, 3)
        return (labels * NOMINAL_STEP)[:, None], labels
    numbers = finite[:, -1:] + rng.normal(size=(rows, 1 if target == "number" else 2))
    return (np.round(numbers) if style in ("tied", "mixed") else numbers), None
