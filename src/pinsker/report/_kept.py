"""What a fitted selector keeps: under its own budget, and under every other one."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pinsker._types import AnyArray, BoolArray
from pinsker.exceptions import DataError
from pinsker.selection import ALL_FEATURES

#: Positions of the slider, about.
_POSITIONS = 200
#: Metrics in which a budget ends at 1.
_AT_MOST_ONE = ("error", "r2", "brier")

Row = dict[str, Any]


def kept_features(selector: Any) -> list[int]:
    """Return the features that stay, by their position on the path."""
    return _features(selector, selector.support_)


def in_order(selector: Any) -> list[int]:
    """Return the features that stay, the most important first."""
    staying, order = set(kept_features(selector)), selector.path_.order
    return [j for j in order if j in staying] + sorted(staying - set(order))


def own_budget(selector: Any) -> float | None:
    """Return the error budget; None when another rule cut the path."""
    budget = float(selector.certificate_.budget)
    return None if math.isnan(budget) else budget


def search_of_path(selector: Any) -> str | None:
    """Return the search whose path was cut; None when nothing was held out.

    It is the first one all of whose evaluated sets are those of the path.
    """
    results = selector.cv_results_
    order, columns = selector.path_.order, selector.feature_columns_
    for name in dict.fromkeys(results.get("search", ())):
        if name == ALL_FEATURES:
            continue
        of_search = results["search"] == name
        sizes, supports = results["n_features"][of_search], results["support"][of_search]
        if all(
            set(np.flatnonzero(support)) == {c for j in order[:size] for c in columns[j]}
            for size, support in zip(sizes, supports, strict=True)
        ):
            return str(name)
    return None


def result_rows(cv_results: Mapping[str, AnyArray]) -> list[Row]:
    """Return results on held-out rows, one dict per evaluated set, without the columns of each."""
    names = [name for name in cv_results if name != "support"]
    values = zip(*(cv_results[name].tolist() for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in values]


def support_at(selector: Any, budget: float) -> BoolArray | None:
    """Return which columns stay under another budget; None where it cannot be applied.

    The budget replaces that of the selector's own rule, whose constants stay as they are.
    """
    try:
        support: BoolArray = selector.support_at(error_budget=budget)
    except DataError:
        return None
    return support


def budget_choices(selector: Any) -> Row:
    """Return what every budget of the slider would keep.

    Each position is one call of `support_at`: the page computes no choice of its own, so that page
    and selector cannot disagree. Budgets that a selector cannot apply are left out.

    Returns
    -------
    dict
        ``metric``, ``budgets`` (rising), ``current`` (position of the selector's own budget; None
        if it has none, or keeps another set), and ``sets``: each with ``first`` (the first position
        it holds at), ``size``, ``features`` (None when they are the first of the path's order),
        ``information``, ``lost`` and ``bound`` (None off the path), and ``increase_upper``: upper
        confidence bound of the held-out error increase (None where nothing was held out).
    """
    own, metric = own_budget(selector), selector.certificate_.metric
    budgets: list[float] = []
    sets: list[Row] = []
    last: BoolArray | None = None
    for budget in _grid(_largest_budget(selector.path_, own, metric), own, metric):
        support = support_at(selector, budget)
        if support is None:
            continue
        if last is None or (support != last).any():
            described = _describe(selector.path_, _features(selector, support))
            upper = _increase_upper(selector.cv_results_, support)
            sets.append({"first": len(budgets), **described, "increase_upper": upper})
        budgets.append(budget)
        last = support
    current = budgets.index(own) if own in budgets and _is_kept_at(selector, own) else None
    return {"metric": metric, "budgets": budgets, "current": current, "sets": sets}


def _is_kept_at(selector: Any, budget: float | None) -> bool:
    """Return whether a budget keeps what the selector keeps; a certified set may be larger."""
    support = None if budget is None else support_at(selector, budget)
    return support is not None and bool((support == selector.support_).all())


def _features(selector: Any, support: BoolArray) -> list[int]:
    """Return the features whose columns all stay."""
    columns = selector.feature_columns_
    return [j for j, of_feature in enumerate(columns) if support[list(of_feature)].all()]


def _increase_upper(cv_results: Mapping[str, AnyArray], support: BoolArray) -> float | None:
    """Return the upper bound of the error increase of a set; None if it was not evaluated.

    Several searches may have met the same set: a selector prefers the one that shows the most
    information.
    """
    if not cv_results:
        return None
    same = np.flatnonzero((np.stack(list(cv_results["support"])) == support).all(axis=1))
    if not len(same):
        return None
    best = same[np.argmax(cv_results["information"][same])]
    return float(cv_results["increase_upper"][best])


def _describe(path: Any, features: list[int]) -> Row:
    size = len(features)
    if set(features) != set(path.order[:size]) or size not in path.sizes:
        unknown = {"information": None, "lost": None, "bound": None}
        return {"size": size, "features": features, **unknown}
    position = int(abs(size - path.sizes[0]))
    return {
        "size": size,
        "features": None,
        "information": path.information[position],
        "lost": float(path.lost()[position]),
        "bound": path.bound_at(size),
    }


def _largest_budget(path: Any, own: float | None, metric: str) -> float:
    """Return the largest budget worth showing: where one feature stays, at least twice our own."""
    bounds = [bound for size, bound in zip(path.sizes, path.bounds, strict=False) if size > 0]
    finite = [bound for bound in bounds if math.isfinite(bound)]
    top: float = max([2.0 * (own or 0.05), *finite])
    return min(top, 1.0) if metric in _AT_MOST_ONE else top


def _grid(top: float, own: float | None, metric: str) -> list[float]:
    raw = top / _POSITIONS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= raw * (1 - 1e-9))
    grid = {round(float(value), 12) for value in step * np.arange(math.ceil(top / step) + 1)}
    if metric in _AT_MOST_ONE:
        grid = {value for value in grid if value <= 1.0}
    return sorted(grid | ({own} if own is not None else set()))
