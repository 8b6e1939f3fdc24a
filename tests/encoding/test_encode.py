"""The gate as a whole: groups, notes, neighbors, and scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from pinsker.encoding import check_neighbors, duplicate_columns, encode, encode_columns
from pinsker.exceptions import ParameterError

X = pd.DataFrame(np.arange(16.0).reshape(4, 4) ** 1.5, columns=list("abcd"))
Y = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("groups", "features", "names"),
    [
        (None, ((0,), (1,), (2,), (3,)), ("a", "b", "c", "d")),
        ({}, ((0,), (1,), (2,), (3,)), ("a", "b", "c", "d")),
        ({"g": ["d", "b"]}, ((0,), (1, 3), (2,)), ("a", "g", "c")),
        ({"g": [3, "b"], "h": ["a"]}, ((0,), (1, 3), (2,)), ("h", "g", "c")),
        ({"g": "b"}, ((0,), (1,), (2,), (3,)), ("a", "g", "c", "d")),
        (["g", None, "g", None], ((0, 2), (1,), (3,)), ("g", "b", "d")),
        (np.array([7, 8, 8, 7]), ((0, 3), (1, 2)), ("7", "8")),
        ({"a": ["a", "b"]}, ((0, 1), (2,), (3,)), ("a", "c", "d")),
    ],
)
def test_groups(groups, features, names):
    encoded = encode(X, Y, feature_groups=groups)
    assert encoded.features == features
    assert encoded.feature_names == names
    assert encoded.n_features == len(features)
    assert encoded.n_rows == 4


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            {"g": ["e"]},
            "groups names column 'e', which does not exist; the columns are 'a'",
        ),
        ({"g": [4]}, "groups names column 4, but columns are numbered 0 to 3"),
        ({"g": ["a"], "h": ["b", 0]}, "column 'a' is in group 'g' and again in 'h': a column bel"),
        ({"g": ["a", "a"]}, "column 'a' is in group 'g' and again in 'g'"),
        ({"g": []}, "group 'g' has no columns: leave it out"),
        (["g", "g"], "groups has 2 labels, but there are 4 columns: give each column one, None"),
        ("abcd", "groups is of type str: pass a dict of name to columns, or one label per column"),
        (3, "groups is of type int"),
        ({"d": ["a", "b"]}, "groups and columns share the name 'd': rename the group"),
    ],
)
def test_groups_that_do_not_fit(groups, message):
    with pytest.raises(ParameterError, match=message):
        encode(X, Y, feature_groups=groups)


def test_constants_and_duplicates_are_noted():
    table = pd.DataFrame(
        {
            "a": [1.5, 2.5, 0.5],
            "one": [7, 7, 7],
            "b": [1.5, 2.5, 0.5],
            "log": np.log([1.5, 2.5, 0.5]),
            "other": [0.5, 2.5, 1.5],
            "two": [8, 8, 8],
        }
    )
    notes = list(map(str, encode_columns(table).notes))
    assert "constant, so without information: 'one', 'two'" in notes
    assert "the same after scaling: 'b' repeats 'a', 'log' repeats 'a'" in notes


def test_a_number_is_not_a_duplicate_of_a_code():
    columns = encode_columns([[0, "a"], [1, "b"], [0, "a"]], scale="none")
    np.testing.assert_array_equal(columns.values[:, 0], columns.values[:, 1])
    assert duplicate_columns(columns) == {}


def test_gaps_tell_columns_apart():
    columns = encode_columns(
        [[0.0, None], [1.5, 1.5], [2.5, 2.5]], scale="none", missing="category"
    )
    assert duplicate_columns(columns) == {}


def test_many_duplicates_are_counted():
    table = pd.DataFrame({str(j): [1.5, 2.5, 0.5] for j in range(8)})
    (note,) = encode_columns(table).notes
    assert str(note).endswith("'5' repeats '0' and 2 more")


def test_identifiers_are_noted():
    table = pd.DataFrame({"who": [f"person {i}" for i in range(30)], "sex": ["f", "m"] * 15})
    (note,) = encode_columns(table).notes
    assert str(note).startswith("as many categories as identifiers have: 'who'; ")


def test_notes_of_table_and_target_come_together():
    encoded = encode([[1.5, 3.0], [2.5, 3.0], [0.5, 3.0]] * 7, np.arange(21) % 7 + 3)
    assert [str(note).split(" ")[0] for note in encoded.notes] == ["constant,", "target"]


@pytest.mark.parametrize("k", [1, 3, np.int64(2)])
def test_neighbors_that_fit(k):
    assert check_neighbors(k, 4) == k


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (4, "n_neighbors=4 needs at least 5 rows, but there are 4: use n_neighbors <= 3 or more"),
        (0, "n_neighbors=0 must be an integer of at least 1"),
        (2.0, "n_neighbors=2.0 must be an integer of at least 1"),
        (True, "n_neighbors=True must be an integer of at least 1"),
    ],
)
def test_neighbors_that_do_not_fit(k, message):
    with pytest.raises(ParameterError, match=message):
        check_neighbors(k, 4)


class KeepAll(SelectorMixin, BaseEstimator):
    """The thinnest selector over the gate: shows that its words are those scikit-learn expects."""

    def fit(self, X, y):
        validate_data(self, X, skip_check_array=True)
        self.support_ = np.ones(encode(X, y).n_features, dtype=bool)
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


@pytest.mark.filterwarnings("ignore::pinsker.exceptions.DataWarning")
@parametrize_with_checks([KeepAll()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)
