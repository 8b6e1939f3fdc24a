"""Criteria, draws and audits over a Parquet file that is never in memory as a whole.

    python -m benchmarks.streams --rows 10000000

The file has 20 columns of single precision and a class. Times are multiples of
``SELECT count(*), avg(c0), ... FROM file`` by DuckDB; memory is the peak of the process.
"""

import argparse
import resource
import tempfile
import time
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


def rows(number, size):
    rng = np.random.default_rng(number)
    X = rng.standard_normal((size, N_COLUMNS), dtype=np.float32)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(size) > 0).astype(np.int8)
    return X, y


def write(path, n_rows):
    fields = [*((name, pa.float32()) for name in NAMES), ("y", pa.int8())]
    with pq.ParquetWriter(path, pa.schema(fields), compression="none") as writer:
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


def main(n_rows):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        timed(f"write {n_rows} x {N_COLUMNS}", lambda: write(path, n_rows))
        connection = duckdb.connect(config={"memory_limit": "600MB"})
        means = ", ".join(f"avg({name})" for name in NAMES)
        query = f"SELECT count(*), {means} FROM '{path}'"
        _, scan = timed("count and means", lambda: connection.sql(query).fetchall())
        relation = connection.read_parquet(path)
        for name, held in (("DuckDB", relation), ("polars", pl.scan_parquet(path))):
            choose = CriterionSelection("jmi", 3)
            chosen, _ = timed(f"jmi, 3 of 20, {name}", lambda c=choose, h=held: c.fit(h, "y"), scan)
            print("  kept", chosen.get_feature_names_out().tolist(), chosen.certificate_.n_rows)
        settings = {"models": ["linear"], "searches": ["linear"], "random_state": 0}
        selector = FeatureSelector(0.02, **settings)
        timed("FeatureSelector, DuckDB", lambda: selector.fit(relation, "y"), scan)
        X, y = rows(10**6, 20_000)
        train = {"X_train": pl.DataFrame(X, schema=NAMES).to_pandas(), "y_train": y}
        given = (LogisticRegression(), relation, "y")
        found, _ = timed("audit, DuckDB", lambda: audit(selector, *given, **train), scan)
        print(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    main(parser.parse_args().rows)
