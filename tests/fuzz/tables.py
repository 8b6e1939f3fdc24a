"""Columns, targets and containers of tables: what users have, and what nobody should."""

import datetime
import enum
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

Shade = enum.Enum("Shade", ["LIGHT", "DARK"])
DAY = datetime.date(2024, 1, 1)
NOON = datetime.datetime(2024, 1, 1, 12)


def _objects(cells, n):
    """Return a column of objects that repeats some cells."""
    column = np.empty(n, dtype=object)
    for i in range(n):
        column[i] = cells[i % len(cells)]
    return column


def _arrow(values, kind):
    return pd.array(values, dtype=pd.ArrowDtype(kind))


#: From a generator of numbers and a number of rows to a column.
COLUMNS = {
    "normal": lambda g, n: g.normal(size=n),
    "heavy": lambda g, n: g.standard_t(1, size=n),
    "tied": lambda g, n: np.round(g.normal(size=n), 1),
    "binary": lambda g, n: g.integers(0, 2, n),
    "counts": lambda g, n: g.poisson(2, n),
    "constant": lambda g, n: np.full(n, 3.0),
    "nearly constant": lambda g, n: (np.arange(n) == n // 2).astype(float),
    "row number": lambda g, n: np.arange(n),
    "nan": lambda g, n: np.where(g.random(n) < 0.2, np.nan, g.normal(size=n)),
    "all nan": lambda g, n: np.full(n, np.nan),
    "infinite": lambda g, n: np.where(g.random(n) < 0.1, np.inf, g.normal(size=n)),
    "minus infinite": lambda g, n: np.where(g.random(n) < 0.1, -np.inf, g.normal(size=n)),
    "negative zero": lambda g, n: g.choice([0.0, -0.0, 1.0], n),
    "tiny": lambda g, n: g.normal(size=n) * 1e-300,
    "subnormal": lambda g, n: g.normal(size=n) * 1e-40,
    "smallest": lambda g, n: g.integers(0, 4, n) * 5e-324,
    "huge": lambda g, n: g.normal(size=n) * 1e300,
    "extremes": lambda g, n: g.choice([1.7e308, -1.7e308, 0.0], n),
    "far": lambda g, n: g.normal(size=n) + 1e15,
    "int8": lambda g, n: g.integers(-128, 128, n).astype(np.int8),
    "int64 extremes": lambda g, n: g.choice([-(2**63), 2**63 - 1, 0], n),
    "uint64": lambda g, n: g.integers(0, 2**63, n, dtype=np.uint64) * np.uint64(2),
    "float16": lambda g, n: g.normal(size=n).astype(np.float16),
    "float32": lambda g, n: g.normal(size=n).astype(np.float32),
    "longdouble": lambda g, n: g.normal(size=n).astype(np.longdouble),
    "big endian": lambda g, n: g.normal(size=n).astype(">f8"),
    "complex": lambda g, n: g.normal(size=n) + 1j,
    "bool": lambda g, n: g.random(n) < 0.5,
    "text": lambda g, n: g.choice(["red", "green", ""], n),
    "one text": lambda g, n: np.full(n, "same"),
    "identifier": lambda g, n: np.array([f"u{i}" for i in range(n)]),
    "numbers as text": lambda g, n: g.integers(0, 5, n).astype(str),
    "bytes": lambda g, n: g.choice([b"a", b"b"], n),
    "void": lambda g, n: np.zeros(n, dtype="V4"),
    "string dtype": lambda g, n: np.array(g.choice(["a", "b"], n), dtype=np.dtypes.StringDType()),
    "surrogates": lambda g, n: _objects(["\ud800", "a\x00b", "x" * 5000], n),
    "escapes": lambda g, n: g.choice(["\x1b[2J", "=1+1", "\u202e"], n),
    "objects": lambda g, n: _objects([None, 1, "a", 2.5], n),
    "numbers and text": lambda g, n: _objects([1, "1", 1.0, True], n),
    "missing of all kinds": lambda g, n: _objects([None, np.nan, pd.NA, pd.NaT, "a"], n),
    "only none": lambda g, n: _objects([None], n),
    "lists": lambda g, n: pd.Series([[1]] * n),
    "tuples": lambda g, n: _objects([(1, 2), (3,)], n),
    "dicts": lambda g, n: _objects([{"a": 1}, {}], n),
    "arrays": lambda g, n: _objects([np.arange(2), np.arange(3)], n),
    "decimals": lambda g, n: _objects([Decimal("sNaN"), Decimal(1), Decimal("2.5")], n),
    "infinite decimals": lambda g, n: _objects([Decimal("Infinity"), Decimal("1e400")], n),
    "fractions": lambda g, n: _objects([Fraction(1, 3), Fraction(10**400, 3)], n),
    "integers beyond": lambda g, n: _objects([10**30, 10**400, -3], n),
    "uuids": lambda g, n: _objects([uuid.UUID(int=i) for i in range(7)], n),
    "paths": lambda g, n: _objects([PurePosixPath("a"), PurePosixPath("b")], n),
    "enums": lambda g, n: _objects(list(Shade), n),
    "plain objects": lambda g, n: _objects([object(), object()], n),
    "classes": lambda g, n: _objects([int, str], n),
    "dates": lambda g, n: pd.date_range("2024", periods=n, freq="h").to_numpy(),
    "python dates": lambda g, n: _objects([DAY, DAY + datetime.timedelta(9), None], n),
    "python times": lambda g, n: _objects([datetime.time(3), datetime.time(4)], n),
    "dates of two kinds": lambda g, n: _objects([DAY, NOON, NOON.replace(tzinfo=datetime.UTC)], n),
    "no dates": lambda g, n: np.full(n, "NaT", dtype="datetime64[s]"),
    "zones": lambda g, n: pd.Series(pd.date_range("2024", periods=n, tz="Europe/Rome")),
    "attoseconds": lambda g, n: np.arange(n).astype("datetime64[as]"),
    "years": lambda g, n: np.arange(n).astype("datetime64[Y]"),
    "no unit": lambda g, n: np.arange(n).astype("timedelta64"),
    "durations": lambda g, n: np.arange(n).astype("timedelta64[ms]"),
    "categories": lambda g, n: pd.Categorical(g.choice(["x", "y", "z"], n), ordered=True),
    "unused categories": lambda g, n: pd.Categorical(["x"] * n, categories=["w", "x", "y"]),
    "number categories": lambda g, n: pd.Categorical(g.integers(0, 3, n)),
    "missing categories": lambda g, n: pd.Categorical([None, "a"] * n)[:n],
    "periods": lambda g, n: pd.Series(pd.period_range("2020", periods=n, freq="D")),
    "intervals": lambda g, n: pd.Series(pd.cut(g.normal(size=n), 4)),
    "nullable": lambda g, n: pd.array([None, *range(n - 1)], dtype="Int64"),
    "nullable floats": lambda g, n: pd.array([None, *g.normal(size=n - 1)], dtype="Float64"),
    "nullable bools": lambda g, n: pd.array([None, *(g.random(n - 1) < 0.5)], dtype="boolean"),
    "strings": lambda g, n: pd.array([None, *g.choice(["a", "b"], n - 1)], dtype="string"),
    "sparse column": lambda g, n: pd.arrays.SparseArray(g.poisson(0.1, n).astype(float)),
    "arrow numbers": lambda g, n: _arrow(g.normal(size=n), pa.float32()),
    "arrow text": lambda g, n: _arrow(g.choice(["a", "b"], n).tolist(), pa.large_string()),
    "arrow decimals": lambda g, n: _arrow([Decimal("1.50")] * n, pa.decimal128(9, 2)),
    "arrow times": lambda g, n: _arrow([NOON] * n, pa.timestamp("us", "UTC")),
    "arrow lists": lambda g, n: _arrow([[1]] * n, pa.list_(pa.int8())),
    "arrow nulls": lambda g, n: _arrow([None] * n, pa.null()),
    "polars int128": lambda g, n: pl.Series(range(n), dtype=pl.Int128),
    "polars enum": lambda g, n: pl.Series(g.choice(["a", "b"], n), dtype=pl.Enum(["a", "b"])),
    "polars categories": lambda g, n: pl.Series(g.choice(["a", "b"], n), dtype=pl.Categorical),
    "polars decimals": lambda g, n: pl.Series([Decimal("1.5")] * n, dtype=pl.Decimal(9, 2)),
    "polars structs": lambda g, n: pl.Series([{"a": 1}] * n),
    "polars lists": lambda g, n: pl.Series([[1, 2]] * n),
    "polars nulls": lambda g, n: pl.Series([None] * n),
    "polars times": lambda g, n: pl.Series([datetime.time(1)] * n),
    "polars durations": lambda g, n: pl.Series([datetime.timedelta(i) for i in range(n)]),
    "polars bytes": lambda g, n: pl.Series([b"a"] * n),
    "polars objects": lambda g, n: pl.Series([object()] * n, dtype=pl.Object),
}  # fmt: skip


def _times(g, n, share):
    pairs = zip(g.random(n) < share, g.exponential(size=n), strict=True)
    return np.array(list(pairs), dtype=[("died", bool), ("days", float)])


def _first(columns):
    return next(iter(columns.values()))


#: From a generator, a number of rows and the columns of the table to a target.
TARGETS = {
    **{
        name: lambda g, n, c, name=name: COLUMNS[name](g, n)
        for name in COLUMNS
        if name not in ("nearly constant", "row number", "unused categories", "polars lists")
    },
    "explained": lambda g, n, c: _first(c),
    "class of the first": lambda g, n, c: np.asarray(_first(c), dtype=float) > 0,
    "column": lambda g, n, c: g.integers(0, 2, (n, 1)),
    "matrix": lambda g, n, c: sp.coo_matrix(g.integers(0, 2, (n, 1))).todense(),
    "sparse": lambda g, n, c: sp.csr_matrix(g.integers(0, 2, (n, 1))),
    "two numbers": lambda g, n, c: g.normal(size=(n, 2)),
    "two classes": lambda g, n, c: g.choice(["a", "b"], (n, 2)),
    "labels": lambda g, n, c: g.integers(0, 2, (n, 3)),
    "numbers and a class": lambda g, n, c: pd.DataFrame({"a": g.normal(size=n), "b": ["x"] * n}),
    "no target columns": lambda g, n, c: np.empty((n, 0)),
    "three dimensions": lambda g, n, c: g.normal(size=(n, 1, 1)),
    "censored": lambda g, n, c: _times(g, n, 0.7),
    "never seen": lambda g, n, c: _times(g, n, 0.0),
    "negative times": lambda g, n, c: np.array([(True, -1.0)] * n, dtype="?, f8"),
    "three fields": lambda g, n, c: np.zeros(n, dtype="?, f8, f8"),
    "rare class": lambda g, n, c: np.arange(n) == 0,
    "many classes": lambda g, n, c: np.arange(n) // 2,
    "float classes": lambda g, n, c: g.choice([0.0, 1.0, 2.5], n),
    "negative labels": lambda g, n, c: g.choice([-1, 1], n),
    "too short": lambda g, n, c: g.integers(0, 2, max(n - 1, 0)),
    "too long": lambda g, n, c: g.integers(0, 2, n + 1),
    "empty": lambda g, n, c: np.array([]),
    "none": lambda g, n, c: None,
    "scalar": lambda g, n, c: 1.0,
    "name": lambda g, n, c: next(iter(c)),
    "dict": lambda g, n, c: {"y": g.integers(0, 2, n)},
    "series": lambda g, n, c: pd.Series(g.integers(0, 2, n), index=np.arange(n)[::-1], name="y"),
    "frame": lambda g, n, c: pd.DataFrame({"y": g.integers(0, 2, n)}),
    "polars": lambda g, n, c: pl.Series("y", g.integers(0, 2, n)),
    "arrow": lambda g, n, c: pa.array(g.integers(0, 2, n)),
    "list": lambda g, n, c: g.integers(0, 2, n).tolist(),
    "nested list": lambda g, n, c: [[int(v)] for v in g.integers(0, 2, n)],
    "range": lambda g, n, c: range(n),
    "generator": lambda g, n, c: (i for i in range(n)),
    "small scale": lambda g, n, c: g.normal(size=n) * 1e-155,
}  # fmt: skip


def _series(column):
    return column.to_pandas() if isinstance(column, pl.Series) else pd.Series(column)


def _frame(columns):
    return pd.DataFrame({name: _series(column) for name, column in columns.items()})


def _array(columns):
    return np.column_stack([np.asarray(column) for column in columns.values()])


def _numbers(columns):
    return _array(columns).real.astype(float)


def _polars(columns):
    kept = (pl.Series, pd.Series)
    made = {k: c if isinstance(c, kept) else np.asarray(c) for k, c in columns.items()}
    return pl.DataFrame(made, strict=False)


def _named(names):
    return lambda columns: _frame(columns).set_axis(names(len(columns)), axis=1)


class _Convertible:
    """Something that only NumPy knows how to read."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return self._values if dtype is None else self._values.astype(dtype)


def _dask(columns):
    import dask.dataframe as dd

    return dd.from_pandas(_frame(columns), npartitions=2)


#: From named columns to a table of a library.
CONTAINERS = {
    "pandas": _frame,
    "array": _array,
    "object array": lambda columns: _array(columns).astype(object),
    "float32 array": lambda columns: _numbers(columns).astype(np.float32),
    "integer array": lambda columns: _numbers(columns).astype(np.int64),
    "bool array": lambda columns: _numbers(columns) > 0,
    "polars": _polars,
    "lazy": lambda columns: _polars(columns).lazy(),
    "arrow": lambda columns: pa.Table.from_pandas(_frame(columns)),
    "dask": _dask,
    "fortran": lambda columns: np.asfortranarray(_array(columns)),
    "strided": lambda columns: np.repeat(_array(columns), 2, axis=0)[::-2],
    "read only": lambda columns: np.broadcast_to(_array(columns)[0], _array(columns).shape),
    "big-endian array": lambda columns: _numbers(columns).astype(">f4"),
    "list": lambda columns: _array(columns).tolist(),
    "ragged list": lambda columns: [[1.0] * (1 + i % 2) for i in range(len(_array(columns)))],
    "list of dicts": lambda columns: _frame(columns).to_dict("records"),
    "dict": dict,
    "records": lambda columns: _frame(columns).to_records(index=False),
    "matrix": lambda columns: sp.coo_matrix(_numbers(columns)).todense(),
    "csr": lambda columns: sp.csr_matrix(_numbers(columns)),
    "csc": lambda columns: sp.csc_array(_numbers(columns)),
    "coo": lambda columns: sp.coo_array(_numbers(columns)),
    "masked": lambda columns: np.ma.masked_greater(_numbers(columns), 1),
    "convertible": lambda columns: _Convertible(_array(columns)),
    "one dimension": lambda columns: np.asarray(_first(columns)),
    "series": lambda columns: _series(_first(columns)),
    "polars series": lambda columns: pl.Series(np.asarray(_first(columns))),
    "three dimensions": lambda columns: _array(columns)[None],
    "no columns": lambda columns: _array(columns)[:, :0],
    "no rows": lambda columns: _array(columns)[:0],
    "frame without columns": lambda columns: _frame(columns)[[]],
    "frame without rows": lambda columns: _frame(columns)[:0],
    "no table": lambda columns: None,
    "text as table": lambda columns: "table.csv",
    "repeated names": _named(lambda d: ["a"] * d),
    "numbers as names": _named(range),
    "mixed names": _named(lambda d: [0, "b", None, ("c", 1), 2.5, "f"][:d]),
    "levels of names": lambda columns: pd.concat({"top": _frame(columns)}, axis=1),
    "hostile names": _named(lambda d: [f"=1+\x1b[31m{j}\n<script>" for j in range(d)]),
    "odd index": lambda columns: _frame(columns).set_axis(["r"] * len(_frame(columns))),
    "repeated rows": lambda columns: _frame(columns).iloc[[0] * len(_frame(columns))],
    "fragments": lambda columns: _frame(columns).iloc[::-1, ::-1],
}  # fmt: skip
