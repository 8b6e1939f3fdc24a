"""Designs whose true error increase is known: the edge at which a certificate is calibrated.

Every design has one feature whose loss costs exactly the budget, features whose loss costs more,
and some that cost nothing. The truth follows from the construction; that of "radial" is integrated
numerically. Models are simple where the truth is simple, so that they reach it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

try:
    from benchmarks import edge
except ImportError:  # run as a script
    import edge


@dataclass(frozen=True)
class Design:
    """A law of rows, and what leaving features out costs.

    Attributes
    ----------
    draw : callable
        From a number of rows and a seed to X, y and groups (or None).
    costs : dict of int to float
        What leaving out each feature that matters costs, alone; costs of several add up, or are
        more where `adds_up` is False. The cheapest is the edge.
    metric : str
        Of the costs.
    n_features : int
        All features.
    """

    name: str
    draw: Callable[[int, int], tuple[Any, Any, Any]]
    costs: dict[int, float]
    metric: str
    n_features: int
    models: list[Any] = field(default_factory=lambda: ["linear"])
    adds_up: bool = True
    cv: Any = 5

    @property
    def edge(self) -> float:
        """The true increase when the cheapest feature is left out: the budget."""
        return min(self.costs.values())

    @property
    def order(self) -> list[int]:
        """The right order: the dearest first, features that cost nothing last."""
        dear = sorted(self.costs, key=lambda feature: -self.costs[feature])
        return dear + [j for j in range(self.n_features) if j not in self.costs]

    def increase(self, kept) -> float:
        """Return the true increase of the Bayes risk with some features."""
        lost = [cost for feature, cost in self.costs.items() if feature not in set(kept)]
        if not lost:
            return 0.0
        return sum(lost) if self.adds_up else max(lost) + (len(lost) > 1)

    @property
    def budgets(self) -> list[float]:
        """Ten budgets: the increases of the nested sets, and between them."""
        dear = self.order[: len(self.costs)]
        edges = [self.increase(dear[:size]) for size in range(len(dear) - 1, 0, -1)]
        edges = [edge for edge in edges if edge < 1.0][:5]
        between = list(np.linspace(0.6, 1.4, 11 - len(edges))[1:] * self.edge)
        return sorted(float(budget) for budget in [*edges, *between])[:10]


def _gaussian(weights, n_features, noise=None):
    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, n_features))
        residual = rng.normal(size=n_rows) if noise is None else noise(rng, n_rows)
        return X, X[:, : len(weights)] @ weights + residual, None

    return draw


def _shares(weights, variance):
    return {j: float(weight**2 / variance) for j, weight in enumerate(weights)}


def _with_edge(weights, share, noise=1.0):
    """Return weights with one more, which explains this share of the target's variance."""
    rest = float(np.sum(np.square(weights)) + noise)
    return np.array([*weights, np.sqrt(share / (1.0 - share) * rest)])


def gaussian_dense() -> Design:
    weights = _with_edge([1.0, 0.9, 0.8, 0.7, 0.6], 0.03)
    variance = float(np.sum(weights**2) + 1.0)
    return Design("gaussian dense", _gaussian(weights, 6), _shares(weights, variance), "r2", 6)


def gaussian_sparse() -> Design:
    weights = _with_edge([0.8, 0.6], 0.03)
    variance = float(np.sum(weights**2) + 1.0)
    return Design("gaussian sparse", _gaussian(weights, 10), _shares(weights, variance), "r2", 10)


def heavy_tailed() -> Design:
    # Student's t with three degrees of freedom: the variance exists, the third moment does not.
    weights = np.array([1.5, 1.2, 0.45])
    noise = lambda rng, n: rng.standard_t(3, size=n)  # noqa: E731
    costs = {j: float(weight**2) for j, weight in enumerate(weights)}
    return Design("heavy-tailed", _gaussian(weights, 6, noise), costs, "mse", 6)


def grouped() -> Design:
    # Groups of five rows share their features up to a little, and an effect of their own.
    weights = np.array([1.0, 0.8, 0.35])

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        groups = np.arange(n_rows) // 5
        X = rng.normal(size=(groups.max() + 1, 5))[groups]
        X = np.sqrt(0.8) * X + np.sqrt(0.2) * rng.normal(size=(n_rows, 5))
        effect = rng.normal(size=groups.max() + 1)[groups]
        y = X[:, :3] @ weights + 0.7 * effect + 0.7 * rng.normal(size=n_rows)
        return X, y, groups

    costs = {j: float(weight**2) for j, weight in enumerate(weights)}
    return Design("grouped rows", draw, costs, "mse", 5)


def mixed() -> Design:
    levels, shift, weight = ["a", "b", "c"], np.array([-0.8, 0.0, 0.8]), 0.8
    of_city = float(np.mean(shift**2))
    flag = np.sqrt(0.03 / 0.97 * (of_city + weight**2 + 1.0) / 0.25)

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        city, other = rng.integers(0, 3, n_rows), rng.integers(0, 4, n_rows)
        number, is_on = rng.normal(size=n_rows), rng.random(n_rows) < 0.5
        y = shift[city] + weight * number + flag * is_on + rng.normal(size=n_rows)
        frame = pd.DataFrame(
            {
                "city": np.array(levels)[city],
                "number": number,
                "flag": is_on,
                "other": np.array(["p", "q", "r", "s"])[other],
                "noise": rng.normal(size=n_rows),
            }
        )
        return frame, y, None

    variance = of_city + weight**2 + flag**2 / 4 + 1.0
    costs = {0: of_city / variance, 1: weight**2 / variance, 2: float(flag**2 / 4 / variance)}
    return Design("mixed kinds", draw, costs, "r2", 5)


def imbalanced() -> Design:
    # 5 % positives: two rare signs, either of which makes a positive likely.
    often, edge, likely, else_ = 0.045, 0.02, 0.8, 0.004

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 5))
        X[:, 0], X[:, 1] = rng.random(n_rows) < often, rng.random(n_rows) < edge
        chance = np.where((X[:, 0] + X[:, 1]) > 0, likely, else_)
        return X, (rng.random(n_rows) < chance).astype(int), None

    gain = 2 * likely - 1
    costs = {0: often * (1 - edge) * gain, 1: edge * (1 - often) * gain}
    return Design("imbalanced 5 %", draw, costs, "error", 5, adds_up=False)


def interaction() -> Design:
    # The sign of a product of two features, turned round by a third one.
    flip, noise = 0.08, 0.1

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((n_rows, 5)) < 0.5, 1.0, -1.0)
        X[:, 2] = np.where(rng.random(n_rows) < flip, -1.0, 1.0)
        sign = X[:, 0] * X[:, 1] * X[:, 2] * np.where(rng.random(n_rows) < noise, -1, 1)
        return X, (sign > 0).astype(int), None

    gain = 1 - 2 * noise
    costs = {0: gain / 2, 1: gain / 2, 2: flip * gain}
    model = make_pipeline(PolynomialFeatures(3, interaction_only=True), LogisticRegression())
    return Design("interaction", draw, costs, "error", 5, [("products", model)], adds_up=False)


def radial() -> Design:
    # The log-odds are a weighted sum of squares, which a logistic model of squares can reach.
    weights, limit, slope = np.array([1.0, 1.0, 0.45]), 1.8, 2.5

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 5))
        chance = expit(slope * (limit - X[:, :3] ** 2 @ weights))
        return X, (rng.random(n_rows) < chance).astype(int), None

    # The first two squares add up to an exponential variable, the third is integrated over.
    points = -2.0 * np.log1p(-(np.arange(20_000) + 0.5) / 20_000)
    nodes, mass = np.polynomial.hermite_e.hermegauss(101)
    chance = expit(slope * (limit - points[:, None] - weights[2] * nodes**2))
    mass = mass / mass.sum()
    full = float((np.minimum(chance, 1 - chance) @ mass).mean())
    without = chance @ mass
    edge = float(np.minimum(without, 1 - without).mean()) - full
    model = make_pipeline(PolynomialFeatures(2), LogisticRegression(C=100.0))
    costs = {0: 0.1, 1: 0.1, 2: edge}  # either of the first two costs at least so much
    return Design("radial", draw, costs, "error", 5, [("squares", model)], adds_up=False)


def rare_effect() -> Design:
    # The review's design: 1 % of ones worth 15.5 % of the target's variance.
    weights = np.array([np.sqrt(0.6), np.sqrt(0.155 / (0.01 * 0.99))])

    def draw(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 4))
        X[:, 1] = rng.random(n_rows) < 0.01
        return X, X[:, :2] @ weights + np.sqrt(0.245) * rng.normal(size=n_rows), None

    return Design("rare effect", draw, {0: 0.6, 1: 0.155}, "r2", 4)


DESIGNS = {
    design.name: design
    for design in (
        gaussian_dense(),
        gaussian_sparse(),
        radial(),
        interaction(),
        imbalanced(),
        heavy_tailed(),
        grouped(),
        mixed(),
    )
}
RARE = rare_effect()


@cache
def design_of(name: str) -> Design:
    """Return a design: one of those here, or one at the edge, which all default models judge."""
    if name == RARE.name or name in DESIGNS:
        return RARE if name == RARE.name else DESIGNS[name]

    def draw(n_rows, seed):
        return edge.draw(name, n_rows, np.random.default_rng(seed))

    costs = {0: 1.0, 1: 1.0, 2: edge.edge(name)}  # without x0 or x1: far above
    cv = TimeSeriesSplit(5) if name == "serial" else 5
    return Design(name, draw, costs, edge.DESIGNS[name], 6, "auto", adds_up=False, cv=cv)
