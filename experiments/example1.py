"""The paper's Example 1: two features that determine each other, and a linear model needs both.

    Y = a X1 + b X2,   X1 = Z,   X2 = exp(Z),   Z ~ N(0, sigma^2)

Given one of the features the other tells nothing more about Y, so a model of any form can do
without one of them; a linear model cannot, when `a` is scaled so that both parts of Y vary alike.

    python experiments/example1.py [--rows 500] [--sigma 1.0] [--seed 0]
"""

import argparse

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from pinsker import BackwardElimination, ForwardSelection, LinearElimination

NAMES = np.array(["X1", "X2"])


def draw(n, sigma, seed):
    z = np.random.default_rng(seed).normal(scale=sigma, size=n)
    X = np.column_stack([z, np.exp(z)])
    a = np.exp(z).std() / z.std()
    return X, a * X[:, 0] + X[:, 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    X, y = draw(asked.rows, asked.sigma, asked.seed)
    selectors = [
        BackwardElimination(0.05),
        ForwardSelection(0.05),
        LinearElimination(0.05),
        LinearElimination(0.05, direction="forward"),
    ]
    print("| selector | kept | R2 of 5 neighbours | R2 of a linear model |")
    print("|---|---|---|---|")
    for selector in selectors:
        kept = selector.fit(X, y).get_support()
        reached = [
            cross_val_score(model, X[:, kept], y, cv=5).mean()
            for model in (KNeighborsRegressor(), LinearRegression())
        ]
        print(f"| {selector} | {' '.join(NAMES[kept])} | {reached[0]:.3f} | {reached[1]:.3f} |")


if __name__ == "__main__":
    main()
