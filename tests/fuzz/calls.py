"""The entry points that are called: what a user calls with a table and a target."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor

import pinsker
from pinsker import (
    BackwardElimination,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    KNNSettings,
    LinearSelection,
    ScoreThreshold,
)


def fitted(selector):
    return lambda X, y: selector.fit(X, y)


def n_rows(X):
    """Return how many rows a table has; what has none is refused by the call itself."""
    return X.shape[0] if getattr(X, "shape", ()) else len(X)


def certified(X, y):
    selector = FeatureSelector(0.2, models=["linear"], searches=["relevance"], random_state=0)
    return selector.fit(X, y).certify(X, y)


def audited(X, y):
    selector = LinearSelection(0.2).fit(X, y)
    model = DummyClassifier() if selector.task_ == "classification" else DummyRegressor()
    return pinsker.audit(selector, model, X, y)


def pickled(X, y):
    selector = CriterionSelection("mim", 1).fit(X, y)
    return pickle.loads(pickle.dumps(selector)).transform(X)


def transformed(X, y):
    return BackwardElimination(FeatureCount(1), cv=0).fit(X, y).transform(X)


def weighted(X, y):
    return LinearSelection(0.1).fit(X, y, sample_weight=np.arange(n_rows(X)) % 3)


def grouped(X, y):
    selector = FeatureSelector(0.2, models=["linear"], searches=["linear"], cv=3, random_state=0)
    return selector.fit(X, y, groups=np.arange(n_rows(X)) // 3)


quick = {"models": ["linear"], "random_state": 0}
CALLS = {
    "FeatureSelector": fitted(FeatureSelector(0.1, searches=["backward"], **quick)),
    "FeatureSelector all": fitted(FeatureSelector(0.1, cv=2, random_state=0)),
    "FeatureSelector drop": fitted(FeatureSelector(0.1, missing="drop", cv=2, **quick)),
    "FeatureSelector category": fitted(FeatureSelector(0.1, missing="category", cv=2, **quick)),
    "FeatureSelector auc": fitted(FeatureSelector(0.1, metric="roc_auc", cv=2, **quick)),
    "FeatureSelector criterion": fitted(
        FeatureSelector(0.1, searches=[CriterionSelection("jmi", 2)], cv=2, **quick)
    ),
    "FeatureSelector groups": grouped,
    "BackwardElimination": fitted(BackwardElimination(0.1, cv=0)),
    "BackwardElimination none": fitted(
        BackwardElimination(0.1, cv=0, knn=KNNSettings(scale="none"))
    ),
    "BackwardElimination cv": fitted(BackwardElimination(0.1, cv=3, **quick)),
    "ForwardSelection": fitted(ForwardSelection(0.1, cv=0)),
    "ForwardSelection direct": fitted(
        ForwardSelection(ScoreThreshold(0.01), cv=0, knn=KNNSettings(score="direct"))
    ),
    "ForwardBackwardSelection": fitted(ForwardBackwardSelection(0.1, cv=0)),
    "LinearSelection": fitted(LinearSelection(0.1)),
    "LinearSelection forward": fitted(LinearSelection(ErrorBudget(0.1), direction="forward")),
    "LinearSelection weights": weighted,
    "CriterionSelection mim": fitted(CriterionSelection("mim", 2)),
    "CriterionSelection jmi": fitted(CriterionSelection("jmi", 2)),
    "CriterionSelection cmim": fitted(CriterionSelection("cmim", 2, binning="width")),
    "CriterionSelection mdl": fitted(CriterionSelection("cmi", 2, binning="mdl")),
    "mutual_information": lambda X, y: pinsker.mutual_information(X, y),
    "mutual_information discrete": lambda X, y: pinsker.mutual_information(X, y, method="discrete"),
    "mutual_information gaussian": lambda X, y: pinsker.mutual_information(X, y, method="gaussian"),
    "conditional": lambda X, y: pinsker.conditional_mutual_information(X, y, X),
    "entropy": lambda X, y: pinsker.entropy(X),
    "entropy of y": lambda X, y: pinsker.entropy(y),
    "certify": certified,
    "audit": audited,
    "pickle": pickled,
    "transform": transformed,
}


def call(name, X, y):
    """Call an entry point; a selector is cloned first, so that no call knows of another."""
    function = CALLS[name]
    cells = function.__closure__ or ()
    for cell in cells:
        if hasattr(cell.cell_contents, "get_params"):
            return clone(cell.cell_contents).fit(X, y)
    return function(X, y)


assert len(CALLS) == 30
