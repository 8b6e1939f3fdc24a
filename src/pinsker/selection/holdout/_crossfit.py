"""Cross-fitting: paths are searched again without the rows that evaluate them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, take_rows
from pinsker.selection.holdout._compare import ALL_FEATURES, Comparison
from pinsker.selection.holdout._evaluate import BestScores, FeatureSet, HoldoutEvaluator
from pinsker.selection.search import ErrorBudget, Search, SelectionPath, StoppingRule

#: Sizes up to this are on the coarse grid, and are told apart one by one.
_MANY = 100
#: Larger sizes are told apart down to this ratio.
_CLOSE = 1.1


class CrossFit:
    """Searches paths without the held-out rows, and evaluates their sets.

    Parameters
    ----------
    encoded : Encoded
        The table.
    evaluator : HoldoutEvaluator
        Holds folds and models.
    facts : TargetFacts
        What the bounds know of the target.
    n_fixed : int
        Features that may not be dropped.
    """

    def __init__(
        self, encoded: Encoded, evaluator: HoldoutEvaluator, facts: TargetFacts, n_fixed: int
    ) -> None:
        self.encoded, self.evaluator, self.facts = encoded, evaluator, facts
        self.smallest = max(n_fixed, 1)
        self.paths: dict[str, SelectionPath] = {}
        self.orders: dict[str, list[FeatureSet]] = {}
        everything = tuple(range(encoded.n_features))
        self.evaluated: dict[tuple[str, int], BestScores] = {}
        self.candidates = {(ALL_FEATURES, len(everything)): [everything] * len(evaluator.folds)}

    def search(
        self,
        searches: Sequence[Search],
        names: Sequence[str],
        known: dict[str, SelectionPath],
    ) -> None:
        """Search every path on all rows, unless it is known, and without each fold's rows.

        Parameters
        ----------
        searches : sequence of Search
            How.
        names : sequence of str
            The paths in their order.
        known : dict of str to SelectionPath
            Paths that were found on all rows already.
        """
        rows = [None, *(fold.train for fold in self.evaluator.folds)]
        wanted = [
            (search, k)
            for search in searches
            for k in range(len(rows))
            if k or not all(name in known for name in search.names)
        ]
        calls = [(search.run, rows[k]) for search, k in wanted]
        found = self.evaluator.jobs.run(search_rows, self.encoded, calls)
        paths = {
            (name, k): path
            for (search, k), several in zip(wanted, found, strict=True)
            for name, path in zip(search.names, several, strict=True)
        }
        for name in names:
            self.paths[name] = known[name] if name in known else paths[name, 0]
            self.orders[name] = [paths[name, k].order for k in range(1, len(rows))]

    def compare(
        self, rule: StoppingRule, on_stage: Callable[[str], Any] | None = None
    ) -> Comparison:
        """Evaluate sizes from coarse to fine, until the cut of a rule is known."""
        first = next(iter(self.paths))
        self._evaluate(self._coarse(first, rule)[::2])  # enough to compare the models
        self.evaluator.drop_weak_models(list(self.evaluated.values()))
        for name in self.paths:
            if on_stage is not None:
                on_stage(f"evaluating {name}")
            self._evaluate(self._coarse(name, rule))
        comparison = self._comparison()
        if isinstance(rule, ErrorBudget):
            rule = comparison.absolute(rule)
            while finer := self._finer(comparison, rule):
                self._evaluate(finer)
                comparison = self._comparison()
        return comparison

    def _comparison(self) -> Comparison:
        """Return what is known so far."""
        return Comparison.of(self.evaluated, self.evaluator, self.facts, self.paths)

    def _coarse(self, name: str, rule: StoppingRule) -> list[tuple[str, int]]:
        path = self.paths[name]
        longest = self._longest(name)
        sizes = set(geometric_sizes(self.smallest, min(longest, max(_MANY, self.smallest))))
        if not isinstance(rule, ErrorBudget):
            sizes.add(min(rule.decide(path, self.facts).size, longest))
        return [(name, size) for size in sorted(sizes) if size >= self.smallest]

    def _longest(self, name: str) -> int:
        """Return the largest size that a path has on all rows and in every fold."""
        return max(
            self.smallest, min(len(order) for order in [self.paths[name].order, *self.orders[name]])
        )

    def _finer(self, comparison: Comparison, rule: ErrorBudget) -> list[tuple[str, int]]:
        """Return the middle of every gap in which a smaller set might pass than any known one."""
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
            below = max((result.size for result in own if result.size < above), default=above)
            middle = between(below, above)
            if below < middle < above and middle < chosen.size + (name == chosen.search):
                finer.append((name, middle))
        return finer

    def _evaluate(self, keys: Sequence[tuple[str, int]]) -> None:
        """Evaluate sizes: what the search finds without the held-out rows, and what it found.

        The sets of the folds evaluate the search; the set that would be kept is found on all rows.
        Where the search is unstable the two differ, so the worse scores count. The second ones are
        optimistic for a set that was chosen with these rows, but one that fails even so is out.
        """
        for name, size in keys:
            self.candidates[name, size] = [order[:size] for order in self.orders[name]]
        new = [key for key in self.candidates if key not in self.evaluated]
        found = self.evaluator.evaluate([self.candidates[key] for key in new])
        kept = self.evaluator.evaluate([self._kept(*key) for key in new])
        for key, one, other in zip(new, found, kept, strict=True):
            self.evaluated[key] = one.or_worse(other)

    def _kept(self, name: str, size: int) -> list[FeatureSet]:
        """Return the set that would be kept, the same for every fold."""
        order = self.paths[name].order if name in self.paths else tuple(range(size))
        return [order[:size]] * len(self.evaluator.folds)


def search_rows(
    encoded: Encoded,
    run: Callable[[Encoded], tuple[SelectionPath, ...]],
    rows: IntArray | None,
) -> tuple[SelectionPath, ...]:
    """Run a search on some rows of a table; None stands for all."""
    return run(encoded if rows is None else take_rows(encoded, rows))


def geometric_sizes(smallest_size: int, largest_size: int, ratio: float = 1.5) -> list[int]:
    """Return sizes that grow by a ratio, both ends included.

    Examples
    --------
    >>> geometric_sizes(1, 30)
    [1, 2, 3, 4, 6, 9, 13, 19, 28, 30]
    """
    sizes = [smallest_size]
    while sizes[-1] < largest_size:
        sizes.append(min(largest_size, max(sizes[-1] + 1, int(np.ceil(sizes[-1] * ratio - 0.5)))))
    return sizes


def between(below: int, above: int) -> int:
    """Return the size to evaluate between two, or `below` if they are close enough.

    Up to `_MANY` the middle, so that in the end neighbors are told apart. Beyond, the geometric
    middle, until the larger is at most a tenth above the smaller.

    Examples
    --------
    >>> between(9, 13), between(9, 10), between(100, 2400), between(2200, 2400)
    (11, 9, 490, 2200)
    """
    if above <= _MANY:
        return (below + above) // 2
    return below if above <= _CLOSE * below else round((below * above) ** 0.5)
