"""Files that a command writes: whole or not at all; and files that are damaged."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

QUICK = ["-t", "final grade", "-d", "backward"]


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_output_that_would_replace_the_input_is_refused(run, frame, tmp_path):
    path, link = tmp_path / "t.csv", tmp_path / "link.csv"
    frame.to_csv(path, index=False)
    before = path.read_bytes()
    link.symlink_to(path)
    for option in ("-o", "--json", "--features"):
        for name in (path, link):
            done = run("select", path, *QUICK, option, name)
            assert done.code == 2
            assert "is the file that is read: name another one" in done.err
    assert path.read_bytes() == before
    done = run("select", path, *QUICK, "--json", tmp_path / "a", "--features", tmp_path / "a")
    assert "--features and --json name the same file" in done.err
    assert left_in(tmp_path) == ["link.csv", "t.csv"]


@pytest.mark.parametrize("command", ["certify", "audit"])
def test_no_command_writes_to_what_it_reads(run, selection, table, command):
    for name in (selection, table):
        done = run(command, selection, table, "--json", name)
        assert (done.code, "is the file that is read" in done.err) == (2, True)


@pytest.mark.parametrize(
    "query",
    [
        "select * from 'q.csv'",
        'select * from "q.csv" -- it\'s a file',
        "/* don't */ select * from read_csv(['./q.csv'])",
        "select * from 'file:q.csv'",
        "select * from $$q.csv$$",
        "select * from '../*/q.c?v'",
        "select * from '**/other.csv'",
    ],
)
def test_output_that_would_replace_a_file_of_a_query_is_refused(
    run, selection, tmp_path, monkeypatch, query
):
    monkeypatch.chdir(tmp_path)
    path, other = tmp_path / "q.csv", tmp_path / "other.csv"
    path.write_text("a,y")
    other.symlink_to(path)
    for command in (["select", "-t", "y", "-o"], ["certify", selection, "--json"]):
        done = run(*command, "q.csv", "--query", query)
        assert (done.code, "is the file that is read" in done.err) == (2, True)
    assert path.read_text() == "a,y"


def test_output_that_would_replace_a_hidden_file_of_a_query_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hidden = tmp_path / ".hid.csv"
    hidden.write_text("a,b,y\n1,2,3\n")
    done = run("select", "-t", "y", "-o", ".hid.csv", "--query", "select * from '*.csv'")
    assert (done.code, "is the file that is read" in done.err) == (2, True)
    assert hidden.read_text() == "a,b,y\n1,2,3\n"


def test_output_that_would_replace_what_a_database_reads_is_refused(run, frame, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame.to_csv(tmp_path / "table.csv", index=False)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as shop:
        shop.execute(f"create view rows as select * from '{tmp_path / 'table.csv'}'")
        shop.execute(f"create macro m() as table select * from '{tmp_path / 'table.csv'}'")
    before = (tmp_path / "table.csv").read_bytes()
    asked = ("select", "--database", tmp_path / "shop.duckdb", *QUICK)
    for source in ("rows", "m()"):
        done = run(*asked, "--query", f"from {source}", "--output", tmp_path / "table.csv")
        assert (done.code, "is the file that is read" in done.err) == (2, True)
    assert (tmp_path / "table.csv").read_bytes() == before


def test_output_that_would_replace_what_lies_beside_a_database_is_refused(run, frame, tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
        shop.execute("pragma journal_mode=wal")
        frame.to_sql("sales", shop, index=False)
        before = (tmp_path / "shop.db-wal").read_bytes()
        done = run(
            "select", "--database", tmp_path / "shop.db", "--query", "select * from sales",
            *QUICK, "--json", tmp_path / "shop.db-wal",
        )  # fmt: skip
        assert (done.code, "is the file that is read" in done.err) == (2, True)
        assert before
        assert (tmp_path / "shop.db-wal").read_bytes() == before


def test_output_that_would_replace_standard_input_is_refused(run, frame, tmp_path):
    path, link = tmp_path / "t.csv", tmp_path / "hard.csv"
    frame.to_csv(path, index=False)
    link.hardlink_to(path)
    before = path.read_bytes()
    for name in (path, link):
        with path.open("rb") as stdin:
            done = run("select", "-", *QUICK, "-o", name, stdin=stdin)
        assert (done.code, "is the file that is read" in done.err) == (2, True)
    assert path.read_bytes() == before
    with path.open("rb") as stdin:
        assert run("select", "-", *QUICK, "-o", tmp_path / "kept.csv", stdin=stdin).code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.pdf", "out.pdf': its name has no known format"),
        ("out", "its name has no known format. Use .csv, .tsv, .parquet or .feather"),
        ("out.arff", "that is not written. Use .csv, .tsv"),
        ("out.parquet.gz", "that is not written. Use .csv, .tsv"),
        ("missing/out.csv", "there is no folder"),
    ],
)
def test_files_are_checked_before_the_search(run, table, tmp_path, monkeypatch, name, message):
    monkeypatch.setattr("pinsker.cli._app.fit", lambda *_, **__: pytest.fail("it searched"))
    done = run("select", table, *QUICK, "-o", tmp_path / name)
    assert done.code == 2
    assert message in done.err


def test_a_full_disk_leaves_the_old_files(run, table, tmp_path, monkeypatch):
    for name in ("kept.csv", "kept.json"):
        (tmp_path / name).write_text("old")
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 2:  # the first file is complete, the second is not
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pinsker.cli._output.os.fsync", full)
    options = ["-o", tmp_path / "kept.csv", "--json", tmp_path / "kept.json"]
    done = run("select", table, *QUICK, *options)
    assert (done.code, done.out) == (2, "")
    assert "kept.json' cannot be written: No space left on device." in done.err
    assert left_in(tmp_path) == ["kept.csv", "kept.json"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}


def test_an_interrupt_leaves_the_old_file(run, table, tmp_path, monkeypatch):
    def interrupt(_handle):
        raise KeyboardInterrupt

    path = tmp_path / "kept.txt"
    path.write_text("old")
    monkeypatch.setattr("pinsker.cli._output.os.fsync", interrupt)
    assert run("select", table, *QUICK, "--features", path).code == 130
    assert (path.read_text(), left_in(tmp_path)) == ("old", ["kept.txt"])


def test_modes_and_links_stay(run, table, tmp_path):
    path, link = tmp_path / "kept.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    run("select", table, *QUICK, "--features", link)
    assert link.is_symlink()
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("signal\ncolour\n", 0o640)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_files_that_are_complete_get_their_names_all_of_them(
    run, table, tmp_path, monkeypatch, number
):
    names, replace = [tmp_path / name for name in ("kept.txt", "result.json")], os.replace

    def interrupted(*pair):
        replace(*pair)
        signal.raise_signal(number)

    monkeypatch.setattr("pinsker.cli._output.os.replace", interrupted)
    for name in names:
        name.write_text("old")
    options = ("--features", names[0], "--json", names[1], "--quiet")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = run("select", table, *QUICK, *options)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code in (0, 3)
    assert all(name.read_text() != "old" for name in names)
    assert left_in(tmp_path) == ["kept.txt", "result.json"]


def test_a_file_that_is_protected_is_not_replaced(run, table, tmp_path, monkeypatch):
    own, access = tmp_path / "own.txt", os.access
    own.write_text("mine")
    own.chmod(0o444)
    # As anyone but root sees it.
    monkeypatch.setattr("os.access", lambda place, mode: place != str(own) and access(place, mode))
    done = run("select", table, *QUICK, "--features", own)
    assert (done.code, "is protected against writing" in done.err) == (2, True)
    assert own.read_text() == "mine"


@pytest.mark.skipif(not os.path.exists("/proc/self/fd/1"), reason="streams have no names here")
def test_streams_are_written_to_and_not_replaced(run, table, tmp_path):
    log, link = tmp_path / "log.txt", tmp_path / "link"
    log.write_text("lines of before\n")
    select = ("select", table, *QUICK, "--quiet", "--features")
    with log.open("a") as handle:
        name = f"/dev/fd/{handle.fileno()}"
        link.symlink_to(f"/proc/self/fd/{handle.fileno()}")
        for file in (name, link):  # it was renamed over the log
            done = run(*select, file)
            assert (done.code, "is no file of its own" in done.err) == (2, True)
    assert log.read_text() == "lines of before\n"
    assert "is no file of its own" in run(*select, name).err  # closed by now
    reading, writing = os.pipe()  # as >(command) of a shell
    done = run(*select, f"/dev/fd/{writing}")
    os.close(writing)
    with open(reading) as pipe:
        assert (done.code in (0, 3), pipe.read() != "") == (True, True), done.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_devices_are_written_to_directly(run, table):
    done = run("select", table, *QUICK, "--features", "/dev/full")
    assert done.code == 2
    assert "'/dev/full' cannot be written: No space left on device." in done.err


def test_a_closed_pipe_costs_neither_file_nor_code(frame, tmp_path):
    few, path = tmp_path / "few.csv", tmp_path / "kept.json"
    frame.head(60).to_csv(few, index=False)
    command = f"{sys.executable} -m pinsker select {few} -t 'final grade' -e 0.02 --json {path}"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
    )
    assert json.loads(path.read_text())["kept"] == ["signal", "colour"]
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "3"  # inconclusive, as without a pipe


def test_names_do_not_command_a_terminal_or_a_spreadsheet(run, frame, tmp_path):
    names = {"signal": "=1+1", "colour": "@red\x1b[2J\u202e"}
    path, kept = tmp_path / "t.csv", tmp_path / "kept.csv"
    frame.rename(columns=names).to_csv(path, index=False)
    done = run("select", path, *QUICK, "-o", kept)
    assert "\x1b" not in done.out + done.err
    assert r"red\x1b[2J\u202e" in done.out
    assert r"a spreadsheet takes the column names '=1+1', '@red\x1b[2J\u202e' in" in done.out
    assert list(pd.read_csv(kept).columns) == ["=1+1", "@red\x1b[2J\u202e", "final grade"]
    for option in ("--features", "--output", "--json"):
        typed = ("select", path, *QUICK, option, "-", "-q")
        assert "\x1b" not in run(*typed, terminal=True).out
    assert run("select", path, *QUICK, "--features", "-", "-q").out == "=1+1\n@red\x1b[2J\u202e\n"
    assert "\x1b" not in run("select", path, "-t", "\x1b[31m").err


def test_names_that_a_spreadsheet_takes_for_formulas_are_named(run, frame, tmp_path):
    path = tmp_path / "t.csv"
    frame.set_axis(["-a", "+b", "=c", "@d", "y"], axis=1).to_csv(path, index=False)
    quick = ("-t", "y", "-d", "linear", "--stop", "features=4", "-o")
    done = run("select", path, *quick, tmp_path / "kept.csv")
    assert "takes the column names '-a', '+b', '=c', '@d' in" in done.out
    assert "formulas" not in run("select", path, *quick, tmp_path / "kept.parquet").out


def test_an_empty_archive_holds_no_table(run, tmp_path):
    for name in ("t.csv.zip", "t"):
        zipfile.ZipFile(tmp_path / name, "w").close()
        done = run("inspect", tmp_path / name, "-t", "y")
        assert done.code == 2
        assert "holds 0 files: give an archive of one table." in done.err


def contents():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["x", "y"], 40), "y": 1})
    text, parquet, feather, archive = frame.to_csv().encode(), *(io.BytesIO() for _ in range(3))
    frame.to_parquet(parquet)
    frame.to_feather(feather)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("t.csv", text)
    return {
        "t.csv.gz": gzip.compress(text),
        "t.csv.zip": archive.getvalue(),
        "t.parquet": parquet.getvalue(),
        "t.feather": feather.getvalue(),
        "t.csv.xz": lzma.compress(text),
        "t.csv.bz2": bz2.compress(text),
    }


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
@pytest.mark.parametrize("name", list(contents()))
def test_damaged_files_are_named(run, tmp_path, name, damage):
    content = contents()[name]
    whole = damage == "overwritten"  # near the end, where formats keep what they check
    content = content[:-90] + b"\xff" * 60 + content[-30:] if whole else content[:-90]
    (tmp_path / name).write_bytes(content)
    done = run("inspect", tmp_path / name, "-t", "y")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{name}' cannot be " in done.err


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet", "out.feather"])
def test_written_tables_can_be_read(run, table, frame, tmp_path, name):
    assert run("select", table, *QUICK, "-o", tmp_path / name).code == 0
    readers = {".parquet": pd.read_parquet, ".feather": pd.read_feather}
    options = {"sep": "\t"} if name.endswith(".tsv") else {}
    if Path(name).suffix not in readers and pd.__version__.startswith("2."):
        options["float_precision"] = "round_trip"  # later the default
    back = readers.get(Path(name).suffix, pd.read_csv)(tmp_path / name, **options)
    wanted = frame[["signal", "colour", "final grade"]]
    pd.testing.assert_frame_equal(back, wanted, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_goes_to_standard_output_is_utf_8(run, frame, tmp_path, encoding):
    table, fresh, saved = (tmp_path / name for name in ("größe.csv", "fresh.csv", "s.json"))
    named = frame.rename(columns={"signal": "größe λ²", "colour": "猫", "final grade": "ziel→"})
    named.to_csv(table, index=False)
    named.assign(**{"größe λ²": frame["signal"] * 1.01}).to_csv(fresh, index=False)
    fast = ("select", table, "-t", "ziel→", "--fast", "--models", "linear", "-e", "0.2")
    for option in ("-o", "--json", "--features"):
        files = () if option == "--json" else ("--json", saved)
        done = run(*fast, option, "-", *files, encoding=encoding)
        assert (done.code, "größe λ²" in done.out) == (0, True), done.err
    done = run("certify", saved, fresh, "--json", "-", encoding=encoding)
    assert "größe λ²" in json.loads(done.out)["features"]
    given = (saved, fresh, "--train", table, "--model", "linear")
    assert "größe λ²" in run("label", *given, "-o", "-", encoding=encoding).out
    assert run("report", saved, "-o", tmp_path / "猫.html", encoding=encoding).code == 0
