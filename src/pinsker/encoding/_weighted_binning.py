"""Bins of weighted rows: whole weights cut as if the rows were repeated."""

from dataclasses import replace

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding._binning import Binned, Strategy, bin_columns
from pinsker.encoding._encoded import Columns, Kind
from pinsker.encoding._mdl import mdl_cuts
from pinsker.exceptions import ParameterError


def bin_weighted(
    columns: Columns,
    weights: FloatArray,
    labels: IntArray | None = None,
    *,
    bins: int = 5,
    strategy: Strategy = "frequency",
) -> Binned:
    """Cut continuous columns of weighted rows into bins.

    Parameters
    ----------
    columns, labels, bins, strategy
        As in `bin_columns`.
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows. Whole weights stand for repeated rows. "frequency" scales
        other weights to a mean of 1; "mdl" counts rows and refuses them; "width" needs none.

    Returns
    -------
    Binned

    Examples
    --------
    >>> from pinsker.encoding import encode_columns
    >>> columns = encode_columns([0.5, 1.5, 2.5, 10.5], scale="none")
    >>> bin_weighted(columns, np.array([1.0, 1.0, 1.0, 9.0]), bins=2).codes.ravel()
    array([0, 0, 0, 0], dtype=uint8)
    """
    plain = bin_columns(columns, labels, bins=bins, strategy=strategy)
    if strategy == "width" or (weights == 1.0).all():
        return plain
    if strategy == "mdl" and not _are_whole(weights):
        raise ParameterError(
            "strategy='mdl' counts rows, so it needs whole sample weights: use 'frequency' or "
            "'width', or round the weights."
        )
    codes = np.array(plain.codes, dtype=np.int32, order="F")
    edges, levels = list(plain.edges), plain.n_levels.copy()
    for j, kind in enumerate(columns.kinds):
        if kind is not Kind.CONTINUOUS:
            continue
        present = (
            np.ones(columns.n_rows, bool) if columns.missing is None else ~columns.missing[:, j]
        )
        values = columns.values[present, j]
        if strategy == "mdl":
            assert labels is not None  # bin_columns has asked for them
            repeats = weights[present].astype(np.int64)
            cuts = mdl_cuts(np.repeat(values, repeats), np.repeat(labels[present], repeats))
        else:
            cuts = weighted_cuts(values, weights[present], bins)
        codes[:, j] = len(cuts) + 1
        codes[present, j] = np.searchsorted(cuts, values, side="left")
        edges[j], levels[j] = cuts, len(cuts) + 1 + int(not present.all())
    smallest = codes.astype(np.min_scalar_type(int(levels.max()) - 1))
    for array in (smallest, levels):
        array.flags.writeable = False
    return replace(plain, codes=smallest, n_levels=levels, edges=tuple(edges))


def weighted_cuts(values: FloatArray, weights: FloatArray, bins: int) -> FloatArray:
    """Return the cuts of equally heavy bins: `numpy.quantile` of the repeated values.

    A value of weight w fills the places from what lies before it to w - 1 after that; between two
    values quantiles are interpolated.

    Examples
    --------
    >>> weighted_cuts(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 1.0]), 2)
    array([2.])
    """
    if len(values) == 0:
        return np.empty(0)
    if not _are_whole(weights):
        weights = weights * (len(weights) / weights.sum())
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    first = np.concatenate([[0.0], ends[:-1]])
    last = np.maximum(first, ends - 1.0)
    places = np.column_stack([first, last]).ravel()
    wanted = np.arange(1, bins) / bins * max(float(ends[-1]) - 1.0, 0.0)
    return np.unique(np.interp(wanted, places, np.repeat(values[order], 2)))


def _are_whole(weights: FloatArray) -> bool:
    return bool((weights == np.floor(weights)).all())
