"""Notes about columns that carry nothing, or nothing new."""

from hashlib import blake2b

import numpy as np

from pinsker._types import BoolArray
from pinsker.encoding._blocks import column_blocks
from pinsker.encoding._encoded import Columns
from pinsker.encoding._wording import listing

#: A nominal column with more levels than this share of the rows identifies rows.
_IDENTIFIER_SHARE = 0.5
_FEWEST_IDENTIFIED = 10


def constant_columns(columns: Columns) -> BoolArray:
    """Return which columns hold one value only."""
    same = (columns.values == columns.values[:1]).all(axis=0)
    if columns.missing is not None:
        same &= (columns.missing == columns.missing[:1]).all(axis=0)
    return np.asarray(same)


def duplicate_columns(columns: Columns) -> dict[int, int]:
    """Return for each column that repeats an earlier one, the first one it repeats.

    Columns are compared after scaling, by a hash of their bytes: under ``scale="copula"`` a
    column and its logarithm are the same.
    """
    first: dict[bytes, int] = {}
    repeats: dict[int, int] = {}
    for some in column_blocks(columns.values.shape):
        block = np.ascontiguousarray(columns.values[:, some].T) + 0.0  # -0.0 and 0.0 are one value
        for j, column in enumerate(block, some.start):
            digest = blake2b(column, digest_size=16)
            digest.update(b"number" if columns.kinds[j].is_numeric else b"category")
            if columns.missing is not None:
                digest.update(columns.missing[:, j].tobytes())
            earlier = first.setdefault(digest.digest(), j)
            if earlier != j:
                repeats[j] = earlier
    return repeats


def column_notes(columns: Columns) -> list[str]:
    """Write what a user should know about constants, duplicates and identifiers."""
    notes = []
    constant = constant_columns(columns)
    if constant.any():
        names = [columns.names[j] for j in np.flatnonzero(constant)]
        notes.append(f"constant, so without information: {listing(names)}")
    pairs = [
        f"{columns.names[later]!r} repeats {columns.names[earlier]!r}"
        for later, earlier in duplicate_columns(columns).items()
        if not constant[later]
    ]
    if pairs:
        rest = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
        notes.append(f"the same after scaling: {', '.join(pairs[:5])}{rest}")
    most = max(columns.n_rows * _IDENTIFIER_SHARE, _FEWEST_IDENTIFIED)
    identifiers = [
        name
        for name, levels in zip(columns.names, columns.levels, strict=True)
        if levels is not None and len(levels) > most
    ]
    if identifiers:
        notes.append(f"a different level in most rows, as identifiers have: {listing(identifiers)}")
    return notes
