"""FeatureSelector beside other selectors on real tables; ``real_tables.py --peers`` runs it.

The protocol, written before the first run; the sentence on names of rows was added after twelve
tables, and those are run again:

* Tables are those of ``real_tables.py`` in its order, at most 3000 rows of each, the last column is
  the target. 70 % of the rows select, 30 % are fresh; the division is drawn once with seed 0, by
  class where there are classes of two rows or more. Nobody looked at a table before its run.
* What a target is (classes or numbers) is decided by ``encode_target`` for everybody. Tables are
  left out, and counted, that have fewer than 60 rows with a target, more than 20 classes, a single
  class, or that FeatureSelector refuses.
* Row counters and identifiers (``find_suspects``) are left out for everybody: in a sorted table a
  counter predicts the class of fresh rows, too, and says nothing about others.
* FeatureSelector reads the table as it is, with its defaults and a budget of 0.02 in error rate or
  R². ``likely`` is the same fit with ``at(confidence=0.5)``. The others get text as integer codes,
  gaps as medians, and standardised numbers for linear models. RFECV with a linear model and with
  extra trees (step 0.1, five folds), SelectFromModel of extra trees, SequentialFeatureSelector
  forward (tol 0.001), Boruta (tentative columns stay), mRMR with k by cross-validation.
* A method that does not end in time (``--deadline``) or fails has no result on that table; medians
  are over the tables that every method that is compared finished, and over its own.
* The judge of a table is the model that is best in 5-fold cross-validation with all columns on the
  rows that select: linear, extra trees or boosted trees. It is fitted to the kept columns of those
  rows. The increase is the loss on fresh rows less that of all columns: error rate, or squared
  error in variances of the target.
"""

import json
import sys
import time
import warnings
from functools import cached_property

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import peers
from one_process import limit_threads, run_within
from pinsker import FeatureSelector
from pinsker.encoding import encode, encode_target
from pinsker.exceptions import PinskerError
from pinsker.explain import find_suspects
from tables import heading, print_row

BUDGET, FEWEST_ROWS, MOST_CLASSES = 0.02, 60, 20
#: Kinds of suspects that name rows.
NAMES = ("row counter", "identifier")


class RealRows:
    """A real table, 70 % to select with and 30 % to judge, with what `peers` wants to know."""

    def __init__(self, X, y):
        self.is_classes = encode_target(y).task == "classification"
        y = np.unique(y.astype(str), return_inverse=True)[1] if self.is_classes else y.to_numpy()
        counts = np.bincount(y) if self.is_classes else None
        if counts is not None and (len(counts) < 2 or len(counts) > MOST_CLASSES):
            raise ValueError(f"{len(counts)} classes")
        by_class = y if counts is not None and counts.min() > 1 else None
        split = train_test_split(
            np.arange(len(y)), test_size=0.3, random_state=0, stratify=by_class
        )
        select, fresh = map(np.sort, split)
        codes = peers.numbers_of(X)
        self.metric = "error" if self.is_classes else "r2"
        self.X, self.y = X.iloc[select].reset_index(drop=True), y[select]
        self.codes, self.fresh, self.y_fresh = codes[select], codes[fresh], y[fresh]
        middle = np.nan_to_num(np.nanmedian(self.codes, axis=0))
        self.filled = np.where(np.isnan(self.codes), middle, self.codes)
        self.fresh = np.where(np.isnan(self.fresh), middle, self.fresh)
        self.scaled = StandardScaler().fit_transform(self.filled)

    @cached_property
    def best(self):
        """The model that is best with all columns on the rows that select."""
        kinds = (
            [LogisticRegression, ExtraTreesClassifier, HistGradientBoostingClassifier]
            if self.is_classes
            else [Ridge, ExtraTreesRegressor, HistGradientBoostingRegressor]
        )
        linear = {"max_iter": 1000} if self.is_classes else {}
        models = [
            make_pipeline(StandardScaler(), kinds[0](**linear)),
            kinds[1](100, random_state=0),
            kinds[2](random_state=0),
        ]
        worth = [np.mean(cross_val_score(one, self.filled, self.y, cv=5)) for one in models]
        return models[int(np.argmax(worth))]

    def judge(self):
        return self.best

    def losses(self, mask):
        if not mask.any():
            answers = np.full(len(self.y_fresh), np.bincount(self.y).argmax())
            answers = answers if self.is_classes else np.full(len(self.y_fresh), self.y.mean())
        else:
            answers = self.best.fit(self.filled[:, mask], self.y).predict(self.fresh[:, mask])
        if self.is_classes:
            return (answers != self.y_fresh).astype(float)
        return (answers - self.y_fresh) ** 2 / np.var(self.y_fresh)


def ours(rows, jobs):
    selector = FeatureSelector(BUDGET, metric=rows.metric, n_jobs=jobs, random_state=0)
    return selector.fit(rows.X, rows.y)


def from_model(rows, jobs):
    kind = ExtraTreesClassifier if rows.is_classes else ExtraTreesRegressor
    return SelectFromModel(kind(100, random_state=0, n_jobs=jobs)).fit(rows.filled, rows.y)


METHODS = {
    "FeatureSelector": ours,
    "RFECV, linear": peers.rfecv_linear,
    "RFECV, extra trees": peers.rfecv_trees,
    "SelectFromModel": from_model,
    "Sequential forward": peers.sequential,
    "Boruta": peers.boruta,
    "mRMR, k by CV": peers.mrmr,
}
LIKELY = "FeatureSelector, likely"


def main(names, options, read_table):
    """Run every method on every table that is not stored yet, and print the medians."""
    limit_threads(options.jobs)
    folder = options.store / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    runs = {}
    for place, name in enumerate(names, 1):
        path = folder / f"{name.replace('/', '--')}-{options.rows}-{options.jobs}.json"
        if path.exists() and not options.fresh:
            runs[name] = json.loads(path.read_text())
        elif not options.no_runs:
            runs[name] = measure_all(name, options, read_table)
            path.write_text(json.dumps(runs[name]))
        print(f"{place:>4} {name:<40} {runs.get(name, {}).get('left out', '')}", file=sys.stderr)
    print_medians(runs)
    if options.picture:
        draw(runs, options.picture)


def measure_all(name, options, read_table):
    """Return the result of every method on one table, each in a process of its own."""
    first = run_within(options.deadline, measure, name, "FeatureSelector", options, read_table)
    if "left out" in first:
        return first
    others = {
        method: run_within(options.deadline, measure, name, method, options, read_table)
        for method in METHODS
        if method != "FeatureSelector"
    }
    return {"FeatureSelector": first, **others}


def measure(name, method, options, read_table):
    """Select and judge; tables that are left out say why."""
    warnings.simplefilter("ignore")
    X, y = read_table(name, options)
    if len(y) < FEWEST_ROWS:
        return {"left out": "few rows"}
    try:
        suspects = find_suspects(X, encode(X, y, missing="category"))
        X = X.drop(columns=[one.column for one in suspects if one.kind in NAMES])
        rows = RealRows(X, y)
    except (PinskerError, ValueError) as error:
        return {"left out": str(error)}
    started = time.perf_counter()
    try:
        found = METHODS[method](rows, options.jobs)
    except Exception as error:
        if method == "FeatureSelector":
            return {"left out": f"{type(error).__name__}: {error}"[:200]}
        return {"foreign": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.perf_counter() - started
    everything = rows.losses(np.ones(X.shape[1], dtype=bool)).mean()

    def judged(mask):
        mask = np.asarray(mask, dtype=bool)
        return {
            "kept": int(mask.sum()),
            "columns": len(mask),
            "seconds": seconds,
            "increase": float(rows.losses(mask).mean() - everything),
            "error": float(everything),
            "task": "classes" if rows.is_classes else "numbers",
        }

    if isinstance(found, np.ndarray):
        return judged(found)
    if not isinstance(found, FeatureSelector):
        return judged(found.get_support())
    run = judged(found.get_support()) | {"verdict": found.certificate_.verdict}
    return run | {"likely": judged(found.at(confidence=0.5).get_support())}


def results_of(runs):
    """Return {method: {table: result}}, the likely sets as a method of their own."""
    found = {method: {} for method in ("FeatureSelector", LIKELY, *METHODS)}
    for name, run in runs.items():
        for method, result in run.items():
            if isinstance(result, dict) and "kept" in result:
                found[method][name] = result
                if "likely" in result:
                    found[LIKELY][name] = result["likely"]
    return found


def print_medians(runs):
    """Print medians over the tables that all finished, and over each method's own."""
    found = results_of(runs)
    common = set.intersection(*(set(own) for own in found.values() if own))
    for task in ("classes", "numbers"):
        for title, only in (("that every method finished", common), ("of each method", None)):
            heading(
                f"{task}: tables {title}",
                "selector", "tables", "columns kept", "increase, median", "mean",
                f"above {BUDGET}", "seconds, median", "90 %",
            )  # fmt: skip
            for method, own in found.items():
                rows = [r for n, r in own.items() if r["task"] == task and (not only or n in only)]
                if rows:
                    print_row(method, *medians(rows))
    left_out = [run["left out"] for run in runs.values() if "left out" in run]
    print(f"\n{len(runs)} tables, {len(left_out)} left out: {sorted(set(left_out))}")


def medians(rows):
    share = np.median([r["kept"] / r["columns"] for r in rows])
    increase = np.array([r["increase"] for r in rows])
    seconds = [r["seconds"] for r in rows]
    return (
        len(rows), f"{share:.0%}", f"{np.median(increase):+.4f}", f"{increase.mean():+.4f}",
        f"{np.mean(increase > BUDGET):.0%}", f"{np.median(seconds):.1f}",
        f"{np.quantile(seconds, 0.9):.1f}",
    )  # fmt: skip


def draw(runs, path):
    """Draw the error increase against the share of columns, one dot a table, a panel a method."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    found = {name: own for name, own in results_of(runs).items() if own and name != LIKELY}
    figure, axes = pyplot.subplots(
        2, (len(found) + 1) // 2, figsize=(10, 5), sharex=True, sharey=True, layout="constrained"
    )
    for ax, (method, own) in zip(axes.flat, found.items(), strict=False):
        share = [r["kept"] / r["columns"] for r in own.values()]
        increase = np.clip([r["increase"] for r in own.values()], -0.15, 0.15)
        is_ours = method == "FeatureSelector"
        ax.plot(
            share, increase, "o", markersize=4, alpha=0.6, color="#a8481f" if is_ours else "#2f5d8a"
        )
        ax.axhline(0.0, color="0.6", linewidth=1)
        ax.axhline(BUDGET, color="#a8481f", linewidth=1, linestyle=":")
        ax.plot(np.median(share), np.median(increase), "+", color="black", markersize=14)
        ax.set_title(f"{method} ({len(own)} tables)", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes.flat[len(found) :]:
        ax.set_axis_off()
    figure.supxlabel("share of the columns that is kept", fontsize=9)
    figure.supylabel("error increase on fresh rows", fontsize=9)
    figure.savefig(path, dpi=110)
