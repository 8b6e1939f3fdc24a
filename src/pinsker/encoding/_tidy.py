"""What is left out before a search: features that cannot carry information as they are."""

from dataclasses import replace
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.encoding._cells import object_array
from pinsker.encoding._checks import (
    IDENTIFIERS,
    constant_columns,
    identifier_note,
    listing,
    near_unique_columns,
)
from pinsker.encoding._encoded import Columns, Encoded, Kind, frozen, take_features

#: What the categories that occur once become.
RARE = "(values that occur once)"


def drop_uninformative(encoded: Encoded, fixed: tuple[int, ...] = ()) -> Encoded:
    """Return a table without constants, and without categories that only name one row."""
    columns = _merge_single_values(encoded.columns)
    constant = constant_columns(columns)
    varies = [
        feature
        for feature, own in enumerate(encoded.features)
        if feature in fixed or not constant[list(own)].all()
    ]
    merged = replace(encoded, columns=columns)
    if not varies or len(varies) == encoded.n_features:
        return merged
    gone = sorted(set(range(encoded.n_features)) - set(varies))
    names = listing([encoded.feature_names[feature] for feature in gone])
    note = f"constant, or no value repeats, so left out before the search: {names}"
    kept = take_features(merged, varies)
    near = [j for j in near_unique_columns(encoded.columns) if not constant[j]]
    notes = [
        one for one in columns.notes if not one.startswith(("constant,", IDENTIFIERS))
    ] + identifier_note([columns.names[j] for j in near])
    return replace(kept, columns=replace(kept.columns, notes=(*notes, note)))


def _merge_single_values(columns: Columns) -> Columns:
    """Make one category of those that occur once, in columns that hold mostly such."""
    near = near_unique_columns(columns)
    if not near:
        return columns
    values, categories, kinds = columns.values.copy(), list(columns.categories), list(columns.kinds)
    for j in near:
        values[:, j], categories[j] = _merged(values[:, j], columns.categories[j])
        kinds[j] = Kind.NOMINAL
    return replace(columns, values=frozen(values), categories=tuple(categories), kinds=tuple(kinds))


def _merged(values: FloatArray, known: Any) -> tuple[IntArray, AnyArray]:
    codes = values.astype(np.int64)
    counts = np.bincount(codes, minlength=len(known))
    repeated = np.flatnonzero(counts > 1)
    code = np.full(len(known), len(repeated), dtype=np.int64)
    code[repeated] = np.arange(len(repeated))
    return code[codes], object_array([*(known[c] for c in repeated), RARE])
