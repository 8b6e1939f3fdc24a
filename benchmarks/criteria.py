"""Criteria on integer tables: pinsker against every peer that can be installed.

    pip install -e ".[bench-criteria]"
    python benchmarks/criteria.py            # the two tables of docs/benchmarks.md
    python benchmarks/criteria.py --quick    # a tenth of the rows, to see that it runs

The same table goes to every package. A peer takes part in a criterion when it chooses the same
features in the same order; that is checked in the run. Packages too slow for the whole job are
timed on fewer columns and fewer choices, and the time for the whole job is worked out from the
number of tables they count; such times are marked.

Not in the table: mrmr_selection has no mutual information (F statistic and Pearson correlation);
feature-engine's MRMR takes redundancy from a nearest-neighbour estimate for continuous columns.
Neither computes a criterion of this table on integers.
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pinsker.selection import select_by_criterion

N_VALUES = 10
N_CLASSES = 2
THREADS = 2
#: The job in memory, and what it may cost.
LARGE = {"n_rows": 1_000_000, "n_columns": 100, "k": 50}
LARGE_BUDGET = {"seconds": 10.0, "megabytes": 250.0}

Select = Callable[[np.ndarray, np.ndarray, int], list[int]]


@dataclass(frozen=True)
class Peer:
    """A package and a criterion; `cost` counts the tables behind p columns and k choices."""

    package: str
    criterion: str
    select: Select
    cost: Callable[[int, int], float]
    whole: bool = False


def make_table(n_rows, n_columns, seed=0):
    """Ten-valued columns, two classes: a tenth of the columns tell of it, some repeat others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLASSES, n_rows)
    codes = rng.integers(0, N_VALUES, (n_rows, n_columns), dtype=np.uint8)
    for j in range(0, n_columns, 10):
        told = rng.random(n_rows) < rng.uniform(0.05, 0.5)
        codes[told, j] = (labels[told] * 3 + rng.integers(0, 4, told.sum())) % N_VALUES
        if j:
            same = rng.random(n_rows) < 0.5
            codes[same, j + 1] = codes[same, j - 10]
    return codes, labels


def ours(criterion):
    def select(codes, labels, k):
        path = select_by_criterion(codes, labels, criterion, k, n_threads=THREADS)
        return path.order.tolist()

    return select


def fast_select(codes, labels, k):
    from fast_select import mRMR

    return (
        mRMR(n_features_to_select=k, method="MID", backend="cpu").fit(codes, labels).top_features_
    )


def scikit_feature(name):
    def select(codes, labels, k):
        from skfeature.function.information_theoretical_based import CMIM, JMI, MRMR

        function = {"mrmr": MRMR.mrmr, "jmi": JMI.jmi, "cmim-brown": CMIM.cmim}[name]
        return function(codes, labels, mode="index", n_selected_features=k)[:k]

    return select


def itmo(name):
    def select(codes, labels, k):
        from ITMO_FS.filters.multivariate import MultivariateFilter

        selector = MultivariateFilter(name, k)
        selector.fit(codes, labels)
        return selector.selected_features

    return select


def step_by_step(p, k):
    """Every choice is counted once against every column."""
    return p * (1 + (k - 1))


def afresh(p, k):
    """Every column is counted against all choices again at every step."""
    return p * (1 + k * (k - 1) / 2)


PEERS = [
    Peer("fast-select", "mrmr", fast_select, step_by_step, whole=True),
    *[Peer("skfeature-chappers", c, scikit_feature(c), step_by_step) for c in ("mrmr", "jmi")],
    Peer("skfeature-chappers", "cmim-brown", scikit_feature("cmim-brown"), step_by_step),
    Peer("ITMO_FS", "mrmr", itmo("MRMR"), afresh),
    Peer("ITMO_FS", "jmi", itmo("JMI"), afresh),
    Peer("ITMO_FS", "cmim-brown", itmo("CMIM"), afresh),
]


def seconds(function, *arguments, repeats):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(*arguments)
        best = min(best, time.perf_counter() - start)
    return best, [int(column) for column in result]


def time_peer(peer, codes, labels, k):
    """Return the seconds of the whole job, whether they were worked out, and agreement."""
    if peer.whole:
        peer.select(codes[:200], labels[:200], k)  # compile first
        taken, order = seconds(peer.select, codes, labels, k, repeats=2)
        return taken, False, order == ours(peer.criterion)(codes, labels, k)
    columns, choices = 20, 4
    part = np.ascontiguousarray(codes[:, :columns].astype(np.int64))
    taken, order = seconds(peer.select, part, labels, choices, repeats=1)
    whole = taken * peer.cost(codes.shape[1], k) / peer.cost(columns, choices)
    return whole, True, order == ours(peer.criterion)(part, labels, choices)


def compare(n_rows, n_columns, k):
    codes, labels = make_table(n_rows, n_columns)
    wide = codes.astype(np.int64)
    print(
        f"{n_rows} x {n_columns}, {N_VALUES} values, {N_CLASSES} classes, k = {k}, "
        f"{THREADS} threads\n"
    )
    print("| criterion | package | seconds | times pinsker | same choices |")
    print("|---|---|---|---|---|")
    for criterion in ("mrmr", "jmi", "cmim-brown", "cmim"):
        mine, _ = seconds(ours(criterion), wide, labels, k, repeats=7)
        print(f"| {criterion} | pinsker | {mine:.3f} | 1 | |", flush=True)
        for peer in PEERS:
            if peer.criterion != criterion:
                continue
            taken, worked_out, agrees = time_peer(peer, wide, labels, k)
            mark = "≈ " if worked_out else ""
            ratio = f"{taken / mine:,.0f}".replace(",", " ")
            shown = f"{taken:.3g}" if taken < 100 else f"{taken:.0f}"
            answer = "yes" if agrees else "NO"
            print(
                f"| {criterion} | {peer.package} | {mark}{shown} | {ratio} | {answer} |", flush=True
            )
    print()


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def large(criterion, n_rows, n_columns, k):
    """Run the job in memory in this process and print its line."""
    codes, labels = make_table(n_rows, n_columns)
    before = peak_megabytes()
    start = time.perf_counter()
    select_by_criterion(codes, labels, criterion, k, n_threads=THREADS)
    taken, more = time.perf_counter() - start, peak_megabytes() - before
    kept = taken <= LARGE_BUDGET["seconds"] and more <= LARGE_BUDGET["megabytes"]
    answer = "kept" if kept else "NOT KEPT"
    print(
        f"| {criterion} | {taken:.2f} | {codes.nbytes / 2**20:.0f} | {more:.0f} | {answer} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--large", metavar="CRITERION", help=argparse.SUPPRESS)
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    job = {**LARGE, "n_rows": LARGE["n_rows"] // scale}
    if options.large:
        large(options.large, **job)
        return
    warnings.simplefilter("ignore")  # of the peers
    compare(10_000 // scale, 500, 50)
    print("{n_rows} x {n_columns}, k = {k}; budget: ".format(**job), end="")
    print("{seconds:.0f} s, {megabytes:.0f} MB beside the table\n".format(**LARGE_BUDGET))
    print("| criterion | seconds | table, MB | peak beside it, MB | budget |")
    print("|---|---|---|---|---|", flush=True)
    for criterion in ("mrmr", "jmi", "cmim", "disr", "cmi"):
        arguments = [sys.executable, __file__, "--large", criterion]
        subprocess.run(arguments + (["--quick"] if options.quick else []), check=True)


if __name__ == "__main__":
    main()
