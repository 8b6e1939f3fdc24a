"""The three grades of the paper's method, from rows to sets of columns."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.reproduce import released_code
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
RELEASED, IN_SEQUENCE = "released code", "released code, in sequence"
#: Budgets that mean something: an error rate grows by one at most.
MEANINGFUL = 1.0
#: Of folds and held-out models.
SEED = 0


def released_sets(
    X: Any, y: Any, n_neighbors: int, thresholds: dict[str, Iterable[float]], numbers: bool = False
) -> list[Kept]:
    """Return what the released code keeps, by criterion and threshold."""
    deltas = sorted(thresholds.get(ER, ()))
    largest = float(np.max(y)) if numbers else None  # not of absolute values
    # Where only budgets are asked for, nothing beyond the largest one matters.
    enough = deltas[-1] ** 2 / 2.0 if set(thresholds) == {ER} and not numbers else np.inf
    path = released_code.published_path(X, y, n_neighbors, enough)
    sizes = {
        ER: lambda path, delta: released_code.size_by_error(path, delta, largest),
        FS: released_code.size_by_score,
        JUMP: released_code.size_by_jump,
        COUNT: lambda _, k: int(k),
    }
    kept: list[Kept] = [
        (RELEASED, criterion, threshold, path.kept(sizes[criterion](path, threshold)))
        for criterion, several in thresholds.items()
        for threshold in several
    ]
    chained = released_code.sizes_in_sequence(path, deltas, largest)
    return kept + [
        (IN_SEQUENCE, ER, delta, path.kept(size))
        for delta, size in zip(deltas, chained, strict=True)
    ]


def printed_sets(
    X: Any, y: Any, n_neighbors: int, thresholds: dict[str, Iterable[float]], metric: str = "error"
) -> list[Kept]:
    """Return what Algorithm 1 keeps as printed, with a sound estimator."""
    rules = {
        ER: lambda delta: printed_budget(delta, metric),
        FS: ScoreThreshold,
        JUMP: ScoreJump,
        COUNT: lambda k: FeatureCount(int(k)),
    }
    with quiet():
        selector = BackwardElimination(
            metric=metric, knn=printed_score(n_neighbors), random_state=SEED
        ).fit(X, y)
    return [
        ("as printed", criterion, threshold, selector.support_at(error_budget=rule))
        for criterion, several in thresholds.items()
        for threshold, rule in ((one, rules[criterion](one)) for one in several)
    ]


def printed_forward_sets(
    X: Any, y: Any, n_neighbors: int, deltas: Iterable[float], metric: str = "error"
) -> list[Kept]:
    """Return what Algorithm 2 keeps as printed, no patience; a larger delta keeps more (E20)."""
    with quiet():
        selector = ForwardSelection(
            metric=metric, knn=printed_score(n_neighbors), patience=None, random_state=SEED
        ).fit(X, y)
    name = "as printed, forward"
    return [
        (name, ER, delta, selector.support_at(error_budget=printed_budget(delta, metric)))
        for delta in deltas
    ]


def letter_sets(
    X: Any, y: Any, n_neighbors: int, deltas: Iterable[float], metric: str = "error"
) -> list[Kept]:
    """Return what both algorithms keep with the paper's own estimator: `as_published`."""
    kept: list[Kept] = []
    names = ("to the letter", BackwardElimination), ("to the letter, forward", ForwardSelection)
    for name, kind in names:
        published = kind.as_published(1.0, n_neighbors=n_neighbors)
        with quiet():
            selector = published.set_params(metric=metric, random_state=SEED).fit(X, y)
        kept += [
            (name, ER, delta, selector.support_at(error_budget=printed_budget(delta, metric)))
            for delta in deltas
        ]
    return kept


def printed_score(n_neighbors: int = 3) -> KNNSettings:
    """Return the printed score: conditional information, by this many neighbors."""
    return KNNSettings(n_neighbors=n_neighbors, score="direct")


def printed_budget(delta: float, metric: str = "error") -> StoppingRule:
    """Return the printed rule: stop once the scores sum to delta^2 / 2 (2 B^2 of numbers)."""
    if delta <= MEANINGFUL or metric == "mse":
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


def default_sets(
    X: Any, y: Any, deltas: Iterable[float], metric: str = "error", **options: Any
) -> list[Kept]:
    """Return what `FeatureSelector` keeps at each budget, from one fit."""
    with quiet():
        selector = FeatureSelector(metric=metric, random_state=SEED, **options).fit(X, y)
    return [
        ("default", ER, delta, selector.support_at(error_budget=delta))
        for delta in deltas
        if delta <= MEANINGFUL
    ]


def path_sets(X: Any, y: Any, sizes: Iterable[int], metric: str = "error") -> list[Kept]:
    """Return sets of given sizes on pinsker's forward and backward paths."""
    kept: list[Kept] = []
    whole = ForwardSelection(metric=metric, patience=None, random_state=SEED)
    paths = {"forward path": whole, "backward path": BackwardElimination(metric=metric)}
    for name, selector in paths.items():
        with quiet():
            selector.fit(X, y)
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
