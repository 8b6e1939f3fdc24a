"""A route: a named way to search a path on any rows."""

from collections.abc import Callable
from dataclasses import dataclass

from pinsker._types import IntArray
from pinsker.encoding import Encoded
from pinsker.selection._base import InformationSelector
from pinsker.selection._crossfit_folds import take_rows
from pinsker.selection._path import SelectionPath
from pinsker.selection._run import Run
from pinsker.selection._search import Watch
from pinsker.selection._watch import Watches

Search = Callable[[Encoded], SelectionPath]


@dataclass(frozen=True, eq=False)
class Route:
    """A named way to search a path on any rows.

    Attributes
    ----------
    name : str
        Name in comparisons.
    search : callable
        From an encoded table to a path.
    """

    name: str
    search: Search


def search_rows(encoded: Encoded, search: Search, rows: IntArray | None) -> SelectionPath:
    """Search a path on some rows of a table; None stands for all."""
    return search(encoded if rows is None else take_rows(encoded, rows))


class QuietRun(Run):
    """A search inside of another: nobody watches."""

    def watch(self, n_steps: int) -> Watch:  # noqa: ARG002
        """Return a watch that says nothing."""
        return Watches([])


def find_path(
    selector: InformationSelector, encoded: Encoded, forced: tuple[int, ...]
) -> SelectionPath:
    """Search the path of a selector on some rows, without fitting it."""
    rule = selector._rule()
    run = QuietRun(selector, encoded, selector._facts(encoded), rule, forced, None, None)
    path = selector._search(encoded, None, run)
    if run.lost:
        raise run.lost
    if run.interrupted:
        raise KeyboardInterrupt  # a path that was broken off must not be judged as if it were whole
    return path
