"""Files of other programs, and queries to databases, all through the command."""

import gzip
import json
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

#: Everything is read and written back; the search itself takes no time.
KEEP_ALL = ("-t", "grade", "-d", "linear", "--stop", "features=3", "--quiet", "--output")


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(size=40).round(3),
            "city": rng.choice(["Rome", "Bonn", "Łódź"], 40),
            "rooms": rng.integers(1, 6, 40),
            "grade": rng.normal(size=40).round(3),
        }
    )


def write(frame, path):
    """Write a table as the program of a name's ending would."""
    kind = path.suffix
    if kind == ".json":
        path.write_text(frame.to_json(orient="records"), encoding="utf-8")
    elif kind == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif kind == ".dta":
        frame.to_stata(path, write_index=False, version=118)
    elif kind in (".sav", ".zsav"):
        pyreadstat = pytest.importorskip("pyreadstat")
        pyreadstat.write_sav(frame, str(path), compress=kind == ".zsav")
    elif kind == ".xpt":
        pytest.importorskip("pyreadstat").write_xport(frame, str(path), file_format_version=5)
    else:  # nothing here writes them: stored (tables/README.md)
        if kind == ".xls":
            pytest.importorskip("pandas", minversion="2.2")  # with its reader
            pytest.importorskip("python_calamine")
        stored = Path(__file__).parent / "tables" / f"small{kind}.gz"
        path.write_bytes(gzip.decompress(stored.read_bytes()))


@pytest.mark.parametrize(
    "ending",
    [".json", ".jsonl", ".xlsx", ".xls", ".dta", ".sav", ".zsav", ".xpt", ".sas7bdat"],
)
def test_files_of_other_programs(run, small, tmp_path, ending):
    path, kept = tmp_path / f"table{ending}", tmp_path / "kept.csv"
    write(small, path)
    done = run("select", path, *KEEP_ALL, kept)
    assert (done.code, done.err) == (0, "")
    pd.testing.assert_frame_equal(pd.read_csv(kept), small, check_dtype=False)


def test_a_transport_file_in_latin_1(run, small, tmp_path):
    path, kept = tmp_path / "table.xpt", tmp_path / "kept.csv"
    write(small.assign(city="Z_rich"), path)
    path.write_bytes(path.read_bytes().replace(b"Z_rich", "Zürich".encode("latin-1")))
    done = run("select", path, *KEEP_ALL, kept)
    assert (done.code, done.err) == (0, "")
    assert set(pd.read_csv(kept)["city"]) == {"Zürich"}


@pytest.mark.parametrize(
    "content",
    [
        lambda frame: frame.to_dict("list"),
        lambda frame: {"rows": frame.to_dict("records"), "page": 1},
        lambda frame: [{**row, "size": {"m": row["size"]}} for row in frame.to_dict("records")],
    ],
    ids=["columns", "rows within", "objects within"],
)
def test_other_shapes_of_json_from_a_pipe(run, small, tmp_path, content):
    kept = tmp_path / "kept.csv"
    text = json.dumps(content(small)).encode()
    done = run("select", "-", *KEEP_ALL, kept, stdin=text)
    assert (done.code, done.err) == (0, "")
    found = pd.read_csv(kept).rename(columns={"size.m": "size"})
    pd.testing.assert_frame_equal(found[list(small)], small, check_dtype=False)


def test_the_first_sheet_with_a_table_is_read(run, small, tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="cover", index=False)
        small.to_excel(book, sheet_name="data", index=False)
    done = run("select", path, "-t", "grade", "-d", "linear", "--stop", "features=1")
    assert "note: the sheet 'data' was read, others were not: 'cover'" in done.out


@pytest.fixture
def sqlite(small, tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        small.to_sql("sales", connection, index=False)
    connection.close()
    return path


def duckdb_file(frame, path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame)
        connection.execute("create table sales as select * from given")
    return path


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_queries(run, small, sqlite, tmp_path, kind):
    path = sqlite if kind == "sqlite" else duckdb_file(small, tmp_path / "shop.duckdb")
    kept, query = tmp_path / "kept.csv", "select * from sales where rooms > 1;"
    done = run("select", "--database", path, "--query", query, *KEEP_ALL, kept)
    assert (done.code, done.err) == (0, "")
    wanted = small[small["rooms"] > 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.read_csv(kept), wanted, check_dtype=False)
    done = run("select", path, "-t", "grade")
    assert done.code == 2
    assert "is a database: add --query" in done.err
    assert "Its tables: 'sales'." in done.err
    done = run("select", path, "-t", "grade", "--query", "select * from nothing")
    assert done.code == 2
    assert "--query cannot be answered: " in done.err
    assert done.err.count("\n") == 1


def test_duckdb_reads_the_files_that_a_query_names(run, small, tmp_path):
    pytest.importorskip("duckdb")
    path, kept = tmp_path / "table.parquet", tmp_path / "kept.csv"
    small.to_parquet(path)
    done = run("select", "--query", f"select * from '{path}' where city <> 'Rome'", *KEEP_ALL, kept)
    assert (done.code, done.err) == (0, "")
    assert len(pd.read_csv(kept)) == int((small["city"] != "Rome").sum())


def test_a_query_only_reads(run, sqlite):
    done = run("select", sqlite, "-t", "grade", "--query", "delete from sales")
    assert done.code == 2
    with sqlite3.connect(sqlite) as connection:
        assert connection.execute("select count(*) from sales").fetchone() == (40,)
    connection.close()


@pytest.mark.parametrize(
    ("ending", "what", "package", "extra"),
    [
        (".xlsx", "an Excel file", "openpyxl", "excel"),
        (".xls", "an old Excel file", "python_calamine", "excel"),
        (".sav", "SPSS", "pyreadstat", "spss"),
    ],
)
def test_a_package_that_reads_a_file_is_named_where_it_is_missing(
    run, tmp_path, monkeypatch, ending, what, package, extra
):
    path = tmp_path / f"table{ending}"
    path.write_bytes(b"PK\x03\x04")
    monkeypatch.setitem(sys.modules, package, None)
    done = run("select", path, "-t", "grade")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        f"pinsker: reading {what} needs {package}, which is not installed. Try: pip install "
    )
    assert done.err.endswith(f'[{extra}]"\n')


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,b,grade\n", "has names of columns but no rows below them."),
        ("t.json", b"[1, 2]", "this JSON is no table: give a list of rows"),
        ("t.json", b'[{"a": 1', "cannot be read as JSON: "),
        ("t.dta", b"nothing", "cannot be read as Stata: "),
        ("t.sas7bdat", b"nothing", "cannot be read as SAS: "),
        ("t.xlsx", b"nothing", "cannot be read as an Excel file: "),
        ("t.duckdb", b"\x00" * 8 + b"DUCK", "cannot be read by DuckDB, and is none of SQLite"),
    ],
    ids=["header only", "numbers", "cut off", "stata", "sas", "excel", "duckdb"],
)
def test_files_that_are_no_tables(run, tmp_path, name, content, message):
    if name.endswith(("xlsx", "duckdb")):
        pytest.importorskip({"t.xlsx": "openpyxl", "t.duckdb": "duckdb"}[name])
    path = tmp_path / name
    path.write_bytes(content)
    done = run("select", path, "-t", "grade")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["31/12/2023", "01/02/2024"], "dates (day month year): '31/12/2023' as 2023-12-31"),
        (["12/31/2023", "01/02/2024"], "dates (month day year): '12/31/2023' as 2023-12-31"),
        (
            ["01/02/2024", "03/02/2024"],
            "dates (day month year; month first would fit all values too): '01/02/2024' as 2024-02",
        ),
        (["31.12.2023 14:05", "1.2.2024 9:30"], "dates (day month year): '31.12.2023 14:05' as 20"),
        (["Mar-2018", "Feb-2018"], "dates (month year): 'Mar-2018' as 2018-03-01"),
        (["March 5, 2018", "May 12, 2019"], "dates (month day year): 'March 5, 2018' as 2018-03"),
    ],
)
def test_dates_as_people_write_them(run, small, tmp_path, texts, note):
    path = tmp_path / "table.csv"
    small.assign(city=np.tile(texts, 20)).to_csv(path, index=False)
    done = run("select", path, "-t", "grade", "-d", "linear", "--stop", "features=1")
    assert f"note: column 'city' is read as {note}" in done.out
