"""Certificates, audits, draws and criteria over a Parquet file that is never in memory as a whole.

    python -m benchmarks.streams --rows 10000000
    python -m benchmarks.streams --rows 100000000 --parts certify audit

The file has 20 columns of single precision and a class. Times are multiples of
``SELECT count(*), avg(c0), ... FROM file`` by DuckDB; memory is the peak of
the process so far: ``--engines polars`` has that of one engine alone.
"""

import argparse
import resource
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression

from pinsker import CriterionSelection, FeatureSelector, audit

N_COLUMNS, CHUNK = 20, 500_000
NAMES = [f"c{j}" for j in range(N_COLUMNS)]
SETTINGS = {"models": ["linear"], "searches": ["linear"], "random_state": 0}
ENGINES = ["DuckDB", "polars"]
#: GiB of the disk that stay free.
LEFT_FREE = 30


def rows(number, size):
    rng = np.random.default_rng(number)
    X = rng.standard_normal((size, N_COLUMNS), dtype=np.float32)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(size) > 0).astype(np.int8)
    return X, y


def write(path, n_rows):
    fields = [*((name, pa.float32()) for name in NAMES), ("y", pa.int8())]
    with pq.ParquetWriter(
        path, pa.schema(fields), compression="none", use_dictionary=False
    ) as writer:
        for number in range(n_rows // CHUNK):
            X, y = rows(number, CHUNK)
            writer.write_table(pa.table([*X.T, y], schema=pa.schema(fields)))


def timed(name, call, scan=None):
    started = time.perf_counter()
    found = call()
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    times = "" if scan is None else f", {seconds / scan:.1f} scans"
    print(f"{name}: {seconds:.1f} s{times}; peak {peak:.2f} GiB", flush=True)
    return found, seconds


def criteria(held, scan):
    for name, one in held.items():
        choose = CriterionSelection("jmi", 3)
        chosen, _ = timed(f"jmi, 3 of 20, {name}", lambda c=choose, h=one: c.fit(h, "y"), scan)
        print("  kept", chosen.get_feature_names_out().tolist(), chosen.certificate_.n_rows)


def draws(held, scan):
    for name, one in held.items():
        selector = FeatureSelector(0.02, **SETTINGS)
        timed(f"FeatureSelector, {name}", lambda s=selector, h=one: s.fit(h, "y"), scan)


def selector_of_few():
    X, y = rows(10**6, 20_000)
    X = pl.DataFrame(X, schema=NAMES).to_pandas()
    return FeatureSelector(0.02, **SETTINGS).fit(X, y), X, y


def certificates(held, scan):
    selector, _, _ = selector_of_few()
    for name, one in held.items():
        found, _ = timed(f"certify, {name}", lambda h=one: selector.certify(h, "y"), scan)
        print(found)


def audits(held, scan):
    selector, X, y = selector_of_few()
    for name, one in held.items():
        train = pl.from_pandas(X) if name == "polars" else X
        call = partial(audit, selector, LogisticRegression(), one, "y", X_train=train, y_train=y)
        print(timed(f"audit, {name}", call, scan)[0])


PARTS = {"certify": certificates, "audit": audits, "draw": draws, "criteria": criteria}


def main(n_rows, parts, engines):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        size = n_rows * (4 * N_COLUMNS + 1) / 2**30
        free = shutil.disk_usage(folder).free / 2**30
        if free - size < LEFT_FREE:
            raise SystemExit(f"{n_rows} rows take {size:.0f} GiB, and {free:.0f} GiB are free.")
        timed(f"write {n_rows} x {N_COLUMNS}", lambda: write(path, n_rows))
        connection = duckdb.connect(config={"memory_limit": "400MB"})
        means = ", ".join(f"avg({name})" for name in NAMES)
        query = f"SELECT count(*), {means} FROM '{path}'"
        _, scan = timed("count and means", lambda: connection.sql(query).fetchall())
        held = {"DuckDB": connection.read_parquet(path), "polars": pl.scan_parquet(path)}
        held = {name: held[name] for name in engines}
        for part in parts:
            PARTS[part](held, scan)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    typed = parser.parse_args()
    main(typed.rows, typed.parts, typed.engines)
