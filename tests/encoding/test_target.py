"""Targets: classes or numbers, guessed or declared."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker.encoding import encode_columns, encode_target, normal_scores
from pinsker.exceptions import DataError, DataWarning, ParameterError


def repeated(m, n, start=0):
    return start + np.arange(n) % m


@pytest.mark.parametrize(
    ("y", "task", "doubtful"),
    [
        (["a", "b", "a", "b"], "classification", False),
        ([True, False, True, False], "classification", False),
        (pd.Series(["a", "b", "a", "b"], dtype="category"), "classification", False),
        ([0, 1, 0, 1], "classification", False),
        ([-1.0, 1.0, 1.0, -1.0], "classification", False),
        (repeated(3, 9), "classification", False),
        (repeated(10, 30, start=1), "classification", False),
        (repeated(7, 70, start=3), "classification", True),
        (repeated(20, 60) * 5, "classification", True),
        (repeated(40, 320, start=1), "classification", True),  # as the ORL faces are numbered
        (repeated(21, 63) * 5, "regression", True),
        (repeated(63, 5000, start=17), "regression", True),  # ages
        (repeated(101, 5000), "regression", False),
        (repeated(10, 29), "regression", True),
        ([1, 2, 3], "regression", False),
        ([0.5, 1.5, 0.5, 1.5], "regression", False),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "regression", False),
    ],
)
def test_the_guess(y, task, doubtful):
    target = encode_target(y)
    assert target.task == task
    assert any("pass metric=" in note for note in target.notes) == doubtful


def test_a_doubtful_guess_says_what_was_seen():
    assert str(encode_target(repeated(7, 70, start=3)).notes[0]) == (
        "target 'y' holds 7 different integers (3 to 9), read as classes; "
        "pass metric='r2' if that is wrong"
    )
    assert str(encode_target(repeated(10, 29)).notes[0]) == (
        "target 'y' holds 10 different integers (0 to 9), read as numbers; "
        "pass metric='error' if that is wrong"
    )


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a"],
        np.array(["b", "a", "b", "a"]),
        [["b"], ["a"], ["b"], ["a"]],
        pd.Series(["b", "a", "b", "a"]),
        pd.DataFrame({"y": ["b", "a", "b", "a"]}),
        pl.Series(["b", "a", "b", "a"]),
        pd.Series(["b", "a", "b", "a"], dtype="category"),
    ],
)
def test_classes(y):
    target = encode_target(y)
    assert target.labels.tolist() == [1, 0, 1, 0]
    assert target.classes.tolist() == ["a", "b"]
    assert target.values is target.raw is None
    assert target.n_rows == 4
    assert target.labels.dtype == np.int64


def test_classes_keep_their_values():
    assert encode_target([7, 3, 7, 3]).classes.tolist() == [3, 7]
    assert encode_target([7.0, 3.0, 7.0, 3.0]).classes.dtype == np.int64
    assert encode_target([True, False] * 2).classes.tolist() == [False, True]
    assert encode_target([0.5, 1.5] * 3, task="classification").classes.tolist() == [0.5, 1.5]
    unused = pd.Series(["a", "c"] * 2, dtype=pd.CategoricalDtype(["a", "b", "c"]))
    assert encode_target(unused).classes.tolist() == ["a", "c"]


def test_several_class_columns_become_one():
    y = [["a", 0], ["b", 1], ["a", 1], ["a", 0], ["b", 1], ["a", 1]]
    target = encode_target(y)
    assert target.classes.tolist() == [("a", 0), ("a", 1), ("b", 1)]
    assert target.labels.tolist() == [0, 2, 1, 0, 2, 1]
    assert target.names == ("y0", "y1")


def test_numbers(seed):
    y = np.random.default_rng(seed).normal(size=(20, 2))
    target = encode_target(y)
    np.testing.assert_array_equal(target.raw, y)
    np.testing.assert_array_equal(target.values, normal_scores(y))
    assert target.labels is target.classes is None
    assert target.n_rows == 20
    scaled = encode_columns(y, scale="standard").values
    np.testing.assert_array_equal(encode_target(y, scale="standard").values, scaled)
    np.testing.assert_array_equal(encode_target(y, scale="none").values, y)


def test_declared_regression():
    target = encode_target([0, 1, 0, 1], task="regression")
    assert target.raw.ravel().tolist() == [0, 1, 0, 1]
    assert encode_target([True, False], task="regression").raw.ravel().tolist() == [1, 0]


def test_columns_that_look_different_are_all_numbers():
    target = encode_target([[0, 0.5], [1, 1.5], [0, 2.5], [1, 3.5]])
    assert target.task == "regression"
    assert str(target.notes[0]) == (
        "some target columns look like classes, others like numbers: all are read as numbers; "
        "say otherwise with metric="
    )


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (
            np.linspace(0, 1, 20),
            "classification",
            "continuous. Target 'y' has 20 different numbers with fractions in 20 rows, which can",
        ),
        (["a", "b"], "regression", "target 'y' holds text, not numbers: use metric='error'"),
        (
            pd.Series([1, 2], dtype="category", name="grade"),
            "regression",
            "target 'grade' holds categories, not numbers",
        ),
        ([["a", 0.1], ["b", 0.2], ["a", 0.3]], "auto", "Unknown label type: continuous"),
        ([3, 3, 3], "auto", r"y has one value \(3\) in all of its 3 rows: there is nothing to"),
        (["a", "a"], "auto", r"y has one value \('a'\) in all of its 2 rows"),
        ([[1.5, 2.5]] * 3, "regression", "y: target 'y0' has one value"),
        (
            [1.5, np.inf],
            "auto",
            "Input y contains infinity: column 'y' has infinite values in 1 of",
        ),
        ([], "auto", r"0 sample\(s\)"),
        (np.ones((3, 0)), "auto", r"0 feature\(s\)"),
        ([1e150, 0.5], "auto", "column 'y' of y reaches 1e"),
    ],
)
def test_refusals(y, task, message):
    with pytest.raises(DataError, match=message):
        encode_target(y, task=task, scale="none")


def test_unknown_task_and_scale():
    with pytest.raises(ParameterError, match="task='ranking' is not known: use 'auto', 'classif"):
        encode_target([0, 1], task="ranking")
    with pytest.raises(ParameterError, match="scale='rank' is not known"):
        encode_target([0, 1], scale="rank")


def test_a_class_with_a_single_row_is_named():
    message = r"^class 'rare' has a single row: nothing can be learned about it; merge or leave out"
    with pytest.warns(DataWarning, match=message):
        encode_target(["a", "a", "rare", "b", "b"])
    with pytest.warns(DataWarning, match=r"^classes 1, 2 have a single row: .* about them"):
        encode_target([1, 2, 3, 3], task="classification")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_target(["a", "a", "b", "b"])


def test_drop():
    target = encode_target(["a", None, "b", "a", "b"], missing="drop")
    assert target.labels.tolist() == [0, 1, 0, 1]
    assert tuple(map(str, target.notes)) == ("missing='drop' left out 1 of 5 rows",)


def test_free_text_is_no_class():
    days = [f"2001-02-{i:04}" for i in range(120)]
    message = r"^y \('y'\) has 120 different values in 120 rows, 120 of them in one row only"
    with pytest.raises(DataError, match=message):
        encode_target(days)
    mostly = ["same"] * 70 + days[:60]  # less than half: a warning is enough
    with pytest.warns(DataWarning, match="have a single row"):
        assert len(encode_target(mostly).classes) == 61
