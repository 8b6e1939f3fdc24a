"""Whole selection paths, against one distance matrix and against scoring from scratch.

    python benchmarks/engine.py            # the four jobs, the peers, growth with n and d
    python benchmarks/engine.py --quick    # the four jobs only
    python benchmarks/engine.py --limits   # how near the machine's limits the scans are

The yardstick is one `scipy.spatial.distance.cdist(X, X, "chebyshev")`, timed in the same run on the
same table. It uses one core; the engine uses two.
"""

import argparse
import time

import numpy as np
from scipy.spatial.distance import cdist

from pinsker.engine import Backward, Forward, Problem
from tables import heading, print_row

THREADS = 2


def shortest(job, repeats=3):
    """Shortest of several wall times: the machine is never faster than it is."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def table(n, d, target, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    signal = x[:, 0] + x[:, 1] + rng.normal(size=n)
    if target == "number":
        return x, Problem.from_arrays(x, target=signal)
    n_classes = int(target.split()[0])
    ranks = np.argsort(np.argsort(signal))
    return x, Problem.from_arrays(x, labels=ranks * n_classes // n)


def backward_path(problem, n_threads=THREADS):
    search = Backward(problem, n_threads=n_threads)
    for _ in range(problem.n_features - 1):
        search.remove(int(np.nanargmin(search.scores())))


def forward_path(problem, size, n_threads=THREADS):
    search = Forward(problem, n_threads=n_threads)
    for _ in range(size):
        search.add(int(np.nanargmax(search.scores())))


JOBS = [
    ("backward, 2 classes", 320, 1024, "2 classes", 8),
    ("backward, 10 classes", 320, 1024, "10 classes", 8),
    ("backward, 40 classes", 320, 1024, "40 classes", 8),
    ("backward, 2 classes", 2000, 100, "2 classes", 6),
    ("backward, number", 5000, 50, "number", 6),
    ("forward to 20, 2 classes", 2000, 100, "2 classes", 6),
]


def the_jobs():
    heading(
        "Whole paths, as multiples of one distance matrix",
        "job",
        "rows x columns",
        "cdist s",
        "path s",
        "ratio",
        "must",
    )
    for name, n, d, target, must in JOBS:
        x, problem = table(n, d, target)
        if name.startswith("forward"):

            def job(problem=problem):
                forward_path(problem, 20)
        else:

            def job(problem=problem):
                backward_path(problem)

        yardstick = shortest(lambda x=x: cdist(x, x, "chebyshev"), 5)
        path = shortest(job, 3)
        print_row(
            name,
            f"{n} x {d}",
            f"{yardstick:.3f}",
            f"{path:.3f}",
            f"{path / yardstick:.1f}",
            f"{must}",
        )


def against_peers():
    """One score by each peer, times the 524 800 scores of a path over 1024 features."""
    x, problem = table(320, 1024, "2 classes")
    path = shortest(lambda: backward_path(problem))
    n_scores = 1024 * 1025 // 2
    heading(
        "320 x 1024, scoring from scratch",
        "peer",
        "one score s",
        "all scores, extrapolated s",
        "times ours",
    )
    for peer, score in peers(x, problem.labels):
        one = shortest(score, 3)
        print_row(peer, f"{one:.3f}", f"{one * n_scores:.0f}", f"{one * n_scores / path:.0f}")


def peers(x, labels):
    """Peers that estimate I(X_i; Y | rest) with 1023 conditions and a class target."""
    try:
        import ennemi

        yield (
            "ennemi",
            lambda: ennemi.estimate_mi(
                labels, x[:, 0], cond=x[:, 1:], k=3, discrete_y=True, preprocess=False
            ),
        )
    except ImportError:
        print("ennemi is not installed: pip install pinsker[bench]")
    try:
        from npeet_plus import mi

        y = labels.astype(float)[:, None] + 1e-9 * np.arange(len(labels))[:, None]
        yield "npeet_plus", lambda: mi(x[:, :1], y, z=x[:, 1:], k=3)
    except ImportError:
        print("npeet_plus is not installed: pip install pinsker[bench]")


def growth():
    """How time and memory grow, with fitted exponents."""
    heading("Backward path, 2 classes: growth", "rows x columns", "seconds", "MiB held")
    by_rows = [(n, 50) for n in (500, 1000, 2000, 5000, 10_000)]
    by_columns = [(500, d) for d in (20, 50, 100, 500, 2000)]
    for sizes, varied, label in ((by_rows, 0, "rows"), (by_columns, 1, "columns")):
        seen = []
        for n, d in sizes:
            _, problem = table(n, d, "2 classes")
            seconds = shortest(lambda problem=problem: backward_path(problem), 1)
            held = Backward(problem, n_threads=THREADS).plan.n_bytes
            seen.append((n, d, seconds, held))
            print_row(f"{n} x {d}", f"{seconds:.2f}", f"{held / 2**20:.0f}")
        grown = np.array([[row[varied], row[2], row[3]] for row in seen], dtype=float)
        logs = np.log(grown)
        time_slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
        memory_slope = np.polyfit(logs[:, 0], logs[:, 2], 1)[0]
        print(f"\ntime grows as {label}^{time_slope:.2f}, memory as {label}^{memory_slope:.2f}\n")


def limits():
    """The work a path must do at least, against what one core can do at best."""
    n, d = 5000, 50
    _, problem = table(n, d, "number")
    copy = np.empty(50_000_000)
    source = np.ones_like(copy)
    bandwidth = 2 * copy.nbytes / shortest(lambda: np.copyto(copy, source))
    state = 4.0 * n * n
    seconds = shortest(lambda: backward_path(problem, 1), 1)
    scans = state * (d - 1)
    heading("5000 x 50, number, one core", "what", "value")
    print_row("memory bandwidth, copy", f"{bandwidth / 1e9:.1f} GB/s")
    print_row("watches read over the path", f"{scans / 1e9:.1f} GB")
    print_row("time for that at full bandwidth", f"{scans / bandwidth:.2f} s")
    print_row("path", f"{seconds:.2f} s")
    print_row("share of the memory limit", f"{scans / bandwidth / seconds:.0%}")
    pairs = n * n * d
    print_row("coordinate pairs a path covers per second", f"{pairs * d / 2 / seconds:.2e}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the four jobs only")
    parser.add_argument("--limits", action="store_true", help="against the machine's limits")
    options = parser.parse_args()
    if options.limits:
        limits()
        return
    the_jobs()
    if not options.quick:
        against_peers()
        growth()


if __name__ == "__main__":
    main()
