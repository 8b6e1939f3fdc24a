"""Tables for the benchmark of honesty, each with fresh rows to measure errors on."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.svm import SVC, SVR

from experiments.paper_data import (
    load_allaml,
    load_glass,
    load_orl,
    load_published,
    load_warp_ar10p,
)
from pinsker.datasets import Radial
from tests.truths import selection_problems

#: Fresh rows that errors are measured on at first; doubled while a verdict could be chance.
N_FRESH, MOST_FRESH = 8000, 64_000
#: A verdict is beyond chance when the increase is so many standard errors from the budget.
RESOLVED = 3.0
#: From so many rows on boosted trees take the place of the SVM, whose cost is their square.
MANY_ROWS = 5000
LOADED = {
    "glass": load_glass,
    "ORL": load_orl,
    "warpAR10P": load_warp_ar10p,
    "ALLAML": load_allaml,
}
REAL = ("wine", "breast_cancer", "digits", *LOADED)  # the first three ship with scikit-learn


@dataclass
class Increase:
    """What leaving columns out adds to the error, on fresh rows."""

    error_all: float
    error: float
    standard_error: float
    n_fresh: int


@dataclass
class Table:
    """Rows to select with, and fresh rows to judge by."""

    X: np.ndarray
    y: np.ndarray
    X_fresh: np.ndarray
    y_fresh: np.ndarray
    task: str = "classification"
    machine: object = None

    @cached_property
    def design(self):
        """Both tables as numbers, and the places of each column in them.

        Numeric columns are standardised by the rows to select with, others are indicators.
        """
        train, fresh, places = [], [], []
        for column, new in zip(self.X.T, self.X_fresh.T, strict=True):
            if isinstance(column[0], str):
                known = np.unique(column.astype(str))
                blocks = [v.astype(str)[:, None] == known for v in (column, new)]
            else:
                column, new = column.astype(float), new.astype(float)
                scale = column.std() or 1.0
                blocks = [(v[:, None] - column.mean()) / scale for v in (column, new)]
            start = sum(block.shape[1] for block in train)
            places.append(np.arange(start, start + blocks[0].shape[1]))
            train.append(blocks[0])
            fresh.append(blocks[1])
        return np.hstack(train).astype(float), np.hstack(fresh).astype(float), places

    @property
    def numbers(self):
        return self.design[0]

    def columns_of(self, mask):
        """Columns of the table behind a mask of model columns."""
        return np.array([mask[places].any() for places in self.design[2]])

    @property
    def error_all(self):
        return self.error(np.ones(self.X.shape[1], dtype=bool))

    def error(self, mask):
        """Smaller error of the models on the first `N_FRESH` fresh rows."""
        return float(self._judged(mask).losses(N_FRESH).mean(axis=1).min())

    def increase(self, mask, budget):
        """Return the increase on as many fresh rows as tell it from the budget, at most all."""
        n, everything = N_FRESH, np.ones(self.X.shape[1], dtype=bool)
        while True:
            losses = [self._judged(m).losses(n) for m in (everything, mask)]
            best = [one[one.mean(axis=1).argmin()] for one in losses]
            difference = best[1] - best[0]
            spread = float(difference.std() / np.sqrt(len(difference)))
            unclear = abs(difference.mean() - budget) < RESOLVED * spread
            if not unclear or n >= len(self.y_fresh):
                break
            n *= 2
        return Increase(float(best[0].mean()), float(best[1].mean()), spread, len(difference))

    @cached_property
    def _known(self):
        return {}

    def _judged(self, mask):
        """Return the models of a set, fitted once."""
        key = np.asarray(mask, dtype=bool).tobytes()
        if key not in self._known:
            train, fresh, places = self.design
            taken = np.concatenate([[], *(places[j] for j in np.flatnonzero(mask))]).astype(int)
            if len(taken) == 0:  # models take no empty table: a constant says as much
                train, fresh, taken = train[:, :1] * 0.0, fresh[:, :1] * 0.0, np.array([0])
            self._known[key] = Judged(self, train[:, taken], fresh[:, taken])
        return self._known[key]

    def models(self):
        """An SVM and a forest; with many rows boosted trees and a forest."""
        if self.machine is not None:
            return [self.machine]
        many, classes = len(self.y) > MANY_ROWS, self.task == "classification"
        forest = RandomForestClassifier if classes else RandomForestRegressor
        if many:
            boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
            return [boosted(random_state=0), forest(100, min_samples_leaf=5, random_state=0)]
        return [SVC() if classes else SVR(C=10.0), forest(100, random_state=0)]


class Judged:
    """Losses of a table's models on fresh rows, computed as far as they are needed."""

    def __init__(self, table, train, fresh):
        self.table, self.fresh = table, fresh
        y = table.y
        self.shift, self.scale = 0.0, 1.0
        if table.task != "classification":
            self.shift, self.scale = y.mean(), y.std()
            y = (y - self.shift) / self.scale
        self.models = [clone(model).fit(train, y) for model in table.models()]
        self.known = np.empty((len(self.models), 0))

    def losses(self, n):
        """Losses on the first n fresh rows: 0/1, or squared in variances of the target."""
        n, start = min(n, len(self.fresh)), self.known.shape[1]
        if n > start:
            truth, new = self.table.y_fresh[start:n], self.fresh[start:n]
            answers = [model.predict(new) for model in self.models]
            if self.table.task == "classification":
                found = [answer != truth for answer in answers]
            else:
                variance = np.var(self.table.y_fresh)
                found = [
                    (answer * self.scale + self.shift - truth) ** 2 / variance for answer in answers
                ]
            self.known = np.hstack([self.known, np.array(found, dtype=float)])
        return self.known[:, :n]


def draws(table, names, sizes, seeds):
    """Yield a name and a function that draws the table, for every run of a benchmark."""
    wanted = names.split(",") if names else None
    if table == "paper":
        yield from _paper(seeds)
    elif table == "real":
        for name in wanted or REAL:
            for seed in seeds:
                yield f"{name}-{seed}", partial(_real, name, seed)
    else:
        for seed in seeds:
            for n in sizes:
                for name in wanted or selection_problems():
                    yield f"{name}-{n}-{seed}", partial(_generated, name, n, seed)


def _generated(name, n, seed):
    problem = selection_problems()[name]
    X, y = problem.sample(n, seed=2 * seed)
    X_fresh, y_fresh = problem.sample(MOST_FRESH, seed=2 * seed + 1)
    return Table(X, y, X_fresh, y_fresh, problem.task)


def _paper(seeds):
    """The 50 published problems; fresh rows from the same generator. Seeds choose problems."""
    for k in range(len(load_published())):
        if k in seeds or len(seeds) == 10:
            yield f"paper-{k}", partial(_paper_one, k)


def _paper_one(k):
    X, y, n_useful = load_published()[k]
    fresh = Radial(n_useful, X.shape[1]).sample(MOST_FRESH, seed=k)
    return Table(X, y, fresh.X, fresh.y, machine=SVC(C=10.0, gamma="auto"))


def _real(name, seed):
    import sklearn.datasets
    from sklearn.model_selection import train_test_split

    if name in LOADED:
        X, y = LOADED[name]()
    else:
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":  # the whole set is easy: a third of the rows is enough to select with
        X, _, y, _ = train_test_split(X, y, train_size=800, stratify=y, random_state=seed)
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    return Table(parts[0], parts[2], parts[1], parts[3], machine=SVC())
