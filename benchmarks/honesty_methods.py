"""The selectors that are compared: from a table to one set of columns per budget."""

import numpy as np

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection

BUDGETS = (0.02, 0.05, 0.1, 0.2)


def ours(make):
    """Fit once at the default budget; the others are read off without fitting again."""

    def run(table):
        selector = make(task=table.task).fit(table.X, table.y)
        masks = [selector.support_at(error_budget=budget) for budget in BUDGETS]
        certificate = selector.certificate_
        return masks, {"verdict": getattr(certificate, "verdict", "")}

    return run


METHODS = {
    "FeatureSelector": ours(FeatureSelector),
    "BackwardElimination": ours(lambda **k: BackwardElimination(folds=5, **k)),
    "ForwardSelection": ours(lambda **k: ForwardSelection(folds=5, **k)),
    "Backward path alone": ours(BackwardElimination),
}


def same_for_all(find):
    """Make a method without a budget answer the same for every one."""

    def run(table):
        return [find(table)] * len(BUDGETS), {}

    return run


def _machine(table):
    from sklearn.svm import SVC, SVR

    return SVC() if table.task == "classification" else SVR(C=10.0)


def sequential(table):
    """scikit-learn's SequentialFeatureSelector, once per budget: its tol is the budget."""
    from sklearn.feature_selection import SequentialFeatureSelector

    masks = []
    for budget in BUDGETS:
        selector = SequentialFeatureSelector(
            _machine(table),
            n_features_to_select="auto",
            tol=-budget / 2,
            direction="backward",
            cv=5,
        )
        masks.append(selector.fit(table.numbers, table.y).get_support())
    return [table.columns_of(mask) for mask in masks], {}


def sequential_forward(table):
    """The same, forward, with the smallest useful gain; one set for all budgets."""
    from sklearn.feature_selection import SequentialFeatureSelector

    selector = SequentialFeatureSelector(
        _machine(table), n_features_to_select="auto", tol=1e-3, direction="forward", cv=5
    )
    return table.columns_of(selector.fit(table.numbers, table.y).get_support())


def recursive(table):
    """scikit-learn's RFECV with a forest."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.feature_selection import RFECV

    forest = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    step = max(1, table.numbers.shape[1] // 30)
    model = forest(50, random_state=0)
    return table.columns_of(RFECV(model, step=step, cv=5).fit(table.numbers, table.y).get_support())


def boruta(table):
    """Boruta in its plain form: columns that beat the best shuffled copy often enough."""
    from scipy.stats import binom
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    rng = np.random.default_rng(0)
    X, rounds = table.numbers, 20
    hits = np.zeros(X.shape[1])
    for round_ in range(rounds):
        shadow = rng.permuted(X, axis=0)
        model = forest(100, max_depth=7, random_state=round_).fit(np.hstack([X, shadow]), table.y)
        worth = model.feature_importances_
        hits += worth[: X.shape[1]] > worth[X.shape[1] :].max()
    mask = hits >= binom.isf(0.05, rounds, 0.5)
    if not mask.any():
        mask[hits.argmax()] = True
    return table.columns_of(mask)


def mrmr(table):
    """Most relevant, least redundant (F statistic over correlation), k by cross-validation."""
    from sklearn.feature_selection import f_classif, f_regression
    from sklearn.model_selection import cross_val_score

    X, y = table.numbers, table.y
    score = f_classif if table.task == "classification" else f_regression
    relevance = np.nan_to_num(score(X, y)[0])
    likeness = np.abs(np.nan_to_num(np.corrcoef(X.T)))
    order = [int(relevance.argmax())]
    while len(order) < min(X.shape[1], 40):
        rest = [j for j in range(X.shape[1]) if j not in order]
        worth = relevance[rest] / np.maximum(likeness[np.ix_(rest, order)].mean(axis=1), 1e-3)
        order.append(rest[int(worth.argmax())])
    sizes = sorted({min(len(order), s) for s in (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40)})
    worth = [cross_val_score(_machine(table), X[:, order[:s]], y, cv=5).mean() for s in sizes]
    mask = np.zeros(X.shape[1], dtype=bool)
    mask[order[: sizes[int(np.argmax(worth))]]] = True
    return table.columns_of(mask)


PEERS = {
    "FeatureSelector": METHODS["FeatureSelector"],
    "Sequential backward (tol)": sequential,
    "Sequential forward": same_for_all(sequential_forward),
    "RFECV": same_for_all(recursive),
    "Boruta": same_for_all(boruta),
    "mRMR": same_for_all(mrmr),
}
