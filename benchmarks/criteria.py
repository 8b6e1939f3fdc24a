"""Criteria on integer tables: pinsker against every peer that can be installed.

    pip install -e ".[bench-criteria]"
    python benchmarks/criteria.py            # the two tables of docs/benchmarks.md
    python benchmarks/criteria.py --quick    # a tenth of the rows, to see that it runs
    python benchmarks/criteria.py --feast libFSToolbox.so    # FEAST as well, which is not on PyPI

The same table goes to every package. A peer takes part in a criterion when it chooses the same
features in the same order; that is checked in the run. Packages too slow for the whole job are
timed on fewer columns and fewer choices, and the time for the whole job is worked out from the
number of tables they count; such times are marked.

Not in the table: mrmr_selection has no mutual information (F statistic and Pearson correlation);
feature-engine's MRMR takes redundancy from a nearest-neighbour estimate for continuous columns.
Neither computes a criterion of this table on integers.
"""

import argparse
import ctypes
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pinsker.search import select_by_criterion

N_VALUES = 10
N_CLASSES = 2
THREADS = 2
#: The job in memory, and what it may cost: seconds on the clock, memory beside the table.
LARGE_TABLE = {"n_rows": 1_000_000, "n_columns": 100, "k": 50}
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


def feast(library):
    """Return FEAST's functions of a compiled library: C, one thread, 32-bit columns."""
    functions = ctypes.CDLL(library)

    def select_with(name):
        def select(codes, labels, k):
            columns = np.asfortranarray(codes, dtype=np.uint32)
            classes, order = labels.astype(np.uint32), np.zeros(k, dtype=np.uint32)
            arrays = (columns, classes, order, np.zeros(k))
            places = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
            getattr(functions, name)(k, *codes.shape, *places)
            return order

        return select

    names = {"mrmr": "mRMR_D", "jmi": "JMI", "cmim": "CMIM"}
    return [
        Peer("FEAST (C)", criterion, select_with(name), step_by_step, whole=True)
        for criterion, name in names.items()
        if hasattr(functions, name)
    ]


def step_by_step(p, k):
    """Every choice is counted once against every column."""
    return p * (1 + (k - 1))


def from_scratch(p, k):
    """Every column is counted against all choices again at every step."""
    return p * (1 + k * (k - 1) / 2)


PEERS = [
    Peer("fast-select", "mrmr", fast_select, step_by_step, whole=True),
    *[Peer("skfeature-chappers", c, scikit_feature(c), step_by_step) for c in ("mrmr", "jmi")],
    Peer("skfeature-chappers", "cmim-brown", scikit_feature("cmim-brown"), step_by_step),
    Peer("ITMO_FS", "mrmr", itmo("MRMR"), from_scratch),
    Peer("ITMO_FS", "jmi", itmo("JMI"), from_scratch),
    Peer("ITMO_FS", "cmim-brown", itmo("CMIM"), from_scratch),
]


@dataclass(frozen=True)
class Timing:
    """Seconds on the clock and of processor time, all threads together; the best of the repeats."""

    wall: float
    processor: float

    def scaled(self, factor):
        return Timing(self.wall * factor, self.processor * factor)


def measure(function, *arguments, repeats):
    wall = processor = float("inf")
    for _ in range(repeats):
        start, start_processor = time.perf_counter(), time.process_time()
        result = function(*arguments)
        wall = min(wall, time.perf_counter() - start)
        processor = min(processor, time.process_time() - start_processor)
    return Timing(wall, processor), [int(column) for column in result]


def time_peer(peer, codes, labels, k):
    """Return the time of the whole job, whether it was worked out, and agreement."""
    if peer.whole:
        peer.select(codes[:200], labels[:200], k)  # compile first
        timing, order = measure(peer.select, codes, labels, k, repeats=3)
        return timing, False, order == ours(peer.criterion)(codes, labels, k)
    columns, choices = 20, 4
    part = np.ascontiguousarray(codes[:, :columns].astype(np.int64))
    timing, order = measure(peer.select, part, labels, choices, repeats=1)
    factor = peer.cost(codes.shape[1], k) / peer.cost(columns, choices)
    return timing.scaled(factor), True, order == ours(peer.criterion)(part, labels, choices)


def compare(n_rows, n_columns, k, peers):
    codes, labels = make_table(n_rows, n_columns)
    wide = codes.astype(np.int64)
    print(
        f"{n_rows} x {n_columns}, {N_VALUES} values, {N_CLASSES} classes, k = {k}, "
        f"{THREADS} threads\n"
    )
    print("| criterion | package | seconds | processor s | times pinsker | same choices |")
    print("|---|---|---|---|---|---|")
    for criterion in ("mrmr", "jmi", "cmim-brown", "cmim"):
        mine, _ = measure(ours(criterion), wide, labels, k, repeats=25)
        print_line(criterion, "pinsker", mine, mine, "")
        for peer in peers:
            if peer.criterion != criterion:
                continue
            timing, worked_out, agrees = time_peer(peer, wide, labels, k)
            answer = "yes" if agrees else "no"
            print_line(criterion, peer.package, timing, mine, answer, "≈ " if worked_out else "")
    print()


def print_line(criterion, package, timing, mine, answer, mark=""):
    """The ratio is one of processor time, which other work on the machine does not stretch."""
    wall, processor = (
        f"{mark}{value:.3g}" if value < 100 else f"{mark}{value:.0f}"
        for value in (timing.wall, timing.processor)
    )
    ratio = timing.processor / mine.processor
    times = f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}".replace(",", " ")
    line = f"| {criterion} | {package} | {wall} | {processor} | {times} | {answer} |"
    print(line, flush=True)


def memory(line):
    """Megabytes of this process (Linux): "VmRSS" now, "VmHWM" at most so far."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) / 1024


def large(criterion, n_rows, n_columns, k):
    """Run the job in memory in this process and print its line."""
    codes, labels = make_table(n_rows, n_columns)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the table
    before = memory("VmRSS")
    timing, _ = measure(ours(criterion), codes, labels, k, repeats=1)
    more = memory("VmHWM") - before
    kept = timing.wall <= LARGE_BUDGET["seconds"] and more <= LARGE_BUDGET["megabytes"]
    size = f"{codes.nbytes / 2**20:.0f} | {more:.0f}"
    answer = "kept" if kept else "not kept"
    line = f"| {criterion} | {timing.wall:.2f} | {timing.processor:.2f} | {size} | {answer} |"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--feast", metavar="LIBRARY", help="path of a compiled FEAST")
    parser.add_argument("--large", metavar="CRITERION", help=argparse.SUPPRESS)
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    job = {**LARGE_TABLE, "n_rows": LARGE_TABLE["n_rows"] // scale}
    if options.large:
        large(options.large, **job)
        return
    warnings.simplefilter("ignore")  # of the peers
    compare(10_000 // scale, 500, 50, PEERS + (feast(options.feast) if options.feast else []))
    print("{n_rows} x {n_columns}, k = {k}; budget: ".format(**job), end="")
    print(
        "{seconds:.0f} s on the clock, {megabytes:.0f} MB beside the table\n".format(**LARGE_BUDGET)
    )
    print("| criterion | seconds | processor s | table, MB | peak beside it, MB | budget |")
    print("|---|---|---|---|---|---|", flush=True)
    for criterion in ("mrmr", "jmi", "cmim", "disr", "cmi"):
        arguments = [sys.executable, __file__, "--large", criterion]
        subprocess.run(arguments + (["--quick"] if options.quick else []), check=True)


if __name__ == "__main__":
    main()
