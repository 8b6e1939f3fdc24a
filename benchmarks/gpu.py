"""Whole selection paths on a GPU, against our own engine on all cores of the same machine.

    python benchmarks/gpu.py             # paths, kernels, limits; minutes
    python benchmarks/gpu.py --quick     # no 50 000 x 200, no forward
    python benchmarks/gpu.py --cpu-all   # the cores walk the largest path too

Every path is checked: both engines must remove the same units with the same scores.
"""

import argparse
import os
import time

import cupy
import numpy as np

from engine import table
from pinsker.engine import Backward, Forward
from pinsker.engine._problem import FixedPoint
from pinsker.engine.backends.cuda._device import CupyDevice
from pinsker.engine.backends.cuda._searches import CudaBackward
from tables import heading, print_row

CORES = len(os.sched_getaffinity(0))
#: Double additions a second: 64 units in each multiprocessor.
FP64_UNITS = 64
GROWTH = [
    *((n, 100) for n in (5000, 10_000, 20_000, 40_000, 80_000)),
    *((20_000, d) for d in (25, 50, 200, 400, 800)),
]


class TimedDevice(CupyDevice):
    """Waits for every kernel and adds up its time."""

    def __init__(self):
        super().__init__()
        self.seconds, self.calls = {}, {}

    def launch(self, kernel, *args):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        super().launch(kernel, *args)
        end.record()
        end.synchronize()
        spent = cupy.cuda.get_elapsed_time(begin, end) / 1000
        self.seconds[kernel] = self.seconds.get(kernel, 0.0) + spent
        self.calls[kernel] = self.calls.get(kernel, 0) + 1


def walk(search, steps, pick):
    """The scores of every step, and what was removed or added."""
    seen, moves = [], []
    for _ in range(steps):
        scores = search.scores()
        unit = int(pick(scores))
        seen.append(scores[unit])
        moves.append(unit)
        (search.remove if isinstance(search, Backward) else search.add)(unit)
    return moves, seen


def timed(problem, engine, direction, steps):
    start = time.perf_counter()
    if direction == "backward":
        search = Backward(problem, engine=engine, n_threads=CORES, max_samples=problem.n_rows)
        path = walk(search, steps, np.nanargmin)
    else:
        search = Forward(problem, engine=engine, n_threads=CORES, max_samples=problem.n_rows)
        path = walk(search, steps, np.nanargmax)
    return time.perf_counter() - start, path


def paths(jobs, cpu_rows):
    heading(
        f"Whole paths, {CORES} cores and one GPU",
        "path",
        "rows x columns",
        "cores s",
        "GPU s",
        "ratio",
        "same path",
    )
    for direction, n, d, target, steps in jobs:
        _, problem = table(n, d, target)
        on_gpu, path = min(timed(problem, "cuda", direction, steps) for _ in range(2))
        cores, ratio, same = "", "", "not compared"
        if n <= cpu_rows:
            seconds, path_of_cores = timed(problem, "local", direction, steps)
            cores, ratio = f"{seconds:.2f}", f"{seconds / on_gpu:.1f}"
            same = "yes" if path == path_of_cores else "NO"
        name = f"{direction}, {target}"
        print_row(name, f"{n} x {d}", cores, f"{on_gpu:.2f}", ratio, same)


def bare(problem, **how):
    """A backward search on the GPU without the class around it."""
    n = problem.n_rows
    return CudaBackward(
        values=problem.values,
        features=problem.feature_of_column.astype(np.int32),
        n_features=problem.n_features,
        labels=problem.labels,
        target=problem.target,
        digamma=FixedPoint.of(n).digamma,
        queries=np.arange(n),
        watched_queries=0,
        rank=3,
        direct=False,
        **how,
    )


def walk_bare(search, d):
    """Remove the cheapest unit until one is left."""
    sums, left = np.empty(d, dtype=np.int64), np.ones(d, dtype=np.uint8)
    search.start(left, 1)
    for _ in range(d - 1):
        search.changes(sums)
        unit = int(np.argmin(np.where(left == 1, -sums, np.iinfo(np.int64).max)))
        left[unit] = 0
        search.remove(unit, 1)


def kernels(n, d, target):
    """Where the time of a backward path goes, kernel by kernel."""
    _, problem = table(n, d, target)
    device = TimedDevice()
    walk_bare(bare(problem, device=device), d)
    heading(f"Kernels of a backward path, {n} x {d}, {target}", "kernel", "calls", "ms", "share")
    total = sum(device.seconds.values())
    for kernel, seconds in sorted(device.seconds.items(), key=lambda item: -item[1]):
        print_row(kernel, device.calls[kernel], f"{1000 * seconds:.1f}", f"{seconds / total:.0%}")
    limits(problem, device)


def limits(problem, device):
    """The counted work of the big kernels, against what the GPU can do."""
    n, d = problem.values.shape
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    clock = properties.get("clockRate", 1980000) * 1e3
    additions = properties["multiProcessorCount"] * FP64_UNITS * clock
    copied = bandwidth()
    same_class = (
        n if problem.labels is None else float(np.sum(np.bincount(problem.labels) ** 2.0)) / n
    )
    heading("Work and limits", "kernel", "counted", "a second", "of the limit")
    pairs = {"distances": n * same_class * d + n * n, "sort_pairs": float(n) * n * d}
    for kernel, work in pairs.items():
        rate = work / device.seconds[kernel]
        share = 2 * rate / additions  # a subtraction and a comparison in double precision
        print_row(kernel, f"{work:.2e} coordinate pairs", f"{rate:.2e}", f"{share:.0%} arithmetic")
    watched = 2.0 * n * n * (d - 2)
    rate = watched / device.seconds["revisit"]
    share = f"{rate / copied:.0%} memory"
    print_row("revisit", f"{watched:.2e} bytes of watches", f"{rate:.2e}", share)
    print(f"\ncopy: {copied:.2e} bytes a second; double additions: {additions:.2e} a second")


def growth():
    """Seconds and bytes of a backward path at several sizes, and with too little memory."""
    heading("Backward path on the GPU, 2 classes: growth", "rows x columns", "seconds", "MiB held")
    for n, d in GROWTH:
        _, problem = table(n, d, "2 classes")
        start = time.perf_counter()
        search = bare(problem)
        walk_bare(search, d)
        seconds = f"{time.perf_counter() - start:.2f}"
        print_row(f"{n} x {d}", seconds, f"{search.n_bytes / 2**20:.0f}")
    n, d = 20_000, 100
    _, problem = table(n, d, "2 classes")
    for share in (0.5, 0.1):  # four fifths of the memory beside the table is for rows that stay
        whole = bare(problem)
        limit = whole._table.own_bytes + int(share * n * whole.bytes_of_kept_row / 0.8)
        del whole
        start = time.perf_counter()
        search = bare(problem, memory_limit=limit)
        walk_bare(search, d)
        seconds = f"{time.perf_counter() - start:.2f}"
        print_row(f"{n} x {d}, {share:.0%} of the rows", seconds, f"{search.n_bytes / 2**20:.0f}")


def bandwidth(n_bytes=4 * 2**30):
    """Bytes read and written a second by a copy on the device."""
    source = cupy.ones(n_bytes // 8)
    to = cupy.empty_like(source)
    times = []
    for _ in range(5):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        cupy.copyto(to, source)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / 1000)
    return 2 * n_bytes / float(np.median(times))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="no 50 000 x 200, no forward")
    parser.add_argument("--cpu-all", action="store_true", help="the largest path on the cores too")
    options = parser.parse_args()
    jobs = [
        ("backward", 1000, 50, "2 classes", 49),
        ("backward", 2000, 100, "2 classes", 99),
        ("backward", 5000, 50, "number", 49),
        ("backward", 20_000, 100, "2 classes", 99),
    ]
    if not options.quick:
        jobs += [
            ("backward", 50_000, 200, "2 classes", 199),
            ("forward", 20_000, 100, "2 classes", 10),
            ("forward", 20_000, 100, "number", 10),
        ]
    paths(jobs, 10**9 if options.cpu_all else 20_000)
    kernels(20_000, 100, "2 classes")
    if not options.quick:
        kernels(50_000, 200, "2 classes")
        growth()


if __name__ == "__main__":
    main()
