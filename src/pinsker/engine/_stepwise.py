"""What both searches share: the set they stand at, the rows they measure, sums as nats."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from pinsker._types import FloatArray
from pinsker.engine._engines import Chosen, EngineName, Search, choose_engine
from pinsker.engine._fixed_point import FixedPoint
from pinsker.engine._plan import Plan, Score, plan_rows
from pinsker.engine._problem import Problem

_LOG = logging.getLogger("pinsker")


class Stepwise(ABC):
    """A search that moves one feature at a time; `Backward` and `Forward` document the parameters."""

    _keeps_pairs: ClassVar[bool]  # whether rows keep their pairs in memory between steps
    _search: Search

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
        self.problem, self.n_threads, self.score = problem, n_threads, score
        self._active = np.zeros(problem.n_features, dtype=np.uint8)
        self._active[list(self._first_set() if active is None else active)] = 1
        chosen = choose_engine(engine, client, problem, max_samples, max_memory)
        self.plan: Plan = plan_rows(
            problem,
            max_memory=max_memory,
            max_samples=max_samples,
            seed=seed,
            keeps_pairs=self._keeps_pairs,
            n_neighbors=n_neighbors,
            holders=chosen.holders(),
        )
        self._fixed = FixedPoint.of(problem.n_rows)
        settings = self._settings(n_neighbors)
        if chosen.engine == "cuda":
            settings["memory_limit"] = max_memory
        self._open(chosen, settings)
        if chosen.engine == "cuda":
            self.plan = self.plan.held_by(self._search)
        _LOG.info("engine %s: %s", self.plan.engine, self.plan)
        self._search.start(self._active, n_threads)

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
        """Return the features to start from when nobody names any."""

    @abstractmethod
    def _open(self, chosen: Chosen, settings: dict[str, Any]) -> None:
        """Make `_search`, the search of an engine."""

    def _settings(self, n_neighbors: int) -> dict[str, Any]:
        """Return what the kernels of both directions take."""
        problem = self.problem
        return {
            "values": problem.values,
            "features": problem.feature_of_column.astype(np.int32),
            "n_features": problem.n_features,
            "labels": problem.labels,
            "target": problem.target,
            "digamma": self._fixed.digamma,
            "queries": self.plan.queries,
            "rank": n_neighbors,
            "direct": self.score == "direct",
        }

    def _nats(self, sums: np.ndarray) -> FloatArray:
        return self._fixed.to_nats(sums, len(self.plan.queries))
