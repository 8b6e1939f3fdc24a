"""The kNN estimators, slow and obvious: loops over rows, straight from docs/estimator.md."""

import math

import numpy as np
from scipy.special import digamma

FARTHEST = 1e100
TOLERANCE = 1e-10


def distances(columns, i):
    """Max-norm distances of row i to all rows; infinite from FARTHEST on; 0 without columns."""
    columns = np.asarray(columns, dtype=float)
    found = []
    for j in range(len(columns)):
        largest = 0.0
        for a, b in zip(columns[i], columns[j], strict=True):
            largest = max(largest, abs(a - b))
        found.append(largest if largest < FARTHEST else math.inf)
    return found


def inside(found, i, radius, *, closed):
    """How many rows other than i lie strictly inside the radius, or inside or on it."""
    if closed:
        near = [d <= radius * (1 + TOLERANCE) and d < math.inf for d in found]
    else:
        near = [d < radius * (1 - TOLERANCE) for d in found]
    return sum(near) - near[i]


def counts(x, y, z, k):
    """Per row: radius, k_i, closed joint count, then open and closed counts of xz, yz and z."""
    n = len(y)
    z = np.empty((n, 0)) if z is None else z
    spaces = [np.hstack([x, z]), np.hstack([y, z]), z]
    joint = np.hstack([x, y, z])
    rows = []
    for i in range(n):
        to_others = distances(joint, i)
        finite = sorted(d for j, d in enumerate(to_others) if j != i and d < math.inf)
        k_i = min(k, len(finite))
        if k_i == 0:
            rows.append((0.0, 0, 0, 0, 0, 0, 0, 0, 0))
            continue
        radius = finite[k_i - 1]
        row = [radius, k_i, inside(to_others, i, radius, closed=True)]
        for space in spaces:
            found = distances(space, i)
            row.append(inside(found, i, radius, closed=False))
            row.append(inside(found, i, radius, closed=True))
        rows.append(tuple(row))
    return rows


def is_smooth(radius, k_i, kt, xz_o, xz_c, yz_o, yz_c, z_o, z_c, *, conditional):
    """Whether nothing is tied at this row."""
    if radius == 0 or kt != k_i or xz_c - xz_o > 1 or yz_c - yz_o > 1:
        return False
    return not conditional or z_c - z_o <= 1


def terms(x, y, z, k):
    """The terms of I(X;Y|Z), or of I(X;Y) when z is None."""
    n = len(y)
    conditional = z is not None
    out = []
    for row in counts(x, y, z, k):
        _radius, k_i, kt, xz_o, xz_c, yz_o, yz_c, z_o, z_c = row
        if k_i == 0:
            out.append(0.0)
        elif is_smooth(*row, conditional=conditional):
            last = digamma(z_o + 1) if conditional else digamma(n)
            out.append(digamma(k_i) - digamma(xz_o + 1) - digamma(yz_o + 1) + last)
        else:
            last = digamma(z_c) if conditional else digamma(n - 1)
            out.append(digamma(kt) - digamma(xz_c) - digamma(yz_c) + last)
    return np.array(out)
