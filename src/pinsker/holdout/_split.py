"""Large tables: three disjoint parts of rows search, evaluate and certify.

The cost does not depend on the number of rows: a few thousand order the features, a few thousand
fit models, and the rows that evaluate and certify are only predicted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, take_rows
from pinsker.exceptions import DataError
from pinsker.holdout._certificate import Certificate
from pinsker.holdout._certify import FreshRows
from pinsker.holdout._compare import (
    ALL_FEATURES,
    CONFIDENCE,
    Comparison,
)
from pinsker.holdout._crossfit import between, search_rows
from pinsker.holdout._evaluate import BestScores, FeatureSet, HoldoutEvaluator
from pinsker.holdout._parallel import Jobs
from pinsker.holdout._rows import Fold, stratified_order
from pinsker.metrics import Metric
from pinsker.models import HoldoutModel
from pinsker.search import (
    MOST_SEARCHED,
    Deadline,
    ErrorBudget,
    FeatureCosts,
    Search,
    SelectionPath,
    StoppingRule,
    describe_searches,
    searches_in_time,
)

#: From so many rows on a table is split; below, cross-fitting uses every row for everything.
SPLIT_FROM = 5000
#: Rows that search at most: some of them are all that neighbors can use.
MOST_COUNTED = 20_000
#: Rows that models are fitted to while sizes are compared, and for the certificate.
_MOST_TRAINED, _MOST_TRAINED_TO_CERTIFY = 5000, 10_000
#: Rows that evaluate at most. All at once: a prediction costs little beside the fit before it.
_MOST_EVALUATED = 40_000
#: What the rows of the certificate were to the search.
CERTIFICATION_ROWS = "held out for certification: they took no part in the choice"
LATEST_ROWS = "the latest, held out for certification: they took no part in the choice"
#: Rows that certify at most: a bound of 0.002 on a difference of error rates.
MOST_CERTIFIED = 40_000
#: Rows of a table that are read at most: they are enough for all of the above, as `split_rows`
#: gives a third of what did not search to certification.
MOST_READ = 150_000


@dataclass(frozen=True, eq=False)
class RowParts:
    """Disjoint parts of the rows of a table."""

    search: IntArray  # rows that order the features
    train: IntArray  # rows that models are fitted to, and rows that compare sets
    evaluate: IntArray  # rows that models are fitted to, and rows that compare sets
    certify: IntArray  # rows that are looked at once, for the chosen set
    by_time: bool = False  # whether the parts follow each other in time


def split_by_time(n_rows: int, seed: int) -> RowParts:
    """Divide rows in order of time: the first ones search, then models are fitted, sets compared.

    The last rows certify. Sizes are those of `split_rows`. The rows that search are shuffled, for
    neighbors are searched among the first of them.
    """
    n_search, n_train = min(n_rows // 4, MOST_COUNTED), trained_rows(n_rows)
    n_certify = (n_rows - n_search) // 3
    edges = np.cumsum([n_search, n_train, n_rows - n_search - n_train - n_certify])
    search, train, evaluate, certify = np.split(np.arange(n_rows), edges)
    shuffled = np.random.default_rng(seed).permutation(search)
    return RowParts(shuffled, train, evaluate, certify, by_time=True)


def split_rows(encoded: Encoded, seed: int, groups: IntArray | None = None) -> RowParts:
    """Divide the rows: a quarter searches (at most `MOST_COUNTED`), a third of the rest certifies.

    Every part, and every beginning of a part, has its share of each class or range of the target.
    With `groups` of rows, whole groups in random order fill the parts instead, which then differ
    from those sizes by less than a group.
    """
    order = stratified_order(encoded, seed) if groups is None else group_order(groups, seed)
    n = len(order)
    n_search = min(n // 4, MOST_COUNTED)
    n_certify = (n - n_search) // 3
    n_train = trained_rows(n)
    edges = np.cumsum([n_search, n_train, n - n_search - n_train - n_certify])
    if groups is not None:  # the edges move to where a group ends
        ends = np.flatnonzero(np.diff(groups[order])) + 1
        if len(ends) < len(edges):
            raise DataError(
                f"found {len(ends) + 1} groups of rows, too few to search, fit, evaluate and "
                "certify on different ones: cross-fit them with cv=GroupKFold()."
            )
        edges = np.sort(_nearest(ends, edges))
    search, train, evaluate, certify = np.split(order, edges)
    return RowParts(search, train, evaluate, certify)


def split_counts(n_rows: int) -> tuple[int, int, int]:
    """Return how many rows search, fit a model and are predicted, at most, of a table."""
    n_search = min(n_rows // 4, MOST_COUNTED)
    rest = n_rows - n_search
    return n_search, min(rest, _MOST_TRAINED_TO_CERTIFY), rest


def trained_rows(n_rows: int) -> int:
    """Return how many rows of a table models are fitted to while sets are compared."""
    n_search = min(n_rows // 4, MOST_COUNTED)
    n_certify = (n_rows - n_search) // 3
    return min((n_rows - n_search - n_certify) // 2, _MOST_TRAINED)


def group_order(groups: IntArray, seed: int) -> IntArray:
    """Return the rows group by group, the groups in random order."""
    place = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return np.argsort(place[groups], kind="stable")


def _nearest(ends: IntArray, edges: IntArray) -> IntArray:
    """Return for every edge the nearest end of a group that no other edge has taken."""
    free = ends.tolist()
    taken = []
    for edge in edges.tolist():
        taken.append(min(free, key=lambda end: abs(end - edge)))
        free.remove(taken[-1])
    return np.array(taken, dtype=np.int64)


def search_parts(
    encoded: Encoded,
    parts: RowParts,
    searches: Sequence[Search],
    jobs: Jobs,
    deadline: Deadline,
    n_jobs: int | None = None,
) -> dict[str, SelectionPath]:
    """Search as many of the rows that are for searching as each search can use."""
    counted = take_rows(encoded, parts.search)
    every = np.arange(counted.n_rows)
    paths: dict[str, SelectionPath] = {}
    for turn in searches_in_time(searches, deadline):
        calls = [
            (one.run, None if one.most_rows is None else every[: one.most_rows]) for one in turn
        ]
        with deadline.leaving_out(describe_searches(turn)):
            for one, found in zip(turn, jobs.run(search_rows, counted, calls, n_jobs), strict=True):
                paths.update(zip(one.names, found, strict=True))
    return paths


class SplitFit:
    """Compares the sets of paths on evaluation rows, and certifies the choice on others."""

    def __init__(
        self,
        encoded: Encoded,
        parts: RowParts,
        models: Sequence[HoldoutModel],
        metric: Metric,
        facts: TargetFacts,
        n_fixed: int,
        jobs: Jobs,
        groups: IntArray | None = None,
        table: Any = None,
        deadline: Deadline | None = None,
        costs: FeatureCosts | None = None,
    ) -> None:
        self.costs = costs or FeatureCosts.unit(encoded.n_features)
        self.groups, self.table = groups, table
        self.encoded, self.parts, self.metric, self.facts = encoded, parts, metric, facts
        self.models, self.jobs = tuple(models), jobs
        self.deadline = deadline or Deadline()
        self.smallest = max(n_fixed, 1)
        self.paths: dict[str, SelectionPath] = {}
        self.evaluated: dict[tuple[str, int], BestScores] = {}
        self._known: Comparison | None = None
        self.n_evaluated = min(len(parts.evaluate), _MOST_EVALUATED)
        self.evaluator = self._evaluator()
        self.certifying: HoldoutEvaluator | None = None  # of the rows that chose nothing

    def compare(
        self,
        paths: dict[str, SelectionPath],
        rule: StoppingRule,
        on_stage: Callable[[str], Any] | None = None,
    ) -> Comparison:
        """Find the smallest set of each path that meets a rule, by bisection."""
        self.paths = paths
        begin = on_stage or (lambda _name: None)
        begin("comparing models")
        self._evaluate([(ALL_FEATURES, self.encoded.n_features)])
        self.evaluator.drop_weak_models(list(self.evaluated.values()))
        self.models = self.evaluator.models
        if isinstance(rule, ErrorBudget):
            rule = self._comparison().absolute(rule)
        for name in paths:
            begin(f"evaluating {name}")
            if len(self.evaluated) == 1 or not self.deadline.skips(f"sets of {name}"):
                self._look_at(name, rule)
        return self._comparison()

    def certify(self, order: FeatureSet, size: int, rule: ErrorBudget, seed: int) -> Certificate:
        """Test the chosen set, and no other, on rows that chose nothing."""
        parts = self.parts
        known = max(self._comparison().on_paths, key=lambda one: one.information)
        train = np.concatenate([parts.train, parts.evaluate])
        latest = parts.by_time  # the rows just before those that certify
        train = train[-_MOST_TRAINED_TO_CERTIFY:] if latest else train[:_MOST_TRAINED_TO_CERTIFY]
        test = parts.certify[:MOST_CERTIFIED]
        rows = np.concatenate([train, test])
        table, groups = take_rows(self.encoded, rows), self._groups_of(rows)
        fold = Fold(np.arange(len(train)), np.arange(len(train), table.n_rows))
        fresh = FreshRows(
            table,
            rule,
            self.models,
            CONFIDENCE,
            seed,
            self.jobs,
            (fold,),
            LATEST_ROWS if latest else CERTIFICATION_ROWS,
            groups=groups,
            table=self.table,
        )
        self.certifying = fresh.evaluator
        return fresh.certify_set(order[:size], self._set(known.search, known.size))

    @property
    def note(self) -> str:
        """Which rows did what, for the user."""
        n_searched, n_trained = len(self.parts.search), len(self.parts.train)
        in_time = " (in order of time, the latest certify)" if self.parts.by_time else ""
        return (
            f"of {self.encoded.n_rows} rows {n_searched} searched ({MOST_SEARCHED} at most by "
            f"neighbors), models were fitted to {n_trained} and evaluated on {self.n_evaluated}"
            f"{in_time}"
        )

    def _look_at(self, name: str, rule: StoppingRule) -> None:
        """Evaluate the sizes of one path that can change the choice."""
        longest = len(self.paths[name].order)
        if not isinstance(rule, ErrorBudget):
            size = min(rule.decide(self.paths[name], self.facts).size, longest)
            self._evaluate([(name, max(size, self.smallest))])
            return
        # Only sets matter that are cheaper than known ones: smaller, if all cost the same.
        order = self.paths[name].order[: self.encoded.n_features - 1]
        top = self.costs.largest_size(order, self._best_cost(rule))
        if top < self.smallest:
            return
        below, above = self.smallest - 1, top
        if len(self.evaluated) == 1:  # nothing is known of sizes yet
            sizes = self._first_sizes(name, top, rule)
            meeting = [size for size in sizes if self._meets(name, size, rule)]
            if not meeting:
                return
            above = meeting[0]
            below = max((size for size in sizes if size < above), default=below)
        elif not self._meets(name, top, rule):
            return
        while below < (middle := between(max(below, 1), above)) < above or below + 1 < above <= 2:
            if self.deadline.skips(f"sets of {name}"):
                return
            middle = max(middle, below + 1)
            if self._meets(name, middle, rule):
                above = middle
            else:
                below = middle

    def _first_sizes(self, name: str, top: int, rule: ErrorBudget) -> list[int]:
        """Evaluate sizes that double, until one meets the rule and no more information shows."""
        sizes, shown = [self.smallest], [-np.inf]
        while True:
            self._evaluate([(name, sizes[-1])])
            shown.append(self._comparison().results[name, sizes[-1]].information)
            if sizes[-1] == top or (shown[-1] <= max(shown[:-1]) and self._is_met(rule)):
                return sizes
            sizes.append(min(2 * sizes[-1], top))

    def _meets(self, name: str, size: int, rule: ErrorBudget) -> bool:
        self._evaluate([(name, size)])
        return self._comparison().results[name, size].meets(rule, self.facts, self.metric)

    def _is_met(self, rule: ErrorBudget) -> bool:
        known = (rule, self.facts, self.metric)
        return any(result.meets(*known) for result in self._comparison().on_paths)

    def _best_cost(self, rule: ErrorBudget) -> float:
        """Return the cost of the cheapest set known to meet the budget: infinite, if none does."""
        if not any(key[0] != ALL_FEATURES for key in self.evaluated):
            return float("inf")
        comparison, known = self._comparison(), (rule, self.facts, self.metric)
        meeting = [one for one in comparison.on_paths if one.meets(*known)]
        return min(map(comparison.cost, meeting), default=float("inf"))

    def _evaluate(self, keys: Sequence[tuple[str, int]]) -> None:
        new = [key for key in keys if key not in self.evaluated]
        found = self.evaluator.evaluate([[self._set(*key)] for key in new])
        self.evaluated.update(zip(new, found, strict=True))
        self._known = None

    def _set(self, name: str, size: int) -> FeatureSet:
        return tuple(range(size)) if name == ALL_FEATURES else self.paths[name].order[:size]

    def _evaluator(self) -> HoldoutEvaluator:
        train, test = self.parts.train, self.parts.evaluate[: self.n_evaluated]
        rows = np.concatenate([train, test])
        table, groups = take_rows(self.encoded, rows), self._groups_of(rows)
        fold = Fold(np.arange(len(train)), np.arange(len(train), table.n_rows))
        return HoldoutEvaluator(
            table, [fold], self.models, self.metric, self.jobs, groups, self.table
        )

    def _groups_of(self, rows: IntArray) -> IntArray | None:
        return None if self.groups is None else self.groups[rows]

    def _comparison(self) -> Comparison:
        if self._known is None:  # every set is compared with the best, so all change with each
            known = (self.evaluated, self.evaluator, self.facts, self.paths, self.costs)
            self._known = Comparison.of(*known)
        return self._known
