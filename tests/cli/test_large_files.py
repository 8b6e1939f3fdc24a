"""Files with very many rows: commands draw what they need, and the file is never in memory."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

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
    done = run("select", path, "--target", "y", "--drop", "text", "--missing", "error")
    assert done.code == 2
    assert "the target 'y' is missing in 1 of 3000 rows: use --missing auto" in done.err


PEAK = """
import sys
import pyarrow.parquet
from pinsker.cli._tables import read_input

def held(field):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

before = held("VmRSS")
read = read_input(sys.argv[1], "y", most=150_000)
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
