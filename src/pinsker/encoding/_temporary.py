"""Temporary: until the branch of the encoding is merged."""
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
import numpy as np
from pinsker.encoding._encoded import Encoded, frozen
from pinsker.encoding._kinds import find_columns


def take_rows(encoded, rows):
    columns = replace(encoded.columns, values=frozen(encoded.columns.values[rows]),
        missing=None if encoded.columns.missing is None else frozen(encoded.columns.missing[rows]))
    whole = encoded.target
    target = replace(whole,
        labels=None if whole.labels is None else frozen(whole.labels[rows]),
        values=None if whole.values is None else frozen(whole.values[rows]),
        raw=None if whole.raw is None else frozen(whole.raw[rows]))
    return replace(encoded, columns=columns, target=target, rows=frozen(encoded.rows[rows]))


def take_features(encoded, order):
    columns = np.array([j for unit in order for j in encoded.features[unit]], dtype=np.int64)
    ends = np.cumsum([len(encoded.features[unit]) for unit in order])
    return replace(encoded, columns=encoded.columns.take(columns),
        features=tuple(tuple(range(e - len(encoded.features[u]), e)) for u, e in zip(order, ends, strict=True)),
        feature_names=tuple(encoded.feature_names[unit] for unit in order))


def find_features(encoded: Encoded, items: Iterable[Any] | None, parameter: str = "searches") -> tuple[int, ...]:
    """Return the features that columns (by name or position) and groups (by name) belong to.

    Examples
    --------
    >>> from pinsker.encoding import encode
    >>> table = encode([[1.0, 2.0, 3.0]] * 9, [0, 1] * 4 + [0], feature_groups={"pair": [0, 2]})
    >>> find_features(table, [1, "pair"], "fixed_features")
    (0, 1)
    """
    of_name = {name: feature for feature, name in enumerate(encoded.feature_names)}
    of_column = {j: feature for feature, columns in enumerate(encoded.features) for j in columns}
    found = set()
    for item in () if items is None else items:
        if isinstance(item, str) and item in of_name:
            found.add(of_name[item])
        else:
            (column,) = find_columns([item], encoded.columns.names, parameter)
            found.add(of_column[column])
    return tuple(sorted(found))
