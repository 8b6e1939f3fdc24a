"""How far off the time is that `pinsker inspect` forecasts, and what the forecast itself takes.

    OMP_NUM_THREADS=1 python benchmarks/inspect_costs.py                 the sizes below
    OMP_NUM_THREADS=1 python benchmarks/inspect_costs.py 3000x10 20000x100

Processor seconds on one thread. The forecast comes from fits to samples of the rows, so it has no
constants that could age.
"""

import sys
import time

import numpy as np
import pandas as pd

from pinsker import BackwardElimination, FeatureSelector
from pinsker.cli._inspect import expected_seconds
from tables import heading, print_row

SIZES = ("150x15", "500x30", "1000x128", "3000x10", "6000x20", "20000x100")
SELECTORS = {"front door": FeatureSelector, "backward": BackwardElimination}


def seconds(call, *arguments):
    """Return the processor time of a call and its result."""
    started = time.process_time()
    found = call(*arguments)
    return time.process_time() - started, found


def main():
    rng = np.random.default_rng(0)
    FeatureSelector(cv=2).fit(rng.normal(size=(60, 3)), rng.normal(size=60))  # imports, once
    heading(
        "Forecast of processor seconds", "selector, table, target", "forecast", "measured",
        "measured / forecast", "cost of the forecast",
    )  # fmt: skip
    for size in sys.argv[1:] or SIZES:
        n, d = map(int, size.split("x"))
        X = pd.DataFrame(rng.normal(size=(n, d)))
        value = X[0] + X[1] + 2 * X[2] * X[3] + 0.5 * rng.normal(size=n)
        for target, y in [("classes", (value > 0).astype(int)), ("numbers", value)]:
            for name, kind in SELECTORS.items():
                if n > 5000 and kind is not FeatureSelector:
                    continue
                selector = kind(n_jobs=1, random_state=0)
                cost, expected = seconds(expected_seconds, selector, X, y)
                spent, _ = seconds(selector.fit, X, y)
                print_row(
                    f"{name}, {size}, {target}", f"{expected:.2f}", f"{spent:.2f}",
                    f"{spent / expected:.2f}", f"{cost:.2f}",
                )  # fmt: skip


if __name__ == "__main__":
    main()
