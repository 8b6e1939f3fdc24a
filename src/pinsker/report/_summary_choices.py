"""What every budget would keep: the table behind the slider."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pinsker.exceptions import DataError
from pinsker.report._words import UNIT_NAMES
from pinsker.selection import ErrorBudget

#: Positions of the slider, about.
_POSITIONS = 200
#: Units in which a budget ends at 1.
_SHARES = ("error", "r2", "brier")


def summarise_choices(selector: Any) -> dict[str, Any]:
    """Ask a fitted selector what it would keep under other budgets.

    The selector itself is asked (`support_at`), at every budget that the slider can show: nothing
    is computed anew on the page, so that page and selector cannot disagree. Budgets that it cannot
    judge are left out.

    Returns
    -------
    dict
        ``unit``, ``budgets`` (rising), ``current`` (position of the selector's own budget, or
        None), and ``sets``: each with ``first`` (the first position it holds at), ``size``,
        ``features`` (None when they are the first of the path's order), ``information``, ``lost``
        and ``bound`` (None off the path), and ``growth_upper``: the limit of the growth of the
        held-out error (None where nothing was held out).
    """
    rule, own = budget_rule(selector)
    unit = rule.unit_for(selector.facts_)
    budgets: list[float] = []
    sets: list[dict[str, Any]] = []
    last: list[int] = []
    for budget in _grid(_top(selector.path_, own, unit), own, unit):
        units = _kept_at(selector, replace(rule, delta=budget))
        if units is None:
            continue
        if units != last:
            described = _describe(selector.path_, units)
            held_out = _held_out(selector, replace(rule, delta=budget))
            sets.append({"first": len(budgets), **described, **held_out})
        budgets.append(budget)
        last = units
    return {
        "unit": unit,
        "unit_name": UNIT_NAMES.get(unit, unit),
        "budgets": budgets,
        "current": budgets.index(own) if own in budgets else None,
        "sets": sets,
    }


def budget_rule(selector: Any) -> tuple[ErrorBudget, float | None]:
    """Return the budget that a selector stops by, and its size; another rule has none."""
    rule = selector._rule()
    if isinstance(rule, ErrorBudget):
        return rule, float(rule.delta)
    return selector._budget_rule(0.0), None


def kept_units(selector: Any, support: Any) -> list[int]:
    """Return the features whose columns all stay."""
    return [
        unit
        for unit, columns in enumerate(selector.feature_columns_)
        if support[list(columns)].all()
    ]


def _kept_at(selector: Any, rule: ErrorBudget) -> list[int] | None:
    """Return what a selector keeps under a rule; None where it cannot judge the rule."""
    try:
        return kept_units(selector, selector.support_at(stop=rule))
    except DataError:
        return None


def _describe(path: Any, units: list[int]) -> dict[str, Any]:
    size = len(units)
    if set(units) != set(path.order[:size]) or size not in path.sizes:
        unknown = {"information": None, "lost": None, "bound": None}
        return {"size": size, "features": units, **unknown}
    position = int(abs(size - path.sizes[0]))
    return {
        "size": size,
        "features": None,
        "information": path.information[position],
        "lost": float(path.lost()[position]),
        "bound": path.bound_at(size),
    }


def _held_out(selector: Any, rule: ErrorBudget) -> dict[str, Any]:
    """Return what held-out rows say about the set that a rule takes."""
    judgement = getattr(selector, "_judgement", None)
    if judgement is None:
        return {"growth_upper": None}
    return {"growth_upper": judgement.choose(rule)[0].growth_upper}


def path_name(selector: Any) -> str | None:
    """Return the name under which the path of a selector was tried, None if none was tried."""
    judgement = getattr(selector, "_judgement", None)
    paths = {} if judgement is None else judgement.paths
    order = selector.path_.order
    return next((name for name, path in paths.items() if path.order == order), None)


def _top(path: Any, own: float | None, unit: str) -> float:
    """Return the largest budget worth showing: where one feature stays, at least twice our own."""
    bounds = [bound for size, bound in zip(path.sizes, path.bounds, strict=False) if size > 0]
    finite = [bound for bound in bounds if math.isfinite(bound)]
    top: float = max([2.0 * (own or 0.05), *finite])
    return min(top, 1.0) if unit in _SHARES else top


def _grid(top: float, own: float | None, unit: str) -> list[float]:
    raw = top / _POSITIONS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= raw * (1 - 1e-9))
    grid = {round(float(value), 12) for value in step * np.arange(math.ceil(top / step) + 1)}
    if unit in _SHARES:
        grid = {value for value in grid if value <= 1.0}
    return sorted(grid | ({own} if own is not None else set()))
