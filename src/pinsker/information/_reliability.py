"""When an estimate should not be trusted, and how much it would vary."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import digamma

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.encoding import Columns
from pinsker.information._arguments import Sides
from pinsker.information._discrete import merge_states, state_entropy
from pinsker.information._measure import ROWS_PER_CELL, Measured, Prepared

#: Below this many nats of resolution, neighbours lost an eighth or more of the information in
#: Gaussian problems of all sizes and dimensions (docs/estimators.md).
RESOLUTION_NEEDED = 1.0
#: Above this share of the resolution the estimate is squeezed against its limit.
SQUEEZED_SHARE = 0.75
#: Above this share of the ceiling the resolution is worth computing whatever the dimension.
_SUSPICIOUS_SHARE = 0.35
#: Up to this many columns and from this many rows on, the resolution is never the problem.
_SAFE_COLUMNS, _SAFE_ROWS = 3, 500
#: A ceiling of single columns given z from which on the resolution is above what is needed.
_SAFE_CEILING = 2.5
#: More rows than this share without any comparable row, and the estimate is dragged to zero.
_ALONE_SHARE = 0.1
#: Share of the entropy of classes that neighbours must be able to show.
_CLASSES_SHARE = 0.9
#: Rows whose resolution is computed.
_QUERY_ROWS = 30
N_HALVES = 20


def doubts(prepared: Prepared, measured: Measured, sides: Sides) -> tuple[str, ...]:
    """Return the reasons not to trust a measurement."""
    if measured.rows_per_cell is not None:
        return sparse_cells(measured.rows_per_cell)
    if math.isinf(measured.value):
        return ("x and y are exact linear functions of each other, so it is infinite",)
    if measured.ceiling is None:
        return ()
    return (
        *lonely_rows(measured.n_alone, prepared.n_rows),
        *_unresolved(prepared, measured, sides),
    )


def half_sampling_error(
    measure: Callable[[IntArray], float], n_rows: int, smallest: int, random_state: int
) -> float | None:
    """Standard error in nats: the standard deviation over random halves of the rows.

    A half drawn without replacement from n rows differs from the whole by a variance of
    sigma²(2/n - 1/n) = sigma²/n, which is that of the whole: no factor is needed.

    Parameters
    ----------
    measure : callable
        Returns the estimate from some of the rows.
    n_rows : int
        Number of rows.
    smallest : int
        Fewest rows that a half must have; None is returned otherwise.
    random_state : int
        Seed of the halves.
    """
    half = n_rows // 2
    if half < max(smallest, 4):
        return None
    rng = np.random.default_rng(random_state)
    halves = (np.sort(rng.permutation(n_rows)[:half]) for _ in range(N_HALVES))
    values = np.array([measure(rows) for rows in halves])
    return float(values.std(ddof=1)) if np.isfinite(values).all() else None


def sparse_cells(rows_per_cell: float) -> tuple[str, ...]:
    """Say so when too few rows share a joint state."""
    if rows_per_cell >= ROWS_PER_CELL:
        return ()
    reason = (
        f"there are {rows_per_cell:.1f} rows per joint state, and counting needs "
        f"{ROWS_PER_CELL:.0f}; merge values or use more rows"
    )
    return (reason,)


def lonely_rows(n_alone: int, n_rows: int) -> tuple[str, ...]:
    """Say so when many rows have no row to be compared with."""
    if n_alone <= _ALONE_SHARE * n_rows:
        return ()
    reason = (
        f"{n_alone} of {n_rows} rows share their nominal values with no other row and count as "
        "zero; merge rare levels"
    )
    return (reason,)


def _unresolved(prepared: Prepared, measured: Measured, sides: Sides) -> tuple[str, ...]:
    """Compare the estimate with what the neighbours could have shown."""
    classes = [side for side in (sides.x, sides.y) if _is_nominal(side)]
    if _beyond_doubt(measured, sides, bool(classes)):
        return ()
    n_rows = prepared.n_rows
    n_columns = sum(columns.n_columns for columns in sides.given.values())
    resolution = neighbour_resolution(prepared, sides)
    # Classes cannot tell more than their entropy, so no more need be resolved.
    needed = min([RESOLUTION_NEEDED, *(_CLASSES_SHARE * _entropy(side) for side in classes)])
    if resolution < needed and not _repeats_condition(prepared):
        reason = (
            f"{n_columns} columns are too many for {n_rows} rows: neighbours are so far apart that "
            f"they show at most {resolution:.2g} nats, and less than is there"
        )
        return (reason,)
    if not classes and measured.value > SQUEEZED_SHARE * resolution:
        reason = (
            f"the estimate is close to the {resolution:.2g} nats that neighbours can show with "
            f"{n_rows} rows, so the truth may be larger"
        )
        return (reason,)
    return ()


def _beyond_doubt(measured: Measured, sides: Sides, classes: bool) -> bool:
    """Whether the resolution need not be computed, which can cost as much as the estimate."""
    assert measured.ceiling is not None
    if not classes and measured.value > _SUSPICIOUS_SHARE * measured.ceiling:
        return False
    n_columns = sum(columns.n_columns for columns in sides.given.values())
    if n_columns <= _SAFE_COLUMNS and sides.x.n_rows >= _SAFE_ROWS:
        return True
    # One column on each side halves the logarithm of what the ceiling counts, more or less.
    single = sides.x.n_columns == sides.y.n_columns == 1
    return single and sides.z is not None and not classes and measured.ceiling > _SAFE_CEILING


def _is_nominal(side: Columns) -> bool:
    return not any(kind.is_numeric for kind in side.kinds)


def _entropy(side: Columns) -> float:
    """Plug-in entropy of a side's states."""
    return state_entropy(merge_states(side.metric())[0], "none")


def _repeats_condition(prepared: Prepared) -> bool:
    """Whether z holds all columns of x, or all of y: zero is the right answer then."""
    if prepared.z is None:
        return False
    known = {column.tobytes() for column in np.ascontiguousarray(prepared.z.T)}
    return any(
        all(column.tobytes() in known for column in np.ascontiguousarray(side.T))
        for side in (prepared.x, prepared.y)
    )


def neighbour_resolution(prepared: Prepared, sides: Sides) -> float:
    """The information that neighbours could show if x told all of y, or y all of x.

    With the radius of each row and the numbers n of rows inside it, the estimate is at most the
    mean of psi(n_z + 1) - psi(n_xz + 1), and of the same with y for x: the smaller of both, from
    a few rows spread evenly over the sample. It is sharper than the ceiling, and unlike the
    ceiling it shrinks when x or y has many columns and there is no condition. Rows whose ball
    holds a single value of a side are resolved as well as can be, and count as ln n; sides of
    nothing but nominal columns always are.
    """
    n_rows = prepared.n_rows
    rows = np.unique(np.linspace(0, n_rows - 1, min(_QUERY_ROWS, n_rows)).astype(np.int64))
    z = np.empty((n_rows, 0)) if prepared.z is None else prepared.z
    x, y, z = (np.ascontiguousarray(part.T) for part in (prepared.x, prepared.y, z))
    # One row at a time: its distances stay in the cache.
    near, *by_side = np.array([_rows_in_ball(x, y, z, row, prepared.k) for row in rows]).T
    best = math.log(n_rows)
    found = [best]
    for side, inside, equal in zip((sides.x, sides.y), by_side[:2], by_side[2:], strict=True):
        if not _is_nominal(side):
            # The row itself is counted: that is the + 1.
            shown = digamma(np.maximum(near, 1)) - digamma(np.maximum(inside, 1))
            found.append(float(np.where(inside == equal, best, shown).mean()))
    return min(found)


def _rows_in_ball(
    x: AnyArray, y: AnyArray, z: AnyArray, row: int, k: int
) -> tuple[int, int, int, int, int]:
    """Count the rows inside a row's radius in z, in xz and yz, and those of them equal in x or y.

    x, y and z hold a column in each row.
    """
    to_x, to_y, to_z = (_distances(part, row) for part in (x, y, z))
    joint = np.maximum(np.maximum(to_x, to_y), to_z)
    radius = np.partition(joint, k)[k]  # position 0 is the row
    near = to_z < radius
    inside = [int(np.count_nonzero(near & (to < radius))) for to in (to_x, to_y)]
    equal = [int(np.count_nonzero(near & (to == 0))) for to in (to_x, to_y)]
    return int(np.count_nonzero(near)), inside[0], inside[1], equal[0], equal[1]


def _distances(columns: AnyArray, row: int) -> FloatArray:
    """Max-norm distances of a row to all rows."""
    distances = np.zeros(columns.shape[1])
    for values in columns:
        np.maximum(distances, np.abs(values - values[row]), out=distances)
    return distances
