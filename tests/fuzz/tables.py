"""Strategies for tables and targets: what users have, and what nobody should."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from hypothesis import strategies as st

N_ROWS = (1, 2, 3, 5, 9, 20, 40, 80)

#: From a generator of numbers and a number of rows to a column.
COLUMNS = {
    "normal": lambda g, n: g.normal(size=n),
    "heavy": lambda g, n: g.standard_t(1, size=n),
    "tied": lambda g, n: np.round(g.normal(size=n), 1),
    "binary": lambda g, n: g.integers(0, 2, n),
    "counts": lambda g, n: g.poisson(2, n),
    "constant": lambda g, n: np.full(n, 3.0),
    "nan": lambda g, n: np.where(g.random(n) < 0.2, np.nan, g.normal(size=n)),
    "all nan": lambda g, n: np.full(n, np.nan),
    "infinite": lambda g, n: np.where(g.random(n) < 0.1, np.inf, g.normal(size=n)),
    "tiny": lambda g, n: g.normal(size=n) * 1e-300,
    "subnormal": lambda g, n: g.normal(size=n) * 1e-40,
    "huge": lambda g, n: g.normal(size=n) * 1e300,
    "far": lambda g, n: g.normal(size=n) + 1e15,
    "int8": lambda g, n: g.integers(-128, 128, n).astype(np.int8),
    "uint64": lambda g, n: g.integers(0, 2**63, n, dtype=np.uint64) * np.uint64(2),
    "float16": lambda g, n: g.normal(size=n).astype(np.float16),
    "longdouble": lambda g, n: g.normal(size=n).astype(np.longdouble),
    "complex": lambda g, n: g.normal(size=n) + 1j,
    "bool": lambda g, n: g.random(n) < 0.5,
    "text": lambda g, n: g.choice(["red", "green", ""], n),
    "identifier": lambda g, n: np.array([f"u{i}" for i in range(n)]),
    "bytes": lambda g, n: g.choice([b"a", b"b"], n),
    "objects": lambda g, n: np.array([None, 1, "a", 2.5] * n, dtype=object)[:n],
    "lists": lambda g, n: pd.Series([[1]] * n),
    "decimals": lambda g, n: np.array([Decimal("sNaN")] + [Decimal(i) for i in range(n - 1)]),
    "integers beyond": lambda g, n: np.array([10**30 * i for i in range(n)], dtype=object),
    "dates": lambda g, n: pd.date_range("2024", periods=n, freq="h").to_numpy(),
    "zones": lambda g, n: pd.Series(pd.date_range("2024", periods=n, tz="Europe/Rome")),
    "attoseconds": lambda g, n: np.arange(n).astype("datetime64[as]"),
    "durations": lambda g, n: np.arange(n).astype("timedelta64[ms]"),
    "categories": lambda g, n: pd.Categorical(g.choice(["x", "y", "z"], n), ordered=True),
    "periods": lambda g, n: pd.Series(pd.period_range("2020", periods=n, freq="D")),
    "intervals": lambda g, n: pd.Series(pd.cut(g.normal(size=n), 4)),
    "nullable": lambda g, n: pd.array([None, *range(n - 1)], dtype="Int64"),
    "strings": lambda g, n: pd.array(g.choice(["a", "b"], n), dtype="string"),
    "escapes": lambda g, n: g.choice(["\x1b[2J", "=1+1", "\u202e"], n),
}

#: From a generator and a number of rows to a target.
TARGETS = {
    **{
        name: COLUMNS[name]
        for name in (
            "normal",
            "heavy",
            "tied",
            "binary",
            "constant",
            "nan",
            "infinite",
            "tiny",
            "huge",
            "far",
            "bool",
            "text",
            "identifier",
            "objects",
            "lists",
            "decimals",
            "dates",
            "attoseconds",
            "durations",
            "categories",
            "nullable",
            "complex",
            "int8",
            "bytes",
        )
    },
    "column": lambda g, n: g.integers(0, 2, (n, 1)),
    "two numbers": lambda g, n: g.normal(size=(n, 2)),
    "two classes": lambda g, n: g.choice(["a", "b"], (n, 2)),
    "rare class": lambda g, n: np.arange(n) == 0,
    "many classes": lambda g, n: np.arange(n) // 2,
    "negative labels": lambda g, n: g.choice([-1, 1], n),
    "too short": lambda g, n: g.integers(0, 2, max(n - 1, 0)),
    "empty": lambda g, n: np.array([]),
    "none": lambda g, n: None,
    "scalar": lambda g, n: 1.0,
    "series": lambda g, n: pd.Series(g.integers(0, 2, n), index=np.arange(n)[::-1], name="y"),
    "frame": lambda g, n: pd.DataFrame({"y": g.integers(0, 2, n)}),
    "polars": lambda g, n: pl.Series("y", g.integers(0, 2, n)),
    "list": lambda g, n: g.integers(0, 2, n).tolist(),
}


def _frame(columns):
    return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})


def _array(columns):
    return np.column_stack([np.asarray(column) for column in columns.values()])


#: From named columns to a table of a library.
CONTAINERS = {
    "pandas": _frame,
    "array": _array,
    "objects": lambda columns: _array(columns).astype(object),
    "polars": lambda columns: pl.DataFrame(
        {name: np.asarray(column) for name, column in columns.items()}, strict=False
    ),
    "fortran": lambda columns: np.asfortranarray(_array(columns)),
    "list": lambda columns: _array(columns).tolist(),
    "sparse": lambda columns: sp.csr_matrix(_array(columns).real.astype(float)),
    "masked": lambda columns: np.ma.masked_greater(_array(columns).real.astype(float), 1),
    "one dimension": lambda columns: np.asarray(next(iter(columns.values()))),
    "three dimensions": lambda columns: _array(columns)[None],
    "no columns": lambda columns: _array(columns)[:, :0],
    "no rows": lambda columns: _array(columns)[:0],
    "repeated names": lambda columns: _frame(columns).set_axis(["a"] * len(columns), axis=1),
    "numbers as names": lambda columns: _frame(columns).set_axis(range(len(columns)), axis=1),
    "odd index": lambda columns: _frame(columns).set_axis(["r"] * len(_frame(columns))),
}

#: Most tables are those of users, so that calls get past the reading.
kinds = st.sampled_from(["normal"] * 12 + ["binary", "text", "tied"] * 3 + sorted(COLUMNS))
containers = st.sampled_from(["pandas"] * 8 + ["array"] * 8 + sorted(CONTAINERS))
targets = st.sampled_from(["binary"] * 12 + ["normal"] * 6 + sorted(TARGETS))


@st.composite
def tables(draw):
    """Return words for a table and a target, and both; None where the library cannot make it."""
    seed = draw(st.integers(0, 2**32 - 1))
    n_rows = draw(st.sampled_from(N_ROWS + (40, 80) * 4))
    chosen = draw(st.lists(kinds, min_size=1, max_size=5))
    container, target = draw(containers), draw(targets)
    words = f"{container} of {n_rows} x {'+'.join(chosen)}; target {target}; seed {seed}"
    generator = np.random.default_rng(seed)
    columns = {f"{kind} {j}": COLUMNS[kind](generator, n_rows) for j, kind in enumerate(chosen)}
    y = TARGETS[target](generator, n_rows)
    try:
        return words, CONTAINERS[container](columns), y
    except Exception:  # of NumPy, pandas or polars: such a table cannot reach us
        return words, None, y
