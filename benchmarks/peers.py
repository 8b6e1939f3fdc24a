"""FeatureSelector beside what people use: seconds, columns kept, error increase on fresh rows.

    pip install -e ".[bench]"
    python benchmarks/peers.py                             everything, some hours on two cores
    python benchmarks/peers.py 500x30 diamonds             some tables
    python benchmarks/peers.py --methods mRMR,Boruta       some methods
    python benchmarks/peers.py --deadline 60 --jobs 1      other limits

Tables are those of `front_door.py`. Every method is given the same rows; text columns are integer
codes for all but FeatureSelector, which reads the table as it is, and standardised for the linear
models. One model judges all: HistGradientBoosting, fitted to the kept columns of these rows, on
fresh rows; the increase is against all columns, in error rate or in 1 - R2.

The methods, as their documentation shows them: RFECV with a linear model (logistic or ridge) and
with ExtraTrees, a tenth of the columns per step; SequentialFeatureSelector forward, until no column
brings a thousandth more; BorutaPy, tentative columns stay; mRMR of mrmr_selection, with k by
cross-validation of the judge. A method that does not end within the deadline is ended.

Runs are stored (``--store``) and not repeated; ``--fresh`` repeats them.
"""

import argparse
import json
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import front_door
from one_process import limit_threads, run_within
from pinsker import FeatureSelector
from tables import heading, print_row

BUDGET = 0.02
RESULTS = Path(__file__).parent / "results" / "peers"
#: Tables, how many of their rows select, and how many fresh rows judge.
TABLES = {
    "500x30": (500, 20_000),
    "3000x100": (3000, 20_000),
    "20000x100": (20_000, 20_000),
    "1000x500": (1000, 20_000),
    "diamonds": (40_000, 13_940),
    "flights": (20_000, 40_000),
}


class Rows:
    """A table to select with and fresh rows, as they come and as numbers."""

    def __init__(self, name):
        n_select, n_fresh = TABLES[name]
        synthetic = name[0].isdigit()
        n_rows, _, n_columns = name.partition("x")
        named = f"{int(n_rows) + n_fresh}x{n_columns}" if synthetic else name
        X, y, self.metric = front_door.load(named)
        self.is_classes = self.metric == "error"
        order = np.arange(len(y)) if synthetic else np.random.default_rng(0).permutation(len(y))
        select, fresh = np.split(order[: n_select + n_fresh], [n_select])
        codes = numbers_of(X)
        self.X = X.iloc[select].reset_index(drop=True) if hasattr(X, "iloc") else X[select]
        self.y, self.y_fresh = y[select], y[fresh]
        self.codes, self.fresh = codes[select], codes[fresh]
        filled = np.where(np.isnan(self.codes), np.nanmedian(self.codes, axis=0), self.codes)
        self.filled = filled  # for those that take no missing values
        self.scaled = StandardScaler().fit_transform(filled)

    def judge(self):
        kind = HistGradientBoostingClassifier if self.is_classes else HistGradientBoostingRegressor
        return kind(random_state=0)

    def losses(self, mask):
        """Loss of the judge on every fresh row: 0/1, or squared in variances of the target."""
        train, fresh = self.codes[:, mask], self.fresh[:, mask]
        if not mask.any():
            train, fresh = self.codes[:, :1] * 0.0, self.fresh[:, :1] * 0.0
        answers = self.judge().fit(train, self.y).predict(fresh)
        if self.is_classes:
            return (answers != self.y_fresh).astype(float)
        return (answers - self.y_fresh) ** 2 / np.var(self.y_fresh)


def numbers_of(X):
    """Return a table as numbers, text columns as codes; missing values stay NaN."""
    if not hasattr(X, "columns"):
        return X
    values = X.copy()
    text = [column for column in X if X[column].dtype.kind not in "biuf"]
    codes = OrdinalEncoder(encoded_missing_value=np.nan)
    values[text] = codes.fit_transform(X[text].astype(object))
    return values.to_numpy(dtype=np.float64)


def ours(rows, jobs):
    selector = FeatureSelector(
        BUDGET, metric=rows.metric, missing="category", n_jobs=jobs, random_state=0
    )
    return selector.fit(rows.X, rows.y).support_


def linear(rows):
    return LogisticRegression(max_iter=1000) if rows.is_classes else Ridge()


def rfecv_linear(rows, jobs):
    found = RFECV(linear(rows), step=0.1, cv=5, n_jobs=jobs)
    return found.fit(rows.scaled, rows.y).support_


def rfecv_trees(rows, jobs):
    kind = ExtraTreesClassifier if rows.is_classes else ExtraTreesRegressor
    found = RFECV(kind(100, random_state=0), step=0.1, cv=5, n_jobs=jobs)
    return found.fit(rows.filled, rows.y).support_


def rfe_within(rows, jobs):
    """Keep the fewest features whose cross-validated score is within the budget of all."""
    kind = ExtraTreesClassifier if rows.is_classes else ExtraTreesRegressor
    found = RFECV(kind(100, random_state=0), step=0.1, cv=5, n_jobs=jobs).fit(rows.filled, rows.y)
    sizes, scores = (found.cv_results_[name] for name in ("n_features", "mean_test_score"))
    size = int(sizes[scores >= scores[np.argmax(sizes)] - BUDGET].min())
    last = RFE(kind(100, random_state=0), n_features_to_select=size, step=0.1)
    return last.fit(rows.filled, rows.y).support_


def sequential(rows, jobs):
    found = SequentialFeatureSelector(
        linear(rows), n_features_to_select="auto", tol=1e-3, cv=5, n_jobs=jobs
    )
    return found.fit(rows.scaled, rows.y).get_support()


def boruta(rows, jobs):
    from boruta import BorutaPy

    kind = RandomForestClassifier if rows.is_classes else RandomForestRegressor
    forest = kind(max_depth=5, n_jobs=jobs, random_state=0)
    found = BorutaPy(forest, n_estimators="auto", random_state=0).fit(rows.filled, rows.y)
    return found.support_ | found.support_weak_


def mrmr(rows, jobs):
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    rank = mrmr_classif if rows.is_classes else mrmr_regression
    n_columns = rows.filled.shape[1]
    most = min(n_columns, 40)
    table, target = pd.DataFrame(rows.filled), pd.Series(rows.y)
    order = rank(X=table, y=target, K=most, show_progress=False, n_jobs=jobs)
    sizes = sorted({min(len(order), s) for s in (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)})
    worth = [cross_val_score(rows.judge(), rows.codes[:, order[:s]], rows.y, cv=5) for s in sizes]
    mask = np.zeros(n_columns, dtype=bool)
    mask[order[: sizes[int(np.argmax(np.mean(worth, axis=1)))]]] = True
    return mask


METHODS = {
    "FeatureSelector": ours,
    "RFECV, linear": rfecv_linear,
    "RFECV, ExtraTrees": rfecv_trees,
    "Sequential forward": sequential,
    "Boruta": boruta,
    "mRMR, k by CV": mrmr,
}


def main():
    options = read_options()
    limit_threads(options.jobs)
    options.store.mkdir(parents=True, exist_ok=True)
    heading(
        f"{options.jobs} threads, budget {BUDGET} for FeatureSelector, {options.deadline:g} s each",
        "table", "selector", "seconds", "kept", "error, all columns", "increase on fresh rows",
    )  # fmt: skip
    for name in options.tables:
        for method in METHODS:
            if any(method.startswith(wanted) for wanted in options.methods.split(",")):
                print_row(name, method, *cells_of(stored(name, method, options)))


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=", ".join(TABLES))
    parser.add_argument("--methods", default="", help="comma-separated beginnings of names")
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds for one method")
    parser.add_argument("--jobs", type=int, default=2, help="threads or processes of a method")
    parser.add_argument("--store", type=Path, default=RESULTS, help="folder for the runs")
    parser.add_argument("--fresh", action="store_true", help="run again what is stored")
    return parser.parse_args()


def stored(name, method, options):
    path = options.store / f"{name}-{method}-{options.jobs}.json"
    if options.fresh or not path.exists():
        run = run_within(options.deadline, measure, name, method, options.jobs)
        path.write_text(json.dumps(run))
    return json.loads(path.read_text())


def measure(name, method, jobs):
    """Select, judge, and return what was found as a dict."""
    warnings.simplefilter("ignore")
    try:
        rows = Rows(name)
        started = time.perf_counter()
        mask = np.asarray(METHODS[method](rows, jobs), dtype=bool)
        seconds = time.perf_counter() - started
        everything = rows.losses(np.ones(len(mask), dtype=bool))
        difference = rows.losses(mask) - everything
    except Exception as error:
        return {"foreign": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    return {
        "seconds": seconds,
        "columns": len(mask),
        "kept": np.flatnonzero(mask).tolist(),
        "error_all": float(everything.mean()),
        "increase": float(difference.mean()),
        "standard_error": float(difference.std() / np.sqrt(len(difference))),
    }


def cells_of(run):
    if "foreign" in run:
        if "trace" in run:
            print(run["trace"], file=sys.stderr)
        return run["foreign"], "", "", ""
    return (
        f"{run['seconds']:.1f}",
        f"{len(run['kept'])} of {run['columns']}",
        f"{run['error_all']:.3f}",
        f"{run['increase']:+.3f} ± {run['standard_error']:.3f}",
    )


if __name__ == "__main__":
    main()
