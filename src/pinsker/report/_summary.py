"""The verb of this stage: a fitted selector becomes a plain dict, and all else is a view of it."""

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker import __version__
from pinsker._notes import Audience, Note
from pinsker._types import plain
from pinsker.engine import EngineSettings, KNNSettings
from pinsker.exceptions import ParameterError
from pinsker.explain import Alternative, Importance, Interactions, Stability, Substitute
from pinsker.metrics import best_score, metric_words
from pinsker.report._findings import (
    alternative_rows,
    importance_rows,
    interaction_rows,
    stability_rows,
    substitute_rows,
)
from pinsker.report._kept import (
    budget_choices,
    describe_certificate,
    describe_set,
    in_order,
    kept_features,
    no_feature_increase,
    own_budget,
    result_rows,
    search_of_path,
)
from pinsker.report._measures import Measures, measure
from pinsker.report.words import sentence
from pinsker.search import StoppingRule

#: The version of the dict; a reader should look at it first.
SCHEMA = 3
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def summarise(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    importance: Importance | None = None,
    interactions: Interactions | None = None,
    substitutes: Sequence[Substitute] | None = None,
    alternatives: Sequence[Alternative] | None = None,
    stability: Stability | None = None,
    source: str | None = None,
    command: str | None = None,
) -> dict[str, Any]:
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
        ``schema``, ``selector``, ``source``, ``kept``, ``budget``, ``target``, ``path``,
        ``cv_results``, ``choices``, ``features``, ``certificate``, ``importance``,
        ``interactions``, ``substitutes``, ``alternatives``, ``stability``, ``data``, ``versions``.
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
    metric, kept = certificate.metric, kept_features(selector)
    if importance is None:
        importance = getattr(selector, "importance_", None)
    if stability is None:
        stability = getattr(selector, "stability_", None)
    summary = {
        "schema": SCHEMA,
        "selector": {**_selector(selector), "command": command},
        "source": source,
        "kept": {
            "size": len(kept),
            "n_features": path.n_features,
            "n_columns": len(selector.support_),
            "features": [path.names[feature] for feature in in_order(selector)],
        },
        "budget": {
            "value": own_budget(selector),
            "metric": metric,
            "metric_name": metric_words(metric),
            "is_score": best_score(metric) is not None,
            "rule": certificate.rule,
        },
        "target": {"name": _target_name(selector, y), **asdict(selector.facts_)},
        "path": {"search": search_of_path(selector), "metric": metric, **_path(path)},
        "cv_results": result_rows(selector.cv_results_),
        "choices": budget_choices(selector, audience),
        "features": _features(selector, measures),
        "certificate": _certificate(selector, kept, audience),
        "importance": importance_rows(importance),
        "interactions": interaction_rows(interactions),
        "substitutes": substitute_rows(substitutes),
        "alternatives": alternative_rows(alternatives),
        "stability": stability_rows(stability, path.names),
        "data": _data(selector, measures, audience),
        "versions": _versions(),
    }
    values: dict[str, Any] = plain(summary)
    return values


def _target_name(selector: Any, y: Any) -> str | None:
    """Return the name of the target: that of `y`, or the one that `fit` was given."""
    name = getattr(y, "name", None)
    found = getattr(selector, "target_name_", None) if name is None else name
    return None if found is None else str(found)


def _certificate(selector: Any, kept: list[int], audience: Audience) -> dict[str, Any]:
    """Return a certificate in words and figures."""
    certificate = selector.certificate_
    return {
        **describe_certificate(certificate, audience),
        "tested": certificate.is_tested,
        "baseline": no_feature_increase(certificate),
        "set": describe_set(selector, kept, certificate),
        "figures": plain(certificate.to_dict()),
        "text": str(certificate),
    }


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


def _features(selector: Any, measures: Measures | None) -> list[dict[str, Any]]:
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


def _measured(feature: int, path: Any, measures: Measures | None) -> dict[str, Any]:
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


def _data(selector: Any, measures: Measures | None, audience: Audience) -> dict[str, Any]:
    n_rows, notes = getattr(selector, "n_samples_fit_", None), list(selector.notes_)
    if measures is not None and selector._record.weighted:
        notes.append(Note("single features have no weights"))
    texts = [sentence(note, audience) for note in notes]
    data: dict[str, Any] = {"notes": texts, "n_rows": n_rows, "columns": None}
    if measures is None:
        return data
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
