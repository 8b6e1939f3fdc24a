"""Criteria over all rows of a table that DuckDB or polars holds: cells are counted by group-bys.

Costs of cells depend on how many rows each holds, and on nothing else: the engine returns how often
every count occurs, and the integers that follow are those of `CountTables`, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._compat import require
from pinsker._notes import Notes
from pinsker._types import (
    BoolArray,
    FloatArray,
    IntArray,
    Missing,
    TableLike,
    TargetLike,
    Unchecked,
)
from pinsker.encoding import (
    SAMPLED_ROWS,
    Binned,
    Encoded,
    Kind,
    as_relation,
    bin_columns,
    cut_target,
    draw_from_stream,
    drop_note,
    encode,
    frame_of,
    is_lazy_frame,
    is_relation,
    sample_notes,
)
from pinsker.engine import JointCosts, cell_costs
from pinsker.exceptions import DataError, DataTypeError
from pinsker.search._criteria import Classes, CountedProblem, CountingSettings

#: Tables that one query counts.
_TOGETHER = 64

#: How many rows cells hold, and how many cells hold this many.
Cells = tuple[IntArray, IntArray]
#: Columns whose joint values are cells.
Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """How one column is counted: its values as they are, or the bin between cuts."""

    name: str
    cuts: FloatArray | None = None
    #: Least and largest value of bins of equal width: rounding decides on which side of a cut a
    #: value that equals it lies, so that codes are computed as in memory.
    span: tuple[float, float] | None = None


class GroupByTables:
    """Columns and classes of a table that an engine holds, ready to be counted."""

    in_passes = True

    def __init__(
        self, counter: Unchecked, features: Sequence[Key], n_rows: int, settings: CountingSettings
    ) -> None:
        self.n_rows, self.n_columns, self._counter = n_rows, len(features), counter
        self._features, self._correction = features, settings.correction
        self.base = cell_costs(np.array([1]), n_rows, settings.correction)[1]
        self._cells: dict[Key, tuple[Cells, Cells]] = {}  # with and without classes

    def nothing(self) -> Key:
        return ()

    def join(self, group: Key | None, column: int) -> Key:
        return tuple(sorted({*(group or ()), *self._features[column]}))

    def n_cells(self, group: Key) -> int:
        return int(self.cells([group])[0][1][1].sum())

    def expect(self, groups: Sequence[Key], active: BoolArray, also: Key | None) -> None:
        columns = np.flatnonzero(active).tolist()
        keys = [self.join(group, column) for group in groups for column in columns]
        self.cells([*keys, *(() if also is None else (also,))])

    def joint(self, group: Key, active: BoolArray | None = None) -> JointCosts:
        columns = np.arange(self.n_columns) if active is None else np.flatnonzero(active)
        costs = np.zeros((2, self.n_columns), dtype=np.int64)
        for column, key in zip(columns, (self.join(group, int(j)) for j in columns), strict=True):
            costs[:, column] = self.of_group(key)
        return JointCosts(*costs)

    def of_group(self, group: Key) -> tuple[int, int]:
        with_classes, alone = map(self._cost, self.cells([group])[0])
        return with_classes, alone

    def cells(self, keys: Sequence[Key]) -> list[tuple[Cells, Cells]]:
        """Return how many rows cells hold, with and without classes; what is new is counted."""
        new = [key for key in dict.fromkeys(keys) if key not in self._cells]
        for start in range(0, len(new), _TOGETHER):
            some = new[start : start + _TOGETHER]
            self._cells.update(zip(some, self._counter(some), strict=True))
        return [self._cells[key] for key in keys]

    def _cost(self, cells: Cells) -> int:
        return int(cell_costs(cells[0], self.n_rows, self._correction)[0] @ cells[1])


def counted_stream(
    X: TableLike, y: TargetLike, settings: CountingSettings, **encoding: Unchecked
) -> tuple[CountedProblem, Encoded, Notes, TableLike]:
    """Return the tables of a LazyFrame or a relation, a sample of rows, notes, and the sample."""
    X = as_relation(X)
    if not (is_lazy_frame(X) or is_relation(X)):
        raise DataTypeError(
            f"X is a {type(X).__name__}, which can be scanned once, but counting scans it for "
            "every feature: pass a polars LazyFrame, or duckdb.from_arrow(table)."
        )
    missing: Missing = encoding["missing"]
    drawn = draw_from_stream(X, y, SAMPLED_ROWS, 0, missing)
    for name, kind in frame_of(drawn.X).schema.items():
        if kind.is_temporal():
            raise DataTypeError(f"column {name!r} of X holds times: make them numbers first.")
    sample = encode(drawn.X, drawn.y, **encoding, read_text=False)
    target_cuts, labels = cut_target(sample.target, settings.bins)
    binned = bin_columns(sample.columns, labels, bins=settings.bins, strategy=settings.strategy)
    columns = [_column(sample, binned, j) for j in range(len(binned.names))]
    make = _polars_counter if is_lazy_frame(X) else _duckdb_counter
    counter, n_rows, n_gaps = make(X, columns, Column(y, target_cuts), missing)
    if n_gaps and missing == "error":
        raise DataError(
            f"Input X contains NaN: {n_gaps} of {n_rows} rows have missing values. Use "
            "<missing=category>, or <missing=drop>.",
            parameter="missing",
        )
    tables = GroupByTables(counter, sample.features, n_rows, settings)
    held, times = tables.cells([()])[0][0]
    sizes = np.repeat(held, times).astype(np.float64)
    if len(sizes) < 2:
        raise DataError(f"y has one value in all of its {n_rows} rows: nothing to predict.")
    classes = Classes(np.arange(len(sizes)), () if target_cuts is None else (target_cuts,))
    notes = (*drop_note(n_rows, drawn.n_rows, missing), *sample_notes(drawn.n_rows))
    problem = CountedProblem(tables, sample.feature_names, binned, classes, sizes)
    return problem, sample, notes, drawn.X


def _column(sample: Encoded, binned: Binned, j: int) -> Column:
    name, cuts = binned.names[j], binned.edges[j]
    if sample.columns.kinds[j] is not Kind.CONTINUOUS or cuts is None:
        return Column(name)
    values, gaps = sample.columns.values[:, j], sample.columns.missing
    present = values if gaps is None else values[~gaps[:, j]]
    wide = binned.strategy == "width" and len(cuts)
    return Column(name, cuts, (float(present.min()), float(present.max())) if wide else None)


def _duckdb_counter(
    relation: Unchecked, columns: Sequence[Column], target: Column, missing: Missing
) -> tuple[Unchecked, int, int]:
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def value(column: Column) -> str:
        quoted = '"' + column.name.replace('"', '""') + '"'
        if kinds[column.name] in ("FLOAT", "DOUBLE"):
            quoted = f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END"
        return quoted if column.cuts is None else f"({quoted})::DOUBLE"

    def code(name: str, column: Column) -> str:
        if column.cuts is None:
            return name
        if column.span is not None:
            low, high, most = *column.span, len(column.cuts)
            share = f"({name} - '{low!r}'::DOUBLE) / '{high - low!r}'::DOUBLE"
            inside = f"greatest(least(floor({most + 1}::DOUBLE * ({share})), {most}), 0)"
            return f"CASE WHEN {name} IS NULL THEN NULL ELSE {inside} END"
        above = [f"({name} > '{cut!r}'::DOUBLE)::INT" for cut in column.cuts.tolist()]
        return " + ".join(above) or f"CASE WHEN {name} IS NULL THEN NULL ELSE 0 END"

    every = {**{f"c{j}": column for j, column in enumerate(columns)}, "y": target}
    gaps = " OR ".join(f"c{j} IS NULL" for j in range(len(columns)))
    values = ", ".join(f"{value(column)} AS {name}" for name, column in every.items())
    coded = ", ".join(f"{code(name, column)} AS {name}" for name, column in every.items())
    dropped = f" AND NOT ({gaps})" if missing == "drop" else ""
    known = f"SELECT * FROM (SELECT {values} FROM rows) WHERE y IS NOT NULL{dropped}"
    codes = f"WITH codes AS (SELECT {coded} FROM ({known}))"

    def count(keys: Sequence[Key]) -> list[tuple[Cells, Cells]]:
        made, asked = [codes], []
        for number, key in enumerate(keys):
            own = "".join(f"c{j}, " for j in key)
            cells = f"SELECT {own}y, count(*) AS n FROM codes GROUP BY {own}y"
            made.append(f"k{number} AS MATERIALIZED ({cells})")
            by = f" GROUP BY {own[:-2]}" if own else ""
            alone = f"SELECT sum(n) AS n FROM k{number}{by}"
            for place, held in ((0, f"k{number}"), (1, f"({alone})")):
                asked.append(f"SELECT {number}, {place}, n, count(*) FROM {held} GROUP BY n")
        found = relation.query("rows", f"{', '.join(made)} {' UNION ALL '.join(asked)}").fetchall()
        table = np.array(found, dtype=np.int64)
        return [_pair(table[table[:, 0] == number, 1:]) for number in range(len(keys))]

    summary = f"{codes} SELECT count(*), count(*) FILTER ({gaps}) FROM codes"
    n_rows, n_gaps = relation.query("rows", summary).fetchall()[0]
    return count, n_rows, n_gaps


def _polars_counter(
    frame: Unchecked, columns: Sequence[Column], target: Column, missing: Missing
) -> tuple[Unchecked, int, int]:
    pl = require("polars", purpose="a LazyFrame")
    kinds = frame.collect_schema()

    def value(column: Column) -> Unchecked:
        own = pl.col(column.name)
        own = own.fill_nan(None) if kinds[column.name].is_float() else own
        if column.cuts is None:
            return own
        own = own.cast(pl.Float64)
        if column.span is not None:
            low, high, most = *column.span, len(column.cuts)
            return ((most + 1.0) * ((own - low) / (high - low))).floor().clip(0, most)
        above = [(own > cut).cast(pl.Int32) for cut in column.cuts.tolist()]
        return pl.when(own.is_not_null()).then(pl.sum_horizontal(pl.lit(0, pl.Int32), *above))

    every = {f"c{j}": value(column) for j, column in enumerate(columns)}
    codes = frame.select(**every, y=value(target)).filter(pl.col("y").is_not_null())
    gap = pl.any_horizontal([pl.col(name).is_null() for name in every])
    if missing == "drop":
        codes = codes.filter(~gap)

    def count(keys: Sequence[Key]) -> list[tuple[Cells, Cells]]:
        asked = []
        for key in keys:
            own, n = [f"c{j}" for j in key], pl.col("n")
            cells = codes.group_by([*own, "y"]).agg(pl.len().cast(pl.Int64).alias("n"))
            alone = cells.group_by(own).agg(n.sum()) if own else cells.select(n.sum())
            for place, held in enumerate((cells, alone)):
                times = held.group_by("n").agg(pl.len().alias("times"))
                asked.append(times.select(pl.lit(place, pl.Int64), "n", "times"))
        found = [one.to_numpy().astype(np.int64) for one in pl.collect_all(asked)]
        return [_pair(np.concatenate(found[k : k + 2])) for k in range(0, len(found), 2)]

    n_rows, n_gaps = codes.select(pl.len(), gap.sum().alias("gaps")).collect().row(0)
    return count, n_rows, n_gaps


def _pair(table: IntArray) -> tuple[Cells, Cells]:
    """Return counts and how often each occurs, with classes (0) and without (1)."""
    both = [table[table[:, 0] == place] for place in (0, 1)]
    return (both[0][:, 1], both[0][:, 2]), (both[1][:, 1], both[1][:, 2])
