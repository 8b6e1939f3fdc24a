"""Nogueira's stability against her formula written out, and where selectors show it."""

import numpy as np
import pandas as pd
import pytest

from pinsker import FeatureSelector
from pinsker.datasets import NoisyXor
from pinsker.exceptions import ParameterError
from pinsker.explain import Stability, stability_of_orders


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


def test_an_unstable_choice_is_noted_with_what_shares_its_place():
    masks = np.eye(5, 8, dtype=bool)
    found = Stability.of(masks, [f"c{j}" for j in range(8)])
    (note,) = found.notes([0])
    assert found.value < 0.4
    assert str(note).startswith("the choice is unstable: stability -0.14 (95% interval ")
    assert "over 5 folds" in note
    assert "'c0' is kept, but chosen in 1 of 5" in note
    assert Stability.of(np.tile(masks[0], (5, 1))).notes([0]) == ()


def test_columns_that_take_turns_are_named():
    # Columns 0 to 5 are always found; 6 and 7 take turns.
    masks = np.zeros((10, 30), dtype=bool)
    masks[:, :6] = True
    masks[:3, 6] = masks[3:, 7] = True
    found = Stability.of(masks)
    assert found.value > 0.4
    assert found.in_place_of(6) == [7]
    assert found.in_place_of(0) == []
    (note,) = found.notes(range(7))
    assert str(note).startswith("some columns are unstable: stability 0.9")
    assert str(note).endswith("'x6' is kept, but chosen in 3 of 10 (in its place 'x7')")
    frame = found.to_frame()
    assert frame["frequency"].tolist()[:8] == [1.0] * 6 + [0.7, 0.3]


def test_a_cross_fitted_selector_shows_it():
    X, y = NoisyXor(n_columns=5).sample(200, seed=0)
    settings = {"models": ["svm"], "searches": ["forward-backward"], "random_state": 0}
    selector = FeatureSelector(0.1, **settings).fit(X, y)
    assert selector.stability_.value == pytest.approx(1.0)
    assert selector.stability_.n_choices == 5
    assert FeatureSelector(0.1, cv=0, **settings).fit(X, y).stability_ is None


SETTINGS = {"models": ["linear"], "searches": ["linear"], "random_state": 0}


def copies(n_rows, seed):
    """Two columns that matter, a close copy of the first, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n_rows)
    return X, X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows)


def test_halves_of_the_rows_are_chosen_from_again():
    X, y = copies(200, 0)
    selector = FeatureSelector(0.1, **SETTINGS).fit(X, y)
    found = selector.stability(X, y, n=4)
    assert (found.n_choices, found.over) == (4, "subsamples")
    assert found.frequency[2] == 1.0
    assert (found.frequency[[0, 1]] > 0).any()
    assert (found.frequency[3:] == 0).all()
    # A slow twin: half of the rows, the columns kept, the formula.
    assert found.value == pytest.approx(nogueira(found.chosen.astype(float))[0], abs=1e-12)
    again = selector.stability(X, y, n=4)
    assert np.array_equal(found.chosen, again.chosen)


def test_groups_are_halved_as_a_whole_and_frames_stay_frames():
    X, y = copies(240, 1)
    table = pd.DataFrame(X).add_prefix("c")
    seen = []

    class Noted(FeatureSelector):
        def fit(self, X, y=None, sample_weight=None, groups=None):
            seen.append((X, groups))
            return super().fit(X, y, sample_weight, groups)

    groups = np.repeat(np.arange(40), 6)
    selector = Noted(0.1, **SETTINGS).fit(table, y, groups=groups)
    selector.stability(table, y, n=2, groups=groups)
    for part, some in seen[1:]:
        assert isinstance(part, pd.DataFrame)
        assert len(np.unique(some)) == 20
        assert len(part) == len(some) == 120


def test_what_cannot_be_halved_is_refused():
    X, y = copies(100, 2)
    selector = FeatureSelector(0.1, **SETTINGS).fit(X, y)
    with pytest.raises(ParameterError, match="2 subsamples"):
        selector.stability(X, y, n=1)
    folds = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    listed = FeatureSelector(0.1, cv=folds, **SETTINGS).fit(X, y)
    with pytest.raises(ParameterError, match="cv lists rows"):
        listed.stability(X, y, n=3)


def test_folds_that_share_a_search_are_one_choice():
    orders = [(0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 3, 2)]
    found = stability_of_orders([orders[k] for k in (0, 0, 1, 1, 2)], 2, list("abcd"))
    apart = Stability.of(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool))
    assert (found.n_choices, found.over) == (3, "searches")
    assert (found.value, found.lower) == (apart.value, apart.lower)
    assert "over 3 searches" in str(found)
    assert stability_of_orders([orders[0]] * 5, 2, list("abcd")) is None
    X, y = copies(1200, 3)
    selector = FeatureSelector(0.1, **SETTINGS).fit(X, y)
    # Two draws of five folds: two of ten folds share a search.
    assert (selector.stability_.n_choices, selector.stability_.over) == (5, "searches")
