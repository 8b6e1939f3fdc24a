"""The estimator and the rules behind the published numbers, with their mistakes, for the record.

The score of feature c given the others, for rows i with radius r_i to the k-th neighbor of
(x, y) under the *Euclidean* norm on the joint space (the class counts as a number):

    psi(k) - mean_i [ psi(n_xz) + psi(n_yz) - psi(n_z) ]

n_xz and n_z count the rows strictly inside r_i, plus one. So should n_yz, but rows were mixed up:
(y_i, z_i) is compared with (x_j, z_j), not with (y_j, z_j). Columns are not scaled. Euclidean
balls are no products, so that independent data do not score zero; the mix-up moves the scores up.

The squared distance of a set is the sum over its columns. The joint radius and n_xz are therefore
the same for every candidate, and leaving one out is a subtraction.

The rules as they were run: running sums clip each score at zero (ER); the jump rule looks for a
*fall* of the score, where its text means a rise, so that it removes nearly everything (ΔFS).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma

Value = Any  # a number or an array of them


@dataclass(frozen=True)
class PublishedPath:
    """Features in the order of removal, with their scores in nats; the last one stays."""

    n_features: int
    removed: tuple[int, ...]
    scores: tuple[float, ...]

    def kept(self, size: int) -> np.ndarray:
        """Return the mask of the features that stay."""
        mask = np.ones(self.n_features, dtype=bool)
        mask[list(self.removed[: self.n_features - size])] = False
        return mask


def published_path(
    X: np.ndarray, y: np.ndarray, n_neighbors: int, enough: float = np.inf
) -> PublishedPath:
    """Return the backward path of the published estimator, down to one feature.

    With `enough` it ends at the step whose clipped scores sum up to this many nats.
    """
    labels = np.asarray(y, dtype=float)
    distances = [np.subtract.outer(column, column) ** 2 for column in X.T]
    left, removed, scores = list(range(X.shape[1])), [], []
    while len(left) > 1 and np.maximum(scores, 0.0).sum() < enough:
        candidates = _scores(X, labels, distances, left, n_neighbors)
        worst = int(np.argmin(candidates))
        scores.append(float(candidates[worst]))
        removed.append(left.pop(worst))
    return PublishedPath(X.shape[1], tuple(removed), tuple(scores))


def _scores(
    X: np.ndarray, y: np.ndarray, distances: list[np.ndarray], left: list[int], k: int
) -> np.ndarray:
    """Return the score of every feature that is left, given the others."""
    features = sum(distances[column] for column in left)
    np.fill_diagonal(features, np.inf)  # a row is not its own neighbor
    joint = features + np.subtract.outer(y, y) ** 2
    radius = np.partition(joint, k - 1, axis=1)[:, k - 1 : k]
    inside = digamma(_count(features, radius))
    found = []
    for column in left:
        others = features - distances[column]
        mixed_up = others + np.subtract.outer(y, X[:, column]) ** 2  # (y_i, z_i) with (x_j, z_j)
        parts = inside + digamma(_count(mixed_up, radius)) - digamma(_count(others, radius))
        found.append(digamma(k) - parts.mean())
    return np.array(found)


def _count(squared: np.ndarray, radius: np.ndarray) -> np.ndarray:
    return np.count_nonzero(squared < radius, axis=1) + 1


def claimed_error(spent: Value, largest: float | None = None) -> Value:
    """Return the error that so many nats stand for: sqrt(2 nats), of numbers 2 B^2 nats."""
    return np.sqrt(2.0 * spent) if largest is None else 2.0 * largest**2 * spent


def size_by_error(path: PublishedPath, delta: float, largest: float | None = None) -> int:
    """Return how many features stay when the claimed error may not reach delta (ER)."""
    error = claimed_error(np.cumsum(np.maximum(path.scores, 0.0)), largest)
    return path.n_features - _first(error >= delta)


def sizes_in_sequence(
    path: PublishedPath, deltas: Sequence[float], largest: float | None = None
) -> list[int]:
    """Return the sizes of rising deltas as one search that goes on from each to the next.

    This is how the published curves were made: the sum was kept, and the score that had stopped
    the search was added again at every further delta. More features stay than the rule says.
    """
    spent, steps, sizes = 0.0, 0, []
    for delta in deltas:
        while steps < len(path.scores):
            spent += max(path.scores[steps], 0.0)
            if claimed_error(spent, largest) >= delta:
                break
            steps += 1
        sizes.append(path.n_features - steps)
    return sizes


def size_by_score(path: PublishedPath, threshold: float) -> int:
    """Return how many features stay when no score may reach the threshold (FS)."""
    return path.n_features - _first(np.asarray(path.scores) >= threshold)


def size_by_jump(path: PublishedPath, threshold: float) -> int:
    """Return how many features stay when no score may *fall* by the threshold (ΔFS, as run)."""
    fall = -np.diff(path.scores, prepend=0.0)
    return path.n_features - _first(fall >= threshold)


def _first(flags: np.ndarray) -> int:
    """Return the position of the first true flag; their number where none is."""
    return int(np.argmax(np.append(flags, True)))
