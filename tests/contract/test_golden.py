"""The golden file of the front door: what `FeatureSelector` and its neighbors return today.

A refactoring changes no number here. Every case is made by NumPy alone with fixed seeds, and uses
nothing but the public API, so that modules may move. Stored are figures, verdicts, labels and names
of features; sentences are not, since they may be written anew.

A change of behaviour rewrites the file in a commit of its own that says why::

    python tests/contract/test_golden.py --write

Without ``--write`` all cases are compared and their durations printed; ``--jobs 2`` fits them with
two workers, which must change nothing. Figures agree to 1e-9, relative or absolute.
"""

import argparse
import dataclasses
import io
import json
import math
import pickle
import re
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pinsker import (
    BackwardElimination,
    CostMatrix,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardBackwardSelection,
    LinearSelection,
    SelectionPath,
    WorstTarget,
    audit,
)
from pinsker.cli import main

GOLDEN = Path(__file__).parent / "golden" / "front_door.json"
RELATIVE = ABSOLUTE = 1e-9
#: One search and one model, where the case is about something else.
FAST = {"searches": ["linear"], "models": ["linear"]}
#: Columns of `cv_results_` that are stored.
RESULTS = "search", "n_features", "error", "increase_upper", "lost_upper", "cost"
#: Words that are stored of a certificate or an audit.
WORDS = "verdict", "label", "features", "saved_features"
#: Cases by name: functions of the number of workers.
CASES = {}
#: Those that take longest, and whose regime another case has.
SLOW = {
    "numbers, 1500 rows",
    "numbers, 3000 rows",
    "sample weights and row groups, numbers of 5200 rows",
    "importance, substitutes and alternatives of classes",
}
#: Those that two workers fit in every run of the tests: searches in folds, and rows in parts.
PARALLEL = "2 classes, 300 rows", "2 classes, 5500 rows, certify", "row groups"


def case(name):
    """Name a case."""

    def add(function):
        assert name not in CASES
        CASES[name] = function
        return function

    return add


# Tables.


def classes(n=300, p=5, seed=0, cuts=(0.0,)):
    """Return columns of which the first two decide the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n), cuts)


def numbers(n=300, p=5, seed=0):
    """Return columns of which the first two decide the number, one of them by its square."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def linear_numbers(n=300, seed=0):
    """Return a frame in which ``like_a`` can replace ``a``."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    X = pd.DataFrame(Z, columns=["a", "b", "c"])
    X["like_a"] = Z[:, 0] + 0.1 * rng.normal(size=n)
    X["noise"] = rng.normal(size=n)
    return X, Z @ [1.0, 0.7, 0.5] + 0.3 * rng.normal(size=n)


def mixed(n=240, seed=0):
    """Return a frame of numbers, texts, booleans and counts, a class and a number."""
    rng = np.random.default_rng(seed)
    number, color = rng.normal(size=n), rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame(
        {
            "number": number, "color": color, "flag": rng.random(n) < 0.4,
            "count": rng.poisson(3, n), "city": rng.choice(list("abcdef"), n),
        }
    )  # fmt: skip
    hit = (number > 0) ^ (color == "red")
    value = number + (color == "blue") + 0.2 * rng.normal(size=n)
    return frame, np.where(hit, "yes", "no"), value


def with_gaps(X, seed=0, share=0.1):
    """Return the table with missing values."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def two_targets(n=300, seed=0):
    """Return targets of which the second needs one more column than the first."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(n, 5)), rng.normal(size=(n, 2))
    price = X[:, 0] + 0.5 * noise[:, 0]
    return X, np.column_stack([price, 1000 * (X[:, 0] + 0.5 * X[:, 1] + 0.5 * noise[:, 1])])


def labels(n=300, seed=0):
    """Return three labels of 0 and 1, with a column for each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > [0.0, 0.5, 0.8]).astype(int)


def censored(n=240, seed=0):
    """Return times of which a third is censored; the first two columns raise the hazard."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    days = rng.exponential(np.exp(-1.5 * X[:, 0] - 1.5 * X[:, 1]))
    until = rng.exponential(2.0, size=n)
    y = np.empty(n, dtype=[("died", bool), ("days", float)])
    y["died"], y["days"] = days <= until, np.minimum(days, until)
    return X, y


def patients(n_groups=80, size=5, seed=0):
    """Return rows of patients: the first column names the patient, the second shows the class."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_groups), size)
    ill = rng.random(n_groups) < 0.5
    n = len(patient)
    X = np.column_stack(
        [
            rng.normal(size=n_groups)[patient] + 0.01 * rng.normal(size=n),
            ill[patient] + 0.45 * rng.normal(size=n),
            rng.normal(size=n),
        ]
    )
    return X, ill[patient].astype(int), patient


def series(n=400, seed=0):
    """Return rows in order of time: a level that wanders, and a sensor that shows it."""
    rng = np.random.default_rng(seed)
    level = np.sin(np.arange(n) / 30) + np.cumsum(rng.normal(size=n)) / 40
    X = np.column_stack([level + 0.3 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)])
    return X, level + X[:, 1] + 0.2 * rng.normal(size=n)


class Risk(BaseEstimator):
    """A survival model of a user: ridge on the logarithm of the time."""

    def fit(self, X, y):
        self.model_ = Ridge().fit(X, -np.log(y["days"] + 0.1))
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_survival_function(self, X):
        return [Curve(risk) for risk in self.predict(X)]


class Curve:
    """An exponential survival curve."""

    def __init__(self, risk):
        self.x, self.risk = np.array([0.5, 1.0, 2.0]), risk

    def __call__(self, x):
        return np.exp(-x * np.exp(self.risk))


# What is stored.


def plain(value):
    """Return what JSON can hold; what is not a finite number becomes text."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def figures(record):
    """Return numbers, verdict, label and names of a certificate or an audit, without sentences."""
    record = record if isinstance(record, dict) else record.to_dict()
    return {
        name: value
        for name, value in record.items()
        if name in WORDS or value is None or isinstance(value, int | float)
    }


def worth(importance):
    """Return the figures of an importance."""
    fields = "features", "kept", "value", "lower", "upper", "confidence", "n_rows"
    return importance and {name: getattr(importance, name) for name in fields}


def agreement(stability):
    """Return the figures of a stability."""
    fields = "value", "lower", "upper", "frequency"
    return stability and {name: getattr(stability, name) for name in fields}


def state(selector):
    """Return what a fit found."""
    path = selector.path_
    found = {
        "support": np.flatnonzero(selector.support_),
        "kept": selector.get_feature_names_out(),
        "ranking": selector.ranking_,
        "order": path.order,
        "information": path.information,
        "certificate": figures(selector.certificate_),
    }
    if getattr(selector, "cv_results_", None):
        found["results"] = {name: selector.cv_results_[name] for name in RESULTS}
    if getattr(selector, "stability_", None) is not None:
        found["stability"] = agreement(selector.stability_)
    if getattr(selector, "importance_", None) is not None:
        found["importance"] = worth(selector.importance_)
    return found


def fit(table, budget=0.05, *, jobs, fit_params=None, **settings):
    """Fit the front door."""
    selector = FeatureSelector(budget, n_jobs=jobs, random_state=0, **settings)
    return selector.fit(*table, **(fit_params or {}))


def supports(selector, budgets=(0.0, 0.02, 0.1, 0.3), sizes=(1, 2)):
    """Return the sets of other budgets and sizes."""
    found = [np.flatnonzero(selector.support_at(error_budget=budget)) for budget in budgets]
    return found + [np.flatnonzero(selector.support_at(n_features=size)) for size in sizes]


# Rows: fewer than 1000, 1000 to 2000, to 5000, more.


@case("2 classes, 300 rows")
def _(jobs):
    selector = fit(classes(), jobs=jobs)
    at = [figures(selector.certificate_at(error_budget=budget)) for budget in (0.02, 0.2)]
    return {**state(selector), "supports": supports(selector), "at": at}


@case("3 classes, 400 rows, certify")
def _(jobs):
    selector = fit(classes(400, cuts=(-0.6, 0.6)), 0.06, jobs=jobs)
    fresh = classes(300, seed=1, cuts=(-0.6, 0.6))
    return {**state(selector), "certify": figures(selector.certify(*fresh))}


@case("numbers, 300 rows, certify")
def _(jobs):
    selector = fit(numbers(), 0.1, jobs=jobs)
    return {**state(selector), "certify": figures(selector.certify(*numbers(250, seed=1)))}


@case("2 classes, 1200 rows")
def _(jobs):
    return state(fit(classes(1200, 4), jobs=jobs))


@case("3 classes, 1100 rows, two searches")
def _(jobs):
    table = classes(1100, 4, cuts=(-0.6, 0.6))
    return state(fit(table, jobs=jobs, searches=["forward-backward", "jmi"], models=["linear"]))


@case("numbers, 1500 rows")
def _(jobs):
    return state(fit(numbers(1500, 4), jobs=jobs))


@case("2 classes, 2500 rows")
def _(jobs):
    selector = fit(classes(2500, 4), 0.02, jobs=jobs)
    return {**state(selector), "supports": supports(selector)}


@case("numbers, 3000 rows")
def _(jobs):
    return state(fit(numbers(3000, 4), 0.1, jobs=jobs))


@case("2 classes, 5500 rows, certify")
def _(jobs):
    selector = fit(classes(5500, 4), 0.03, jobs=jobs)
    certificate = selector.certify(*classes(1000, 4, seed=1))
    return {**state(selector), "supports": supports(selector), "certify": figures(certificate)}


@case("numbers, 6000 rows")
def _(jobs):
    return state(fit(numbers(6000, 4), 0.1, jobs=jobs))


@case("wide, 100 rows of 60 columns")
def _(jobs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 60))
    y = (X[:, 3] + X[:, 7] + 0.3 * rng.normal(size=100) > 0).astype(int)
    searches = ["relevance", "linear", "pairs", "cmim"]
    return state(fit((X, y), 0.1, jobs=jobs, searches=searches, models=["extra trees"]))


# Targets.


@case("several targets, mean")
def _(jobs):
    return state(fit(two_targets(), 0.12, jobs=jobs))


@case("several targets, the worst one, certify and audit")
def _(jobs):
    selector = fit(two_targets(), 0.12, jobs=jobs, metric=WorstTarget("r2"), models=["linear"])
    fresh = two_targets(200, seed=1)
    return {
        **state(selector),
        "certify": figures(selector.certify(*fresh)),
        "audit": figures(audit(selector, Ridge(), *fresh)),
    }


@case("multilabel, error rate")
def _(jobs):
    return state(fit(labels(), jobs=jobs, models=["linear"]))


@case("multilabel, the worst AUC, audit")
def _(jobs):
    selector = fit(labels(), jobs=jobs, metric="worst roc_auc", **FAST)
    fresh = labels(200, seed=1)
    return {**state(selector), "audit": figures(audit(selector, LogisticRegression(), *fresh))}


@case("survival, concordance, certify and audit")
def _(jobs):
    selector = fit(censored(), 0.1, jobs=jobs, models=[Risk()])
    fresh = censored(200, seed=1)
    return {
        **state(selector),
        "certify": figures(selector.certify(*fresh)),
        "audit": figures(audit(selector, Risk(), *fresh)),
    }


@case("survival, integrated Brier score")
def _(jobs):
    settings = {"metric": "integrated_brier", "models": [Risk()], "searches": ["linear"]}
    return state(fit(censored(), jobs=jobs, **settings))


# Rows that are not alike.


@case("row groups")
def _(jobs):
    X, y, groups = patients()
    selector = fit((X, y), 0.1, jobs=jobs, fit_params={"groups": groups})
    X, y, groups = patients(60, seed=1)
    certificate = selector.certify(X, y, groups=groups)
    return {**state(selector), "certify": figures(certificate)}


@case("row groups, 5500 rows")
def _(jobs):
    X, y, groups = patients(1100)
    return state(fit((X, y), 0.1, jobs=jobs, fit_params={"groups": groups}, models=["linear"]))


@case("sample weights, certify and importance")
def _(jobs):
    X, y = classes()
    weights = np.random.default_rng(5).integers(0, 4, size=len(y))
    selector = fit((X, y), 0.08, jobs=jobs, fit_params={"sample_weight": weights})
    fresh = classes(seed=1)
    certificate = selector.certify(*fresh, sample_weight=weights)
    importance = selector.importance(*fresh, sample_weight=weights)
    return {
        **state(selector),
        "certify": figures(certificate),
        "fresh importance": worth(importance),
    }


@case("sample weights and row groups, numbers of 5200 rows")
def _(jobs):
    X, y = numbers(5200, 4)
    rng = np.random.default_rng(5)
    params = {"sample_weight": rng.random(5200), "groups": np.arange(5200) // 4}
    return state(fit((X, y), 0.2, jobs=jobs, fit_params=params))


@case("time series")
def _(jobs):
    return state(fit(series(), 0.1, jobs=jobs, cv=TimeSeriesSplit(), models=["linear"]))


@case("time series, 5200 rows")
def _(jobs):
    return state(fit(series(5200), 0.1, jobs=jobs, cv=TimeSeriesSplit(), **FAST))


# Columns.


@case("feature costs")
def _(jobs):
    costs = {"a": 100, ("b", "c"): 3, "like_a": 2, "noise": 1}
    selector = fit(linear_numbers(), 0.1, jobs=jobs, feature_costs=costs, models=["linear"])
    front = [(point.features, point.cost, point.increase) for point in selector.front_]
    return {**state(selector), "front": front, "supports": supports(selector, sizes=())}


@case("sparse table")
def _(jobs):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(300, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300) > 0.5).astype(int)
    return state(fit((sparse.csr_array(X), y), jobs=jobs, models=["linear"]))


@case("Dask table")
def _(jobs):
    dd = pytest.importorskip("dask.dataframe")
    X, y = classes(260, 4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    return state(fit((dd.from_pandas(frame, npartitions=3), "y"), jobs=jobs, **FAST))


@case("feature groups and fixed features")
def _(jobs):
    groups = {"first": [0, 1], "rest": [3, 4]}
    settings = {"feature_groups": groups, "fixed_features": [2]}
    return state(fit(classes(), jobs=jobs, **settings, models=["linear", "extra trees"]))


@case("fixed features by name")
def _(jobs):
    return state(fit(linear_numbers(), 0.1, jobs=jobs, fixed_features=["a", "noise"], **FAST))


@case("missing values")
def _(jobs):
    X, y = classes()
    return state(fit((with_gaps(X), y), 0.1, jobs=jobs))


@case("missing values, rows dropped")
def _(jobs):
    X, y = numbers(400, 4)
    return state(fit((with_gaps(X), y), 0.1, jobs=jobs, missing="drop", models=["linear"]))


@case("missing values, 5200 rows")
def _(jobs):
    X, y = classes(5200, 4)
    return state(fit((with_gaps(X), y), jobs=jobs, models=["linear"]))


@case("mixed frame with text, classes")
def _(jobs):
    X, y, _value = mixed()
    return state(fit((X, y), 0.1, jobs=jobs))


@case("mixed frame with text, numbers and gaps")
def _(jobs):
    X, _hit, y = mixed()
    X = X.assign(color=X["color"].where(X.index % 7 > 0), number=X["number"].where(X.index % 9 > 0))
    return state(fit((X, y), 0.1, jobs=jobs, models=["linear", "boosted trees"]))


@case("suspects dropped")
def _(jobs):
    X, y = linear_numbers()
    X.insert(0, "id", np.arange(len(X)) + 17)
    return state(fit((X, y), 0.1, jobs=jobs, suspects="drop", **FAST))


# Metrics, rules, models, searches and folds.


@case("AUC, audit")
def _(jobs):
    selector = fit(classes(cuts=(1.0,)), 0.03, jobs=jobs, metric="roc_auc", models=["linear"])
    fresh = classes(seed=1, cuts=(1.0,))
    return {**state(selector), "audit": figures(audit(selector, LogisticRegression(), *fresh))}


@case("relative budget of AUC")
def _(jobs):
    rule = ErrorBudget(0.2, metric="roc_auc", relative=True)
    return state(fit(classes(), rule, jobs=jobs, **FAST))


@case("log-loss")
def _(jobs):
    return state(fit(classes(), 0.1, jobs=jobs, metric="log-loss"))


@case("squared error")
def _(jobs):
    return state(fit(numbers(), 0.2, jobs=jobs, metric="mse", models=["linear", "svm"]))


@case("cost matrix, audit by folds")
def _(jobs):
    metric = CostMatrix([[0, 1], [5, 0]])
    selector = fit(classes(), 0.2, jobs=jobs, metric=metric, **FAST)
    result = audit(selector, LogisticRegression(), *classes(200, seed=1), cv=3)
    return {**state(selector), "audit": figures(result)}


@case("model of a user, audit")
def _(jobs):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    selector = fit(classes(), jobs=jobs, models=[model])
    X, y = classes(seed=1)
    result = audit(selector, model, X[:100], y[:100], X_train=X[100:], y_train=y[100:])
    return {**state(selector), "audit": figures(result)}


@case("number of features as the rule")
def _(jobs):
    return state(fit(numbers(), FeatureCount(3), jobs=jobs, models=["linear"]))


@case("searches by name")
def _(jobs):
    searches = ["forward", "backward", "relevance", "jmi", "cmim"]
    return state(fit(numbers(seed=3), 0.2, jobs=jobs, searches=searches, models=["extra trees"]))


@case("no rows held out")
def _(jobs):
    return state(fit(classes(), jobs=jobs, cv=0))


@case("folds of a splitter")
def _(jobs):
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    return state(fit(classes(), jobs=jobs, cv=splitter, models=["linear"]))


# Budgets that are not met.


@case("too few rows for the budget")
def _(jobs):
    selector = fit(classes(90), 0.001, jobs=jobs, **FAST)
    return {**state(selector), "certify": figures(selector.certify(*classes(60, seed=1)))}


@case("fresh rows of another kind")
def _(jobs):
    selector = fit(numbers(), 0.3, jobs=jobs, searches=["forward"], models=["extra trees"])
    X, y = numbers(400, seed=1)
    y = y + 2 * np.where(selector.support_, 0, X).sum(axis=1)
    certificate, result = selector.certify(X, y), audit(selector, Ridge(), X, y)
    return {**state(selector), "certify": figures(certificate), "audit": figures(result)}


# Questions, and what is saved.


@case("importance, substitutes and alternatives")
def _(jobs):
    selector = fit(linear_numbers(), 0.1, jobs=jobs, fixed_features=["a"], **FAST)
    fresh = linear_numbers(500, seed=1)
    others = selector.alternatives(*fresh, max_overlap=0.7)
    return {
        **state(selector),
        "fresh importance": worth(selector.importance(*fresh)),
        "substitutes": [dataclasses.asdict(one) for one in selector.substitutes(*fresh)],
        "alternatives": [dataclasses.asdict(one) for one in others],
    }


@case("importance, substitutes and alternatives of classes")
def _(jobs):
    selector = fit(classes(), 0.1, jobs=jobs, models=["linear"])
    fresh = classes(400, seed=1)
    return {
        "fresh importance": worth(selector.importance(*fresh)),
        "substitutes": [dataclasses.asdict(one) for one in selector.substitutes(*fresh)],
        "alternatives": [dataclasses.asdict(one) for one in selector.alternatives(*fresh)],
    }


@case("stability on halves of the rows")
def _(jobs):
    selector = fit(linear_numbers(), 0.1, jobs=jobs, **FAST)
    return {"stability": agreement(selector.stability(*linear_numbers(), n=6))}


@case("a pickle certifies, and keeps what was certified")
def _(jobs):
    selector = pickle.loads(pickle.dumps(fit(classes(), 0.1, jobs=jobs, **FAST)))
    certificate = selector.certify(*classes(400, seed=1))
    return {
        **state(selector),
        "supports": supports(selector),
        "certify": figures(certificate),
        "certified": state(selector.with_certified(certificate)),
    }


@case("a path read back")
def _(jobs):
    path = SelectionPath.from_json(fit(numbers(), jobs=jobs, **FAST).path_.to_json())
    sets = [sorted(path.set_at(size)) for size in path.sizes]
    return {"order": path.order, "information": path.information, "sets": sets}


# Other selectors.


@case("backward elimination, evaluated and certified")
def _(jobs):
    selector = BackwardElimination(0.1, cv=5, n_jobs=jobs, random_state=0).fit(*classes())
    return {**state(selector), "certify": figures(selector.certify(*classes(seed=1)))}


@case("forward-backward selection of numbers")
def _(jobs):
    return state(ForwardBackwardSelection(n_jobs=jobs, random_state=0).fit(*numbers()))


@case("linear selection")
def _(jobs):
    del jobs  # it has none
    return state(LinearSelection(0.1, direction="forward").fit(*linear_numbers()))


@case("criterion selection")
def _(jobs):
    X, y, _value = mixed()
    return state(CriterionSelection("jmi", n_features_to_select=3, n_jobs=jobs).fit(X, y))


# The command.


def command(*arguments):
    """Run the command in this process, and return its exit code and what it printed."""
    out = io.StringIO()
    with (
        patch.object(sys, "argv", ["pinsker", *(str(argument) for argument in arguments)]),
        redirect_stdout(out),
        redirect_stderr(io.StringIO()),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return left.value.code, out.getvalue()


def saved_figures(text):
    """Return what a saved selection holds, without sentences, times and paths of files."""
    saved = json.loads(text)
    path = {name: saved["path"][name] for name in ("names", "moves", "scores", "information")}
    importance = saved["importance"]
    fields = "features", "kept", "value", "lower", "upper", "confidence", "n_rows"
    return {
        "kept": saved["kept"],
        "ranking": saved["ranking"],
        "path": path,
        "certificate": figures(saved["certificate"]),
        "stability": saved["stability"],
        "importance": importance and {name: importance[name] for name in fields},
    }


def run_commands(jobs, table, fresh, target, *options, model="linear"):
    """Select, certify and audit, and return the exit codes and the figures that they write."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        table.to_csv(here / "table.csv", index=False)
        fresh.to_csv(here / "fresh.csv", index=False)
        asked = ("-t", target, *options, "--jobs", jobs, "--json", here / "saved.json", "-q")
        codes = [command("select", here / "table.csv", *asked)[0]]
        found = {"select": saved_figures((here / "saved.json").read_text())}
        for name, more in ("certify", ()), ("audit", ("--model", model)):
            tested = here / "saved.json", here / "fresh.csv"
            code, text = command(name, *tested, *more, "--json", "-", "-q")
            codes.append(code)
            found[name] = figures(json.loads(text))
    return {"codes": codes, **found}


@case("command: select, certify and audit a mixed table")
def _(jobs):
    tables = []
    for seed in (0, 1):
        X, y, _value = mixed(260, seed)
        tables.append(X.assign(hit=y))
    options = ("-e", "0.1", "--searches", "forward-backward", "--models", "extra trees")
    return run_commands(jobs, *tables, "hit", *options)


@case("command: select, certify and audit numbers, backward")
def _(jobs):
    tables = [X.assign(y=y) for X, y in (linear_numbers(seed=seed) for seed in (0, 1))]
    return run_commands(jobs, *tables, "y", "-e", "0.1", "-d", "backward")


@case("command: inspect")
def _(jobs):
    del jobs  # it has none
    X, y, _value = mixed(120)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        X.assign(flat=1.0, hit=y).to_csv(path, index=False)
        code, text = command("inspect", path, "-t", "hit", "-d", "linear")
    rows = (re.match(r"  (\w+) +([a-z]+) +(\d+)\b", line) for line in text.splitlines())
    columns = {row[1]: [row[2], int(row[3])] for row in rows if row and row[1] in {*X, "flat"}}
    return {"code": code, "columns": columns}


# The comparison.


def run_case(name, jobs=1):
    """Return what a case finds, as JSON holds it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps(plain(CASES[name](jobs))))


def differences(found, wanted, where=""):
    """Yield where two records differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in sorted({*found, *wanted}):
            if name not in found or name not in wanted:
                yield f"{where}/{name}: {'missing' if name in wanted else 'new'}"
            else:
                yield from differences(found[name], wanted[name], f"{where}/{name}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for place, pair in enumerate(zip(found, wanted, strict=True)):
            yield from differences(*pair, f"{where}/{place}")
    elif not _is_same(found, wanted):
        yield f"{where}: {found!r} instead of {wanted!r}"


def _is_same(found, wanted):
    numbers_both = all(type(one) in {int, float} for one in (found, wanted))
    if numbers_both:
        return math.isclose(found, wanted, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(found) is type(wanted) and found == wanted


def stored():
    return json.loads(GOLDEN.read_text())


def test_the_golden_file_has_these_cases():
    assert sorted(stored()) == sorted(CASES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]
)
def test_the_results_are_those_of_the_golden_file(name):
    assert not list(differences(run_case(name), stored()[name]))


@pytest.mark.parametrize("name", PARALLEL)
def test_two_workers_change_nothing(name):
    assert not list(differences(run_case(name, jobs=2), stored()[name]))


def _lines(record):
    """Return JSON text with one line for each part of a case: a diff shows what changed."""
    blocks = []
    for name in sorted(record):
        parts = (f"  {json.dumps(key)}: {json.dumps(part)}" for key, part in record[name].items())
        blocks.append(f"{json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n }")
    return "{\n " + ",\n ".join(blocks) + "\n}\n"


def _run():
    parser = argparse.ArgumentParser(description="Compare the golden file, or write it.")
    parser.add_argument("--write", action="store_true", help="write the file anew")
    parser.add_argument("--jobs", type=int, default=1, help="workers of each fit")
    parser.add_argument("names", nargs="*", help="only these cases")
    asked = parser.parse_args()
    if asked.write and asked.names:
        parser.error("--write writes all cases")
    wanted = {} if asked.write else stored()
    found, failed, total, say = {}, 0, 0.0, sys.stdout.write
    for name in asked.names or CASES:
        began = time.perf_counter()
        found[name] = run_case(name, asked.jobs)
        seconds = time.perf_counter() - began
        total += seconds
        say(f"{seconds:6.2f} s  {name}\n")
        if not asked.write:
            different = list(differences(found[name], wanted.get(name)))
            failed += bool(different)
            for line in different[:8]:
                say(f"          {line}\n")
    say(f"{total:6.2f} s  {len(found)} cases, {failed} differ\n")
    if asked.write:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(_lines(found))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_run())
