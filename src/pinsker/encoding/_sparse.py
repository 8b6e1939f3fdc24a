"""Sparse tables: which columns are made dense, and how they are read.

Searches and models take dense columns. A table of text counts, 1400 x 5000, takes 56 MB as such;
one of 100 000 x 50 000 would take 40 GB. Of a table that is too large, the columns that are not
zero in the most rows are read. The choice never looks at the target, so that rows which evaluate
or certify stay held out.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from pinsker._types import FloatArray, IntArray
from pinsker.exceptions import DataError

#: Cells that are made dense: 256 MB.
MOST_DENSE_CELLS = 2**25
#: At least so many columns are read, however many rows there are.
_FEWEST_COLUMNS = 100


def most_filled(X: Any, always: Iterable[int]) -> IntArray | None:
    """Return the columns of a sparse table that can be made dense, in order; None: all of them."""
    n_rows, n_columns = X.shape
    most = max(MOST_DENSE_CELLS // max(n_rows, 1), _FEWEST_COLUMNS)
    if n_columns <= most:
        return None
    by_column = sparse.csc_array(X)
    n_filled = np.diff(by_column.indptr).astype(np.int64)
    first = list(always)
    n_filled[first] = n_rows + 1
    return np.sort(np.argsort(-n_filled, kind="stable")[: max(most, len(first))])


def read_sparse(data: Any, columns: IntArray | None, label: str) -> tuple[FloatArray, list[str]]:
    """Return some columns of a sparse table as numbers in Fortran order, and notes about it."""
    if data.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {label} is of type {data.dtype}")
    by_column = sparse.csc_array(data)
    n_columns = by_column.shape[1]
    if columns is None:
        values = np.asfortranarray(by_column.toarray(), dtype=np.float64)
        size = f"{values.nbytes / 2**20:.0f} MB"
        return values, [f"the sparse table was made dense ({size}): models and searches need that"]
    _refuse_not_finite(by_column, label)
    values = np.asfortranarray(by_column[:, columns].toarray(), dtype=np.float64)
    note = (
        f"of the sparse table's {n_columns} columns the {len(columns)} that are not zero in the "
        f"most rows were read ({values.nbytes / 2**20:.0f} MB dense): searches, models and the "
        "certificate are about these; fewer rows leave room for more columns"
    )
    return values, [note]


def sparse_names(n_columns: int, prefix: str) -> tuple[str, ...]:
    """Return the names of the columns of a table that has none."""
    return tuple(f"{prefix}{j}" for j in range(n_columns))


def _refuse_not_finite(by_column: Any, label: str) -> None:
    """Refuse missing and infinite values of a table of which only some columns are read."""
    bad = np.flatnonzero(~np.isfinite(by_column.data))
    if len(bad):
        column = int(np.searchsorted(by_column.indptr, bad[0], side="right")) - 1
        raise DataError(
            f"Input {label} contains NaN or infinity: column {column} has {by_column.data[bad[0]]} "
            "in a sparse table of which only some columns can be read. Fill them in."
        )
