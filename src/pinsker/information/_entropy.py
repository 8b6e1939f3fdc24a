"""Entropy of any columns: of states, of Gaussian columns, and from distances to neighbors."""

import math
from dataclasses import dataclass
from typing import Literal, Unpack, get_args, overload

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from pinsker._notes import Note, Notes
from pinsker._types import ColumnChoice, FloatArray, IntArray, Missing, Scale, TableLike
from pinsker.encoding import Kind, check_neighbors, encode_columns
from pinsker.engine import Correction, count_threads
from pinsker.exceptions import DataError, ParameterError
from pinsker.information._estimators import gaussian_entropy, merge_states, state_entropy
from pinsker.information._measure import (
    EstimateKeywords,
    Options,
    as_states,
    check_choice,
    check_gaussian_rows,
    gaussian_columns,
    kinds_by_column,
)
from pinsker.information._reliability import (
    Estimate,
    clip_negative,
    half_sampling_error,
    isolated_row_warnings,
    sparse_cell_warnings,
    warn_unreliable,
)

EntropyMethod = Literal["auto", "knn", "discrete", "gaussian"]


class EntropyKeywords(EstimateKeywords, total=False):
    """The keywords of `entropy`."""

    method: EntropyMethod


@dataclass(frozen=True)
class NeighborEntropy:
    """Mean entropy of columns inside the cells of a partition."""

    value: float  # in nats
    n_tied: int  # rows whose distance to the k-th neighbor is zero
    n_alone: int  # rows that are alone in their cell


@dataclass(frozen=True, eq=False)
class _EntropyLayout:
    """Columns laid out for one method: states of the discrete ones, numbers of the others."""

    method: str
    states: IntArray
    n_states: int
    numbers: FloatArray
    k: int
    correction: Correction
    standardize: bool
    n_threads: int

    def continuous_part(self, rows: IntArray | slice) -> NeighborEntropy:
        numbers, states, unit = self.numbers[rows], self.states[rows], self.standardize
        return neighbor_entropy(
            numbers, states, k=self.k, standardize=unit, n_threads=self.n_threads
        )

    def measure(self, rows: IntArray | slice) -> float:
        if self.method == "gaussian":
            return gaussian_entropy(self.numbers[rows])
        discrete = state_entropy(self.states[rows], self.correction)
        more = 0.0 if self.method == "discrete" else self.continuous_part(rows).value
        return discrete + more


@overload
def entropy(
    x: TableLike, *, return_details: Literal[False] = ..., **keywords: Unpack[EntropyKeywords]
) -> float: ...
@overload
def entropy(
    x: TableLike, *, return_details: Literal[True], **keywords: Unpack[EntropyKeywords]
) -> Estimate: ...
def entropy(
    x: TableLike, *, return_details: bool = False, method: EntropyMethod = "auto",
    n_neighbors: int = 3, scale: Scale = "standard",
    categorical_features: ColumnChoice = "from_dtype", missing: Missing = "error",
    correction: Correction = "grassberger", clip: bool = False, n_jobs: int | None = None,
    random_state: int = 0,
) -> float | Estimate:  # fmt: skip
    r"""Estimate the entropy of one or several columns, in nats.

    .. math:: H(X) = -\sum_x p(x) \ln p(x), \qquad h(X) = -\int p(x) \ln p(x)\, dx

    Discrete columns have a Shannon entropy, continuous ones a differential entropy, which depends
    on their units and may be negative. Both together have the entropy of the discrete ones plus
    the mean differential entropy inside their states.

    Parameters
    ----------
    x : array-like of shape (n_rows,) or (n_rows, n_columns)
        Columns of any kinds. Few different integers are counts, which are discrete.
    return_details : bool, default=False
        Return an `Estimate` instead of a number.
    method : {"auto", "knn", "discrete", "gaussian"}, default="auto"
        "discrete" counts states; "knn" is the estimator of Kozachenko and Leonenko (1987) in the
        max norm, by state where columns are mixed; "gaussian" is the log-determinant, unbiased for
        Gaussian rows. "auto" is "discrete" when all columns are, else "knn".
    n_neighbors : int, default=3
        Neighbors of each row, for "knn".
    scale : {"standard", "none"}, default="standard"
        What "knn" measures distances in; the result is in the user's units either way.
    categorical_features : default="from_dtype"
        What kinds columns are: a kind for all, a mask, a list of columns, a dict of kinds; as in
        `pinsker.encoding.encode_columns`.
    clip : bool, default=False
        Return zero for negative estimates; only for discrete columns.
    missing, correction, n_jobs, random_state
        As in `mutual_information`.

    Returns
    -------
    float or Estimate
        Entropy in nats.

    Raises
    ------
    DataError
        When continuous columns hold repeated rows, or are functions of each other: there is no
        finite differential entropy then.

    Examples
    --------
    >>> from pinsker import entropy
    >>> round(entropy(["heads", "tails"] * 50, correction="none"), 6)
    0.693147
    """
    options = Options(method, n_neighbors, scale, categorical_features, missing, correction, n_jobs)
    layout, notes = _lay_out(x, options)
    n_rows = int(layout.states.size)
    value = layout.measure(slice(None))
    warnings = _entropy_warnings(layout, value)
    warn_unreliable(warnings, stacklevel=2)
    value = clip_negative(value, clip and layout.method == "discrete")
    if not return_details:
        return value
    smallest = 2 if layout.method == "discrete" else 2 * n_neighbors
    error = half_sampling_error(layout.measure, n_rows, smallest, random_state)
    return Estimate(value, layout.method, n_rows, None, error, notes, warnings)


def _lay_out(x: TableLike, options: Options) -> tuple[_EntropyLayout, Notes]:
    """Check the options, encode the columns, choose the method."""
    n_threads = count_threads(options.n_jobs)
    method, k, scale = options.method, options.n_neighbors, options.scale
    check_choice("method", method, get_args(EntropyMethod))
    check_choice("scale", scale, ("standard", "none"), why=" (an entropy has its column's unit)")
    check_choice("correction", options.correction, get_args(Correction))
    kinds = kinds_by_column(options.categorical_features, x, "x")
    columns = encode_columns(x, scale="none", categorical_features=kinds, missing=options.missing)
    notes = columns.notes
    if method == "auto":
        method = "knn" if Kind.CONTINUOUS in columns.kinds else "discrete"
        notes = (Note("method chosen", figures={"method": method}), *notes)
    continuous = [j for j, kind in enumerate(columns.kinds) if kind is Kind.CONTINUOUS]
    numbers = columns.values[:, continuous]
    if method == "discrete":
        as_states(columns, "x")  # an error names the first continuous column
    elif method == "gaussian":
        numbers = gaussian_columns(columns, "x", method)
        check_gaussian_rows(columns.n_rows, columns.n_columns, method)
    else:
        check_neighbors(k, columns.n_rows)
        if not continuous:
            raise ParameterError(
                "method='knn' estimates a differential entropy, but no column of x is continuous: "
                "use method='discrete', or categorical_features='none' if they are measurements."
            )
        if columns.missing is not None and columns.missing[:, continuous].any():
            raise DataError(
                "a continuous column with missing='category' has no differential entropy: "
                "use missing='drop'."
            )
    others = [j for j in range(columns.n_columns) if j not in continuous]
    states, n_states = merge_states(columns.metric()[:, others])
    how = (k, options.correction, scale == "standard", n_threads)
    return _EntropyLayout(method, states, n_states, numbers, *how), notes


def _entropy_warnings(layout: _EntropyLayout, value: float) -> tuple[str, ...]:
    """Return the reasons not to trust the value; raise an error for one that is not finite."""
    if layout.method == "discrete":
        return sparse_cell_warnings(layout.states.size / layout.n_states)
    if layout.method == "gaussian":
        if math.isinf(value):
            raise DataError(
                "columns of x are constant or linear functions of each other, so their "
                "differential entropy is minus infinity: leave such columns out."
            )
        return ()
    part = layout.continuous_part(slice(None))
    if part.n_tied:
        raise DataError(
            f"{part.n_tied} of {layout.states.size} rows of x have {layout.k} or more exact "
            "copies, so their differential entropy is minus infinity: declare the column discrete, "
            "or use more n_neighbors if values were rounded."
        )
    if part.n_alone == layout.states.size:
        raise DataError(
            "no two rows of x share their categories, so that there is no row to compare a number "
            "with: leave out the column that names rows, or merge its categories."
        )
    return isolated_row_warnings(part.n_alone, layout.states.size)


def neighbor_entropy(
    values: FloatArray, cells: IntArray, *, k: int, standardize: bool, n_threads: int = 1
) -> NeighborEntropy:
    """Kozachenko-Leonenko entropy in the max norm, given the cell of each row."""
    spread = np.ones(values.shape[1])
    if standardize:  # one for a constant column; any scale: squares stay in range
        largest = np.abs(values).max(axis=0)
        largest = np.where(largest > 0, largest, 1.0)
        spread = (values / largest).std(axis=0) * largest
        spread = np.where(np.ptp(values, axis=0) > 0, spread, 1.0)
    scaled = values / spread
    per_row, used = np.zeros(values.shape[0]), np.ones(values.shape[0], dtype=np.bool_)
    by_cell = np.argsort(cells, kind="stable")
    for rows in np.split(by_cell, np.cumsum(np.bincount(cells))[:-1]):
        if rows.size == 1:
            used[rows] = False
        else:
            cell, near = scaled[rows], min(k, rows.size - 1)
            found, _ = cKDTree(cell).query(cell, k=[near + 1], p=math.inf, workers=n_threads)
            with np.errstate(divide="ignore"):
                away = values.shape[1] * np.log(2 * np.asarray(found).ravel())
            per_row[rows] = away + digamma(rows.size) - digamma(near)
    tied = np.isneginf(per_row)
    value = -math.inf  # unless rows could be compared with others, and none is tied
    if used.any() and np.isfinite(per_row).all():
        # A sorted sum does not depend on the order of the rows.
        value = math.fsum(per_row[used]) / int(used.sum())
    value += float(np.sum(np.log(spread)))
    return NeighborEntropy(value, int(tied.sum()), int(np.sum(~used)))
