"""Slow, obvious twins of ranks and of supervised cuts. Imports nothing from pinsker."""

from collections import Counter
from itertools import pairwise
from math import log2
from statistics import NormalDist


def normal_scores(column):
    """Rank every value by counting, then ask the normal distribution."""
    n = len(column)
    scores = []
    for value in column:
        below = sum(other < value for other in column)
        equal = sum(other == value for other in column)
        rank = below + (equal + 1) / 2
        scores.append(NormalDist().inv_cdf(rank / (n + 1)))
    return scores


def entropy(labels):
    """Entropy of a list of labels in bits."""
    n = len(labels)
    return -sum(c / n * log2(c / n) for c in Counter(labels).values())


def mdl_cuts(pairs):
    """Cuts of (value, label) pairs by Fayyad and Irani's rule, straight from their equations."""
    labels = [label for _, label in pairs]
    n = len(pairs)
    values = sorted({value for value, _ in pairs})
    best = None
    for low, high in pairwise(values):
        left = [label for value, label in pairs if value <= low]
        right = [label for value, label in pairs if value > low]
        within = len(left) / n * entropy(left) + len(right) / n * entropy(right)
        if best is None or within < best[0] - 1e-12:
            best = (within, low, high, left, right)
    if best is None:
        return []
    within, low, high, left, right = best
    k, k1, k2 = len(set(labels)), len(set(left)), len(set(right))
    delta = log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(labels) - within <= log2(n - 1) / n + delta / n:
        return []
    lower = [pair for pair in pairs if pair[0] <= low]
    upper = [pair for pair in pairs if pair[0] > low]
    return [*mdl_cuts(lower), (low + high) / 2, *mdl_cuts(upper)]
