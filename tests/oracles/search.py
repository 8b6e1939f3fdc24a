"""Greedy searches, slow and obvious: every candidate is scored afresh with the plain estimator.

Imports nothing from pinsker. `values` and `target` are in metric form (docs/estimator.md), `units`
is a list of lists of columns.
"""

import numpy as np

from oracles import knn


def columns_of(units, chosen):
    """All columns of some units, in order."""
    return sorted(column for unit in chosen for column in units[unit])


def information(values, units, target, chosen, k):
    """I(Y; X_S) in nats; nothing is known without features."""
    if not chosen:
        return 0.0
    return float(np.mean(knn.terms(values[:, columns_of(units, chosen)], target, None, k)))


def conditional(values, units, target, unit, given, k):
    """I(Y; X_unit | X_given) in nats."""
    x = values[:, columns_of(units, [unit])]
    z = values[:, columns_of(units, given)] if given else None
    return float(np.mean(knn.terms(x, target, z, k)))


def gain(values, units, target, unit, others, k, score):
    """What a unit brings beyond others, by the difference or by the direct score."""
    if score == "direct":
        return conditional(values, units, target, unit, others, k)
    with_unit = information(values, units, target, [*others, unit], k)
    return with_unit - information(values, units, target, others, k)


def backward(values, units, target, k=3, score="difference", forced=()):
    """Remove the cheapest unit until none is left: moves, scores, information after each."""
    left = list(range(len(units)))
    moves, scores, known = [], [], [information(values, units, target, left, k)]
    while left:
        loose = [unit for unit in left if unit not in forced] or left
        costs = {}
        for unit in loose:
            others = [other for other in left if other != unit]
            costs[unit] = gain(values, units, target, unit, others, k, score)
        cheapest = min(costs.values())
        unit = max(u for u in loose if costs[u] <= cheapest + 1e-12)
        left.remove(unit)
        moves.append(unit)
        scores.append(costs[unit])
        known.append(information(values, units, target, left, k))
    return moves, scores, known


def forward(values, units, target, k=3, score="difference", forced=()):
    """Add the best unit until all are in: moves, scores, information after each."""
    chosen = []
    moves, scores, known = [], [], [0.0]
    while len(chosen) < len(units):
        outside = [unit for unit in range(len(units)) if unit not in chosen]
        outside = [unit for unit in outside if unit in forced] or outside
        gains = {u: gain(values, units, target, u, chosen, k, score) for u in outside}
        largest = max(gains.values())
        unit = min(u for u in outside if gains[u] >= largest - 1e-12)
        chosen.append(unit)
        moves.append(unit)
        scores.append(gains[unit])
        known.append(information(values, units, target, chosen, k))
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
    """A set of units with the engine's interface: slow, for searches that are tested alone."""

    def __init__(self, values, units, target, active, k=3, score="difference"):
        self.values, self.units, self.target = values, units, target
        self.chosen, self.k, self.score = list(active), k, score

    @property
    def active(self):
        """The current set."""
        return tuple(sorted(self.chosen))

    @property
    def information(self):
        """I(Y; X_S)."""
        return information(self.values, self.units, self.target, self.chosen, self.k)


class SlowBackward(Table):
    """Removals."""

    def scores(self):
        """The cost of each removal."""
        out = np.full(len(self.units), np.nan)
        for unit in self.chosen:
            others = [other for other in self.chosen if other != unit]
            out[unit] = gain(self.values, self.units, self.target, unit, others, self.k, self.score)
        return out

    def remove(self, unit):
        """Take a unit out."""
        self.chosen.remove(unit)


class SlowForward(Table):
    """Additions."""

    def scores(self):
        """The gain of each addition."""
        out = np.full(len(self.units), np.nan)
        for unit in range(len(self.units)):
            if unit not in self.chosen:
                out[unit] = gain(
                    self.values, self.units, self.target, unit, self.chosen, self.k, self.score
                )
        return out

    def add(self, unit):
        """Put a unit in."""
        self.chosen.append(unit)


def left_by_linear_model(columns, target, chosen):
    """Sum of squares that least squares on some columns leaves, with an intercept."""
    design = np.column_stack([np.ones(len(target)), columns[:, chosen]])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    return float(np.square(target - design @ weights).sum())


def linear(direction, columns, units, target):
    """Greedy search by least squares alone: moves and what each set leaves, with no shortcut."""
    inside = list(range(len(units))) if direction == "backward" else []
    moves, left = [], [left_by_linear_model(columns, target, columns_of(units, inside))]
    for _ in units:
        outcome = {}
        for unit in range(len(units)):
            if (unit in inside) == (direction == "backward"):
                chosen = sorted(set(inside) ^ {unit})
                outcome[unit] = left_by_linear_model(columns, target, columns_of(units, chosen))
        best = min(outcome.values())
        ties = [unit for unit, value in outcome.items() if value <= best + 1e-9 * left[-1] + 1e-12]
        unit = max(ties) if direction == "backward" else min(ties)
        inside = sorted(set(inside) ^ {unit})
        moves.append(unit)
        left.append(outcome[unit])
    return moves, left
