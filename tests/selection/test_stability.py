"""Nogueira's stability against her formula written out, and where selectors show it."""

import numpy as np
import pytest

from pinsker import FeatureSelector
from pinsker.datasets import NoisyXor
from pinsker.selection import Stability


def nogueira(masks):
    """Equations 4 and 12 of Nogueira, Sechidis and Brown (2018), term by term."""
    M, d = masks.shape
    p = [sum(masks[i][f] for i in range(M)) / M for f in range(d)]
    k = [sum(masks[i]) for i in range(M)]
    mean_k = sum(k) / M
    scale = mean_k / d * (1 - mean_k / d)
    value = 1 - sum(M / (M - 1) * q * (1 - q) for q in p) / d / scale
    phi = [
        (
            sum(masks[i][f] * p[f] for f in range(d)) / d
            - k[i] * mean_k / d**2
            + value / 2 * (2 * k[i] * mean_k / d**2 - k[i] / d - mean_k / d + 1)
        )
        / scale
        for i in range(M)
    ]
    variance = 4 / M**2 * sum((one - sum(phi) / M) ** 2 for one in phi)
    return value, variance


@pytest.mark.parametrize(("n_choices", "n_features"), [(5, 10), (3, 4), (20, 50)])
def test_it_is_the_formula(n_choices, n_features):
    masks = np.random.default_rng(n_choices).random((n_choices, n_features)) < 0.3
    found = Stability.of(masks)
    value, variance = nogueira(masks.astype(float))
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.lower == pytest.approx(value - 1.959964 * variance**0.5, abs=1e-6)
    assert found.upper == pytest.approx(min(1.0, value + 1.959964 * variance**0.5), abs=1e-6)


def test_the_ends():
    same = np.tile([True, True, False], (4, 1))
    assert Stability.of(same).value == pytest.approx(1.0)
    assert np.isnan(Stability.of(np.ones((3, 4), dtype=bool)).value)


def test_an_unstable_choice_is_noted():
    masks = np.eye(5, 8, dtype=bool)
    found = Stability.of(masks)
    (note,) = found.notes([f"c{j}" for j in range(8)], [0])
    assert found.value < 0.4
    assert "unstable" in note
    assert "c0" in note
    assert "c1, c2, c3, c4" in note
    assert Stability.of(np.tile(masks[0], (5, 1))).notes(["a"] * 8, [0]) == ()


def test_a_cross_fitted_selector_shows_it():
    X, y = NoisyXor(n_columns=5).sample(200, seed=0)
    settings = {"models": ["svm"], "searches": ["forward-backward"], "random_state": 0}
    selector = FeatureSelector(0.1, **settings).fit(X, y)
    assert selector.stability_.value == pytest.approx(1.0)
    assert selector.stability_.n_choices == 5
    assert FeatureSelector(0.1, cv=0, **settings).fit(X, y).stability_ is None
