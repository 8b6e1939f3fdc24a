"""Entropy of any columns."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args, overload

from pinsker._types import FloatArray, IntArray, Missing, Scale
from pinsker.encoding import Columns, Kind, check_neighbors, encode_columns
from pinsker.exceptions import DataError, ParameterError
from pinsker.information._arguments import spell_out
from pinsker.information._discrete import Correction, merge_states, state_entropy
from pinsker.information._estimate import Estimate, warn_unreliable
from pinsker.information._gaussian import gaussian_entropy
from pinsker.information._measure import as_numbers, as_states, check_gaussian_rows
from pinsker.information._neighbour_entropy import NeighbourEntropy, neighbour_entropy
from pinsker.information._procedure import check_choice, check_correction, clipped, count_threads
from pinsker.information._reliability import half_sampling_error, lonely_rows, sparse_cells

EntropyMethod = Literal["auto", "knn", "discrete", "gaussian"]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Columns laid out for one method: states of the discrete ones, numbers of the others."""

    method: str
    states: IntArray
    n_states: int
    numbers: FloatArray
    k: int
    correction: Correction
    standardise: bool
    n_threads: int

    def continuous_part(self, rows: IntArray | slice) -> NeighbourEntropy:
        return neighbour_entropy(
            self.numbers[rows],
            self.states[rows],
            k=self.k,
            standardise=self.standardise,
            n_threads=self.n_threads,
        )

    def measure(self, rows: IntArray | slice) -> float:
        if self.method == "gaussian":
            return gaussian_entropy(self.numbers[rows])
        discrete = state_entropy(self.states[rows], self.correction)
        return (
            discrete if self.method == "discrete" else discrete + self.continuous_part(rows).value
        )


@overload
def entropy(
    x: Any,
    *,
    return_details: Literal[False] = ...,
    method: EntropyMethod = ...,
    n_neighbors: int = ...,
    scale: Scale = ...,
    discrete: Any = ...,
    missing: Missing = ...,
    correction: Correction = ...,
    clip: bool = ...,
    n_jobs: int | None = ...,
    random_state: int = ...,
) -> float: ...
@overload
def entropy(
    x: Any,
    *,
    return_details: Literal[True],
    method: EntropyMethod = ...,
    n_neighbors: int = ...,
    scale: Scale = ...,
    discrete: Any = ...,
    missing: Missing = ...,
    correction: Correction = ...,
    clip: bool = ...,
    n_jobs: int | None = ...,
    random_state: int = ...,
) -> Estimate: ...
def entropy(
    x: Any,
    *,
    return_details: bool = False,
    method: EntropyMethod = "auto",
    n_neighbors: int = 3,
    scale: Scale = "standard",
    discrete: Any = "auto",
    missing: Missing = "error",
    correction: Correction = "grassberger",
    clip: bool = False,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> float | Estimate:
    r"""Estimate the entropy of one or several columns, in nats.

    .. math:: H(X) = -\sum_x p(x) \ln p(x), \qquad h(X) = -\int p(x) \ln p(x)\, dx

    Discrete columns have a Shannon entropy, continuous ones a differential entropy, which depends
    on their units and may be negative. Both together have the entropy of the discrete ones plus
    the mean differential entropy inside their states.

    Parameters
    ----------
    x : array-like of shape (n_rows,) or (n_rows, n_columns)
        Columns of any kinds. Few different whole numbers are counts, which are discrete.
    return_details : bool, default=False
        Return an `Estimate` instead of a number.
    method : {"auto", "knn", "discrete", "gaussian"}, default="auto"
        "discrete" counts states; "knn" is the estimator of Kozachenko and Leonenko [1]_ in the max
        norm, by state where columns are mixed; "gaussian" is the log-determinant, unbiased for
        Gaussian rows. "auto" is "discrete" when all columns are, else "knn".
    n_neighbors : int, default=3
        Neighbours of each row, for "knn".
    scale : {"standard", "none"}, default="standard"
        What "knn" measures distances in; the result is in the user's units either way.
    discrete : default="auto"
        What kinds columns are: a kind for all, a mask, a list of columns, a dict of kinds; as in
        `pinsker.encoding.encode_columns`.
    missing : {"error", "drop", "category"}, default="error"
        What a missing value means: an error, a row to leave out, or a value of its own.
    correction : {"grassberger", "miller-madow", "none"}, default="grassberger"
        Bias correction of the discrete entropy [2]_.
    clip : bool, default=False
        Return zero for negative estimates; only for discrete columns.
    n_jobs : int or None, default=None
        Threads; the result does not depend on them.
    random_state : int, default=0
        Seed of the halves behind the standard error.

    Returns
    -------
    float or Estimate
        Entropy in nats.

    Raises
    ------
    DataError
        When continuous columns hold repeated rows, or are functions of each other: there is no
        finite differential entropy then.

    References
    ----------
    .. [1] Kozachenko, Leonenko, "Sample estimate of the entropy of a random vector", Probl. Inf.
       Transm. 23, 1987.
    .. [2] Grassberger, "Entropy estimates from insufficient samplings", arXiv:physics/0307138.

    Examples
    --------
    >>> from pinsker import entropy
    >>> round(entropy(["heads", "tails"] * 50, correction="none"), 6)
    0.693147
    """
    layout, notes = _lay_out(
        x, method, n_neighbors, scale, discrete, missing, correction, count_threads(n_jobs)
    )
    n_rows = int(layout.states.size)
    value = layout.measure(slice(None))
    warnings = _doubts(layout, value)
    warn_unreliable(warnings, stacklevel=2)
    value = clipped(value, clip and layout.method == "discrete")
    if not return_details:
        return value
    smallest = 2 if layout.method == "discrete" else 2 * n_neighbors
    error = half_sampling_error(layout.measure, n_rows, smallest, random_state)
    return Estimate(value, layout.method, n_rows, None, error, notes, warnings)


def _lay_out(
    x: Any,
    method: str,
    k: int,
    scale: Scale,
    discrete: Any,
    missing: Missing,
    correction: Correction,
    n_threads: int,
) -> tuple[_Layout, tuple[str, ...]]:
    """Check the options, encode the columns, choose the method."""
    check_choice("method", method, get_args(EntropyMethod))
    check_choice("scale", scale, ("standard", "none"), why=" (an entropy has its column's unit)")
    check_correction(correction)
    columns = encode_columns(
        x, scale="none", categorical_features=spell_out(discrete, x, "x"), missing=missing
    )
    notes = columns.notes
    if method == "auto":
        method = "knn" if Kind.CONTINUOUS in columns.kinds else "discrete"
        notes = (f"method='auto' chose {method!r}", *notes)
    continuous = [j for j, kind in enumerate(columns.kinds) if kind is Kind.CONTINUOUS]
    numbers = columns.values[:, continuous]
    if method == "discrete":
        as_states(columns, "x")  # names the first column that is not
    elif method == "gaussian":
        numbers = as_numbers(columns, "x", method)
        check_gaussian_rows(columns.n_rows, columns.n_columns, method)
    else:
        _check_neighbours_method(columns, continuous, k)
    metric = columns.metric()
    levels = [j for j in range(columns.n_columns) if j not in continuous]
    states, n_states = merge_states(metric[:, levels])
    layout = _Layout(
        method, states, n_states, numbers, k, correction, scale == "standard", n_threads
    )
    return layout, notes


def _check_neighbours_method(columns: Columns, continuous: list[int], k: int) -> None:
    """Refuse columns that have no differential entropy at all."""
    check_neighbors(k, columns.n_rows)
    if not continuous:
        raise ParameterError(
            "method='knn' estimates a differential entropy, but no column of x is continuous: "
            "use method='discrete', or discrete='none' if they are measurements."
        )
    if columns.missing is not None and columns.missing[:, continuous].any():
        raise DataError(
            "a continuous column with missing='category' has no differential entropy: "
            "use missing='drop'."
        )


def _doubts(layout: _Layout, value: float) -> tuple[str, ...]:
    """Return the reasons not to trust the value; refuse one that is not finite."""
    if layout.method == "discrete":
        return sparse_cells(layout.states.size / layout.n_states)
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
    return lonely_rows(part.n_alone, layout.states.size)
