"""Triples of columns that carry information together: all of them, or those around the best pairs.

The surplus of a triple is what it tells of the target beyond all of its pairs: an exclusive-or of
three columns has nothing else, an effect of two has none in any third column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from pinsker._notes import Notes
from pinsker._types import ArrayLibrary, FloatArray, IntArray
from pinsker.engine import PairTables, best_triples, generator_of
from pinsker.search import PairFound, PairProblem

#: All triples of so many columns are counted: 1.3 million, and 20.7 million on a GPU.
_MOST_COLUMNS, _MOST_ON_GPU = 200, 500
#: In wider tables so many pairs are tried with every third column.
_MOST_PAIRS = 100


@dataclass(frozen=True, eq=False)
class TripleScan:
    """Which triples of a problem are counted, and where."""

    problem: PairProblem  # features and target, in bins for tables of three features
    pairs: IntArray | None  # pairs that are tried with every third feature
    n_threads: int  # threads
    library: ArrayLibrary  # numPy, or CuPy to count on a GPU

    @classmethod
    def of(
        cls,
        problem: PairProblem,
        pairs: Sequence[tuple[int, ...]],
        n_threads: int,
        library: ArrayLibrary,
    ) -> "TripleScan":
        """Plan a scan; `pairs` are the best ones, best first."""
        most = _MOST_COLUMNS if library is np else _MOST_ON_GPU
        if len(problem.codes) <= most:
            return cls(problem, None, n_threads, library)
        near = np.sort(np.array(pairs[:_MOST_PAIRS], dtype=np.int64).reshape(-1, 2), axis=1)
        return cls(problem, near, n_threads, library)

    @property
    def n_sets(self) -> int:
        """How many triples are counted."""
        d = len(self.problem.codes)
        if self.pairs is None:
            return d * (d - 1) * (d - 2) // 6
        # A triple of which several pairs are tried is counted once.
        known = {tuple(pair) for pair in self.pairs.tolist()}
        twice = sum(
            sum(tuple(sorted(two)) in known for two in combinations(three, 2)) - 1
            for three in {
                tuple(sorted({*one, *other}))
                for one, other in combinations(known, 2)
                if len({*one, *other}) == 3
            }
        )
        return len(known) * (d - 2) - twice

    @property
    def notes(self) -> Notes:
        """What a user should know."""
        if self.pairs is None:
            return ()
        note = (
            f"triples of {len(self.problem.codes)} columns: the {len(self.pairs)} best pairs with "
            "every third column; a triple of which no pair shows is not seen"
        )
        return (note,)

    def best(self, n_best: int, n_permutations: int, seed: int) -> list[PairFound]:
        """Return the triples with the largest surplus, with family-wise p-values."""
        labels, rng = self.problem.labels, generator_of(seed)
        # A few scans of permuted targets show the scale: each holds all triples.
        least = [float(self._scan(rng.permutation(labels), 1)[1][0]) for _ in range(n_permutations)]
        triples, values = self._scan(labels, n_best)
        return [
            self._describe(tuple(map(int, triple)), float(value), self._p_value(value, least))
            for triple, value in zip(triples, values, strict=True)
        ]

    def _scan(self, labels: IntArray, n_best: int) -> tuple[IntArray, FloatArray]:
        """Return the triples with the largest surplus, and the surplus in nats."""
        codes = self.problem.codes
        if self.pairs is not None:
            return best_triples(codes, labels, self.pairs, n_best, library=self.library)
        if self.library is np:
            return all_triples(codes, labels, n_best, self.n_threads)
        every = np.array(list(combinations(range(len(codes)), 2)))
        return best_triples(codes, labels, every, n_best, later=True, library=self.library)

    def _p_value(self, value: float, least: Sequence[float]) -> float:
        """Return a family-wise p-value: twice the rows times the surplus is chi-squared."""
        n, codes = len(self.problem.labels), self.problem.codes
        degrees = float(codes.max()) ** 3 * float(self.problem.labels.max())
        own, others = chdtrc(degrees, 2 * n * value), chdtrc(degrees, 2 * n * np.array(least))
        return float(-np.expm1(-len(least) * np.log1p(own / others.sum())))

    def _describe(self, triple: tuple[int, ...], surplus: float, p_value: float) -> PairFound:
        codes, labels = self.problem.codes[list(triple)], self.problem.labels
        alone = PairTables.of(codes, labels).alone
        joint = (codes[0].astype(np.int64) * 8 + codes[1]) * 8 + codes[2]
        together = _information(joint, labels)
        return PairFound(triple, tuple(map(float, alone)), together, surplus, p_value)


def all_triples(
    codes: Any, labels: IntArray, n_best: int, n_threads: int
) -> tuple[IntArray, FloatArray]:
    """Return the best of all triples: pairs given a third column, less the pairs without it."""
    every = PairTables.of(codes, labels, n_threads=n_threads)
    plain = np.concatenate([surplus for _, surplus in every.blocks()])
    triples, values = [], []
    for k in range(2, len(codes)):
        given = codes[k].astype(np.int64)
        tables = PairTables.of(codes[:k], labels, given, n_threads=n_threads)
        for first, surplus in tables.blocks():
            with np.errstate(invalid="ignore"):  # pairs that do not exist are -inf in both
                beyond = surplus - plain[first : first + len(surplus), :k]
            beyond[~np.isfinite(beyond)] = -np.inf
            at = np.argsort(-beyond, axis=None, kind="stable")[:n_best]
            i, j = np.unravel_index(at, beyond.shape)
            triples.append(np.column_stack([first + i, j, np.full(len(at), k)]))
            values.append(beyond[i, j])
    found, nats = np.concatenate(triples), np.concatenate(values)
    at = np.argsort(-nats, kind="stable")[:n_best]
    return found[at], nats[at]


def _information(joint: IntArray, labels: IntArray) -> float:
    """Return I(X;Y) of two columns of codes, in nats."""
    both = np.zeros((int(joint.max()) + 1, int(labels.max()) + 1))
    np.add.at(both, (joint, labels), 1.0 / len(labels))
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    there = both > 0
    return float(np.sum(both[there] * np.log(both[there] / expected[there])))
