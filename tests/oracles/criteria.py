"""The criteria of the literature, slow and obvious: dictionaries and formulas as printed."""

import math
from collections import defaultdict
from itertools import combinations

import numpy as np
from scipy.special import digamma


class Sample:
    """A table of codes with classes; every information is computed from scratch."""

    def __init__(self, codes, labels, weights=None, correction="none"):
        self.codes = np.asarray(codes)
        self.labels = np.asarray(labels)
        self.weights = np.ones(len(self.labels)) if weights is None else np.asarray(weights)
        self.correction = correction

    def entropy(self, columns, *, classes):
        """H of some columns, with the classes or without, in nats."""
        cells = defaultdict(float)
        for i, weight in enumerate(self.weights):
            label = (int(self.labels[i]),) if classes else ()
            cells[tuple(int(self.codes[i, c]) for c in columns) + label] += weight
        counts = [count for count in cells.values() if count > 0]
        total = sum(counts)
        if len(counts) == 1:
            return 0.0
        if self.correction == "grassberger":
            return math.log(total) - sum(m * grassberger(m) for m in counts) / total
        plug_in = -sum(m / total * math.log(m / total) for m in counts)
        if self.correction == "miller-madow":
            return plug_in + (len(counts) - 1) / (2 * total)
        return plug_in

    def relevance(self, x, given=()):
        """I(x; class | given), where x is a list of columns."""
        return (
            self.entropy([*x, *given], classes=False)
            - self.entropy(given, classes=False)
            - self.entropy([*x, *given], classes=True)
            + self.entropy(given, classes=True)
        )

    def redundancy(self, x, w, *, classes):
        """I(x; w), or I(x; w | class)."""
        return (
            self.entropy([x], classes=classes)
            + self.entropy([w], classes=classes)
            - self.entropy([x, w], classes=classes)
            - self.entropy([], classes=classes)
        )


def grassberger(m):
    return digamma(m) + (-1) ** int(m) / 2 * (digamma((m + 1) / 2) - digamma(m / 2))


def score(sample, name, x, chosen, beta=1.0, gamma=1.0):
    """The score of candidate x after `chosen`, straight from the literature."""
    relevance = sample.relevance([x])
    if not chosen or name == "mim":
        return relevance
    plain = [sample.redundancy(x, w, classes=False) for w in chosen]
    within = [sample.redundancy(x, w, classes=True) for w in chosen]
    joint = [sample.relevance([x, w]) for w in chosen]
    share = [i / sample.entropy([x, w], classes=True) for i, w in zip(joint, chosen, strict=True)]
    given = [sample.relevance([x], [w]) for w in chosen]
    if name == "jmi3" and len(chosen) > 1:
        return sum(sample.relevance([x, u, w]) for u, w in combinations(chosen, 2))
    mean = sum(plain) / len(plain)
    return {
        "mifs": relevance - beta * sum(plain),
        "mrmr": relevance - mean,
        "mrmr-quotient": relevance / max(mean, np.finfo(float).eps),
        "jmi": sum(joint),
        "jmi3": sum(joint),
        "jmim": min(joint),
        "njmim": min(share),
        "cmim": min(relevance, *given),
        "cmim-brown": min(given),
        "cife": relevance - sum(plain) + sum(within),
        "icap": relevance - sum(max(0.0, p - w) for p, w in zip(plain, within, strict=True)),
        "disr": sum(share),
        "condred": relevance + sum(within),
        "beta-gamma": relevance - beta * sum(plain) + gamma * sum(within),
        "cmi": sample.relevance([x], chosen),
    }[name]


def scores_along(sample, name, order, beta=1.0, gamma=1.0):
    """Scores of all candidates before each choice of `order`; NaN for chosen ones."""
    rows = []
    for size in range(len(order)):
        chosen = list(order[:size])
        rows.append(
            [
                math.nan if x in chosen else score(sample, name, x, chosen, beta, gamma)
                for x in range(sample.codes.shape[1])
            ]
        )
    return np.array(rows)
