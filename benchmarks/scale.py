"""Costs against the formulas of docs/scale.md: cores, a Dask cluster, partitions, samples, rows.

    python benchmarks/scale.py             # all tables, some minutes
    python benchmarks/scale.py cores       # or: cores, memory, dask, partitions, samples, rows

Seconds are processor time unless a column says wall: the machine may have other work to do.
"""

import argparse
import multiprocessing
import tempfile
import time

import numpy as np

from pinsker.encoding import read_large
from pinsker.engine import Backward, Forward, PartitionTables, Problem, _plan
from pinsker.holdout import MOST_READ
from tables import heading, print_row

#: The constants of docs/scale.md.
NS_PER_PAIR_AND_COLUMN = {"backward": 3.5, "forward step": 0.2}
WATCH_BYTES, CLOSE_BYTES = 4, 25_600
SIZES = [(2000, 50), (4000, 50), (8000, 50), (4000, 25), (4000, 100), (4000, 200)]


def problem_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    labels = (x[:, 0] + x[:, 1] + rng.normal(size=n) > 0).astype(np.int64)
    return Problem.from_arrays(x, labels=labels)


def backward_path(problem, **settings):
    search = Backward(problem, **settings)
    for _ in range(problem.n_features - 1):
        search.remove(int(np.nanargmin(search.scores())))
    return search


def spent(job):
    start = time.process_time()
    job()
    return time.process_time() - start


def cores():
    heading(
        "One core: whole backward path, and one forward step beside five features",
        "rows × columns", "path, s", "formula, s", "ns per pair and column",
        "forward step, s", "formula, s", "ns per pair and column",
    )  # fmt: skip
    for n, d in SIZES:
        problem = problem_of(n, d)
        path = spent(lambda problem=problem: backward_path(problem))
        search = Forward(problem, active=range(5))
        step = spent(lambda search=search: search.add(5))
        row = [f"{n} × {d}"]
        for kind, found in (("backward", path), ("forward step", step)):
            formula = NS_PER_PAIR_AND_COLUMN[kind] * 1e-9 * n * n * d
            row += [f"{found:.2f}", f"{formula:.2f}", f"{1e9 * found / (n * n * d):.2f}"]
        print_row(*row)


def _status(field):
    """Bytes of this process, as the kernel counts them."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def _peak(n, d, answer):
    problem = problem_of(n, d)
    before = _status("VmRSS")
    search = backward_path(problem)
    answer.put((_status("VmHWM") - before, search.plan.n_bytes))


def memory():
    heading("Memory of a backward path", "rows × columns", "held, MiB", "planned, MiB", "4 n², MiB")
    fresh = multiprocessing.get_context("spawn")
    for n, d in [(2000, 50), (4000, 50), (4000, 200)]:
        answer = fresh.Queue()
        process = fresh.Process(target=_peak, args=(n, d, answer))
        process.start()
        grown, planned = answer.get()
        process.join()
        print_row(
            f"{n} × {d}", *(f"{b / 2**20:.0f}" for b in (grown, planned, WATCH_BYTES * n * n))
        )


def dask():
    import distributed

    heading(
        "Dask on this machine, one thread each",
        "rows × columns", "workers", "path, wall s", "kernels on the busiest worker, wall s",
        "driver and scheduler, ms per step", "tiles: largest / mean time",
    )  # fmt: skip
    for n_workers in (1, 2):
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            backward_path(problem_of(500, 5), engine="dask", client=client)  # workers import
            for n, d in [(1000, 30), (4000, 30)]:
                print_row(f"{n} × {d}", n_workers, *_on_a_cluster(n, d, client))


def _on_a_cluster(n, d, client):
    from pinsker.engine.backends.dask._steps import TiledSteps

    tiles, learn = {}, TiledSteps._record

    def noted(self, step, results):
        for tile, result in results.items():
            tiles.setdefault((result.place, tile), []).append(result.seconds)
        return learn(self, step, results)

    TiledSteps._record = noted
    problem = problem_of(n, d)
    start = time.perf_counter()
    here = spent(lambda: backward_path(problem, engine="dask", client=client))
    wall = time.perf_counter() - start
    TiledSteps._record = learn
    places = {place for place, _ in tiles}
    busiest = max(sum(sum(v) for (p, _), v in tiles.items() if p == place) for place in places)
    totals = [sum(seconds) for seconds in tiles.values()]
    return (
        f"{wall:.1f}", f"{busiest:.1f}", f"{1000 * here / d:.0f}",
        f"{max(totals) / np.mean(totals):.2f}",
    )  # fmt: skip


def partitions():
    import dask as dask_itself
    import dask.dataframe as frames
    import pandas as pd

    heading(
        "Counting a Dask DataFrame, eight partitions: JMI beside one chosen column of five levels",
        "rows × columns", "reading and coding, s", "one pass, s", "ns per row and column in a pass",
    )  # fmt: skip
    for n, d in [(250_000, 20), (1_000_000, 20), (250_000, 80)]:
        rng = np.random.default_rng(0)
        table = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
        table["y"] = (table["x0"] + table["x1"] + rng.normal(size=n) > 0).astype(int)
        parts = frames.from_pandas(table, npartitions=8)
        found = {}
        with dask_itself.config.set(scheduler="synchronous"):
            found["read"] = spent(lambda parts=parts, found=found: found.update(_coded(parts)))
            tables = found["tables"]
            group = tables.join(None, 0)
            one = spent(lambda tables=tables, group=group: tables.joint(group))
        print_row(f"{n} × {d}", f"{found['read']:.2f}", f"{one:.2f}", f"{1e9 * one / (n * d):.1f}")


def _coded(parts):
    large = read_large(parts, "y", bins=5, strategy="frequency", scale="none", missing="error")
    coder = large.coder
    promises = large.partitions.map(coder.code)
    return {"tables": PartitionTables(promises, coder.n_categories, 2, large.n_rows)}


def samples():
    heading(
        "Standard error of a sample: said, and found in 30 samples",
        "rows × columns", "rows measured", "said, nats", "found, nats",
    )  # fmt: skip
    _plan.EVERY_ROW_UP_TO = 1000  # so that small tables count as large
    for n, d, m in [(4000, 5, 250), (4000, 5, 1000), (4000, 20, 250), (4000, 20, 1000)]:
        problem = problem_of(n, d)
        said = Backward(problem, max_samples=m).plan.standard_error
        found = [Backward(problem, max_samples=m, seed=s).information for s in range(30)]
        print_row(f"{n} × {d}", m, f"{said:.4f}", f"{np.std(found):.4f}")


def rows():
    heading(
        "The front door on very many rows, one thread",
        "table", "drawing, s", "fit in all, s", "above the table, MiB", "kept",
    )  # fmt: skip
    fresh = multiprocessing.get_context("spawn")
    for kind, n, d in [
        ("array", 150_000, 100), ("array", 1_000_000, 100), ("frame", 1_000_000, 100),
        ("Dask, 100 partitions", 10_000_000, 20), ("Parquet", 3_000_000, 20),
    ]:  # fmt: skip
        answer = fresh.Queue()
        process = fresh.Process(target=_front_door, args=(kind, n, d, answer))
        process.start()
        print_row(f"{n} × {d}, {kind}", *answer.get())
        process.join()


def _made(n, d, seed):
    """Rows of which columns 0 to 2 matter, the first two together."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(int)


def _made_frame(seed, n=100_000, d=20):
    import pandas as pd

    X, y = _made(n, d, seed)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(y=y)


def _front_door(kind, n, d, answer):
    import dask as dask_itself
    import dask.dataframe as frames

    from pinsker import FeatureSelector
    from pinsker.encoding import draw_rows

    with tempfile.TemporaryDirectory() as folder, dask_itself.config.set(scheduler="synchronous"):
        if kind == "array":
            X, y = _made(n, d, 0)
        elif kind == "frame":
            X, y = _made_frame(0, n, d), "y"
            X, y = X.drop(columns="y"), X["y"]
        else:
            X, y = frames.from_map(_made_frame, range(n // 100_000)), "y"
            if kind == "Parquet":
                X.to_parquet(folder)
                X = frames.read_parquet(folder)
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # the peak counts from here: making the table does not
        before = _status("VmRSS")
        selector = FeatureSelector(0.05, random_state=0, n_jobs=1)
        fitted = spent(lambda: selector.fit(X, y))
        grown = _status("VmHWM") - before
        drawn = spent(lambda: draw_rows(X, y, MOST_READ, seed=0))
    kept = " ".join(map(str, selector.get_support(indices=True)))
    answer.put((f"{drawn:.1f}", f"{fitted:.1f}", f"{grown / 2**20:.0f}", kept))


TABLES = {f.__name__: f for f in (cores, memory, dask, partitions, samples, rows)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="which; all by default")
    for name in parser.parse_args().tables or TABLES:
        TABLES[name]()
