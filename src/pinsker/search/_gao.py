"""Gao's estimate of the information of a set, as a state of a search: the paper's estimator."""

from collections.abc import Iterable

import numpy as np

from pinsker._types import FloatArray
from pinsker.encoding import NOMINAL_STEP
from pinsker.engine import Problem
from pinsker.information import knn_terms


class GaoState:
    """A set of features; every candidate is measured from scratch, so that ties are Gao's too."""

    plan = None

    def __init__(
        self,
        problem: Problem,
        n_neighbors: int,
        *,
        grows: bool,
        active: Iterable[int],
        n_threads: int = 1,
    ) -> None:
        self._problem, self._grows = problem, grows
        self._k, self._n_threads = n_neighbors, n_threads
        labels = problem.labels
        target = problem.target if labels is None else labels[:, None] * NOMINAL_STEP
        self._target = np.asarray(target, dtype=np.float64)
        self._set = frozenset(active)
        self._known = {frozenset[int](): 0.0}

    @property
    def active(self) -> tuple[int, ...]:
        """The current set."""
        return tuple(sorted(self._set))

    @property
    def information(self) -> float:
        """I(Y; X_S) of the current set, in nats."""
        return self._information(self._set)

    def scores(self) -> FloatArray:
        """Return the score of every candidate in nats, NaN for the others."""
        scores = np.full(self._problem.n_features, np.nan)
        everything = frozenset(range(len(scores)))
        for feature in everything - self._set if self._grows else self._set:
            change = self._information(self._set ^ {feature}) - self.information
            scores[feature] = change if self._grows else -change
        return scores

    def add(self, feature: int) -> None:
        """Put a feature into the set."""
        self._set |= {feature}

    def remove(self, feature: int) -> None:
        """Take a feature out of the set."""
        self._set -= {feature}

    def _information(self, features: frozenset[int]) -> float:
        if features not in self._known:
            own = self._problem.values[:, np.isin(self._problem.feature_of_column, list(features))]
            measured = knn_terms(
                own, self._target, None, k=self._k, n_threads=self._n_threads, method="gao"
            )
            self._known[features] = measured.value
        return self._known[features]
