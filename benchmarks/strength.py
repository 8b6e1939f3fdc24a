"""Is the reference of a certificate as strong as what users fit, and do met sets hold for those?

    python benchmarks/strength.py --store DIR                    the first 200 of real_tables.py
    python benchmarks/strength.py --store DIR --part odd         reporting tables (tuning: even)

Runs are those of ``pruning.py``, of tables with at least 200 rows. "Behind": the error with all
columns as the certificate states it is above the best of three models of scikit-learn (boosted
trees with native categories, a forest, a linear model of indicators) by 5-fold cross-validation on
the same rows. "Above the bound": the best of four models of users (LightGBM beside those) with the
kept columns, less the best with all, on fresh rows, exceeds the certified bound; once as it is, and
once by two standard errors, as fresh rows are few. "Any one": a single model of them does, by two.
Bars: behind by more than .02 in 3 % of the tables at most, above the bound in 5 %.
"""

import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from one_process import limit_threads
from pruning import read_options, show, stored
from real_tables import chosen

LEAST_ROWS = 200


def main():
    options = read_options()
    limit_threads(1)
    options.store.mkdir(parents=True, exist_ok=True)
    names = chosen(options.store)
    names = {"odd": names[1::2], "even": names[::2], "all": names}[options.part]
    names = names[: options.tables] if options.tables >= 0 else names
    calls = [(name, 0, options) for name in names]
    with ProcessPoolExecutor(options.workers) as pool:
        runs = [run for run in pool.map(stored, calls, chunksize=1) if show(run)]
    runs = [run for run in runs if run["rows"] >= 0.7 * LEAST_ROWS]
    for task, classes in (("classes", True), ("numbers", False), ("all", None)):
        some = [run for run in runs if classes in (run["classes"], None)]
        if some:
            sys.stdout.write(f"{task}: {report(some)}\n")


def report(runs):
    """Return a line on some runs."""
    gaps = np.array([run["reference"] - min(run["users"].values()) for run in runs])
    behind = ", ".join(f"{100 * (gaps > least).mean():.1f}" for least in (0.01, 0.02, 0.05))
    met = [run for run in runs if run["verdict"] == "met" and run["kept"] < run["columns"]]
    best = np.array([run["best"] for run in met]).reshape(-1, 2)
    bound = np.array([run["bound"] for run in met])
    above = [
        100 * np.mean([*(best[:, 0] - errors * best[:, 1] > bound)] or [0]) for errors in (0, 2)
    ]
    each = [
        max(change - 2 * error for change, error in run["changes"].values()) > run["bound"]
        for run in met
    ]
    return (
        f"{len(runs)} tables, behind by > .01, .02, .05 in {behind} %; {len(met)} met, above the "
        f"bound in {above[0]:.1f} %, by two errors in {above[1]:.1f} % (any one model: "
        f"{100 * np.mean(each or [0]):.1f} %)"
    )


if __name__ == "__main__":
    main()
