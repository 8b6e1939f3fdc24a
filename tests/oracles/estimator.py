"""The estimator of docs/estimator.md, one row at a time, as plainly as it can be said.

Imports nothing from the package: this is the definition that every fast path is compared with.
"""

import numpy as np
from scipy.special import digamma

TOLERANCE = 1e-10
FARTHEST = 1e100


def max_norm(columns):
    """Distances of all pairs of rows; zero everywhere for no columns."""
    n, d = columns.shape
    distances = np.zeros((n, n))
    for c in range(d):
        distances = np.maximum(distances, np.abs(columns[:, c, None] - columns[None, :, c]))
    return distances


def counts(distances, row, radius):
    """Other rows strictly inside the radius, and other rows inside or on it."""
    others = np.delete(distances[row], row)
    inside = int(np.sum(others < radius * (1 - TOLERANCE)))
    closed = int(np.sum(others <= radius * (1 + TOLERANCE)))
    return inside, closed


def row_term(dx, dy, dz, row, k):
    """One row's term. Without a condition pass dz=None."""
    n = len(dx)
    joint = np.maximum(dx, dy) if dz is None else np.maximum(np.maximum(dx, dy), dz)
    finite = np.sort([d for d in np.delete(joint[row], row) if d < FARTHEST])
    if len(finite) == 0:
        return 0.0
    k = min(k, len(finite))
    radius = finite[k - 1]
    kt = counts(joint, row, radius)[1]
    if dz is None:
        marginals = [counts(dx, row, radius), counts(dy, row, radius)]
    else:
        marginals = [
            counts(np.maximum(dx, dz), row, radius),
            counts(np.maximum(dy, dz), row, radius),
            counts(dz, row, radius),
        ]
    smooth = radius > 0 and kt == k and all(c - o <= 1 for o, c in marginals)
    pick = [o + 1 if smooth else c for o, c in marginals]
    if dz is None:
        pick.append(n if smooth else n - 1)
    return digamma(k if smooth else kt) - digamma(pick[0]) - digamma(pick[1]) + digamma(pick[2])


def information(x, y, k, z=None, rows=None):
    """I(X;Y) or I(X;Y|Z) in nats; matrices in metric form, one row per sample."""
    if x.shape[1] == 0:
        return 0.0
    dx, dy = max_norm(x), max_norm(y)
    dz = None if z is None else max_norm(z)
    rows = range(len(x)) if rows is None else rows
    return float(np.mean([row_term(dx, dy, dz, row, k) for row in rows]))
