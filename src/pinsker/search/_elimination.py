r"""Recursive elimination by a regularised linear model, for tables of any width.

A model of all features is fitted: multinomial logistic for classes, least squares for numbers,
columns in units of their spread, penalty :math:`\frac{\lambda}{2}\|w\|^2` beside the mean loss. The
fifth of the features with the smallest coefficients leaves, and the model of the others is fitted,
beginning with the coefficients that it had. Where columns are more than rows the coefficients are
combinations of rows, :math:`w = X^T L^{-T} z` with :math:`X X^T = L L^T`, and the model has the
columns of :math:`L`; a table of mostly one value a column is held as what differs from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from pinsker._types import FloatArray, IntArray, TableLike, Unchecked
from pinsker.encoding import Encoded
from pinsker.models import Layout, ModelDesign
from pinsker.search._knn import given_order
from pinsker.search._linear import target_numbers
from pinsker.search._path import Deadline, SelectionPath

#: Share of the features that leaves at a time.
_SHARE = 0.2
#: Of three wide tables no penalty from 0.001 to 0.03 was best on all, and this near to it on each.
_PENALTY = 0.01
#: Iterations of a fit, which begins where the last one ended: 10, 20 and 30 order alike.
_ITERATIONS = 20
#: Below this share of cells that differ from their column's median a table is held sparse.
_FILLED = 0.1
#: Indicators are laid out in parts of about this many bytes.
_DOUBLE, _BYTES_OF_PART = 8, 2**26
#: Inner products of more rows than this take longer than they save.
_MOST_DUAL = 1000
#: Added to the diagonal of the inner products, as a share of its mean: copies make them singular.
_JITTER = 1e-10

#: Loss of each row's predictions, averaged, and its derivative by each of them.
_Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]


def elimination(
    problem: Encoded, fixed: Sequence[int] = (), deadline: Deadline | None = None
) -> SelectionPath:
    """Order all features: the last to leave a linear model first; all at once when time is up."""
    loss, n_outputs = _loss_of(problem)
    model = _LinearModel.of(problem, n_outputs)
    free = np.setdiff1d(np.arange(problem.n_features), fixed)
    left: list[int] = []
    while len(free):
        model.fit(loss)
        norms = model.norms(problem.n_features)[free]
        if deadline is not None:
            deadline.check()
        is_last = deadline is not None and deadline.is_late  # then the order of its coefficients
        n_gone = len(free) if is_last else max(1, int(_SHARE * len(free)))
        weakest = free[np.lexsort((-free, norms))][:n_gone]
        left.extend(int(feature) for feature in weakest)
        free = np.setdiff1d(free, weakest)
        model.drop(weakest)
    return given_order(problem, (*dict.fromkeys(fixed), *reversed(left)), len(set(fixed)))


@dataclass(eq=False)
class _LinearModel:
    """A linear model that loses columns."""

    columns: TableLike  # dense or sparse
    owners: IntArray  # the feature of each column
    coefficients: FloatArray  # a row for each column, and the intercepts
    products: FloatArray | None  # inner products of the rows, where they are fewer than columns

    @classmethod
    def of(cls, problem: Encoded, n_outputs: int) -> "_LinearModel":
        """Lay out all columns, numbers as the user has them, in units of their spread."""
        design = ModelDesign.of(problem.columns, problem.features, problem.weights)
        layout = replace(design.layout("one-hot"), in_units=True)
        owners = np.empty(int(layout.widths.sum()), dtype=np.int64)
        for feature, places in enumerate(design.places):
            owners[places] = feature
        columns: TableLike = _in_units_of_spread(layout, _shares_of(problem))
        products = None
        if not sparse.issparse(columns):
            columns -= columns.mean(axis=0)
            if len(columns) < min(columns.shape[1], _MOST_DUAL + 1):
                products = columns @ columns.T
        return cls(columns, owners, np.zeros((len(owners) + 1, n_outputs)), products)

    def fit(self, loss: _Loss) -> None:
        """Go on from the coefficients at hand towards those of the columns at hand."""
        n_rows, n_columns = self.columns.shape
        if self.products is None or n_columns <= n_rows:
            self.coefficients = _minimise(self.columns, loss, self.coefficients)
            return
        jitter = _JITTER * max(float(np.trace(self.products)) / n_rows, 1e-300)
        factor = cholesky(self.products + jitter * np.eye(n_rows), lower=True)
        inside = solve_triangular(factor, self.columns @ self.coefficients[:-1], lower=True)
        found = _minimise(factor, loss, np.vstack([inside, self.coefficients[-1:]]))
        of_rows = solve_triangular(factor, found[:-1], lower=True, trans="T")
        self.coefficients = np.vstack([self.columns.T @ of_rows, found[-1:]])

    def norms(self, n_features: int) -> FloatArray:
        squares = np.square(self.coefficients[:-1]).sum(axis=1)
        return np.sqrt(np.bincount(self.owners, squares, n_features))

    def drop(self, features: IntArray) -> None:
        gone = np.isin(self.owners, features)
        if self.products is not None:
            out = self.columns[:, gone]
            self.products -= out @ out.T
        self.columns, self.owners = self.columns[:, ~gone], self.owners[~gone]
        self.coefficients = self.coefficients[np.append(~gone, True)]


def _in_units_of_spread(layout: Layout, shares: FloatArray) -> TableLike:
    """Return the columns less their medians, sparse where most cells are the median."""
    parts, rows = [], np.arange(len(shares))
    # In parts: indicators of many categories are mostly zeros, and never all there at once.
    of_part = np.cumsum(layout.widths) * _DOUBLE * len(rows) // _BYTES_OF_PART
    for part in np.split(np.arange(len(of_part)), np.flatnonzero(np.diff(of_part)) + 1):
        columns: TableLike = layout.expand(rows, part)
        columns -= np.median(columns, axis=0)
        variance = shares @ np.square(columns) - np.square(shares @ columns)
        columns /= np.sqrt(np.where(variance > 0, variance, 1.0))
        is_filled = np.count_nonzero(columns) >= _FILLED * columns.size
        parts.append(columns if is_filled else sparse.csc_array(columns))
    if all(sparse.issparse(one) for one in parts):
        return sparse.hstack(parts, format="csc")
    return np.hstack([one if isinstance(one, np.ndarray) else one.toarray() for one in parts])


def _minimise(columns: TableLike, loss: _Loss, start: FloatArray) -> FloatArray:
    def value_and_slope(flat: FloatArray) -> tuple[float, FloatArray]:
        given = flat.reshape(start.shape)
        value, slope = loss(columns @ given[:-1] + given[-1])
        value += 0.5 * _PENALTY * float(np.square(given[:-1]).sum())
        inner = columns.T @ slope + _PENALTY * given[:-1]
        return value, np.vstack([inner, slope.sum(axis=0, keepdims=True)]).ravel()

    limits: Unchecked = {"maxiter": _ITERATIONS, "ftol": 1e-7, "gtol": 1e-6}
    found = minimize(value_and_slope, start.ravel(), method="L-BFGS-B", jac=True, options=limits)
    return np.asarray(found.x).reshape(start.shape)


def _loss_of(problem: Encoded) -> tuple[_Loss, int]:
    numbers = target_numbers(problem)
    shares = _shares_of(problem)[:, None]
    if problem.target.labels is not None:

        def log_loss(scores: FloatArray) -> tuple[float, FloatArray]:
            scores -= scores.max(axis=1, keepdims=True)
            odds = np.exp(scores)
            total = odds.sum(axis=1, keepdims=True)
            of_true = (scores * numbers).sum(axis=1, keepdims=True)
            mean = float((shares * (np.log(total) - of_true)).sum())
            return mean, shares * (odds / total - numbers)

        return log_loss, numbers.shape[1]
    numbers = numbers - (shares * numbers).sum(axis=0)
    spread = np.sqrt((shares * np.square(numbers)).sum(axis=0))
    scaled = numbers / np.where(spread > 0, spread, 1.0)

    def squares(scores: FloatArray) -> tuple[float, FloatArray]:
        rest = scores - scaled
        return float(0.5 * (shares * np.square(rest)).sum()), shares * rest

    return squares, numbers.shape[1]


def _shares_of(problem: Encoded) -> FloatArray:
    weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
    return np.asarray(weights / weights.sum())
