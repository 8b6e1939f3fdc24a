"""The searches that have a name, what they declare, and which of them "auto" tries."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import ColumnChoice, FloatArray, IntArray, Unchecked
from pinsker.encoding import Encoded, find_features, take_rows
from pinsker.exceptions import ParameterError
from pinsker.search._criteria import CountedProblem, CountingSettings, criterion_named
from pinsker.search._criterion import CriterionState, count_and_search
from pinsker.search._elimination import elimination
from pinsker.search._knn import (
    NEIGHBORS_TAKE_NO_WEIGHTS,
    WIDE,
    KNNSearchSettings,
    backward,
    forward_backward_and_forward,
    given_order,
    has_hidden_pair,
    pairs,
    relevance,
)
from pinsker.search._linear import linear_where_rows_allow, one_hot_width
from pinsker.search._path import ROUNDING, Deadline, SelectionPath

_refused = partial(ParameterError, parameter="feature_costs")
#: This part of the mean price is added to every price that gains are divided by: noise has a
#: little gain by chance, and shall not come first because it is free.
_SMALLEST_PRICE = 0.05
#: This many features are ordered by gain per cost; the others follow by their prices.
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
    def read(cls, feature_costs: ColumnChoice, encoded: Encoded) -> "FeatureCosts":
        if feature_costs is None:
            return cls.unit(encoded.n_features)
        if not isinstance(feature_costs, Mapping):
            names, listed = encoded.given_names or encoded.columns.names, list(feature_costs)
            if len(listed) != len(names):
                raise _refused(
                    f"feature_costs holds {len(listed)} prices, but the table has {len(names)} "
                    "columns: give one for each, or a dict by name."
                )
            feature_costs = dict(enumerate(listed))
        own: FloatArray = np.zeros(encoded.n_features)
        shared: list[tuple[float, frozenset[int]]] = []
        named: set[int] = set()
        for item, price in feature_costs.items():
            try:
                value = float(price)
            except (TypeError, ValueError):
                value = float("nan")
            if not 0.0 <= value < float("inf"):
                raise _refused(
                    f"feature_costs: the price of {item!r} is {price!r}; give a number, 0 or more."
                )
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
        chosen = set(features)
        bought = sum(price for price, members in self.shared if members & chosen)
        return float(sum(self.own[feature] for feature in chosen) + bought)

    def added(self, chosen: Sequence[int]) -> FloatArray:
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
    def notes(self) -> Notes:
        return (Note("free", self.free),) if self.free else ()


def by_cost(
    problem: Encoded, costs: FeatureCosts, fixed: tuple[int, ...] = ()
) -> tuple[SelectionPath, ...]:
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


#: Rows that a search looks at unless it declares something else.
MOST_SEARCHED = 2000
#: Where a table has this many times more indicators than rows, searches by them come last.
_MUCH_WIDER = 4
#: Of a time limit searches may take this part: what they find has to be evaluated.
_PART_OF_SEARCHES = 0.5


@dataclass(frozen=True, eq=False)
class Search:
    """One or several paths that are found together, and what it takes to find them."""

    names: tuple[str, ...]  # names of the paths in comparisons
    find: Callable[[Encoded], SelectionPath | tuple[SelectionPath, ...]]
    cost: int  # searches of a lower one come first where time is limited
    most_rows: int | None = MOST_SEARCHED  # rows that it can use; None: any number
    takes_weights: bool = True
    by_indicators: bool = False  # whether it lays out an indicator for each category
    n_screened: int | None = None  # features that it looks at in wide tables; None: all
    is_given: bool = False  # whether the user gave the order, so that no rows were searched
    parts: tuple[int, ...] = (0,)  # which of the paths that `find` returns, one for each name


def search_rows(
    encoded: Encoded, search: Search, rows: IntArray | None = None
) -> tuple[SelectionPath, ...]:
    """Search some rows of a table, or all of them, and return a path for each name."""
    found = search.find(encoded if rows is None else take_rows(encoded, rows))
    paths = found if isinstance(found, tuple) else (found,)
    return tuple(paths[part] for part in search.parts)


def search_until(
    deadline: Deadline, encoded: Encoded, searches: Iterable[Search], name: str
) -> SelectionPath:
    """Return the path of one name, as far as there is time: it is all there will be."""
    deadline.part, deadline.keeps_steps = 1.0, True
    search = next(one for one in searches if name in one.names)
    path = search_rows(encoded, search)[search.names.index(name)]
    if deadline.skips(f"steps of {describe_searches([search])}"):
        path = replace(path, complete=False)
    return path


@runtime_checkable
class Searcher(Protocol):
    """A selector that offers its search alone."""

    def as_search(self, fixed: tuple[int, ...], seed: int) -> Search: ...


def search_of(
    item: Unchecked, problem: Encoded, fixed: tuple[int, ...], seed: int, named: dict[str, Search]
) -> Search:
    if isinstance(item, str):
        if item not in named:
            known = ", ".join(map(repr, named))
            raise ParameterError(f"searches: {item!r} is none of {known}.")
        return named[item]
    has_name = isinstance(item, tuple) and len(item) == 2
    name = str(item[0]) if isinstance(item, tuple) and item else type(item).__name__
    found = item[1] if has_name else item
    if isinstance(found, Searcher) and not isinstance(found, type):
        return replace(found.as_search(fixed, seed), names=(name,))
    listed = found if isinstance(found, Iterable) and not isinstance(found, str | type) else ()
    order = [one for column in listed for one in find_features(problem, [column], "searches")]
    if not order:
        raise ParameterError(
            f"searches: {item!r} is no search: use a name, a selector (made with its "
            "parentheses), or a (name, order) pair that lists columns."
        )
    ranked = tuple(dict.fromkeys([*fixed, *order]))
    find = partial(given_order, order=ranked, n_fixed=len(fixed))
    return Search((name,), find, cost=0, is_given=True)


def searches_in_time(searches: Sequence[Search], deadline: Deadline) -> Iterator[Sequence[Search]]:
    """Yield all searches together, or in turn as long as there is time; the first in any case."""
    if deadline.seconds is None:
        yield searches
        if deadline.is_interrupted and deadline.left_out:  # all of them: one has to be finished
            deadline.must_finish = True
            yield [min(searches, key=attrgetter("cost"))]
            deadline.must_finish = False
        return
    deadline.part, deadline.must_finish = _PART_OF_SEARCHES, True
    for search in searches:
        if not deadline.skips(describe_searches([search])):
            yield [search]
        deadline.must_finish = False


def describe_searches(searches: Sequence[Search]) -> str:
    return f"search {' and '.join(name for search in searches for name in search.names)}"


#: Searches of "auto"; the models are compared on sets of the first one.
_AUTO = ("forward-backward", "backward", "forward", "linear", "relevance")
#: The same where rows are plenty: neighbors among some of them, counts of many more.
_AUTO_LARGE = ("forward-backward", "jmi", "cmim", "backward", "forward", "linear")
#: Rows that neighbors are looked up for, among all: paths are proposals that held-out rows judge.
_SAMPLED = 500
#: The same for many numeric targets: neighbors in this many dimensions are costly, and far.
_AUTO_MANY_TARGETS = ("elimination", "linear")
_MOST_TARGETS = 5
#: Growing searches go this far: sets beyond are the backward search's to find.
_MOST_GROWN = 64
#: Neighbors in wide tables are searched among this many features: growing reaches fewer.
_MOST_SCREENED = 100
#: Additions without a rise after which growing ends.
_PATIENCE = 10
#: Backward by neighbors starts where they see least and costs most: on wide tables it is left out.
_MOST_BACKWARD = 40
#: Of more features neighbors see the first 100 by counts alone, and a growing linear model ends at
#: 50, at more time than all others together: of three wide tables none had a set of theirs.
_MOST_BY_NEIGHBORS = 1000
#: From this many features on orders of all of them are tried first.
_MANY = 100


def catalog(settings: KNNSearchSettings, fixed: tuple[int, ...] = ()) -> dict[str, Search]:
    knn = settings.knn if settings.knn.max_samples else replace(settings.knn, max_samples=_SAMPLED)
    settings = replace(settings, knn=knn, max_candidates=_MOST_SCREENED)
    most = max(_MOST_GROWN, settings.at_least, len(fixed))
    growing = replace(settings, patience=_PATIENCE, max_features=most)
    growth = partial(forward_backward_and_forward, settings=growing, fixed=fixed)
    by_neighbors = partial(Search, takes_weights=False, n_screened=_MOST_SCREENED)
    by_counts = partial(Search, cost=2, most_rows=None)
    counted = partial(count_and_search, fixed=fixed)
    linear = partial(linear_where_rows_allow, fixed=fixed, at_least=settings.at_least)
    linear = partial(linear, on_step=settings.deadline.checked(None))
    eliminated = partial(elimination, fixed=fixed, deadline=settings.deadline)
    ranked = partial(relevance, settings=settings, fixed=fixed)
    paired = partial(pairs, fixed=fixed, seed=settings.seed)
    listed = (
        by_neighbors(("forward-backward",), growth, cost=4),
        by_neighbors(("backward",), partial(backward, settings=settings, fixed=fixed), cost=5),
        by_neighbors(("forward",), growth, cost=3, parts=(1,)),
        Search(("linear",), linear, cost=1, by_indicators=True),
        by_neighbors(("relevance",), ranked, cost=0),
        by_counts(("jmi",), partial(counted, criterion="jmi")),
        by_counts(("cmim",), partial(counted, criterion="cmim")),
        Search(("elimination",), eliminated, cost=1, by_indicators=True),
        Search(("pairs",), paired, cost=6, takes_weights=False),
    )
    return {search.names[0]: search for search in listed}


#: Names that a user may list.
SEARCHES = tuple(catalog(KNNSearchSettings()))


def named_searches(
    searches: Literal["auto"] | Sequence[Any],
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: tuple[int, ...] = (),
    *,
    of_many_rows: bool = False,
    costs: FeatureCosts | None = None,
) -> tuple[tuple[str, ...], list[Search]]:
    """Return the names of the paths that a user asked for, in order, and the searches for them."""
    named = catalog(settings, fixed)
    if isinstance(searches, str):
        if searches != "auto":
            raise ParameterError(
                f"searches={searches!r}: use 'auto' or a list of names and selectors."
            )
        found = _auto(problem, named, settings, of_many_rows=of_many_rows)
    else:
        found = [search_of(item, problem, fixed, settings.seed, named) for item in searches]
    names = [name for search in found for name in search.names]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        fault = f"names {repeated[0]!r} twice" if repeated else "is empty"
        raise ParameterError(f"searches {fault}: give every search a name of its own.")
    if problem.weights is not None and not all(search.takes_weights for search in found):
        raise ParameterError(NEIGHBORS_TAKE_NO_WEIGHTS, parameter="searches")
    if costs is not None and isinstance(searches, str):
        find = partial(by_cost, costs=costs, fixed=fixed)
        by_price = ("cmim per cost", "cheapest first")
        found.append(Search(by_price, find, cost=6, most_rows=None, parts=(0, 1)))
        names.extend(by_price)
    together: dict[int, Search] = {}  # those that find their paths by the same function run as one
    for one in found:
        other = together.get(id(one.find))
        if other is not None:
            both, parts = other.names + one.names, other.parts + one.parts
            one = replace(one, names=both, parts=parts, cost=max(one.cost, other.cost))
        together[id(one.find)] = one
    found = list(together.values())
    if settings.deadline.seconds is not None:  # the names stay: with time enough nothing changes
        wide = one_hot_width(problem) > _MUCH_WIDER * problem.n_rows
        found = sorted(found, key=lambda one: (wide and one.by_indicators, one.cost))
    return tuple(names), found


def _auto(
    table: Encoded, named: dict[str, Search], settings: KNNSearchSettings, *, of_many_rows: bool
) -> list[Search]:
    if table.weights is not None:
        return [named[name] for name in _AUTO_LARGE if named[name].takes_weights]
    left_out = {"backward"} if table.n_features > _MOST_BACKWARD else set()
    width = one_hot_width(table)
    if of_many_rows or width > table.columns.n_columns:  # of text, a factorization of its own
        most = min(table.n_rows // 3, MOST_SEARCHED) if of_many_rows else table.n_rows
        left_out |= {"linear"} if width > most else set()
    raw = table.target.raw
    n_targets = 1 if raw is None or table.target.task == "survival" else raw.shape[1]
    listed: tuple[str, ...] = _AUTO_LARGE if of_many_rows else _AUTO
    if n_targets > _MOST_TARGETS:
        listed = _AUTO_MANY_TARGETS
    names = [name for name in listed if name not in left_out]
    if table.n_features > _MANY:  # neighbors and growing searches end before these do
        first = ["elimination", *(["cmim"] if n_targets <= _MOST_TARGETS else [])]
        names = [*first, *(name for name in names if name not in first)]
        left_out |= {"relevance"} if table.n_features > WIDE else set()
        if table.n_features > _MOST_BY_NEIGHBORS:
            left_out |= {"linear", *(name for name in names if named[name].n_screened)}
        names = [name for name in names if name not in left_out]
    if not settings.deadline.is_over and has_hidden_pair(table, settings.seed):
        names.insert(0, "pairs")  # first: its sets show which models can tell
    return [named[name] for name in names]


def screening_notes(searches: Sequence[Search], found: Collection[str], n_features: int) -> Notes:
    """Return a note where some of the paths that were found are about screened features only."""
    names = {name for search in searches if search.n_screened for name in search.names}
    if n_features <= WIDE or names.isdisjoint(found):
        return ()
    figures = {"screened": _MOST_SCREENED, "n_features": n_features}
    return (Note("screened", figures=figures),)
