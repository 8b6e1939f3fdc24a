"""The estimator behind the paper's published numbers, row by row, with its two mistakes."""

import math

import numpy as np
from scipy.special import digamma


def squared(a, b):
    """Rounded once: a target that does not differ must leave the distance the same to the bit, and
    the sums of `np.linalg.norm` are in an order that differs between builds of BLAS."""
    return math.fsum((a - b) ** 2)


def score(x, y, others, k):
    """Score of column x for target y given the other columns (a matrix)."""
    n, total = len(y), 0.0
    joint = np.column_stack([x, y, others])
    xz, yz = np.column_stack([x, others]), np.column_stack([y, others])
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        radius = sorted(squared(joint[i], joint[j]) for j in rest)[k - 1]
        n_xz = 1 + sum(squared(xz[i], xz[j]) < radius for j in rest)
        n_yz = 1 + sum(squared(yz[i], xz[j]) < radius for j in rest)  # the mix-up
        n_z = 1 + sum(squared(others[i], others[j]) < radius for j in rest)
        total += digamma(n_xz) + digamma(n_yz) - digamma(n_z)
    return float(digamma(k) - total / n)


def backward_path(X, y, k):
    """Remove the feature with the smallest score until one is left; order and scores."""
    left, removed, scores = list(range(X.shape[1])), [], []
    while len(left) > 1:
        found = [score(X[:, i], y, X[:, [j for j in left if j != i]], k) for i in left]
        worst = int(np.argmin(found))
        scores.append(found[worst])
        removed.append(left.pop(worst))
    return removed, scores
