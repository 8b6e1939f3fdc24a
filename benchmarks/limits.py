"""How often are upper limits of a mean below it? Skewed paired differences of squared errors.

    python benchmarks/limits.py

The differences are (e + b x)² - e² with noise e and a column x that is left out. Printed: per cent
of samples whose upper 95 % limit is below the truth, for the t limit, Hall's, the larger of the two
(what `pinsker.bounds.paired_difference` takes) and a bootstrap-t. The seed is a tuning seed: the
limit was chosen by this table.
"""

import numpy as np
from scipy.stats import t

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


def main():
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
