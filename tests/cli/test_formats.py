"""Every format, every compression, from a path and from standard input."""

import bz2
import gzip
import io
import lzma
import zipfile

import pandas as pd
import pytest

from pinsker.cli._tables import read_table, write_table
from pinsker.exceptions import DataError, ParameterError

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
    read = read_table(str(path), "final grade")
    pd.testing.assert_frame_equal(read.frame, frame, check_dtype=False, check_exact=True)
    assert read.notes == ()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "arff"])
def test_detects_the_format_by_content(frame, tmp_path, kind):
    path = tmp_path / "no_suffix"
    path.write_bytes(as_bytes(frame, kind))
    read = read_table(str(path), "final grade")
    pd.testing.assert_frame_equal(read.frame, frame, check_dtype=False, check_exact=True)


def test_reads_the_only_file_of_a_zip(frame, tmp_path):
    path = tmp_path / "table.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/table.parquet", as_bytes(frame, "parquet"))
    pd.testing.assert_frame_equal(read_table(str(path), "signal").frame, frame)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("another.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="holds 2 files: give an archive of one table"):
        read_table(str(path), "signal")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arff"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_standard_input(run, frame, kind, suffix):
    content = COMPRESS[suffix](as_bytes(frame, kind))
    done = run("inspect", "-", "--target", "final grade", stdin=content)
    assert done.code == 0
    assert "standard input: 120 rows, 4 columns" in done.out


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet", "out.feather"])
def test_written_tables_can_be_read(frame, tmp_path, name):
    write_table(frame, str(tmp_path / name))
    back = read_table(str(tmp_path / name), "final grade").frame
    pd.testing.assert_frame_equal(back, frame, check_dtype=False, check_exact=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.pdf", r"--output '.*out.pdf': its name has no known format"),
        ("out", r"its name has no known format. Use .csv, .tsv, .parquet or .feather"),
        ("out.arff", r"that is not written. Use .csv, .tsv"),
        ("out.parquet.gz", r"that is not written. Use .csv, .tsv"),
    ],
)
def test_tables_that_are_not_written(frame, tmp_path, name, message):
    with pytest.raises(ParameterError, match=message):
        write_table(frame, str(tmp_path / name))


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
        ("t.xlsx", b"PK\x03\x04", "is a spreadsheet, which is not read: save it as CSV"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "more values than the first line has names"),
        ("t.csv", b"a\n1\n2\n", "no column beside the target 'a'"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_table(str(path), "a")


def test_a_question_mark_is_missing_in_arff(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation t\n@attribute a {x,y}\n@attribute b numeric\n@data\nx,1\n?,?\n")
    assert read_table(str(path), "b").frame.isna().to_numpy().tolist() == [[False] * 2, [True] * 2]
