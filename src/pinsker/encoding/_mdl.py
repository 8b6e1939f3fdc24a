"""Supervised cuts by minimum description length (Fayyad and Irani 1993)."""

import math

import numpy as np

from pinsker._types import FloatArray, IntArray


def mdl_cuts(values: FloatArray, labels: IntArray) -> FloatArray:
    r"""Return the cuts of one column that tell the classes apart, in ascending order.

    A set :math:`S` of :math:`N` rows is cut where the class entropy within both parts is least, as
    long as the gain pays for describing the cut:

    .. math:: \mathrm{Gain} > \frac{\log_2(N - 1)}{N} + \frac{\Delta}{N}, \qquad
        \Delta = \log_2(3^k - 2) - (k H(S) - k_1 H(S_1) - k_2 H(S_2)),

    :math:`k, k_1, k_2` the numbers of classes present. Both parts are then cut in the same way.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Finite numbers.
    labels : ndarray of shape (n_rows,), int64
        Class codes.

    Returns
    -------
    ndarray of float64
        Midpoints between neighbouring values; empty when no cut pays.

    References
    ----------
    .. [1] Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes for
       classification learning", IJCAI 1993, equation 4.

    Examples
    --------
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10))
    array([9.5])
    """
    distinct, run = np.unique(values, return_inverse=True)
    n_classes = int(labels.max()) + 1
    counts = np.bincount(run * n_classes + labels, minlength=len(distinct) * n_classes)
    cumulative = np.zeros((len(distinct) + 1, n_classes), dtype=np.int64)
    np.cumsum(counts.reshape(len(distinct), n_classes), axis=0, out=cumulative[1:])
    # n log2 n for every count that can occur: equal counts then give equal bits, so ties are exact.
    table = np.arange(len(values) + 1, dtype=np.float64)
    table[1:] *= np.log2(table[1:])
    cuts = []
    waiting = [(0, len(distinct))]
    while waiting:
        first, last = waiting.pop()
        cut = _best_cut(cumulative[first : last + 1], table)
        if cut is not None:
            cuts.append(_between(distinct[first + cut - 1], distinct[first + cut]))
            waiting += [(first, first + cut), (first + cut, last)]
    return np.sort(np.array(cuts, dtype=np.float64))


def _best_cut(cumulative: IntArray, table: FloatArray) -> int | None:
    """Return after which of the sorted distinct values to cut, None if no cut pays."""
    if len(cumulative) <= 2:
        return None
    left = cumulative[1:-1] - cumulative[0]
    whole = cumulative[-1] - cumulative[0]
    right = whole - left
    n = int(whole.sum())
    # Bits are entropies times the number of rows.
    bits_left, bits_right = _bits(left, table), _bits(right, table)
    bits = float(_bits(whole[None, :], table)[0])
    cut = int(np.argmin(bits_left + bits_right))
    n_left = int(left[cut].sum())
    k = int(np.count_nonzero(whole))
    description = (
        k * bits / n
        - np.count_nonzero(left[cut]) * float(bits_left[cut]) / n_left
        - np.count_nonzero(right[cut]) * float(bits_right[cut]) / (n - n_left)
    )
    delta = k * math.log2(3.0) + math.log1p(-2.0 * 3.0**-k) / math.log(2.0) - description
    gain = bits - float(bits_left[cut]) - float(bits_right[cut])
    return cut + 1 if gain > math.log2(n - 1) + delta else None


def _bits(counts: IntArray, table: FloatArray) -> FloatArray:
    return np.asarray(table[counts.sum(axis=1)] - table[counts].sum(axis=1))


def _between(low: float, high: float) -> float:
    """Return a cut with `low` on or below it and `high` above it."""
    middle = low + (high - low) / 2.0
    return float(middle if middle < high else low)
