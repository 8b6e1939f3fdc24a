"""Greedy search by a criterion of the literature, on counted tables of integer codes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinsker._types import AnyArray, Fields, FloatArray, IntArray, Weights
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.engine import NATS_PER_COST, Correction, CountTables, PackedColumns
from pinsker.exceptions import DataError, ParameterError
from pinsker.search._criteria import (
    CountedProblem,
    CountingSettings,
    Criterion,
    PairTerms,
    Relevance,
    criterion_named,
)
from pinsker.search._path import ROUNDING, CountedPath, OnStep, SelectionPath, Trace, greedy
from pinsker.search._rules import (
    ErrorBudget,
    FeatureCount,
    PermutationTest,
    ScoreJump,
    ScoreThreshold,
    StoppingRule,
)

#: Below this many rows per occupied cell the information of a set is not counted any more: with
#: empty cells the plug-in finds every set as good as every other.
ROWS_PER_CELL = 5.0
#: A search without a rule of its own chooses this many features one by one.
_MOST_COUNTED = 100


@dataclass(frozen=True)
class CriterionSearchSettings:
    """How a search by criterion works."""

    criterion: str  # name of the criterion
    rule: StoppingRule  # the search ends where no later feature can change what it decides
    facts: TargetFacts  # what the bounds know of the target
    beta: float = 1.0  # weights in "mifs" and "beta-gamma"
    gamma: float = 1.0  # weights in "mifs" and "beta-gamma"
    ranks_others: bool = False  # whether all other features follow, by the scores they have then


class FeatureLimit(FeatureCount):
    """Keep k features, or all of them if there are fewer."""

    def check(self, n_features: int, n_fixed: int, facts: TargetFacts | None = None) -> None:
        super().check(max(n_features, self.k), n_fixed, facts)


def criterion_search(
    problem: CountedProblem,
    settings: CriterionSearchSettings,
    fixed: Sequence[int] = (),
    on_step: OnStep | None = None,
    *,
    earlier: SelectionPath | None = None,
) -> CountedPath:
    """Add the feature with the best score of a criterion, until the stopping rule is decided."""
    rule = settings.rule
    shuffles = rule.shuffles(problem.tables.n_rows) if isinstance(rule, PermutationTest) else ()
    criterion = criterion_named(settings.criterion, settings.beta, settings.gamma)
    state = CriterionState(problem.tables, criterion, shuffles)
    n_features = len(problem.names)
    most = min(rule.k, n_features) if isinstance(rule, FeatureCount) else n_features
    n_moves = max(most, len(fixed))
    trace = Trace((), [0.0])
    known = isinstance(earlier, CountedPath) and bool(earlier.p_values) == bool(shuffles)
    if isinstance(earlier, CountedPath) and known and len(earlier.moves) <= n_moves:
        trace = Trace.resume(earlier)
        for feature in earlier.moves:
            state.add(feature)
        state.p_values[:] = earlier.p_values

    def path(seen: Trace) -> CountedPath:
        counted = state.chosen_set  # losses count from the target's entropy if need be
        full = counted.target_entropy if counted.n_counted < n_features else None
        known: Fields = {"n_fixed": len(fixed), "full_information": full}
        plain = seen.path("forward", problem.names, settings.criterion, **known)
        p_values = tuple(state.p_values[: len(plain.moves)])
        return CountedPath(**vars(plain), n_counted=counted.n_counted, p_values=p_values)

    def is_decided(seen: Trace) -> bool:
        if on_step is not None and on_step(seen):
            return True
        return len(seen.moves) < n_moves and _has_ended(path(seen), rule, settings.facts)

    if not (trace.moves and _has_ended(path(trace), rule, settings.facts)):
        greedy(
            state, trace, "forward", n_moves,
            fixed=fixed, is_nothing=state.is_exhausted, on_step=is_decided,
        )  # fmt: skip
    found = path(trace)
    trace.finish(found)
    if settings.ranks_others and len(found.moves) < n_features:
        scores = state.scores()
        others = np.argsort(-scores, kind="stable")[: int(np.count_nonzero(~np.isnan(scores)))]
        return replace(
            found,
            moves=found.moves + tuple(int(feature) for feature in others),
            scores=found.scores + tuple(float(scores[feature]) for feature in others),
            information=found.information + found.information[-1:] * len(others),
        )
    return found


def count_and_search(
    encoded: Encoded,
    criterion: str,
    fixed: Sequence[int] = (),
    *,
    counting: CountingSettings | None = None,
    rule: StoppingRule | None = None,
    weights: tuple[float, float] = (1.0, 1.0),
    most: int = _MOST_COUNTED,
) -> CountedPath:
    """Bin and count a table, and search it by a criterion; without a rule all features follow."""
    problem = CountedProblem.of(encoded, counting or CountingSettings())
    first = rule or FeatureLimit(max(most, len(fixed)))
    given = (criterion, first, problem.facts, *weights, rule is None)
    return criterion_search(problem, CriterionSearchSettings(*given), fixed)


def _has_ended(path: CountedPath, rule: StoppingRule, facts: TargetFacts) -> bool:
    """Return whether no later feature can change what the rule decides."""
    size = len(path.moves)
    if isinstance(rule, ErrorBudget):
        return path.n_counted < size
    if isinstance(rule, ScoreThreshold | ScoreJump | PermutationTest):
        return size > path.n_fixed and rule.size(path, facts) < size
    return False


def refuse_uncounted(path: CountedPath, rule: StoppingRule, facts: TargetFacts) -> None:
    if not isinstance(rule, ErrorBudget) or path.n_counted == path.n_features:
        return
    if (rule.growth(path, facts)[: path.n_counted + 1] <= rule.delta).any():
        return
    raise DataError(
        f"the error budget cannot be checked by counting: with more than {path.n_counted} features "
        f"the rows do not fill the joint table ({ROWS_PER_CELL:g} rows per cell), and those "
        f"{path.n_counted} do not meet it. Use fewer bins, stop=FeatureCount(k) or "
        "PermutationTest(), or a selector that evaluates on held-out rows."
    )


@dataclass(frozen=True, eq=False)
class CriterionPath:
    """The features a criterion chose, in order."""

    criterion: str  # name of the criterion
    order: IntArray  # columns in order of choice
    scores: FloatArray
    relevance: FloatArray  # I(X;Y) of every column, in nats


def select_by_criterion(
    codes: AnyArray | PackedColumns,
    labels: AnyArray,
    criterion: str = "jmi",
    k: int | None = None,
    *,
    n_categories: Sequence[int] | IntArray | None = None,
    n_classes: int | None = None,
    beta: float = 1.0,
    gamma: float = 1.0,
    fixed: Sequence[int] = (),
    correction: Correction = "none",
    sample_weight: Weights = None,
    n_threads: int = 1,
) -> CriterionPath:
    r"""Choose columns of an integer table greedily by a criterion of the literature.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns), integers, or PackedColumns
        Categories 0, 1, 2, ... of each column.
    labels : ndarray of shape (n_rows,), integers
        Classes 0, 1, 2, ...
    criterion : str, default="jmi"
        "mim", "mifs", "mrmr", "mrmr-quotient", "jmi", "jmi3", "jmim", "njmim", "cmim" (Fleuret
        and FEAST), "cmim-brown", "cife", "icap", "disr", "condred", "beta-gamma" or "cmi".
    k : int, optional
        How many columns to choose; all by default.
    n_categories : sequence of int, optional
        Categories per column; one more than the largest code by default.
    n_classes : int, optional
        Number of classes; one more than the largest label by default.
    beta, gamma : float, default=1.0
        Weights in "mifs" and "beta-gamma".
    fixed : sequence of int, default=()
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
    >>> from pinsker import select_by_criterion
    >>> a, b = np.arange(16) % 4, np.arange(16) // 4
    >>> labels = (a > 1).astype(int) + (b > 1)
    >>> path = select_by_criterion(np.column_stack([a, b, a]), labels, "cmi")
    >>> path.order
    array([0, 1])
    >>> path.scores.round(4)
    array([0.3466, 0.6931])
    """
    columns = codes if isinstance(codes, PackedColumns) else PackedColumns.of(codes, n_categories)
    n_columns = columns.n_columns
    size = n_columns if k is None else k
    if not 1 <= size <= n_columns:
        raise ParameterError(
            f"k={size} but the table has {n_columns} columns: use a number from 1 to {n_columns}."
        )
    for column in fixed:
        if not 0 <= column < n_columns:
            raise ParameterError(
                f"fixed names column {column} but the table has {n_columns} columns, 0 to "
                f"{n_columns - 1}."
            )
    if len(set(fixed)) > size:
        raise ParameterError(
            f"k={size} is less than the {len(set(fixed))} columns that fixed names: raise k."
        )
    how: Fields = {"correction": correction, "n_threads": n_threads}
    tables = CountTables.of(columns, labels, n_classes, sample_weight=sample_weight, **how)
    search = CriterionSearch(tables, criterion_named(criterion, beta, gamma))
    trace = Trace((), [0.0])
    greedy(search, trace, "forward", size, fixed=list(fixed), is_nothing=search.is_exhausted)
    if trace.broken_by is not None:
        raise trace.broken_by
    order = np.array(search.chosen, dtype=np.int64)
    return CriterionPath(criterion, order, np.array(trace.scores), search.relevance)


class CriterionSearch:
    """The state of a greedy search: what is chosen, and the folded terms so far."""

    def __init__(self, tables: Any, criterion: Criterion) -> None:
        self._tables, self._criterion, self._relevance = tables, criterion, Relevance(tables)
        self._pending: list[tuple[int, ...]] = []
        self._whole: Any = None  # the chosen set as one, if the criterion looks at it
        self._folded: FloatArray | None = None
        self._active = np.ones(tables.n_columns, dtype=np.bool_)
        self.chosen: list[int] = []

    @property
    def active(self) -> tuple[int, ...]:
        return tuple(self.chosen)

    @property
    def information(self) -> float:
        """NaN: a criterion alone does not count the information of its set."""
        return float("nan")

    @property
    def relevance(self) -> FloatArray:
        return self._relevance.values

    def scores(self) -> FloatArray:
        criterion = self._criterion
        for columns in self._pending:
            given = (self._relevance, self._group_of(columns), self._active)
            term = criterion.term(PairTerms(*given, classes=criterion.classes))
            if self._folded is None or criterion.fold == "last":
                self._folded = term
            elif criterion.fold == "sum":
                self._folded = self._folded + term
            else:
                self._folded = np.minimum(self._folded, term)
        self._pending.clear()
        if self._folded is None:
            scores = self.relevance.copy()
        else:
            scores = criterion.score(self.relevance, self._folded, len(self.chosen)).copy()
        scores[~self._active] = np.nan
        return scores

    def add(self, column: int) -> None:
        given = self._criterion.given
        if given == "set":
            self._whole = self._group_of((column,), self._whole)
            self._pending = [()]
        elif given == "pair" and self.chosen:
            if len(self.chosen) == 1:  # a single W stood in for the first pair
                self._pending.clear()
                self._folded = None
            self._pending.extend((old, column) for old in self.chosen)
        else:
            self._pending.append((column,))
        self.chosen.append(column)
        self._active[column] = False

    def is_exhausted(self, best: float) -> bool:
        return self._criterion.gain and best <= ROUNDING

    def _group_of(self, columns: tuple[int, ...], group: Any = None) -> Any:
        """Join the values of some columns to a group; no column stands for the whole set."""
        for column in columns:
            group = self._tables.join(group, column)
        return group if columns else self._whole


class ChosenSet:
    """The chosen features as one, for as long as their joint table is filled."""

    def __init__(self, tables: Any) -> None:
        self._tables, self._group, self._filled = tables, tables.nothing(), True
        self.information, self.n_counted = 0.0, 0

    def join(self, feature: int) -> Any:
        if not self._filled:
            return None
        self._group = self._tables.join(self._group, feature)
        return self._group

    def count(self) -> None:
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


class CriterionState(CriterionSearch):
    """A running search, beside shuffled ones that show what chance would score."""

    def __init__(
        self, tables: Any, criterion: Criterion, shuffles: Sequence[IntArray] = ()
    ) -> None:
        super().__init__(tables, criterion)
        self._shadows = [CriterionSearch(tables.shuffled(order), criterion) for order in shuffles]
        self._scores: FloatArray | None = None
        self.chosen_set = ChosenSet(tables)
        self.p_values: list[float] = []

    @property
    def information(self) -> float:
        return self.chosen_set.information

    def scores(self) -> FloatArray:
        self._scores = super().scores()
        return self._scores

    def add(self, column: int) -> None:
        if self._shadows and self._scores is not None:
            self.p_values.append(self._p_value(self._scores[column]))
        self._scores = None
        super().add(column)
        for shadow in self._shadows:
            shadow.add(column)
        also = self.chosen_set.join(column)
        if self._tables.in_passes:
            groups = [self._group_of(columns) for columns in self._pending]
            self._tables.expect(groups if self._criterion.counts else [], self._active, also)
        self.chosen_set.count()

    def _p_value(self, best: float) -> float:
        """Return how often the best of the shuffled candidates scores as high."""
        least = best - ROUNDING * max(1.0, abs(best))
        beaten = sum(float(np.nanmax(shadow.scores())) >= least for shadow in self._shadows)
        return (1 + beaten) / (1 + len(self._shadows))
