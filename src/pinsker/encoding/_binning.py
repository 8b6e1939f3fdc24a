"""Integer tables for criteria that count: continuous columns cut into bins, the others as codes."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray
from pinsker.encoding._encoded import Columns, Kind
from pinsker.encoding._mdl import mdl_cuts
from pinsker.encoding._wording import listing
from pinsker.exceptions import DataError, ParameterError

Strategy: TypeAlias = Literal["frequency", "width", "mdl"]

#: A count with more levels than this makes contingency tables with mostly empty cells.
_MANY_LEVELS = 256


@dataclass(frozen=True, eq=False)
class Binned:
    """A table of small whole numbers, and how continuous columns were cut to get it.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_columns), uint8, uint16 or int32, Fortran order, read-only
        Codes 0, 1, ... of each column; the type is the smallest that holds all of them.
    n_levels : ndarray of shape (n_columns,), int64, read-only
        One more than the largest code a column can have.
    edges : tuple
        Per column, the cuts between bins in ascending order, in the unit of the columns that were
        binned; None for columns that were kept as they are. A value belongs to the bin below a cut
        if it equals the cut ("frequency", "mdl"), to the bin above under "width".
    names : tuple of str
        One per column.
    strategy : {"frequency", "width", "mdl"}
        How cuts were chosen.
    notes : tuple of str
        What a user should know.
    """

    codes: npt.NDArray[Any]
    n_levels: IntArray
    edges: tuple[FloatArray | None, ...]
    names: tuple[str, ...]
    strategy: Strategy
    notes: tuple[str, ...] = ()


def bin_columns(
    columns: Columns,
    labels: IntArray | None = None,
    *,
    bins: int = 5,
    strategy: Strategy = "frequency",
) -> Binned:
    """Cut continuous columns into bins; keep counts, levels and booleans as codes.

    Parameters
    ----------
    columns : Columns
        What `encode_columns` returns; with ``scale="none"`` the edges are in the user's unit.
    labels : ndarray of shape (n_rows,), int64, optional
        Class codes; needed by "mdl" alone.
    bins : int, default=5
        Number of bins, at least 2; "mdl" finds its own.
    strategy : {"frequency", "width", "mdl"}, default="frequency"
        Cuts at quantiles; at equal distances between smallest and largest value; or where they
        tell the classes apart, by the minimum description length of Fayyad and Irani (1993).

    Returns
    -------
    Binned

    Notes
    -----
    A missing value (``missing="category"``) is a code of its own, after all others.

    References
    ----------
    .. [1] Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes for
       classification learning", IJCAI 1993.

    Examples
    --------
    >>> from pinsker.encoding import encode_columns
    >>> columns = encode_columns([0.5, 1.5, 2.5, 10.5], scale="none")
    >>> bin_columns(columns, bins=2).codes.ravel()
    array([0, 0, 1, 1], dtype=uint8)
    >>> bin_columns(columns, bins=2, strategy="width").codes.ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """
    _check(columns, labels, bins, strategy)
    coded, edges, n_levels = [], [], []
    for j, kind in enumerate(columns.kinds):
        values = columns.values[:, j]
        present = slice(None) if columns.missing is None else ~columns.missing[:, j]
        if kind is Kind.CONTINUOUS:
            there = None if labels is None else labels[present]
            codes, cuts = bin_values(values[present], there, bins=bins, strategy=strategy)
            size = len(cuts) + 1
        else:
            found, codes = np.unique(values[present], return_inverse=True)
            cuts, size = None, max(1, len(found))
        n_levels.append(size + int(len(codes) < columns.n_rows))
        last = n_levels[-1] - 1  # what is missing, if anything is
        everything = np.full(columns.n_rows, last, dtype=smallest_type(n_levels[-1]))
        everything[present] = codes
        coded.append(everything)
        edges.append(cuts)
    levels = np.array(n_levels, dtype=np.int64)
    levels.flags.writeable = False
    notes = _notes(columns, levels, edges)
    return Binned(_packed(coded, levels), levels, tuple(edges), columns.names, strategy, notes)


def bin_values(
    values: FloatArray,
    labels: IntArray | None = None,
    *,
    bins: int = 5,
    strategy: Strategy = "frequency",
) -> tuple[IntArray, FloatArray]:
    """Cut one column, and return its codes and the cuts.

    Parameters are those of `bin_columns`; `values` are finite numbers.

    Examples
    --------
    >>> codes, cuts = bin_values(np.array([1.0, 2.0, 3.0, 4.0]), bins=2)
    >>> codes, cuts
    (array([0, 0, 1, 1]), array([2.5]))
    """
    if len(values) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    if strategy == "width":
        return _equal_width(values, bins)
    if strategy == "mdl":
        if labels is None:
            raise ParameterError("strategy='mdl' needs class labels: it cuts where classes change.")
        cuts = mdl_cuts(values, labels)
    else:
        cuts = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    cuts.flags.writeable = False
    return np.searchsorted(cuts, values, side="left").astype(np.int64), cuts


def _equal_width(values: FloatArray, bins: int) -> tuple[IntArray, FloatArray]:
    low, high = values.min(), values.max()
    if low == high:
        return np.zeros(len(values), dtype=np.int64), np.empty(0)
    share = (values - low) / (high - low)
    codes = np.floor(bins * share).astype(np.int64)
    cuts = low + (high - low) * (np.arange(1, bins) / bins)
    cuts.flags.writeable = False
    return np.minimum(codes, bins - 1), cuts


def _check(columns: Columns, labels: IntArray | None, bins: Any, strategy: Strategy) -> None:
    if strategy not in ("frequency", "width", "mdl"):
        raise ParameterError(
            f"strategy={strategy!r} is not known: use 'frequency', 'width' or 'mdl'."
        )
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 2:
        raise ParameterError(f"bins={bins!r} must be a whole number of at least 2.")
    if labels is not None and len(labels) != columns.n_rows:
        raise DataError(f"labels has {len(labels)} rows, but the columns have {columns.n_rows}.")


def smallest_type(n_levels: int) -> npt.DTypeLike:
    """Return the smallest type of whole numbers that holds so many codes."""
    return np.uint8 if n_levels <= 2**8 else np.uint16 if n_levels <= 2**16 else np.int32


def _packed(coded: list[npt.NDArray[Any]], levels: IntArray) -> npt.NDArray[Any]:
    """Lay codes out column by column in the smallest type: less memory to read for each count."""
    dtype = smallest_type(int(levels.max()))
    codes = np.empty((len(coded[0]), len(coded)), dtype=dtype, order="F")
    for j, column in enumerate(coded):
        codes[:, j] = column
    codes.flags.writeable = False
    return codes


def _notes(columns: Columns, levels: IntArray, edges: list[FloatArray | None]) -> tuple[str, ...]:
    many, uncut = [], []
    for name, size, cuts in zip(columns.names, levels, edges, strict=True):
        if cuts is None and size > _MANY_LEVELS:
            many.append(name)
        if cuts is not None and len(cuts) == 0:
            uncut.append(name)
    notes = []
    if many:
        notes.append(
            f"more than {_MANY_LEVELS} levels, so most cells of a table are empty: {listing(many)}"
        )
    if uncut:
        notes.append(f"no cut was found, so one bin holds all: {listing(uncut)}")
    return tuple(notes)
