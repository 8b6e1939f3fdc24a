"""Reading: the same table in every container gives the same columns."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinsker.encoding import Kind, encode, encode_columns

MIXED = {
    "height": [1.5, 2.5, 0.25, 9.0, 1.75, 2.0, 7.5, 6.5, 5.5],
    "visits": [0, 1, 0, 2, 1, 0, 2, 1, 0],
    "colour": ["red", "blue", "red", "green", "red", "blue", "red", "blue", "red"],
    "smokes": [True, False, True, True, False, False, True, True, False],
}
KINDS = (Kind.CONTINUOUS, Kind.COUNT, Kind.NOMINAL, Kind.BOOLEAN)


def assert_same(got, expected):
    np.testing.assert_array_equal(got.values, expected.values)
    assert got.kinds == expected.kinds
    for one, other in zip(got.categories, expected.categories, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    "container",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda table: [list(row) for row in zip(*table.values(), strict=True)],
        lambda table: tuple(zip(*table.values(), strict=True)),
        lambda table: np.array(list(zip(*table.values(), strict=True)), dtype=object),
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda table: pd.DataFrame(table).astype(object),
        lambda table: pd.DataFrame(table).astype({"colour": "category"}),
        lambda table: pl.DataFrame(table).with_columns(pl.col("colour").cast(pl.Categorical)),
    ],
)
def test_containers_agree(container):
    read = encode_columns(container(MIXED))
    assert read.kinds == KINDS
    assert_same(read, encode_columns(pd.DataFrame(MIXED)))


cells = {
    "number": st.one_of(st.none(), st.floats(-1e6, 1e6)),
    "whole": st.one_of(st.none(), st.integers(-3, 3)),
    "word": st.one_of(st.none(), st.sampled_from(["", "a", "b", "a b", "ä"])),
    "flag": st.one_of(st.none(), st.booleans()),
}


@given(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=12))
def test_containers_agree_on_any_table(rows):
    table = {name: [row[name] for row in rows] for name in cells}
    lists = encode_columns([[row[name] for name in cells] for row in rows], missing="category")
    types = {"number": pl.Float64, "whole": pl.Int64, "word": pl.String, "flag": pl.Boolean}
    nullable = {"number": "Float64", "whole": "Int64", "word": "string", "flag": "boolean"}
    for frame in (
        pl.DataFrame(table, schema=types),
        pd.DataFrame(table, dtype=object),
        pd.DataFrame(table, dtype=object).astype(nullable),
    ):
        read = encode_columns(frame, missing="category")
        assert read.names == tuple(cells)
        np.testing.assert_array_equal(read.metric(), lists.metric())


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "u2", "i8", "u8", ">f8", "O"])
def test_number_types_agree(dtype):
    values = np.array([[1, 4], [2, 4], [2, 5], [3, 9]])
    assert_same(encode_columns(values.astype(dtype)), encode_columns(values))


def test_one_dimension_is_one_column():
    for x in ([1.5, 2.5], np.array([1.5, 2.5]), (1.5, 2.5), pl.Series([1.5, 2.5])):
        assert encode_columns(x, name="z").names == ("z",)
    assert encode_columns(pd.Series([1.5, 2.5], name="width")).names == ("width",)


def test_names():
    assert encode_columns(np.ones((2, 2)) / 3, name="z").names == ("z0", "z1")
    assert encode(np.eye(2), [0.5, 1.5]).columns.names == ("x0", "x1")
    assert encode_columns(pd.DataFrame([[1, 2]], columns=[7, ("a", 1)])).names == ("7", "('a', 1)")


def test_memory_order_and_read_only_input_do_not_matter(seed):
    values = np.random.default_rng(seed).normal(size=(6, 3))
    expected = encode_columns(values)
    values.flags.writeable = False
    assert_same(encode_columns(values), expected)
    assert_same(encode_columns(np.asfortranarray(values)), expected)
    assert_same(encode_columns(np.repeat(values, 2, axis=1)[:, ::2]), expected)


def test_what_leaves_is_frozen_and_a_copy():
    values = np.array([[1.5, 2.5], [0.5, 0.25], [9.5, 1.5]])
    encoded = encode(values, [0.5, 1.5, 2.5], scale="none")
    values[:] = 0.0
    assert encoded.columns.values[0, 0] == 1.5
    for array in (encoded.columns.values, encoded.target.values, encoded.target.raw, encoded.rows):
        assert not array.flags.writeable
        assert array.flags.c_contiguous
    labels = encode(values.repeat(2, axis=0), ["a", "a", "b", "b", "a", "b"])
    assert not labels.target.labels.flags.writeable
    assert not labels.target.classes.flags.writeable
    assert not encode_columns(["a", "b"]).categories[0].flags.writeable
    assert not encode_columns([1.5, None], missing="category").missing.flags.writeable


def test_object_numbers():
    column = [Decimal("1.5"), Fraction(1, 4), 2, np.float32(0.5), True]
    columns = encode_columns(column, scale="none")
    np.testing.assert_array_equal(columns.values.ravel(), [1.5, 0.25, 2.0, 0.5, 1.0])
    decimals = pl.DataFrame({"price": [Decimal("1.50"), Decimal("2.25")]})
    np.testing.assert_array_equal(encode_columns(decimals, scale="none").values, [[1.5], [2.25]])


def test_objects_that_are_not_numbers_are_categories():
    columns = encode_columns(np.array([1, "a", (1, 2), 1.0], dtype=object))
    assert columns.kinds == (Kind.NOMINAL,)
    assert columns.values[0] == columns.values[3]
    assert len(np.unique(columns.values)) == 3
    assert str(columns.notes[0]) == (
        "column 'x' holds objects (float, int, str, tuple), read as categories"
    )


def test_text_and_bytes():
    for column in (["b", "a", "b"], np.array(["b", "a", "b"]), np.array([b"b", b"a", b"b"])):
        assert encode_columns(column).values.ravel().tolist() == [1, 0, 1]


def test_text_that_reads_as_numbers_is_said():
    note = "column 'x' holds text that reads as numbers; convert it if numbers are meant"
    assert str(encode_columns(["1.5", "2", "3e4"]).notes[0]) == note
    assert note not in list(map(str, encode_columns(["1.5", "2", "three"]).notes))


DAYS = ["2020-02-28", "2020-02-29", "2020-03-01"]


@pytest.mark.parametrize(
    "days",
    [
        np.array(DAYS, dtype="M8[D]"),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")),
        pl.Series(DAYS).str.to_date(),
        [datetime.date.fromisoformat(day) for day in DAYS],
        [datetime.datetime.fromisoformat(day) for day in DAYS],
        [datetime.datetime.fromisoformat(day + "T00:00+01:00") for day in DAYS],
        [np.datetime64(day) for day in DAYS],
        [datetime.date(2020, 2, 28), datetime.datetime(2020, 2, 29), datetime.date(2020, 3, 1)],
    ],
)
def test_dates_are_seconds_since_the_first(days):
    columns = encode_columns(days, scale="none")
    assert columns.kinds == (Kind.CONTINUOUS,)
    np.testing.assert_array_equal(columns.values.ravel(), [0.0, 86400.0, 2 * 86400.0])
    assert any("holds dates, read as seconds since 2020-02-28" in note for note in columns.notes)


@pytest.mark.parametrize(
    "gaps",
    [
        np.array([1, 2], dtype="m8[h]"),
        pd.Series(pd.to_timedelta([1, 2], unit="h")),
        [datetime.timedelta(hours=1), datetime.timedelta(hours=2)],
    ],
)
def test_durations_are_seconds(gaps):
    columns = encode_columns(gaps, scale="none")
    np.testing.assert_array_equal(columns.values.ravel(), [3600.0, 7200.0])
    assert "holds durations, read as seconds" in columns.notes[0]


def test_years_and_months_have_a_length():
    years = encode_columns(np.array(["2020", "2021"], dtype="M8[Y]"), scale="none")
    np.testing.assert_array_equal(years.values.ravel(), [0.0, 366 * 86400.0])


def test_huge_whole_numbers_that_coincide_are_said():
    assert not encode_columns([2**60, 2**61, 3]).notes
    note = "column 'x' holds integers so large that different ones become equal"
    assert note in list(map(str, encode_columns(np.array([2**60, 2**60 + 1, 3])).notes))


def test_anything_that_offers_an_array_is_read():
    class Offers:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.5, 2.5], [3.5, 0.5]])

    assert encode_columns(Offers()).n_columns == 2
