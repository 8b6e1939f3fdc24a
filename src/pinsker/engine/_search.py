"""Backward and forward search: the score of every removal or addition, exactly, in one pass."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, get_args

import numpy as np

from pinsker._types import FloatArray
from pinsker.engine import _kernels
from pinsker.engine._boundary import index_of, one_of
from pinsker.engine._plan import Plan, Score, check_search, plan_rows
from pinsker.engine._problem import FixedPoint, Problem
from pinsker.engine.backends import EngineName, Request, choose_backend
from pinsker.exceptions import ParameterError

_LOG = logging.getLogger("pinsker")


class Stepwise(ABC):
    """A search that moves one feature at a time; parameters as in `Backward` and `Forward`."""

    _keeps_pairs: ClassVar[bool]  # whether rows keep their pairs in memory between steps
    _search: _kernels.Backward | _kernels.Forward

    def __init__(
        self,
        problem: Problem,
        *,
        n_neighbors: int = 3,
        score: Score = "difference",
        active: Iterable[int] | None = None,
        n_threads: int = 1,
        max_memory: int | None = None,
        max_samples: int | None = None,
        seed: int = 0,
        engine: EngineName = "local",
        client: Any = None,
    ) -> None:
        check_search(problem, max_memory, max_samples, seed, n_neighbors, n_threads)
        one_of("score", score, get_args(Score))
        self._problem, self._score, self._n_threads = problem, score, int(n_threads)
        self._active = np.zeros(problem.n_features, dtype=np.uint8)
        for feature in self._first_set() if active is None else _listed(active):
            self._active[index_of("feature", feature, problem.n_features)] = 1
        request = Request(engine, client, problem, max_samples, max_memory)
        backend = choose_backend(request)
        plan = plan_rows(
            problem,
            max_memory=max_memory,
            max_samples=max_samples,
            seed=seed,
            keeps_pairs=self._keeps_pairs,
            n_neighbors=n_neighbors,
            n_threads=n_threads,
            workers=backend.memory(),
        )
        self._fixed = FixedPoint.of(problem.n_rows)
        settings = self._settings(plan, n_neighbors)
        self.plan: Plan
        self._search, self.plan = backend.run(request, plan, settings)
        _LOG.info("engine %s: %s", self.plan.engine, self.plan)
        self._search.start(self._active, self.n_threads)

    # What the state was made for cannot be exchanged: kernels read and write by it.
    @property
    def problem(self) -> Problem:
        """The table, its features and the target."""
        return self._problem

    @property
    def score(self) -> Score:
        """What `scores` holds."""
        return self._score

    @property
    def n_threads(self) -> int:
        """Threads."""
        return self._n_threads

    @property
    def active(self) -> tuple[int, ...]:
        """Features in the current set, in increasing order."""
        return tuple(int(u) for u in np.flatnonzero(self._active))

    @property
    def information(self) -> float:
        """``I(Y; X_S)`` of the current set, in nats."""
        return float(self._nats(np.array([self._search.information()], dtype=np.int64))[0])

    @abstractmethod
    def _first_set(self) -> Iterable[int]:
        """Return the features to start from by default."""

    def _settings(self, plan: Plan, n_neighbors: int) -> dict[str, Any]:
        """Return what the kernels of all backends take."""
        problem, kept = self.problem, {}
        if plan.keeps_pairs:
            kept = {"watched_queries": plan.n_watched, "state_bytes": plan.state_bytes}
        return {
            "values": problem.values,
            "features": problem.feature_of_column.astype(np.int32),
            "n_features": problem.n_features,
            "labels": problem.labels,
            "target": problem.target,
            "digamma": self._fixed.digamma,
            "queries": plan.queries,
            "rank": min(int(n_neighbors), problem.n_rows),  # kernels hold as many distances
            "direct": self.score == "direct",
            **kept,
        }

    def _nats(self, sums: np.ndarray) -> FloatArray:
        return self._fixed.to_nats(sums, len(self.plan.queries))


def _listed(active: Any) -> list[Any]:
    try:
        return list(active)
    except TypeError as error:
        raise ParameterError(
            f"active={active!r} is no list: give the numbers of features, or None.",
            parameter="active",
        ) from error


class Backward(Stepwise):
    """Scores every removal from the current set, and removes one feature at a time."""

    _keeps_pairs = True
    _search: _kernels.Backward

    def scores(self) -> FloatArray:
        """Return the score of every removal, in nats; NaN for features outside of the set."""
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.changes(sums)
        scores = self._nats(sums if self.score == "direct" else -sums)
        if self._active.sum() == 1:  # the empty set has no information
            scores[:] = self.information
        scores[self._active == 0] = np.nan
        return scores

    def remove(self, feature: int) -> None:
        """Remove a feature from the set."""
        feature = index_of("feature", feature, self.problem.n_features)
        if not self._active[feature]:
            raise ParameterError(
                f"feature {feature} is not in the current set, so it cannot be removed."
            )
        self._active[feature] = 0
        self._search.remove(feature, self.n_threads)

    def _first_set(self) -> Iterable[int]:
        return range(self.problem.n_features)


class Forward(Stepwise):
    """Scores every addition to the current set, and adds one feature at a time."""

    _keeps_pairs = False
    _search: _kernels.Forward

    def scores(self) -> FloatArray:
        """Return the score of every addition, in nats; NaN for features that are in the set."""
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.sums(sums)
        # Subtracted as integers: exact, and the same bits whatever the order of the rows.
        if self.score == "difference":
            sums -= self._search.information()
        scores = self._nats(sums)
        scores[self._active == 1] = np.nan
        return scores

    def add(self, feature: int) -> None:
        """Add a feature to the set."""
        feature = index_of("feature", feature, self.problem.n_features)
        if self._active[feature]:
            raise ParameterError(f"feature {feature} is in the current set already.")
        self._active[feature] = 1
        self._search.add(feature, self.n_threads)

    def _first_set(self) -> Iterable[int]:
        return ()
