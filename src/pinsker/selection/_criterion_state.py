"""What a search by criterion knows while it runs: scores, the chosen set, and chance."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.engine import NATS_PER_COST
from pinsker.selection._criteria import Criterion
from pinsker.selection._criterion_search import TIE_TOLERANCE, CriterionSearch

#: Below so many rows per occupied cell the information of a set is not counted any more: with
#: empty cells the plug-in finds every set as good as every other.
ROWS_PER_CELL = 5.0


class ChosenSet:
    """The chosen features as one, for as long as their joint table is filled.

    Parameters
    ----------
    tables : CountTables or PartitionTables
        The features and the classes.

    Attributes
    ----------
    information : float
        I(Y; X_S) in nats, of the largest set whose cells hold `ROWS_PER_CELL` rows on average.
    n_counted : int
        Size of that set.
    """

    def __init__(self, tables: Any) -> None:
        self._tables = tables
        self._group = tables.nothing()
        self.information = 0.0
        self.n_counted = 0
        self._filled = True

    def join(self, feature: int) -> Any:
        """Join one more feature, unless the cells are too empty already; return what to count."""
        if not self._filled:
            return None
        self._group = self._tables.join(self._group, feature)
        return self._group

    def count(self) -> None:
        """Count the joint table, unless its cells are too empty."""
        if not self._filled:
            return
        n_cells = self._tables.n_cells(self._group)
        self._filled = bool(self._tables.n_rows >= ROWS_PER_CELL * n_cells)
        if self._filled:
            with_classes, alone = self._tables.of_group(self._group)
            costs = with_classes - alone - self._of_classes + self._tables.base
            self.information = costs * NATS_PER_COST
            self.n_counted += 1

    @property
    def target_entropy(self) -> float:
        """H(Y) in nats: more information than that there cannot be."""
        return float((self._tables.base - self._of_classes) * NATS_PER_COST)

    @cached_property
    def _of_classes(self) -> int:
        return int(self._tables.of_group(self._tables.nothing())[0])


class CriterionState:
    """A running search: the real one, and shuffled ones that show what chance would score.

    Parameters
    ----------
    tables : CountTables or PartitionTables
        The features and the classes.
    criterion : Criterion
        The formula.
    shuffles : sequence of ndarray
        Row orders; in each of them the candidates meet the classes and choices of other rows.
    """

    def __init__(
        self, tables: Any, criterion: Criterion, shuffles: Sequence[IntArray] = ()
    ) -> None:
        self._search = CriterionSearch(tables, criterion)
        self._shadows = [CriterionSearch(tables.shuffled(order), criterion) for order in shuffles]
        self.chosen_set = ChosenSet(tables)

    @property
    def active(self) -> tuple[int, ...]:
        """The chosen features, in order of choice."""
        return tuple(self._search.chosen)

    @property
    def information(self) -> float:
        """I(Y; X_S) in nats, as far as it can be counted; see `ChosenSet`."""
        return self.chosen_set.information

    def scores(self) -> FloatArray:
        """Return the score of every candidate, NaN for the others."""
        return self._search.scores()

    def is_exhausted(self, best: float) -> bool:
        """Whether a best score of this size says that nothing is left to gain."""
        return self._search.is_exhausted(best)

    def p_value(self, best: float) -> float:
        """Return how often the best of the shuffled candidates scores as high; NaN if untested."""
        if not self._shadows:
            return float("nan")
        least = best - TIE_TOLERANCE * max(1.0, abs(best))
        beaten = sum(float(np.nanmax(shadow.scores())) >= least for shadow in self._shadows)
        return (1 + beaten) / (1 + len(self._shadows))

    def add(self, unit: int) -> None:
        """Choose a feature."""
        for search in (self._search, *self._shadows):
            search.add(unit)
        self._search.expect(self.chosen_set.join(unit))
        self.chosen_set.count()
