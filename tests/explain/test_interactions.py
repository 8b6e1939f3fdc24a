"""Additive effects carry more together than alone, and are no interaction."""

import numpy as np
import pytest

from pinsker import interactions


def draw(kind, n_rows, seed):
    rng = np.random.default_rng([seed, n_rows])
    X = rng.normal(size=(n_rows, 6))
    if kind == "additive classes":
        return X, (X[:, :3].sum(axis=1) + rng.logistic(size=n_rows) > 0).astype(int)
    if kind == "additive numbers":
        return X, X[:, :3].sum(axis=1) + rng.normal(size=n_rows)
    if kind == "exclusive or":
        return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n_rows) < 0.2)).astype(int)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows)


@pytest.mark.parametrize(("kind", "pairs"), [("additive classes", 0), ("additive numbers", 3)])
def test_additive_effects_are_not_called_interactions(kind, pairs):
    found = interactions(*draw(kind, 2000, 1), n_permutations=8)
    assert len(found.significant()) >= pairs
    assert found.interacting() == ()
    assert "carry more together than alone" in str(found)
    assert "0 interact" in str(found)


@pytest.mark.parametrize("kind", ["exclusive or", "product"])
def test_an_interaction_is_one_beside_the_additive_model(kind):
    found = interactions(*draw(kind, 1000, 2), n_permutations=8)
    assert (0, 1) in [one.features for one in found.interacting()]
    frame = found.to_frame()
    assert frame["p_additive"].iloc[0] < 1e-6
    assert frame.loc[frame["p_value"] > 0.01, "p_additive"].isna().all()
    assert str(found).count("interaction") == len(found.interacting())


def test_triples_are_compared_with_their_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(1500, 6)).astype(float)
    y = (X[:, :3].sum(axis=1) % 2).astype(int) ^ (rng.random(1500) < 0.1)
    found = interactions(X, y, order=3)
    assert [one.features for one in found.interacting()] == [(0, 1, 2)]
