"""Which searches are tried: names, selectors and orders become functions from a table to paths."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from pinsker._notes import Notes
from pinsker.encoding import Encoded, find_features
from pinsker.exceptions import ParameterError
from pinsker.search._criterion import count_and_search
from pinsker.search._deadline import Deadline
from pinsker.search._knn import (
    NEIGHBORS_TAKE_NO_WEIGHTS,
    WIDE,
    KNNSearchSettings,
    backward,
    forward_backward_and_forward,
    given_order,
    relevance,
)
from pinsker.search._linear import linear_where_rows_allow
from pinsker.search._pairs import has_hidden_pair, pairs
from pinsker.search._path import SelectionPath

#: Searches of ``searches="auto"``; the models are compared on sets of the first one.
AUTO_SEARCHES = ("forward-backward", "backward", "forward", "linear", "relevance")
#: The same where rows are plenty: neighbors among some of them, counts of many more.
AUTO_LARGE = ("forward-backward", "jmi", "cmim", "backward", "forward", "linear")
#: The same where rows have weights, which neighbors do not take.
AUTO_WEIGHTED = ("jmi", "cmim", "linear")
#: From cheap to costly: what is searched first where time is limited.
_BY_COST = ("relevance", "linear", "jmi", "cmim", "forward", "forward-backward", "backward")
#: Growing searches of the front door go so far: sets beyond are the backward search's to find.
_MOST_GROWN = 64
#: Neighbors in wide tables are searched among so many features: growing reaches fewer.
_MOST_SCREENED = 100
_BY_NEIGHBORS = ("forward-backward", "backward", "forward", "relevance")
#: Additions without a rise after which growing ends.
_PATIENCE = 10
#: Backward by neighbors starts where they see least, and costs most, on wide tables.
_MOST_BACKWARD = 500
#: Of a time limit searches may take so much: what they find has to be evaluated.
_PART_OF_SEARCHES = 0.5


@dataclass(frozen=True, eq=False)
class Search:
    """One or several paths that are found together, on any rows of a table."""

    names: tuple[str, ...]  # names of the paths in comparisons
    run: Callable[[Encoded], tuple[SelectionPath, ...]]

    @property
    def most_rows(self) -> int:
        """Rows that it can use."""
        return 20_000 if self.names[0] in ("jmi", "cmim", "cmim per cost") else 2000


def auto_searches(table: Encoded, *, of_many_rows: bool = False) -> tuple[str, ...]:
    """Return those of the searches of "auto" that are worth their time on a table."""
    names = AUTO_LARGE if of_many_rows else AUTO_SEARCHES
    left_out = {"backward"} if table.n_features > _MOST_BACKWARD else set()
    if of_many_rows:
        categories = sum(len(known) for known in table.columns.categories if known is not None)
        if table.columns.n_columns + categories > table.n_rows // 3:
            left_out.add("linear")
    return tuple(name for name in names if name not in left_out)


def named_searches(
    searches: Literal["auto"] | Sequence[Any],
    problem: Encoded,
    settings: KNNSearchSettings,
    fixed: tuple[int, ...] = (),
    auto: tuple[str, ...] = AUTO_SEARCHES,
) -> tuple[tuple[str, ...], list[Search]]:
    """Return the names of the paths that a user asked for, in order, and the searches for them."""
    if isinstance(searches, str) and searches != "auto":
        raise ParameterError(f"searches={searches!r}: use 'auto' or a list of names and selectors.")
    weighted = problem.weights is not None
    listed = tuple(auto if isinstance(searches, str) else searches)
    if weighted and isinstance(searches, str):
        listed = AUTO_WEIGHTED
    if weighted and {"pairs", *_BY_NEIGHBORS} & {item for item in listed if isinstance(item, str)}:
        raise ParameterError(NEIGHBORS_TAKE_NO_WEIGHTS, parameter="searches")
    if isinstance(searches, str) and not weighted and has_hidden_pair(problem, settings.seed):
        listed = ("pairs", *listed)  # first: its sets show which models can tell
    settings = replace(settings, max_candidates=_MOST_SCREENED)
    names = [_name_of(item) for item in listed]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        fault = f"names {repeated[0]!r} twice" if repeated else "is empty"
        raise ParameterError(f"searches {fault}: give every search a name of its own.")
    found = [_search_of(item, problem, settings, fixed) for item in listed]
    return tuple(names), _share_growth(found, settings, fixed)


def screening_notes(names: Sequence[str], n_features: int) -> Notes:
    """Return a note where neighbors are searched among some features only."""
    if n_features <= WIDE or not set(names) & set(_BY_NEIGHBORS):
        return ()
    note = (
        f"searches by neighbors looked at the {_MOST_SCREENED} of {n_features} features that joint "
        "mutual information of counts ranked first, and measured at most 500 rows"
    )
    return (note,)


def cheapest_first(searches: Sequence[Search]) -> tuple[tuple[str, ...], list[Search]]:
    """Return searches in the order of their cost, and the names of their paths."""
    ordered = sorted(
        searches,
        key=lambda one: _BY_COST.index(one.names[0]) if one.names[0] in _BY_COST else len(_BY_COST),
    )
    return tuple(name for search in ordered for name in search.names), ordered


def searches_in_time(searches: Sequence[Search], deadline: Deadline) -> Iterator[Sequence[Search]]:
    """Yield all searches together, or in turn as long as there is time; the first in any case."""
    if deadline.seconds is None:
        yield searches
        if deadline.is_interrupted and deadline.left_out:  # all of them: one has to be finished
            deadline.must_finish = True
            yield cheapest_first(searches)[1][:1]
            deadline.must_finish = False
        return
    for search in searches:
        if not deadline.skips(describe_searches([search])):
            yield [search]
        deadline.part = _PART_OF_SEARCHES


def describe_searches(searches: Sequence[Search]) -> str:
    """Return the names of the paths, for a note."""
    return f"search {' and '.join(name for search in searches for name in search.names)}"


def _name_of(item: Any) -> str:
    if isinstance(item, str):
        return item
    return str(item[0]) if isinstance(item, tuple) and item else type(item).__name__


def _search_of(
    item: Any, problem: Encoded, settings: KNNSearchSettings, fixed: tuple[int, ...]
) -> Search:
    name = _name_of(item)
    if isinstance(item, str):
        return Search((name,), _named(name, settings, fixed))
    found = item[1] if isinstance(item, tuple) and len(item) == 2 else item
    if hasattr(found, "as_search") and not isinstance(found, type):
        return Search((name,), partial(_one, function=found.as_search(fixed, settings.seed)))
    listed = () if isinstance(found, str | type) or not hasattr(found, "__iter__") else found
    order = [
        feature for column in listed for feature in find_features(problem, [column], "searches")
    ]
    if not order:
        raise ParameterError(
            f"searches: {item!r} is no search: use a name, a selector (made with its "
            "parentheses), or a (name, order) pair that lists columns."
        )
    ranked = tuple(dict.fromkeys([*fixed, *order]))
    return Search(
        (name,), partial(_one, function=partial(given_order, order=ranked, n_fixed=len(fixed)))
    )


def _named(
    name: str, settings: KNNSearchSettings, fixed: tuple[int, ...]
) -> Callable[[Encoded], tuple[SelectionPath, ...]]:
    grown = _growing(settings, fixed)
    linear = partial(linear_where_rows_allow, fixed=fixed, at_least=settings.at_least)
    both = partial(forward_backward_and_forward, settings=grown, fixed=fixed)
    searches: dict[str, Callable[[Encoded], tuple[SelectionPath, ...]]] = {
        "forward-backward": partial(_part, function=both, part=0),
        "backward": partial(_one, function=partial(backward, settings=settings, fixed=fixed)),
        "forward": partial(_part, function=both, part=1),
        "linear": partial(_one, function=linear),
        "relevance": partial(_one, function=partial(relevance, settings=settings, fixed=fixed)),
        "jmi": partial(_one, function=partial(count_and_search, criterion="jmi", fixed=fixed)),
        "cmim": partial(_one, function=partial(count_and_search, criterion="cmim", fixed=fixed)),
        "pairs": partial(_one, function=partial(pairs, fixed=fixed, seed=settings.seed)),
    }
    if name not in searches:
        known = ", ".join(map(repr, [*AUTO_SEARCHES, "jmi", "cmim", "pairs"]))
        raise ParameterError(f"searches: {name!r} is none of {known}.")
    return searches[name]


def _growing(settings: KNNSearchSettings, fixed: tuple[int, ...]) -> KNNSearchSettings:
    """Return the settings of the growing searches."""
    most = max(_MOST_GROWN, settings.at_least, len(fixed))
    return replace(settings, patience=_PATIENCE, max_features=most)


def _share_growth(
    found: list[Search], settings: KNNSearchSettings, fixed: tuple[int, ...]
) -> list[Search]:
    """Let the two searches that begin with the same growth run as one."""
    pair = ("forward-backward", "forward")
    if not all(any(search.names == (name,) for search in found) for name in pair):
        return found
    both = partial(forward_backward_and_forward, settings=_growing(settings, fixed), fixed=fixed)
    place = next(i for i, search in enumerate(found) if search.names[0] in pair)
    rest = [search for search in found if search.names[0] not in pair]
    return [*rest[:place], Search(pair, both), *rest[place:]]


def _one(
    problem: Encoded, function: Callable[[Encoded], SelectionPath]
) -> tuple[SelectionPath, ...]:
    return (function(problem),)


def _part(
    problem: Encoded, function: Callable[[Encoded], tuple[SelectionPath, ...]], part: int
) -> tuple[SelectionPath, ...]:
    return (function(problem)[part],)
