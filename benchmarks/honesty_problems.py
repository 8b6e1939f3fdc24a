"""Tables for the benchmark of honesty, each with fresh rows to measure errors on."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.svm import SVC, SVR

from pinsker.datasets import (
    Radial,
    load_allaml,
    load_glass,
    load_orl,
    load_published,
    load_warp_ar10p,
)
from pinsker.encoding import encode_columns
from pinsker.information import ModelDesign
from pinsker.testing import selection_problems

N_FRESH = 8000
LOADED = {
    "glass": load_glass,
    "ORL": load_orl,
    "warpAR10P": load_warp_ar10p,
    "ALLAML": load_allaml,
}
REAL = ("wine", "breast_cancer", "digits", *LOADED)  # the first three ship with scikit-learn


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
        """Both tables as numbers, text columns as indicators; scaled by the first."""
        both = np.vstack([self.X, self.X_fresh])
        columns = encode_columns(both, scale="none")
        return ModelDesign.of(columns, [[j] for j in range(both.shape[1])])

    @property
    def numbers(self):
        return np.asarray(self.design.values[: len(self.y)])

    def columns_of(self, mask):
        """Columns of the table behind a mask of model columns."""
        return np.array([mask[places].any() for places in self.design.places])

    @cached_property
    def error_all(self):
        return self.error(np.ones(self.X.shape[1], dtype=bool))

    @cached_property
    def known_errors(self):
        return {}

    def error(self, mask):
        """Smaller error on fresh rows of a svm and a forest; each set is judged once."""
        key = np.asarray(mask, dtype=bool).tobytes()
        if key not in self.known_errors:
            self.known_errors[key] = self._error(mask)
        return self.known_errors[key]

    def _error(self, mask):
        units, n = np.flatnonzero(mask), len(self.y)
        train = self.design.take(np.arange(n), units)
        test = self.design.take(np.arange(n, n + len(self.y_fresh)), units)
        if self.task == "classification":
            models = [self.machine or SVC(), RandomForestClassifier(100, random_state=0)]
            models = models[:1] if self.machine else models
            return float(
                min(np.mean(m.fit(train, self.y).predict(test) != self.y_fresh) for m in models)
            )
        mean, spread = self.y.mean(), self.y.std()
        models = [SVR(C=10.0), RandomForestRegressor(100, random_state=0)]
        scaled = (self.y - mean) / spread
        wrong = [m.fit(train, scaled).predict(test) * spread + mean - self.y_fresh for m in models]
        return float(min(np.mean(w**2) for w in wrong) / np.var(self.y_fresh))


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
    X_fresh, y_fresh = problem.sample(N_FRESH, seed=2 * seed + 1)
    return Table(X, y, X_fresh, y_fresh, problem.task)


def _paper(seeds):
    """The 50 published problems; fresh rows from the same generator. Seeds choose problems."""
    for k in range(len(load_published())):
        if k in seeds or len(seeds) == 10:
            yield f"paper-{k}", partial(_paper_one, k)


def _paper_one(k):
    X, y, n_useful = load_published()[k]
    fresh = Radial(n_useful, X.shape[1]).sample(N_FRESH, seed=k)
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
