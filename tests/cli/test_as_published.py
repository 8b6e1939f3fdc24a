"""The paper to the letter, from the command line."""

import json

import pytest

from pinsker import BackwardElimination, ForwardSelection


@pytest.mark.parametrize("way", ["backward", "forward"])
def test_one_line_is_the_paper(run, table, frame, tmp_path, way):
    path = tmp_path / "found.json"
    done = run("select", table, "-t", "final grade", "--as-published", way, "--error-budget", "0.5",
               "--json", path)  # fmt: skip
    assert done.code == (0 if way == "backward" else 3), done.err  # 3: its bound is above 0.5
    theorem = "Theorem 4" if way == "backward" else "Theorem 5"
    assert f"{theorem} of the paper" in done.out
    kind = BackwardElimination if way == "backward" else ForwardSelection
    X = frame.drop(columns="final grade")
    selector = kind.as_published(0.5).fit(X, frame["final grade"])
    names = [name for name, kept in zip(X.columns, selector.support_, strict=True) if kept]
    saved = json.loads(path.read_text())
    assert sorted(saved["certificate"]["features"]) == sorted(names)
    assert saved["parameters"]["error_budget"]["constants"] == "paper"


@pytest.mark.parametrize(
    "more", [("--cv", "5"), ("--stop", "features=2"), ("-d", "linear"), ("-d", "forward")]
)
def test_what_the_paper_has_not_is_refused(run, table, more):
    done = run("select", table, "-t", "final grade", "--as-published", "backward", *more)
    assert done.code == 2
    assert "leave --direction, --stop and --cv out" in done.err
