"""The two default models that are fitted hundreds of times, each in its fastest form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from pinsker._types import FloatArray, IntArray
from pinsker.engine import class_probabilities, mean_values
from pinsker.information.models._model import HoldoutModel, log_shares, sum_of_pairs

#: So many columns are tried in every node of a tree, and a third of them where there are more.
#: Few (the square root is customary) leave a tree blind among idle columns: with 5 of 200 columns
#: at work the error was 0.27 to 0.32, and 0.20 to 0.21 with all tried (benchmarks/trees.py).
_TRIED = 64
#: From so many columns on, a matrix product beats the machine's own distances (measured).
_MANY_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class RBFSVM(HoldoutModel):
    """A support vector machine with the radial kernel exp(-|x - x'|² / (d v)).

    d is the number of columns and v the variance of all training values, as scikit-learn's
    ``gamma="scale"`` has it. With many columns the kernel is handed over as a matrix.
    """

    name: str = "svm"
    estimator: Any = None

    def _class_margins(
        self, train: FloatArray, labels: IntArray, test: FloatArray, n_classes: int
    ) -> FloatArray:
        kernel, train, test = _kernel(train, test)
        machine = SVC(kernel=kernel, decision_function_shape="ovo").fit(train, labels)
        margins = np.asarray(machine.decision_function(test), dtype=np.float64)
        if n_classes == 2:
            return np.column_stack([-margins, margins])
        return sum_of_pairs(margins, n_classes)

    def _numbers(self, train: FloatArray, numbers: FloatArray, test: FloatArray) -> FloatArray:
        kernel, train, test = _kernel(train, test)
        return np.asarray(SVR(kernel=kernel, C=10.0).fit(train, numbers).predict(test))


@dataclass(frozen=True, eq=False)
class ExtraTrees(HoldoutModel):
    """Extremely randomised trees with at least two rows in a leaf.

    All columns are tried in every node, or the larger of 64 and a third of them.
    """

    name: str = "extra trees"
    estimator: Any = None
    n_trees: int = 64
    min_leaf: int = 2
    seed: int = 0

    def _class_margins(
        self, train: FloatArray, labels: IntArray, test: FloatArray, n_classes: int
    ) -> FloatArray:
        shares = class_probabilities(train, labels, test, n_classes, **self._settings(train))
        return log_shares(shares, len(train))

    def _numbers(self, train: FloatArray, numbers: FloatArray, test: FloatArray) -> FloatArray:
        return mean_values(train, numbers, test, **self._settings(train))

    def _settings(self, train: FloatArray) -> dict[str, int]:
        n_columns = train.shape[1]
        tried = min(n_columns, max(_TRIED, n_columns // 3))
        return {
            "n_trees": self.n_trees,
            "min_leaf": self.min_leaf,
            "n_candidates": tried,
            "seed": self.seed,
        }


def _kernel(train: FloatArray, test: FloatArray) -> tuple[str, FloatArray, FloatArray]:
    """Return what a machine takes: the columns themselves, or the kernel between the rows."""
    n_columns, spread = train.shape[1], float(train.var())
    if n_columns < _MANY_COLUMNS or spread == 0.0:
        return "rbf", train, test
    rate = 1.0 / (n_columns * spread)
    return "precomputed", _radial(train, train, rate), _radial(test, train, rate)


def _radial(rows: FloatArray, others: FloatArray, rate: float) -> FloatArray:
    squares = np.sum(rows**2, axis=1)[:, None] + np.sum(others**2, axis=1)
    distances = np.maximum(squares - 2.0 * (rows @ others.T), 0.0)
    return np.asarray(np.exp(-rate * distances))
