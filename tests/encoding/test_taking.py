"""Parts of an encoded table, and errors that name their parameter."""

import pickle

import numpy as np
import pandas as pd
import pytest

from pinsker import exceptions
from pinsker.encoding import (
    bin_columns,
    check_neighbors,
    encode,
    encode_columns,
    encode_target,
    find_columns,
    take_features,
    take_rows,
)
from pinsker.exceptions import DataError, ParameterError

TABLE = pd.DataFrame(
    {
        "size": [1.5, None, 0.5, 2.5, 3.5],
        "word": ["a", "b", None, "a", "b"],
        "flag": [True, False, True, True, False],
        "depth": [0.1, 0.2, 0.4, 0.3, 0.5],
    }
)
Y = [0.5, 1.5, 2.5, 9.5, 3.5]


@pytest.fixture
def encoded():
    return encode(TABLE, Y, missing="category", feature_groups={"pair": ["size", "flag"]})


def test_rows_keep_their_values(encoded):
    rows = np.array([4, 1])
    part = take_rows(encoded, rows)
    np.testing.assert_array_equal(part.columns.values, encoded.columns.values[rows])
    np.testing.assert_array_equal(part.columns.missing, encoded.columns.missing[rows])
    np.testing.assert_array_equal(part.target.values, encoded.target.values[rows])
    np.testing.assert_array_equal(part.target.raw.ravel(), [3.5, 1.5])
    assert part.columns.categories is encoded.columns.categories
    assert part.features == encoded.features
    assert take_rows(part, np.array([1])).rows.tolist() == [1]
    assert not part.columns.values.flags.writeable


def test_rows_of_classes():
    labels = take_rows(encode([[0.5], [1.5], [2.5], [3.5]], list("abab")), np.array([3, 0])).target
    assert labels.labels.tolist() == [1, 0]
    assert labels.raw is None


def test_features_are_numbered_in_the_order_given(encoded):
    assert encoded.feature_names == ("pair", "word", "depth")
    part = take_features(encoded, [2, 0])
    assert part.feature_names == ("depth", "pair")
    assert part.features == ((0,), (1, 2))
    assert part.columns.names == ("depth", "size", "flag")
    np.testing.assert_array_equal(part.columns.values, encoded.columns.values[:, [3, 0, 2]])
    np.testing.assert_array_equal(part.columns.missing, encoded.columns.missing[:, [3, 0, 2]])
    assert part.target is encoded.target
    assert part.rows is encoded.rows


def test_all_features_are_the_table(encoded):
    plain = encode(TABLE, Y, missing="category")
    part = take_features(plain, range(plain.n_features))
    np.testing.assert_array_equal(part.columns.values, plain.columns.values)
    assert part.features == plain.features


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("missing", lambda: encode_columns([1.5, None])),
        ("missing", lambda: encode_columns([1.5, 2.5], missing="skip")),
        ("scale", lambda: encode_columns([1.5, 2.5], scale="log")),
        ("scale", lambda: encode_columns([1.5e200, 2.5], scale="none")),
        ("task", lambda: encode_target([1.5, 2.5], task="ranking")),
        ("metric", lambda: encode_target(["a", "b"], task="regression")),
        ("metric", lambda: encode_target([1.5, 2.5, 3.5], task="classification")),
        ("categorical_features", lambda: encode_columns([1.5, 2.5], categorical_features="some")),
        ("categorical_features", lambda: encode_columns([1.5, 2.5], categorical_features=[3])),
        ("categorical_features", lambda: encode_columns(["a"], categorical_features={0: "count"})),
        ("feature_groups", lambda: encode(TABLE, Y, feature_groups="ab", missing="drop")),
        ("feature_groups", lambda: encode(TABLE, Y, feature_groups={"g": []}, missing="drop")),
        ("fixed_features", lambda: find_columns(["z"], ["a"], "fixed_features")),
        ("n_neighbors", lambda: check_neighbors(5, 5)),
        ("bins", lambda: bin_columns(encode_columns([1.5, 2.5]), bins=1)),
        ("strategy", lambda: bin_columns(encode_columns([1.5, 2.5]), strategy="mdl")),
    ],
)
def test_errors_name_their_parameter(parameter, call):
    with pytest.raises((DataError, ParameterError)) as caught:
        call()
    assert caught.value.parameter == parameter


def test_every_error_can_travel():
    """Errors cross processes: the message and the parameter survive pickling."""
    classes = [one for one in vars(exceptions).values() if isinstance(one, type)]
    for one in classes:
        if issubclass(one, exceptions.PinskerError):
            error = pickle.loads(pickle.dumps(one("what was found", parameter="bins")))
            assert (type(error), str(error), error.parameter) == (one, "what was found", "bins")
            assert one("what was found").parameter is None
