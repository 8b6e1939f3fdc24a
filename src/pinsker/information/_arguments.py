"""The arguments x, y and z of a user, through the gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import Missing, Scale
from pinsker.encoding import Columns, Kind, encode_together, guess_task, read_table
from pinsker.exceptions import ParameterError

#: Words for `discrete` that hold for a whole argument, whatever its columns.
_WHOLE_ARGUMENT = ("auto", "all", "none")


@dataclass(frozen=True, eq=False)
class Sides:
    """Encoded arguments that share their rows.

    Attributes
    ----------
    x, y : Columns
        The two sides.
    z : Columns or None
        The condition.
    notes : tuple of str
        What the gate has to say about them.
    """

    x: Columns
    y: Columns
    z: Columns | None
    notes: tuple[str, ...]

    @property
    def given(self) -> dict[str, Columns]:
        """The arguments by name."""
        sides = {"x": self.x, "y": self.y}
        return sides if self.z is None else {**sides, "z": self.z}

    @property
    def kinds(self) -> frozenset[Kind]:
        """All kinds that occur."""
        return frozenset(kind for columns in self.given.values() for kind in columns.kinds)


def encode_sides(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    scale: Scale,
    discrete: Any,
    missing: Missing,
    guess_classes: bool = True,
) -> Sides:
    """Encode the arguments together, so that rows with missing values are dropped from all.

    With `guess_classes`, y is read as a target is: few different whole numbers are classes, unless
    `discrete` says otherwise. In x and z they are counts.
    """
    tables = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    asked = per_argument(discrete, tables)
    kinds = {name: spell_out(asked[name], data, name) for name, data in tables.items()}
    notes: list[str] = []
    if guess_classes and isinstance(asked["y"], str) and asked["y"] == "auto":
        kinds["y"], notes = _as_target(y)
    columns, _ = encode_together(tables, scale=scale, categorical_features=kinds, missing=missing)
    for name, found in columns.items():
        notes += [note if note in notes else f"{name}: {note}" for note in found.notes]
    return Sides(columns["x"], columns["y"], columns.get("z"), tuple(dict.fromkeys(notes)))


def per_argument(discrete: Any, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `discrete` says about each argument."""
    if isinstance(discrete, Mapping):
        unknown = [name for name in discrete if name not in tables]
        if unknown:
            raise ParameterError(
                f"discrete speaks of {unknown[0]!r}, but the arguments are "
                f"{', '.join(tables)}: use for example discrete={{'y': 'nominal'}}."
            )
        return {name: discrete.get(name, "auto") for name in tables}
    if isinstance(discrete, bool) or (
        isinstance(discrete, str) and discrete in (*_WHOLE_ARGUMENT, *Kind)
    ):
        return dict.fromkeys(tables, discrete)
    raise ParameterError(
        f"discrete={discrete!r} does not say which argument it is about: use "
        "discrete={'x': ...} with a kind, a mask, a list of columns or a dict of column to kind."
    )


def spell_out(said: Any, data: Any, name: str) -> Any:
    """Turn one kind for a whole argument into one kind per column, as the gate takes it."""
    if isinstance(said, str) and said in tuple(Kind):
        n_columns = read_table(data, label=name, prefix=name).n_columns
        return dict.fromkeys(range(n_columns), said)
    return "from_dtype" if isinstance(said, str) and said == "auto" else said


def _as_target(y: Any) -> tuple[Any, list[str]]:
    """Kinds of y as a target: whole numbers that look like classes are nominal."""
    table = read_table(y, label="y", prefix="y")
    complete = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    if complete.size == 0:
        return "from_dtype", []  # the gate has a better message
    task, notes = guess_task(table.keep(complete))
    if task == "regression":
        return "from_dtype", []
    whole = {j: "nominal" for j, known in enumerate(table.categories) if known is None}
    return whole, [note.replace("task='regression'", "discrete={'y': 'count'}") for note in notes]
