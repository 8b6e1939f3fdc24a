"""What features cost, and searches that look at gains per cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import FloatArray
from pinsker.encoding import Encoded, find_features
from pinsker.exceptions import ParameterError
from pinsker.search._counted import CountedProblem, CountingSettings
from pinsker.search._criteria import criterion_named
from pinsker.search._criterion import CriterionState
from pinsker.search._knn import given_order
from pinsker.search._path import ROUNDING, SelectionPath

#: This part of the mean price is added to every price that gains are divided by: noise has a
#: little gain by chance, and shall not come first because it is free.
_SMALLEST_PRICE = 0.05
#: So many features are ordered by gain per cost; the others follow by their prices.
_MOST_ORDERED = 100


@dataclass(frozen=True)
class FeatureCosts:
    """Prices of features, and prices that several features share."""

    own: tuple[float, ...]  # price of each feature
    shared: tuple[tuple[float, frozenset[int]], ...] = ()
    free: tuple[str, ...] = ()  # features that no price was given for

    @classmethod
    def unit(cls, n_features: int) -> "FeatureCosts":
        """Let every feature cost 1: the cheapest set is the smallest."""
        return cls((1.0,) * n_features)

    @classmethod
    def read(cls, feature_costs: Any, encoded: Encoded) -> "FeatureCosts":
        """Read the user's prices."""
        if feature_costs is None:
            return cls.unit(encoded.n_features)
        if not isinstance(feature_costs, Mapping):
            feature_costs = _by_position(feature_costs, encoded)
        own: FloatArray = np.zeros(encoded.n_features)
        shared: list[tuple[float, frozenset[int]]] = []
        named: set[int] = set()
        for item, price in feature_costs.items():
            value = _price(item, price)
            is_shared = isinstance(item, tuple | frozenset)
            columns = list(item) if is_shared else [item]
            features = find_features(encoded, columns, "feature_costs")
            named.update(features)
            if is_shared and features:
                shared.append((value, frozenset(features)))
            for feature in () if is_shared else features:
                own[feature] += value
        free = [name for f, name in enumerate(encoded.feature_names) if f not in named]
        return cls(tuple(own.tolist()), tuple(shared), tuple(free))

    def of(self, features: Iterable[int]) -> float:
        """Return what a set of features costs."""
        chosen = set(features)
        bought = sum(price for price, members in self.shared if members & chosen)
        return float(sum(self.own[feature] for feature in chosen) + bought)

    def added(self, chosen: Sequence[int]) -> FloatArray:
        """Return what each feature would add to the cost of a set."""
        more: FloatArray = np.array(self.own)
        for price, members in self.shared:
            if not members & set(chosen):
                more[list(members)] += price
        return more

    def largest_size(self, order: Sequence[int], below: float) -> int:
        """Return how many of the first features of an order cost less than a limit together."""
        added = np.array([self.own[feature] for feature in order])
        for price, members in self.shared:
            first = next((at for at, feature in enumerate(order) if feature in members), None)
            if first is not None:
                added[first] += price
        reach = ROUNDING * max(1.0, abs(below))
        return int(np.searchsorted(np.cumsum(added), below - reach))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the prices."""
        if not self.free:
            return ()
        more = f" and {len(self.free) - 5} more" if len(self.free) > 5 else ""
        return (f"no price given, so free: {', '.join(self.free[:5])}{more}",)


def by_cost(
    problem: Encoded, costs: FeatureCosts, fixed: tuple[int, ...] = ()
) -> tuple[SelectionPath, ...]:
    """Order features by gain per cost, and by cost alone."""
    tables = CountedProblem.of(problem, CountingSettings()).tables
    state = CriterionState(tables, criterion_named("cmim"))
    mean = float(np.mean(costs.added(())))
    floor = _SMALLEST_PRICE * mean if mean > 0 else 1.0
    waiting = list(fixed)
    for _ in range(min(problem.n_features, max(_MOST_ORDERED, len(fixed)))):
        scores = state.scores()
        gains = np.maximum(scores, ROUNDING) / (costs.added(state.active) + floor)
        state.add(waiting.pop(0) if waiting else int(np.nanargmax(gains)))
    found = tuple(state.active)
    alone = costs.added(())
    rest = sorted(set(range(problem.n_features)) - set(found), key=lambda f: (alone[f], f))
    per_cost = (*found, *rest)
    place = {feature: at for at, feature in enumerate(per_cost)}
    others = sorted(per_cost[len(fixed) :], key=lambda f: (alone[f], place[f]))
    orders = (per_cost, (*fixed, *others))
    return tuple(given_order(problem, order, len(fixed)) for order in orders)


def _by_position(prices: Any, encoded: Encoded) -> dict[int, float]:
    """Return one price per column as a mapping."""
    names = encoded.given_names or encoded.columns.names
    listed = list(prices)
    if len(listed) != len(names):
        raise ParameterError(
            f"feature_costs holds {len(listed)} prices, but the table has {len(names)} columns: "
            "give one for each, or a dict by name.",
            parameter="feature_costs",
        )
    return dict(enumerate(listed))


def _price(item: Any, price: Any) -> float:
    try:
        value = float(price)
    except (TypeError, ValueError):
        value = float("nan")
    if not 0.0 <= value < float("inf"):
        raise ParameterError(
            f"feature_costs: the price of {item!r} is {price!r}; give a number, 0 or more.",
            parameter="feature_costs",
        )
    return value
