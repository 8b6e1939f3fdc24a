"""Interactions among many columns: the formulas of Passemiers et al. (2024), beside their numbers.

    python benchmarks/interactions.py             # ten seeds of four problems and three widths
    python benchmarks/interactions.py --quick     # two seeds, 128 columns
    python benchmarks/interactions.py --noise     # false alarms in 200 tables of pure noise
    python benchmarks/interactions.py --scan      # pairs per second

Passemiers, Folco, Raimondi, Birolo, Moreau, Fariselli, "A quantitative benchmark of neural network
feature selection methods for detecting nonlinear signals", Scientific Reports 14 (2024), doi
10.1038/s41598-024-82583-5; formulas and results: AntoinePassemiers/Feature-Selection-Benchmark.
1000 rows of uniform columns; the first two, four or six tell the class. The score is the share of
these among as many columns at the beginning of the path. Theirs is the best of the 21 methods whose
results they store (neural attributions, random forest, TreeSHAP, mRMR, Relief, LassoNet, FSNet and
others), means of six runs. Runs are stored under benchmarks/results/interactions, keyed to the code
of the package and of this benchmark: it can be stopped and gone on with.
"""

import argparse
import sys
import time

import numpy as np

from pinsker import FeatureSelector, interactions
from pinsker.engine import PairTables
from stored_runs import code_key, collect

N_ROWS = 1000
PROBLEMS = ("xor", "ring", "ring+xor", "ring+xor+sum")
WIDTHS = (128, 512, 2048)
#: The best method at 2048 columns, as noted when this benchmark was asked for. (FSNet's xor is 0 in
#: the file results/fsnet-xor-1000.txt of their commit 74b17fa.)
PUBLISHED = {"xor": 0.08, "ring+xor": 0.67, "ring+xor+sum": 0.58}


def make(name, n_columns, seed, n_rows=N_ROWS):
    """Return a table, its classes, and how many of the first columns tell of them."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns))
    off_ring = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35)
    if name == "ring":
        return X, (off_ring <= 0.1151).astype(int), 2
    if name == "xor":
        return X, ((X[:, 0] - 0.5) * (0.5 - X[:, 1]) >= 0).astype(int), 2
    crossed = (X[:, 2] - 0.5) * (0.5 - X[:, 3])
    if name == "ring+xor":
        return X, ((off_ring <= 0.0704) | (crossed >= 0.0337)).astype(int), 4
    total = X[:, 4] + X[:, 5] + rng.normal(0, 0.2, n_rows) >= 1.4074
    return X, ((off_ring <= 0.0479) | (crossed >= 0.0598) | total).astype(int), 6


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def one_run(task):
    """Fit the front door to one table; return the share of true columns and the seconds."""
    name, width, seed, n_jobs = task
    X, y, k = make(name, width, seed)
    began, began_cpu = time.perf_counter(), time.process_time()
    selector = FeatureSelector(random_state=seed, n_jobs=n_jobs).fit(X, y)
    wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    share = np.mean([j in selector.path_.order[:k] for j in range(k)])
    return {"share": float(share), "wall": wall, "cpu": cpu}


def run_problems(options):
    """Print a line for each problem and width, of the runs that are stored by then."""
    tasks = [
        (name, width, seed, options.jobs)
        for seed in range(options.seeds)
        for width in sorted(options.columns, reverse=True)
        for name in options.problems
    ]
    key = options.key or code_key(__file__)
    found = collect(tasks, one_run, "interactions", key, seconds=options.seconds)
    say(f"key {key}, {options.jobs} jobs")
    say("problem         columns  runs  share  worst  theirs       s   CPU s")
    for width in options.columns:
        for name in options.problems:
            runs = [run for task, run in found.items() if task[:2] == (name, width)]
            if not runs:
                continue
            share, wall, cpu = ([run[field] for run in runs] for field in ("share", "wall", "cpu"))
            known = PUBLISHED if width == WIDTHS[-1] else {}
            theirs = f"{known[name]:.2f}" if name in known else ""
            say(
                f"{name:14} {width:8d} {len(runs):5d} {np.mean(share):6.3f} {np.min(share):6.2f} "
                f"{theirs:>7} {np.median(wall):7.1f} {np.median(cpu):7.1f}"
            )


def run_noise(n_runs):
    """Count the runs on pure noise that report an interaction."""
    for label, rows, columns in (("classes", 300, 50), ("numbers", 600, 50), ("rare", 400, 30)):
        alarms = 0
        for seed in range(n_runs):
            rng = np.random.default_rng(seed)
            X = rng.random((rows, columns))
            X[:, ::3] = X[:, ::3] > 0.5  # some columns of two values
            y = rng.random(rows) if label == "numbers" else rng.random(rows) < 0.5
            if label == "rare":
                y = rng.random(rows) < 0.1
            alarms += bool(interactions(X, y, random_state=seed).significant())
        say(f"noise, {label:8} {rows} x {columns}: {alarms} alarms in {n_runs} runs")


def run_scan():
    """Measure one scan: laying out and counting."""
    rng = np.random.default_rng(0)
    for rows, columns, bins in ((1000, 2048, 2), (1000, 2048, 4), (2000, 5000, 2), (2000, 5000, 8)):
        codes = rng.integers(0, bins, (columns, rows)).astype(np.uint8)
        labels = rng.integers(0, 2, rows)
        began, began_cpu = time.perf_counter(), time.process_time()
        for _, surplus in PairTables.of(codes, labels, n_threads=2).blocks():
            surplus.max()
        wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        pairs = columns * (columns - 1) / 2
        say(
            f"{rows} x {columns}, {bins} bins: {wall:.2f} s ({cpu:.2f} CPU s), "
            f"{pairs / wall:.1e} pairs/s"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--scan", action="store_true")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--columns", nargs="+", type=int, default=WIDTHS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after so")
    parser.add_argument("--key", help="go on with the runs of another state of the code")
    args = parser.parse_args()
    if args.quick:
        args.columns, args.seeds = WIDTHS[:1], 2
    if args.scan:
        run_scan()
    elif args.noise:
        run_noise(200)
    else:
        run_problems(args)


if __name__ == "__main__":
    main()
