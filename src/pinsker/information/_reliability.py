"""An estimate with its standard error, and the reasons not to trust it."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from pinsker._notes import Notes
from pinsker._types import AnyArray, IntArray
from pinsker.encoding import Columns
from pinsker.engine import generator_of
from pinsker.exceptions import UnreliableEstimateWarning
from pinsker.information._estimators import merge_states, state_entropy
from pinsker.information._measure import ROWS_PER_STATE, Arguments, Measurement, MethodArrays

#: Below this many nats of resolution, neighbors lost an eighth or more of the information in
#: Gaussian problems of all sizes and dimensions (docs/estimators.md).
_RESOLUTION_NEEDED = 1.0
#: Above this fraction of the resolution the estimate is squeezed against its limit.
_NEAR_RESOLUTION = 0.75
#: Above this fraction of the ceiling the resolution is worth computing whatever the dimension.
_NEAR_CEILING = 0.35
#: Up to this many columns and from this many rows on, the resolution is never the problem.
_SAFE_COLUMNS, _SAFE_ROWS = 3, 500
#: A ceiling of single columns given z from which on the resolution is above what is needed.
_SAFE_CEILING = 2.5
#: More rows than this fraction without any comparable row pull the estimate to zero.
_MOST_ALONE = 0.1
#: Fraction of the entropy of classes that neighbors must be able to show.
_CLASSES_NEEDED = 0.9
#: Rows whose resolution is computed.
_QUERY_ROWS = 30
#: Random halves of the rows behind a standard error.
_N_HALVES = 20


@dataclass(frozen=True)
class Estimate:
    """An estimate of entropy or information, with what is known about it.

    Attributes
    ----------
    value : float
        The estimate in nats; negative values are noise around zero. Clipped with ``clip=True``.
    method : str
        The method that was used, never ``"auto"``.
    n_samples : int
        Number of rows used.
    ceiling : float or None
        The largest value, in nats, that neighbors could have shown with these rows, if any.
    standard_error : float or None
        In nats, without bias: the standard deviation over random halves of the rows. None when
        those are too small.
    notes : tuple of Note
        What was guessed, chosen or found in the data.
    warnings : tuple of str
        Why the estimate should not be trusted; empty when nothing was found.

    Examples
    --------
    >>> from pinsker import mutual_information
    >>> found = mutual_information(["a", "b"] * 20, ["c", "d"] * 20, return_details=True)
    >>> found.method, found.n_samples
    ('discrete', 40)
    """

    value: float
    method: str
    n_samples: int
    ceiling: float | None = None
    standard_error: float | None = None
    notes: Notes = ()
    warnings: tuple[str, ...] = ()

    @property
    def clipped(self) -> float:
        """The value, or zero where it is negative: true information never is."""
        return max(self.value, 0.0)

    def __float__(self) -> float:
        return self.value


def warn_unreliable(messages: tuple[str, ...], *, stacklevel: int) -> None:
    """Issue one warning for all reasons not to trust an estimate."""
    if messages:
        text = "do not trust this estimate: " + "; ".join(messages)
        warnings.warn(text, UnreliableEstimateWarning, stacklevel=stacklevel + 1)


def clip_negative(value: float, clip: bool) -> float:
    assert not math.isnan(value)
    return max(value, 0.0) if clip else value


def reliability_warnings(
    layout: MethodArrays, measured: Measurement, arguments: Arguments
) -> tuple[str, ...]:
    """Return the reasons not to trust a measurement."""
    if measured.rows_per_cell is not None:
        return sparse_cell_warnings(measured.rows_per_cell)
    if math.isinf(measured.value):
        return ("x and y are exact linear functions of each other, so it is infinite",)
    if measured.ceiling is None:
        return ()
    alone = isolated_row_warnings(measured.n_alone, layout.n_rows)
    classes = [side for side in (arguments.x, arguments.y) if _is_nominal(side)]
    if _is_well_resolved(measured, arguments, bool(classes)):
        return alone
    n_rows, n_columns = layout.n_rows, arguments.n_columns
    resolution = neighbor_resolution(layout, arguments)
    # Information about classes is at most their entropy, so no more need be resolved.
    entropies = [state_entropy(merge_states(side.metric())[0], "none") for side in classes]
    needed = min([_RESOLUTION_NEEDED, *(_CLASSES_NEEDED * entropy for entropy in entropies)])
    z = np.empty((n_rows, 0)) if layout.z is None else layout.z
    known = {column.tobytes() for column in np.ascontiguousarray(z.T)}
    repeated = (
        all(column.tobytes() in known for column in np.ascontiguousarray(side.T))
        for side in (layout.x, layout.y)
    )  # where z holds all columns of x, or all of y, the information is zero
    if resolution < needed and not any(repeated):
        reason = (
            f"{n_columns} columns are too many for {n_rows} rows: neighbors are so far apart that "
            f"they show at most {resolution:.2g} nats, and less than is there"
        )
        return (*alone, reason)
    if not classes and measured.value > _NEAR_RESOLUTION * resolution:
        reason = (
            f"the estimate is close to the {resolution:.2g} nats that neighbors can show with "
            f"{n_rows} rows, so the truth may be larger"
        )
        return (*alone, reason)
    return alone


def half_sampling_error(
    measure: Callable[[IntArray], float], n_rows: int, smallest: int, random_state: int
) -> float | None:
    """Standard error in nats: the standard deviation over random halves of the rows."""
    half = n_rows // 2
    if half < max(smallest, 4):
        return None
    rng = generator_of(random_state)
    halves = (np.sort(rng.permutation(n_rows)[:half]) for _ in range(_N_HALVES))
    values = np.array([measure(rows) for rows in halves])
    return float(values.std(ddof=1)) if np.isfinite(values).all() else None


def sparse_cell_warnings(rows_per_cell: float) -> tuple[str, ...]:
    if rows_per_cell >= ROWS_PER_STATE:
        return ()
    reason = (
        f"there are {rows_per_cell:.1f} rows per joint state, and counting needs "
        f"{ROWS_PER_STATE:.0f}; merge values or use more rows"
    )
    return (reason,)


def isolated_row_warnings(n_alone: int, n_rows: int) -> tuple[str, ...]:
    if n_alone <= _MOST_ALONE * n_rows:
        return ()
    reason = (
        f"{n_alone} of {n_rows} rows share their nominal values with no other row and count as "
        "zero; merge rare categories"
    )
    return (reason,)


def _is_well_resolved(measured: Measurement, arguments: Arguments, classes: bool) -> bool:
    """Whether the resolution need not be computed, which can cost as much as the estimate."""
    assert measured.ceiling is not None
    if not classes and measured.value > _NEAR_CEILING * measured.ceiling:
        return False
    if arguments.n_columns <= _SAFE_COLUMNS and arguments.x.n_rows >= _SAFE_ROWS:
        return True
    # One column on each side halves the logarithm of what the ceiling counts, more or less.
    single = arguments.x.n_columns == arguments.y.n_columns == 1
    return single and arguments.z is not None and not classes and measured.ceiling > _SAFE_CEILING


def _is_nominal(side: Columns) -> bool:
    return not any(kind.is_numeric for kind in side.kinds)


def neighbor_resolution(layout: MethodArrays, arguments: Arguments) -> float:
    """The information that neighbors could show if x determined y, or y determined x."""
    n_rows = layout.n_rows
    rows = np.unique(np.linspace(0, n_rows - 1, min(_QUERY_ROWS, n_rows)).astype(np.int64))
    z = np.empty((n_rows, 0)) if layout.z is None else layout.z
    x, y, z = (np.ascontiguousarray(part.T) for part in (layout.x, layout.y, z))
    # One row at a time: its distances stay in the cache.
    near, *by_side = np.array([_rows_in_ball(x, y, z, row, layout.k) for row in rows]).T
    best = math.log(n_rows)
    found, sides = [best], (arguments.x, arguments.y)
    for side, inside, equal in zip(sides, by_side[:2], by_side[2:], strict=True):
        if not _is_nominal(side):
            # The row itself is counted: that is the + 1.
            shown = digamma(np.maximum(near, 1)) - digamma(np.maximum(inside, 1))
            found.append(float(np.where(inside == equal, best, shown).mean()))
    return min(found)


def _rows_in_ball(
    x: AnyArray, y: AnyArray, z: AnyArray, row: int, k: int
) -> tuple[int, int, int, int, int]:
    """Count the rows inside a row's radius in z, in xz and yz, and those equal in x or y."""
    to_x, to_y, to_z = (
        np.abs(part - part[:, [row]]).max(axis=0, initial=0.0) for part in (x, y, z)
    )
    joint = np.maximum(np.maximum(to_x, to_y), to_z)
    radius = np.partition(joint, k)[k]  # position 0 is the row
    near = to_z < radius
    inside = [int(np.count_nonzero(near & (to < radius))) for to in (to_x, to_y)]
    equal = [int(np.count_nonzero(near & (to == 0))) for to in (to_x, to_y)]
    return int(np.count_nonzero(near)), inside[0], inside[1], equal[0], equal[1]
