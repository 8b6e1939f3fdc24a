"""Cross-fitting: paths are searched again without the rows that evaluate them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, take_rows
from pinsker.holdout._compare import (
    ALL_FEATURES,
    CONFIDENCE,
    Comparison,
    SubsetResult,
)
from pinsker.holdout._evaluate import BestScores, FeatureSet, HoldoutEvaluator
from pinsker.holdout._rows import Fold
from pinsker.models import best_by_loss
from pinsker.search import (
    Deadline,
    ErrorBudget,
    FeatureCosts,
    Search,
    SelectionPath,
    StoppingRule,
)

#: Sizes up to this are on the coarse grid, and are told apart one by one.
_MANY = 100
#: Larger sizes are told apart down to this ratio.
_CLOSE = 1.1
#: Rows of the first folds, at least: they compare models and find the sets far from a budget.
_FIRST_ROWS = 300
#: Where the smallest set so far has more features, other paths are looked at in several sizes.
_FEW = 4
#: From so many rows on two folds share a search.
_SHARE_FROM = 1000
#: The cut is refined for a budget smaller by this factor, too: `support_at` answers for others.
_SMALLER = 0.4
#: An excess above so many budgets is far.
_FAR = 2.0


class CrossFit:
    """Searches paths without the held-out rows, and evaluates their sets."""

    def __init__(
        self,
        encoded: Encoded,
        evaluator: HoldoutEvaluator,
        facts: TargetFacts,
        n_fixed: int,
        deadline: Deadline | None = None,
        costs: FeatureCosts | None = None,
    ) -> None:
        self.costs = costs
        self.encoded, self.evaluator, self.facts = encoded, evaluator, facts
        self.deadline = deadline or Deadline()
        self.smallest = max(n_fixed, 1)
        self.paths: dict[str, SelectionPath] = {}
        self.orders: dict[str, list[FeatureSet]] = {}
        self.evaluated: dict[tuple[str, int], BestScores] = {}
        self.glimpsed: dict[tuple[str, int], BestScores] = {}  # on the first folds alone
        self.hopeless: set[tuple[str, int]] = set()
        rows = np.cumsum([len(fold.test) for fold in evaluator.folds])
        self.n_first = min(int(np.searchsorted(rows, _FIRST_ROWS)) + 1, len(rows))

    def search(
        self,
        searches: Sequence[Search],
        names: Sequence[str],
        known: dict[str, SelectionPath],
        n_jobs: int | None = None,
    ) -> None:
        """Search every path on all rows, unless it is known, and without each fold's rows."""
        rows, row_of_fold = rows_of_searches(self.evaluator.folds, self.encoded.n_rows)
        wanted = [
            (search, k)
            for search in searches
            for k in range(-1, len(rows))
            if k >= 0 or not all(name in known for name in search.names)
        ]
        calls = [(search.run, rows[k] if k >= 0 else None) for search, k in wanted]
        found = self.evaluator.jobs.run(search_rows, self.encoded, calls, n_jobs)
        paths = {
            (name, k): path
            for (search, k), several in zip(wanted, found, strict=True)
            for name, path in zip(search.names, several, strict=True)
        }
        for name in names:
            self.paths[name] = known[name] if name in known else paths[name, -1]
            self.orders[name] = [paths[name, k].order for k in row_of_fold]

    def search_once(
        self,
        searches: Sequence[Search],
        names: Sequence[str],
        rows: IntArray,
        n_jobs: int | None = None,
    ) -> None:
        """Search every path on some rows; the folds hold out others."""
        calls = [(search.run, rows) for search in searches]
        found = self.evaluator.jobs.run(search_rows, self.encoded, calls, n_jobs)
        paths = {
            name: path
            for search, several in zip(searches, found, strict=True)
            for name, path in zip(search.names, several, strict=True)
        }
        n_folds = len(self.evaluator.folds)
        for name in names:
            self.paths[name], self.orders[name] = paths[name], [paths[name].order] * n_folds

    def compare(
        self, rule: StoppingRule, on_stage: Callable[[str], Any] | None = None
    ) -> Comparison:
        """Evaluate sizes from coarse to fine, until the cut of a rule is known."""
        everything = (ALL_FEATURES, self.encoded.n_features)
        first = next(iter(self.paths))
        begin = on_stage or (lambda _name: None)
        begin("comparing models")
        self._glimpse([everything, *self._grid(first)[::2]])  # enough to compare the models
        self.evaluator.drop_weak_models(list(self.glimpsed.values()))
        self.glimpsed = {}
        self._evaluate([everything])
        if isinstance(rule, ErrorBudget):
            rule = self._comparison().absolute(rule)
        for name in self.paths:
            begin(f"evaluating {name}")
            if self._is_enough(name):
                continue
            if isinstance(rule, ErrorBudget):
                self._look_at(name, rule)
            else:
                size = min(rule.decide(self.paths[name], self.facts).size, self._longest(name))
                grid = self._grid(name) if name == first else []
                self._evaluate([*grid, (name, max(size, self.smallest))])
        begin("refining")
        if isinstance(rule, ErrorBudget):
            self._refine(rule)
        return self._comparison()

    def _refine(self, rule: ErrorBudget) -> None:
        """Close the gaps around the cut, then those around the cut of a smaller budget."""
        late = self.deadline.skips
        while (finer := self._finer(rule) or self._next_larger(rule)) and not late("sizes between"):
            self._evaluate(finer, rule)
        smaller = replace(rule, delta=_SMALLER * float(rule.delta))
        while (finer := self._finer(smaller)) and not late("sizes between"):
            self._evaluate(finer, rule)

    def _next_larger(self, rule: ErrorBudget) -> list[tuple[str, int]]:
        """Return the next larger size of the chosen path: the choice must stand beside it, too."""
        chosen, _ = self._comparison().choose(rule)
        key = (chosen.search, chosen.size + 1)
        known = key in self.evaluated or key in self.hopeless
        return [] if known or key[1] > self._longest(chosen.search) else [key]

    def _look_at(self, name: str, rule: ErrorBudget) -> None:
        """Evaluate the sizes of a path that show where the cut is, as far as it is not known."""
        everything = (ALL_FEATURES, self.encoded.n_features)
        best = self._best(rule)
        if best is None or best.size == self.encoded.n_features:
            grid = self._grid(name)
            self._glimpse([everything, *grid])
            top = max(grid, key=self._shown)
            self._evaluate([key for key in grid if key[1] <= top[1]], rule)
            return
        self._glimpse([everything])
        top = max(self.glimpsed, key=self._shown)
        longest = self._longest(name)
        rival = (name, min(max(top[1], self.smallest), longest))
        self._glimpse([rival])
        wanted = [rival] if self._shown(rival) > self._shown(top) else []
        order = self.paths[name].order[:longest]
        below = self._prices.largest_size(order, self._comparison().cost(best))
        if below >= self.smallest:
            many = best.size > _FEW or below >= best.size
            sizes = geometric_sizes(self.smallest, below) if many else [below]
            wanted += [(name, size) for size in sizes]
        self._evaluate(wanted, rule)

    def _shown(self, key: tuple[str, int]) -> float:
        """Return the information that the first folds show of a set, up to a constant."""
        return float(self.glimpsed[key].most.log_likelihood.mean())

    @cached_property
    def _prices(self) -> FeatureCosts:
        return self.costs or FeatureCosts.unit(self.encoded.n_features)

    def _best(self, rule: ErrorBudget) -> SubsetResult | None:
        """Return the cheapest set known to meet the budget."""
        known, comparison = (rule, self.facts, self.evaluator.metric), self._comparison()
        meeting = [one for one in comparison.on_paths if one.meets(*known)]
        return min(meeting, key=lambda one: (comparison.cost(one), one.size), default=None)

    def _comparison(self) -> Comparison:
        """Return what is known so far."""
        return Comparison.of(self.evaluated, self.evaluator, self.facts, self.paths, self.costs)

    def _grid(self, name: str) -> list[tuple[str, int]]:
        """Return sizes of a path that grow by half."""
        most = min(self._longest(name), max(_MANY, self.smallest))
        return [(name, size) for size in geometric_sizes(self.smallest, most)]

    def _longest(self, name: str) -> int:
        """Return the largest size that a path has on all rows and in every fold."""
        return max(
            self.smallest, min(len(order) for order in [self.paths[name].order, *self.orders[name]])
        )

    def _finer(self, rule: ErrorBudget) -> list[tuple[str, int]]:
        """Return the middle of every gap in which a smaller set might pass than any known one."""
        comparison = self._comparison()
        chosen, _ = comparison.choose(rule)
        known = (rule, self.facts, self.evaluator.metric)
        finer = []
        for name in self.paths:
            own = [result for result in comparison.on_paths if result.search == name]
            meeting = [result.size for result in own if result.meets(*known)]
            if self._longest(name) == self.encoded.n_features:
                meeting.append(self.encoded.n_features)  # kept where nothing else is
            if not meeting:
                continue
            above = min(meeting)
            failing = [result.size for result in own if result.size < above]
            failing += [size for path, size in self.hopeless if path == name and size < above]
            below = max(failing, default=self.smallest - 1)
            middle = between(below, above)
            cheaper = self._prices.largest_size(self.paths[name].order, comparison.cost(chosen))
            most = max(cheaper, chosen.size) if name == chosen.search else cheaper
            if below < middle < above and middle <= most:
                finer.append((name, middle))
        return finer

    def _glimpse(self, keys: Sequence[tuple[str, int]]) -> None:
        """Evaluate sizes on the first folds, with sets that were found without them."""
        new = [key for key in keys if key not in self.glimpsed]
        n_first = self.n_first
        found = self.evaluator.evaluate([self._found(*key)[:n_first] for key in new])
        self.glimpsed.update(zip(new, found, strict=True))

    def _evaluate(self, keys: Sequence[tuple[str, int]], rule: ErrorBudget | None = None) -> None:
        """Evaluate sizes: what the search finds without the held-out rows, and what it found."""
        new = [key for key in keys if key not in self.evaluated]
        if self.deadline.seconds is not None and len(new) > 1:
            for key in new:  # one by one: time may be up after any of them
                self._evaluate([key], rule)
            return
        if new and self._is_enough(new[0][0]):
            return
        far: set[tuple[str, int]] = set()
        if rule is not None:
            self._glimpse(new)
            far = {key for key in new if self._is_far(key, rule)}
            if self.n_first < len(self.evaluator.folds):
                self.hopeless |= far
                new = [key for key in new if key not in far]
        found = self.evaluator.evaluate([self._found(*key) for key in new])
        kept = self.evaluator.evaluate(
            [self._found(*key) if key in far else self._kept(*key) for key in new]
        )
        for key, one, other in zip(new, found, kept, strict=True):
            self.evaluated[key] = one.or_worse(other)

    def _is_enough(self, name: str) -> bool:
        """Return whether time is up; one set of a path is evaluated in any case."""
        started = self.hopeless or any(path != ALL_FEATURES for path, _ in self.evaluated)
        return bool(started) and self.deadline.skips(f"sets of {name}")

    def _is_far(self, key: tuple[str, int], rule: ErrorBudget) -> bool:
        """Return whether the first folds show that a set is far from the budget."""
        top = max(self.glimpsed, key=self._shown)
        everything = (ALL_FEATURES, self.encoded.n_features)
        reachable = best_by_loss([self.glimpsed[one].least for one in (everything, top)])
        losses = self.glimpsed[key].least.losses
        first: list[Any] = [
            None if one is None else one[: len(losses)]
            for one in (self.evaluator.clusters, self.evaluator.weights)
        ]
        excess = self.evaluator.metric.increase(losses, reachable.losses, CONFIDENCE, *first)
        return bool(excess.lower > _FAR * float(rule.delta))

    def _found(self, name: str, size: int) -> list[FeatureSet]:
        """Return the set that was found without the rows of each fold."""
        if name not in self.orders:
            return [tuple(range(size))] * len(self.evaluator.folds)
        return [order[:size] for order in self.orders[name]]

    def _kept(self, name: str, size: int) -> list[FeatureSet]:
        """Return the set that would be kept, the same for every fold."""
        order = self.paths[name].order if name in self.paths else tuple(range(size))
        return [order[:size]] * len(self.evaluator.folds)


def rows_of_searches(folds: Sequence[Fold], n_rows: int) -> tuple[list[IntArray], list[int]]:
    """Return the rows of each search that is needed, and which search each fold takes."""
    searched: list[IntArray] = []
    search_of_fold: list[int] = []
    alone = False  # whether the last search belongs to one fold so far
    for fold in folds:
        if alone and n_rows >= _SHARE_FROM:
            shared = np.intersect1d(searched[-1], fold.train)
            if 2 * len(shared) >= n_rows:
                searched[-1], alone = shared, False
                search_of_fold.append(len(searched) - 1)
                continue
        searched.append(fold.train)
        search_of_fold.append(len(searched) - 1)
        alone = True
    return searched, search_of_fold


def search_rows(
    encoded: Encoded,
    run: Callable[[Encoded], tuple[SelectionPath, ...]],
    rows: IntArray | None,
) -> tuple[SelectionPath, ...]:
    """Run a search on some rows of a table; None stands for all."""
    return run(encoded if rows is None else take_rows(encoded, rows))


def geometric_sizes(smallest_size: int, largest_size: int, ratio: float = 1.5) -> list[int]:
    """Return sizes that grow by a ratio, both ends included."""
    sizes = [smallest_size]
    while sizes[-1] < largest_size:
        sizes.append(min(largest_size, max(sizes[-1] + 1, int(np.ceil(sizes[-1] * ratio - 0.5)))))
    return sizes


def between(below: int, above: int) -> int:
    """Return the size to evaluate between two, or `below` if they are close enough."""
    if above <= _MANY:
        return (below + above) // 2
    return below if above <= _CLOSE * below else round((below * above) ** 0.5)
