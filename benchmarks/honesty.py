"""Are budgets met on fresh rows? Tables of budgets met, features kept and error increase.

    python benchmarks/honesty.py --quick              a few problems, two seeds
    python benchmarks/honesty.py generators           problems with known truth
    python benchmarks/honesty.py paper                the paper's synthetic problems
    python benchmarks/honesty.py real                 real data sets
    python benchmarks/honesty.py peers                other selectors on the same problems
                                                      (pip install "pinsker[bench-honesty]")
    python benchmarks/honesty.py times                against backward sequential search
    python benchmarks/honesty.py certify              how often a certificate's "met" is wrong

Every run is stored under benchmarks/results/honesty and not repeated: a benchmark can be stopped
and gone on with, and run in pieces (--problems, --sizes, --seeds). --fresh forgets what is stored.
"""

import argparse
import functools
import json
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import honesty_problems
from honesty_methods import BUDGETS, METHODS

RESULTS = Path(__file__).parent / "results" / "honesty"
TABLES = ("generators", "paper", "real", "peers", "times", "certify")


def main():
    options = read_options()
    for table in options.tables or ["generators"]:
        if table in ("certify", "times"):
            {"certify": print_certify, "times": print_times}[table](options)
            continue
        rows = collect(table, options)
        print_table(table, rows, options)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="which tables")
    parser.add_argument("--quick", action="store_true", help="two seeds, the smallest size")
    parser.add_argument("--problems", help="comma-separated names")
    parser.add_argument("--sizes", default="150,500,1500", help="numbers of rows")
    parser.add_argument("--seeds", default="0-9", help="for example 0-9")
    parser.add_argument("--methods", help="comma-separated names")
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="start no run after so long"
    )
    parser.add_argument("--by-problem", action="store_true", help="one line per problem")
    options = parser.parse_args()
    options.started = time.monotonic()
    first, _, last = options.seeds.partition("-")
    options.seeds = range(int(first), int(last or first) + 1)
    options.sizes = [int(n) for n in options.sizes.split(",")]
    if options.quick:
        options.sizes, options.seeds = options.sizes[:1], options.seeds[:2]
    return options


def collect(table, options):
    """Run what is not stored yet, and return all rows that were asked for."""
    methods = peers() if table == "peers" else METHODS
    wanted = options.methods.split(",") if options.methods else list(methods)
    rows = []
    for name, draw in honesty_problems.draws(table, options.problems, options.sizes, options.seeds):
        draw = functools.cache(draw)  # all methods are given, and scored on, the same rows
        for method in wanted:
            path = RESULTS / table / f"{name}-{method}.json"
            if options.fresh or not path.exists():
                if time.monotonic() - options.started > options.seconds:
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(run_one(name, draw, methods[method])))
            stored = json.loads(path.read_text())
            rows += [{"name": name, "method": method, **row} for row in stored]
    return rows


def peers():
    """Other libraries are needed for one table only."""
    from honesty_peers import PEERS

    return PEERS


def run_one(name, draw, method):
    """Fit one method to one table and measure its sets on fresh rows; a crash is a row."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = draw()
            started = time.perf_counter()
            supports, notes = method(table)
            seconds = time.perf_counter() - started
            return [
                {
                    "budget": budget,
                    "share": float(np.mean(mask)),
                    "kept": int(np.sum(mask)),
                    "error_all": table.error_all,
                    "error": table.error(mask),
                    "seconds": seconds,
                    **notes,
                }
                for budget, mask in zip(BUDGETS, supports, strict=True)
            ]
    except Exception:
        return [{"failure": traceback.format_exc(), "name": name}]


def print_table(table, rows, options):
    failures = [row for row in rows if "failure" in row]
    good = [row for row in rows if "failure" not in row]
    print(f"\n{table}: {len({row['name'] for row in good})} tables, {len(failures)} failures")
    print(
        f"{'method':<28}{'budget':>7}{'met':>8}{'share':>8}{'increase':>9}{'seconds':>9}{'runs':>6}"
    )
    groups = {}
    for row in good:
        key = (
            row["method"] + (f" {row['name'].split('-')[0]}" if options.by_problem else ""),
            row["budget"],
        )
        groups.setdefault(key, []).append(row)
    for (method, budget), group in sorted(groups.items()):
        increase = np.array([row["error"] - row["error_all"] for row in group])
        share, seconds = (np.mean([row[k] for row in group]) for k in ("share", "seconds"))
        print(
            f"{method:<28}{budget:>7}{np.mean(increase <= budget + 1e-12):>8.1%}{share:>8.1%}"
            f"{increase.mean():>+9.3f}{seconds:>9.1f}{len(group):>6}"
        )
    for row in failures[:3]:
        print(row["failure"])


def print_times(options):
    """FeatureSelector beside what scikit-learn's backward search down to the same size takes."""
    from honesty_peers import sequential_seconds

    print(f"{'table':<22}{'columns':>8}{'kept':>6}{'ours, s':>9}{'sequential, s':>15}{'ratio':>7}")
    names = options.problems or "FewOfMany,Clusters"
    for name, draw in honesty_problems.draws("generators", names, options.sizes, options.seeds[:1]):
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
    from honesty_certify import wrong_verdicts

    runs = 20 if options.quick else 200
    print(f"\ncertify: verdicts over {runs} runs on Gaussian tables with known error increase")
    for line in wrong_verdicts(runs, RESULTS / "certify", options):
        print(line)


if __name__ == "__main__":
    main()
