"""The three grades of the paper's method, from rows to sets of columns."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.reproduce import as_published
from pinsker import (
    BackwardElimination,
    FeatureSelector,
    ForwardSelection,
    KNNSettings,
    LinearSelection,
)
from pinsker.search import (
    Decision,
    ErrorBudget,
    FeatureCount,
    ScoreJump,
    ScoreThreshold,
    SelectionPath,
    StoppingRule,
)

#: A set that a recipe keeps: recipe, criterion, threshold, mask.
Kept = tuple[str, str, float, np.ndarray]
ER, FS, JUMP, COUNT = "ER", "FS", "ΔFS", "#F"
#: Budgets that mean something: an error rate grows by one at most.
MEANINGFUL = 1.0
#: Of folds and held-out models.
SEED = 0


def published_sets(
    X: Any, y: Any, n_neighbors: int, thresholds: dict[str, Iterable[float]]
) -> list[Kept]:
    """Return what the published code keeps, by criterion and threshold."""
    deltas = sorted(thresholds.get(ER, ()))
    # Where only budgets are asked for, nothing beyond the largest one matters.
    enough = deltas[-1] ** 2 / 2.0 if set(thresholds) == {ER} else np.inf
    path = as_published.published_path(X, y, n_neighbors, enough)
    sizes = {
        ER: as_published.size_by_error,
        FS: as_published.size_by_score,
        JUMP: as_published.size_by_jump,
        COUNT: lambda _, k: int(k),
    }
    kept: list[Kept] = [
        ("as published", criterion, threshold, path.kept(sizes[criterion](path, threshold)))
        for criterion, several in thresholds.items()
        for threshold in several
    ]
    chained = as_published.sizes_in_sequence(path, deltas)
    return kept + [
        ("as published, in sequence", ER, delta, path.kept(size))
        for delta, size in zip(deltas, chained, strict=True)
    ]


def printed_sets(
    X: Any, y: Any, n_neighbors: int, thresholds: dict[str, Iterable[float]], **options: Any
) -> list[Kept]:
    """Return what Algorithm 1 keeps to the letter, with a sound estimator."""
    rules = {
        ER: printed_budget,
        FS: ScoreThreshold,
        JUMP: ScoreJump,
        COUNT: lambda k: FeatureCount(int(k)),
    }
    with quiet():
        selector = BackwardElimination(
            metric="error", knn=printed_score(n_neighbors), random_state=SEED, **options
        ).fit(X, y)
    return [
        ("as printed", criterion, threshold, selector.support_at(error_budget=rule))
        for criterion, several in thresholds.items()
        for threshold, rule in ((one, rules[criterion](one)) for one in several)
    ]


def printed_forward_sets(X: Any, y: Any, n_neighbors: int, deltas: Iterable[float]) -> list[Kept]:
    """Return what Algorithm 2 keeps to the letter; a larger delta keeps more (E20)."""
    with quiet():
        selector = ForwardSelection(
            metric="error", knn=printed_score(n_neighbors), random_state=SEED
        ).fit(X, y)
    name = "as printed, forward"
    return [
        (name, ER, delta, selector.support_at(error_budget=printed_budget(delta)))
        for delta in deltas
    ]


def printed_score(n_neighbors: int = 3) -> KNNSettings:
    """Return the paper's score: conditional information, by so many neighbors."""
    return KNNSettings(n_neighbors=n_neighbors, score="direct")


def printed_budget(delta: float) -> StoppingRule:
    """Return the printed rule: stop once the sum of scores is delta^2 / 2 nats or more."""
    if delta <= MEANINGFUL:
        return ErrorBudget(delta, constants="paper", reference="full")
    return BeyondMeaning(delta)


@dataclass(frozen=True)
class BeyondMeaning(StoppingRule):
    """The printed rule for a delta above one, which the paper runs and `ErrorBudget` refuses."""

    delta: float

    def decide(self, path: SelectionPath, facts: Any = None) -> Decision:  # noqa: ARG002
        """Return how many features stay: backward what has not gone, forward what has come."""
        reached = np.flatnonzero(path.spent[1:] >= self.delta**2 / 2.0)
        never = 0 if path.direction == "backward" else int(path.sizes[-1])
        return self._settle(path, int(path.sizes[reached[0]]) if len(reached) else never)


def default_sets(X: Any, y: Any, deltas: Iterable[float], **options: Any) -> list[Kept]:
    """Return what `FeatureSelector` keeps at each budget, from one fit."""
    with quiet():
        selector = FeatureSelector(metric="error", random_state=SEED, **options).fit(X, y)
    return [
        ("default", ER, delta, selector.support_at(error_budget=delta))
        for delta in deltas
        if delta <= MEANINGFUL
    ]


def path_sets(X: Any, y: Any, sizes: Iterable[int]) -> list[Kept]:
    """Return sets of given sizes on pinsker's forward and backward paths."""
    kept: list[Kept] = []
    for name, kind in (("forward path", ForwardSelection), ("backward path", BackwardElimination)):
        with quiet():
            selector = kind(metric="error", random_state=SEED).fit(X, y)
        kept += [(name, COUNT, k, selector.support_at(n_features=k)) for k in sizes]
    return kept


def backward_sets(X: Any, y: Any, deltas: Iterable[float]) -> list[Kept]:
    """Return what `BackwardElimination` keeps by the information of its own path."""
    with quiet():
        selector = BackwardElimination(metric="error", random_state=SEED).fit(X, y)
    return [
        ("backward path", ER, delta, selector.support_at(error_budget=delta)) for delta in deltas
    ]


def example1_selectors() -> list[tuple[str, str, Any]]:
    """Name, grade and selector; five points of R2, for the printed rules 0.05 of squared error."""
    printed = ErrorBudget(0.05, metric="mse", constants="paper", reference="full")
    knn = printed_score()
    return [
        ("Algorithm 1", "as printed", BackwardElimination(printed, knn=knn, random_state=SEED)),
        ("Algorithm 2", "as printed", ForwardSelection(printed, knn=knn, random_state=SEED)),
        ("BackwardElimination", "pinsker", BackwardElimination(0.05, random_state=SEED)),
        ("ForwardSelection", "pinsker", ForwardSelection(0.05, random_state=SEED)),
        ("FeatureSelector", "default", FeatureSelector(0.05, random_state=SEED)),
        ("LinearSelection", "pinsker", LinearSelection(0.05)),
        ("LinearSelection, forward", "pinsker", LinearSelection(0.05, direction="forward")),
    ]


class quiet(warnings.catch_warnings):  # noqa: N801
    """Warnings about few rows are part of these experiments, and there are hundreds of runs."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore")
        return entered
