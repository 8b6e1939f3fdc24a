"""Other libraries' selectors on the same tables: scikit-learn, Boruta, mRMR.

None of them takes a budget, but for scikit-learn's sequential search backward, whose `tol` is the
loss of score that one removal may bring. The others answer the same for every budget.
"""

import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, SVR

from benchmarks.honesty_methods import BUDGETS, METHODS

#: Backward with more columns takes hours; its time is extrapolated instead (`sequential_seconds`).
_MANY_COLUMNS = 100


def same_for_all(find):
    """Make a method without a budget answer the same for every one."""

    def run(table):
        return [table.columns_of(find(table))] * len(BUDGETS), {}

    return run


def machine(table):
    return SVC() if table.task == "classification" else SVR(C=10.0)


def forest(table, n_trees, **settings):
    kind = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    return kind(n_trees, random_state=0, **settings)


def sequential_backward(table):
    """SequentialFeatureSelector backward, once per budget: a removal may cost that much."""
    if table.numbers.shape[1] >= _MANY_COLUMNS:
        raise NotImplementedError("hours: see sequential_seconds")
    masks = []
    for budget in BUDGETS:
        selector = SequentialFeatureSelector(
            machine(table), n_features_to_select="auto", tol=-budget, direction="backward", cv=5
        )
        masks.append(selector.fit(table.numbers, table.y).get_support())
    return [table.columns_of(mask) for mask in masks], {}


def sequential_forward(table):
    """SequentialFeatureSelector forward, until no column brings a tenth of a point more."""
    selector = SequentialFeatureSelector(
        machine(table), n_features_to_select="auto", tol=1e-3, direction="forward", cv=5
    )
    return selector.fit(table.numbers, table.y).get_support()


def recursive(table):
    """RFECV with a forest, about thirty steps."""
    step = max(1, table.numbers.shape[1] // 30)
    return RFECV(forest(table, 50), step=step, cv=5).fit(table.numbers, table.y).get_support()


def boruta(table):
    """BorutaPy as its documentation shows it; columns it calls tentative stay too."""
    from boruta import BorutaPy

    found = BorutaPy(forest(table, 100, max_depth=5), n_estimators="auto", random_state=0)
    found.fit(table.numbers, table.y)
    mask = found.support_ | found.support_weak_
    return mask if mask.any() else found.ranking_ == found.ranking_.min()


def mrmr(table):
    """mrmr_selection's order, cut where a svm does best in cross-validation."""
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    rank = mrmr_classif if table.task == "classification" else mrmr_regression
    X = pd.DataFrame(table.numbers)
    most = min(X.shape[1], 40)
    order = rank(X=X, y=pd.Series(table.y), K=most, show_progress=False, n_jobs=1)
    sizes = sorted({min(most, s) for s in (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40)})
    worth = [cross_val_score(machine(table), X[order[:s]], table.y, cv=5).mean() for s in sizes]
    mask = np.zeros(X.shape[1], dtype=bool)
    mask[order[: sizes[int(np.argmax(worth))]]] = True
    return mask


def sequential_seconds(table, n_kept):
    """What backward sequential search down to so many columns would take: sets times one fit.

    The cost of a cross-validation is measured at four sizes and interpolated.
    """
    X, d = table.numbers, table.numbers.shape[1]
    sizes = np.unique(np.linspace(max(n_kept, 1), d - 1, 4).astype(int))
    costs = []
    for size in sizes:
        started = time.perf_counter()
        cross_val_score(machine(table), X[:, :size], table.y, cv=5)
        costs.append(time.perf_counter() - started)
    steps = np.arange(max(n_kept, 1), d)
    return float(np.sum((steps + 1) * np.interp(steps, sizes, costs)))


PEERS = {
    "FeatureSelector": METHODS["FeatureSelector"],
    "Sequential backward (tol)": sequential_backward,
    "Sequential forward (tol)": same_for_all(sequential_forward),
    "RFECV": same_for_all(recursive),
    "Boruta": same_for_all(boruta),
    "mRMR with k by CV": same_for_all(mrmr),
}
