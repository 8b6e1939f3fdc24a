"""A miniature of every part, through the command; runs are stored and not repeated."""

import csv

import pytest
from typer.testing import CliRunner

import reproduce
from pinsker.cli import _command_reproduce
from pinsker.cli._app import app
from pinsker.datasets import load_glass
from pinsker.exceptions import PinskerError
from reproduce import figure2, running
from reproduce.settings import Check, Settings, Task


def run(*arguments):
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


#: What the Markdown of each part must show side by side.
COLUMNS = {
    "figure1": ("published", "as published", "as printed", "default"),
    "figure2": ("published", "as published", "as printed", "pinsker's default"),
    "figure3": ("published", "as published", "as printed", "pinsker's default"),
    "table1": ("published", "as published", "as printed", "pinsker's default"),
    "example1": ("Published", "as printed", "default"),
    "theorems": ("as printed", "sharp", "E28"),
}


def test_the_command_knows_every_part():
    listed = [part.value for part in _command_reproduce.Part]
    assert listed == [*reproduce.PARTS, "all"]
    assert set(COLUMNS) == set(reproduce.PARTS)


@pytest.mark.parametrize("part", reproduce.PARTS)
def test_a_miniature(part, tmp_path):
    if part == "table1":
        try:
            load_glass(download=False)
        except PinskerError as error:
            pytest.skip(f"glass is not at hand: {error}")
    done = run(part, "--quick", "--jobs", 1, "--output", tmp_path)
    assert done.exit_code == 0, done.stderr
    assert "not checked" in done.stdout  # a miniature proves nothing
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
    settings = Settings(tmp_path / "out", jobs=1, watch=lambda *told: seen.append(told))
    tasks = [Task(name, count, (name, tmp_path)) for name in ("a", "b")]
    first = running.run_tasks("part", tasks, settings)
    assert first == {"a": [{"value": 1.0}], "b": [{"value": 1.0}]}
    assert seen == [("part", 0, 2), ("part", 1, 2), ("part", 2, 2)]
    (tmp_path / "out" / "runs" / "part" / "b.json").unlink()  # as if it had been interrupted
    assert running.run_tasks("part", tasks, settings) == first
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


def test_processes_give_the_same_rows(tmp_path):
    tasks = [Task(f"p{number}", figure2.published_rows) for number in range(3)]
    alone = running.run_tasks("part", tasks, Settings(tmp_path / "one", jobs=1))
    assert running.run_tasks("part", tasks, Settings(tmp_path / "two", jobs=2)) == alone


def test_a_miss_is_said_and_told_by_the_code(tmp_path, monkeypatch):
    monkeypatch.setattr(
        reproduce, "reproduce", lambda *_: [Check("figure9: up", "down", False)], raising=True
    )
    done = run("example1", "--output", tmp_path)
    assert done.exit_code == 3
    assert "MISS         figure9: up: down" in done.stdout
    assert "**miss**" in running.summary_page([Check("up", "down", False)])


def test_without_a_clone_one_line_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("pinsker.__file__", str(tmp_path / "site-packages/pinsker/__init__.py"))
    monkeypatch.chdir(tmp_path)
    done = run("figure1")
    assert done.exit_code == 2
    assert done.stderr.startswith("pinsker: the experiments are not part of the installed package")
    assert "clone the repository" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_part_is_named():
    done = run("figure7")
    assert done.exit_code == 2
    assert "'figure7' is not one of" in done.stderr
