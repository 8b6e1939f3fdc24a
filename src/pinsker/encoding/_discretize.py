"""Integer tables for criteria that count: continuous columns cut into bins, the others as codes.

Cuts lie at quantiles, at equal distances, or where classes change (minimum description length,
Fayyad and Irani 1993); integer weights cut as if the rows were repeated.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, FloatArray, IntArray, Unchecked
from pinsker.encoding._encoded import Columns, Kind, Target, frozen
from pinsker.exceptions import DataError, ParameterError

Binning: TypeAlias = Literal["frequency", "width", "mdl"]
_refused = partial(ParameterError, parameter="strategy")

#: Columns whose cuts are found in one call.
_CUT_TOGETHER = 256
#: A count with more categories than this makes contingency tables with mostly empty cells.
_MANY_CATEGORIES = 256


@dataclass(frozen=True, eq=False)
class Binned:
    """A table of small integers, and how continuous columns were cut to get it."""

    codes: AnyArray  # codes 0, 1,
    n_categories: IntArray  # bins or categories of each column: one more than its largest code
    edges: tuple[FloatArray | None, ...]
    names: tuple[str, ...]  # one per column
    strategy: Binning  # how cuts were chosen
    notes: Notes = ()  # what a user should know


def bin_columns(
    columns: Columns,
    labels: IntArray | None = None,
    weights: FloatArray | None = None,
    *,
    bins: int = 5,
    strategy: Binning = "frequency",
) -> Binned:
    """Cut continuous columns into bins; keep counts, categories and booleans as codes."""
    _check(columns, labels, bins, strategy)
    weights = None if weights is None or (weights == 1.0).all() else weights
    if strategy == "mdl" and weights is not None and not _are_integer_weights(weights):
        raise _refused(
            "strategy='mdl' counts rows, so it needs integer sample weights: use 'frequency' or "
            "'width', or round the weights."
        )
    coded, edges, n_categories = [], [], []
    known = _quantile_cuts(columns, bins) if strategy == "frequency" and weights is None else {}
    for j, kind in enumerate(columns.kinds):
        values = columns.values[:, j]
        present = slice(None) if columns.missing is None else ~columns.missing[:, j]
        if kind is Kind.CONTINUOUS:
            there = None if labels is None else labels[present]
            heavy = None if weights is None else weights[present]
            if j in known:
                cuts = known[j]
                codes = np.searchsorted(cuts, values, side="left")
            else:
                codes, cuts = bin_values(
                    values[present], there, heavy, bins=bins, strategy=strategy
                )
            size = len(cuts) + 1
        else:
            found = np.unique(values[present])  # with return_inverse it takes twice the time
            codes = np.searchsorted(found, values[present])
            cuts, size = None, max(1, len(found))
        n_categories.append(size + int(len(codes) < columns.n_rows))
        last = n_categories[-1] - 1  # what is missing, if anything is
        everything = np.full(columns.n_rows, last, dtype=smallest_type(n_categories[-1]))
        everything[present] = codes
        coded.append(everything)
        edges.append(cuts)
    sizes = frozen(np.array(n_categories, dtype=np.int64))
    listed = list(zip(columns.names, n_categories, edges, strict=True))
    many = tuple(name for name, n, own in listed if own is None and n > _MANY_CATEGORIES)
    uncut = tuple(name for name, _, own in listed if own is not None and len(own) == 0)
    notes: Notes = (Note("many categories", many, {"most": _MANY_CATEGORIES}),) if many else ()
    notes += (Note("one bin", uncut),) if uncut else ()
    # Column by column and in the smallest type: less memory to read for each count.
    codes = np.stack(coded, dtype=smallest_type(int(sizes.max()))).T
    codes.flags.writeable = False
    return Binned(codes, sizes, tuple(edges), columns.names, strategy, notes)


def _quantile_cuts(columns: Columns, bins: int) -> dict[int, FloatArray]:
    """Return the cuts of continuous columns without gaps, found together: far fewer calls."""
    gaps: Any = np.zeros(columns.n_columns, dtype=np.bool_)
    if columns.missing is not None:
        gaps = np.asarray(columns.missing).any(axis=0)
    whole = [j for j, kind in enumerate(columns.kinds) if kind is Kind.CONTINUOUS and not gaps[j]]
    cuts: dict[int, FloatArray] = {}
    for first in range(0, len(whole) if columns.n_rows else 0, _CUT_TOGETHER):
        some = whole[first : first + _CUT_TOGETHER]
        found = np.quantile(columns.values[:, some], np.arange(1, bins) / bins, axis=0)
        for j, own in zip(some, found.T, strict=True):
            cuts[j] = frozen(np.unique(own))
    return cuts


def bin_values(
    values: FloatArray,
    labels: IntArray | None = None,
    weights: FloatArray | None = None,
    *,
    bins: int = 5,
    strategy: Binning = "frequency",
) -> tuple[IntArray, FloatArray]:
    if len(values) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    if strategy == "width":
        low, high = values.min(), values.max()
        if low == high:
            return np.zeros(len(values), dtype=np.int64), np.empty(0)
        codes = np.floor(bins * ((values - low) / (high - low))).astype(np.int64)
        cuts = low + (high - low) * (np.arange(1, bins) / bins)
        return np.minimum(codes, bins - 1), frozen(cuts)
    if strategy == "mdl":
        if labels is None:
            raise _refused("strategy='mdl' needs class labels: it cuts where classes change.")
        repeats = 1 if weights is None else weights.astype(np.int64)
        cuts = mdl_cuts(np.repeat(values, repeats), np.repeat(labels, repeats))
    elif weights is None:
        cuts = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    else:
        cuts = weighted_cuts(values, weights, bins)
    return np.searchsorted(cuts, values, side="left").astype(np.int64), frozen(cuts)


def _check(columns: Columns, labels: IntArray | None, bins: Unchecked, strategy: Binning) -> None:
    if strategy not in ("frequency", "width", "mdl"):
        raise _refused(f"strategy={strategy!r} is not known: use 'frequency', 'width' or 'mdl'.")
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 2:
        raise ParameterError(f"bins={bins!r} must be an integer of at least 2.", parameter="bins")
    if labels is not None and len(labels) != columns.n_rows:
        raise DataError(f"labels has {len(labels)} rows, but the columns have {columns.n_rows}.")


def smallest_type(n_categories: int) -> npt.DTypeLike:
    return np.uint8 if n_categories <= 2**8 else np.uint16 if n_categories <= 2**16 else np.int32


def weighted_cuts(values: FloatArray, weights: FloatArray, bins: int) -> FloatArray:
    """Return the cuts of equally heavy bins: `numpy.quantile` of the repeated values."""
    if len(values) == 0:
        return np.empty(0)
    if not _are_integer_weights(weights):
        weights = weights * (len(weights) / weights.sum())
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    first = np.concatenate([[0.0], ends[:-1]])
    last = np.maximum(first, ends - 1.0)
    places = np.column_stack([first, last]).ravel()
    wanted = np.arange(1, bins) / bins * max(float(ends[-1]) - 1.0, 0.0)
    return np.unique(np.interp(wanted, places, np.repeat(values[order], 2)))


def cut_target(target: Target, bins: int) -> tuple[FloatArray | None, IntArray | None]:
    if target.raw is None:
        return None, target.labels
    numbers = target.raw[:, 0]
    cuts = weighted_cuts(numbers, np.ones(len(numbers)), bins)
    return cuts, np.searchsorted(cuts, numbers, side="left").astype(np.int64)


def _are_integer_weights(weights: FloatArray) -> bool:
    return bool((weights == np.floor(weights)).all())


def mdl_cuts(values: FloatArray, labels: IntArray) -> FloatArray:
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
            low, high = distinct[first + cut - 1], distinct[first + cut]
            middle = low + (high - low) / 2.0
            cuts.append(float(middle if middle < high else low))  # `high` is above it
            waiting += [(first, first + cut), (first + cut, last)]
    return np.sort(np.array(cuts, dtype=np.float64))


def _best_cut(cumulative: IntArray, table: FloatArray) -> int | None:
    """Return after which of the sorted distinct values to cut, None if no cut pays."""
    if len(cumulative) <= 2:
        return None
    left = cumulative[1:-1] - cumulative[0]
    total = cumulative[-1] - cumulative[0]
    right = total - left
    n = int(total.sum())
    # Bits are entropies times the number of rows.
    bits_left, bits_right = _bits(left, table), _bits(right, table)
    bits = float(_bits(total[None, :], table)[0])
    cut = int(np.argmin(bits_left + bits_right))
    n_left = int(left[cut].sum())
    k = int(np.count_nonzero(total))
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
