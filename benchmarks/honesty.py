"""Are budgets met on fresh rows? Tables of budgets met, features kept and error increase.

    python -m benchmarks.honesty --quick              two seeds, the smallest size
    python -m benchmarks.honesty                      problems with known truth, 150 to 20 000 rows
    python -m benchmarks.honesty --rows 6000,20000 --seeds 1000:1010 --jobs 16
    python -m benchmarks.honesty --seeds reporting    the seeds of docs/certificate.md
    python -m benchmarks.honesty paper                the paper's synthetic problems
    python -m benchmarks.honesty real                 real data sets
    python -m benchmarks.honesty peers                other selectors on the same problems
                                                      (pip install "pinsker[bench]")
    python -m benchmarks.honesty times                against backward sequential search
    python -m benchmarks.honesty certify              how often a certificate's "met" is wrong

Every run is stored (``--store``, by default benchmarks/results/honesty) and not repeated: a
benchmark can be stopped and gone on with, and run in pieces. ``--fresh`` forgets what is stored.
``--jobs`` is the number of processes, with one thread each.

"Within": the error on fresh rows, with the better of two models, increased by no more than the
budget against all features. There are 8000 fresh rows, doubled up to 64 000 while the increase is
less than three standard errors from the budget; "clearly above" counts the runs that are above the
budget by more than two standard errors.
"""

import argparse
import functools
import json
import multiprocessing
import os
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import honesty_problems
from benchmarks.honesty_methods import BUDGETS, METHODS
from benchmarks.tables import heading, print_row

#: Seeds that rules and constants may be chosen by, and seeds that are run for the docs alone.
TUNING_SEEDS = range(35)
REPORTING_SEEDS = range(1000, 1010)
ROWS = "150,500,1500,6000,20000"
RESULTS = Path(__file__).parent / "results" / "honesty"
TABLES = ("generators", "paper", "real", "peers", "times", "certify")


def main():
    options = read_options()
    for table in options.tables or ["generators"]:
        if table in ("certify", "times"):
            {"certify": print_certify, "times": print_times}[table](options)
            continue
        print_table(table, collect(table, options), options)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="which tables")
    parser.add_argument("--quick", action="store_true", help="two seeds, the smallest size")
    parser.add_argument("--problems", help="comma-separated names")
    parser.add_argument("--rows", default=ROWS, help="comma-separated numbers of rows")
    parser.add_argument(
        "--seeds", default="0:10", help='"a:b" (without b), "tuning" or "reporting"'
    )
    parser.add_argument("--methods", help='comma-separated names, or "all"; all for peers')
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--store", type=Path, default=RESULTS, help="folder for the runs")
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="start no run after so long"
    )
    parser.add_argument("--by-problem", action="store_true", help="one line per problem")
    options = parser.parse_args()
    options.stop_at = time.time() + options.seconds
    named = {"tuning": TUNING_SEEDS, "reporting": REPORTING_SEEDS}
    if options.seeds not in named:
        first, _, last = options.seeds.partition(":")
        named[options.seeds] = range(int(first), int(last) if last else int(first) + 1)
    options.seeds = named[options.seeds]
    options.rows = [int(n) for n in options.rows.split(",")]
    if options.quick:
        options.rows, options.seeds = options.rows[:1], options.seeds[:2]
    return options


def methods_of(table):
    return peers() if table == "peers" else METHODS


def wanted_methods(table, options):
    if options.methods and options.methods != "all":
        return options.methods.split(",")
    return list(methods_of(table)) if table == "peers" or options.methods else ["FeatureSelector"]


def collect(table, options):
    """Run what is not stored yet, and return all rows that are wanted."""
    wanted = wanted_methods(table, options)
    draws = honesty_problems.draws(table, options.problems, options.rows, options.seeds)
    tasks = [(name, draw, options.store / table, wanted) for name, draw in draws]
    tasks.sort(key=lambda task: -size_of(task[0]))  # the long ones first, so that all end together
    run = functools.partial(run_missing, table=table, fresh=options.fresh, stop_at=options.stop_at)
    if options.jobs == 1:
        for task in tasks:
            run(task)
    else:
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ[variable] = "1"  # read when a process starts
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
            list(pool.map(run, tasks))
    paths = [(name, m, path_of(folder, name, m)) for name, _, folder, _ in tasks for m in wanted]
    return [
        {"name": name, "method": method, **row}
        for name, method, path in paths
        if path.exists()
        for row in json.loads(path.read_text())
    ]


def size_of(name):
    """Number of rows in a name such as "Blobs-150-3"; 0 where it holds none."""
    parts = name.split("-")
    return int(parts[1]) if len(parts) == 3 else 0


def path_of(folder, name, method):
    return folder / f"{name}-{method}.json"


def run_missing(task, *, table, fresh, stop_at):
    """Run the methods on one table whose runs are not stored; all are given the same rows."""
    name, draw, folder, wanted = task
    draw = functools.cache(draw)
    for method in wanted:
        path = path_of(folder, name, method)
        if (path.exists() and not fresh) or time.time() > stop_at:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        rows = run_one(name, draw, methods_of(table)[method])
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(rows))
        unfinished.replace(path)


def peers():
    """Other libraries are needed for one table only."""
    from benchmarks.honesty_peers import PEERS

    return PEERS


def run_one(name, draw, method):
    """Fit one method to one table and measure its sets on fresh rows; a crash is a row."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = draw()
            started, used = time.perf_counter(), time.process_time()
            supports, notes = method(table)
            seconds, cpu = time.perf_counter() - started, time.process_time() - used
            return [
                {
                    "budget": budget,
                    "share": float(np.mean(mask)),
                    "kept": int(np.sum(mask)),
                    **vars(table.increase(mask, budget)),
                    "seconds": seconds,
                    "cpu": cpu,
                    **notes,
                }
                for budget, mask in zip(BUDGETS, supports, strict=True)
            ]
    except Exception:
        return [{"failure": traceback.format_exc(), "name": name}]


def print_table(table, rows, options):
    failures = [row for row in rows if "failure" in row]
    good = [row for row in rows if "failure" not in row]
    for row in good:
        row["increase"] = row["error"] - row["error_all"]
    heading(
        f"{table}, seeds {options.seeds.start} to {options.seeds.stop - 1}",
        "selector", "rows", "runs", *(f"within {budget}" for budget in BUDGETS), "clearly above",
        "share of features, %", "mean increase", "CPU s",
    )  # fmt: skip
    groups = {}
    for row in good:
        problem = row["name"].split("-")[0] if options.by_problem else ""
        key = (f"{row['method']} {problem}".strip(), size_of(row["name"]))
        groups.setdefault(key, {budget: [] for budget in BUDGETS})[row["budget"]].append(row)
    for (method, size), runs in sorted(groups.items()):
        print_row(method, size or "", *cells_of(runs))
    print_exceeded(good)
    for row in failures[:3]:
        print(f"\n{len(failures)} failures, for example {row['name']}:\n{row['failure']}")


def cells_of(runs):
    """Return the cells of a line: exact counts, shares and means, one per budget."""
    number = len(runs[BUDGETS[0]])
    within = [f"{sum(is_within(row) for row in runs[budget])}/{number}" for budget in BUDGETS]
    clearly = [sum(is_clearly_above(row) for row in runs[budget]) for budget in BUDGETS]
    share = [np.mean([row["share"] for row in runs[budget]]) for budget in BUDGETS]
    increase = [np.mean([row["increase"] for row in runs[budget]]) for budget in BUDGETS]
    cpu = np.mean([row["cpu"] for row in runs[BUDGETS[0]]])
    return (
        number,
        *within,
        " / ".join(map(str, clearly)),
        " / ".join(f"{100 * value:.1f}" for value in share),
        " / ".join(f"{value:+.3f}" for value in increase),
        f"{cpu:.1f}",
    )


def is_within(row):
    return row["increase"] <= row["budget"] + 1e-12


def is_clearly_above(row):
    return row["increase"] - 2.0 * row["standard_error"] > row["budget"]


def print_exceeded(rows):
    """Name every run above its budget, and say how far chance on fresh rows reaches."""
    if rows:
        errors = np.array([row["standard_error"] for row in rows])
        unclear = sum(
            abs(row["increase"] - row["budget"]) < 2.0 * row["standard_error"] for row in rows
        )
        print(
            f"\nFresh rows: standard error of an increase {np.median(errors):.4f} (median), "
            f"{errors.max():.4f} (largest); {unclear} of {len(rows)} increases lie within two "
            f"standard errors of their budget."
        )
    for row in rows:
        if not is_within(row):
            print(
                f"- above {row['budget']}: {row['method']} on {row['name']}, {row['kept']} kept, "
                f"increase {row['increase']:.4f} ± {row['standard_error']:.4f}"
            )


def print_times(options):
    """FeatureSelector beside what scikit-learn's backward search down to the same size takes."""
    from benchmarks.honesty_peers import sequential_seconds

    print(f"{'table':<22}{'columns':>8}{'kept':>6}{'ours, s':>9}{'sequential, s':>15}{'ratio':>7}")
    names = options.problems or "FewOfMany,Clusters"
    for name, draw in honesty_problems.draws("generators", names, options.rows, options.seeds[:1]):
        table = draw()
        started = time.perf_counter()
        kept = int(METHODS["FeatureSelector"](table)[0][BUDGETS.index(0.05)].sum())
        seconds = time.perf_counter() - started
        theirs = sequential_seconds(table, kept)
        print(
            f"{name:<22}{table.X.shape[1]:>8}{kept:>6}{seconds:>9.1f}{theirs:>15.0f}"
            f"{theirs / seconds:>7.0f}"
        )


def print_certify(options):
    from benchmarks.honesty_certify import wrong_verdicts

    runs = 20 if options.quick else 200
    print(f"\ncertify: verdicts over {runs} runs on Gaussian tables with known error increase")
    for line in wrong_verdicts(runs, options.store / "certify", options):
        print(line)


if __name__ == "__main__":
    main()
