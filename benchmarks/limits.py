"""How often are upper limits of a mean below it? Skewed paired differences of squared errors.

    python benchmarks/limits.py
    python benchmarks/limits.py --counts

The differences are (e + b x)² - e² with noise e and a column x that is left out. Printed: per cent
of samples whose upper 95 % limit is below the truth, for the t limit, Hall's, the larger of the two
(what `pinsker.bounds.paired_difference` takes) and a bootstrap-t. The seed is a tuning seed: the
limit was chosen by this table.

``--counts``: differences of zero-one losses, computed exactly, with no samples. Printed: the
largest share over 1 to 20 expected rows that are worse, for the t limit with half a row more in
each cell, Clopper and Pearson's of the worse rows less the better ones, Tango's score limit, and
`paired_difference`.
"""

import argparse

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom, norm, t

from pinsker.bounds import paired_difference

TUNING_SEED = 90_001
SAMPLES, RESAMPLES, WEIGHT = 1000, 400, 0.3
NOISES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "t, 3 df": lambda rng, size: rng.standard_t(3, size=size) / np.sqrt(3),
    "lognormal": lambda rng, size: (
        (rng.lognormal(size=size) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    ),
}


def draw(rng, noise, share, n_rows):
    """Return samples of differences and their true mean; `share` is that of ones in the column."""
    size = (SAMPLES, n_rows)
    x = rng.normal(size=size)
    if share is not None:
        x = (rng.random(size) < share) / np.sqrt(share * (1 - share))
    e = NOISES[noise](rng, size)
    true = WEIGHT**2 * (1.0 if share is None else 1 / (1 - share))
    return 2 * WEIGHT * e * x + WEIGHT**2 * x**2, true


def plain(row):
    return row.mean() + t.ppf(0.95, len(row) - 1) * row.std(ddof=1) / np.sqrt(len(row))


def hall(row):
    n, spread = len(row), row.std(ddof=1)
    if not spread:
        return row.mean()
    a = np.mean((row - row.mean()) ** 3) / row.std() ** 3 / np.sqrt(n)
    reach = 3 / a * (np.cbrt(1 + a * (t.ppf(0.05, n - 1) - a / 6)) - 1)
    return row.mean() - reach * spread / np.sqrt(n)


def bootstrap_t(row, rng):
    drawn = row[rng.integers(0, len(row), (RESAMPLES, len(row)))]
    spread = drawn.std(axis=1, ddof=1)
    spread[spread == 0] = np.inf
    ratio = (drawn.mean(axis=1) - row.mean()) / spread
    return row.mean() - np.quantile(ratio, 0.05) * row.std(ddof=1)


def half_a_row(n_worse, n_better, n):
    total = n + 2.0
    worse, better = (n_worse + 0.5) / total, (n_better + 0.5) / total
    spread = np.sqrt((worse + better - (worse - better) ** 2) / (total - 1.0))
    return worse - better + t.ppf(0.95, n - 1) * spread


def clopper_pearson(n_worse, n_better, n):
    return beta.ppf(0.95, n_worse + 1, n - n_worse) - n_better / n


def tango(n_worse, n_better, n):
    """Return Tango's limit (1998): where the score statistic of the difference is 1.64."""

    def distance(d):
        linear = -n_worse - n_better + (2 * n - n_worse + n_better) * d
        root = np.sqrt(max(linear**2 + 8 * n * n_better * d * (1 - d), 0.0))
        better = (root - linear) / (4 * n)
        spread = np.sqrt(max(n * (2 * better + d * (1 - d)), 0.0))
        return n_worse - n_better - n * d + norm.ppf(0.95) * spread

    return brentq(distance, (n_worse - n_better) / n + 1e-9, 0.999)


def ours(n_worse, n_better, n):
    differences = np.repeat([1.0, -1.0, 0.0], [n_worse, n_better, n - n_worse - n_better])
    return paired_difference(differences, counts=True).upper


def counted(most=40):
    """Print the shares of samples of zero-one losses whose limit is below the truth."""
    print(f"{'rows':>6}{'better/worse':>14}{'half a row':>12}{'C.-P.':>7}{'Tango':>7}{'ours':>7}")
    counts = np.arange(most)
    for n in (100, 300, 1000):
        limits = [
            np.array([[limit(worse, better, n) for better in counts] for worse in counts])
            for limit in (half_a_row, clopper_pearson, tango, ours)
        ]
        for ratio in (0.0, 0.2, 0.5, 0.8):
            missed = []
            for expected in np.geomspace(1.0, 20.0, 200):
                worse, better = expected / n, ratio * expected / n
                chance = binom.pmf(counts, n, worse)[:, None] * np.array(
                    [binom.pmf(counts, n - one, better / (1 - worse)) for one in counts]
                )
                truth = worse - better - 1e-12
                missed.append([np.sum(chance[limit < truth]) for limit in limits])
            cells = "".join(f"{100 * one:>{w}.1f}" for one, w in zip(np.max(missed, 0),
                            (12, 7, 7, 7), strict=True))  # fmt: skip
            print(f"{n:>6}{ratio:>14}{cells}", flush=True)


def clustered():
    """Print the shares of samples of zero-one losses in clusters whose limit is below the truth.

    "rows" are the farther of t's limit of cluster sums and the limit of counts of single rows.
    """
    print(f"{'clusters':>9}{'rows of each':>14}{'rate':>6}{'dependence':>12}{'rows':>7}{'ours':>7}")
    rng = np.random.default_rng(TUNING_SEED)
    for n_clusters, size in ((30, 10), (60, 10), (200, 5)):
        clusters = np.repeat(np.arange(n_clusters), size)
        for rate in (0.01, 0.02, 0.05):
            for dependence in (0.05, 0.3, 1.0):
                odds = max((1.0 - dependence) / dependence, 1e-6)
                missed = np.zeros(2)
                for _ in range(1500):
                    own = rng.beta(rate * odds, (1.0 - rate) * odds, n_clusters)
                    worse = 1.0 * (rng.random(n_clusters * size) < np.repeat(own, size))
                    single = paired_difference(worse, counts=True)
                    sums = paired_difference(worse, clusters=clusters)
                    ours = paired_difference(worse, counts=True, clusters=clusters)
                    missed += [max(single.upper, sums.upper) < rate, ours.upper < rate]
                cells = "".join(f"{100 * one / 1500:>7.1f}" for one in missed)
                print(f"{n_clusters:>9}{size:>14}{rate:>6}{dependence:>12}{cells}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", action="store_true", help="of zero-one losses, exactly")
    parser.add_argument("--clusters", action="store_true", help="of zero-one losses in clusters")
    typed = parser.parse_args()
    if typed.counts or typed.clusters:
        counted() if typed.counts else clustered()
        return
    rng = np.random.default_rng(TUNING_SEED)
    print(f"{'noise':<11}{'ones':>6}{'rows':>6}{'t':>7}{'Hall':>7}{'larger':>8}{'boot-t':>8}")
    for noise in NOISES:
        for share in (None, 0.1, 0.03):
            for n_rows in (100, 300, 1000):
                rows, true = draw(rng, noise, share, n_rows)
                missed = [np.mean([limit(row) < true for row in rows]) for limit in (plain, hall)]
                missed.append(np.mean([paired_difference(row).upper < true for row in rows]))
                missed.append(np.mean([bootstrap_t(row, rng) < true for row in rows[:300]]))
                cells = "".join(f"{100 * one:>7.1f}" for one in missed)
                print(f"{noise:<11}{share or '-':>6}{n_rows:>6}{cells}", flush=True)


if __name__ == "__main__":
    main()
