"""Files with very many rows: some are drawn in one pass, and the file is never in memory."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pinsker.cli._large import draw_from_parquet, draw_from_text
from pinsker.cli._tables import read_table

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
    read = read_table(str(path), "y", most=MOST, seed=4)
    expected = large.iloc[draw_by_hand(4)].reset_index(drop=True)
    pd.testing.assert_frame_equal(read.frame, expected)
    assert read.notes[0].startswith(READ)
    assert read.n_rows == N
    whole = read_table(str(path), "y", most=N)
    assert whole.drawn is None
    assert whole.n_rows == len(whole.frame) == N


@pytest.mark.parametrize(("separator", "start"), [(",", 0), (";", 1), ("\t", 7)])
def test_text_is_drawn_from_line_by_line(large, tmp_path, separator, start):
    path = tmp_path / "large.csv"
    numbered = large.set_index(pd.RangeIndex(start, N + start))  # a first column without a name
    numbered.to_csv(path, sep=separator)
    read = read_table(str(path), "y", most=MOST, seed=4)
    places = read.frame["place"].to_numpy()
    assert len(places) == MOST
    assert np.all(np.diff(places) > 0)
    assert abs(places.mean() - N / 2) < 5 * N / np.sqrt(12 * MOST)
    expected = large.iloc[places].reset_index(drop=True)
    found = read.frame.drop(columns=["Unnamed: 0"], errors="ignore")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert ("Unnamed: 0" in read.frame) == (start == 7)  # it does not count from 0 or 1
    assert read.notes[0].startswith(READ)
    again = read_table(str(path), "y", most=MOST, seed=4)
    pd.testing.assert_frame_equal(read.frame, again.frame)


def test_every_row_of_a_text_has_the_same_chance():
    times = np.zeros(200)
    lines = b"x,y\n" + b"".join(b"%d,1\n" % i for i in range(200))
    for seed in range(300):
        drawn = draw_from_text(io.BytesIO(lines), 40, seed)
        rows = drawn.content.read().split()[1:]
        assert len(rows) == 40
        times[[int(row.split(b",")[0]) for row in rows]] += 1
    # 60 of 300 times, give or take 7.
    assert 25 < times.min() < times.max() < 95


def test_odd_text():
    lone = b"x,y\n" + b'5" pipe,1\n' + b"2,3\n" * 3000  # lines are joined, but none is lost
    drawn = draw_from_text(io.BytesIO(lone), 100, 0)
    assert set(drawn.content.read().split(b"\n")[1:]) <= {b'5" pipe,1', b"2,3", b""}
    assert draw_from_text(io.BytesIO("x,y\n1,2\n".encode("utf-16")), 0, 0) is None
    assert draw_from_text(io.BytesIO(b"x,y\n1,2\n"), 5, 0) is None


def test_commands_draw_what_they_need(large, tmp_path, run, monkeypatch):
    monkeypatch.setattr("pinsker.cli._app.MOST_READ", MOST)
    monkeypatch.setattr("pinsker.cli._app.MOST_CERTIFIED", 400)
    monkeypatch.setattr("pinsker.cli._inspect.MOST_READ", MOST)
    path, saved, small = (tmp_path / name for name in ("t.parquet", "saved.json", "small.csv"))
    large[["a", "b", "y"]].to_parquet(path)
    quick = ("--searches", "relevance", "--models", "linear", "--error-budget", "0.1")
    done = run("select", path, "--target", "y", *quick, "--json", saved)
    assert done.code == 0
    assert READ in " ".join(done.out.split())
    assert any(note.startswith(READ) for note in json.loads(saved.read_text())["notes"])
    assert "400 of 3000 rows" in " ".join(run("certify", saved, path).out.split())
    assert "500 of 3000 rows" in " ".join(
        run("audit", saved, path, "--model", "linear").out.split()
    )
    assert "t.parquet: 3000 rows" in run("inspect", path, "--target", "y").out.replace("\n", "")
    assert run("select", path, "--target", "y", *quick, "--output", small, "-q").code == 0
    assert len(pd.read_csv(small)) == N  # what is written is the whole table


def test_a_missing_target_is_seen_in_all_rows(large, tmp_path, run, monkeypatch):
    monkeypatch.setattr("pinsker.cli._app.MOST_READ", MOST)
    path = tmp_path / "t.parquet"
    unseen = np.setdiff1d(np.arange(N), draw_by_hand(0))[0]
    large.assign(y=large["y"].mask(large["place"] == unseen)).to_parquet(path)
    done = run("select", path, "--target", "y", "--drop", "text")
    assert done.code == 2
    assert "the target 'y' is missing in 1 of 3000 rows: use --missing drop" in done.err


PEAK = """
import sys
import pyarrow.parquet
from pinsker.cli._tables import read_table

def held(field):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

before = held("VmRSS")
read = read_table(sys.argv[1], "y", most=150_000)
assert (len(read.frame), read.n_rows) == (150_000, 3_000_000)
print(held("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    path = tmp_path / f"large.{kind}"
    columns = [f"x{j}" for j in range(20)]
    part = pd.DataFrame(rng.integers(0, 10**6, size=(100_000, 20)), columns=columns)
    part["y"] = rng.integers(0, 2, size=100_000)
    if kind == "csv":
        head, rows = part.to_csv(index=False).split("\n", 1)
        with path.open("w") as file:
            file.writelines([head + "\n", *[rows] * 30])
    else:
        rows = arrow.Table.from_pandas(part)
        with parquet.ParquetWriter(path, rows.schema) as file:
            for _ in range(30):
                file.write_table(rows)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    # The whole table takes 500 MB, what is drawn 25 MB.
    assert float(done.stdout) < 250


def test_parquet_that_is_small_is_left_to_pandas(large, tmp_path):
    buffer = io.BytesIO()
    large.to_parquet(buffer)
    buffer.seek(0)
    assert draw_from_parquet(buffer, N, 0) is None
