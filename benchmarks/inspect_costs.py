"""What a search costs: the constants behind the forecast of `pinsker inspect`.

Prints processor seconds on one thread for tables of several sizes, and how far off the forecast of
``pinsker.cli._inspect`` is.

    OMP_NUM_THREADS=1 python benchmarks/inspect_costs.py
"""

import time

import numpy as np

from pinsker import BackwardElimination, FeatureSelector, ForwardBackwardSelection, ForwardSelection
from pinsker.cli._inspect import expected_seconds

SIZES = [(200, 10), (200, 40), (500, 20), (500, 100), (1000, 10), (1000, 50), (2000, 20)]
KINDS = {
    "backward": BackwardElimination,
    "forward": ForwardSelection,
    "forward-backward": ForwardBackwardSelection,
    "auto": FeatureSelector,
}


def seconds(selector, X, y):
    """Return the processor time of a fit: other work on the machine does not count."""
    started = time.process_time()
    selector.fit(X, y)
    return time.process_time() - started


def main():
    rng = np.random.default_rng(0)
    FeatureSelector(cv=2).fit(rng.normal(size=(60, 3)), rng.normal(size=60))  # imports, once
    print(f"{'rows':>6} {'cols':>5} {'target':>8} " + " ".join(f"{name:>12}" for name in KINDS))
    spent = {name: [] for name in KINDS}
    for n, d in SIZES:
        X = rng.normal(size=(n, d))
        value = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
        for target, y in [("classes", (value > 0).astype(int)), ("numbers", value)]:
            row = {name: seconds(kind(n_jobs=1), X, y) for name, kind in KINDS.items()}
            for name, cost in row.items():
                spent[name].append((n, d, cost))
            print(
                f"{n:6} {d:5} {target:>8} " + " ".join(f"{s:12.3f}" for s in row.values()),
                flush=True,
            )
    print("measured / forecast, the factor that `inspect` states:")
    for name, rows in spent.items():
        folds = 5 if name == "auto" else 0
        ratios = [s / expected_seconds(n, d, name, folds) for n, d, s in rows]
        print(f"{name:>12}: {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
