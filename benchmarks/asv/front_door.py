"""The front door and its parts at small sizes: ``asv run``, ``asv compare main HEAD``.

Seconds each, so that a slowdown is seen by commit; `benchmarks/front_door.py` has the real sizes.
"""

import numpy as np

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    FeatureCount,
    FeatureSelector,
    ForwardSelection,
    LinearSelection,
)


def table(n_rows, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


class FrontDoor:
    """`FeatureSelector.fit` on few rows (cross-fitting) and on many (three parts)."""

    params = ([(300, 10), (6000, 10)], [0.05])
    param_names = ("shape", "budget")
    timeout = 300

    def setup(self, shape, budget):
        self.X, self.y = table(*shape)

    def time_fit(self, shape, budget):
        FeatureSelector(budget, random_state=0).fit(self.X, self.y)

    def peakmem_fit(self, shape, budget):
        FeatureSelector(budget, random_state=0).fit(self.X, self.y)


class Searches:
    """One search each, without held-out rows."""

    def setup(self):
        self.X, self.y = table(600, 15)

    def time_backward(self):
        BackwardElimination(FeatureCount(1), cv=0).fit(self.X, self.y)

    def time_forward(self):
        ForwardSelection(FeatureCount(8), cv=0).fit(self.X, self.y)

    def time_linear(self):
        LinearSelection(0.05).fit(self.X, self.y)

    def time_jmi(self):
        CriterionSelection("jmi", 10).fit(self.X, self.y)
