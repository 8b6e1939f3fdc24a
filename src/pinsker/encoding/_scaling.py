"""Scaling of numeric columns: what makes distances in different columns comparable."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from pinsker._types import BoolArray, FloatArray, IntArray, Scale
from pinsker.encoding._checks import weights_in_rows
from pinsker.encoding._encoded import FARTHEST
from pinsker.encoding._read import RawTable, column_blocks
from pinsker.exceptions import DataError, ParameterError

#: The values behind normal scores are known in at most this many rows, and in all of both tails.
_KNOTS, _TAIL = 8192, 1024
#: Scales columns, with weights of the rows or None.
_Method: TypeAlias = Callable[[FloatArray, FloatArray | None], FloatArray]


def check_scale(scale: Scale) -> None:
    """Refuse a scaling that is not known."""
    if scale not in ("copula", "standard", "none"):
        raise ParameterError(
            f"scale={scale!r} is not known: use 'copula', 'standard' or 'none'.", parameter="scale"
        )


def normal_scores(values: FloatArray) -> FloatArray:
    """Return the normal scores of each column."""
    doubled = _doubled_ranks(np.ascontiguousarray(values.T))
    return _score_table(values.shape[0])[doubled].T


def standardize(values: FloatArray) -> FloatArray:
    r"""Return each column with mean 0 and standard deviation 1: :math:`(x - \bar x) / s`."""
    rows = np.ascontiguousarray(values.T)
    if rows.size == 0:
        return values
    exponent = np.frexp(np.abs(rows).max(axis=1))[1]
    rows = np.ldexp(rows, -exponent[:, None])
    ordered = np.sort(rows, axis=1)
    varies = ordered[:, -1] > ordered[:, 0]
    # Differences from the smallest value first: a large offset then costs no digits.
    low = ordered[:, :1].copy()
    ordered -= low
    center = ordered.mean(axis=1, keepdims=True)
    ordered -= center
    spread = np.sqrt(np.mean(ordered * ordered, axis=1))
    scaled = ((rows - low) - center) / np.where(varies, spread, 1.0)[:, None]
    return np.where(varies[:, None], scaled, 0.0).T


def units_behind(
    scores: FloatArray, values: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return normal scores in increasing order, and the standardized value behind each."""
    rows = np.flatnonzero(~np.isnan(scores))
    if len(rows) == 0:
        return np.zeros(1), np.zeros(1)
    present = np.ldexp(values[rows], -np.frexp(np.abs(values[rows]).max())[1])
    present -= present[0]  # a large offset then costs no digits
    center, spread = present.mean(), present.std()
    if weights is not None:
        center = np.average(present, weights=weights[rows])
        spread = np.sqrt(np.average((present - center) ** 2, weights=weights[rows]))
    if len(rows) > _KNOTS:  # both tails, where values move fastest, and a part of all others
        order = np.argpartition(scores[rows], (_TAIL, len(rows) - _TAIL))
        inner = order[_TAIL : -_TAIL : len(rows) // (_KNOTS - 2 * _TAIL) + 1]
        order = np.concatenate([order[:_TAIL], inner, order[-_TAIL:]])
        rows, present = rows[order], present[order]
    known, first = np.unique(scores[rows], return_index=True)
    return known, (present[first] - center) / (spread if spread > 0 else 1.0)


def scale_columns(
    values: FloatArray,
    numeric: BoolArray,
    ranked: BoolArray,
    scale: Scale,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return a C-ordered copy with the `numeric` columns scaled, the others as they are."""
    scaled = np.empty(values.shape)
    by_ranks: _Method = _without_weights(normal_scores)
    by_spread: _Method = _without_weights(standardize)
    if weights is not None:
        by_ranks, by_spread = _weighted_normal_scores, _weighted_standardize
    for some in column_blocks(values.shape):
        block = np.array(values[:, some], order="F")
        if scale != "none":
            by_rank = numeric[some] & ranked[some] & (scale == "copula")
            _scale_block(block, by_rank, by_ranks, weights)
            _scale_block(block, numeric[some] & ~by_rank, by_spread, weights)
        scaled[:, some] = block
    return scaled


def _scale_block(
    block: FloatArray, chosen: BoolArray, method: _Method, weights: FloatArray | None
) -> None:
    """Scale the chosen columns of a block in place."""
    if not chosen.any():
        return
    gaps = np.isnan(block)
    complete = ~gaps.any(axis=0)
    filled = np.flatnonzero(chosen & complete)
    block[:, filled] = method(block[:, filled], weights)
    for j in np.flatnonzero(chosen & ~complete):
        present = ~gaps[:, j]
        if not present.any():  # nothing to rank or to average
            continue
        some = None if weights is None else weights[present]
        block[present, j] = method(block[present, j : j + 1], some)[:, 0]


def _without_weights(method: Callable[[FloatArray], FloatArray]) -> _Method:
    return lambda values, _: method(values)


def _weighted_normal_scores(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the normal scores of rows that stand for several; other weights have mean 1."""
    assert weights is not None
    weights = weights_in_rows(weights)
    scores = np.empty(values.shape)
    for j, column in enumerate(values.T):
        distinct, which = np.unique(column, return_inverse=True)
        own = np.bincount(which, weights, len(distinct))
        ranks = np.cumsum(own) - own + (own + 1.0) / 2.0
        scores[:, j] = ndtri(ranks / (float(own.sum()) + 1.0))[which] if len(distinct) > 1 else 0.0
    return scores


def _weighted_standardize(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return columns with weighted mean 0 and standard deviation 1."""
    assert weights is not None
    shares = weights / weights.sum()
    plain = standardize(values)  # first: it knows how to treat extreme units
    centred = plain - shares @ plain
    spread = np.sqrt(shares @ centred**2)
    scaled = centred / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.where(np.ptp(plain, axis=0) > 0, scaled, 0.0))


def _score_table(n: int) -> FloatArray:
    """Return the normal score of every rank that can occur, at twice the rank."""
    doubled = np.arange(2 * n + 2)
    lower = ndtri(np.minimum(doubled, 2 * n + 2 - doubled) / (2 * n + 2))
    # Both tails from the lower one: scores of reversed columns differ by the sign alone.
    return np.where(doubled > n + 1, -lower, lower)


def _doubled_ranks(rows: FloatArray) -> IntArray:
    """Return twice the rank 1..n of each value in its row; equal values share the average."""
    n = rows.shape[1]
    order = np.argsort(rows, axis=1)
    order += np.arange(0, rows.size, max(n, 1))[:, None]  # positions in the flat array
    ordered = rows.ravel()[order.ravel()].reshape(rows.shape)
    rises = ordered[:, 1:] != ordered[:, :-1]
    ranks = np.empty(rows.size, dtype=np.int64)
    if rises.all():
        ranks[order] = np.arange(2, 2 * n + 1, 2)
    else:
        starts = np.ones(rows.shape, dtype=np.bool_)
        starts[:, 1:] = rises
        first = np.flatnonzero(starts)
        length = np.diff(first, append=rows.size)
        ranks[order.ravel()] = np.repeat(2 * (first % n) + length + 1, length)
    return ranks.reshape(rows.shape)


def refuse_far(values: FloatArray, numeric: BoolArray, table: RawTable) -> None:
    """Refuse distances that the kernels would take for infinite."""
    reach = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    for j in np.flatnonzero(numeric & (reach >= FARTHEST / 2)):
        raise DataError(
            f"column {table.names[j]!r} of {table.label} reaches {reach[j]:.3g}, too far for "
            f"distances below {FARTHEST:g}: use scale='copula' or 'standard', or another unit.",
            parameter="scale",
        )
