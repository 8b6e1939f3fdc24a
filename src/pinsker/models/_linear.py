"""Linear models in the user's units or in normal scores; the penalty is chosen in training rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression

from pinsker._types import BoolArray, FloatArray, IntArray
from pinsker.models._categories import order_by_target
from pinsker.models._design import LayoutName, one_hot
from pinsker.models._model import HoldoutModel, class_scores, without_advice

#: Penalties of least squares, in parts of the mean square of a direction of the columns.
_PENALTIES = 10.0 ** np.array([-9, -6, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1])
#: Directions with less than this part of the largest square are rounding.
_RANK = 1e-11
#: The leverage of a row is at most this: a row alone in its category says nothing about others.
_MOST_LEVERAGE = 0.999
#: Other inverse penalties of the logistic regression that race.
_OTHER_C = (0.03, 30.0)
#: Tolerance of the logistic regression: the temperature makes up for the last digits.
_TOLERANCE = 1e-2


@dataclass(frozen=True, eq=False)
class LinearRanks(HoldoutModel):
    """Ridge or logistic regression in normal scores."""

    layout: ClassVar[LayoutName] = "scores"
    name: str = "linear ranks"
    estimator: Any = None
    C: float = 1.0  # inverse penalty of the logistic regression

    def _scores_of_present(
        self,
        train: FloatArray,
        labels: IntArray,
        test: FloatArray,
        n_classes: int,
        categorical: BoolArray,
        weights: FloatArray | None,
    ) -> FloatArray:
        if categorical.any():
            targets = one_hot(labels, np.arange(1 if n_classes == 2 else 0, n_classes))
            train, test = _standardized(*order_by_target(train, test, targets, categorical))
        with without_advice():
            model = LogisticRegression(tol=_TOLERANCE, C=self.C).fit(train, labels, weights)
        n_train = len(train) if weights is None else float(weights.sum())
        return class_scores(model, test, np.arange(n_classes), n_train)

    def _predictions_of_scaled(
        self,
        train: FloatArray,
        values: FloatArray,
        test: FloatArray,
        categorical: BoolArray,
        weights: FloatArray | None,
    ) -> FloatArray:
        if categorical.any():
            coded = order_by_target(train, test, values[:, None], categorical)
            train, test = _standardized(*coded)
        return predict_ridge(train, values, test, weights)


@dataclass(frozen=True, eq=False)
class Linear(LinearRanks):
    """Ridge or logistic regression in the user's units, standardized."""

    layout: ClassVar[LayoutName] = "units"
    name: str = "linear"

    def with_other_penalties(self) -> "tuple[Linear, ...]":
        """Return logistic regressions that are penalized more and less."""
        return tuple(Linear(f"linear (C={c:g})", C=c) for c in _OTHER_C)


def predict_ridge(
    train: FloatArray, values: FloatArray, test: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return predictions of ridge regression with the penalty of the least leave-one-out error."""
    # Not scikit-learn's RidgeCV: it takes 3 to 6 times as long (2 against 0.4 ms for 1000 x 22),
    # and its penalties do not follow the scale of the columns.
    n = len(train)
    shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    roots = np.sqrt(shares)
    center, mean = shares @ train, shares @ values
    rows, target = (train - center) * roots[:, None], (values - mean) * roots
    squares, left, right = _directions(rows)
    if len(squares) == 0:
        return np.full(len(test), mean)
    along = left.T @ target
    shrinkage = squares / (squares + _PENALTIES[:, None] * squares.mean())  # penalty x direction
    residuals = target - (shrinkage * along) @ left.T
    leverages = shrinkage @ np.square(left).T + shares  # the intercept adds the share of the row
    if weights is not None:  # a row that stands for several leaves one by one
        leverages /= np.maximum(weights, 1.0)
    left_out = residuals / (1.0 - np.minimum(leverages, _MOST_LEVERAGE))
    best = int(np.argmin(np.square(left_out).sum(axis=1)))
    coefficients = right @ (shrinkage[best] * along / np.sqrt(squares))
    return np.asarray((test - center) @ coefficients + mean)


def _directions(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return squared singular values and both sets of singular vectors, by the smaller product."""
    wide = rows.shape[1] > rows.shape[0]
    product = rows @ rows.T if wide else rows.T @ rows
    squares, vectors = linalg.eigh(product, driver="evd", check_finite=False)
    real = squares > _RANK * max(float(squares[-1]), np.finfo(np.float64).tiny)
    squares, vectors = squares[real], vectors[:, real]
    others = (rows.T if wide else rows) @ vectors / np.sqrt(squares)
    return (squares, vectors, others) if wide else (squares, others, vectors)


def _standardized(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    center, spread = train.mean(axis=0), train.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    return (train - center) / scale, (test - center) / scale
