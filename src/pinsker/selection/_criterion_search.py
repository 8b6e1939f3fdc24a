"""Greedy search by a criterion, on tables of integer codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.engine import Correction, CountTables, PackedColumns
from pinsker.exceptions import ParameterError
from pinsker.selection._criteria import Criterion, criterion_named
from pinsker.selection._criterion_terms import Beside, Relevance

#: Scores this close (relative to 1 or to the best, whichever is larger) are tied: they differ by
#: the rounding of a formula at most. The lowest column index wins.
TIE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class CriterionPath:
    """The features a criterion chose, in order.

    Attributes
    ----------
    criterion : str
        Name of the criterion.
    order : ndarray of shape (n_chosen,), int64
        Columns in order of choice. Shorter than asked for when nothing was left to gain ("cmi").
    scores : ndarray of shape (n_chosen,), float64
        Score of each choice at the time it was made, in nats (shares for "disr", "njmim" and
        "mrmr-quotient"). The first is I(X;Y) for every criterion.
    relevance : ndarray of shape (n_columns,), float64
        I(X;Y) of every column, in nats.
    """

    criterion: str
    order: IntArray
    scores: FloatArray
    relevance: FloatArray


class CriterionSearch:
    """The state of a greedy search: what is chosen, and the folded terms so far.

    Parameters
    ----------
    tables : CountTables or PartitionTables
        The candidates and the classes.
    criterion : Criterion
        The formula.
    """

    def __init__(self, tables: Any, criterion: Criterion) -> None:
        self._tables = tables
        self._criterion = criterion
        self._relevance = Relevance(tables)
        self._pending: list[tuple[int, ...]] = []
        self._whole: Any = None  # the chosen set as one, if the criterion looks at it
        self._folded: FloatArray | None = None
        self._active = np.ones(tables.n_columns, dtype=np.bool_)
        self.chosen: list[int] = []

    @property
    def relevance(self) -> FloatArray:
        """I(X;Y) of every column, in nats."""
        return self._relevance.values

    def scores(self) -> FloatArray:
        """Return the score of every candidate; NaN for columns that are chosen already."""
        for columns in self._pending:
            self._fold(self._group_of(columns))
        self._pending.clear()
        if self._folded is None:
            scores = self.relevance.copy()
        else:
            scores = self._criterion.score(self.relevance, self._folded, len(self.chosen)).copy()
        scores[~self._active] = np.nan
        return scores

    def add(self, column: int) -> None:
        """Choose a column. Nothing is counted before scores are asked for again."""
        beside = self._criterion.beside
        if beside == "set":
            self._whole = self._group_of((column,), self._whole)
            self._pending = [()]
        elif beside == "pair" and self.chosen:
            if len(self.chosen) == 1:  # a single W stood in for the first pair
                self._pending.clear()
                self._folded = None
            self._pending.extend((old, column) for old in self.chosen)
        else:
            self._pending.append((column,))
        self.chosen.append(column)
        self._active[column] = False

    def expect(self, also: Any = None) -> None:
        """Tell tables that are counted in passes what will be asked for: one pass does it all."""
        if not self._tables.in_passes:
            return
        groups = [self._group_of(columns) for columns in self._pending]
        self._tables.expect(groups if self._criterion.counts else [], self._active, also)

    def is_exhausted(self, best: float) -> bool:
        """Whether a best score of this size says that nothing is left to gain."""
        return self._criterion.gain and best <= TIE_TOLERANCE

    def _fold(self, group: Any) -> None:
        criterion = self._criterion
        beside = Beside(self._relevance, group, self._active, classes=criterion.classes)
        term = criterion.term(beside)
        if self._folded is None or criterion.fold == "last":
            self._folded = term
        elif criterion.fold == "sum":
            self._folded = self._folded + term
        else:
            self._folded = np.minimum(self._folded, term)

    def _group_of(self, columns: tuple[int, ...], group: Any = None) -> Any:
        """Join the values of some columns to a group; no column stands for the whole set."""
        if not columns:
            assert self._whole is not None
            return self._whole
        for column in columns:
            group = self._tables.join(group, column)
        assert group is not None
        return group


def select_by_criterion(
    codes: AnyArray | PackedColumns,
    labels: AnyArray,
    criterion: str = "jmi",
    k: int | None = None,
    *,
    n_levels: Sequence[int] | IntArray | None = None,
    n_classes: int | None = None,
    beta: float = 1.0,
    gamma: float = 1.0,
    keep: Sequence[int] = (),
    correction: Correction = "none",
    sample_weight: FloatArray | None = None,
    n_threads: int = 1,
) -> CriterionPath:
    r"""Choose columns of an integer table greedily by a criterion of the literature.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns), integers, or PackedColumns
        Levels 0, 1, 2, ... of each column.
    labels : ndarray of shape (n_rows,), integers
        Classes 0, 1, 2, ...
    criterion : str, default="jmi"
        "mim", "mifs", "mrmr", "mrmr-quotient", "jmi", "jmi3", "jmim", "njmim", "cmim" (Fleuret
        and FEAST), "cmim-brown", "cife", "icap", "disr", "condred", "beta-gamma" or "cmi".
    k : int, optional
        How many columns to choose; all by default.
    n_levels : sequence of int, optional
        Levels per column; one more than the largest code by default.
    n_classes : int, optional
        Number of classes; one more than the largest label by default.
    beta, gamma : float, default=1.0
        Weights in "mifs" and "beta-gamma".
    keep : sequence of int, default=()
        Columns chosen before all others, the best of them first. They count towards `k`.
    correction : {"none", "miller-madow", "grassberger"}, default="none"
        Bias correction of every entropy. "none" is the plug-in of the literature.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows: counts become sums of weights.
    n_threads : int, default=1
        Threads; the result is the same bits for any number.

    Returns
    -------
    CriterionPath
        Columns in order of choice, and their scores in nats.

    Notes
    -----
    The criteria are instances, or close relatives, of

    .. math:: J(X) = I(X;Y) - \beta \sum_{W \in S} I(X;W) + \gamma \sum_{W \in S} I(X;W|Y)

    (Brown et al., JMLR 13, 2012, eq. 17). Of tied columns the one with the lowest index wins.

    Examples
    --------
    The third column repeats the first and is of no further use; the second one is.

    >>> import numpy as np
    >>> from pinsker.selection import select_by_criterion
    >>> a, b = np.arange(16) % 4, np.arange(16) // 4
    >>> labels = (a > 1).astype(int) + (b > 1)
    >>> path = select_by_criterion(np.column_stack([a, b, a]), labels, "cmi")
    >>> path.order
    array([0, 1])
    >>> path.scores.round(4)
    array([0.3466, 0.6931])
    """
    columns = codes if isinstance(codes, PackedColumns) else PackedColumns.of(codes, n_levels)
    size = columns.n_columns if k is None else k
    _check_sizes(columns.n_columns, size, keep)
    tables = CountTables.of(
        columns,
        labels,
        n_classes,
        correction=correction,
        sample_weight=sample_weight,
        n_threads=n_threads,
    )
    search = CriterionSearch(tables, criterion_named(criterion, beta, gamma))
    scores = _choose(search, size, list(keep))
    order = np.array(search.chosen, dtype=np.int64)
    return CriterionPath(criterion, order, np.array(scores), search.relevance)


def best_candidate(scores: FloatArray) -> int:
    """Return the column with the highest score; of tied columns the first."""
    best = float(np.nanmax(scores))
    return int(np.flatnonzero(scores >= best - TIE_TOLERANCE * max(1.0, abs(best)))[0])


def _choose(search: CriterionSearch, size: int, keep: list[int]) -> list[float]:
    """Run the search and return the scores of what it chose."""
    found: list[float] = []
    while len(search.chosen) < size:
        scores = search.scores()
        waiting = [column for column in keep if column not in search.chosen]
        if waiting:
            column = waiting[best_candidate(scores[waiting])]
        else:
            column = best_candidate(scores)
            if search.is_exhausted(scores[column]):
                break
        found.append(float(scores[column]))
        search.add(column)
    return found


def _check_sizes(n_columns: int, size: int, keep: Sequence[int]) -> None:
    if not 1 <= size <= n_columns:
        raise ParameterError(
            f"k={size} but the table has {n_columns} columns: use a number from 1 to {n_columns}."
        )
    for column in keep:
        if not 0 <= column < n_columns:
            raise ParameterError(
                f"keep names column {column} but the table has {n_columns} columns, 0 to "
                f"{n_columns - 1}."
            )
    if len(set(keep)) > size:
        raise ParameterError(
            f"k={size} is less than the {len(set(keep))} columns that keep names: raise k."
        )
