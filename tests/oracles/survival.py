"""Metrics of censored times by their definitions, pair by pair and row by row."""

import math


def compares(time, event, i, j):
    """Return whether row i is known to have its event before row j."""
    return event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))


def concordance(time, event, risk, weights=None):
    """Return Harrell's c, by looking at every pair of rows."""
    n = len(time)
    weights = [1.0] * n if weights is None else weights
    right = total = 0.0
    for i in range(n):
        for j in range(n):
            if compares(time, event, i, j):
                pair = weights[i] * weights[j]
                total += pair
                right += pair * (1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0)
    return right / total


def uncensored(time, event, at, weights=None, *, before=False):
    """Return Kaplan-Meier's probability to be uncensored at a time, or just before it."""
    weights = [1.0] * len(time) if weights is None else weights
    chance = 1.0
    for u in sorted(set(time)):
        if u > at or (before and u == at):
            break
        at_risk = sum(
            w for t, e, w in zip(time, event, weights, strict=True) if t > u or (t == u and not e)
        )
        lost = sum(w for t, e, w in zip(time, event, weights, strict=True) if t == u and not e)
        chance *= 1.0 - lost / at_risk if at_risk else 1.0
    return chance


def integrated_brier(time, event, curves, times, weights=None):
    """Return the Brier score with weights against censoring, integrated by trapezoids."""
    n = len(time)
    weights = [1.0] * n if weights is None else weights
    scores = []
    for k, t in enumerate(times):
        total = 0.0
        for i in range(n):
            if time[i] <= t and event[i]:
                chance = uncensored(time, event, time[i], weights, before=True)
                total += weights[i] * curves[i][k] ** 2 / chance
            elif time[i] > t:
                total += weights[i] * (1 - curves[i][k]) ** 2 / uncensored(time, event, t, weights)
        scores.append(total / sum(weights))
    area = sum(
        (times[k + 1] - times[k]) * (scores[k] + scores[k + 1]) / 2 for k in range(len(times) - 1)
    )
    return area / (times[-1] - times[0])


def log_partial_likelihood(time, event, risk):
    """Return Cox's partial log-likelihood with Breslow's ties."""
    total = 0.0
    for i in range(len(time)):
        if event[i]:
            at_risk = sum(math.exp(r) for t, r in zip(time, risk, strict=True) if t >= time[i])
            total += risk[i] - math.log(at_risk)
    return total
