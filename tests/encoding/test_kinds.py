"""Kinds: the guess, and the user's word against it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker.encoding import Kind, encode_columns
from pinsker.exceptions import ParameterError

ORDERED = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)


def kind_of(x, **options):
    (kind,) = encode_columns(x, **options).kinds
    return kind


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        ([0.5, 1.5, 1.5, 0.5], Kind.CONTINUOUS),
        (np.arange(30) % 10, Kind.COUNT),  # three rows for each: the limit
        (np.arange(30) % 11, Kind.CONTINUOUS),
        (np.arange(3000) % 100, Kind.COUNT),  # a hundred: the limit
        (np.arange(3000) % 101, Kind.CONTINUOUS),
        ([5, 7], Kind.COUNT),  # two different numbers always
        ([5.0, 7.0, 7.0], Kind.COUNT),  # integers stored as floats are integers
        ([3, 3, 3], Kind.COUNT),
        ([1, 2, 3], Kind.CONTINUOUS),
        (["a", "b", "a"], Kind.NOMINAL),
        ([True, False, False], Kind.BOOLEAN),
        (pd.Series(["low", "high", "low"], dtype=ORDERED), Kind.COUNT),
        (pd.Series(["low", "high", "low"], dtype="category"), Kind.NOMINAL),
        (pl.Series(["low", "high"], dtype=pl.Enum(["low", "middle", "high"])), Kind.NOMINAL),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), Kind.CONTINUOUS),
    ],
)
def test_the_guess(x, kind):
    assert kind_of(x) is kind


def test_ordered_categories_count_by_position():
    column = pd.Series(["low", "high", "low"], dtype=ORDERED)
    assert encode_columns(column, scale="none").values.ravel().tolist() == [0, 2, 0]


def test_the_order_of_an_enum_can_be_used():
    column = pl.DataFrame({"size": pl.Series(["s", "l"], dtype=pl.Enum(["s", "m", "l"]))})
    note = "the order of Enum column 'size' is not used; to use it, declare it a 'count'"
    assert note in list(map(str, encode_columns(column).notes))
    read = encode_columns(column, categorical_features={"size": "count"}, scale="none")
    assert read.values.ravel().tolist() == [0, 2]


TABLE = pd.DataFrame(
    {
        "whole": [1, 2, 3, 4],
        "fraction": [0.5, 1.5, 0.5, 1.5],
        "text": list("abab"),
        "flag": [True, False, True, False],
    }
)
REST = (Kind.NOMINAL, Kind.BOOLEAN)


@pytest.mark.parametrize(
    ("discrete", "kinds"),
    [
        ("none", (Kind.CONTINUOUS, Kind.CONTINUOUS)),
        (False, (Kind.CONTINUOUS, Kind.CONTINUOUS)),
        ([], (Kind.CONTINUOUS, Kind.CONTINUOUS)),
        ("all", (Kind.COUNT, Kind.NOMINAL)),
        (True, (Kind.COUNT, Kind.NOMINAL)),
        (["whole"], (Kind.COUNT, Kind.CONTINUOUS)),
        ([1], (Kind.CONTINUOUS, Kind.NOMINAL)),
        (np.array([0, 1]), (Kind.COUNT, Kind.NOMINAL)),
        ([True, False, False, False], (Kind.COUNT, Kind.CONTINUOUS)),
        (np.array([False, True, True, True]), (Kind.CONTINUOUS, Kind.NOMINAL)),
        (("whole", 1), (Kind.COUNT, Kind.NOMINAL)),
        ({}, (Kind.CONTINUOUS, Kind.CONTINUOUS)),
        ({"whole": "nominal"}, (Kind.NOMINAL, Kind.CONTINUOUS)),
        ({0: Kind.COUNT, "fraction": "count"}, (Kind.COUNT, Kind.COUNT)),
        ({"fraction": "boolean"}, (Kind.CONTINUOUS, Kind.BOOLEAN)),
    ],
    ids=str,
)
def test_the_users_word(discrete, kinds):
    assert encode_columns(TABLE, categorical_features=discrete).kinds == kinds + REST


def test_levels_of_a_nominal_number_are_the_numbers():
    columns = encode_columns([0.5, 9.5, 0.5], categorical_features="all")
    assert columns.categories[0].tolist() == [0.5, 9.5]
    assert columns.values.ravel().tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("discrete", "message"),
    [
        (
            "whole",
            r"categorical_features='whole' is not known: use 'from_dtype', 'none', 'all', a mask",
        ),
        (3, "categorical_features=3 is not known"),
        (
            ["size"],
            "categorical_features names column 'size', which does not exist; the columns are 'who",
        ),
        ([4], "categorical_features names column 4, but columns are numbered 0 to 3"),
        ([-1], "categorical_features names column -1, but columns are numbered 0 to 3"),
        ([1.0], "categorical_features names column 1.0, which does not exist"),
        ([True], "categorical_features is a mask of 1 entries, but x has 4 columns"),
        ({"size": "count"}, "categorical_features names column 'size', which does not exist"),
        ({"whole": "ordinal"}, "column 'whole' 'ordinal'; kinds are 'continuous', 'count'"),
        ({"text": "count"}, "column 'text' 'count', but it holds text, which has no order"),
        ({"text": "continuous"}, "column 'text' 'continuous', but it holds text"),
        ({"whole": "boolean"}, "column 'whole' 'boolean', but it has more than two values"),
    ],
    ids=str,
)
def test_words_that_do_not_fit(discrete, message):
    with pytest.raises(ParameterError, match=message):
        encode_columns(TABLE, categorical_features=discrete)


def test_categories_are_not_continuous():
    column = pd.DataFrame({"size": pd.Series(["low", "high"], dtype=ORDERED)})
    with pytest.raises(ParameterError, match="'continuous', but it holds ordered categories: use"):
        encode_columns(column, categorical_features={"size": "continuous"})
    assert encode_columns(column, categorical_features={"size": "nominal"}).kinds == (Kind.NOMINAL,)


def test_doubts_are_said_once_for_all_columns():
    doubtful = pd.DataFrame({name: np.arange(30) % 12 for name in "abcdefg"})
    (note, *_) = encode_columns(doubtful).notes
    assert str(note) == (
        "integers with few repeats are read as continuous in 'a', 'b', 'c', 'd', 'e' and 2 "
        "more; say otherwise with categorical_features="
    )
    assert not any(
        "categorical_features=" in note for note in encode_columns(np.arange(30) % 3).notes
    )
    (note,) = encode_columns(np.arange(30) % 9).notes
    assert str(note).startswith("integers with many repeats are read as count in 'x'; say")
    assert not encode_columns(np.arange(30) % 9, categorical_features={0: "count"}).notes


def test_missing_values_do_not_change_the_guess():
    whole = np.where(np.arange(40) % 4 == 3, np.nan, np.arange(40) % 10)  # ten integers
    halves = np.where(np.isnan(whole), np.nan, whole / 2)
    kinds = encode_columns(np.c_[whole, halves, np.full(40, np.nan)], missing="category").kinds
    assert kinds == (Kind.COUNT, Kind.CONTINUOUS, Kind.COUNT)
