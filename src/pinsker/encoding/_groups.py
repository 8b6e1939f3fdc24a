"""Groups of columns that are kept or dropped as one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pinsker.encoding._kinds import find_columns
from pinsker.encoding._wording import listing
from pinsker.exceptions import ParameterError

Groups: TypeAlias = Mapping[Any, Sequence[Any]] | Sequence[Any]


def make_units(
    names: Sequence[str], groups: Groups | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the columns of each unit, in order of first columns, and the units' names.

    Parameters
    ----------
    names : sequence of str
        The columns.
    groups : mapping, sequence or None
        ``{name of the group: columns}`` with columns by name or position, or one label per column,
        None for a column of its own. Columns in no group are units of their own.

    Examples
    --------
    >>> make_units(["a", "b", "c"], {"pair": ["c", "a"]})
    (((0, 2), (1,)), ('pair', 'b'))
    >>> make_units(["a", "b", "c"], ["left", None, "left"])
    (((0, 2), (1,)), ('left', 'b'))
    """
    members = {} if groups is None else _members(names, groups)
    group_of = {j: label for label, columns in members.items() for j in columns}
    units: list[tuple[int, ...]] = []
    unit_names: list[str] = []
    for j, name in enumerate(names):
        label = group_of.get(j)
        if label is None:
            units.append((j,))
            unit_names.append(name)
        elif members[label][0] == j:
            units.append(tuple(members[label]))
            unit_names.append(str(label))
    _refuse_repeated(unit_names)
    return tuple(units), tuple(unit_names)


def _members(names: Sequence[str], groups: Groups) -> dict[Any, list[int]]:
    """Return the sorted columns of each group."""
    members: dict[Any, list[int]] = {}
    if isinstance(groups, Mapping):
        taken: dict[int, Any] = {}
        for label, asked in groups.items():
            columns = find_columns([asked] if isinstance(asked, str) else asked, names, "groups")
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
    if isinstance(groups, str) or not hasattr(groups, "__len__"):
        raise ParameterError(
            f"groups is of type {type(groups).__name__}: pass a dict of name to columns, "
            "or one label per column."
        )
    if len(groups) != len(names):
        raise ParameterError(
            f"groups has {len(groups)} labels, but there are {len(names)} columns: "
            "give each column one, None for a column of its own."
        )
    for j, label in enumerate(groups):
        if label is not None:
            members.setdefault(label, []).append(j)
    return members


def _refuse_repeated(unit_names: Sequence[str]) -> None:
    repeated = sorted(name for name, times in Counter(unit_names).items() if times > 1)
    if repeated:
        raise ParameterError(
            f"groups and columns share the name {listing(repeated)}: rename the group."
        )
