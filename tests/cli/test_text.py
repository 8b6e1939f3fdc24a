"""Text as people have it: semicolons, decimal commas, indices, odd values, old encodings."""

import io

import pytest

from pinsker.cli._text import TextStyle, read_text


def read(text, encoding="utf-8", **style):
    return read_text(io.BytesIO(text.encode(encoding)), TextStyle(**style))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_finds_the_separator(separator):
    rows = [["final grade", "b c", "d"], ["1", '"x,y;z|w"', "2"], ["3", "u", "4"]]
    frame, notes = read("\n".join(separator.join(row) for row in rows))
    assert list(frame.columns) == ["final grade", "b c", "d"]
    assert frame["b c"].tolist() == ["x,y;z|w", "u"]
    assert notes == []


def test_decimal_commas():
    frame, notes = read("a;b;c\n1,5;x;3\n-2,25;y;4\n")
    assert frame["a"].tolist() == [1.5, -2.25]
    assert notes == ["numbers are written with a decimal comma"]


def test_commas_are_no_decimals_where_they_separate():
    frame, notes = read('a,b\n"1,5",x\n"2,5",y\n')
    assert frame["a"].tolist() == ["1,5", "2,5"]
    assert notes == []


def test_a_style_that_is_given_is_not_guessed():
    frame, _ = read("a;b;c,d\n1;2;3,4\n", separator=",")
    assert list(frame.columns) == ["a;b;c", "d"]
    frame, _ = read("a;b\n1,5;2\n", separator=";", decimal=".")
    assert frame["a"].tolist() == ["1,5"]


def test_the_index_that_pandas_writes_is_left_out():
    frame, notes = read(",a,b\n0,1.5,x\n1,2.5,y\n")
    assert list(frame.columns) == ["a", "b"]
    assert notes == ["the first column has no name and counts the rows; it was left out"]
    frame, notes = read(",a\n7,1.5\n3,2.5\n")
    assert list(frame.columns) == ["Unnamed: 0", "a"]
    assert notes == []


def test_nameless_empty_columns_go():
    frame, _ = read("a;b;\n1;2;\n3;4;\n")
    assert list(frame.columns) == ["a", "b"]


def test_odd_values_among_numbers_are_named():
    frame, notes = read("age,b\n1,x\n2,y\n3,z\nunknown,w\n")
    assert frame["age"].tolist() == ["1", "2", "3", "unknown"]
    (note,) = notes
    assert note == (
        "column 'age' is read as categories, not numbers, because of 'unknown' in 1 of 4 values; "
        "if that means missing, use --na 'unknown'"
    )
    frame, notes = read("age,b\n1,x\n2,y\n3,z\nunknown,w\n", missing=("unknown",))
    assert frame["age"].isna().tolist() == [False, False, False, True]
    assert notes == []


def test_names_are_stripped_and_repeats_noted():
    frame, notes = read("a, b ,a\n1,2,3\n")
    assert list(frame.columns) == ["a", "b", "a.1"]
    assert notes == ["several columns are called 'a'; the later ones are read as 'a.1' and so on"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding):
    frame, notes = read("größe,b\n1,ü\n", encoding=encoding)
    assert list(frame.columns) == ["größe", "b"]
    assert frame["b"].tolist() == ["ü"]
    expected = (
        ["the text is not UTF-8; it was read as Windows-1252"] if encoding == "cp1252" else []
    )
    assert notes == expected


def test_floats_survive():
    value = 0.1 + 0.2
    frame, _ = read(f"a,b\n{value!r},1\n")
    assert frame["a"].tolist() == [value]
