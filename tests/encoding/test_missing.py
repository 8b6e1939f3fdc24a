"""Missing and infinite values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pinsker.encoding import FARTHEST, Kind, encode, encode_columns, encode_together
from pinsker.exceptions import DataError, ParameterError

GAPS = {"a": [1.5, None, 2.5, 0.5], "b": ["u", "v", None, "u"], "c": [True, None, False, True]}


def table(container):
    if container == "lists":
        return [list(row) for row in zip(*GAPS.values(), strict=True)]
    if container == "nullable":
        return pd.DataFrame(GAPS).convert_dtypes()
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame}[container](GAPS)


containers = pytest.mark.parametrize("container", ["pandas", "polars", "lists", "nullable"])


@containers
def test_error_names_column_rows_and_remedy(container):
    name = "x0" if container == "lists" else "a"
    message = (
        rf"Input x contains NaN: column '{name}' has missing values in 1 of 4 rows, first in row 1 "
        r"\(2 other columns too\)\. Use missing='drop', missing='category', or fill them in\."
    )
    with pytest.raises(DataError, match=message):
        encode_columns(table(container))


@containers
def test_drop_leaves_rows_out_and_says_so(container):
    encoded = encode(table(container), [0.5, 1.5, 2.5, 3.5], missing="drop")
    assert encoded.rows.tolist() == [0, 3]
    assert encoded.target.raw.ravel().tolist() == [0.5, 3.5]
    assert "missing='drop' left out 2 of 4 rows" in list(map(str, encoded.notes))
    assert encoded.columns.missing is None


def test_drop_counts_a_missing_target():
    encoded = encode(np.arange(8.0).reshape(4, 2), [0.5, None, 1.5, 2.5], missing="drop")
    assert encoded.rows.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(encoded.target.raw.ravel(), [0.5, 1.5, 2.5])
    assert encode([[1.5], [2.5]], [0.5, 1.5], missing="drop").notes == ()


def test_drop_scales_after_dropping():
    x = np.array([[1.0], [np.nan], [2.5], [9.0]])
    dropped = encode_columns(x, missing="drop")
    np.testing.assert_array_equal(dropped.values, encode_columns(x[[0, 2, 3]]).values)


def test_drop_of_everything():
    with pytest.raises(DataError, match="missing='drop' leaves no row: every one of the 2 misses"):
        encode_columns([[1.5, None], [None, 2.5]], missing="drop")


@containers
@pytest.mark.parametrize("scale", ["copula", "standard", "none"])
def test_level_is_equal_to_itself_and_far_from_all_else(container, scale):
    columns = encode_columns(table(container), missing="category", scale=scale)
    assert np.isfinite(columns.values).all()
    assert columns.kinds == (Kind.CONTINUOUS, Kind.NOMINAL, Kind.NOMINAL)
    assert columns.categories[1].tolist() == ["u", "v", None]
    assert columns.categories[2].tolist() == [False, True, None]
    assert columns.missing.tolist() == [[row == 1, False, False] for row in range(4)]
    metric = columns.metric()
    assert np.isfinite(metric).all()
    distances = np.abs(metric[:, None] - metric[None, :])
    for j, row in ((0, 1), (1, 2), (2, 1)):
        others = [i for i in range(4) if i != row]
        assert (distances[row, others, j] >= FARTHEST).all()
        assert distances[row, row, j] == 0.0
    assert (distances[np.ix_([0, 2, 3], [0, 2, 3], [0])] < FARTHEST).all()


def test_two_missing_values_are_neighbors():
    metric = encode_columns([1.5, None, None, 2.5], missing="category").metric().ravel()
    assert metric[1] == metric[2]


def test_level_ranks_what_is_present():
    columns = encode_columns([1.5, None, 2.5, 9.5], missing="category")
    np.testing.assert_array_equal(columns.values[[0, 2, 3]], encode_columns([1.5, 2.5, 9.5]).values)


def test_taken_columns_keep_their_gaps():
    columns = encode_columns(table("pandas"), missing="category")
    taken = columns.take(np.array([1, 0]))
    np.testing.assert_array_equal(taken.missing, columns.missing[:, [1, 0]])
    np.testing.assert_array_equal(taken.metric(), columns.metric()[:, [1, 0]])
    assert columns.take(np.array([1])).names == ("b",)


def test_a_missing_target_is_not_a_category():
    message = r"Input y contains NaN: column 'y' has .* Use missing='drop', or fill them in\."
    with pytest.raises(DataError, match=message):
        encode([[1.5], [2.5], [3.5]], ["a", None, "b"], missing="category")


@pytest.mark.parametrize("missing", ["error", "drop", "category"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_never_missing(missing, value):
    message = (
        "Input x contains infinity: column 'x1' has infinite values in 1 of 2 rows, first in row 1."
        " Replace them"
    )
    with pytest.raises(DataError, match=message):
        encode_columns([[1.5, None], [2.5, value]], missing=missing)


def test_masked_arrays_are_missing_where_masked():
    values = np.ma.masked_array([[1, 4], [2, 5], [3, 6]], [[0, 1], [0, 0], [0, 0]])
    columns = encode_columns(values, missing="category")
    assert columns.missing.tolist() == [[False, True], [False, False], [False, False]]
    words = np.ma.masked_array(["a", "b"], [0, 1])
    assert encode_columns(words, missing="category").categories[0].tolist() == ["a", None]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2020-01-01", None])),
        pl.Series([1.5, float("nan")]),
        pl.Series([None, None]),
        pd.Series([pd.NA, 1], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        np.array([1, "NaT"], dtype="m8[s]"),
        pd.Series(["a", None], dtype="category"),
        [np.datetime64("NaT"), np.datetime64("2020-01-01")],
    ],
)
def test_every_way_to_be_missing(column):
    with pytest.raises(DataError, match="contains NaN"):
        encode_columns(column)


def test_columns_of_nothing_are_constant():
    columns = encode_columns([[None, 1.5], [None, 2.5]], missing="category")
    assert columns.missing[:, 0].all()
    assert "constant, so without information: 'x0'" in list(map(str, columns.notes))


def test_unknown_policy():
    with pytest.raises(ParameterError, match="missing='skip' is not known: use 'auto', 'error',"):
        encode_columns([1.5, 2.5], missing="skip")


@containers
def test_auto_keeps_rows_with_gaps_and_drops_those_without_a_target(container):
    encoded = encode(table(container), [0.5, 1.5, 2.5, None], missing="auto")
    assert encoded.rows.tolist() == [0, 1, 2]
    same = encode(table(container)[:3], [0.5, 1.5, 2.5], missing="category")
    np.testing.assert_array_equal(encoded.columns.values, same.columns.values)
    np.testing.assert_array_equal(encoded.columns.missing, same.columns.missing)
    names = ("x0", "x1", "x2") if container == "lists" else ("a", "b", "c")
    assert tuple(map(str, encoded.notes[:2])) == (
        "1 of 4 rows has no target and was left out",
        "missing values count as a value of their own: "
        + ", ".join(f"{name!r} (33 %)" for name in names),
    )


def test_auto_changes_nothing_where_nothing_is_missing():
    X, y = np.arange(12.0).reshape(6, 2) ** 2, [0.5, 1.5, 2.5, 0.1, 3.0, 4.0]
    auto, error = (encode(X, y, missing=policy) for policy in ("auto", "error"))
    np.testing.assert_array_equal(auto.columns.values, error.columns.values)
    assert auto.notes == error.notes
    assert auto.columns.missing is None


def test_auto_without_any_target():
    with pytest.raises(DataError, match="missing='auto' leaves no row: every one of the 2 misses"):
        encode([[1.5], [2.5]], [None, None], missing="auto")


def test_tables_that_share_rows_drop_the_same_ones():
    columns, rows = encode_together(
        {"x": [[1.5, 2.5], [None, 3.5], [0.5, 1.5], [2.5, 9.5]], "y": ["a", "b", None, "b"]},
        missing="drop",
        categorical_features={"x": {1: "nominal"}},
    )
    assert rows.tolist() == [0, 3]
    assert columns["x"].n_rows == columns["y"].n_rows == 2
    assert columns["x"].kinds == (Kind.CONTINUOUS, Kind.NOMINAL)
    with pytest.raises(DataError, match=r"numbers of samples: \[2, 3\] rows in x and z"):
        encode_together({"x": [1.5, 2.5], "z": [1, 2, 3]})
