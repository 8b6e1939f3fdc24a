"""Tables that took minutes and gigabytes in 0.2: many categories, classes and targets, on one core.

    OMP_NUM_THREADS=1 python benchmarks/attack_tables.py                every table
    OMP_NUM_THREADS=1 python benchmarks/attack_tables.py "50 classes" 500x40
    OMP_NUM_THREADS=1 python benchmarks/attack_tables.py --time-limits  with .5, 2, 5 and 30 s

A word chooses all tables whose names contain it. Processor seconds and the peak of resident memory
above the loaded table, with one thread; every fit has a process of its own. A time limit is kept
if the fit ends within it, 1 s and 20 %; its clock counts processor seconds here, so that others on
the machine do not matter. `MUST` is asserted: the command ends with 1 where a table breaks it. With
``--time-limits`` the synthetic tables of `front_door.py` up to 20000x100 are among them.
"""

import argparse
import multiprocessing
import resource
import sys
import time
import warnings
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd

from front_door import SYNTHETIC, load
from pinsker import FeatureSelector
from pinsker.exceptions import PinskerError
from tables import heading, print_row

MUST = {"seconds": 60.0, "MB": 1000.0}
LIMITS = (0.5, 2.0, 5.0, 30.0)
FRONT_DOOR = SYNTHETIC[: SYNTHETIC.index("20000x100") + 1]


def text(n_rows, n_columns, n_categories, n_classes=2):
    """Return text of which the first two columns matter, by groups of their categories."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_categories, (n_rows, n_columns))
    worth = rng.normal(size=(2, n_categories))
    value = worth[0, codes[:, 0]] + worth[1, codes[:, 1]] + 0.3 * rng.normal(size=n_rows)
    cuts = np.quantile(value, np.arange(1, n_classes) / n_classes)
    names = np.array([f"category {c}" for c in range(n_categories)], dtype=object)
    return pd.DataFrame({f"c{j}": names[codes[:, j]] for j in range(n_columns)}), np.searchsorted(
        cuts, value
    )


def numbers(n_rows, n_columns, target, n_targets):
    """Return normal columns and a target of which each part follows two of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    first = np.arange(n_targets) % n_columns
    second = (7 * first + 1) % n_columns
    values = X[:, first] + 0.7 * X[:, second] + 0.5 * rng.normal(size=(n_rows, n_targets))
    y = {"targets": values, "labels": (values > 0.5).astype(int), "classes": values.argmax(axis=1)}
    return X, y[target]


TABLES = {
    "1900x200 text, 1500 categories": lambda: text(1900, 200, 1500),
    "1000x60 text, 1000 categories": lambda: text(1000, 60, 1000),
    "500x40 text, 300 categories": lambda: text(500, 40, 300),
    "1900x100, 20 targets": lambda: numbers(1900, 100, "targets", 20),
    "1900x100, 30 labels": lambda: numbers(1900, 100, "labels", 30),
    "1900x100, 50 classes": lambda: numbers(1900, 100, "classes", 50),
    "4999x500, 50 classes": lambda: numbers(4999, 500, "classes", 50),
    "200000x50 text, 5000 categories, 30 classes": lambda: text(200_000, 50, 5000, 30),
}


def measure(name, limit):
    """Return processor seconds, peak MB above the table, and the outcome."""
    warnings.simplefilter("ignore")
    X, y = TABLES[name]() if name in TABLES else load(name)[:2]
    small = np.random.default_rng(0).normal(size=(60, 3))
    FeatureSelector(cv=2, n_jobs=1, suspects="ignore").fit(small, small[:, 0] > 0)  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    selector = FeatureSelector(n_jobs=1, random_state=0, missing="category", time_limit=limit)
    started = time.process_time()
    with patch("pinsker.search._path.time", SimpleNamespace(monotonic=time.process_time)):
        try:
            selector.fit(X, y)
            outcome = f"{int(selector.support_.sum())} kept, {selector.certificate_.verdict}"
        except PinskerError as error:
            outcome = f"{type(error).__name__}: {error}"
    spent, peak = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return spent, (peak - before) / 1024, outcome


def in_own_process(name, limit=None):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (name, limit))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="WORD")
    parser.add_argument("--time-limits", action="store_true", help="print what limits overrun by")
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS, metavar="SECONDS")
    typed = parser.parse_args()

    def chosen(names):
        return [n for n in names if not typed.tables or any(word in n for word in typed.tables)]

    broken = []
    if typed.time_limits:
        heading("Time limits", "table", "limit", "CPU s", "above the limit", "outcome")
        for name in chosen([*TABLES, *FRONT_DOOR]):
            for limit in typed.limits:
                spent, _, outcome = in_own_process(name, limit)
                print_row(name, limit, f"{spent:.1f}", f"{spent - limit:+.1f}", outcome)
                if spent > limit + 1.0 + 0.2 * limit:
                    broken.append(f"{name} at {limit} s")
    else:
        heading("One core, no time limit", "table", "CPU s", "MB", "outcome")
        for name in chosen(TABLES):
            spent, memory, outcome = in_own_process(name)
            print_row(name, f"{spent:.1f}", f"{memory:.0f}", outcome)
            if spent > MUST["seconds"] or memory > MUST["MB"]:
                broken.append(name)
    print(f"\n{len(broken)} beyond what must hold" + "".join(f"\n  {one}" for one in broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
