"""The verb of this stage: a fitted selector becomes a plain dict, and all else is a view of it."""

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker import __version__
from pinsker._notes import Audience, Note
from pinsker._types import FloatArray, HasName, IntArray, Selector, TableLike, TargetLike, plain
from pinsker.encoding import Encoded, encode_again
from pinsker.engine import Backward, EngineSettings, Forward, KNNSettings, Problem
from pinsker.exceptions import DataError, ParameterError
from pinsker.explain import Alternative, Importance, Interactions, Stability, Substitute
from pinsker.metrics import best_score, metric_words
from pinsker.report import _kept
from pinsker.report.words import sentence
from pinsker.search import SelectionPath, StoppingRule

SCHEMA = 3  # the version of the dict; a reader should look at it first
_PACKAGES = ("numpy", "scipy", "scikit-learn")
#: Sets of features that work together: this many are shown, the largest surplus first.
_MOST_SETS = 20
_MOST_ROWS = 1500  # rows that are measured; more would change the digits nobody reads
#: Information of the best of some independent columns reaches this over the root of the rows in one
#: of twenty tables; stand-ins have more.
_CHANCE = 1.9
#: Dropped features whose stand-ins are looked for, those with the most information alone first.
_MOST_STAND_INS = 60

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Measures:
    """Figures of single features, one per feature, in nats."""

    encoded: Encoded  # the table as understood
    n_rows: int  # rows that were measured
    alone: FloatArray  # I(Y; X_i)
    given_kept: FloatArray  # what a feature adds to the kept ones
    stand_ins: dict[int, tuple[int, float]]


def summarise(
    selector: Selector, X: TableLike = None, y: TargetLike = None, *,
    importance: Importance | None = None, interactions: Interactions | None = None,
    substitutes: Sequence[Substitute] | None = None,
    alternatives: Sequence[Alternative] | None = None, stability: Stability | None = None,
    source: str | None = None, command: str | None = None,
) -> Row:  # fmt: skip
    r"""Return what a fitted selector found, as plain values that JSON can hold.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    X, y : optional
        The table and target of `fit`. With them the dict also has the information of each feature
        alone, :math:`I(Y; X_i)`, and given the kept ones, :math:`I(Y; X_i, X_S) - I(Y; X_S)`, the
        kept feature with the most information about each dropped one, and the kinds of all columns.
    importance, interactions, substitutes, alternatives, stability : optional
        What the selector's methods of these names and `pinsker.interactions` returned; by default
        its ``importance_`` and ``stability_``, if it has them.
    source : str, optional
        Where the table is from: a file, a query.
    command : str, optional
        The shell command that made it; by default Python code that fits the same is shown.

    Returns
    -------
    dict
        Information is in nats; what is not known is None. ``docs/report.md`` describes every key.

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
    (3, 13, 'error')
    """
    check_is_fitted(selector)
    if (X is None) != (y is None):
        raise ParameterError("a report needs both X and y, or neither: found one of them.")
    measures = None if X is None else measure(selector, X, y)
    audience: Audience = "library" if command is None else "command"
    path, certificate = selector.path_, selector.certificate_
    metric, kept = certificate.metric, _kept.kept_features(selector)
    importance = selector.importance_ if importance is None else importance
    stability = selector.stability_ if stability is None else stability
    objects = (StoppingRule, KNNSettings, EngineSettings)
    values = selector.get_params(deep=False).values()
    own = {type(one).__name__ for one in values if isinstance(one, objects)}
    imported = ", ".join([type(selector).__name__, *sorted(own)])
    full = selector.__repr__(N_CHAR_MAX=10**9)  # scikit-learn's repr leaves out what is long
    code = f"from pinsker import {imported}\n\nselector = {full}\nselector.fit(X, y)"
    name = y.name if isinstance(y, HasName) and y.name is not None else selector.target_name_
    summary = {
        "schema": SCHEMA,
        "selector": {"name": type(selector).__name__, "call": code, "command": command},
        "source": source,
        "kept": {
            "size": len(kept),
            "n_features": path.n_features,
            "n_columns": len(selector.support_),
            "features": [path.names[feature] for feature in _kept.in_order(selector)],
        },
        "budget": {
            "value": _kept.own_budget(selector),
            "metric": metric,
            "metric_name": metric_words(metric),
            "is_score": best_score(metric) is not None,
            "rule": certificate.rule,
        },
        "target": {"name": None if name is None else str(name), **asdict(selector.facts_)},
        "path": {"search": _kept.search_of_path(selector), "metric": metric, **_path(path)},
        "cv_results": _kept.result_rows(selector.cv_results_),
        "rough": [one._asdict() for one in selector.cv_results_.rough],
        "choices": _kept.budget_choices(selector, audience),
        "features": _features(selector, measures),
        "certificate": {
            **_kept.describe_certificate(certificate, audience), "tested": certificate.is_tested,
            "baseline": _kept.no_feature_increase(certificate),
            "set": _kept.describe_set(selector, kept, certificate),
            "figures": plain(certificate.to_dict()), "text": str(certificate),
        },
        "importance": None if importance is None else importance_rows(importance),
        "interactions": interaction_rows(interactions), "substitutes": other_rows(substitutes),
        "alternatives": other_rows(alternatives),
        "stability": stability_rows(stability, path.names, kept),
        "data": _data(selector, measures, audience),
        "versions": {"python": platform.python_version(), "pinsker": __version__}
        | {package: version(package) for package in _PACKAGES},
    }  # fmt: skip
    return dict(plain(summary))


def _path(path: SelectionPath) -> Row:
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
        "direction": path.direction, "score": path.score, "complete": path.complete,
        "best_size": path.best_size, "best_information": path.best_information,
        "names": list(path.names), "order": list(path.order), "sets": sets,
    }  # fmt: skip


def _features(selector: Selector, measures: Measures | None) -> list[Row]:
    """Return one entry per feature, those that stay longest first."""
    path = selector.path_
    information = dict(zip(path.sizes.tolist(), path.information, strict=True))
    staying, ranked = set(_kept.kept_features(selector)), len(path.order)
    others = sorted(set(range(path.n_features)) - set(path.order))  # a forward search may end early
    entries = []
    for rank, feature in enumerate([*path.order, *others], start=1):
        # NaN, which becomes None, where the path does not pass through both sizes.
        adds = information.get(rank, math.nan) - information.get(rank - 1, math.nan)
        entries.append({
            "rank": rank if rank <= ranked else None, "name": path.names[feature], "index": feature,
            "columns": len(selector.feature_columns_[feature]), "kept": feature in staying,
            "adds": adds, **_measured(feature, path, measures),
        })  # fmt: skip
    return entries


def _measured(feature: int, path: SelectionPath, measures: Measures | None) -> Row:
    """Return the figures of a feature; dependence is Linfoot's sqrt(1 - exp(-2 I))."""
    if measures is None:
        return {"alone": None, "given_kept": None, "stand_in": None}
    stand_in = None
    if feature in measures.stand_ins:
        other, nats = measures.stand_ins[feature]
        dependence = float(np.sqrt(-np.expm1(-2.0 * max(nats, 0.0))))
        stand_in = {"name": path.names[other], "information": nats, "dependence": dependence}
    alone, given_kept = measures.alone[feature], measures.given_kept[feature]
    return {"alone": alone, "given_kept": given_kept, "stand_in": stand_in}


def _data(selector: Selector, measures: Measures | None, audience: Audience) -> Row:
    n_rows, notes = selector.n_samples_fit_, list(selector.notes_)
    if measures is not None and selector._record.weighted:
        notes.append(Note("single features have no weights"))
    texts = [sentence(note, audience) for note in notes]
    data: Row = {"notes": texts, "n_rows": n_rows, "columns": None}
    if measures is None:
        return data
    columns = measures.encoded.columns
    categories = [None if values is None else len(values) for values in columns.categories]
    return {
        **data, "n_rows": columns.n_rows, "n_rows_measured": measures.n_rows,
        "scale": columns.scale,
        "columns": [
            {"name": name, "kind": str(kind), "categories": count}
            for name, kind, count in zip(columns.names, columns.kinds, categories, strict=True)
        ],
    }  # fmt: skip


def importance_rows(importance: Importance) -> Row:
    """Return what each feature is worth, most important first, those kept before others."""
    i, names = importance, ("name", "kept", "value", "lower", "upper")
    values = zip(i.features, i.kept, i.value, i.lower, i.upper, strict=True)
    rows = [dict(zip(names, row, strict=True)) for row in values]
    return {
        "metric": i.metric, "metric_name": metric_words(i.metric), "confidence": i.confidence,
        "n_rows": i.n_rows, "notes": list(map(str, i.notes)),
        "features": sorted(rows, key=lambda row: (not row["kept"], -row["value"])),
    }  # fmt: skip


def interaction_rows(interactions: Interactions | None) -> Row | None:
    if interactions is None:
        return None
    found = interactions.significant()
    sets = [
        {
            "features": [interactions.names[j] for j in one.features],
            "alone": max(one.alone),
            "together": one.together,
            "surplus": one.surplus,
            "p_value": one.p_value,
        }
        for one in found[:_MOST_SETS]
    ]
    return {"n_sets": interactions.n_sets, "n_found": len(found), "sets": sets}


def other_rows(found: Sequence[Substitute] | Sequence[Alternative] | None) -> list[Row] | None:
    """Return what could take the place of each kept feature, or other sets within the budget."""
    if found is None:
        return None
    rows = [asdict(one).items() for one in found]
    return [{name: value for name, value in row if not name.startswith("pair")} for row in rows]


def stability_rows(
    stability: Stability | None, names: Sequence[str], kept: Sequence[int]
) -> Row | None:
    """Return how much the choices of several folds agree, and how often each feature was chosen."""
    if stability is None:
        return None
    often = [
        {"name": name, "index": j, "frequency": float(stability.frequency[j])}
        for j, name in enumerate(names)
        if stability.frequency[j] > 0 or j in kept
    ]
    return {
        "value": stability.value, "lower": stability.lower, "upper": stability.upper,
        "n_choices": stability.n_choices, "over": stability.over,
        "features": sorted(often, key=lambda row: -row["frequency"]),
    }  # fmt: skip


def measure(selector: Selector, X: TableLike, y: TargetLike) -> Measures:
    # Counts and linear models have no neighbors.
    knn = selector.get_params(deep=False).get("knn") or KNNSettings()
    kept = _kept.kept_features(selector)
    encoded = encode_again(
        X, y, selector.feature_columns_, task=selector.task_,
        categorical_features=selector.categorical_features, missing=selector.missing,
        feature_groups=selector.feature_groups, scale=knn.scale,
    )  # fmt: skip
    if encoded.feature_names != selector.path_.names:
        raise DataError(
            f"the table given to report has {encoded.n_features} features that are not those "
            f"of fit ({selector.path_.n_features}): pass the X that the selector was fitted to."
        )
    n_rows = encoded.n_rows  # an even spread, the same ones every time
    rows = np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).astype(np.int64)
    whole = Problem.of(encoded)
    labels = None if whole.labels is None else whole.labels[rows]
    if labels is not None:  # a rare class may be gone: codes stay 0, 1, 2, ...
        labels = np.unique(labels, return_inverse=True)[1]
    target, features = whole.target, whole.feature_of_column
    target = None if target is None else target[rows]
    problem = Problem.from_arrays(
        whole.values[rows], labels=labels, target=target, features=features
    )
    k = min(knn.n_neighbors, len(rows) - 1)
    alone = Forward(problem, n_neighbors=k).scores()
    given = Forward(problem, n_neighbors=k, active=kept).scores()
    if kept:
        given[kept] = Backward(problem, n_neighbors=k, active=kept).scores()[kept]
    stand_ins = _find_stand_ins(encoded, problem, rows, alone, kept, k)
    return Measures(encoded, len(rows), alone, given, stand_ins)


def _find_stand_ins(
    encoded: Encoded, problem: Problem, rows: IntArray, alone: FloatArray, kept: list[int], k: int
) -> dict[int, tuple[int, float]]:
    if not kept:
        return {}
    dropped = sorted(set(range(encoded.n_features)) - set(kept), key=lambda j: -alone[j])
    of_kept = np.isin(problem.feature_of_column, kept)
    values = np.ascontiguousarray(problem.values[:, of_kept])
    features = np.searchsorted(sorted(kept), problem.feature_of_column[of_kept])
    as_they_are, found = np.arange(len(rows)), {}
    shuffled = np.random.default_rng(0).permutation(len(rows))
    for feature in dropped[:_MOST_STAND_INS]:
        columns, labels, target = list(encoded.features[feature]), None, None  # classes, or numbers
        if len(columns) == 1 and not encoded.columns.kinds[columns[0]].is_numeric:
            codes = encoded.columns.values[rows, columns[0]]
            labels = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        else:
            target = np.ascontiguousarray(problem.values[:, columns])
        scores, by_chance = (  # of columns of many categories chance alone tells much
            Forward(
                Problem.from_arrays(values[order], labels=labels, target=target, features=features),
                n_neighbors=k,
            ).scores()
            for order in (as_they_are, shuffled)
        )
        more = scores - np.maximum(by_chance, 0.0)
        best = int(np.argmax(more))
        if more[best] > _CHANCE / np.sqrt(len(rows)):
            found[feature] = (sorted(kept)[best], float(scores[best]))
    return found
