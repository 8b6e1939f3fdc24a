"""Random joint distributions with their exact errors, drawn once."""

from types import SimpleNamespace

import numpy as np
import pytest

from oracles import joint_pmf

PER_FAMILY = 1000


@pytest.fixture(scope="session")
def cases():
    """4000 joint distributions: arrays of exact quantities, and the tables themselves."""
    rng = np.random.default_rng(20190717)
    rows, tables, values = [], [], []
    for family in joint_pmf.FAMILIES:
        for _ in range(PER_FAMILY):
            p = joint_pmf.random_joint(rng, family)
            y = rng.permutation(np.sort(rng.uniform(-1.0, 3.0, p.shape[2])))
            tables.append(p)
            values.append(y)
            rows.append(_exact(p, y))
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    family = np.repeat(joint_pmf.FAMILIES, PER_FAMILY)
    return SimpleNamespace(tables=tables, values=values, family=family, **columns)


def _exact(p, values):
    prior = p.sum(axis=(0, 1))
    full, kept = joint_pmf.bayes_errors(p)
    mse_full, mse_kept = joint_pmf.squared_errors(p, values)
    mae_full, mae_kept = joint_pmf.absolute_errors(p, values)
    brier_full, brier_kept = joint_pmf.brier_scores(p)
    entropy_full, entropy_kept = joint_pmf.class_entropies(p)
    possible = values[prior > 0.0]
    mean = float(prior @ values)
    return {
        "nu": joint_pmf.information_lost(p),
        "classes": p.shape[2],
        "prior": prior.max(),
        "full": full,
        "kept": kept,
        "mse": mse_kept - mse_full,
        "mse_kept": mse_kept,
        "mae": mae_kept - mae_full,
        "brier": brier_kept - brier_full,
        "entropy_full": entropy_full,
        "entropy_kept": entropy_kept,
        "range": max(np.ptp(possible), 1e-9),
        "largest": max(np.abs(possible).max(), 1e-9),
        "variance": float(prior @ (values - mean) ** 2),
    }
