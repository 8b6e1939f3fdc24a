"""The subgroups that a user names: columns of the table, labels or masks of its rows."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real

import numpy as np

from pinsker._types import (
    AnyArray,
    BoolArray,
    ColumnChoice,
    Fields,
    HasName,
    RowLabels,
    TableLike,
    Unchecked,
)
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, frame_of, is_frame, is_missing, read_array
from pinsker.exceptions import ParameterError
from pinsker.metrics import ALL_ROWS, MEAN, Metric, Subgroups
from pinsker.search import ErrorBudget

#: Values of a column at most: more are no groups.
_MOST_VALUES = 50


def subgroups_by_name(subgroups: ColumnChoice) -> Fields:
    """Return what was named: columns with None or budgets, and labels or masks of rows."""
    if subgroups is None:
        return {}
    if isinstance(subgroups, Mapping):
        return dict(subgroups)
    if isinstance(subgroups, str | Integral):
        return {subgroups: None}  # type: ignore[dict-item] # a column by its position
    if isinstance(subgroups, list | tuple):
        return dict.fromkeys(subgroups)
    named = subgroups.name if isinstance(subgroups, HasName) else None
    return {str(named or "subgroup"): subgroups}


def drawn_subgroups(subgroups: ColumnChoice, draw: Callable[[RowLabels, str], RowLabels]) -> Fields:
    found: Fields = {}
    for name, own in subgroups_by_name(subgroups).items():
        labels, budget = _labels_and_budget(own)
        found[name] = budget if labels is None else (draw(labels, "subgroups"), budget)
    return found


def read_subgroups(
    subgroups: ColumnChoice, X: TableLike, encoded: Encoded, budget: ErrorBudget, facts: TargetFacts
) -> Subgroups | None:
    """Return the subgroups of the rows that are used; None if none are named."""
    named = subgroups_by_name(subgroups)
    if not named:
        return None
    metric = Metric(budget.metric_for(facts))
    if metric.method(facts.task) != MEAN:
        raise _refused(
            f"metric {metric.name!r} is not a mean over rows, so that it has no value in a "
            "subgroup of them: use 'error', 'brier', 'log-loss', 'r2', 'mse' or 'mae'"
        )
    found: dict[str, tuple[BoolArray, float]] = {}
    for name, own in named.items():
        given, own = _labels_and_budget(own)
        labels = read_array("subgroups", _column(X, name) if given is None else given)
        if labels.shape != (encoded.n_given,):
            raise _refused(
                f"{name!r} has shape {labels.shape}, but there are {encoded.n_given} rows: give "
                "a label, or True and False, for each"
            )
        if given is not None and labels.dtype == np.bool_ and not isinstance(own, Mapping):
            found[str(name)] = (labels, np.nan if own is None else float(own))
        else:
            found |= _by_value(str(name), labels, own)
    masks = np.stack(
        [np.ones(encoded.n_given, dtype=np.bool_), *(one for one, _ in found.values())]
    )
    masks = masks[:, encoded.rows]
    if (empty := np.flatnonzero(~masks.any(axis=1))).size:
        raise _refused(f"{list(found)[empty[0] - 1]!r} holds none of the rows")
    budgets = np.array([np.nan, *(one for _, one in found.values())])
    if budget.relative and not np.isnan(budgets).all():
        raise _refused("budgets of subgroups are in the metric, and the error budget is relative")
    return Subgroups((ALL_ROWS, *found), masks, budgets, float(budget.delta))


def _by_value(name: str, labels: AnyArray, own: Unchecked) -> dict[str, tuple[BoolArray, float]]:
    """Return a subgroup for every value of a column, with its budget if it has one."""
    texts = np.array(["missing" if is_missing(one) else str(one) for one in labels.tolist()])
    values = np.unique(texts)
    if len(values) > _MOST_VALUES:
        raise _refused(
            f"column {name!r} has {len(values)} different values, more than {_MOST_VALUES}: cut "
            "it into ranges, or pass a mask for each subgroup"
        )
    given = own if isinstance(own, Mapping) else {} if own is None else {"*": own}
    budgets = {str(one): value for one, value in given.items()}
    general = budgets.pop("*", np.nan)  # of the values that have none of their own
    if unknown := sorted(set(budgets) - set(values)):
        raise _refused(f"column {name!r} has no value {unknown[0]!r}, which has a budget")
    found = {}
    for value in values.tolist():
        budget = float(budgets.get(value, general))
        if budget < 0.0:
            raise _refused(f"the budget of {name}={value} is {budget:g}, and must not be negative")
        found[f"{name}={value}"] = (texts == value, budget)
    return found


def _labels_and_budget(own: Unchecked) -> tuple[Unchecked, Unchecked]:
    """Return labels or a mask of the rows, and a budget or one per value; None where not given."""
    if own is None or isinstance(own, Real | Mapping):
        return None, own
    if isinstance(own, tuple) and len(own) == 2 and isinstance(own[1], Real | Mapping | None):
        return own
    return own, None


def _column(X: TableLike, name: Unchecked) -> AnyArray:
    """Return a column of the table by its name, or of an array by its position."""
    if is_frame(X):
        frame = frame_of(X)
        if name not in frame.columns:
            listed = ", ".join(map(repr, frame.columns[:6]))
            raise _refused(f"there is no column {name!r}; there are {listed}")
        return np.asarray(frame.get_column(name).to_numpy())
    array = np.asarray(X)
    if not isinstance(name, Integral) or not 0 <= int(name) < array.shape[1]:
        raise _refused(
            f"there is no column {name!r}: X has no names, so use a position from 0 to "
            f"{array.shape[1] - 1}, or a mask for each subgroup"
        )
    return array[:, int(name)]


def _refused(found: str) -> ParameterError:
    return ParameterError(f"subgroups: {found}.", parameter="subgroups")
