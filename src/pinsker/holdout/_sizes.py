"""Paths of all searches, and how many features of one are needed: sizes double, then are halved.

Paths are found without the rows that evaluate them, and so is the last pass over a set, by
permutation importance on rows set aside from those that may train.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import FloatArray, IntArray
from pinsker.bounds import Difference
from pinsker.holdout._compare import ALL_FEATURES, CONFIDENCE, Comparison, RoughIncrease
from pinsker.holdout._evaluate import (
    FeatureSet,
    FitContext,
    HoldoutEvaluator,
    single_models,
    worse_of,
)
from pinsker.holdout._rows import RowPlan
from pinsker.metrics import Metric
from pinsker.models import (
    HoldoutModel,
    HoldoutScores,
    ModelData,
    RawModel,
    best_by_loss,
    losses_without,
)
from pinsker.search import (
    Deadline,
    ErrorBudget,
    FeatureCosts,
    Search,
    SelectionPath,
    StoppingRule,
    TimeIsUp,
    describe_searches,
    given_order,
    measure_sets,
    search_rows,
    searches_in_time,
)


@dataclass(frozen=True, eq=False)
class FoundPaths:
    """The path of every search that would be kept, and the order that each fold evaluates."""

    paths: dict[str, SelectionPath] = field(default_factory=dict)
    orders: dict[str, list[FeatureSet]] = field(default_factory=dict)
    notes: Notes = ()  # what makes them doubtful

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
    """Search every path without the rows that evaluate it; `known` ones have all rows' already."""
    found, known = FoundPaths(), known or {}
    notes: Notes = ()
    run = partial(context.jobs.run, search_rows, context.encoded)
    for some in searches_in_time(searches, context.deadline):
        with context.deadline.leaving_out(describe_searches(some)):
            wanted = [
                (search, k)
                for search in some
                for k in range(-1 if plan.crosses else 0, len(plan.searched))
                if k >= 0 or not all(name in known for name in search.names)
            ]
            most, before = _rows_in_time(context, len(wanted)), context.deadline.left
            some_first = int(before < math.inf)  # the first one shows how long the others take
            several: list[tuple[SelectionPath, ...]] = []
            deadline, is_first = context.deadline, context.deadline.must_finish
            looks = deadline if deadline.may_end else None
            for part in (wanted[:some_first], wanted[some_first:]):
                calls = [(one, _rows_of(context, plan, one, k, most)) for one, k in part]
                try:
                    run(calls, context.n_searches, looks, several.append)
                except TimeIsUp:
                    if not (is_first and several):
                        raise
                most = _fewer_rows(context, most, before, len(wanted) - len(several))
                deadline.must_finish &= not some_first
            if missing := len(wanted) - len(several):  # one order must be, from all rows if need be
                figures = {"searched": len(several) - 1, "folds": len(wanted) - 1}
                notes = (Note("rows judge themselves", figures=figures, weight="untrue"),)
                several += several[:1] * missing
            paths = {
                (name, k): path
                for (search, k), each in zip(wanted, several, strict=True)
                for name, path in zip(search.names, each, strict=True)
            }
            for name in (name for search in some for name in search.names):
                kept = paths[name, -1 if plan.crosses else 0] if name not in known else known[name]
                found.paths[name] = kept
                found.orders[name] = [paths[name, k].order for k in plan.search_of_fold]
    kept_paths = {name: found.paths[name] for name in names if name in found.paths}
    return FoundPaths(kept_paths, found.orders, notes)


def _rows_of(
    context: FitContext, plan: RowPlan, search: Search, k: int, most: int
) -> IntArray | None:
    """Return the rows of a search, as many as it can use and has time for; None: all."""
    rows = np.arange(context.encoded.n_rows) if k < 0 else plan.searched[k]
    if k >= 0 and plan.certify is not None:
        rows = rows[: search.most_rows]
    if most >= len(rows):
        return None if k < 0 else rows
    return np.sort(np.random.default_rng(context.seed).permutation(rows)[:most])


#: Cells that a quick search looks at in a second, and rows that it needs at least.
_CELLS_A_SECOND, _LEAST_SEARCHED = 3_000_000, 200


def _rows_in_time(context: FitContext, n_searches: int) -> int:
    """Return how many rows may be searched at most in half of the time that is left."""
    n, left = context.encoded.n_rows, context.deadline.left
    if math.isinf(left):
        return n
    cells = 0.5 * max(left, 0.0) * _CELLS_A_SECOND / max(n_searches, 1)
    return _at_most(context, n, int(cells / context.encoded.n_features))


def _fewer_rows(context: FitContext, most: int, before: float, n_searches: int) -> int:
    """Return how many rows may be searched, where one search took what is gone since."""
    if math.isinf(before) or not n_searches:
        return most
    left = context.deadline.left
    seconds = max((before - left) * n_searches / context.n_searches, 1e-9)
    return _at_most(context, most, int(0.5 * max(left, 0.0) / seconds * most))


def _at_most(context: FitContext, most: int, fewer: int) -> int:
    """Return the smaller number of rows, some at least, and note that rows are left out."""
    fewer, left_out = max(_LEAST_SEARCHED, fewer), context.deadline.left_out
    if fewer >= most:
        return most
    left_out += [] if "rows of searches" in left_out else ["rows of searches"]
    return fewer


#: Share of the rows that measures importance, and share of the features that leaves at a time.
_ASIDE, _SHARE = 0.3, 0.2
#: Rows that are fitted to and measured at most: more do not change which feature is weakest.
_MOST_ROWS = 2000


def pruned_orders(
    evaluator: HoldoutEvaluator,
    sets: Sequence[FeatureSet],
    rows: Sequence[IntArray],
    n_fixed: int,
    seed: int,
) -> list[FeatureSet]:
    """Return the features of each set, the last to leave first, by some rows each."""
    deadline = evaluator.deadline
    known = (evaluator.models[0], evaluator.metric, n_fixed, seed, deadline)
    calls = [(*one, *known) for one in zip(sets, rows, strict=True)]
    return evaluator.jobs.run(_prune, evaluator.data.rows, calls, deadline=deadline)


def _prune(
    data: ModelData,
    features: FeatureSet,
    rows: IntArray,
    model: HoldoutModel,
    metric: Metric,
    n_fixed: int,
    seed: int,
    deadline: Deadline | None,
) -> FeatureSet:
    """Return the features of one set in the order of their worth."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(rows)[:_MOST_ROWS]
    aside, train = np.split(shuffled, [int(_ASIDE * len(shuffled))])
    fixed, left, gone = features[:n_fixed], list(features[n_fixed:]), []
    while len(left) > 1:
        if deadline is not None:
            deadline.check()
        some = tuple(sorted((*fixed, *left)))
        order = rng.permutation(aside)
        worth = losses_without(data, model, train, aside, some, metric.score_holdout, order)
        weakest = sorted(left, key=lambda feature: worth[some.index(feature)])
        weakest = weakest[: max(1, int(_SHARE * len(left)))]
        gone.extend(weakest)
        left = [feature for feature in left if feature not in weakest]
    return (*fixed, *left, *reversed(gone))


#: Sizes above this are told apart down to a ratio, smaller ones one by one.
_MANY, _CLOSE = 100, 1.1
#: Rows of the first folds, at least: they compare models and find the sets far from a budget.
_FIRST_ROWS = 300
#: Sets of more features, or features times targets, are not pruned: a fifth leaves with every fit.
_MOST_PRUNED, _MOST_FOR_TARGETS = 100, 500
#: Name of the path of the last pass.
PRUNED = "pruned"
#: An excess above this many budgets is far.
_FAR = 2.0
#: Ratio of the sizes of the picture, and how many folds they may take for one that decides: on
#: eleven tables they add 0.6 to 3.5 % to a fit.
_PICTURE_RATIO, _PICTURE_SHARE = 1.5, 0.2
#: Parts of a time limit after which a race is given up for one model alone, and that for the least.
_PARTS_OF_RACE = (0.7, 0.9)

#: A search by its name, and a size of its path.
SizeOf: TypeAlias = tuple[str, int]


def find_sizes(
    context: FitContext,
    plan: RowPlan,
    evaluator: HoldoutEvaluator,
    found: FoundPaths,
    on_stage: Callable[[str], object] = lambda _stage: None,
) -> Comparison:
    """Evaluate sizes of every path until the smallest set that meets the rule is known."""
    deadline, rule = context.deadline, context.rule
    if not isinstance(rule, ErrorBudget):  # other rules read the scores of a path
        searched = plan.rows_to_measure(context.encoded)
        for name, path in found.paths.items():
            found.paths[name] = measure_sets(path, searched, context.settings)
    sizes = SizeSearch(context, evaluator, found)
    on_stage("comparing models")
    rule = sizes.begin(rule)
    for name in found.paths:
        on_stage(f"evaluating {name}")
        evaluator.until(deadline, f"sets of {name}", partial(sizes.find, name, rule))
    if isinstance(rule, ErrorBudget):
        on_stage("a last pass")
        evaluator.until(deadline, "a last pass", partial(sizes.prune, plan, rule))
    if isinstance(rule, ErrorBudget) and not deadline.is_over:
        evaluator.until(deadline, "sizes for a picture", partial(sizes.look_at_more, rule))
    return replace(sizes.comparison(), rough=sizes.rough())


class SizeSearch:
    """Holds what is known of the sizes of paths, and evaluates those that can change the choice."""

    def __init__(self, context: FitContext, evaluator: HoldoutEvaluator, found: FoundPaths) -> None:
        self.context, self.evaluator, self.found = context, evaluator, found
        n_features = context.encoded.n_features
        self.costs = context.costs or FeatureCosts.unit(n_features)
        self.smallest = max(len(context.fixed), 1)
        self.everything: SizeOf = (ALL_FEATURES, n_features)
        self.first = next(iter(found.paths))
        evaluator.notes += found.notes
        self.orders = dict(found.orders)  # of every fold, also of those that have no time
        self.evaluated: dict[SizeOf, HoldoutScores]
        self.first_folds: dict[SizeOf, HoldoutScores]
        #: Sets far from the budget by the first folds, and lower limits of their increases.
        self.out_of_reach: dict[SizeOf, float]
        self._begin_again()
        self._known: Comparison | None = None

    def begin(self, rule: StoppingRule) -> StoppingRule:
        """Compare models and evaluate one set, however little time there is; return the rule."""
        deadline, what = self.context.deadline, "a race of the models"
        compare, found = partial(self._compare_models, rule), None
        for part in _PARTS_OF_RACE:
            deadline.part = part
            found = self.evaluator.until(deadline, what, compare)
            if found is not None:
                break
            self.evaluator.hurry(deadline, at_most=part == _PARTS_OF_RACE[-1])
            self._begin_again()
            compare = partial(self._evaluate_first_set, rule)
        deadline.part = 1.0
        return compare() if found is None else found

    def _begin_again(self) -> None:
        """Forget the sets, and follow the orders of the folds that are left."""
        self.evaluated, self.first_folds, self.out_of_reach = {}, {}, {}
        kept = self.evaluator.kept_folds
        self.found.orders.update({n: [each[k] for k in kept] for n, each in self.orders.items()})
        rows = np.cumsum([len(fold.test) for fold in self.evaluator.folds])
        self.n_first = min(int(np.searchsorted(rows, _FIRST_ROWS)) + 1, len(rows))

    def _compare_models(self, rule: StoppingRule) -> StoppingRule:
        """Let the models race on all features and on some sets of the first path."""
        some: list[SizeOf] = []
        if len(self.evaluator.folds) > 1:
            sizes = geometric_sizes(self.smallest, self._longest(self.first))
            some = [(self.first, size) for size in sizes[::2]]
        self.evaluator.race([self._sets(key)[: self.n_first] for key in (self.everything, *some)])
        return self._evaluate_first_set(rule)

    def _evaluate_first_set(self, rule: StoppingRule) -> StoppingRule:
        """Evaluate all features, and what the first path begins with; return an absolute rule."""
        self._evaluate([self.everything])
        if not isinstance(rule, ErrorBudget):
            self._evaluate([(self.first, self._size_of(self.first, rule))])
            return rule
        rule = self.comparison().absolute(rule) if rule.relative else rule
        if self.smallest < self.everything[1]:
            self._evaluate([(self.first, self.smallest)], rule)
        return rule

    def comparison(self) -> Comparison:
        """Return what is known so far; every set is compared with the best, so all may change."""
        if self._known is None:
            known = (self.context.facts, self.found.paths, self.context.costs)
            self._known = Comparison.of(self.evaluated, self.evaluator, *known)
        far = tuple((size, lower) for (_, size), lower in self.out_of_reach.items())
        return replace(self._known, far=far)

    def find(self, name: str, rule: StoppingRule) -> None:
        """Evaluate the sizes of one path that can change the choice."""
        if not isinstance(rule, ErrorBudget):
            self._evaluate([(name, self._size_of(name, rule))])
            return
        # Only sets matter that are cheaper than known ones: smaller, if all cost the same.
        order = self.found.paths[name].order[: self._longest(name)]
        best = np.inf if name == self.first else self._best_cost(rule)
        top = self.costs.largest_size(order[: self.everything[1] - 1], best)
        if top < self.smallest:
            return
        below, above = self.smallest - 1, top
        if best == np.inf:  # nothing is known to meet the budget
            sizes = self._double(name, top, rule)
            meeting = [size for size in sizes if self._meets((name, size), rule)]
            if not meeting:
                return
            above = meeting[0]
            below = max((size for size in sizes if size < above), default=below)
        elif not self._meets((name, top), rule):
            return
        while below + 1 < above and (middle := between(below, above)) > below:
            if self.context.deadline.skips(f"sets of {name}"):
                return
            if self._meets((name, middle), rule):
                above = middle
            else:
                below = middle

    def prune(self, plan: RowPlan, rule: ErrorBudget) -> None:
        """Order the chosen set by what the model that stands for it needs, and look for less."""
        if any(isinstance(model, RawModel) for model in single_models(self.evaluator.models)):
            return
        result, _ = self.comparison().choose(rule)
        size, name, n_fixed = result.size, result.search, len(self.context.fixed)
        most = min(_MOST_PRUNED, _MOST_FOR_TARGETS // self.context.facts.n_targets)
        if not n_fixed + 1 < size <= most:
            return
        folds = self.evaluator.folds
        sets = [tuple(range(size))] * (len(folds) + 1)
        if size < self.everything[1]:
            orders = [*self.found.orders[name], self.found.paths[name].order]
            sets = [order[:size] for order in orders]
        rows = [fold.train for fold in folds]
        if plan.crosses:
            rows.append(np.arange(self.context.encoded.n_rows))
        else:
            sets = sets[:-1]
        known, n = (n_fixed, self.context.seed), self.n_first
        first = pruned_orders(self.evaluator, sets[:n], rows[:n], *known)
        if n < len(folds) and self.context.costs is None:  # most often one less is far off
            self.found.orders[PRUNED] = first
            self._evaluate_first([self.everything, (PRUNED, size - 1)])
            far = self._far_ones([(PRUNED, size - 1)], rule)
            self.out_of_reach |= far
            if far:
                return
        orders = [*first, *pruned_orders(self.evaluator, sets[n:], rows[n:], *known)]
        kept = orders[-1] if plan.crosses else orders[0]
        searched = plan.rows_to_measure(self.context.encoded)
        self.found.paths[PRUNED] = given_order(searched, order=kept, n_fixed=n_fixed)
        self.found.orders[PRUNED] = orders[: len(folds)]
        self.find(PRUNED, rule)

    def look_at_more(self, rule: ErrorBudget) -> None:
        """Evaluate more sizes of the chosen path for its picture, small ones on the first folds."""
        chosen = self.comparison().choose(rule)[0]
        if (name := chosen.search) not in self.found.orders:
            return
        top = min(self._longest(name), self.everything[1] - 1, 2 * chosen.size)  # then it is flat
        sizes = geometric_sizes(self.smallest, max(top, self.smallest), _PICTURE_RATIO)
        new = [(name, size) for size in sizes if (name, size) not in self.evaluated]
        folds = _PICTURE_SHARE * len(self.evaluated) * len(self.evaluator.folds)
        self._evaluate_first([self.everything, *new[: int(folds / self.n_first)]])

    def rough(self) -> tuple[RoughIncrease, ...]:
        """Return the increases of sets that the first folds alone evaluated, for pictures."""
        keys = [key for key in self.first_folds if key not in self.evaluated]
        every = self.first_folds.get(self.everything, self.evaluated[self.everything]).losses
        found = [one.mean for one in self._first_increases(keys, every)]
        return tuple(RoughIncrease(*key, mean) for key, mean in zip(keys, found, strict=True))

    def _double(self, name: str, top: int, rule: ErrorBudget) -> list[int]:
        """Evaluate sizes that double, until one meets the rule and no more information shows."""
        sizes: list[int] = []
        shown = [-np.inf]
        for size in geometric_sizes(self.smallest, top):
            if self.context.deadline.skips(f"sets of {name}"):
                break
            sizes.append(size)
            met = self._meets((name, size), rule)
            shown.append(self._information((name, size)))
            if shown[-1] <= max(shown[:-1]) and (met or self._best_cost(rule) < float("inf")):
                break
        return sizes

    def _meets(self, key: SizeOf, rule: ErrorBudget) -> bool:
        self._evaluate([key], rule)
        if key in self.out_of_reach:
            return False
        known = (rule, self.context.facts, self.evaluator.metric)
        return self.comparison().results[key].meets(*known)

    def _best_cost(self, rule: ErrorBudget) -> float:
        """Return the cost of the cheapest set known to meet the budget: infinite, if none does."""
        comparison, known = self.comparison(), (rule, self.context.facts, self.evaluator.metric)
        meeting = [one for one in comparison.on_paths if one.meets(*known)]
        return min(map(comparison.cost, meeting), default=float("inf"))

    def _information(self, key: SizeOf) -> float:
        """Return the information that the first folds show of a set, up to a constant."""
        self._evaluate_first([key])
        return float(self.first_folds[key].log_likelihood.mean())

    def _evaluate_first(self, keys: Sequence[SizeOf]) -> None:
        """Evaluate sizes on the first folds, with sets that were found without them."""
        new = [key for key in keys if key not in self.first_folds]
        sets = [self._sets(key)[: self.n_first] for key in new]
        self.first_folds.update(zip(new, self.evaluator.evaluate(sets), strict=True))

    def _evaluate(self, keys: Sequence[SizeOf], rule: ErrorBudget | None = None) -> None:
        """Evaluate sizes: what is found without the held-out rows, and what would be kept."""
        new = [key for key in keys if key not in self.evaluated and key not in self.out_of_reach]
        if rule is not None and self.n_first < len(self.evaluator.folds):
            self._evaluate_first([self.everything, *new])
            self.out_of_reach |= self._far_ones(new, rule)
            new = [key for key in new if key not in self.out_of_reach]
        found = self.evaluator.evaluate([self._sets(key) for key in new])
        kept = self.evaluator.evaluate([self._kept(key) for key in new])
        for key, one, other in zip(new, found, kept, strict=True):
            self.evaluated[key] = worse_of(one, other)
        if new:
            self._known = None

    def _far_ones(self, keys: Sequence[SizeOf], rule: ErrorBudget) -> dict[SizeOf, float]:
        """Return the sets that the first folds show to be far from the budget, and how far."""
        top = max(self.first_folds, key=self._information)
        reachable = best_by_loss([self.first_folds[one] for one in (self.everything, top)])
        every = self.first_folds[self.everything].losses
        excesses = self._first_increases(keys, reachable.losses)
        limit = _FAR * float(rule.delta)
        far = [key for key, one in zip(keys, excesses, strict=True) if one.lower > limit]
        wide = self._first_increases(far, every, self.evaluator.widening)
        return {key: float(one.lower) for key, one in zip(far, wide, strict=True)}

    def _first_increases(
        self, keys: Sequence[SizeOf], reference: FloatArray, widening: float = 1.0
    ) -> list[Difference]:
        """Compare sets with a reference on the first folds."""
        evaluator, n = self.evaluator, len(reference)
        clusters = None if evaluator.clusters is None else evaluator.clusters[:n]
        weights = None if evaluator.weights is None else evaluator.weights[:n]
        known = (CONFIDENCE, clusters, weights, widening)
        losses = [self.first_folds[key].losses for key in keys]
        return evaluator.metric.increases(losses, reference, *known) if keys else []

    def _size_of(self, name: str, rule: StoppingRule) -> int:
        size = min(
            rule.decide(self.found.paths[name], self.context.facts).size, self._longest(name)
        )
        return max(size, self.smallest)

    def _longest(self, name: str) -> int:
        return max(self.smallest, self.found.longest(name))

    def _sets(self, key: SizeOf) -> list[FeatureSet]:
        """Return the set that was found without the rows of each fold."""
        name, size = key
        if name == ALL_FEATURES:
            return [tuple(range(size))] * len(self.evaluator.folds)
        return [order[:size] for order in self.found.orders[name]]

    def _kept(self, key: SizeOf) -> list[FeatureSet]:
        """Return the set that would be kept, the same for every fold."""
        name, size = key
        order = tuple(range(size)) if name == ALL_FEATURES else self.found.paths[name].order
        return [order[:size]] * len(self.evaluator.folds)


def geometric_sizes(smallest_size: int, largest_size: int, ratio: float = 2.0) -> list[int]:
    """Return sizes that grow by a ratio, both ends included.

    Examples
    --------
    >>> geometric_sizes(1, 11)
    [1, 2, 4, 8, 11]
    """
    sizes = [smallest_size]
    while sizes[-1] < largest_size:
        sizes.append(min(largest_size, max(sizes[-1] + 1, int(np.ceil(sizes[-1] * ratio - 0.5)))))
    return sizes


def between(below: int, above: int) -> int:
    """Return the size to evaluate between two, or `below` if they are close enough."""
    if above <= _MANY:
        return (below + above) // 2
    return below if above <= _CLOSE * below else round((max(below, 1) * above) ** 0.5)
