"""The searches that have a name, and which of them "auto" tries: the only place with names."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pinsker._notes import Notes
from pinsker.encoding import Encoded
from pinsker.exceptions import ParameterError
from pinsker.search._costs import FeatureCosts, by_cost
from pinsker.search._criterion import count_and_search
from pinsker.search._elimination import elimination
from pinsker.search._knn import (
    NEIGHBORS_TAKE_NO_WEIGHTS,
    WIDE,
    KNNSearchSettings,
    backward,
    forward_backward_and_forward,
    relevance,
)
from pinsker.search._linear import linear_where_rows_allow
from pinsker.search._pairs import has_hidden_pair, pairs
from pinsker.search._searches import Search, cheapest_first, joined, search_of

#: Searches of "auto"; the models are compared on sets of the first one.
_AUTO = ("forward-backward", "backward", "forward", "linear", "relevance")
#: The same where rows are plenty: neighbors among some of them, counts of many more.
_AUTO_LARGE = ("forward-backward", "jmi", "cmim", "backward", "forward", "linear")
#: Growing searches go this far: sets beyond are the backward search's to find.
_MOST_GROWN = 64
#: Neighbors in wide tables are searched among this many features: growing reaches fewer.
_MOST_SCREENED = 100
#: Additions without a rise after which growing ends.
_PATIENCE = 10
#: Backward by neighbors starts where they see least, and costs most, on wide tables.
_MOST_BACKWARD = 500
#: From this many features on orders of all of them are tried first.
_MANY = 100


def catalog(settings: KNNSearchSettings, fixed: tuple[int, ...] = ()) -> dict[str, Search]:
    """Return the searches that have a name."""
    settings = replace(settings, max_candidates=_MOST_SCREENED)
    most = max(_MOST_GROWN, settings.at_least, len(fixed))
    growing = replace(settings, patience=_PATIENCE, max_features=most)
    growth = partial(forward_backward_and_forward, settings=growing, fixed=fixed)
    by_neighbors = partial(Search, takes_weights=False, n_screened=_MOST_SCREENED)
    by_counts = partial(Search, cost=2, most_rows=None)
    counted = partial(count_and_search, fixed=fixed)
    linear = partial(linear_where_rows_allow, fixed=fixed, at_least=settings.at_least)
    ranked = partial(relevance, settings=settings, fixed=fixed)
    paired = partial(pairs, fixed=fixed, seed=settings.seed)
    listed = (
        by_neighbors(("forward-backward",), growth, cost=4),
        by_neighbors(("backward",), partial(backward, settings=settings, fixed=fixed), cost=5),
        by_neighbors(("forward",), growth, cost=3, parts=(1,)),
        Search(("linear",), linear, cost=1),
        by_neighbors(("relevance",), ranked, cost=0),
        by_counts(("jmi",), partial(counted, criterion="jmi")),
        by_counts(("cmim",), partial(counted, criterion="cmim")),
        Search(("elimination",), partial(elimination, fixed=fixed), cost=1),
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
        found = _auto(problem, named, settings.seed, of_many_rows=of_many_rows)
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
        both = ("cmim per cost", "cheapest first")
        found.append(Search(both, find, cost=6, most_rows=None, parts=(0, 1)))
        names.extend(both)
    found = joined(found)
    if settings.deadline.seconds is None:
        return tuple(names), found
    found = cheapest_first(found)
    return tuple(name for search in found for name in search.names), found


def _auto(
    table: Encoded, named: dict[str, Search], seed: int, *, of_many_rows: bool
) -> list[Search]:
    """Return the searches that are worth their time on a table."""
    if table.weights is not None:
        return [named[name] for name in _AUTO_LARGE if named[name].takes_weights]
    left_out = {"backward"} if table.n_features > _MOST_BACKWARD else set()
    if of_many_rows:
        categories = sum(len(known) for known in table.columns.categories if known is not None)
        if table.columns.n_columns + categories > table.n_rows // 3:
            left_out.add("linear")
    names = [name for name in (_AUTO_LARGE if of_many_rows else _AUTO) if name not in left_out]
    if table.n_features > _MANY:  # neighbors and growing searches end before these do
        names = ["elimination", "cmim", *(name for name in names if name != "cmim")]
    if has_hidden_pair(table, seed):
        names.insert(0, "pairs")  # first: its sets show which models can tell
    return [named[name] for name in names]


def screening_notes(searches: Sequence[Search], found: Collection[str], n_features: int) -> Notes:
    """Return a note where some of the paths that were found are about screened features only."""
    names = {name for search in searches if search.n_screened for name in search.names}
    if n_features <= WIDE or names.isdisjoint(found):
        return ()
    note = (
        f"searches by neighbors looked at the {_MOST_SCREENED} of {n_features} features that joint "
        "mutual information of counts ranked first, and measured at most 500 rows"
    )
    return (note,)
