"""Entropies of states, slow and obvious: dictionaries and loops, straight from the formulas."""

import math
from collections import Counter


def digamma(x):
    """psi(x) for x > 0: recurrence up to 30, then the asymptotic series (error below 1e-15)."""
    shift = 0.0
    while x < 30:
        shift -= 1 / x
        x += 1
    series = 1 / 12 - (1 / 120 - (1 / 252 - 1 / (240 * x * x)) / (x * x)) / (x * x)
    return shift + math.log(x) - 1 / (2 * x) - series / (x * x)


def grassberger_log(m):
    """G(m) = psi(m) + (-1)^m / 2 [psi((m + 1) / 2) - psi(m / 2)]."""
    return digamma(m) + (-1) ** m / 2 * (digamma((m + 1) / 2) - digamma(m / 2))


def entropy(rows, correction):
    """Entropy in nats of hashable rows; one state has entropy zero by definition."""
    counts, n = Counter(rows), len(rows)
    if len(counts) == 1:
        return 0.0
    if correction == "grassberger":
        return math.log(n) - sum(m * grassberger_log(m) for m in counts.values()) / n
    plug_in = -sum(m / n * math.log(m / n) for m in counts.values())
    return plug_in + ((len(counts) - 1) / (2 * n) if correction == "miller-madow" else 0.0)


def information(x, y, z, correction):
    """H(XZ) + H(YZ) - H(Z) - H(XYZ); x, y, z are lists of tuples, z of empty ones for no z."""

    def joint(*sides):
        return [sum(parts, ()) for parts in zip(*sides, strict=True)]

    return (
        entropy(joint(x, z), correction)
        + entropy(joint(y, z), correction)
        - entropy(joint(z), correction)
        - entropy(joint(x, y, z), correction)
    )
