"""Paths of all searches, found without the rows that evaluate them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pinsker._types import IntArray
from pinsker.encoding import Encoded, take_rows
from pinsker.holdout._context import FitContext
from pinsker.holdout._evaluate import FeatureSet
from pinsker.holdout._rows import RowPlan
from pinsker.search import Search, SelectionPath, describe_searches, searches_in_time


@dataclass(frozen=True, eq=False)
class FoundPaths:
    """The path of every search that would be kept, and the order that each fold evaluates."""

    paths: dict[str, SelectionPath] = field(default_factory=dict)
    orders: dict[str, list[FeatureSet]] = field(default_factory=dict)

    def longest(self, name: str) -> int:
        """Return the largest size that a path has on all rows and in every fold."""
        return min(len(order) for order in [self.paths[name].order, *self.orders[name]])


def search_paths(
    context: FitContext,
    plan: RowPlan,
    searches: Sequence[Search],
    names: Sequence[str],
    known: dict[str, SelectionPath] | None = None,
) -> FoundPaths:
    """Search every path without the rows that evaluate it, and on all rows where these search.

    Their order is that of `names`; paths in `known` were found on all rows already.
    """
    found, known = FoundPaths(), known or {}
    for some in searches_in_time(searches, context.deadline):
        with context.deadline.leaving_out(describe_searches(some)):
            _search(context, plan, some, known, found)
    paths = {name: found.paths[name] for name in names if name in found.paths}
    return FoundPaths(paths, found.orders)


def _search(
    context: FitContext,
    plan: RowPlan,
    searches: Sequence[Search],
    known: dict[str, SelectionPath],
    found: FoundPaths,
) -> None:
    """Run some searches side by side."""
    wanted = [
        (search, k)
        for search in searches
        for k in range(-1 if plan.crosses else 0, len(plan.searched))
        if k >= 0 or not all(name in known for name in search.names)
    ]
    calls = [(search.run, _rows_of(plan, search, k)) for search, k in wanted]
    several = context.jobs.run(search_rows, context.encoded, calls, context.n_searches)
    paths = {
        (name, k): path
        for (search, k), some in zip(wanted, several, strict=True)
        for name, path in zip(search.names, some, strict=True)
    }
    for search in searches:
        for name in search.names:
            kept = paths[name, -1 if plan.crosses else 0] if name not in known else known[name]
            found.paths[name] = kept
            found.orders[name] = [paths[name, k].order for k in plan.search_of_fold]


def _rows_of(plan: RowPlan, search: Search, k: int) -> IntArray | None:
    """Return the rows of a search: of a part of a large table as many as it can use."""
    if k < 0:
        return None
    rows = plan.searched[k]
    return rows if plan.certify is None else rows[: search.most_rows]


def search_rows(
    encoded: Encoded,
    run: Callable[[Encoded], tuple[SelectionPath, ...]],
    rows: IntArray | None,
) -> tuple[SelectionPath, ...]:
    """Run a search on some rows of a table; None stands for all."""
    return run(encoded if rows is None else take_rows(encoded, rows))
