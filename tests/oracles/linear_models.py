"""Errors of best linear models by normal equations; the paper's linear theorem as printed."""

import numpy as np


def error(cov, cross, variance, kept):
    """Mean squared error of the best linear model on some features."""
    kept = list(kept)
    if not kept:
        return float(variance)
    block = cov[np.ix_(kept, kept)]
    return float(variance - cross[kept] @ np.linalg.solve(block, cross[kept]))


def growth(cov, cross, removed):
    """Growth of that error when features are removed: a difference of two."""
    everything = range(len(cross))
    kept = [i for i in everything if i not in set(removed)]
    return error(cov, cross, 0.0, kept) - error(cov, cross, 0.0, everything)


def printed_first_part(cov, cross, variance, removed):
    """sigma + sqrt(|A|) sum w_i sigma_{K -> i}: the paper's bound on the root of the error."""
    weights = np.linalg.solve(cov, cross)
    kept = [i for i in range(len(cross)) if i not in set(removed)]
    spread = [error(cov, cov[:, i], cov[i, i], kept) ** 0.5 for i in removed]
    sigma = error(cov, cross, variance, range(len(cross))) ** 0.5
    return sigma + len(removed) ** 0.5 * sum(weights[removed] * np.array(spread))


def printed_second_part(corr, target_corr, removed, absolute=False):
    """The paper's bound by correlations, for a target of variance one."""
    kept = [i for i in range(len(target_corr)) if i not in set(removed)]
    rho = np.abs(target_corr) if absolute else target_corr
    sigma = max(error(corr, target_corr, 1.0, range(len(target_corr))), 0.0) ** 0.5
    left = [rho[i] * max(1.0 - (corr[i, kept] ** 2).sum(), 0.0) ** 0.5 for i in removed]
    return sigma + len(removed) ** 0.5 * sum(left)


def uncorrelated_blocks(rng, n_removed=2, n_kept=3):
    """Correlations that vanish inside A and inside K, and correlations with a target."""
    size = n_removed + n_kept
    while True:
        between = rng.uniform(-0.6, 0.6, size=(n_removed, n_kept))
        corr = np.eye(size)
        corr[:n_removed, n_removed:] = between
        corr[n_removed:, :n_removed] = between.T
        if np.linalg.eigvalsh(corr)[0] > 0.02:
            break
    weights = rng.normal(size=size)
    noise = rng.exponential()
    variance = weights @ corr @ weights + noise
    return corr, corr @ weights / np.sqrt(variance), list(range(n_removed))
