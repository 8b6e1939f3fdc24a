"""The entry points that are called: what a user calls with a table, a target and options.

An entry takes a `Given` and the options that were drawn for it. Most are cheap: small tables, one
search, one model.
"""

import copy
import inspect
import pickle
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import pinsker
from pinsker import (
    BackwardElimination,
    CriterionSelection,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
)
from pinsker.encoding import encode
from pinsker.engine import (
    Backward,
    CountTables,
    Forward,
    Group,
    PackedColumns,
    PairTables,
    Problem,
    best_triples,
    box_counts,
    class_probabilities,
    mean_values,
    neighbor_counts,
)
from pinsker.explain import find_suspects
from pinsker.report import summarise, to_html, to_json


class CannotBeMadeError(Exception):
    """Of another library, before we are called: such a thing cannot reach us."""


@dataclass(frozen=True)
class Given:
    """A table, a target, the names of its columns, and fresh rows of the same kinds."""

    X: Any
    y: Any
    names: tuple[str, ...]
    X_new: Any
    y_new: Any
    seed: int


@dataclass(frozen=True)
class Entry:
    """A call: what it does, the options that it takes, and how often it is drawn."""

    function: Any
    options: tuple[str, ...] = ()
    weight: int = 4


OF_FIT = ("sample_weight", "groups")
OF_ROWS = ("sample_weight", "groups", "confidence")
OF_INFORMATION = (
    "method", "n_neighbors", "scale", "categorical_features", "missing", "correction", "clip",
    "return_details", "n_jobs", "random_state",
)  # fmt: skip


def options_of(kind):
    """Return the parameters of a selector, and those of its fit."""
    fit = inspect.signature(kind.fit).parameters
    return (*inspect.signature(kind).parameters, *(name for name in OF_FIT if name in fit))


def fit(kind, given, options, **defaults):
    """Return a selector that was made, cloned and fitted with the options that were drawn."""
    of_fit = {name: options[name] for name in OF_FIT if name in options}
    own = {name: value for name, value in options.items() if name not in of_fit}
    known = inspect.signature(kind).parameters
    selector = kind(**{**defaults, **{name: own[name] for name in own if name in known}})
    return clone(selector).fit(given.X, given.y, **of_fit)


def fitting(kind, weight=4, **defaults):
    def call(given, options):
        return fit(kind, given, options, **defaults)

    return Entry(call, options_of(kind), weight)


LINEAR = {"models": ["linear"], "searches": ["linear"], "cv": 2, "random_state": 0}
RELEVANCE, BACKWARD = LINEAR | {"searches": ["relevance"]}, LINEAR | {"searches": ["backward"]}


def after(method, *names, weight=2):
    """Return an entry that fits by a linear search and model, and then calls a method."""

    def call(given, options):
        later = {name: options.pop(name) for name in names if name in options}
        return method(fit(FeatureSelector, given, options, **LINEAR), given, later)

    return Entry(call, ("metric", "missing", "cv", "feature_groups", *OF_FIT, *names), weight)


def on_fresh(name, *options, **fixed):
    def method(selector, given, later):
        return getattr(selector, name)(given.X_new, given.y_new, **fixed, **later)

    return after(method, *options)


def _audited(given, options):
    selector = LinearSelection(0.2, missing="category").fit(given.X, given.y)
    model = _model_of(given, selector.task_ == "classification")
    return pinsker.audit(selector, model, given.X_new, given.y_new, **options)


def _model_of(given, classes):
    models = (LogisticRegression(), DummyClassifier()) if classes else (Ridge(), DummyRegressor())
    return models[given.seed % 2]


def _columns_audited(given, options):
    """Price columns that nobody has selected, by name, position or mask."""
    options.setdefault("columns", [0])
    columns = options.pop("columns")
    model = _model_of(given, given.seed // 2 % 2)
    train = {"X_train": given.X, "y_train": given.y} if given.seed % 3 == 0 else {}
    return str(pinsker.audit(columns, model, given.X_new, given.y_new, **train, **options))


def _both_models(selector, given):
    """Return models that a user has fitted to all columns and to those kept."""
    model = _model_of(given, selector.task_ == "classification")
    try:
        return [clone(model).fit(X, given.y) for X in (given.X, selector.transform(given.X))]
    except Exception as error:
        raise CannotBeMadeError from error


def _monitored(selector, given, later):
    later.setdefault("error_budget", 0.1)
    both = _both_models(selector, given)
    monitor = pinsker.Monitor(selector, *both, **later).update(given.X_new, given.y_new)
    state = monitor.to_json()
    if given.seed % 5 == 0:  # as if the file had been cut
        state = state[: given.seed % len(state)]
    again = pinsker.Monitor(selector, *both, **later).resume(state)
    return str(again), again.update(given.X, given.y).verdict


def _labelled(selector, given, later):
    n = (None, 5, 1)[given.seed % 3]
    plan = pinsker.rows_to_label(selector, *_both_models(selector, given), given.X_new, n=n)
    return str(plan.audit(given.X_new, given.y_new, **later))


def _planned(given, options):
    if given.seed % 4 == 0:
        X = y = None
        options["error"] = (0.1, 0.0, 2.0, "0.1", None)[given.seed // 4 % 5]
    else:
        X, y = given.X, given.y
        options["selector"] = FeatureSelector(**LINEAR)
    if "error_budget" not in options:
        options["error_budget"] = (0.05, [0.02, 0.1], [], -1.0, "0.1")[given.seed // 32 % 5]
    return str(pinsker.plan_rows(X, y, **options))


def _at(selector, given, later):
    other = selector.at(**later)
    return other.transform(given.X), str(other.certificate_)


def _certificate_at(selector, given, later):
    return str(selector.certificate_at(error_budget=later.get("error_budget", 0.2)))


def _altered(X, y, seed):
    """Return rows as a broken export, another unit or another coding leaves them."""
    X, y, d = pd.DataFrame(X).copy(), np.asarray(y).copy(), np.shape(X)[1]
    kind, column = seed % 10, seed // 10 % d
    if kind < 4:
        X.isetitem(column, np.full(len(X), (np.nan, 0.0, None, "?")[kind], dtype=object))
    elif kind == 4:
        X.isetitem(column, X.iloc[:, column] * 1000)
    elif kind == 5:
        X.isetitem(column, X.iloc[:, column].astype(str))
    elif kind == 6:
        X, y = X.iloc[:, ::-1], y[::-1]
    elif kind == 7:
        y = np.char.add("class ", y.astype(str))
    elif kind == 8:
        y = y[:1].repeat(len(y))
    else:
        X, y = X.iloc[np.arange(len(X)) % 3], y[np.arange(len(y)) % 3]
    return X, y


def _other_rows(given):
    try:
        return _altered(given.X_new, given.y_new, given.seed)
    except Exception as error:
        raise CannotBeMadeError from error


def _certified_otherwise(selector, given, later):
    X, y = _other_rows(given)
    certificate = selector.certify(X, y, **later)
    return str(certificate), to_json(summarise(selector.with_certified(certificate)))


def _audited_otherwise(selector, given, later):
    X, y = _other_rows(given)
    model = _model_of(given, selector.task_ == "classification")
    train = {"X_train": given.X, "y_train": given.y} if given.seed // 7 % 2 else {}
    return str(pinsker.audit(selector, model, X, y, **train, **later))


def _back(selector, given, later):
    return selector.inverse_transform(selector.transform(given.X_new))


def _page(selector, given, later):
    with TemporaryDirectory() as folder:
        return selector.report(Path(folder) / "page.html", X=given.X, y=given.y)


def _pickled(given, options):
    selector = fit(CriterionSelection, given, options)
    back = pickle.loads(pickle.dumps(selector))
    return copy.deepcopy(back).transform(given.X)


def _transformed(given, options):
    selector = fit(LinearSelection, given, options, missing="category")
    selector.set_output(transform=("default", "pandas", "polars")[given.seed % 3])
    selector.get_feature_names_out()
    return selector.transform(given.X_new)


def _looked_at(selector, given, later):
    selector.path_.to_frame()
    selector.cv_results_.to_frame()
    return repr(selector), str(selector.certificate_), selector._repr_html_(), selector.front_


def _cut(selector, given, later):
    if given.seed % 2:
        return selector.support_at(n_features=given.seed % 4)
    return selector.support_at(error_budget=later.get("error_budget", 0.2))


def _certified(selector, given, later):
    certificate = selector.certify(given.X_new, given.y_new, **later)
    return selector.with_certified(certificate).transform(given.X_new)


def _reported(selector, given, later):
    whole = {} if given.seed % 4 else {"X": given.X, "y": given.y}
    described = summarise(selector, **whole)
    return to_json(described), to_html(described)


def _information(function, *arguments):
    def call(given, options):
        return function(*(getattr(given, name) for name in arguments), **options)

    return Entry(call, OF_INFORMATION, 4)


def _independence(given, options):
    options.setdefault("n_permutations", 9)
    z = None if given.seed % 2 else given.X_new
    return pinsker.independence_test(given.X, given.y, z, **options)


def _interactions(given, options):
    options.setdefault("n_permutations", 2)
    return pinsker.interactions(given.X, given.y, **options).to_frame()


def _by_criterion(given, options):
    return pinsker.select_by_criterion(given.X, given.y, **options)


def _searched(given, options):
    as_classes = {"labels": given.y} if given.seed % 2 else {"target": given.y}
    problem = Problem.from_arrays(given.X, **as_classes)
    kind = Backward if given.seed % 4 < 2 else Forward
    threads = options.get("n_jobs", 1)
    search = kind(problem, n_neighbors=options.get("n_neighbors", 3), n_threads=threads)
    search.scores()
    step = search.remove if kind is Backward else search.add
    step(given.seed % 3 - 1)
    return search.scores()


def _counted(given, options):
    k, none = options.get("n_neighbors", 3), np.empty((60, 0))
    if given.seed % 2:
        return neighbor_counts(given.X, given.y, none, k=k)
    return box_counts(given.X, given.X_new, none, radius=given.y)


def _grown(given, options):
    trees = {"n_trees": 2, "min_leaf": 1, "n_candidates": 1, "seed": 0}
    if given.seed % 2:
        n_classes = options.get("order", 2)
        return class_probabilities(given.X, given.y, given.X_new, n_classes, **trees)
    return mean_values(given.X, given.y, given.X_new, **trees)


def _codes(given, n_codes):
    """Return good codes in two of three calls, and else whatever the table holds."""
    return given.X if given.seed % 3 == 0 else np.arange(240).reshape(60, 4) % n_codes


def _tabled(given, options):
    odd = (given.y, np.arange(given.seed % 90), given.X, np.arange(60) % 3, None)[given.seed % 5]
    columns = PackedColumns.of(_codes(given, 2 + given.seed % 300))
    labels = given.y if given.seed % 2 else np.arange(60) % 2
    tables = CountTables.of(columns, labels, n_threads=options.pop("n_jobs", 1), **options)
    step = given.seed // 5 % 6
    if step == 0:
        return tables.joint(Group(odd, given.seed % 7 - 1))
    if step == 1:
        return tables.of_group(Group.trivial(60).joined(odd, given.seed % 9))
    if step == 2:
        return tables.shuffled(odd).joint(tables.nothing())
    if step == 3:
        return tables.join(tables.group_of(0), given.seed % 9 - 2)
    return tables.joint(Group.trivial(50 + given.seed % 20), odd if step == 4 else None)


def _paired(given, options):
    codes = given.X if given.seed % 3 == 0 else _codes(given, 2 + given.seed % 9).T
    labels = given.y if given.seed % 2 else np.arange(60) % 2 * (given.seed % 4)
    if given.seed % 4 < 2:
        strata = (None, given.y, np.arange(60) % 3)[given.seed // 4 % 3]
        threads = options.get("n_jobs", 1)
        return list(PairTables.of(codes, labels, strata, n_threads=threads).blocks())
    pairs = ([[0, 1], [1, 3]], [[0, 9]], given.X, [[0, 1]])[given.seed // 4 % 4]
    return best_triples(codes, labels, pairs, options.get("n_best", 3))


def _encoded(given, options):
    return encode(given.X, given.y, **options)


def _suspected(given, options):
    return find_suspects(given.X, encode(given.X, given.y, missing="category", **options))


def _plotted(selector, given, later):
    import matplotlib.pyplot as plt

    selector.plot(("increase", "path", "bound", "certificate")[given.seed % 4])
    plt.close("all")


ENTRIES = {
    "FeatureSelector": fitting(FeatureSelector, 16, **LINEAR),
    "FeatureSelector relevance": fitting(
        FeatureSelector, 4, **{**LINEAR, "searches": ["relevance"]}
    ),
    "FeatureSelector backward": fitting(FeatureSelector, 4, **{**LINEAR, "searches": ["backward"]}),
    "FeatureSelector auto": fitting(FeatureSelector, 1, random_state=0),
    "BackwardElimination": fitting(BackwardElimination, 8, cv=0, random_state=0),
    "BackwardElimination cv": fitting(BackwardElimination, 2, cv=2, models=["linear"]),
    "ForwardSelection": fitting(ForwardSelection, 8, cv=0, random_state=0),
    "ForwardBackwardSelection": fitting(ForwardBackwardSelection, 8, cv=0, random_state=0),
    "LinearSelection": fitting(LinearSelection, 12),
    "CriterionSelection": fitting(CriterionSelection, 12),
    "mutual_information": _information(pinsker.mutual_information, "X", "y"),
    "mutual_information of tables": _information(pinsker.mutual_information, "X", "X_new"),
    "conditional": _information(pinsker.conditional_mutual_information, "X", "y", "X_new"),
    "entropy": _information(pinsker.entropy, "X"),
    "entropy of y": _information(pinsker.entropy, "y"),
    "independence_test": Entry(_independence, (*OF_INFORMATION[:-4], "n_permutations")),
    "interactions": Entry(
        _interactions, ("order", "n_best", "n_permutations", "categorical_features", "missing")
    ),
    "select_by_criterion": Entry(
        _by_criterion, ("criterion", "beta", "correction", "sample_weight")
    ),
    "encode": Entry(
        _encoded,
        ("missing", "scale", "feature_groups", "categorical_features", "sample_weight"),
        8,
    ),
    "suspects": Entry(_suspected, ("feature_groups",)),
    "certify": after(_certified, *OF_ROWS, "subgroups", weight=4),
    "importance": on_fresh("importance", *OF_ROWS),
    "substitutes": on_fresh("substitutes", *OF_ROWS),
    "alternatives": on_fresh("alternatives", *OF_ROWS, n=2),
    "stability": on_fresh("stability", *OF_FIT, n=2),
    "audit": Entry(_audited, ("metric", "cv", *OF_ROWS)),
    "audit of columns": Entry(
        _columns_audited, ("columns", "against", "error_budget", "metric", "cv", *OF_ROWS)
    ),
    "audit of other rows": after(_audited_otherwise, "error_budget", *OF_ROWS),
    "certify other rows": after(_certified_otherwise, *OF_ROWS, "subgroups", weight=4),
    "Monitor": after(_monitored, "error_budget", "confidence"),
    "rows_to_label": after(_labelled, "confidence"),
    "plan_rows": Entry(_planned, ("error_budget", "confidence", "power", "n_rows"), 2),
    "at": after(_at, "error_budget", "confidence"),
    "certificate_at": after(_certificate_at, "error_budget"),
    "inverse_transform": after(_back, weight=1),
    "page": after(_page, weight=1),
    "support_at": after(_cut, "error_budget"),
    "look": after(_looked_at),
    "report": after(_reported, weight=1),
    "plot": after(_plotted, weight=1),
    "transform": Entry(_transformed, ("feature_groups", "fixed_features")),
    "pickle": Entry(_pickled, ("criterion", "binning", "missing")),
    "engine search": Entry(_searched, ("n_neighbors", "n_jobs")),
    "engine counts": Entry(_counted, ("n_neighbors",)),
    "engine trees": Entry(_grown, ("order",)),
    "engine tables": Entry(_tabled, ("correction", "sample_weight", "n_jobs")),
    "engine pairs": Entry(_paired, ("n_best", "n_jobs")),
}
