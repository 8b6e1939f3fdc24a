"""A miniature of every part, through the command; runs are stored and not repeated."""

import csv
import subprocess
import sys

import pytest

from experiments import reproduce
from experiments.paper_data import load_glass
from experiments.reproduce import figure2, running
from experiments.reproduce.__main__ import main
from experiments.reproduce.results import DEFAULT, Check, Settings, Task
from pinsker.exceptions import PinskerError


def run(*arguments):
    """Run the command in this process and return its exit code."""
    return main([str(argument) for argument in arguments])


#: What the Markdown of each part must show side by side.
COLUMNS = {
    "figure1": ("published", "released code", "as printed", "default"),
    "figure2": ("published", "released code", "as printed", "to the letter", "default"),
    "regression": ("published", "released code", "as printed", "to the letter", "R²"),
    "figure3": ("published", "released code", "as printed", "pinsker's default"),
    "table1": ("published", "released code", "as printed", "default", "protocol found"),
    "example1": ("Published", "as printed", "default"),
    "theorems": ("as printed", "sharp", "E33"),
}


def test_every_part_is_looked_at():
    assert set(COLUMNS) == set(reproduce.PARTS)


#: Parts that always run: one figure and what has none; the others go through the same lines.
QUICKEST = {"figure2", "example1", "theorems"}


@pytest.mark.parametrize(
    "part",
    [pytest.param(p, marks=[] if p in QUICKEST else pytest.mark.slow) for p in reproduce.PARTS],
)
def test_a_miniature(part, tmp_path, capsys):
    if part == "table1":
        try:
            load_glass(download=False)
        except PinskerError as error:
            pytest.skip(f"glass is not at hand: {error}")
    assert run(part, "--quick", "--jobs", 1, "--output", tmp_path) == 0
    assert "not checked" in capsys.readouterr().out  # a miniature proves nothing
    with (tmp_path / part / f"{part}.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) >= 9
    page = (tmp_path / part / f"{part}.md").read_text(encoding="utf-8")
    assert [words for words in COLUMNS[part] if words not in page] == []
    assert (tmp_path / part / f"{part}.png").stat().st_size > 10_000
    assert part in (tmp_path / "summary.md").read_text(encoding="utf-8")


def count(name, folder):
    with (folder / f"{name}.ran").open("a") as file:
        file.write("x")
    return [{"value": 1.0}]


def test_runs_are_stored_and_gone_on_with(tmp_path):
    seen = []
    settings = Settings(tmp_path / "out", jobs=1, on_run=lambda *progress: seen.append(progress))
    tasks = [Task(name, count, (name, tmp_path)) for name in ("a", "b")]
    first, seconds = running.run_tasks("part", tasks, settings)
    assert seconds >= 0.0
    assert first == {"a": [{"value": 1.0}], "b": [{"value": 1.0}]}
    assert seen == [("part", 0, 2), ("part", 1, 2), ("part", 2, 2)]
    (tmp_path / "out" / "runs" / "part" / "b.json").unlink()  # as if it had been interrupted
    assert running.run_tasks("part", tasks, settings)[0] == first
    assert (tmp_path / "a.ran").read_text() == "x"
    assert (tmp_path / "b.ran").read_text() == "xx"


def test_a_stored_run_of_other_settings_is_not_used(tmp_path):
    settings = Settings(tmp_path / "out", jobs=1)
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        running.run_tasks("part", [Task("a", count, ("a", folder))], settings)
    assert (tmp_path / "other" / "a.ran").read_text() == "x"


def test_a_stored_run_of_other_code_is_not_used(tmp_path, monkeypatch):
    settings, tasks = Settings(tmp_path / "out", jobs=1), [Task("a", count, ("a", tmp_path))]
    running.run_tasks("part", tasks, settings)
    monkeypatch.setattr(running, "_code", lambda: "another")
    running.run_tasks("part", tasks, settings)
    assert (tmp_path / "a.ran").read_text() == "xx"


@pytest.mark.slow
def test_processes_give_the_same_rows(tmp_path):
    tasks = [Task(f"p{number}", figure2.published_rows) for number in range(3)]
    alone = running.run_tasks("part", tasks, Settings(tmp_path / "one", jobs=1))[0]
    assert running.run_tasks("part", tasks, Settings(tmp_path / "two", jobs=2))[0] == alone


def test_tasks_of_one_group_run_alone(tmp_path):
    tasks = [Task("a", count, ("a", tmp_path)), Task("b", count, ("b", tmp_path), DEFAULT)]
    found, _ = running.run_tasks("part", tasks, Settings(tmp_path / "out", jobs=1, only=DEFAULT))
    assert list(found) == ["b"]


def test_a_miss_is_a_result_and_no_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(running, "reproduce", lambda *_: [Check("figure9: up", "down", False)])
    assert run("example1", "--output", tmp_path) == 0
    out = capsys.readouterr().out
    assert "MISS         figure9: up: down" in out
    assert "1 of 1 claims missed" in out
    assert "**miss**" in running.summary_page([Check("up", "down", False)])


def test_an_error_is_one_line(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise PinskerError("there is no table.")

    monkeypatch.setattr(running, "reproduce", fail)
    assert run("example1", "--output", tmp_path) == 2
    assert capsys.readouterr().err == "reproduce: there is no table.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure7"], "invalid choice: 'figure7'"),
        (["figure1", "--jobs", "0"], "0 is below 1"),
        (["figure1", "--seed", "x"], "invalid integer value: 'x'"),
        ([], "the following arguments are required: parts"),
    ],
)
def test_bad_arguments_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert message in capsys.readouterr().err


@pytest.mark.slow  # a process of its own, for its imports alone
def test_as_a_module_from_the_clone(pytestconfig):
    command = [sys.executable, "-m", "experiments.reproduce", "--help"]
    done = subprocess.run(command, cwd=pytestconfig.rootpath, capture_output=True, text=True)
    assert done.returncode == 0
    assert "figure1,figure2,regression,figure3,table1,example1,theorems,all" in done.stdout
