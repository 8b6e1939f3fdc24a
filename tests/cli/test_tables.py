"""Tables as people have them: every format and compression, odd text, dates."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
from datetime import date

import numpy as np
import pandas as pd
import pytest

from pinsker.cli._tables import (
    InputTable,
    TextStyle,
    read_input,
    read_text,
    read_values,
    with_row_columns,
)
from pinsker.exceptions import DataError

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def as_bytes(frame, kind):
    """Return a table as the content of a file of this kind."""
    if kind in ("parquet", "feather"):
        buffer = io.BytesIO()
        getattr(frame, f"to_{kind}")(buffer)
        return buffer.getvalue()
    if kind == "arff":
        kinds = {"colour": "{red,green}", "final grade": "{pass,fail}"}
        head = [f"@attribute '{name}' {kinds.get(name, 'numeric')}" for name in frame.columns]
        rows = frame.to_csv(index=False, header=False)
        return "\n".join(["% made up", "@relation t", *head, "@data", rows]).encode()
    return frame.to_csv(index=False, sep="\t" if kind == "tsv" else ",").encode()


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "arff"])
def test_reads_every_format(frame, tmp_path, kind, suffix):
    path = tmp_path / f"table.{kind}{suffix}"
    path.write_bytes(COMPRESS[suffix](as_bytes(frame, kind)))
    read = read_input(str(path), "final grade")
    pd.testing.assert_frame_equal(read.frame, frame, check_dtype=False, check_exact=True)
    assert read.notes == ()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "arff"])
def test_detects_the_format_by_content(frame, tmp_path, kind):
    path = tmp_path / "no_suffix"
    path.write_bytes(as_bytes(frame, kind))
    read = read_input(str(path), "final grade")
    pd.testing.assert_frame_equal(read.frame, frame, check_dtype=False, check_exact=True)


def test_reads_the_only_file_of_a_zip(frame, tmp_path):
    path = tmp_path / "table.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/table.parquet", as_bytes(frame, "parquet"))
    pd.testing.assert_frame_equal(read_input(str(path), "signal").frame, frame)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("another.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="holds 2 files: give an archive of one table"):
        read_input(str(path), "signal")


@pytest.mark.parametrize(("kind", "suffix"), [("csv", ""), ("parquet", ".gz"), ("arff", ".xz")])
def test_standard_input(run, frame, kind, suffix):
    content = COMPRESS[suffix](as_bytes(frame, kind))
    done = run("inspect", "-", "--target", "final grade", stdin=content)
    assert done.code == 0
    assert "standard input: 120 rows, 4 columns" in done.out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.parquet", b"PAR1 and no more", "cannot be read as parquet"),
        ("t.feather", b"no feather", "cannot be read as feather"),
        ("t.arff", b"@relation t\n@attribute a string\n@data\n'x'\n", "Save it as CSV"),
        ("t.arff", b"nothing of the kind", "cannot be read as ARFF"),
        ("t.csv.gz", b"\x1f\x8b and no more", "cannot be decompressed"),
        ("t.csv.zip", b"PK\x03\x04 and no more", "cannot be decompressed"),
        ("t.csv", b"", "the table is empty"),
        ("t.csv", b"a,b\n\x81,2\n", "no text in UTF-8 or Windows-1252"),
        ("t.csv", b"0.5,1\n0.7,2\n", "the first line holds numbers, not names"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "more values than the first line has names"),
        ("t.csv", b"a\n1\n2\n", "no column beside the target 'a'"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_input(str(path), "a")


def test_a_question_mark_is_missing_in_arff(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation t\n@attribute a {x,y}\n@attribute b numeric\n@data\nx,1\n?,?\n")
    assert read_input(str(path), "b").frame.isna().to_numpy().tolist() == [[False] * 2, [True] * 2]


def read(text, encoding="utf-8", **style):
    return read_text(io.BytesIO(text.encode(encoding)), TextStyle(**style))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_finds_the_separator(separator):
    rows = [["final grade", "b c", "d"], ["1", '"x,y;z|w"', "2"], ["3", "u", "4"]]
    frame, notes = read("\n".join(separator.join(row) for row in rows))
    assert list(frame.columns) == ["final grade", "b c", "d"]
    assert frame["b c"].tolist() == ["x,y;z|w", "u"]
    assert list(map(str, notes)) == []


def test_decimal_commas():
    frame, notes = read("a;b;c\n1,5;x;3\n-2,25;y;4\n")
    assert frame["a"].tolist() == [1.5, -2.25]
    assert list(map(str, notes)) == ["numbers are written with a decimal comma"]


def test_commas_are_no_decimals_where_they_separate():
    frame, notes = read('a,b\n"1,5",x\n"2,5",y\n')
    assert frame["a"].tolist() == ["1,5", "2,5"]
    assert list(map(str, notes)) == []


def test_a_style_that_is_given_is_not_guessed():
    frame, _ = read("a;b;c,d\n1;2;3,4\n", separator=",")
    assert list(frame.columns) == ["a;b;c", "d"]
    frame, _ = read("a;b\n1,5;2\n", separator=";", decimal=".")
    assert frame["a"].tolist() == ["1,5"]


def test_the_index_that_pandas_writes_is_left_out():
    frame, notes = read(",a,b\n0,1.5,x\n1,2.5,y\n")
    assert list(frame.columns) == ["a", "b"]
    assert list(map(str, notes)) == [
        "the first column has no name and counts the rows; it was left out"
    ]
    frame, notes = read(",a\n7,1.5\n3,2.5\n")
    assert list(frame.columns) == ["Unnamed: 0", "a"]
    assert list(map(str, notes)) == []


def test_nameless_empty_columns_go():
    frame, _ = read("a;b;\n1;2;\n3;4;\n")
    assert list(frame.columns) == ["a", "b"]


def test_odd_values_among_numbers_are_named():
    frame, _ = read("age,b\n1,x\n2,y\n3,z\nunknown,w\n")
    assert frame["age"].tolist() == ["1", "2", "3", "unknown"]
    (note,) = read_values(frame)[1]
    assert str(note) == (
        "column 'age' is read as categories, not numbers, because of 'unknown' in 1 of 4 values; "
        "if that means missing, use --na 'unknown'"
    )
    frame, notes = read("age,b\n1,x\n2,y\n3,z\nunknown,w\n", na=("unknown",))
    assert frame["age"].isna().tolist() == [False, False, False, True]
    assert list(map(str, notes)) == []
    assert read_values(frame) == ({}, [])


def test_names_are_stripped_and_repeats_noted():
    frame, notes = read("a, b ,a\n1,2,3\n")
    assert list(frame.columns) == ["a", "b", "a.1"]
    assert list(map(str, notes)) == [
        "several columns are called 'a'; the later ones are read as 'a.1' and so on"
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding):
    frame, notes = read("größe,b\n1,ü\n", encoding=encoding)
    assert list(frame.columns) == ["größe", "b"]
    assert frame["b"].tolist() == ["ü"]
    expected = (
        ["the text is not UTF-8; it was read as Windows-1252"] if encoding == "cp1252" else []
    )
    assert list(map(str, notes)) == expected


def test_floats_survive():
    value = 0.1 + 0.2
    frame, _ = read(f"a,b\n{value!r},1\n")
    assert frame["a"].tolist() == [value]


@pytest.fixture(scope="module")
def season():
    """A class that changes in the middle of the year, and two other columns."""
    rng = np.random.default_rng(0)
    days = np.sort(rng.permutation(365)[:150])
    return pd.DataFrame(
        {
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
            "noise": rng.normal(size=150),
            "warm": np.where(days > 180, "yes", "no"),
        }
    )


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S.25Z", "%Y-%m-%dT%H:%M:%S+02:00"]
)
def test_iso_dates_are_datetimes(season, form):
    found, _ = read_values(season.assign(when=season["when"].dt.strftime(form)))
    assert list(found) == ["when"]
    gaps = (found["when"] - found["when"].iloc[0]) == season["when"] - season["when"].iloc[0]
    assert gaps.all()


def test_zones_are_compared_in_utc():
    text = ["2024-05-01T10:00:00+02:00", "2024-05-01T09:00:00Z", None, "2024-05-01T08:00:00Z"]
    first, later, gap, same = read_values(pd.DataFrame({"t": text}))[0]["t"]
    assert first == same == pd.Timestamp("2024-05-01 08:00")
    assert later == pd.Timestamp("2024-05-01 09:00")
    assert gap is pd.NaT


@pytest.mark.parametrize(
    "values",
    [["2024-02-30", "2024-02-01"], ["31/02/2024", "02/02/2024"], ["2024-01-01", "later"], [None]],
    ids=["not on a calendar", "nor in any order", "not all dates", "empty"],
)
def test_anything_else_is_left_alone(values):
    assert read_values(pd.DataFrame({"t": pd.Series(values, dtype="object")})) == ({}, [])


def test_select_understands_dates_and_writes_them_as_they_were(season, run, tmp_path):
    table, kept = tmp_path / "season.csv", tmp_path / "kept.csv"
    words = season["when"].dt.strftime("%Y-%m-%dT00:00:00+01:00")
    season.assign(when=words).to_csv(table, index=False)
    done = run("select", table, "--target", "warm", "--direction", "backward", "--output", kept)
    assert "Kept 1 of 2 columns" in done.out
    assert "column 'when' holds dates, read as seconds since 20" in done.out
    assert pd.read_csv(kept)["when"].tolist() == words.tolist()


def test_inspect_calls_dates_continuous(season, run, tmp_path):
    table = tmp_path / "season.csv"
    season.to_csv(table, index=False)
    done = run("inspect", table, "--target", "warm")
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["when"]]
    assert "continuous" in line


# ---------------------------------------------------------------------- very many rows

N, MOST = 3000, 500
READ = "columns were read on 500 of 3000 rows, drawn at random"


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"place": np.arange(N), "a": rng.normal(size=N), "b": rng.normal(size=N)})
    frame["text"] = [f'said "{i}",\nand left' if i % 7 == 0 else "nothing" for i in range(N)]
    frame["y"] = np.where(frame["a"] + 0.5 * rng.normal(size=N) > 0, "yes", "no")
    return frame


def draw_by_hand(seed):
    return np.sort(np.random.default_rng(seed).choice(N, MOST, replace=False, shuffle=False))


@pytest.mark.parametrize("row_group_size", [N, 170])
def test_parquet_is_drawn_from_batch_by_batch(large, tmp_path, row_group_size):
    path = tmp_path / "large.parquet"
    large.set_index(large["place"] + 5).to_parquet(path, row_group_size=row_group_size)
    read = read_input(str(path), "y", most=MOST, seed=4)
    expected = large.iloc[draw_by_hand(4)].reset_index(drop=True)
    pd.testing.assert_frame_equal(read.frame, expected)
    assert str(read.notes[0]).startswith(READ)
    assert read.n_rows == N
    whole = read_input(str(path), "y", most=N)
    assert whole.drawn is None
    assert whole.n_rows == len(whole.frame) == N


@pytest.mark.parametrize(("separator", "start"), [(",", 0), (";", 1), ("\t", 7)])
def test_text_is_drawn_from_line_by_line(large, tmp_path, separator, start):
    path = tmp_path / "large.csv"
    numbered = large.set_index(pd.RangeIndex(start, N + start))  # a first column without a name
    numbered.to_csv(path, sep=separator)
    read = read_input(str(path), "y", most=MOST, seed=4)
    places = read.frame["place"].to_numpy()
    assert len(places) == MOST
    assert np.all(np.diff(places) > 0)
    assert abs(places.mean() - N / 2) < 5 * N / np.sqrt(12 * MOST)
    expected = large.iloc[places].reset_index(drop=True)
    found = read.frame.drop(columns=["Unnamed: 0"], errors="ignore")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert ("Unnamed: 0" in read.frame) == (start == 7)  # it does not count from 0 or 1
    assert str(read.notes[0]).startswith(READ)
    again = read_input(str(path), "y", most=MOST, seed=4)
    pd.testing.assert_frame_equal(read.frame, again.frame)


def test_every_row_of_a_text_has_the_same_chance(tmp_path):
    times = np.zeros(200)
    path = tmp_path / "lines.csv"
    path.write_bytes(b"x,y\n" + b"".join(b"%d,1\n" % i for i in range(200)))
    for seed in range(150):
        rows = read_input(str(path), "y", most=40, seed=seed).frame["x"]
        assert len(rows) == 40
        times[rows] += 1
    # 30 of 150 times, give or take 5.
    assert 5 < times.min() < times.max() < 60


def test_odd_text_is_drawn_from(tmp_path):
    path = tmp_path / "lines.csv"
    path.write_bytes(b"x,y\n" + b'5" pipe,1\n' + b"2,3\n" * 3000)
    for seed in range(3):  # lines are joined by the lone quotation mark, but none is spoiled
        read = read_input(str(path), "y", most=100, seed=seed)
        assert set(read.frame["x"].astype(str)) <= {'5" pipe', "2"}
    path.write_bytes(("x,y\n" + "1,2\n" * 50).encode("utf-16"))
    assert len(read_input(str(path), "y", most=10).frame) == 50


def test_the_index_of_a_parquet_file_is_a_column(run, frame, tmp_path):
    path = tmp_path / "t.parquet"
    frame.set_index("signal").to_parquet(path)
    assert "signal" in read_input(str(path), "final grade").features.columns
    assert "signal" in read_input(str(path), "final grade", most=20).features.columns
    frame[frame["signal"] > 0].to_parquet(path)
    read = read_input(str(path), "final grade")
    assert tuple(map(str, read.notes)) == ("the index of the table was left out: it has no name",)
    frame.to_parquet(path)
    assert read_input(str(path), "final grade").notes == ()


def test_bytes_that_arrow_would_follow_out_of_its_memory(tmp_path):
    # A Feather file whose offsets of text are wrong ended in a segmentation fault.
    rng = np.random.default_rng(1)
    path = tmp_path / "t.feather"
    pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["x", "y"], 40), "y": 1}).to_feather(
        path
    )
    content = bytearray(path.read_bytes())
    for _ in range(30):
        changed = content.copy()
        for place in rng.integers(len(content), size=5):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        try:
            read_input(str(path), "y")
        except DataError:
            continue


def test_a_file_that_expands_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pinsker.cli._tables._SMALL", 2**16)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,1\n" * 2**20))
    with pytest.raises(DataError, match="expands to more than 300 times its size"):
        read_input(str(path), "b")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$1,234.50", "-$3", "$0.99"], [1234.5, -3.0, 0.99]),
        (["1.234,50 €", "12,5 €", "3 €"], [1234.5, 12.5, 3.0]),
        (["5.6%", "12 %", "0%"], [5.6, 12.0, 0.0]),
        (["1,234", "999", "12,345,678"], [1234.0, 999.0, 12345678.0]),
        (["1 234", "5 678,5", "12"], [1234.0, 5678.5, 12.0]),
        (["(1,200.00)", "300.00", "5"], [-1200.0, 300.0, 5.0]),
        (["$5", "€5", "$7"], None),
        (["5%", "0.05", "7%"], None),
        (["10 x 20", "3 x 4", "5 x 6"], None),
        (["192.168.1.1", "10.0.0.1", "10.1.1.1"], None),
    ],
)
def test_numbers_as_people_write_them(texts, numbers):
    found, notes = read_values(pd.DataFrame({"x": [*texts, None]}))
    if numbers is None:
        assert (found, notes) == ({}, [])
        return
    assert found["x"].dropna().tolist() == numbers
    assert str(notes[0]).startswith("column 'x' is read as numbers: ")


def test_what_was_read_as_numbers_is_written_as_it_was(run, tmp_path):
    table, kept = tmp_path / "table.csv", tmp_path / "kept.csv"
    prices = ["$1,200", "$80", "$95.50", "$7"] * 10
    frame = pd.DataFrame({"price": prices, "y": range(40), "x": np.sin(range(40))})
    frame.to_csv(table, index=False)
    run("select", table, "-t", "y", "-d", "linear", "--fixed", "price", "--output", kept)
    assert pd.read_csv(kept)["price"].tolist() == prices


@pytest.mark.parametrize("content", [b"\n\x00\x00", b"\n\n-", b'"' + b"x" * 140_000, b"a,y\n\n\n1"])
def test_text_that_is_hardly_a_table(run, tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    done = run("select", tmp_path / "t.csv", "-t", "y", "--searches", "linear")
    assert (done.code, done.err.count("\n")) == (2, 1)


def times(values):
    """Return a table with these times, one row each."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"when": values, "a": rng.normal(size=len(values))})
    return InputTable("t.csv", frame.assign(y=frame["a"] > 0), ("y",))


MONTHS = ("Jan", "Feb", "Mar", "Apr")


@pytest.mark.parametrize(
    "values",
    [
        [f"2008-{month}" for month in MONTHS],
        [f"2008 {month}" for month in MONTHS],
        [f"2008-{month}-05" for month in MONTHS],
        ["2008 autumn", "2008 spring"],
        ["2021-01-01 01:30 PM", "2021-01-01 03:00 AM"],
        ["2008-31-01", "2008-28-02"],
        ["2008-13", "2008-12"],
        ["2008-Q5", "2008-Q1"],
        ["2008-W54", "2008-W01"],
        ["2008-Q1", "2008-04"],
        ["2008-04", "2008-04-05"],
        pd.Categorical(["05.04.2008", "01.12.2007"]),
        [1032008, 2012008, 15071999],  # 01032008, ...
        [3312008, 1152009],
        [12008, 122007, 32009],  # 012008, ...
        [1.2008, 12.2007, 3.201],  # 01.2008, ...
    ],
)
def test_values_whose_order_is_not_that_of_time_are_refused(values):
    shown = re.escape(repr(str(values[0])))
    with pytest.raises(DataError, match=f"--time 'when' holds {shown}, which has no order in time"):
        with_row_columns(times(values), time="when")


@pytest.mark.parametrize(
    "values",
    [
        ["2008-04", "2007-12"],
        ["2008-04-05", "2007-12-31"],
        ["2008-04-05 13:30", "2008-04-05 01:30"],
        ["2008-Q4", "2008-Q1"],
        ["2008Q4", "2008Q1"],
        ["2008-W53", "2008-W01"],
        ["2008-W01-7", "2008-W01-1"],
        # In a file the categories are in the order of their first rows.
        pd.Categorical(["2008-04", "2007-12"], categories=["2008-04", "2007-12"]),
        [date(2008, 4, 5), date(2007, 12, 31)],
        [2008, 2007],
        [2008.25, 2007.5],
        [20080405, 20071231],
        [200804, 200712],
        [1_700_000_000, 1_600_000_000],
        range(42_100, 41_900, -1),  # days of a spreadsheet, which read as month and year too
        range(100, 0, -1),
    ],
)
def test_values_in_order_of_time_are_taken(values):
    assert with_row_columns(times(values), time="when").row_columns == {"time": "when"}
