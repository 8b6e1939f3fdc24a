"""What a search declares, and how names, selectors and orders of a user become searches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

from pinsker.encoding import Encoded, find_features
from pinsker.exceptions import ParameterError
from pinsker.search._deadline import Deadline
from pinsker.search._knn import given_order
from pinsker.search._path import SelectionPath

#: Rows that a search looks at unless it declares something else.
MOST_SEARCHED = 2000
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
    n_screened: int | None = None  # features that it looks at in wide tables; None: all
    is_given: bool = False  # whether the user gave the order, so that no rows were searched
    parts: tuple[int, ...] = (0,)  # which of the paths that `find` returns, one for each name

    def run(self, table: Encoded) -> tuple[SelectionPath, ...]:
        """Search the rows of a table, and return a path for each name."""
        found = self.find(table)
        paths = found if isinstance(found, tuple) else (found,)
        return tuple(paths[part] for part in self.parts)


@runtime_checkable
class Searcher(Protocol):
    """A selector that offers its search alone."""

    def as_search(self, fixed: tuple[int, ...], seed: int) -> Search:
        """Return the search, and what it takes."""


def search_of(
    item: Any, problem: Encoded, fixed: tuple[int, ...], seed: int, named: dict[str, Search]
) -> Search:
    """Return the search that an item of a user's list stands for."""
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
    order = [
        feature for column in listed for feature in find_features(problem, [column], "searches")
    ]
    if not order:
        raise ParameterError(
            f"searches: {item!r} is no search: use a name, a selector (made with its "
            "parentheses), or a (name, order) pair that lists columns."
        )
    ranked = tuple(dict.fromkeys([*fixed, *order]))
    find = partial(given_order, order=ranked, n_fixed=len(fixed))
    return Search((name,), find, cost=0, is_given=True)


def joined(searches: Iterable[Search]) -> list[Search]:
    """Let searches that find their paths by the same function run as one."""
    together: dict[int, Search] = {}
    for one in searches:
        other = together.get(id(one.find))
        if other is not None:
            names, parts = other.names + one.names, other.parts + one.parts
            one = replace(one, names=names, parts=parts, cost=max(one.cost, other.cost))
        together[id(one.find)] = one
    return list(together.values())


def cheapest_first(searches: Sequence[Search]) -> list[Search]:
    """Return searches in the order of their cost."""
    return sorted(searches, key=lambda search: search.cost)


def searches_in_time(searches: Sequence[Search], deadline: Deadline) -> Iterator[Sequence[Search]]:
    """Yield all searches together, or in turn as long as there is time; the first in any case."""
    if deadline.seconds is None:
        yield searches
        if deadline.is_interrupted and deadline.left_out:  # all of them: one has to be finished
            deadline.must_finish = True
            yield cheapest_first(searches)[:1]
            deadline.must_finish = False
        return
    for search in searches:
        if not deadline.skips(describe_searches([search])):
            yield [search]
        deadline.part = _PART_OF_SEARCHES


def describe_searches(searches: Sequence[Search]) -> str:
    """Return the names of the paths, for a note."""
    return f"search {' and '.join(name for search in searches for name in search.names)}"
