"""Groups of columns that are kept or dropped as one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pinsker.encoding._kinds import find_columns
from pinsker.encoding._wording import listing
from pinsker.exceptions import ParameterError

FeatureGroups: TypeAlias = Mapping[Any, Sequence[Any]] | Sequence[Any]


def make_features(
    names: Sequence[str], feature_groups: FeatureGroups | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the columns of each feature, in order of first columns, and the features' names.

    Parameters
    ----------
    names : sequence of str
        The columns.
    feature_groups : mapping, sequence or None
        ``{name of the group: columns}`` with columns by name or position, or one label per column,
        None for a column of its own. Columns in no group are features of their own.

    Examples
    --------
    >>> make_features(["a", "b", "c"], {"pair": ["c", "a"]})
    (((0, 2), (1,)), ('pair', 'b'))
    >>> make_features(["a", "b", "c"], ["left", None, "left"])
    (((0, 2), (1,)), ('left', 'b'))
    """
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
        for label, asked in feature_groups.items():
            columns = find_columns(
                [asked] if isinstance(asked, str) else asked, names, "feature_groups"
            )
            if not columns:
                raise ParameterError(f"group {label!r} has no columns: leave it out.")
            for j in columns:
                if j in taken:
                    raise ParameterError(
                        f"column {names[j]!r} is in group {taken[j]!r} and again in {label!r}: "
                        "a column belongs to one group at most."
                    )
                taken[j] = label
            members[label] = sorted(columns)
        return members
    if isinstance(feature_groups, str) or not hasattr(feature_groups, "__len__"):
        raise ParameterError(
            f"feature_groups is of type {type(feature_groups).__name__}: pass a dict of name to columns, "
            "or one label per column."
        )
    if len(feature_groups) != len(names):
        raise ParameterError(
            f"feature_groups has {len(feature_groups)} labels, but there are {len(names)} columns: "
            "give each column one, None for a column of its own."
        )
    for j, label in enumerate(feature_groups):
        if label is not None:
            members.setdefault(label, []).append(j)
    return members


def _refuse_repeated(feature_names: Sequence[str]) -> None:
    repeated = sorted(name for name, times in Counter(feature_names).items() if times > 1)
    if repeated:
        raise ParameterError(
            f"feature groups and columns share the name {listing(repeated)}: rename the group."
        )
