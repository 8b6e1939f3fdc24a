"""Random tables for the engine's tests: every kind of column that users bring, and every trap."""

from dataclasses import dataclass

import numpy as np

from pinsker.engine import Problem

NOMINAL_STEP = 1e200  # as in docs/estimator.md
#: Kinds of a single column, and styles of a whole table.
KINDS = ("continuous", "tied", "decimal", "nominal", "constant", "inflated", "huge", "tiny")
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

    def problem(self):
        return Problem.from_arrays(
            self.values,
            features=self.feature_of_column,
            labels=self.labels,
            target=None if self.labels is not None else self.target,
        )


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
    if grouped and columns > 3:  # columns of a feature need not be adjacent
        features = [[0, 2], [1, columns - 1]] + [[c] for c in range(3, columns - 1)]
    return Table(values, features, *_draw_target(rng, values, rows, target, style))


def _draw_target(rng, values, rows, target, style):
    finite = np.where(np.abs(values) < NOMINAL_STEP / 2, values, 0.0)
    if target in ("classes", "rare classes"):
        labels = (finite[:, -1] + rng.normal(size=rows) > 0).astype(np.int64)
        if target == "rare classes":  # two rows, and one alone: fewer than any number of neighbors
            labels[:3] = (2, 2, 3)
        return (labels * NOMINAL_STEP)[:, None], labels
    numbers = finite[:, -1:] + rng.normal(size=(rows, 1 if target == "number" else 2))
    return (np.round(numbers) if style in ("tied", "mixed") else numbers), None


def column(rng, n, kind):
    """One column in metric form."""
    normal = rng.normal(size=n)
    return {
        "continuous": lambda: normal,
        "tied": lambda: rng.integers(0, 4, size=n) * 0.1,
        "decimal": lambda: np.round(normal, 1) * 3 / 7,  # equal distances that round apart
        "nominal": lambda: rng.integers(0, 3, size=n) * NOMINAL_STEP,
        "constant": lambda: np.full(n, 2.5),
        "inflated": lambda: np.where(rng.random(n) < 0.5, normal, 0.0),
        "huge": lambda: normal * 1e100,  # some distances count as infinite, some do not
        "tiny": lambda: rng.integers(0, 5, size=n) * 5e-324,  # subnormal distances
    }[kind]()


def columns(rng, n, kinds):
    """Several columns, one of each kind given."""
    return np.ascontiguousarray(np.array([column(rng, n, k) for k in kinds]).T.reshape(n, -1))


def random_table(seed, *, most_rows=24, most_columns=3):
    """x, y, z of random kinds, some rows repeated; z has no columns now and then."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, most_rows)), int(rng.integers(1, 7))
    widths = (rng.integers(1, most_columns + 1), rng.integers(1, 3), rng.integers(0, 4))
    x, y, z = (columns(rng, n, rng.choice(KINDS, size=d)) for d in widths)
    if rng.random() < 0.3:  # duplicates of whole rows
        rows = rng.integers(0, n, size=n)
        x, y, z = x[rows], y[rows], z[rows]
    return x, y, z, k
