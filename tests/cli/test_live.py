"""`pinsker monitor` and `pinsker label`: rows that arrive after a selection."""

import json

import numpy as np
import pandas as pd
import pytest


def rows(n, seed, weight=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")).round(4)
    shown = table["a"] + weight * table["b"] + 0.3 * rng.normal(size=n)
    return table.assign(y=np.where(shown > 0, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from tests.cli.conftest import run_command

    place = tmp_path_factory.mktemp("live")
    rows(300, 0).to_csv(place / "train.csv", index=False)
    rows(600, 1).to_csv(place / "new.csv", index=False)
    rows(600, 2).to_csv(place / "more.csv", index=False)
    fast = ("--fast", "--models", "linear", "-e", "0.1", "-q")
    run_command("select", place / "train.csv", "-t", "y", "--json", place / "kept.json", *fast)
    return place


def options(folder):
    return ("--train", folder / "train.csv", "--model", "linear")


def test_monitor_goes_on_from_its_state(run, folder, tmp_path):
    state, image, found = (tmp_path / name for name in ("state.json", "plot.png", "found.json"))
    known = (*options(folder), "--state", state)
    first = run("monitor", folder / "kept.json", folder / "new.csv", *known, "--json", found)
    assert first.code == 0, first.err
    assert "600 rows; budget 0.1 still met, known since row" in first.out
    assert json.loads(found.read_text())["verdict"] == "met"
    second = run("monitor", folder / "kept.json", folder / "more.csv", *known, "--plot", image)
    assert "1200 rows; budget 0.1 still met" in second.out
    assert image.stat().st_size > 1000
    again = run("monitor", folder / "kept.json", folder / "more.csv", *known)
    assert again.code == 2
    assert "these 600 rows were counted before (batch 2): pass new ones." in again.err


def test_monitor_writes_all_of_its_files_or_none(run, folder, tmp_path):
    state, found = tmp_path / "state.json", tmp_path / "found.json"
    asked = ("monitor", folder / "kept.json", folder / "new.csv", *options(folder))
    done = run(*asked, "--state", tmp_path / "nowhere" / "state.json")
    assert done.code == 2
    assert "--state" in done.err
    done = run(*asked, "--state", state, "--json", found, "--plot", tmp_path / "plot.docx")
    assert done.code == 2
    assert not state.exists()
    assert not found.exists()


def test_labels_that_cannot_be_read_are_one_line(run, folder, tmp_path):
    given = ("label", folder / "kept.json", folder / "new.csv", *options(folder), "--labels")
    for text in ("", 'row,y\n1,"a\n2,b,c\n'):
        (tmp_path / "labels.csv").write_text(text)
        done = run(*given, tmp_path / "labels.csv")
        assert done.code == 2
        assert "cannot be read as what --output wrote" in done.err
    assert run(*given, tmp_path / "nowhere.csv").code == 2


def test_monitor_tells_that_a_budget_is_broken(run, folder, tmp_path):
    kept = json.loads((folder / "kept.json").read_text())
    assert kept["kept"] == ["a"]
    table = rows(3000, 3, weight=3.0)
    table.to_csv(tmp_path / "train.csv", index=False)
    rows(2000, 4, weight=3.0).to_csv(tmp_path / "new.csv", index=False)
    given = ("--train", tmp_path / "train.csv", "--model", "linear")
    found = run("monitor", folder / "kept.json", tmp_path / "new.csv", *given)
    assert found.code == 3
    assert "broken, known since row" in found.out


def test_labels_are_written_and_read_back(run, folder, tmp_path):
    unknown, to_label, done = (tmp_path / name for name in ("new.csv", "rows.csv", "done.json"))
    truth = pd.read_csv(folder / "new.csv")
    truth.drop(columns="y").to_csv(unknown, index=False)
    given = ("label", folder / "kept.json", unknown, *options(folder))
    written = run(*given, "--output", to_label)
    assert written.code == 0, written.err
    table = pd.read_csv(to_label)
    assert f"{len(table)} of 600 rows need a label; {600 - len(table)} labels saved" in written.out
    assert table["y"].isna().all()
    assert len(table) < 60
    early = run(*given, "--labels", to_label)
    assert early.code == 2
    assert "rows that need a label have none" in early.err
    table.assign(y=truth["y"].to_numpy()[table["row"] - 1]).to_csv(to_label, index=False)
    again = run(*given, "--output", to_label)  # it wrote over a week of labels
    assert (again.code, "may hold labels" in again.err) == (2, True)
    found = run(*given, "--labels", to_label, "--json", done)
    assert found.code == 0
    assert json.loads(done.read_text())["n_labels"] == len(table)
    table[:-1].to_csv(to_label, index=False)
    assert "holds other rows than those to label" in run(*given, "--labels", to_label).err


def test_wrong_use_is_refused(run, folder, tmp_path):
    given = ("label", folder / "kept.json", folder / "new.csv", *options(folder))
    assert "give --output to write the rows" in run(*given).err
    lacking = tmp_path / "lacking.csv"
    rows(50, 5).drop(columns="a").to_csv(lacking, index=False)
    found = run("monitor", folder / "kept.json", lacking, *options(folder))
    assert "lacks the column 'a' of the selection" in found.err


@pytest.mark.parametrize(
    ("written", "separator", "more"),
    [
        ({"yes": "-0", "no": "other"}, ",", ()),
        ({"yes": "01", "no": "other"}, ";", ()),
        ({"yes": "$1,461.57", "no": "$9.00"}, ",", ("--n", "20")),
    ],
)
def test_labels_are_read_as_tables_are(run, tmp_path, written, separator, more):
    train, new = (rows(n, seed).replace({"y": written}) for n, seed in ((300, 0), (200, 1)))
    paths = [tmp_path / name for name in ("train.csv", "new.csv", "kept.json", "rows.csv")]
    train.to_csv(paths[0], index=False)
    new.drop(columns="y").assign(row=7, row_=8).to_csv(paths[1], index=False)
    fast = ("--fast", "--models", "linear", "-e", "0.1", "-q")
    run("select", paths[0], "-t", "y", "--json", paths[2], *fast)
    given = ("label", paths[2], paths[1], "--train", paths[0], "--model", "linear", *more)
    done = run(*given, "--output", paths[3])
    assert done.code == 0, done.err
    table = pd.read_csv(paths[3])
    assert next(iter(table)) == "row__"
    filled = table.assign(y=new["y"].to_numpy()[table["row__"] - 1])
    filled.to_csv(paths[3], index=False, sep=separator)
    done = run(*given, "--labels", paths[3])
    assert (done.code, done.err) == (0, "")
    filled.assign(y="what").to_csv(paths[3], index=False, sep=separator)
    done = run(*given, "--labels", paths[3])
    assert (done.code, "what" in done.err) == (2, True)


def test_what_cannot_be_watched_is_told_in_options(run, folder, tmp_path):
    train, saved = folder / "train.csv", tmp_path / "saved.json"
    of_class = ("select", train, "-t", "y", "-q", "--json", saved)
    of_number = ("select", train, "-t", "c", "--drop", "y", "-q", "--json", saved, "--fast")
    output = ("--output", tmp_path / "rows.csv")
    for made, command, told in (
        ((*of_class, "-d", "backward", "--stop", "features=1"), "monitor", "select with --error-"),
        ((*of_class, "-d", "linear"), "monitor", "--direction auto and --metric one of 'error'"),
        ((*of_number, "--models", "linear"), "label", "labels you can afford with --n."),
    ):
        run(*made)
        more = output if command == "label" else ()
        done = run(command, saved, train, *options(folder), *more)
        assert (done.code, told in done.err) == (2, True), done.err
    state = tmp_path / "state.json"
    for content in (b"\x80\x81", b"{}"):
        state.write_bytes(content)
        given = (folder / "kept.json", folder / "new.csv", *options(folder))
        done = run("monitor", *given, "--state", state)
        assert f"--state {str(state)!r} cannot be read" in done.err


@pytest.mark.parametrize("command", ["monitor", "label"])
def test_training_rows_without_dropped_columns_are_refused(run, folder, tmp_path, command):
    blank = tmp_path / "blank.csv"
    kept = json.loads((folder / "kept.json").read_text())["kept"]
    train = rows(300, 3)
    train[[name for name in "abc" if name not in kept]] = 0.0
    train.to_csv(blank, index=False)
    written = ("--output", tmp_path / "labels.csv") if command == "label" else ()
    done = run(command, folder / "kept.json", folder / "new.csv", "--train", blank, *written)
    assert done.code == 2
    assert "dropped columns are empty or constant in the training rows" in done.err
