"""From the rows of a partition to codes: kinds and cuts from a sample, levels from all rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray, Missing
from pinsker.encoding._binning import Binned, smallest_type
from pinsker.encoding._cells import Origin
from pinsker.encoding._encoded import Columns, Kind
from pinsker.encoding._missing import usable_rows
from pinsker.encoding._table import Table, read_table
from pinsker.exceptions import DataError, DataTypeError

#: A column with more levels than this is not counted.
_MOST_LEVELS = 2**16


@dataclass(frozen=True, eq=False)
class ColumnCode:
    """How the values of one column become codes.

    Attributes
    ----------
    cuts : ndarray or None
        Cuts between bins of a continuous column; None for a column of levels.
    right : bool
        Whether a value that equals a cut belongs to the bin above it.
    levels : dict
        Code of each level.
    """

    cuts: FloatArray | None = None
    right: bool = False
    levels: dict[Any, int] = field(default_factory=dict)

    @property
    def n_levels(self) -> int:
        """Codes of values that are there."""
        return max(1, len(self.levels)) if self.cuts is None else len(self.cuts) + 1

    def codes(self, table: Table, j: int) -> IntArray:
        """Return the codes of a column; the last one stands for missing values."""
        values = table.values[:, j]
        gaps = np.isnan(values)
        codes = np.full(len(values), self.n_levels, dtype=np.int64)
        if self.cuts is not None:
            side: Any = "right" if self.right else "left"
            codes[~gaps] = np.searchsorted(self.cuts, values[~gaps], side=side)
            return codes
        used, place = np.unique(values[~gaps], return_inverse=True)
        found = _level_values(table, j, used)
        codes[~gaps] = np.array([self.levels[value] for value in found], dtype=np.int64)[place]
        return codes


@dataclass(frozen=True, eq=False)
class Survey:
    """What one partition, or several together, hold.

    Attributes
    ----------
    levels : tuple of set
        Levels of each column; None for continuous ones.
    classes : Counter
        Rows of each class, or of each bin of a numeric target.
    n_rows : int
        Rows that are used.
    """

    levels: tuple[set[Any] | None, ...]
    classes: "Counter[Any]"
    n_rows: int

    @staticmethod
    def joined(surveys: Sequence["Survey"]) -> "Survey":
        """Return what all of them hold."""
        levels = tuple(
            None if columns[0] is None else set().union(*columns)
            for columns in zip(*(survey.levels for survey in surveys), strict=True)
        )
        classes: Counter[Any] = sum((survey.classes for survey in surveys), Counter())
        return Survey(levels, classes, sum(survey.n_rows for survey in surveys))


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads a partition as the sample was read.

    Attributes
    ----------
    kinds : tuple of Kind
        Kinds of the columns, found in the sample.
    missing : {"error", "drop", "category"}
        What happens to missing values.
    target_cuts : ndarray or None
        Cuts of a numeric target; None for classes.
    """

    kinds: tuple[Kind, ...]
    missing: Missing
    target_cuts: FloatArray | None

    def read(self, columns: Any, target: Any) -> tuple[Table, list[Any], IntArray]:
        """Return the usable rows of a partition, the classes in it, and which each row has."""
        table = read_table(columns, label="X", prefix="x", two_dimensional=True)
        answer = read_table(target, label="y", prefix="y")
        for one in (table, answer):
            for name, origin in zip(one.names, one.origins, strict=True):
                if origin is Origin.TIME:
                    raise DataTypeError(
                        f"column {name!r} of {one.label} holds times, which the partitions of a "
                        "Dask DataFrame read from different starts: make them numbers first."
                    )
        rows = self._usable(table, answer)
        table, answer = table.keep(rows), answer.keep(rows)
        if self.target_cuts is not None:
            bins = np.searchsorted(self.target_cuts, answer.values[:, 0], side="left")
            return table, list(range(len(self.target_cuts) + 1)), bins
        used, place = np.unique(answer.values[:, 0], return_inverse=True)
        return table, _level_values(answer, 0, used), place

    def _usable(self, table: Table, answer: Table) -> IntArray:
        """Return the rows to use; unlike a whole table, a partition may have none."""
        gaps = np.isnan(table.values).any(axis=1) | np.isnan(answer.values).any(axis=1)
        if self.missing == "drop" and gaps.all():
            return np.empty(0, dtype=np.int64)
        return usable_rows([table], self.missing, target=answer)

    def survey(self, columns: Any, target: Any) -> Survey:
        """Return what a partition holds."""
        if len(columns) == 0:
            nothing: tuple[set[Any] | None, ...] = tuple(
                None if kind is Kind.CONTINUOUS else set() for kind in self.kinds
            )
            return Survey(nothing, Counter(), 0)
        table, classes, place = self.read(columns, target)
        levels: list[set[Any] | None] = []
        for j, kind in enumerate(self.kinds):
            if kind is Kind.CONTINUOUS:
                levels.append(None)
                continue
            values = table.values[:, j]
            found = set(_level_values(table, j, np.unique(values[~np.isnan(values)])))
            if len(found) > _MOST_LEVELS:
                raise DataError(
                    f"column {table.names[j]!r} has more than {_MOST_LEVELS} levels: leave it out, "
                    "or merge levels."
                )
            levels.append(found)
        sizes = np.bincount(place, minlength=len(classes)).tolist()
        return Survey(tuple(levels), Counter(dict(zip(classes, sizes, strict=True))), table.n_rows)


@dataclass(frozen=True, eq=False)
class Coder:
    """Turns partitions into codes of features and classes.

    Attributes
    ----------
    reader : Reader
        Reads a partition.
    columns : tuple of ColumnCode
        How each column is coded.
    classes : dict
        Code of each class.
    features : tuple of tuple of int
        Columns of each feature.
    n_levels : ndarray of shape (n_features,), int64
        Codes of each feature.
    """

    reader: Reader
    columns: tuple[ColumnCode, ...]
    classes: dict[Any, int]
    features: tuple[tuple[int, ...], ...]
    n_levels: IntArray

    def code(self, columns: Any, target: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return the codes of a partition, one row of the array per feature, and of its classes."""
        dtype = smallest_type(int(self.n_levels.max()))
        if len(columns) == 0:
            return np.zeros((len(self.features), 0), dtype=dtype), np.zeros(0, dtype=np.int32)
        table, classes, place = self.reader.read(columns, target)
        codes = np.empty((len(self.features), table.n_rows), dtype=dtype)
        for feature, members in enumerate(self.features):
            joint = np.zeros(table.n_rows, dtype=np.int64)
            for j in members:
                joint = joint * (self.columns[j].n_levels + 1) + self.columns[j].codes(table, j)
            codes[feature] = joint
        class_codes = np.array([self.classes.get(one, -1) for one in classes], dtype=np.int32)
        return codes, class_codes[place]


def make_coder(
    reader: Reader, columns: Columns, binned: Binned, features: tuple[tuple[int, ...], ...],
    survey: Survey,
) -> Coder:  # fmt: skip
    """Put together the cuts of the sample and the levels of all rows."""
    coded = []
    for kind, cuts, levels in zip(columns.kinds, binned.edges, survey.levels, strict=True):
        if kind is Kind.CONTINUOUS:
            coded.append(ColumnCode(cuts=cuts, right=binned.strategy == "width"))
        else:
            known = sorted(levels or (), key=lambda level: (str(type(level)), str(level)))
            coded.append(ColumnCode(levels={level: i for i, level in enumerate(known)}))
    present = sorted((one for one, size in survey.classes.items() if size), key=str)
    classes = {one: i for i, one in enumerate(present)}
    n_levels = [int(np.prod([coded[j].n_levels + 1 for j in members])) for members in features]
    return Coder(reader, tuple(coded), classes, features, np.array(n_levels, dtype=np.int64))


def _level_values(table: Table, j: int, used: FloatArray) -> list[Any]:
    """Return what stands behind values of a column: levels, or the numbers themselves."""
    known = table.levels[j]
    values: list[Any] = (used if known is None else known[used.astype(np.int64)]).tolist()
    return values
