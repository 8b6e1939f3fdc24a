"""Mutual information of any columns, alone or given others, and a permutation test of it."""

from dataclasses import dataclass, replace
from typing import Literal, Unpack, overload

import numpy as np
from scipy.spatial import cKDTree

from pinsker._notes import Notes
from pinsker._types import ColumnChoice, FloatArray, IntArray, Missing, Scale, TableLike, TargetLike
from pinsker.encoding import FARTHEST, Columns
from pinsker.engine import Correction, generator_of
from pinsker.exceptions import ParameterError
from pinsker.information._estimators import merge_states
from pinsker.information._measure import Keywords, Method, Options, prepare
from pinsker.information._reliability import (
    Estimate,
    clip_negative,
    half_sampling_error,
    reliability_warnings,
    warn_unreliable,
)


@overload
def mutual_information(
    x: TableLike, y: TargetLike, *, return_details: Literal[False] = ..., **how: Unpack[Keywords]
) -> float: ...
@overload
def mutual_information(
    x: TableLike, y: TargetLike, *, return_details: Literal[True], **how: Unpack[Keywords]
) -> Estimate: ...
def mutual_information(
    x: TableLike, y: TargetLike, *, return_details: bool = False, method: Method = "auto",
    n_neighbors: int = 3, scale: Scale = "copula",
    categorical_features: ColumnChoice = "from_dtype", missing: Missing = "error",
    correction: Correction = "grassberger", clip: bool = False, n_jobs: int | None = None,
    random_state: int = 0,
) -> float | Estimate:  # fmt: skip
    r"""Estimate the mutual information of x and y, in nats.

    .. math:: I(X;Y) = E \ln \frac{p(X, Y)}{p(X)\, p(Y)}

    Parameters
    ----------
    x, y : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds: NumPy, lists, pandas, polars. y is read as a
        target is: text, categories and few different integers are classes. The same integers in x
        are counts.
    return_details : bool, default=False
        Return an `Estimate` instead of a number, with the method used, the ceiling, the standard
        error and notes. The standard error costs twenty estimates on half of the rows.
    method : {"auto", "knn", "ksg2", "gao", "discrete", "gaussian", "copula"}, default="auto"
        "auto" is "discrete" when all columns are discrete and there are 5 rows per joint state,
        and "knn" otherwise. See Notes.
    n_neighbors : int, default=3
        Neighbors of each row: more of them lower the variance and raise the bias.
    scale : {"copula", "standard", "none"}, default="copula"
        What distances are measured in: normal scores of the ranks, standard deviations, or the
        user's units. Only "knn", "ksg2" and "gao" use it.
    categorical_features : default="from_dtype"
        What kinds columns are. A kind ("nominal", "count", "continuous") for all, or a dict by
        argument, for example ``{"y": "nominal"}``; the values of the dict may also be what
        `pinsker.encoding.encode_columns` takes: a mask, a list of columns, a dict of kinds.
    missing : {"error", "drop", "category"}, default="error"
        What a missing value means: an error, a row to leave out, or a value of its own.
    correction : {"grassberger", "miller-madow", "none"}, default="grassberger"
        Bias correction when states are counted.
    clip : bool, default=False
        Return zero for negative estimates. Sums and means of clipped estimates are biased.
    n_jobs : int or None, default=None
        Threads; the result does not depend on them.
    random_state : int, default=0
        Seed of the halves behind the standard error; the estimate itself uses no random numbers.

    Returns
    -------
    float or Estimate
        I(X;Y) in nats; slightly negative values are noise around zero.

    Warns
    -----
    UnreliableEstimateWarning
        When there are too few rows for the dimension, or for the number of joint states.

    Notes
    -----
    - "knn": Kraskov's first estimator in the max norm (2004), Ross's for classes (2014), Mesner and
      Shalizi's where values are tied (2021); no noise is added.
    - "ksg2": Kraskov's second estimator, for several columns on a side.
    - "gao": the mixed estimator of Gao et al. (2017), in its digamma form.
    - "discrete": entropies of joint states, Grassberger's by default (2003).
    - "gaussian": from log-determinants, unbiased for Gaussian rows; "copula": the same on normal
      scores (Ince et al. 2017). Blind to everything but monotone relations.

    Examples
    --------
    Two normal columns of correlation 0.6 share -½ ln(1 - 0.6²) = 0.223 nats:

    >>> import numpy as np
    >>> from pinsker import mutual_information
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> round(mutual_information(x, 0.6 * x + 0.8 * noise), 1)
    0.2
    """
    options = Options(method, n_neighbors, scale, categorical_features, missing, correction, n_jobs)
    return _estimate(x, y, None, options, clip, return_details, random_state)


@overload
def conditional_mutual_information(
    x: TableLike,
    y: TargetLike,
    z: TableLike,
    *,
    return_details: Literal[False] = ...,
    **how: Unpack[Keywords],
) -> float: ...
@overload
def conditional_mutual_information(
    x: TableLike,
    y: TargetLike,
    z: TableLike,
    *,
    return_details: Literal[True],
    **how: Unpack[Keywords],
) -> Estimate: ...
def conditional_mutual_information(
    x: TableLike, y: TargetLike, z: TableLike, *, return_details: bool = False,
    method: Method = "auto", n_neighbors: int = 3, scale: Scale = "copula",
    categorical_features: ColumnChoice = "from_dtype", missing: Missing = "error",
    correction: Correction = "grassberger", clip: bool = False, n_jobs: int | None = None,
    random_state: int = 0,
) -> float | Estimate:  # fmt: skip
    r"""Estimate the mutual information of x and y given z, in nats.

    .. math:: I(X;Y|Z) = E \ln \frac{p(X, Y | Z)}{p(X | Z)\, p(Y | Z)}

    "knn" is the estimator of Frenzel and Pompe (2007), by class where y is classes, and that of
    Mesner and Shalizi where values are tied. With k neighbors it never exceeds the mean of
    psi(n_z + 1) - psi(k), n_z the rows as near in z as the neighbors are: the `ceiling`, which
    falls to zero as z gets more columns. "ksg2" has a box instead of a ball (Wibral et al. 2014);
    "gao" is I(XZ;Y) - I(Z;Y), each with its own radius. "discrete", "gaussian" and "copula" obey
    the chain rule exactly.

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds, as in `mutual_information`; integers in z are
        counts, as in x.
    return_details, method, n_neighbors, scale, categorical_features, missing, correction, clip
        As in `mutual_information`.
    n_jobs, random_state
        As in `mutual_information`.

    Returns
    -------
    float or Estimate
        I(X;Y|Z) in nats; slightly negative values are noise around zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pinsker import conditional_mutual_information, mutual_information
    >>> x, z = np.random.default_rng(0).integers(2, size=(2, 1000))
    >>> abs(round(mutual_information(x, x ^ z), 2))
    0.0
    >>> round(conditional_mutual_information(x, x ^ z, z), 2)
    0.69
    """
    options = Options(method, n_neighbors, scale, categorical_features, missing, correction, n_jobs)
    return _estimate(x, y, z, options, clip, return_details, random_state)


def _estimate(
    x: TableLike, y: TargetLike, z: TableLike, options: Options, clip: bool, return_details: bool,
    random_state: int,
) -> float | Estimate:  # fmt: skip
    """Carry out one estimate for a public function, which must be the caller."""
    arguments, layout, notes = prepare(x, y, z, options)
    measured = layout.measure()
    warnings = reliability_warnings(layout, measured, arguments)
    warn_unreliable(warnings, stacklevel=3)
    value = clip_negative(measured.value, clip)
    if not return_details:
        return value
    n_rows, smallest = layout.n_rows, layout.fewest_rows
    error = half_sampling_error(
        lambda rows: layout.take(rows).measure().value, n_rows, smallest, random_state
    )
    return Estimate(value, layout.method, n_rows, measured.ceiling, error, notes, warnings)


#: Neighbors for the statistic, as a fraction of the rows: a test needs low variance, not low bias.
_NEIGHBOR_FRACTION = 0.1
_FEWEST_NEIGHBORS = 3
#: Statistics closer than this are ties, which count against the hypothesis of dependence.
_TIE = 1e-12


@dataclass(frozen=True)
class IndependenceTest:
    """Result of a test of independence.

    Attributes
    ----------
    statistic : float
        Estimated information in nats; with the many neighbors of a test it is biased low.
    p_value : float
        (1 + #{permuted >= observed}) / (n_permutations + 1).
    n_permutations, n_neighbors, n_samples : int
        Number of permutations, of neighbors if the method uses any, and of rows used.
    method : str
        The method of the statistic, never ``"auto"``.
    notes : tuple of Note
        What was guessed, chosen or found in the data.
    """

    statistic: float
    p_value: float
    n_permutations: int
    method: str
    n_neighbors: int
    n_samples: int
    notes: Notes = ()


def independence_test(
    x: TableLike, y: TargetLike, z: TableLike = None, *, n_permutations: int = 199,
    n_local: int = 5, method: Method = "auto", n_neighbors: int | None = None,
    scale: Scale = "copula", categorical_features: ColumnChoice = "from_dtype",
    missing: Missing = "error", correction: Correction = "grassberger", n_jobs: int | None = None,
    random_state: int = 0,
) -> IndependenceTest:  # fmt: skip
    """Test whether x and y are independent, or independent given z.

    The statistic is the estimated information. Its distribution under independence comes from
    permuting x: among all rows without z, and with z only among rows that are near in z, so that
    the relation of x and z survives (Runge 2018). Without z, and with a discrete z whose states
    have `n_local` rows or more, the p-value is exact. With continuous z it is as good as neighbors
    in z are alike: too few rows for many columns of z, or a z that x follows closely, and
    independence is rejected too often.

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds, as in `mutual_information`. Without z the test
        is of plain independence.
    n_permutations : int, default=199
        Number of permutations; the smallest p-value is 1 / (n_permutations + 1).
    n_local : int, default=5
        With z, a row may take the x of this many rows nearest in z, itself included. Rows that
        share all of z with this many rows are permuted among those instead, which is exact.
    n_neighbors : int, optional
        Neighbors for the statistic; a tenth of the rows (at least 3) by default. Estimating needs
        few neighbors (low bias), testing needs many (low variance).
    method, scale, categorical_features, missing, correction, n_jobs
        As in `mutual_information`.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    IndependenceTest
        Statistic and p-value.

    Examples
    --------
    Here x causes z causes y, so that z separates x from y:

    >>> import numpy as np
    >>> from pinsker import independence_test
    >>> x, to_z, to_y = np.random.default_rng(0).normal(size=(3, 200))
    >>> independence_test(x, x + to_z + to_y, x + to_z, n_permutations=99).p_value > 0.05
    True
    """
    for name, value, least in (("n_permutations", n_permutations, 1), ("n_local", n_local, 2)):
        if value < least:
            raise ParameterError(f"{name}={value} is too few: use at least {least}.")
    neighbors = 1 if n_neighbors is None else n_neighbors
    options = Options(method, neighbors, scale, categorical_features, missing, correction, n_jobs)
    arguments, layout, notes = prepare(x, y, z, options)
    n_rows = layout.n_rows
    k = n_neighbors or min(max(_FEWEST_NEIGHBORS, int(_NEIGHBOR_FRACTION * n_rows)), n_rows - 1)
    layout = replace(layout, k=k)
    observed = layout.measure().value
    rng = generator_of(random_state)
    orders = _permutations(arguments.z, n_rows, n_permutations, n_local, rng)
    permuted = np.array([replace(layout, x=layout.x[order]).measure().value for order in orders])
    as_large = int(np.sum(permuted >= observed - _TIE * max(1.0, abs(observed))))
    p = (1 + as_large) / (n_permutations + 1)
    return IndependenceTest(observed, p, n_permutations, layout.method, k, n_rows, notes)


def _permutations(
    z: Columns | None, n_rows: int, n_permutations: int, n_local: int, rng: np.random.Generator
) -> IntArray:
    """Draw orders of the rows of x that keep its relation to z."""
    if z is None:
        return _within_states(np.zeros(n_rows, dtype=np.int64), n_permutations, rng)
    metric = z.metric()
    states, _ = merge_states(metric)
    orders = _within_states(states, n_permutations, rng)
    few = np.flatnonzero(np.bincount(states)[states] < n_local)
    if few.size:
        orders[:, few] = local_permutations(metric, few, n_permutations, n_local, rng)
    return orders


def _within_states(states: IntArray, n_permutations: int, rng: np.random.Generator) -> IntArray:
    """Orders that move rows within their state only, all such orders being equally likely."""
    home = np.argsort(states, kind="stable")
    orders = np.empty((n_permutations, states.size), dtype=np.int64)
    for order in orders:
        shuffled = rng.permutation(states.size)
        order[home] = shuffled[np.argsort(states[shuffled], kind="stable")]
    return orders


def local_permutations(
    z: FloatArray, rows: IntArray, n_permutations: int, n_local: int, rng: np.random.Generator
) -> IntArray:
    """Draw the rows whose x each of some rows gets: near ones, with as few repeats as possible."""
    n_rows = z.shape[0]
    n_local = min(n_local, n_rows)
    found = cKDTree(z).query(z[rows], k=n_local, p=np.inf, distance_upper_bound=FARTHEST)[1]
    near = np.where(found == n_rows, rows[:, np.newaxis], found)
    every = np.arange(n_permutations)
    turns = rng.permuted(np.tile(np.arange(rows.size), (n_permutations, 1)), axis=1)
    taken = np.zeros((n_permutations, n_rows), dtype=np.bool_)
    orders = np.empty((n_permutations, rows.size), dtype=np.int64)
    for turn in turns.T:
        choices = rng.permuted(near[turn], axis=1)
        free = ~taken[every[:, np.newaxis], choices]
        first = np.where(free.any(axis=1), free.argmax(axis=1), n_local - 1)
        chosen = choices[every, first]
        orders[every, turn] = chosen
        taken[every, chosen] = True
    return orders
