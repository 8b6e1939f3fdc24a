"""Constants and identifiers are left out, or made harmless, before a search."""

import numpy as np
import pandas as pd

from pinsker.encoding import drop_uninformative, encode, find_features

N = 40


def messy():
    rng = np.random.default_rng(0)
    names = [f"person {i}" for i in range(N)]
    words = ["none"] * 12 + [f"remark {i}" for i in range(N - 12)]
    return pd.DataFrame(
        {
            "same": np.ones(N),
            "who": names,
            "x": rng.normal(size=N),
            "words": words,
            "one word": ["a"] * N,
        }
    ), np.arange(N) % 2


def test_constants_and_identifiers_go_and_are_named():
    found = drop_uninformative(encode(*messy()))
    assert found.feature_names == ("x", "words")
    assert found.feature_columns == ((2,), (3,))
    assert (
        "constant, or no value repeats, so left out before the search: 'same', 'who', 'one word'"
        in found.notes
    )
    assert any(note.startswith("as many categories as identifiers") for note in found.notes)


def test_values_that_occur_once_become_one():
    found = drop_uninformative(encode(*messy()))
    words = found.columns.values[:, 1]
    assert words.tolist() == [0.0] * 12 + [1.0] * (N - 12)
    assert found.columns.categories[1].tolist() == ["none", "(values that occur once)"]


def test_fixed_features_stay_and_keep_their_user_positions():
    encoded = encode(*messy())
    found = drop_uninformative(encoded, (0, 1))
    assert found.feature_names == ("same", "who", "x", "words")
    assert find_features(found, [3, "x"], "fixed_features") == (2, 3)
    assert find_features(found, [4], "fixed_features") == ()


def test_groups_go_only_as_a_whole():
    table, y = messy()
    found = drop_uninformative(
        encode(table, y, feature_groups={"g": ["same", "x"], "h": ["who", "one word"]})
    )
    assert found.feature_names == ("g", "words")
    assert found.feature_columns == ((0, 2), (3,))


def test_a_table_of_constants_stays():
    encoded = encode(np.ones((20, 3)), np.arange(20) % 2)
    assert drop_uninformative(encoded).n_features == 3
