"""Slow obvious twins of scores and their standard errors: pairs, loops, perturbed weights."""

import numpy as np


def delong(positive, scores):
    """Return the AUC and its variance by DeLong, DeLong, Clarke-Pearson (1988), pair by pair."""
    ones, zeros = scores[positive], scores[~positive]
    wins = [[float(x > y) + 0.5 * float(x == y) for y in zeros] for x in ones]
    of_ones = [sum(row) / len(zeros) for row in wins]
    of_zeros = [sum(row[j] for row in wins) / len(ones) for j in range(len(zeros))]
    auc = sum(of_ones) / len(ones)
    s10 = sum((v - auc) ** 2 for v in of_ones) / (len(ones) - 1)
    s01 = sum((v - auc) ** 2 for v in of_zeros) / (len(zeros) - 1)
    return auc, s10 / len(ones) + s01 / len(zeros)


def delong_difference(positive, first, second):
    """Return the variance of the difference of two AUCs on the same rows, pair by pair."""
    parts = []
    for scores in (first, second):
        ones, zeros = scores[positive], scores[~positive]
        wins = np.array([[float(x > y) + 0.5 * float(x == y) for y in zeros] for x in ones])
        parts.append((wins.mean(axis=1), wins.mean(axis=0)))
    of_ones, of_zeros = (np.cov(parts[0][k], parts[1][k]) for k in (0, 1))
    contrast = np.array([1.0, -1.0])
    n_ones, n_zeros = positive.sum(), (~positive).sum()
    return contrast @ (of_ones / n_ones + of_zeros / n_zeros) @ contrast


def numerical_influence(score, weights, rows, step=1e-5):
    """Return the derivative of a score by the weight of rows, times the sum of the weights."""
    out = []
    for row in rows:
        sides = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[row] += sign * step
            sides.append(score(moved))
        out.append((sides[0] - sides[1]) / (2 * step) * weights.sum())
    return np.array(out)


def left_out(score, weights):
    """Return (W / s - 1) times what a score loses as s, the smallest weight, leaves a row."""
    step, total, full = weights.min(), weights.sum(), score(weights)
    out = []
    for row in range(len(weights)):
        less = weights.copy()
        less[row] -= step
        out.append((total / step - 1) * (full - score(less)))
    return np.array(out)


def jackknife_error(score, groups, weights):
    """Return the standard error of a score by leaving out one group of rows after the other."""
    full = score(np.arange(len(groups)))
    changes = []
    for group in np.unique(groups):
        left = np.flatnonzero(groups != group)
        changes.append(weights[left].sum() / weights.sum() * (full - score(left)))
    return np.sqrt(np.sum((np.array(changes) - np.mean(changes)) ** 2))
