"""The kNN estimators, slow and obvious: loops over rows, straight from docs/estimator.md."""

import math

import numpy as np
from scipy.special import digamma

FARTHEST = 1e100
TOLERANCE = 1e-10


def distances(columns, i):
    """Max-norm distances of row i to all rows; infinite from FARTHEST on; 0 without columns."""
    columns = np.asarray(columns, dtype=float)
    found = np.max(np.abs(columns - columns[i]), axis=1, initial=0.0)
    return np.where(found < FARTHEST, found, math.inf)


def inside(found, i, radius, *, closed):
    """How many rows other than i lie strictly inside the radius, or inside or on it."""
    if closed:
        near = (found <= radius * (1 + TOLERANCE)) & (found < math.inf)
    else:
        near = found < radius * (1 - TOLERANCE)
    return int(near.sum()) - int(near[i])


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


def ceilings(x, y, z, k):
    """Per row, the most that the term could have been: both balls hold the k_i neighbours only.

    Without a condition the ball of a nominal side holds all rows of the level.
    """
    n = len(y)
    out = []
    for row in counts(x, y, z, k):
        _radius, k_i, kt, xz_o, xz_c, yz_o, yz_c, z_o, z_c = row
        if k_i == 0:
            out.append(0.0)
            continue
        smooth = is_smooth(*row, conditional=z is not None)
        fewest = k_i if smooth else kt
        if z is None:
            fewest = max(fewest, (xz_o + 1 if smooth else xz_c) if is_nominal(x) else 0)
            fewest = max(fewest, (yz_o + 1 if smooth else yz_c) if is_nominal(y) else 0)
            z_o, z_c = n - 1, n - 1
        out.append(digamma(z_o + 1 if smooth else z_c) - digamma(fewest))
    return np.array(out)


def is_nominal(columns):
    """Whether any two rows are equal or infinitely far apart."""
    return all(d in (0.0, math.inf) for i in range(len(columns)) for d in distances(columns, i))


def boxes(x, y, z, i, radius):
    """Extents in x, y and z among the rows inside or on row i's radius."""
    in_x, in_y, in_z = (distances(block, i) for block in (x, y, z))
    extents = [0.0, 0.0, 0.0]
    for j in range(len(y)):
        if j != i and max(in_x[j], in_y[j], in_z[j]) <= radius * (1 + TOLERANCE):
            extents = [max(e, d[j]) for e, d in zip(extents, (in_x, in_y, in_z), strict=True)]
    return extents


def in_box(parts, i, *, closed):
    """How many rows other than i are in the box; parts are (columns, extent)."""
    near = [True] * len(parts[0][0])
    for columns, extent in parts:
        for j, d in enumerate(distances(columns, i)):
            limit = extent * (1 + TOLERANCE) if closed else extent * (1 - TOLERANCE)
            near[j] = near[j] and (d <= limit and d < math.inf if closed else d < limit)
    return sum(near) - near[i]


def ksg2_terms(x, y, z, k):
    """Kraskov's second estimator where one row lies on each side of the box; `terms` elsewhere."""
    n = len(y)
    conditional = z is not None
    condition = z if conditional else np.empty((n, 0))
    out = list(terms(x, y, z, k))
    for i, (radius, k_i, kt, *_rest) in enumerate(counts(x, y, z, k)):
        eps_x, eps_y, eps_z = boxes(x, y, condition, i, radius)
        if k_i == 0 or kt != k_i or eps_x == 0 or eps_y == 0 or (conditional and eps_z == 0):
            continue
        along_z = [(condition, eps_z)] if conditional else []
        spaces = [[(x, eps_x), *along_z], [(y, eps_y), *along_z], along_z]
        found = [in_box(parts, i, closed=True) for parts in spaces if parts]
        strict = [in_box(parts, i, closed=False) for parts in spaces if parts]
        sides = [len(parts) for parts in spaces if parts]
        if any(c - o > s for c, o, s in zip(found, strict, sides, strict=True)):
            continue
        if conditional:
            m_xz, m_yz, m_z = strict
            out[i] = digamma(k_i) - 2 / k_i + digamma(m_z + 1)
            out[i] -= digamma(m_xz + 1) + digamma(m_yz + 1)
        else:
            out[i] = digamma(k_i) - 1 / k_i - digamma(found[0]) - digamma(found[1]) + digamma(n)
    return np.array(out)


def gao_terms(x, y, z, k):
    """The mixed estimator with digammas; I(XZ;Y) - I(Z;Y) with a condition."""
    if z is not None:
        return gao_terms(np.hstack([x, z]), y, None, k) - gao_terms(z, y, None, k)
    n = len(y)
    out = []
    for radius, k_i, kt, x_o, x_c, y_o, y_c, _z_o, _z_c in counts(x, y, None, k):
        if k_i == 0:
            out.append(0.0)
        elif radius > 0:
            out.append(digamma(k_i) + math.log(n) - digamma(x_o + 1) - digamma(y_o + 1))
        else:
            out.append(digamma(kt + 1) + math.log(n) - digamma(x_c + 1) - digamma(y_c + 1))
    return np.array(out)
