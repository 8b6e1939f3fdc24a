"""Hashes of rows: which rows are the same, in one table or in two."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray
from pinsker.encoding._read import RawTable

#: Multipliers of splitmix64, which spreads every bit over all others.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def hash_rows(*tables: RawTable) -> AnyArray:
    """Return a 64-bit hash of every row of tables side by side, from the values as they came."""
    hashes = np.zeros(tables[0].n_rows, dtype=np.uint64)
    for table in tables:
        for j in range(table.n_columns):
            known = table.categories[j]
            column = table.values[:, j]
            bits = _bits(column) if known is None else _categories(column, known)
            hashes = _mix(hashes * np.uint64(3) + bits)
    return hashes


def hash_numbers(columns: Iterable[FloatArray]) -> AnyArray:
    """Return a hash of every row of columns of numbers; comparable within one table only."""
    hashes: Any = np.uint64(0)
    for column in columns:
        hashes = _mix(hashes * np.uint64(3) + _bits(column))
    return np.asarray(hashes)


def _bits(column: FloatArray) -> AnyArray:
    """Return the bits of numbers; the two zeros are one, and so are all missing values."""
    same = np.where(np.isnan(column), np.nan, column + 0.0)
    return np.ascontiguousarray(same).view(np.uint64)


def _categories(column: FloatArray, known: AnyArray) -> AnyArray:
    """Return a hash of the category of every row."""
    each = [
        int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little")
        for value in [*known.tolist(), None]
    ]
    codes = np.where(np.isnan(column), len(known), column).astype(np.int64)
    return np.array(each, dtype=np.uint64)[codes]


def _mix(values: AnyArray) -> AnyArray:
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
