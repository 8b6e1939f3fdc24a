"""Interactions among many columns: the formulas of Passemiers et al. (2024), beside their numbers.

    python benchmarks/interactions.py             # six folds of four problems and three widths
    python benchmarks/interactions.py --quick     # two folds, 128 columns
    python benchmarks/interactions.py --noise     # false alarms in 200 tables of pure noise
    python benchmarks/interactions.py --scan      # pairs per second

Passemiers, Folco, Raimondi, Birolo, Moreau, Fariselli, "A quantitative benchmark of neural network
feature selection methods for detecting nonlinear signals", Scientific Reports 14 (2024), doi
10.1038/s41598-024-82583-5; formulas and results: AntoinePassemiers/Feature-Selection-Benchmark.
1000 rows of uniform columns; two, four or six of them tell the class. As in their protocol every
run fits the training part of one of six folds (833 or 834 rows) with the columns shuffled. "path"
is their score best-k: the share of the k columns that matter among the first k. "kept" is the share
of true columns among those that the front door keeps, "found" the share of the true ones that it
keeps; a second table has best-k of all methods they store at 2048 columns, means of six folds. Runs
are stored under benchmarks/results/interactions, keyed to the code of the package and of this
benchmark: it can be stopped and gone on with. Bars at 2048 columns: kept .95 for ring+xor and .75
for ring+xor+sum.
"""

import argparse
import sys
import time

import numpy as np
from sklearn.model_selection import KFold

from pinsker import FeatureSelector, interactions
from pinsker.engine import PairTables
from stored_runs import code_key, collect

N_ROWS, FOLDS = 1000, 6
PROBLEMS = ("xor", "ring", "ring+xor", "ring+xor+sum")
WIDTHS = (128, 512, 2048)
#: Best-k at 2048 columns and 1000 rows of xor, ring, ring+xor and ring+xor+sum, from their results
#: at commit 8bebfde. Of ten attributions of one network the best of each column stands here.
PUBLISHED = {
    "random forest": (0.0, 1.0, 0.667, 0.583),
    "TreeSHAP": (0.0, 1.0, 0.542, 0.444),
    "mRMR": (0.0, 1.0, 0.5, 0.472),
    "mutual information": (0.0, 1.0, 0.0, 0.028),
    "LassoNet": (0.0, 0.0, 0.0, 0.333),
    "network, 10 attributions": (0.0, 0.0, 0.042, 0.333),
    "the same, bootstrapped": (0.0, 0.0, 0.0, 0.333),
    "the same, training rows": (0.0, 0.0, 0.0, 0.306),
    "DeepPINK": (0.0, 0.0, 0.0, 0.278),
    "CancelOut, sigmoid": (0.0, 0.0, 0.0, 0.25),
    "CancelOut, softmax": (0.0, 0.0, 0.0, 0.167),
    "Relief": (0.0, 0.0, 0.0, 0.111),
    "FSNet": (0.083, 0.0, 0.0, 0.0),
    "concrete autoencoder": (0.0, 0.0, 0.0, 0.0),
}


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
    """Fit the front door to one training part; return shares of true columns and the seconds."""
    name, width, seed, n_jobs = task
    X, y, k = make(name, width, seed // FOLDS)
    train = list(KFold(FOLDS).split(X))[seed % FOLDS][0]
    order = np.random.default_rng(seed).permutation(width)
    true = np.argsort(order)[:k]  # where the first k columns are now
    began, began_cpu = time.perf_counter(), time.process_time()
    selector = FeatureSelector(random_state=seed, n_jobs=n_jobs).fit(X[train][:, order], y[train])
    wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    kept = selector.get_support(indices=True)
    both = np.isin(kept, true).sum()
    return {
        "path": float(np.isin(selector.path_.order[:k], true).sum() / k),
        "kept": float(both / len(kept)), "found": float(both / k), "wall": wall, "cpu": cpu,
        "verdict": selector.certificate_.verdict,
    }  # fmt: skip


def run_problems(options):
    """Print a line for each problem and width, of the runs that are stored by then."""
    tasks = [
        (name, width, seed, options.jobs)
        for seed in range(options.seeds)
        for width in sorted(options.columns, reverse=True)
        for name in options.problems
    ]
    key = options.key or code_key(__file__)
    found = collect(tasks, one_run, "interactions", key, options.workers, options.seconds)
    say(f"key {key}, {options.jobs} jobs")
    say("problem         columns  runs   path   kept  found  worst path     met       s   CPU s")
    for width in options.columns:
        for name in options.problems:
            runs = [run for task, run in found.items() if task[:2] == (name, width)]
            if not runs:
                continue
            path, kept, share, wall, cpu = (
                [run[field] for run in runs] for field in ("path", "kept", "found", "wall", "cpu")
            )
            met = np.mean([run["verdict"] == "met" for run in runs])
            say(
                f"{name:14} {width:8d} {len(runs):5d} {np.mean(path):6.3f} {np.mean(kept):6.3f} "
                f"{np.mean(share):6.3f} {np.min(path):11.2f} {met:7.2f} {np.median(wall):7.1f} "
                f"{np.median(cpu):7.1f}"
            )
    say(f"published at {WIDTHS[-1]} columns    " + "".join(f"{name:>14}" for name in PROBLEMS))
    for method, scores in PUBLISHED.items():
        say(f"{method:28}" + "".join(f"{score:14.3f}" for score in scores))


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
    parser.add_argument(
        "--seeds", type=int, default=FOLDS, help="folds; from the seventh on of other tables"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="processes")
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
