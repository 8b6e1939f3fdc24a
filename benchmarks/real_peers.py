"""FeatureSelector beside other selectors on real tables; ``real_tables.py --peers`` runs it.

    python benchmarks/real_tables.py --store DIR --peers --jobs 1 --deadline 20
    python benchmarks/real_tables.py --store DIR --peers --jobs 1 --methods FeatureSelector --fresh

Runs are stored per table and method: the second line runs ours alone again, and prints all.

The protocol, written before the run; a trial of twelve tables before it added the sentence on names
of rows, and those are run again:

* Tables are those of ``real_tables.py`` in its order, at most 3000 rows of each, the last column is
  the target. 70 % of the rows select, 30 % are fresh; the division is drawn once with seed 0, by
  class where there are classes of two rows or more.
* Half of these tables were used to tune FeatureSelector (those at even places of the list of
  ``pruning.py``), and the alarms for leaks and identifiers were read on the first hundred. The
  README reports the other half; both halves are printed. (The first version of this protocol said
  that nobody had looked at the tables. This was corrected during the run, when ours had ended on
  33 tables, because of what pruning.py says and not because of results.)
* What a target is (classes or numbers) is decided by ``encode_target`` for everybody. Tables are
  left out, and counted, that have fewer than 60 rows with a target, more than 20 classes, a single
  class, or that FeatureSelector refuses.
* Row counters and identifiers (``find_suspects``) are left out for everybody: in a sorted table a
  counter predicts the class of fresh rows, too, and says nothing about others.
* FeatureSelector reads the table as it is, with its defaults and a budget of 0.02 in error rate or
  R². ``likely`` is the same fit with ``at(confidence=0.5)``. The others get text as integer codes,
  gaps as medians, and standardised numbers for linear models. RFECV with a linear model and with
  extra trees (step 0.1, five folds), RFE of extra trees to the fewest columns whose
  cross-validated score is within the budget (added later), SelectFromModel of extra trees,
  SequentialFeatureSelector forward (tol 0.001), Boruta (tentative columns stay), mRMR with k by
  cross-validation of the judge: it alone knows the judge.
* Every method runs in a process of its own with one thread. Seconds are CPU seconds of the
  selection alone, without reading and judging.
* A method that does not end within the deadline (20 CPU seconds, so that all tables take some
  hours) or fails has no result on that table; medians are over the tables that every method that
  is compared finished, and over its own.
* The judge reads text as integer codes, as the others do: a category that ours keeps by its values
  may be worth nothing to it (AER/OECDGas, Stat2Data/Marathon: seen after the run, nothing changed).
* The judge of a table is the model that is best in 5-fold cross-validation with all columns on the
  rows that select: linear, extra trees or boosted trees. It is fitted to the kept columns of those
  rows. The increase is the loss on fresh rows less that of all columns: error rate, or squared
  error in variances of the target.
"""

import json
import os
import resource
import sys
import warnings
from collections import Counter

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

    def __init__(self, X, y, judge=None):
        self.judge_number = judge
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
        self.y_fresh = y[fresh]
        middle = np.nan_to_num(np.nanmedian(codes[select], axis=0))
        self.filled, self.fresh = (
            np.where(np.isnan(c), middle, c) for c in (codes[select], codes[fresh])
        )
        self.codes = self.filled  # a judge that is linear takes no gaps
        self.scaled = StandardScaler().fit_transform(self.filled)

    def models(self):
        kinds = (
            [LogisticRegression, ExtraTreesClassifier, HistGradientBoostingClassifier]
            if self.is_classes
            else [Ridge, ExtraTreesRegressor, HistGradientBoostingRegressor]
        )
        linear = {"max_iter": 1000} if self.is_classes else {}
        return [
            make_pipeline(StandardScaler(), kinds[0](**linear)),
            kinds[1](100, random_state=0),
            kinds[2](random_state=0),
        ]

    def find_judge(self):
        """The number of the model that is best with all columns on the rows that select."""
        worth = [np.mean(cross_val_score(one, self.filled, self.y, cv=5)) for one in self.models()]
        return int(np.nanargmax(worth))

    def judge(self):
        return self.models()[self.judge_number]

    def losses(self, mask):
        if not mask.any():
            constant = np.bincount(self.y).argmax() if self.is_classes else self.y.mean()
            answers = np.full(len(self.y_fresh), constant)
        else:
            answers = self.judge().fit(self.filled[:, mask], self.y).predict(self.fresh[:, mask])
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
    "RFE within the budget": peers.rfe_within,
    "SelectFromModel": from_model,
    "Sequential forward": peers.sequential,
    "Boruta": peers.boruta,
    "mRMR, k by CV": peers.mrmr,
}
LIKELY = "FeatureSelector, likely"


def main(names, options, read_table, every):
    """Run what is not stored yet, table by table and method by method, and print the medians."""
    limit_threads(options.jobs)
    wanted = [m for m in METHODS if m.startswith(tuple(options.methods.split(",")))]
    runs = {}
    for place, name in enumerate(names, 1):
        found = run_table(name, wanted, options, read_table)
        if found is not None:
            runs[name] = found
        print(f"{place:>4} {name:<40} {line_of(found or {})}", file=sys.stderr, flush=True)
    from pruning import NAMED  # which imports the caller of this

    tuned = {*NAMED, *[*NAMED, *every][::2]}
    reported = {name: run for name, run in runs.items() if name not in tuned}
    print_short("tables that nothing was tuned on", reported)
    print_short("tables used for tuning", {n: run for n, run in runs.items() if n in tuned})
    print_medians(runs)
    if options.picture:
        draw(reported, options.picture)


def run_table(name, wanted, options, read_table):
    """Return {method: result} of a table, from the store where it is there; None of no run."""
    folder = options.store / "peers" / name.replace("/", "--")
    settings = f"{options.rows}-{options.jobs}.json"

    def stored(what, repeat, seconds, measure, *arguments):
        path = folder / f"{what.replace(' ', '_')}-{settings}"
        if not options.no_runs and (repeat or not path.exists()):
            folder.mkdir(parents=True, exist_ok=True)
            run = run_within(seconds, measure, name, options, read_table, *arguments)
            path.write_text(json.dumps(run))
        return json.loads(path.read_text()) if path.exists() else None

    # A busy machine takes longer than its CPU time: the deadline of a method is in the latter.
    patience = 20 * options.deadline
    judged = stored("judge", False, patience, prepare)
    if judged is None or "left out" in judged:
        return judged
    if "foreign" in judged:
        return {"left out": f"no judge: {judged['foreign']}"}
    found = {
        method: stored(
            method, options.fresh and method in wanted, patience, measure, method, judged
        )
        for method in METHODS
        if method in wanted or (folder / f"{method.replace(' ', '_')}-{settings}").exists()
    }
    found = {method: run for method, run in found.items() if run is not None}
    return next((run for run in found.values() if "left out" in run), found)


def line_of(found):
    if "left out" in found:
        return f"left out: {found['left out']}"
    return "  ".join(
        f"{method[:12]} {run['kept']}/{run['columns']} {run['seconds']:.1f}s"
        if "kept" in run
        else f"{method[:12]} {run['foreign'][:30]}"
        for method, run in found.items()
    )


def rows_of(name, options, read_table, judge=None):
    """Return the rows of a table, and the columns that name rows and are left out."""
    warnings.simplefilter("ignore")
    X, y = read_table(name, options)
    if len(y) < FEWEST_ROWS:
        raise ValueError("few rows")
    suspects = find_suspects(X, encode(X, y, missing="category"))
    names = [str(one.column) for one in suspects if one.kind in NAMES]
    return RealRows(X.drop(columns=names), y, judge), names


def prepare(name, options, read_table):
    """Find the judge of a table and its loss with all columns; tables left out say why."""
    try:
        rows, names = rows_of(name, options, read_table)
    except (PinskerError, ValueError) as error:
        return {"left out": str(error)}
    rows.judge_number = rows.find_judge()
    everything = rows.losses(np.ones(rows.filled.shape[1], dtype=bool)).mean()
    return {"judge": rows.judge_number, "error": float(everything), "names of rows": names}


def cpu_seconds():
    return sum(os.times()[:4])  # children too


def measure(name, options, read_table, method, judged):
    """Select within the deadline, and judge."""
    rows, names = rows_of(name, options, read_table, judged["judge"])
    if names != judged["names of rows"]:
        return {"foreign": f"other columns name rows: {names}, not {judged['names of rows']}"}
    started = cpu_seconds()
    end = int(started + options.deadline) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))  # ends the process
    try:
        found = METHODS[method](rows, options.jobs)
    except Exception as error:
        refused = isinstance(error, PinskerError) and method == "FeatureSelector"
        return {"left out" if refused else "foreign": f"{type(error).__name__}: {error}"[:200]}
    seconds = cpu_seconds() - started
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY,) * 2)

    def judge(mask):
        mask = np.asarray(mask, dtype=bool)
        return {
            "kept": int(mask.sum()),
            "columns": len(mask),
            "seconds": seconds,
            "increase": float(rows.losses(mask).mean() - judged["error"]),
            "error": judged["error"],
            "task": "classes" if rows.is_classes else "numbers",
        }

    if isinstance(found, np.ndarray):
        return judge(found)
    if not isinstance(found, FeatureSelector):
        return judge(found.get_support())
    run = judge(found.get_support()) | {"verdict": found.certificate_.verdict}
    return run | {"likely": judge(found.at(confidence=0.5).get_support())}


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


def print_short(title, runs):
    """Print the table of the README: tables that every method finished, classes and numbers."""
    found = results_of(runs)
    common = set.intersection(*(set(own) for own in found.values() if own))
    left_out = sum("left out" in run for run in runs.values())
    heading(
        f"{title}: {len(common)} of {len(runs)} that every method finished, {left_out} left out",
        "selector", "columns kept, median", "increase on fresh rows, mean (classes, numbers)",
        f"tables above {BUDGET}", "CPU seconds, median", "no result",
    )  # fmt: skip
    for method, own in found.items():
        rows = [own[name] for name in common if name in own]
        means = [
            f"{np.mean([r['increase'] for r in rows if r['task'] == task]):+.3f}"
            for task in ("classes", "numbers")
        ]
        cells = medians(rows) if rows else None
        if cells is not None:
            failed = sum(_failed(run, method) for run in runs.values())
            print_row(method, cells[1], ", ".join(means), cells[4], cells[5], failed)


def print_medians(runs):
    """Print medians over the tables that every method finished, and over each method's own."""
    found = results_of(runs)
    common = set.intersection(*(set(own) for own in found.values() if own))
    for title, tasks in (
        ("classes and numbers", ("classes", "numbers")),
        ("classes, error rate", ("classes",)),
        ("numbers, squared error in variances of the target", ("numbers",)),
    ):
        for which, only in (("that every method finished", common), ("of each method", None)):
            heading(
                f"{title}: tables {which}",
                "selector", "tables", "columns kept", "increase, median", "mean",
                f"above {BUDGET}", "CPU seconds, median", "90 %",
            )  # fmt: skip
            for method, own in found.items():
                rows = [r for n, r in own.items() if r["task"] in tasks and (not only or n in only)]
                if rows:
                    print_row(method, *medians(rows))
    left_out = Counter(_short(run["left out"]) for run in runs.values() if "left out" in run)
    print(f"\n{len(runs)} tables, {left_out.total()} left out: {dict(left_out.most_common())}")
    for method in METHODS:
        why = Counter(_short(r[method]["foreign"]) for r in runs.values() if _failed(r, method))
        if why:
            print(f"{method}: no result on {why.total()} tables: {dict(why.most_common())}")


def _failed(run, method):
    return "foreign" in run.get(method, {})


def _short(text):
    return "the deadline" if text.endswith("ended with -24") else text[:60]  # SIGXCPU


def medians(rows):
    """Return cells of a row; of the columns kept the median of their shares."""
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
