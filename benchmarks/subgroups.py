"""How often a budget is wrongly called met in every subgroup, with one of twelve at the edge.

    python -m benchmarks.subgroups            # 500 tables of losses for each loss and size
    python -m benchmarks.subgroups --certify  # 500 calls of certify, linear models

The smallest subgroups have 2 and the largest 24 % of the rows. In one subgroup, each in turn, the
true increase is the budget; in the others it is a tenth of it. "met" is then wrong.
"""

import argparse
import math
import time

import numpy as np

from pinsker import FeatureSelector
from pinsker.metrics import Metric, Subgroups

SHARES = np.array([24, 18, 14, 10, 8, 7, 5, 4, 3, 3, 2, 2]) / 100
BUDGET = 0.05


def masks_of(groups):
    parts = [groups == k for k in range(len(SHARES))]
    return np.stack([np.ones(len(groups), dtype=bool), *parts])


def losses(rng, groups, edge, kind):
    """Return losses of two models whose true difference is known in every subgroup."""
    n, truth = len(groups), np.where(groups == edge, BUDGET, BUDGET / 10)
    full = (rng.random(n) < 0.15).astype(float)
    if kind == "error":
        worse = (full == 0) & (rng.random(n) < (truth + 0.03) / 0.85)
        better = (full == 1) & (rng.random(n) < 0.03 / 0.15)
        return full + worse - better, full
    noise = rng.gamma(0.5, 0.1, size=n) - 0.05  # skewed
    return full + truth + noise, full


def by_losses(n_runs):
    for kind in ("error", "mse"):
        for n in (1500, 6000, 40_000):
            wrong = found = 0
            for run in range(n_runs):
                rng = np.random.default_rng([run, n])
                groups = rng.choice(len(SHARES), n, p=SHARES)
                masks, nothing = masks_of(groups), np.full(13, np.nan)
                names = tuple(map(str, range(13)))
                metric = Metric(kind, Subgroups(names, masks, nothing, math.nan))
                less, full = losses(rng, groups, run % len(SHARES), kind)
                wrong += metric.increase(less, full, 0.95).upper <= BUDGET
                other = losses(rng, groups, -1, kind)
                found += metric.increase(*other, 0.95).upper <= BUDGET
            rates = 100 * wrong / n_runs, 100 * found / n_runs
            print(
                f"{kind:6} {n:6} rows: wrong 'met' {rates[0]:4.1f} %, "
                f"met where it is {rates[1]:5.1f} %"
            )


def by_certify(n_runs, n=10_000):
    """Certify a set that lacks a column which matters in one subgroup alone."""
    wrong, scale, started = 0, edge_scale(), time.perf_counter()
    order, settings = ("given", [0, 2, 1]), {"models": ["linear"], "random_state": 0}
    selector = FeatureSelector(BUDGET, searches=[order], fixed_features=[0, 2], **settings)
    X, y, _ = table(np.random.default_rng(0), 1000, 0, 0.0)
    selector.fit(X, y)
    assert selector.get_support().tolist() == [True, False, True]
    for run in range(n_runs):
        X, y, groups = table(np.random.default_rng([run, 7]), n, run % len(SHARES), scale)
        wrong += selector.certify(X, y, subgroups={"group": groups}).verdict == "met"
    seconds = (time.perf_counter() - started) / n_runs
    print(f"certify, {n} rows: wrong 'met' in {wrong} of {n_runs} ({seconds:.2f} s each)")


def table(rng, n, edge, scale):
    groups = rng.choice(len(SHARES), n, p=SHARES)
    X = rng.normal(size=(n, 3))
    X[:, 1] = np.where(groups == edge, X[:, 1], 0.0)
    y = (2.0 * X[:, 0] + scale * X[:, 1] + rng.logistic(size=n) > 0).astype(int)
    return X, y, groups


def edge_scale():
    """Return the weight of the column for which its loss costs the subgroup the budget."""
    rng = np.random.default_rng(0)
    (a, b), noise = rng.normal(size=(2, 1_000_000)), rng.logistic(size=1_000_000)
    low, high = 0.0, 4.0
    for _ in range(20):
        middle = (low + high) / 2
        y = 2.0 * a + middle * b + noise > 0
        lost = np.mean((a > 0) != y) - np.mean((2.0 * a + middle * b > 0) != y)
        low, high = (middle, high) if lost < BUDGET else (low, middle)
    return high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certify", action="store_true")
    parser.add_argument("--runs", type=int, default=500)
    given = parser.parse_args()
    (by_certify if given.certify else by_losses)(given.runs)
