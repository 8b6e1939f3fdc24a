"""Which columns are meant, by name or position, and groups of them that are one feature."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from typing import Any, TypeAlias

import numpy as np

from pinsker.encoding._checks import listing
from pinsker.encoding._encoded import Encoded
from pinsker.exceptions import ParameterError

FeatureGroups: TypeAlias = Mapping[Any, Sequence[Any]] | Sequence[Any]


def find_columns(columns: Iterable[Any], names: Sequence[str], parameter: str) -> list[int]:
    """Return the positions of columns given by name or by position."""
    position = {name: j for j, name in enumerate(names)}
    found = []
    for key in columns:
        if isinstance(key, str) and key in position:
            found.append(position[key])
        elif isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not 0 <= key < len(names):
                raise ParameterError(
                    f"{parameter} names column {key}, but columns are numbered 0 to "
                    f"{len(names) - 1}.",
                    parameter=parameter,
                )
            found.append(int(key))
        else:
            raise ParameterError(
                f"{parameter} names column {key!r}, which does not exist; the columns are "
                f"{listing(names)}.",
                parameter=parameter,
            )
    return found


def find_features(encoded: Encoded, items: Iterable[Any] | None, parameter: str) -> tuple[int, ...]:
    """Return the features that columns (by name or position) and groups (by name) belong to."""
    of_name = {name: feature for feature, name in enumerate(encoded.feature_names)}
    of_column = {j: f for f, columns in enumerate(encoded.feature_columns) for j in columns}
    names = encoded.given_names or encoded.columns.names
    found = set()
    for item in () if items is None else items:
        if isinstance(item, str) and item in of_name:
            found.add(of_name[item])
        else:
            (column,) = find_columns([item], names, parameter)
            if column in of_column:  # others were left out, which a note says
                found.add(of_column[column])
    return tuple(sorted(found))


def make_features(
    names: Sequence[str], feature_groups: FeatureGroups | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the columns of each feature, in order of first columns, and the features' names."""
    members = {} if feature_groups is None else _members(names, feature_groups)
    group_of = {j: label for label, columns in members.items() for j in columns}
    features: list[tuple[int, ...]] = []
    feature_names: list[str] = []
    for j, name in enumerate(names):
        label = group_of.get(j)
        if label is None:
            features.append((j,))
            feature_names.append(name)
        elif members[label][0] == j:
            features.append(tuple(members[label]))
            feature_names.append(str(label))
    _refuse_repeated(feature_names)
    return tuple(features), tuple(feature_names)


def _members(names: Sequence[str], feature_groups: FeatureGroups) -> dict[Any, list[int]]:
    """Return the sorted columns of each group."""
    members: dict[Any, list[int]] = {}
    if isinstance(feature_groups, Mapping):
        taken: dict[int, Any] = {}
        for label, named in feature_groups.items():
            columns = find_columns(
                [named] if isinstance(named, str) else named, names, "feature_groups"
            )
            if not columns:
                raise ParameterError(
                    f"group {label!r} has no columns: leave it out.", parameter="feature_groups"
                )
            for j in columns:
                if j in taken:
                    raise ParameterError(
                        f"column {names[j]!r} is in group {taken[j]!r} and again in {label!r}: "
                        "a column belongs to one group at most.",
                        parameter="feature_groups",
                    )
                taken[j] = label
            members[label] = sorted(columns)
        return members
    if isinstance(feature_groups, str) or not isinstance(feature_groups, Sized):
        raise ParameterError(
            f"feature_groups is of type {type(feature_groups).__name__}: pass a dict of name to "
            "columns, or one label per column.",
            parameter="feature_groups",
        )
    if len(feature_groups) != len(names):
        raise ParameterError(
            f"feature_groups has {len(feature_groups)} labels, but there are {len(names)} columns: "
            "give each column one, None for a column of its own.",
            parameter="feature_groups",
        )
    for j, label in enumerate(feature_groups):
        if not isinstance(label, Hashable):
            raise ParameterError(
                f"feature_groups has {label!r} for column {names[j]!r}: give each column one label "
                "(text or a number), or pass a dict of name to columns.",
                parameter="feature_groups",
            )
        if label is not None:
            members.setdefault(label, []).append(j)
    return members


def _refuse_repeated(feature_names: Sequence[str]) -> None:
    repeated = sorted(name for name, times in Counter(feature_names).items() if times > 1)
    if repeated:
        raise ParameterError(
            f"feature groups and columns share the name {listing(repeated)}: rename the group.",
            parameter="feature_groups",
        )
