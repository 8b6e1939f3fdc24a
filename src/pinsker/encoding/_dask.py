"""A Dask DataFrame behind the gate: its partitions, a sample of its rows, and their codes.

Kinds and cuts come from the sample, categories from all rows.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._cluster import Cluster
from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, FloatArray, Function, IntArray, Missing, TableLike, TargetLike
from pinsker.encoding._discretize import Binned, Binning, bin_columns, cut_target, smallest_type
from pinsker.encoding._encode import encode
from pinsker.encoding._encoded import Encoded, Kind, drop_note, drops_rows, usable_rows
from pinsker.encoding._read import Origin, RawTable, is_dask_column, read_table
from pinsker.exceptions import DataError, DataTypeError

#: Rows that kinds and cuts are found from; all of them where a table has no more.
SAMPLED_ROWS = 100_000
_SEED = 0
#: A target that was given by itself is put among the columns under this name.
_TARGET = "target of pinsker"
#: A column with more categories than this is not counted.
_MOST_CATEGORIES = 2**16


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A table that is never in memory as a whole."""

    partitions: "Partitions"  # its pieces
    sample: Encoded  # A sample of its rows, which kinds and cuts were found from
    binned: Binned  # the sample in bins
    coder: "Coder"  # turns partitions into codes
    class_sizes: IntArray  # rows of each class, in the order of their codes
    target_cuts: FloatArray | None  # cuts of a numeric target

    @property
    def n_rows(self) -> int:
        return int(self.class_sizes.sum())

    @property
    def notes(self) -> Notes:
        all_rows = self.partitions.n_rows
        dropped = drop_note(self.n_rows, all_rows, self.coder.reader.missing)
        return (*sample_notes(all_rows), *dropped)


def sample_notes(n_rows: int) -> Notes:
    if n_rows <= SAMPLED_ROWS:
        return ()
    return (Note("kinds by sample", figures={"drawn": SAMPLED_ROWS, "n_rows": n_rows}),)


def read_large(
    X: TableLike, y: TargetLike, *, bins: int, strategy: Binning, **encoding: Any
) -> LargeTable:
    """Read a Dask DataFrame in three passes: lengths, a sample, and categories of all rows."""
    partitions = Partitions.of(X, y)
    if partitions.n_rows == 0:
        raise DataError("X is a Dask DataFrame without rows.")
    # A partition may hold one text that is no date: all of them are read as they are.
    sample = encode(*partitions.sample(), **encoding, read_text=False)
    # Its note on missing values goes: `LargeTable` counts them all.
    own = drop_note(sample.n_rows, sample.n_given, encoding["missing"])
    notes = tuple(note for note in sample.columns.notes if note not in own)
    sample = replace(sample, columns=replace(sample.columns, notes=notes))
    cuts, labels = cut_target(sample.target, bins)
    binned = bin_columns(sample.columns, labels, bins=bins, strategy=strategy)
    reader = Reader(sample.columns.kinds, encoding["missing"], cuts)
    survey = Survey.joined(compute(partitions.map(reader.survey)))
    coded, features = [], sample.features
    found = zip(sample.columns.kinds, binned.edges, survey.categories, strict=True)
    for kind, edges, categories in found:
        if kind is Kind.CONTINUOUS:
            coded.append(ColumnCode(cuts=edges, right=binned.strategy == "width"))
        else:
            known = sorted(categories or (), key=lambda one: (str(type(one)), str(one)))
            coded.append(ColumnCode(categories={category: i for i, category in enumerate(known)}))
    n_codes = [int(np.prod([coded[j].n_categories + 1 for j in own])) for own in features]
    present = sorted((one for one, size in survey.classes.items() if size), key=str)
    sizes = np.array([survey.classes[one] for one in present], dtype=np.int64)
    if len(sizes) < 2:
        raise DataError(f"y has one value in all of its {survey.n_rows} rows: nothing to predict.")
    classes = {one: i for i, one in enumerate(present)}
    coder = Coder(reader, tuple(coded), classes, features, np.array(n_codes, dtype=np.int64))
    return LargeTable(partitions, sample, binned, coder, sizes, cuts)


@dataclass(frozen=True, eq=False)
class Partitions:
    """A table and its target in pieces that fit in memory, none of them read yet."""

    parts: tuple[Any, ...]  # pandas frames that hold the target among their columns
    target: TargetLike  # name of that column
    called: str  # the user's name of the target
    empty: Any  # the columns without the target and without any row
    lengths: tuple[int, ...]  # rows of each part

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    @classmethod
    def of(cls, X: TableLike, y: TargetLike) -> "Partitions":
        """Divide a Dask DataFrame; `y` is the name of one of its columns, or a Dask Series."""
        X, target, called = put_target(X, y)
        # One delayed object per part: Dask may divide two frames from the same files differently.
        parts = tuple(X.to_delayed())
        lengths = compute([delayed(len)(part) for part in parts])
        return cls(parts, target, called, X._meta.drop(columns=[target]), tuple(lengths))

    def map(self, function: Function, *args: Any) -> list[Any]:
        """Return ``function(columns, target, *args)`` of every part, delayed."""
        task = delayed(_apply)
        return [task(part, self.target, self.called, function, *args) for part in self.parts]

    def sample(self) -> tuple[Any, Any]:
        """Return rows of every part in proportion to its length, in their order, in memory."""
        wanted = min(self.n_rows, SAMPLED_ROWS)
        ends = np.concatenate([[0], np.cumsum(self.lengths)]) * wanted // max(1, self.n_rows)
        draw, sizes = delayed(_draw), np.diff(ends).tolist()
        tasks = [draw(part, sizes[number], number) for number, part in enumerate(self.parts)]
        join = require("pandas", purpose="a Dask DataFrame", extra="dask").concat
        rows = join(compute(tasks), ignore_index=True)
        return rows.drop(columns=[self.target]), rows[self.target].rename(self.called)


def delayed(function: Function) -> Function:
    dask = require("dask", purpose="a Dask DataFrame", extra="dask")
    later: Function = dask.delayed(function, pure=False)
    return later


def compute(tasks: Sequence[Any]) -> list[Any]:
    """Compute delayed objects on the active cluster, or as Dask is configured to."""
    dask = require("dask", purpose="a Dask DataFrame", extra="dask")
    scheduler, distributed = dask.base.get_scheduler(), sys.modules.get("distributed")
    client = scheduler.__self__ if isinstance(scheduler, MethodType) else None
    if distributed and isinstance(client, distributed.Client) and not client.asynchronous:
        return Cluster(client).compute(tasks)
    return list(dask.compute(*tasks))


def put_target(X: TableLike, y: TargetLike) -> tuple[Any, Any, str]:
    """Put a Dask Series among the columns of a frame; return its name there, and the user's."""
    if isinstance(y, str):
        if y not in X.columns:
            raise DataError(f"y={y!r} is not a column of X: name one of them, or pass a series.")
        return X, y, y
    if not is_dask_column(y):
        raise DataTypeError(
            f"X is a Dask DataFrame, but y is of type {type(y).__name__}: pass the name of a "
            "column of X, or a Dask Series with the same index."
        )
    # Dask matches rows by their index.
    return X.assign(**{_TARGET: y}), _TARGET, str(y.name or "y")


def _apply(
    frame: TableLike, target: TargetLike, called: str, function: Function, *args: Any
) -> Any:
    return function(frame.drop(columns=[target]), frame[target].rename(called), *args)


def _draw(frame: TableLike, size: int, number: int) -> TableLike:
    rng = np.random.default_rng([_SEED, number])
    return frame.iloc[np.sort(rng.choice(len(frame), size, replace=False))]


@dataclass(frozen=True, eq=False)
class ColumnCode:
    """How the values of one column become codes."""

    cuts: FloatArray | None = None  # cuts between bins of a continuous column
    right: bool = False  # whether a value that equals a cut belongs to the bin above it
    categories: dict[Any, int] = field(default_factory=dict)  # code of each category

    @property
    def n_categories(self) -> int:
        return max(1, len(self.categories)) if self.cuts is None else len(self.cuts) + 1

    def codes(self, table: RawTable, j: int) -> IntArray:
        """Return the codes of a column; the last one stands for missing values."""
        values = table.values[:, j]
        gaps = np.isnan(values)
        codes = np.full(len(values), self.n_categories, dtype=np.int64)
        if self.cuts is not None:
            side: Any = "right" if self.right else "left"
            codes[~gaps] = np.searchsorted(self.cuts, values[~gaps], side=side)
            return codes
        used, place = np.unique(values[~gaps], return_inverse=True)
        found = _category_values(table, j, used)
        codes[~gaps] = np.array([self.categories[value] for value in found], dtype=np.int64)[place]
        return codes


@dataclass(frozen=True, eq=False)
class Survey:
    """What one partition, or several together, hold."""

    categories: tuple[set[Any] | None, ...]  # categories of each column
    classes: "Counter[Any]"  # rows of each class, or of each bin of a numeric target
    n_rows: int  # rows that are used

    @staticmethod
    def joined(surveys: Sequence["Survey"]) -> "Survey":
        categories = tuple(
            None if columns[0] is None else set().union(*columns)
            for columns in zip(*(survey.categories for survey in surveys), strict=True)
        )
        classes: Counter[Any] = sum((survey.classes for survey in surveys), Counter())
        return Survey(categories, classes, sum(survey.n_rows for survey in surveys))


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads a partition as the sample was read."""

    kinds: tuple[Kind, ...]  # kinds of the columns, found in the sample
    missing: Missing  # what happens to missing values
    target_cuts: FloatArray | None  # cuts of a numeric target

    def read(self, columns: TableLike, target: TargetLike) -> tuple[RawTable, list[Any], IntArray]:
        """Return the usable rows of a partition, the classes in it, and which each row has."""
        table = read_table(columns, label="X", prefix="x", two_dimensional=True)
        target_table = read_table(target, label="y", prefix="y")
        for one in (table, target_table):
            for name, origin in zip(one.names, one.origins, strict=True):
                if origin is Origin.TIME:
                    raise DataTypeError(
                        f"column {name!r} of {one.label} holds times, which the partitions of a "
                        "Dask DataFrame read from different starts: make them numbers first."
                    )
        gaps = np.isnan(target_table.values).any(axis=1)
        if self.missing == "drop":
            gaps |= np.isnan(table.values).any(axis=1)
        rows = np.empty(0, dtype=np.int64)  # unlike a whole table, a partition may have none to use
        if not (drops_rows(self.missing) and gaps.all()):
            rows = usable_rows([table], self.missing, target=target_table)
        table, target_table = table.keep(rows), target_table.keep(rows)
        if self.target_cuts is not None:
            bins = np.searchsorted(self.target_cuts, target_table.values[:, 0], side="left")
            return table, list(range(len(self.target_cuts) + 1)), bins
        used, place = np.unique(target_table.values[:, 0], return_inverse=True)
        return table, _category_values(target_table, 0, used), place

    def survey(self, columns: TableLike, target: TargetLike) -> Survey:
        if len(columns) == 0:
            nothing = tuple(None if kind is Kind.CONTINUOUS else set[Any]() for kind in self.kinds)
            return Survey(nothing, Counter(), 0)
        table, classes, place = self.read(columns, target)
        categories: list[set[Any] | None] = []
        for j, kind in enumerate(self.kinds):
            if kind is Kind.CONTINUOUS:
                categories.append(None)
                continue
            values = table.values[:, j]
            found = set(_category_values(table, j, np.unique(values[~np.isnan(values)])))
            if len(found) > _MOST_CATEGORIES:
                raise DataError(
                    f"column {table.names[j]!r} has more than {_MOST_CATEGORIES} categories: leave "
                    "it out, or merge categories."
                )
            categories.append(found)
        sizes = np.bincount(place, minlength=len(classes)).tolist()
        counted = Counter(dict(zip(classes, sizes, strict=True)))
        return Survey(tuple(categories), counted, table.n_rows)


@dataclass(frozen=True, eq=False)
class Coder:
    """Turns partitions into codes of features and classes."""

    reader: Reader  # reads a partition
    columns: tuple[ColumnCode, ...]  # how each column is coded
    classes: dict[Any, int]  # code of each class
    features: tuple[tuple[int, ...], ...]  # columns of each feature
    n_categories: IntArray  # codes of each feature

    def code(
        self, columns: TableLike, target: TargetLike
    ) -> tuple[AnyArray, npt.NDArray[np.int32]]:
        """Return the codes of a partition, one row of the array per feature, and of its classes."""
        dtype = smallest_type(int(self.n_categories.max()))
        if len(columns) == 0:
            return np.zeros((len(self.features), 0), dtype=dtype), np.zeros(0, dtype=np.int32)
        table, classes, place = self.reader.read(columns, target)
        codes = np.empty((len(self.features), table.n_rows), dtype=dtype)
        for feature, members in enumerate(self.features):
            joint = np.zeros(table.n_rows, dtype=np.int64)
            for j in members:
                joint = joint * (self.columns[j].n_categories + 1) + self.columns[j].codes(table, j)
            codes[feature] = joint
        class_codes = np.array([self.classes.get(one, -1) for one in classes], dtype=np.int32)
        return codes, class_codes[place]


def _category_values(table: RawTable, j: int, used: FloatArray) -> list[Any]:
    """Return what stands behind values of a column: categories, or the numbers themselves."""
    known = table.categories[j]
    values: list[Any] = (used if known is None else known[used.astype(np.int64)]).tolist()
    return values
