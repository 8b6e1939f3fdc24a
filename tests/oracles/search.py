"""Greedy searches, slow and obvious: every candidate is scored from scratch, by the estimator.

Imports nothing from pinsker. `values` and `target` are in metric form (docs/estimator.md),
`features` is a list of lists of columns.
"""

import numpy as np

from oracles import knn


def columns_of(features, chosen):
    """All columns of some features, in order."""
    return sorted(column for feature in chosen for column in features[feature])


def information(values, features, target, chosen, k):
    """I(Y; X_S) in nats; nothing is known without features."""
    if not chosen:
        return 0.0
    return float(np.mean(knn.terms(values[:, columns_of(features, chosen)], target, None, k)))


def conditional(values, features, target, feature, given, k):
    """I(Y; X_unit | X_given) in nats."""
    x = values[:, columns_of(features, [feature])]
    z = values[:, columns_of(features, given)] if given else None
    return float(np.mean(knn.terms(x, target, z, k)))


def gain(values, features, target, feature, others, k, score):
    """What a feature brings beyond others, by the difference or by the direct score."""
    if score == "direct":
        return conditional(values, features, target, feature, others, k)
    with_unit = information(values, features, target, [*others, feature], k)
    return with_unit - information(values, features, target, others, k)


def backward(values, features, target, k=3, score="difference", forced=()):
    """Remove the cheapest feature until none is left: moves, scores, information after each."""
    left = list(range(len(features)))
    moves, scores, known = [], [], [information(values, features, target, left, k)]
    while left:
        loose = [feature for feature in left if feature not in forced] or left
        costs = {}
        for feature in loose:
            others = [other for other in left if other != feature]
            costs[feature] = gain(values, features, target, feature, others, k, score)
        cheapest = min(costs.values())
        feature = max(u for u in loose if costs[u] <= cheapest + 1e-12)
        left.remove(feature)
        moves.append(feature)
        scores.append(costs[feature])
        known.append(information(values, features, target, left, k))
    return moves, scores, known


def forward(values, features, target, k=3, score="difference", forced=()):
    """Add the best feature until all are in: moves, scores, information after each."""
    chosen = []
    moves, scores, known = [], [], [0.0]
    while len(chosen) < len(features):
        outside = [feature for feature in range(len(features)) if feature not in chosen]
        outside = [feature for feature in outside if feature in forced] or outside
        gains = {u: gain(values, features, target, u, chosen, k, score) for u in outside}
        largest = max(gains.values())
        feature = min(u for u in outside if gains[u] >= largest - 1e-12)
        chosen.append(feature)
        moves.append(feature)
        scores.append(gains[feature])
        known.append(information(values, features, target, chosen, k))
    return moves, scores, known


def size_for_budget(known, sizes, budget):
    """The smallest set that lacks at most `budget` nats of the best one."""
    return max(
        1,
        min(
            s for s, value in zip(sizes, known, strict=True) if max(known) - value <= budget + 1e-12
        ),
    )


def size_as_printed(direction, scores, budget):
    """Algorithms 1 and 2 to the letter: stop at the first running sum of at least the budget.

    Scores count from zero up. The features are those left, or chosen, before the last step.
    """
    running = 0.0
    for before, score in enumerate(scores):
        running += max(score, 0.0)
        if running >= budget:
            return len(scores) - before if direction == "backward" else before
    return 0 if direction == "backward" else len(scores)


class Table:
    """A set of features with the engine's interface: slow, for searches that are tested alone."""

    def __init__(self, values, features, target, active, k=3, score="difference"):
        self.values, self.features, self.target = values, features, target
        self.chosen, self.k, self.score = list(active), k, score

    @property
    def active(self):
        """The current set."""
        return tuple(sorted(self.chosen))

    @property
    def information(self):
        """I(Y; X_S)."""
        return information(self.values, self.features, self.target, self.chosen, self.k)


class SlowBackward(Table):
    """Removals."""

    def scores(self):
        """The cost of each removal."""
        out = np.full(len(self.features), np.nan)
        for feature in self.chosen:
            others = [other for other in self.chosen if other != feature]
            out[feature] = gain(
                self.values, self.features, self.target, feature, others, self.k, self.score
            )
        return out

    def remove(self, feature):
        """Take a feature out."""
        self.chosen.remove(feature)


class SlowForward(Table):
    """Additions."""

    def scores(self):
        """The gain of each addition."""
        out = np.full(len(self.features), np.nan)
        for feature in range(len(self.features)):
            if feature not in self.chosen:
                out[feature] = gain(
                    self.values,
                    self.features,
                    self.target,
                    feature,
                    self.chosen,
                    self.k,
                    self.score,
                )
        return out

    def add(self, feature):
        """Put a feature in."""
        self.chosen.append(feature)


def left_by_linear_model(columns, target, chosen):
    """Sum of squares that least squares on some columns leaves, with an intercept."""
    design = np.column_stack([np.ones(len(target)), columns[:, chosen]])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    return float(np.square(target - design @ weights).sum())


def linear(direction, columns, features, target):
    """Greedy search by least squares alone: moves and what each set leaves, with no shortcut."""
    inside = list(range(len(features))) if direction == "backward" else []
    moves, left = [], [left_by_linear_model(columns, target, columns_of(features, inside))]
    for _ in features:
        outcome = {}
        for feature in range(len(features)):
            if (feature in inside) == (direction == "backward"):
                chosen = sorted(set(inside) ^ {feature})
                outcome[feature] = left_by_linear_model(
                    columns, target, columns_of(features, chosen)
                )
        best = min(outcome.values())
        ties = [
            feature for feature, value in outcome.items() if value <= best + 1e-9 * left[-1] + 1e-12
        ]
        feature = max(ties) if direction == "backward" else min(ties)
        inside = sorted(set(inside) ^ {feature})
        moves.append(feature)
        left.append(outcome[feature])
    return moves, left
