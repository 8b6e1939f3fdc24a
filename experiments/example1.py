"""The paper's Example 1: two features that determine each other, and a linear model needs both.

    Y = a X1 + b X2,   X1 = Z,   X2 = exp(Z),   Z ~ N(0, sigma^2)

Given one of the features the other tells nothing more about Y, so a model of any form can do
without one of them; a linear model cannot, when `a` is scaled so that both parts of Y vary alike.

    python experiments/example1.py [--rows 500] [--sigma 1.0] [--seed 0]
"""

import argparse
import math

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection, LinearElimination
from pinsker.selection import ErrorBudget

NAMES = np.array(["X1", "X2"])


def draw(n, sigma, seed):
    z = np.random.default_rng(seed).normal(scale=sigma, size=n)
    X = np.column_stack([z, np.exp(z)])
    a = np.exp(z).std() / z.std()
    return X, a * X[:, 0] + X[:, 1]


def selectors():
    """Name, grade and selector; five points of R2, for the printed rules 0.05 of squared error."""
    printed = ErrorBudget(0.05, unit="mse", constants="paper", reference="full")
    return [
        ("Algorithm 1", "as printed", BackwardElimination(stop=printed, score_form="direct")),
        ("Algorithm 2", "as printed", ForwardSelection(stop=printed, score_form="direct")),
        ("BackwardElimination", "pinsker", BackwardElimination(0.05)),
        ("ForwardSelection", "pinsker", ForwardSelection(0.05)),
        ("FeatureSelector", "default", FeatureSelector(0.05)),
        ("LinearElimination", "pinsker", LinearElimination(0.05)),
        ("LinearElimination, forward", "pinsker", LinearElimination(0.05, direction="forward")),
    ]


def kept_and_reached(X, y):
    """Return a row per selector: what it keeps, and R2 of a free and of a linear model with it."""
    rows = []
    for name, grade, selector in selectors():
        kept = selector.fit(X, y).get_support()
        free, linear = (
            float(cross_val_score(model, X[:, kept], y, cv=5).mean())
            for model in (KNeighborsRegressor(), LinearRegression())
        )
        row = {"selector": name, "grade": grade, "kept": " ".join(NAMES[kept])}
        rows.append({**row, "r2_neighbours": free, "r2_linear": linear})
    return rows


def squared_correlations(variance, scaled=False):
    """Return rho^2 of (X1, X2), (X1, Y) and (X2, Y), exactly, by the moments of the lognormal law.

    a = b = 1, or with `scaled` a = sd(X2) / sd(X1).
    """
    spread = math.exp(variance) * math.expm1(variance)
    shared = variance * math.exp(variance / 2)
    a = math.sqrt(spread / variance) if scaled else 1.0
    target = a**2 * variance + spread + 2 * a * shared
    return (
        shared**2 / (variance * spread),
        (a * variance + shared) ** 2 / (variance * target),
        (spread + a * shared) ** 2 / (spread * target),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| selector | kept | R2 of 5 neighbours | R2 of a linear model |")
    print("|---|---|---|---|")
    for row in kept_and_reached(*draw(asked.rows, asked.sigma, asked.seed)):
        reached = f"{row['r2_neighbours']:.3f} | {row['r2_linear']:.3f}"
        print(f"| {row['selector']} ({row['grade']}) | {row['kept']} | {reached} |")


if __name__ == "__main__":
    main()
