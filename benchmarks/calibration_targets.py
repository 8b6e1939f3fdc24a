"""How often confidence limits of several targets and of censored times hold.

``python benchmarks/calibration_targets.py [--runs 400] [--rows 500]`` draws data of which the truth
is known (from 200 000 rows) for two fixed risk scores, one a noisy copy of the other, and counts
in how many runs the 95 % upper limit of the difference of concordances, and of integrated Brier
scores, is at least the true one; and each one's two limits by itself. For the worst of three
targets it counts "met" at the edge of the budget: at most 5 % of runs.
"""

import argparse

import numpy as np

from pinsker.metrics import Metric

TRUTH_ROWS = 200_000


def censored(rng, n):
    """Return times and events, and risks of a good and of a worse model."""
    good = rng.normal(size=n)
    worse = good + 0.7 * rng.normal(size=n)
    time = rng.exponential(np.exp(-good))
    until = rng.exponential(1.5, size=n)
    return np.column_stack([np.minimum(time, until), time <= until]), good, worse


def losses(name, raw, risk, times):
    """Return the loss of every row, with curves of an exponential model."""
    curves = np.exp(-times * np.exp(0.7 * risk)[:, None])
    return Metric(name).of_survival(np.column_stack([risk, curves]), raw, times)


def covered(name, n_runs, n_rows, seed):
    """Return how often an upper limit of an increase, and of a loss, is above the truth."""
    rng = np.random.default_rng(seed)
    raw, good, worse = censored(rng, TRUTH_ROWS)
    times = np.linspace(0.1, 1.5, 16)
    truth = [losses(name, raw, risk, times).mean() for risk in (good, worse)]
    metric = Metric(name)
    increase = alone = below = 0
    for _ in range(n_runs):
        raw, good, worse = censored(rng, n_rows)
        one, other = (losses(name, raw, risk, times) for risk in (good, worse))
        found = metric.increase(other, one, 0.95)
        increase += found.upper >= truth[1] - truth[0]
        below += found.lower <= truth[1] - truth[0]
        alone += metric.increase(one, 0 * one, 0.95).upper >= truth[0]
    return increase / n_runs, below / n_runs, alone / n_runs


def met_at_the_edge(n_runs, n_rows, seed):
    """Return how often the worst of three targets is "met" where one is at the edge."""
    rng, metric, met = np.random.default_rng(seed), Metric("worst mse"), 0
    for _ in range(n_runs):
        full = rng.normal(size=(n_rows, 3)) ** 2
        less = full + np.array([0.1, 0.0, 0.05]) + rng.normal(size=(n_rows, 3))
        met += metric.increase(less, full, 0.95).upper <= 0.1
    return met / n_runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--rows", type=int, default=500)
    given = parser.parse_args()
    for name in ("concordance", "integrated_brier"):
        upper, lower, alone = covered(name, given.runs, given.rows, seed=1)
        print(
            f"{name}, n = {given.rows}: upper limit of a difference holds in {upper:.1%}, lower in "
            f"{lower:.1%}, upper limit of the loss in {alone:.1%} of {given.runs} runs"
        )
    edge = met_at_the_edge(given.runs, given.rows, seed=2)
    print(f"worst of three targets at the edge, n = {given.rows}: met in {edge:.1%} of runs")


if __name__ == "__main__":
    main()
