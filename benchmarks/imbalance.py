"""Rare classes: does a budget in AUC keep the columns that matter, and hold on fresh rows?

Three designs with 2 to 10 % positive rows. A selector with ``metric="roc_auc"`` and budget 0.01
is fitted to some thousand rows; then a model of the design's own family (logistic regression, or
boosted trees where columns interact) is fitted to as many fresh rows (twice), with all and with the
kept columns, and both are compared on 50 000 others. Beside it the same with models that are fitted
to 40 000 rows, more than the selector had: they make more of weak columns.

    python benchmarks/imbalance.py --runs 100 --jobs 4
    python benchmarks/imbalance.py --seeds tuning --runs 10     while a rule is being chosen

Every run is stored, keyed to the code of the package and of this benchmark. Tables are printed from
the reporting seeds, which nothing was chosen on.
"""

import argparse
import os
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

from pinsker import FeatureSelector  # noqa: E402
from stored_runs import code_key, collect  # noqa: E402
from tables import heading, print_row  # noqa: E402

BUDGET = 0.01
REPORTING_SEEDS, TUNING_SEEDS = 1_000_000, 2_000_000
MANY, TESTED = 40_000, 50_000


def additive(n, rng):
    """2 % positive; four of twelve columns matter."""
    X = rng.normal(size=(n, 12))
    return X, X[:, :4] @ [1.6, 1.2, 0.9, 0.7] - 6.2, 4


def interaction(n, rng):
    """5 % positive; two of ten columns matter by their product, one by itself."""
    X = rng.normal(size=(n, 10))
    return X, 1.8 * X[:, 0] * X[:, 1] + 1.2 * X[:, 2] - 4.6, 3


def redundant(n, rng):
    """10 % positive; two signals, each in three noisy copies, and six columns of noise."""
    signals = rng.normal(size=(n, 2))
    copies = np.repeat(signals, 3, axis=1) + 0.5 * rng.normal(size=(n, 6))
    X = np.column_stack([signals, copies, rng.normal(size=(n, 6))])
    return X, signals @ [1.8, 1.2] - 3.4, 2


def draw(design, n, seed):
    """Return a table, its classes, and how many columns matter (the first ones)."""
    rng = np.random.default_rng(seed)
    X, odds, n_matter = design(n, rng)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), n_matter


def auc_lost(name, kept, train, test):
    """Return the AUC with all columns minus that with the kept ones."""
    trees = HistGradientBoostingClassifier(random_state=0)
    model = trees if name == "interaction" else LogisticRegression(max_iter=500)
    found = []
    for columns in (np.arange(test[0].shape[1]), kept):
        model.fit(train[0][:, columns], train[1])
        found.append(roc_auc_score(test[1], model.predict_proba(test[0][:, columns])[:, 1]))
    return found[0] - found[1]


def one_run(task):
    """Return what is kept, whether that is all that matters, and the AUC lost on fresh rows."""
    name, metric, n_rows, seed = task
    design = DESIGNS[name]
    X, y, n_matter = draw(design, n_rows, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = FeatureSelector(BUDGET, metric=metric, n_jobs=1, random_state=seed).fit(X, y)
    kept = np.flatnonzero(selector.support_)
    lost = lost_by_many = 0.0
    if len(kept) < X.shape[1]:  # nothing is lost by keeping all
        test = draw(design, TESTED, 20_000_000 + seed)[:2]
        tables = [draw(design, n_rows, 30_000_000 + 10 * seed + k)[:2] for k in range(2)]
        lost = float(np.mean([auc_lost(name, kept, table, test) for table in tables]))
        lost_by_many = auc_lost(name, kept, draw(design, MANY, 10_000_000 + seed)[:2], test)
    return {
        "kept": len(kept),
        "n_features": X.shape[1],
        "all_that_matter": bool(selector.support_[:n_matter].all()),
        "lost": lost,
        "lost_by_many": lost_by_many,
        "verdict": selector.certificate_.verdict,
    }


DESIGNS = {design.__name__: design for design in (additive, interaction, redundant)}


def line(found, name, metric, n_rows):
    """Return the cells of one line of the table."""
    runs = [run for task, run in found.items() if task[:3] == (name, metric, n_rows)]
    if not runs:
        return None
    kept, matter, lost, many = (np.array([run[key] for run in runs]) for key in COUNTED)
    within, within_many = (int(np.sum(values <= BUDGET)) for values in (lost, many))
    return (
        f"{name}, {n_rows} rows", metric, f"{kept.mean():.1f} of {runs[0]['n_features']}",
        f"{matter.sum()} of {len(runs)}", f"{within} of {len(runs)}",
        f"{lost.mean():.4f} (largest {lost.max():.4f})", f"{within_many} of {len(runs)}",
    )  # fmt: skip


COUNTED = ("kept", "all_that_matter", "lost", "lost_by_many")


def main():
    """Run what is not stored, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100, help="of each design")
    parser.add_argument("--rows", type=int, nargs="+", default=[6000])
    parser.add_argument("--metrics", nargs="+", default=["roc_auc"])
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--seeds", choices=["reporting", "tuning"], default="reporting")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--key", help="go on with the runs of another state of the code")
    given = parser.parse_args()
    first = TUNING_SEEDS if given.seeds == "tuning" else REPORTING_SEEDS
    kinds = [(name, metric, n) for n in given.rows for metric in given.metrics for name in DESIGNS]
    tasks = [(*kind, first + run) for run in range(given.runs) for kind in kinds]
    key = given.key or code_key(__file__)
    found = collect(tasks, one_run, "imbalance", key, given.jobs, given.seconds)
    columns = ("design", "metric", "kept", "all that matter", "within 0.01", "AUC lost")
    heading("Rare classes", *columns, f"within 0.01, models of {MANY:,} rows")
    for kind in kinds:
        if (cells := line(found, *kind)) is not None:
            print_row(*cells)


if __name__ == "__main__":
    main()
