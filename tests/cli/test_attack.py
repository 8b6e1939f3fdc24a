"""What an attack on 0.2.0 did to the command: each test is one of its rows."""

import io
import json
import signal
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

from pinsker.cli import main

FAST = ("--fast", "--models", "linear", "--drop", "w,when")


def patients(seed, n=40, size=5):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), size)
    center = rng.normal(size=(n, 3))[group]
    X = center + 0.3 * rng.normal(size=center.shape)
    y = center[:, 0] + 0.5 * rng.normal(size=n)[group] > 0
    about = {"patient": group, "w": rng.random(len(group)) + 0.5, "when": np.arange(len(group))}
    return pd.DataFrame(X, columns=list("abc")).assign(**about, y=y.astype(int))


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("table.csv", 1), ("fresh.csv", 2)):
        patients(seed).to_csv(tmp_path / name, index=False)
    patients(2).drop(columns="patient").to_csv(tmp_path / "without.csv", index=False)
    return tmp_path


def test_a_selection_remembers_groups_of_rows(run, folder):
    saved = folder / "saved.json"
    made = run(
        "select", folder / "table.csv", "-t", "y", "-e", "0.3", *FAST, "--row-groups", "patient",
        "--json", saved,
    )  # fmt: skip
    assert "--row-groups patient (rows not used here)" in made.out
    assert json.loads(saved.read_text())["row_columns"] == {"row_groups": "patient"}
    for more in ((), ("--row-groups", "patient")):
        assert "in 40 groups" in run("certify", saved, folder / "fresh.csv", *more).out
        audited = run("audit", saved, folder / "fresh.csv", "--model", "linear", *more)
        assert "in 40 groups" in audited.out
    refused = run("certify", saved, folder / "without.csv")
    assert refused.code == 2
    assert "was made with --row-groups 'patient', and" in refused.err


@pytest.mark.parametrize("form", ["Q{q}-2010", "Jan {d:02d}", "{d}.1.2010 early"])
def test_times_without_an_order_are_refused(run, folder, form):
    table = patients(1)
    table["when"] = [form.format(q=1 + i % 4, d=1 + i % 28) for i in range(len(table))]
    table.to_csv(folder / "odd.csv", index=False)
    refused = run("select", folder / "odd.csv", "-t", "y", "--time", "when", "--fast")
    assert refused.code == 2
    assert "which has no order in time" in refused.err


def test_a_table_is_not_written_over_by_another_name(run, folder):
    before = (folder / "table.csv").read_bytes()
    refused = run(
        "select", folder / "table.csv", "-t", "y", *FAST, "-o", f"{folder}/none/../table.csv"
    )
    assert (refused.code, "is the file that is read" in refused.err) == (2, True)
    assert (folder / "table.csv").read_bytes() == before


def test_a_file_that_only_begins_as_a_database(run, tmp_path):
    fake = tmp_path / "fake.db"
    fake.write_bytes(b"SQLite format 3\0" + bytes(2000))
    assert "cannot be read by SQLite" in run("select", fake, "-t", "y").err


def test_a_terminal_without_the_letters_of_a_unit(folder, monkeypatch):
    table = str(folder / "table.csv")
    typed = ["pinsker", "select", table, "-t", "a", "--drop", "y,patient", *FAST[:3]]
    monkeypatch.setattr("sys.argv", typed)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with redirect_stdout(stream), pytest.raises(SystemExit):
        main()
    assert b"(R\\xb2)" in stream.buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": -1.0}, "--weights: the column must be finite, not negative"),
        ({"y": 1e-300}, "too little for squared errors in double precision"),
    ],
)
def test_errors_name_options_and_figures(run, folder, change, message):
    table, (name, factor) = patients(1), next(iter(change.items()))
    table["y"] = table["a"]
    table[name] = table[name] * factor
    table.to_csv(folder / "odd.csv", index=False)
    refused = run(
        "select", folder / "odd.csv", "-t", "y", "--weights", "w", "--models", "linear", "--drop",
        "when,patient",
    )  # fmt: skip
    assert (refused.code, message in refused.err) == (2, True)
    assert "spans 0," not in refused.err


ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_command_that_is_ended_leaves_no_folder(run, folder, monkeypatch, ending):
    before, files = signal.getsignal(ending), set(folder.iterdir())
    monkeypatch.setattr("pinsker.cli._output._sync", lambda _: signal.raise_signal(ending))
    done = run("select", folder / "table.csv", "-t", "y", *FAST, "-q", "--json", folder / "s.json")
    assert done.code == 128 + ending
    assert set(folder.iterdir()) == files
    assert signal.getsignal(ending) is before


@pytest.mark.skipif(len(ENDINGS) < 2, reason="no terminal hangs up here")
def test_a_command_under_nohup_goes_on(run, folder, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr("pinsker.cli._output._sync", lambda _: signal.raise_signal(signal.SIGHUP))
    done = run("select", folder / "table.csv", "-t", "y", *FAST, "-q", "--json", folder / "s.json")
    signal.signal(signal.SIGHUP, before)
    assert (folder / "s.json").exists(), done.err


def test_an_interrupt_is_noted_where_another_error_hides_it(run, folder, monkeypatch):
    def read(*_args, **_options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise OSError("Calling read(nbytes) on source failed") from None

    monkeypatch.setattr("pinsker.cli._app.read_input", read)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = run("select", folder / "table.csv", "-t", "y")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.code, done.err) == (130, "pinsker: interrupted\n")
