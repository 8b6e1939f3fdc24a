"""The estimator behind the paper's published numbers, row by row, with its two mistakes."""

import numpy as np
from scipy.special import digamma


def score(x, y, others, k):
    """Score of column x for target y given the other columns (a matrix)."""
    n, total = len(y), 0.0
    joint = np.column_stack([x, y, others])
    xz, yz = np.column_stack([x, others]), np.column_stack([y, others])
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        radius = sorted(np.linalg.norm(joint[i] - joint[j]) for j in rest)[k - 1]
        n_xz = 1 + sum(np.linalg.norm(xz[i] - xz[j]) < radius for j in rest)
        n_yz = 1 + sum(np.linalg.norm(yz[i] - xz[j]) < radius for j in rest)  # the mix-up
        n_z = 1 + sum(np.linalg.norm(others[i] - others[j]) < radius for j in rest)
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
