"""Small joint distributions with every quantity exact, and families of random ones.

A distribution is an array ``p[k, a, y]``: k the value of the kept features, a of the removed ones,
y the class. All formulas are the definitions; nothing comes from pinsker.
"""

import numpy as np

FAMILIES = ("dirichlet", "near_independent", "near_extremal", "sparse")


def random_joint(rng, family):
    """Draw one joint distribution of a family."""
    return {
        "dirichlet": _dirichlet,
        "near_independent": _near_independent,
        "near_extremal": _near_extremal,
        "sparse": _sparse,
    }[family](rng)


def _shape(rng):
    return int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(2, 6))


def _dirichlet(rng):
    shape = _shape(rng)
    return rng.dirichlet(np.full(int(np.prod(shape)), 10.0 ** rng.uniform(-1, 1))).reshape(shape)


def _near_independent(rng):
    """Y depends on the removed features only a little, given the kept ones."""
    k, a, y = _shape(rng)
    cell = rng.dirichlet(np.ones(k))[:, None, None]
    removed = rng.dirichlet(np.ones(a), size=k)[:, :, None]
    flatness = 10.0 ** rng.uniform(0, 6)  # classes close to equally likely let the error move
    given = rng.dirichlet(np.full(y, flatness), size=k)[:, None, :]
    tilt = 1.0 + 10.0 ** rng.uniform(-4, -0.5) * rng.uniform(-1, 1, size=(k, a, y))
    p = cell * removed * given * tilt
    return p / p.sum()


def _near_extremal(rng):
    """A class that is certain, or a fair coin that the removed feature tilts; slightly disturbed.

    One distribution in three is uniform on several classes instead of two.
    """
    sides = int(rng.integers(3, 6)) if rng.random() < 1 / 3 else 2
    classes = max(sides, int(rng.integers(2, 6)))
    tilt = (1.0 - 1.0 / sides) * 10.0 ** rng.uniform(-3, 0)
    doubt = rng.uniform(0.02, 1.0)  # share of cases in which the kept features leave a doubt
    p = np.zeros((2, sides, classes))
    p[0, :, 0] = (1.0 - doubt) / sides
    given = np.full((sides, sides), 1.0 / sides - tilt / (sides - 1))
    np.fill_diagonal(given, 1.0 / sides + tilt)
    p[1, :, :sides] = np.maximum(given, 0.0) * doubt / sides
    p /= p.sum()
    noise = 10.0 ** rng.uniform(-12, -4)
    return (1.0 - noise) * p + noise * rng.dirichlet(np.ones(p.size)).reshape(p.shape)


def _sparse(rng):
    """Most combinations never occur."""
    shape = _shape(rng)
    p = rng.dirichlet(np.full(int(np.prod(shape)), 0.5)).reshape(shape)
    p = p * (rng.random(shape) < 0.4)
    return p / p.sum() if p.sum() > 0.0 else _sparse(rng)


def entropy(p):
    """Entropy of a distribution, in nats."""
    p = np.asarray(p, dtype=float).ravel()
    p = p[p > 0.0]
    return float(-(p * np.log(p)).sum())


def class_entropies(p):
    """H(Y | all features) and H(Y | kept features)."""
    return entropy(p) - entropy(p.sum(axis=2)), entropy(p.sum(axis=1)) - entropy(p.sum(axis=(1, 2)))


def information_lost(p):
    """nu = I(Y; removed | kept), as a sum of divergences: no difference of large numbers."""
    kept = p.sum(axis=1)
    total = 0.0
    for k, a, y in zip(*np.nonzero(p), strict=True):
        given_all = p[k, a, y] / p[k, a].sum()
        given_kept = kept[k, y] / kept[k].sum()
        total += p[k, a, y] * np.log(given_all / given_kept)
    return max(float(total), 0.0)


def bayes_errors(p):
    """Error of the best classifier with all features and with the kept ones."""
    full = float((p.sum(axis=2) - p.max(axis=2)).sum())
    kept = p.sum(axis=1)
    return full, float((kept.sum(axis=1) - kept.max(axis=1)).sum())


def squared_errors(p, values):
    """Least mean squared error of ``values[Y]`` with all features and with the kept ones."""
    return _squared(p.reshape(-1, p.shape[2]), values), _squared(p.sum(axis=1), values)


def _squared(cells, values):
    total = 0.0
    for cell in cells:
        if cell.sum() > 0.0:
            mean = (cell * values).sum() / cell.sum()
            total += float((cell * (values - mean) ** 2).sum())
    return total


def absolute_errors(p, values):
    """Least mean absolute error of ``values[Y]`` with all features and with the kept ones.

    Some value of the target is a median, so that trying all of them is enough.
    """
    distance = np.abs(values[:, None] - values[None, :])
    kept = p.sum(axis=1)
    return float((p @ distance).min(axis=2).sum()), float((kept @ distance).min(axis=1).sum())


def brier_scores(p):
    """Least Brier score, summed over the classes, with all features and with the kept ones."""
    return _brier(p.reshape(-1, p.shape[2])), _brier(p.sum(axis=1))


def _brier(cells):
    return sum(float(c.sum() - (c**2).sum() / c.sum()) for c in cells if c.sum() > 0.0)


def cost_risks(p, costs):
    """Least expected cost, ``costs[decision, class]``, with all features and with the kept ones."""
    return float((p @ costs.T).min(axis=2).sum()), float(
        (p.sum(axis=1) @ costs.T).min(axis=1).sum()
    )


def largest_second_moment(p, values, centre):
    """Largest ``E[(Y - c)^2 | all features]``; `centre` has one c per kept cell."""
    worst = 0.0
    for k, a in np.ndindex(p.shape[:2]):
        mass = p[k, a].sum()
        if mass > 0.0:
            worst = max(worst, float((p[k, a] * (values - centre[k]) ** 2).sum() / mass))
    return worst


def tilted_coin(tilt):
    """A fair coin that one binary removed feature tilts to 1/2 +- tilt: the extremal law."""
    return np.array([[[0.5 + tilt, 0.5 - tilt], [0.5 - tilt, 0.5 + tilt]]]) / 2.0
