"""The verb of this stage: a fitted selector becomes a plain dict, and all else is a view of it."""

import math
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker import __version__
from pinsker._types import FloatArray, IntArray, plain
from pinsker.bounds import METRIC_NAMES
from pinsker.encoding import Encoded, encode_again
from pinsker.engine import Backward, EngineSettings, Forward, KNNSettings, Problem
from pinsker.exceptions import DataError, ParameterError
from pinsker.report._kept import (
    budget_choices,
    in_order,
    kept_features,
    own_budget,
    result_rows,
    search_of_path,
)
from pinsker.report._words import summarise_certificate
from pinsker.selection import StoppingRule

#: The version of the dict; a reader should look at it first.
SCHEMA = 2
_PACKAGES = ("numpy", "scipy", "scikit-learn")
#: Where rows had weights in `fit`.
NOT_WEIGHTED = (
    "the information of single features, alone and beside the kept ones, is that of rows of equal "
    "weight: neighbors take no weights"
)


def summarise(selector: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    r"""Return what a fitted selector found, as plain values that JSON can hold.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    X, y : optional
        The table and target of `fit`. With them the dict also has the information of each feature
        alone, :math:`I(Y; X_i)`, and given the kept ones, :math:`I(Y; X_i, X_S) - I(Y; X_S)`, the
        kept feature with the most information about each dropped one, and the kinds of all columns.

    Returns
    -------
    dict
        ``schema``, ``selector``, ``kept``, ``budget``, ``target``, ``path``, ``cv_results``,
        ``choices``, ``features``, ``certificate``, ``data``, ``versions``. Information is in nats;
        what is not known is None. ``docs/report.md`` describes every key.

    References
    ----------
    Linfoot, E. H. (1957). An informational measure of correlation. Information and Control 1(1).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> summary = summarise(BackwardElimination(error_budget=0.1).fit(X, y))
    >>> summary["schema"], summary["kept"]["n_features"], summary["budget"]["metric"]
    (2, 13, 'error')
    """
    check_is_fitted(selector)
    if (X is None) != (y is None):
        raise ParameterError("a report needs both X and y, or neither: found one of them.")
    measures = None if X is None else measure(selector, X, y)
    path, certificate = selector.path_, selector.certificate_
    metric, kept = certificate.metric, kept_features(selector)
    summary = {
        "schema": SCHEMA,
        "selector": _selector(selector),
        "kept": {
            "size": len(kept),
            "n_features": path.n_features,
            "n_columns": len(selector.support_),
            "features": [path.names[feature] for feature in in_order(selector)],
        },
        "budget": {
            "value": own_budget(selector),
            "metric": metric,
            "metric_name": METRIC_NAMES.get(metric, metric),
            "rule": certificate.rule,
        },
        "target": asdict(selector.facts_),
        "path": {"search": search_of_path(selector), "metric": metric, **_path(path)},
        "cv_results": result_rows(selector.cv_results_),
        "choices": {"metric_name": METRIC_NAMES.get(metric, metric), **budget_choices(selector)},
        "features": _features(selector, measures),
        "certificate": summarise_certificate(certificate, path.information_at(len(kept))),
        "data": _data(selector, measures),
        "versions": _versions(),
    }
    values: dict[str, Any] = plain(summary)
    return values


def _selector(selector: Any) -> dict[str, Any]:
    """Return the class of a selector, and code that fits it again."""
    name = type(selector).__name__
    full = selector.__repr__(N_CHAR_MAX=10**9)  # scikit-learn's repr leaves out what is long
    objects = (StoppingRule, KNNSettings, EngineSettings)
    values = selector.get_params(deep=False).values()
    names = [name, *sorted({type(one).__name__ for one in values if isinstance(one, objects)})]
    return {
        "name": name,
        "call": f"from pinsker import {', '.join(names)}\n\nselector = {full}\nselector.fit(X, y)",
    }


def _path(path: Any) -> dict[str, Any]:
    """Return the path by size, smallest first; the set of size s is the first s of `order`."""
    lost = path.lost()
    sets = [
        {
            "size": int(path.sizes[t]),
            "feature": path.names[path.order[path.sizes[t] - 1]] if path.sizes[t] else None,
            "information": path.information[t],
            "lost": float(lost[t]),
            "bound": path.bounds[t] if path.bounds else None,
        }
        for t in np.argsort(path.sizes)
    ]
    return {
        "direction": path.direction,
        "score": path.score,
        "complete": path.complete,
        "best_size": path.best_size,
        "best_information": path.best_information,
        "names": list(path.names),
        "order": list(path.order),
        "sets": sets,
    }


def _features(selector: Any, measures: "Measures | None") -> list[dict[str, Any]]:
    """Return one entry per feature, those that stay longest first."""
    path = selector.path_
    information = dict(zip(path.sizes.tolist(), path.information, strict=True))
    staying, ranked = set(kept_features(selector)), len(path.order)
    others = sorted(set(range(path.n_features)) - set(path.order))  # a forward search may end early
    entries = []
    for rank, feature in enumerate([*path.order, *others], start=1):
        # NaN, which becomes None, where the path does not pass through both sizes.
        adds = information.get(rank, math.nan) - information.get(rank - 1, math.nan)
        entries.append(
            {
                "rank": rank if rank <= ranked else None,
                "name": path.names[feature],
                "index": feature,
                "columns": len(selector.feature_columns_[feature]),
                "kept": feature in staying,
                "adds": adds,
                **_measured(feature, path, measures),
            }
        )
    return entries


def _measured(feature: int, path: Any, measures: "Measures | None") -> dict[str, Any]:
    """Return the figures of a feature; dependence is Linfoot's sqrt(1 - exp(-2 I))."""
    if measures is None:
        return {"alone": None, "given_kept": None, "stand_in": None}
    stand_in = None
    if feature in measures.stand_ins:
        other, nats = measures.stand_ins[feature]
        dependence = float(np.sqrt(-np.expm1(-2.0 * max(nats, 0.0))))
        stand_in = {"name": path.names[other], "information": nats, "dependence": dependence}
    return {
        "alone": measures.alone[feature],
        "given_kept": measures.given_kept[feature],
        "stand_in": stand_in,
    }


def _data(selector: Any, measures: "Measures | None") -> dict[str, Any]:
    data: dict[str, Any] = {"notes": list(selector.notes_), "n_rows": None, "columns": None}
    if measures is None:
        return data
    if getattr(selector, "_weighted", False):
        data["notes"].append(NOT_WEIGHTED)
    columns = measures.encoded.columns
    categories = [None if values is None else len(values) for values in columns.categories]
    return {
        **data,
        "n_rows": columns.n_rows,
        "n_rows_measured": measures.n_rows,
        "scale": columns.scale,
        "columns": [
            {"name": name, "kind": str(kind), "categories": count}
            for name, kind, count in zip(columns.names, columns.kinds, categories, strict=True)
        ],
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "pinsker": __version__}
    for package in _PACKAGES:
        found[package] = version(package)
    return found


#: Rows that are measured; more would change the digits nobody reads.
_MOST_ROWS = 1500
#: Information of the best of some independent columns reaches this over the root of the rows in one
#: of twenty tables; stand-ins have more.
_CHANCE = 1.9
#: Dropped features whose stand-ins are looked for, those with the most information alone first.
_MOST_STAND_INS = 60


@dataclass(frozen=True, eq=False)
class Measures:
    """Figures of single features, one per feature, in nats.

    Attributes
    ----------
    encoded : Encoded
        The table as understood.
    n_rows : int
        Rows that were measured.
    alone : ndarray
        I(Y; X_i).
    given_kept : ndarray
        What a feature adds to the kept ones; for one of them, what it adds to the others.
    stand_ins : dict of int to (int, float)
        For a dropped feature, the kept one with the most information about it: I(X_i; X_k).
    """

    encoded: Encoded
    n_rows: int
    alone: FloatArray
    given_kept: FloatArray
    stand_ins: dict[int, tuple[int, float]]


def measure(selector: Any, X: Any, y: Any) -> Measures:
    """Measure every feature of the table that a selector was fitted to.

    The estimator is that of the selectors (``docs/estimator.md``). A table of more than 1500 rows
    is measured on an even spread of that many.
    """
    knn = getattr(selector, "knn", None) or KNNSettings()  # counts and linear models have none
    encoded, kept = _encode(selector, X, y, knn), kept_features(selector)
    rows = _spread(encoded.n_rows)
    problem = _take(Problem.of(encoded), rows)
    k = min(knn.n_neighbors, len(rows) - 1)
    alone = Forward(problem, n_neighbors=k).scores()
    given = Forward(problem, n_neighbors=k, active=kept).scores()
    if kept:
        given[kept] = Backward(problem, n_neighbors=k, active=kept).scores()[kept]
    stand_ins = _find_stand_ins(encoded, problem, rows, alone, kept, k)
    return Measures(encoded, len(rows), alone, given, stand_ins)


def _encode(selector: Any, X: Any, y: Any, knn: KNNSettings) -> Encoded:
    """Encode the table of `fit` as the selector did."""
    encoded = encode_again(
        X,
        y,
        selector.feature_columns_,
        task=selector.task_,
        categorical_features=selector.categorical_features,
        missing=selector.missing,
        feature_groups=selector.feature_groups,
        scale=knn.scale,
    )
    if encoded.feature_names != selector.path_.names:
        raise DataError(
            f"the table given to report has {encoded.n_features} features that are not those "
            f"of fit ({selector.path_.n_features}): pass the X that the selector was fitted to."
        )
    return encoded


def _find_stand_ins(
    encoded: Encoded, problem: Problem, rows: IntArray, alone: FloatArray, kept: list[int], k: int
) -> dict[int, tuple[int, float]]:
    dropped = sorted(
        set(range(encoded.n_features)) - set(kept), key=lambda feature: -alone[feature]
    )
    if not kept:
        return {}
    of_kept = np.isin(problem.feature_of_column, kept)
    values = np.ascontiguousarray(problem.values[:, of_kept])
    features = np.searchsorted(sorted(kept), problem.feature_of_column[of_kept])
    found = {}
    for feature in dropped[:_MOST_STAND_INS]:
        labels, target = _as_target(encoded, problem, rows, feature)
        about = Problem.from_arrays(values, labels=labels, target=target, features=features)
        scores = Forward(about, n_neighbors=k).scores()
        best = int(np.argmax(scores))
        if scores[best] > _CHANCE / np.sqrt(len(rows)):  # the others are replaced by nothing
            found[feature] = (sorted(kept)[best], float(scores[best]))
    return found


def _as_target(
    encoded: Encoded, problem: Problem, rows: IntArray, feature: int
) -> tuple[IntArray | None, FloatArray | None]:
    """Return a feature as classes or as numbers."""
    columns = list(encoded.features[feature])
    if len(columns) == 1 and not encoded.columns.kinds[columns[0]].is_numeric:
        codes = encoded.columns.values[rows, columns[0]]
        return np.unique(codes, return_inverse=True)[1].astype(np.int64), None
    return None, np.ascontiguousarray(problem.values[:, columns])


def _spread(n_rows: int) -> IntArray:
    """Return an even spread of rows: the same ones every time, from the whole table."""
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, _MOST_ROWS).astype(np.int64)


def _take(problem: Problem, rows: IntArray) -> Problem:
    labels = None if problem.labels is None else problem.labels[rows]
    if labels is not None:  # a rare class may be gone: codes stay 0, 1, 2, ...
        labels = np.unique(labels, return_inverse=True)[1]
    return Problem.from_arrays(
        problem.values[rows],
        labels=labels,
        target=None if problem.target is None else problem.target[rows],
        features=problem.feature_of_column,
    )
