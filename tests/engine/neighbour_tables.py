"""Tables (x, y, z) for the neighbour tests: every kind of column, and every trap."""

import numpy as np

NOMINAL_STEP = 1e200  # as in docs/estimator.md
KINDS = ("continuous", "tied", "decimal", "nominal", "constant", "inflated", "huge", "tiny")


def column(rng, n, kind):
    """One column in metric form."""
    normal = rng.normal(size=n)
    return {
        "continuous": lambda: normal,
        "tied": lambda: rng.integers(0, 4, size=n) * 0.1,
        "decimal": lambda: np.round(normal, 1) * 3 / 7,  # equal distances that round apart
        "nominal": lambda: rng.integers(0, 3, size=n) * NOMINAL_STEP,
        "constant": lambda: np.full(n, 2.5),
        "inflated": lambda: np.where(rng.random(n) < 0.5, normal, 0.0),
        "huge": lambda: normal * 1e100,  # some distances count as infinite, some do not
        "tiny": lambda: rng.integers(0, 5, size=n) * 5e-324,  # subnormal distances
    }[kind]()


def columns(rng, n, kinds):
    """Several columns, one of each kind given."""
    return np.ascontiguousarray(np.array([column(rng, n, k) for k in kinds]).T.reshape(n, -1))


def random_table(seed, *, most_rows=24, most_columns=3):
    """x, y, z of random kinds, some rows repeated; z has no columns now and then."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, most_rows)), int(rng.integers(1, 7))
    widths = (rng.integers(1, most_columns + 1), rng.integers(1, 3), rng.integers(0, 4))
    x, y, z = (columns(rng, n, rng.choice(KINDS, size=d)) for d in widths)
    if rng.random() < 0.3:  # duplicates of whole rows
        rows = rng.integers(0, n, size=n)
        x, y, z = x[rows], y[rows], z[rows]
    return x, y, z, k
