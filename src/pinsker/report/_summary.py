"""The verb of this stage: a fitted selector becomes a plain dict, and all else is a view of it."""

import math
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker.exceptions import ParameterError
from pinsker.report._summary_certificate import summarise_certificate
from pinsker.report._summary_choices import (
    budget_rule,
    kept_units,
    path_name,
    summarise_choices,
)
from pinsker.report._summary_measures import Measures, measure
from pinsker.report._words import UNIT_NAMES, plain

#: The version of the dict; a reader should look at it first.
SCHEMA = 1
_PACKAGES = ("pinsker", "numpy", "scipy", "scikit-learn")


def summarise(selector: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    r"""Return all that a fitted selector has to say, as plain values that JSON can hold.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    X, y : optional
        The table and target of `fit`. With them the dict also has what each feature tells alone,
        :math:`I(Y; X_i)`, and given the kept ones, :math:`I(Y; X_i, X_S) - I(Y; X_S)`, the kept
        feature that tells most about each dropped one, and the kinds of all columns.

    Returns
    -------
    dict
        ``schema``, ``selector``, ``kept``, ``budget``, ``target``, ``path``, ``trials``,
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
    >>> summary["schema"], summary["kept"]["n_features"], summary["budget"]["unit"]
    (1, 13, 'error')
    """
    check_is_fitted(selector)
    if (X is None) != (y is None):
        raise ParameterError("a report needs both X and y, or neither: found one of them.")
    kept = kept_units(selector, selector.support_)
    measures = None if X is None else measure(selector, X, y, kept)
    rule, own = budget_rule(selector)
    unit = rule.unit_for(selector.facts_)
    summary = {
        "schema": SCHEMA,
        "selector": _selector(selector),
        "kept": _kept(selector, kept),
        "budget": {
            "delta": own,
            "unit": unit,
            "unit_name": UNIT_NAMES.get(unit, unit),
            "rule": str(selector._rule()),
        },
        "target": asdict(selector.facts_),
        "path": {"name": path_name(selector), **_path(selector.path_)},
        "trials": [asdict(trial) for trial in getattr(selector, "comparison_", ())],
        "choices": summarise_choices(selector),
        "features": _features(selector, kept, measures),
        "certificate": summarise_certificate(selector.certificate_),
        "data": _data(selector, measures),
        "versions": _versions(),
    }
    result: dict[str, Any] = plain(summary)
    return result


def _selector(selector: Any) -> dict[str, Any]:
    name = type(selector).__name__
    full = selector.__repr__(N_CHAR_MAX=10**9)  # scikit-learn's repr leaves out what is long
    rules = sorted({type(selector._rule()).__name__} if selector.stop is not None else set())
    names = ", ".join([name, *rules])
    return {
        "name": name,
        "call": f"from pinsker import {names}\n\nselector = {full}\nselector.fit(X, y)",
    }


def _kept(selector: Any, kept: list[int]) -> dict[str, Any]:
    path = selector.path_
    staying = set(kept)
    unmet = sorted(staying - set(path.order))
    first = [unit for unit in path.order if unit in staying] + unmet
    return {
        "size": len(kept),
        "n_features": path.n_features,
        "n_columns": int(selector.n_features_in_),
        "features": [path.names[unit] for unit in first],
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
        "unit": path.unit,
        "best_size": path.best_size,
        "best_information": path.best_information,
        "names": list(path.names),
        "order": list(path.order),
        "sets": sets,
    }


def _features(selector: Any, kept: list[int], measures: Measures | None) -> list[dict[str, Any]]:
    """Return one entry per feature, those that stay longest first."""
    path = selector.path_
    information = dict(zip(path.sizes.tolist(), path.information, strict=True))
    staying, met = set(kept), len(path.order)
    unmet = sorted(set(range(path.n_features)) - set(path.order))  # a forward search may end early
    entries = []
    for rank, unit in enumerate([*path.order, *unmet], start=1):
        # NaN, which becomes None, where the path does not pass through both sizes.
        adds = information.get(rank, math.nan) - information.get(rank - 1, math.nan)
        entries.append(
            {
                "rank": rank if rank <= met else None,
                "name": path.names[unit],
                "unit": unit,
                "columns": len(selector.feature_columns_[unit]),
                "kept": unit in staying,
                "adds": adds,
                **_measured(unit, path, measures),
            }
        )
    return entries


def _measured(unit: int, path: Any, measures: Measures | None) -> dict[str, Any]:
    """Return what a feature tells; dependence is Linfoot's correlation, sqrt(1 - exp(-2 I))."""
    if measures is None:
        return {"alone": None, "given_kept": None, "stand_in": None}
    stand_in = None
    if unit in measures.stand_ins:
        other, nats = measures.stand_ins[unit]
        dependence = float(np.sqrt(-np.expm1(-2.0 * max(nats, 0.0))))
        stand_in = {"name": path.names[other], "information": nats, "dependence": dependence}
    return {
        "alone": measures.alone[unit],
        "given_kept": measures.given_kept[unit],
        "stand_in": stand_in,
    }


def _data(selector: Any, measures: Measures | None) -> dict[str, Any]:
    data: dict[str, Any] = {"notes": list(selector.notes_), "n_rows": None, "columns": None}
    if measures is None:
        return data
    columns = measures.encoded.columns
    levels = [None if values is None else len(values) for values in columns.categories]
    return {
        **data,
        "n_rows": columns.n_rows,
        "n_rows_measured": measures.n_rows,
        "scale": columns.scale,
        "columns": [
            {"name": name, "kind": str(kind), "levels": count}
            for name, kind, count in zip(columns.names, columns.kinds, levels, strict=True)
        ],
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree
            found[package] = "unknown"
    return found
