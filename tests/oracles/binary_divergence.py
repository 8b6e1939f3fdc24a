"""The special functions of the bounds from their definitions: sixty digits, or a dense grid."""

from decimal import Decimal, getcontext

import numpy as np

getcontext().prec = 60


def kappa(tilt):
    """log 2 - h(1/2 + t) for a tilt in [0, 1/2), with sixty digits before it is rounded."""
    t = Decimal(float(tilt))
    up, down = Decimal("0.5") + t, Decimal("0.5") - t
    return float(Decimal(2).ln() + up * up.ln() + (down * down.ln() if down > 0 else 0))


def binary_divergence(p, q):
    """d(p || q) for arguments inside (0, 1), with sixty digits before it is rounded."""
    p, q = Decimal(float(p)), Decimal(float(q))
    return float(p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln())


def least_divergence(variation, points=200_001):
    """min over q of d(q + D || q), on a grid: never below the true minimum."""
    q = np.linspace(0.0, 1.0 - variation, points)[1:-1]
    p = q + variation
    return float((p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).min())


def theorem_c(full, kept):
    """max(d, P) of two error rates with 0 < full < kept < 1."""
    growth = kept - full
    half = (kept + growth) * np.log1p(growth / kept) + full * np.log(full / kept)
    div = full * np.log(full / kept) + (1 - full) * np.log((1 - full) / (1 - kept))
    return np.maximum(half, div)
