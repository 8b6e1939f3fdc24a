"""A test of (conditional) independence by local permutation."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from pinsker._types import FloatArray, IntArray, Missing, Scale
from pinsker.encoding import FARTHEST, Columns
from pinsker.engine import Correction, generator_of
from pinsker.exceptions import ParameterError
from pinsker.information._discrete import merge_states
from pinsker.information._measure import Method, Options, prepare

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
        Fraction of permutations, the data included, whose statistic is as large:
        (1 + #{permuted >= observed}) / (n_permutations + 1).
    n_permutations : int
        Number of permutations.
    method : str
        The method of the statistic, never ``"auto"``.
    n_neighbors : int
        Neighbors used for the statistic; without meaning for methods that use none.
    n_samples : int
        Number of rows used.
    notes : tuple of str
        What was guessed, chosen or found in the data.
    """

    statistic: float
    p_value: float
    n_permutations: int
    method: str
    n_neighbors: int
    n_samples: int
    notes: tuple[str, ...] = ()


def independence_test(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    n_permutations: int = 199,
    n_local: int = 5,
    method: Method = "auto",
    n_neighbors: int | None = None,
    scale: Scale = "copula",
    categorical_features: Any = "from_dtype",
    missing: Missing = "error",
    correction: Correction = "grassberger",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> IndependenceTest:
    """Test whether x and y are independent, or independent given z.

    The statistic is the estimated information. Its distribution under independence comes from
    permuting x: among all rows without z, and with z only among rows that are near in z, so that
    the relation of x and z survives [1]_.

    Parameters
    ----------
    x, y, z : array-like of shape (n_rows,) or (n_rows, n_columns)
        One or several columns each, of any kinds, as in `mutual_information`. Without z the test
        is of plain independence.
    n_permutations : int, default=199
        Number of permutations; the smallest p-value is 1 / (n_permutations + 1).
    n_local : int, default=5
        With z, a row may take the x of so many rows nearest in z, itself included. Rows that
        share all of z with so many rows are permuted among those instead, which is exact.
    method : str, default="auto"
        As in `mutual_information`.
    n_neighbors : int, optional
        Neighbors for the statistic; a tenth of the rows (at least 3) by default. Estimating needs
        few neighbors (low bias), testing needs many (low variance).
    scale, categorical_features, missing, correction, n_jobs
        As in `mutual_information`.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    IndependenceTest
        Statistic and p-value.

    Notes
    -----
    Without z, and with a discrete z whose states have `n_local` rows or more, the p-value is exact:
    under independence it is at most p with probability at most p, whatever the statistic. With
    continuous z it is as good as neighbors in z are alike: too few rows for many columns of z, or
    a z that x follows closely, and independence is rejected too often.

    References
    ----------
    .. [1] Runge, "Conditional independence testing based on a nearest-neighbor estimator of
       conditional mutual information", AISTATS 2018.

    Examples
    --------
    Here x causes z causes y, so that z separates x from y:

    >>> import numpy as np
    >>> from pinsker import independence_test
    >>> x, to_z, to_y = np.random.default_rng(0).normal(size=(3, 200))
    >>> z = x + to_z
    >>> y = z + to_y
    >>> independence_test(x, y, n_permutations=99).p_value
    0.01
    >>> independence_test(x, y, z, n_permutations=99).p_value > 0.05
    True
    """
    _check_counts(n_permutations, n_local)
    neighbors = 1 if n_neighbors is None else n_neighbors
    options = Options(method, neighbors, scale, categorical_features, missing, correction, n_jobs)
    prepared = prepare(x, y, z, options)
    n_rows = prepared.layout.n_rows
    k = n_neighbors or min(max(_FEWEST_NEIGHBORS, int(_NEIGHBOR_FRACTION * n_rows)), n_rows - 1)
    layout = replace(prepared.layout, k=k)
    observed = layout.measure().value
    rng = generator_of(random_state)
    orders = _permutations(prepared.arguments.z, n_rows, n_permutations, n_local, rng)
    permuted = np.array([replace(layout, x=layout.x[order]).measure().value for order in orders])
    as_large = int(np.sum(permuted >= observed - _TIE * max(1.0, abs(observed))))
    p = (1 + as_large) / (n_permutations + 1)
    return IndependenceTest(observed, p, n_permutations, layout.method, k, n_rows, prepared.notes)


def _check_counts(n_permutations: int, n_local: int) -> None:
    for name, value, least in (("n_permutations", n_permutations, 1), ("n_local", n_local, 2)):
        if value < least:
            raise ParameterError(f"{name}={value} is too few: use at least {least}.")


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
