"""`pinsker select`: what it prints, what it writes, and its exit codes."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from pinsker.search import SelectionPath

BACKWARD = ("-t", "final grade", "-d", "backward")


def test_the_summary(run, table):
    done = run("select", table, *BACKWARD)
    assert done.code == 0
    assert f"Kept 2 of 4 columns of {table} to predict 'final grade' (120 rows" in done.out
    listed = [line.split() for line in done.out.splitlines()]
    ranks = {row[0]: row[1:] for row in listed if row and row[0].isdigit()}
    assert {ranks["1"][0], ranks["2"][0]} == {"signal", "colour"}
    assert ranks["2"][-1] == "100%"
    for label in ("budget", "error", "certainty", "time"):
        assert any(line.startswith(f"  {label} ") for line in done.out.splitlines())
    assert done.err == ""


def test_the_summary_answers_in_the_order_of_questions(run, table, tmp_path):
    saved = tmp_path / "saved.json"
    done = run("select", table, "-t", "final grade", "-e", "0.3", "--fast", "--json", saved)
    text = done.out
    asked = ["Kept ", "  1 ", "\n  error ", "\n  budget ", "\n  certainty ", "\n  next "]
    assert sorted(asked, key=text.index) == asked
    assert "error rate" in text
    assert "with all features" in text
    assert "with none" in text
    assert (
        text.splitlines()[-1] == f"  next  pinsker certify {saved} FRESH_TABLE (rows not used here)"
    )


def test_the_next_command_leaves_suspects_out(run, frame, tmp_path):
    path = tmp_path / "with id.csv"
    order = frame["signal"].rank().astype(int)
    frame.assign(id=10_000 + order).drop(columns="signal").sort_values("id").to_csv(
        path, index=False
    )
    options = ("-t", "final grade", "--fast", "--fixed", "id")
    done = run("select", path, *options)
    assert sum("'id'" in line for line in done.out.splitlines() if "note:" in line) == 1
    last = done.out.splitlines()[-1]
    assert last.startswith(f"  next  pinsker select '{path}' -t 'final grade' --fast --fixed id")
    assert " --drop id (" in last


def test_the_next_command_has_one_budget(run, frame, tmp_path):
    path = tmp_path / "few.csv"
    frame[:60].to_csv(path, index=False)
    quick = ("--fast", "--confidence", "0.5", "--models", "linear")
    for typed in (["-e", "0.002"], ["--error-budget=0.002"], ["--error-budget", "0.002"]):
        done = run("select", path, "-t", "final grade", *quick, *typed)
        last = done.out.splitlines()[-1]
        assert done.code == 3
        assert "0.002" not in last
        assert re.search(r"--models linear --error-budget 0\.\d+ \(what these rows can", last)


def test_a_confidence_of_a_half_keeps_the_best_guess(run, frame, tmp_path):
    path, saved = tmp_path / "few.csv", tmp_path / "kept.json"
    frame[:50].to_csv(path, index=False)
    typed = ("select", path, "-t", "final grade", "-e", "0.01", "--fast", "--models", "linear")
    sure = run(*typed)
    assert (sure.code, "Kept 4 of 4 columns" in sure.out) == (0, True)
    guess = run(*typed, "--confidence", "0.5", "--json", saved)
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["parameters"]["confidence"] == 0.5
    assert (guess.code, content["kept"]) == (3, ["signal", "colour"])
    assert "inconclusive" in guess.out
    done = run("select", path, "-t", "final grade", "-d", "backward", "--confidence", "0.5")
    assert done.code == 2
    assert "--confidence has no effect with --direction backward" in done.err


def test_long_names_are_cut_in_the_list_alone(run, frame, tmp_path):
    path, names = tmp_path / "long.csv", tmp_path / "names.txt"
    long = 670 * "x"
    frame.rename(columns={"signal": long}).to_csv(path, index=False)
    done = run("select", path, "-t", "final grade", "--fast", "--features", names)
    assert f"{80 * 'x'}..." in done.out
    assert long not in done.out
    assert long in names.read_text().splitlines()


def test_quiet_prints_nothing(run, table):
    done = run("select", table, *BACKWARD, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_files_hold_what_was_kept(run, table, frame, tmp_path):
    names = [tmp_path / name for name in ("small.csv", "names.txt", "selection.json")]
    options = zip(("--output", "--features", "--json"), names, strict=True)
    run("select", table, *BACKWARD, *(item for pair in options for item in pair))
    kept = ["signal", "colour", "final grade"]
    pd.testing.assert_frame_equal(pd.read_csv(names[0]), frame[kept], check_dtype=False)
    assert names[1].read_text() == "signal\ncolour\n"
    content = json.loads(names[2].read_text())
    assert content["kept"] == ["signal", "colour"]
    assert content["certificate"]["n_kept"] == 2
    assert SelectionPath.from_json(json.dumps(content["path"])).n_features == 4


def test_the_report(run, table, tmp_path):
    path = tmp_path / "report.html"
    done = run("select", table, *BACKWARD, "--report", path)
    assert done.code == 0
    page = path.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "signal" in page
    # Which table, which target, and the command that was run.
    assert "final grade" in page
    assert "table.csv" in page
    assert "120 rows, 4 features, measured by error rate" in page
    assert "pinsker select" in page
    assert "--report" in page
    assert "selector.fit(X, y)" not in page


def test_a_report_without_its_extra_is_refused_before_the_search(run, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = run("select", table, *BACKWARD, "--report", "report.html")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(
        "pinsker: --report needs jinja2, which is not installed. Try: pip install "
    )
    assert done.err.endswith('[report]"\n')


def test_standard_output_stays_clean(run, table):
    done = run("select", table, *BACKWARD, "--output", "-")
    assert done.out.splitlines()[0] == "signal,colour,final grade"
    assert len(done.out.splitlines()) == 121
    assert "Kept 2 of 4 columns" in done.err


@pytest.mark.parametrize("direction", ["auto", "forward", "linear", "forward-backward"])
def test_directions(run, table, direction):
    done = run("select", table, "-t", "final grade", "-d", direction, "--features", "-")
    assert "signal" in done.out.split()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--stop", "features=1"], "signal"),
        (["--stop", "features=3", "--fixed", "noise 1"], "noise 1|signal|colour"),
        (["--drop", "colour", "--stop", "features=1"], "signal"),
        (
            ["--feature-groups", "noise=noise*", "--fixed", "noise", "--stop", "features=1"],
            "noise 1|noise 2",
        ),
        (["--kind", "colour=nominal", "--stop", "score=0.05"], "signal|colour"),
        (["--metric", "log-loss", "-e", "0.01"], "signal|colour"),
        (["--n-neighbors", "5", "--stop", "features=1"], "signal"),
    ],
)
def test_options_reach_the_selector(run, table, options, kept):
    done = run("select", table, *BACKWARD, *options, "--features", "-")
    assert done.out.splitlines() == kept.split("|")
    assert done.code == 0


def test_searches_and_models_reach_the_selector(run, table, tmp_path):
    path = tmp_path / "report.html"
    options = ("--searches", "forward-backward,linear", "--models", "linear", "--cv", "3")
    done = run("select", table, "-t", "final grade", "-e", "0.1", *options, "--report", path)
    assert done.code == 0
    assert "120 rows, 3-fold cross-fitting; bounds for" in done.out
    page = path.read_text(encoding="utf-8")
    assert "linear, held out" in page
    assert "held out: backward" not in page


def test_missing_values(run, frame, tmp_path):
    holes = frame.copy()
    holes.loc[3, "signal"] = None
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    done = run("select", path, *BACKWARD)
    assert done.code == 0
    assert "note: missing values count as a value of their own: 'signal' (below 1 %)" in done.out
    done = run("select", path, *BACKWARD, "--missing", "error")
    assert done.code == 2
    assert "column 'signal' has missing values in 1 of 120 rows" in done.err
    assert "Use --missing drop, --missing category, or fill them in." in done.err
    done = run("select", path, *BACKWARD, "--missing", "drop")
    assert done.code == 0
    assert "note: --missing drop left out 1 of 120 rows" in done.out


def test_a_number_as_target(run, frame, tmp_path):
    path = tmp_path / "numbers.csv"
    frame.assign(y=frame["signal"] * 2 + frame["noise 1"] / 9).to_csv(path, index=False)
    done = run("select", path, "-t", "y", "-d", "linear", "--features", "-")
    assert done.out == "signal\n"
    assert "a number)" in done.err
    assert "at most" in done.err


def test_warnings_become_notes(run, frame, tmp_path):
    path = tmp_path / "single.csv"
    frame.assign(y=["rare", *frame["final grade"][1:]]).to_csv(path, index=False)
    done = run("select", path, "-t", "y", "-d", "backward", "--stop", "features=2")
    assert "  note: class 'rare' has a single row" in done.out
    assert done.err == ""


def test_markup_in_names_is_shown_as_it_is(run, frame, tmp_path):
    path = tmp_path / "markup.csv"
    frame.rename(columns={"signal": "[bold]signal[/x]"}).to_csv(path, index=False)
    assert "[bold]signal[/x]" in run("select", path, *BACKWARD).out


def test_the_seed_is_zero_unless_given(run, table, tmp_path):
    """A command that is repeated says the same."""
    texts = []
    for options in ((), (), ("--seed", "0"), ("--seed", "1")):
        path = tmp_path / "selection.json"
        cut = ("--searches", "forward", "--models", "linear", "--cv", "3", *options)
        run("select", table, "-t", "final grade", *cut, "--json", path, "--quiet")
        content = json.loads(path.read_text())
        content.pop("seconds")
        content.pop("summary")  # names the command
        texts.append(content)
    assert texts[0] == texts[1] == texts[2]
    assert texts[0]["parameters"]["random_state"] == 0
    assert texts[3]["seed"] != texts[0]["seed"]


def test_the_metric_says_how_the_target_is_read(run, frame, tmp_path):
    path = tmp_path / "counts.csv"
    frame.assign(y=(2 * frame["signal"]).round().astype(int)).to_csv(path, index=False)
    classes = run("select", path, "-t", "y", "-d", "backward")
    assert "classes)" in classes.out
    assert "pass --metric r2 if that is wrong" in classes.out
    numbers = run("select", path, "-t", "y", "-d", "backward", "--metric", "r2")
    assert "a number)" in numbers.out
    assert "0.05 (R²) met by the search's own estimate, not tested" in numbers.out
    assert "a number from" in run("inspect", path, "-t", "y", "--metric", "mse").out


@pytest.mark.parametrize(
    ("metric", "budget", "name"),
    [("mse", "0.3", "mean squared error"), ("r2", "0.1", "R²")],
)
def test_linear_selections_know_the_squared_error(run, frame, tmp_path, metric, budget, name):
    path = tmp_path / "numbers.csv"
    frame.assign(y=frame["signal"] * 2 + frame["noise 1"] / 9).to_csv(path, index=False)
    options = ("-d", "linear", "--metric", metric, "-e", budget)
    done = run("select", path, "-t", "y", *options)
    assert done.code == 0
    assert "Kept 1 of 5 columns" in done.out
    assert f"{budget} ({name}) met by the search's own estimate, not tested" in done.out


@pytest.mark.parametrize("direction", ["auto", "backward", "forward-backward"])
def test_without_a_gpu_the_error_is_one_line(run, table, monkeypatch, direction):
    monkeypatch.setattr("pinsker.engine.backends.cuda._device.find_spec", lambda name: None)
    done = run("select", table, "-t", "final grade", "-d", direction, "--engine", "cuda")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("pinsker: --engine cuda cannot be used: CuPy is not installed; pip")
    assert done.err.endswith("or use --engine local.\n")


def test_a_gpu_that_is_not_there_is_refused_where_no_search_needs_it(run, table, monkeypatch):
    """Linear searches passed --engine cuda over in silence."""
    monkeypatch.setattr("pinsker.engine.backends.cuda._device.find_spec", lambda name: None)
    done = run(
        "select", table, "-t", "final grade", "--searches", "linear", "--models", "linear",
        "--engine", "cuda",
    )  # fmt: skip
    assert done.code == 2
    assert "--engine cuda cannot be used: CuPy is not installed" in done.err


def test_a_scheduler_that_does_not_answer(run, table, monkeypatch):
    pytest.importorskip("distributed", reason="needs pinsker[dask]")
    monkeypatch.setattr("pinsker.cli._fitting._SECONDS_TO_CONNECT", 0.1)
    done = run("select", table, *BACKWARD, "--scheduler", "tcp://127.0.0.1:1")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "--scheduler 'tcp://127.0.0.1:1': no Dask scheduler answers there (" in done.err
    assert "Start one with dask scheduler, or leave the option out." in done.err


def test_a_scorer_of_scikit_learn_is_a_metric(run, table, tmp_path):
    file = tmp_path / "selection.json"
    options = ("--metric", "balanced_accuracy", "-e", "0.2", "--models", "linear", "--cv", "3")
    done = run("select", table, "-t", "final grade", *options, "--json", file)
    assert done.code in (0, 3)
    certificate = json.loads(file.read_text())["certificate"]
    assert certificate["metric"] == "balanced_accuracy"
    wrong = run("select", table, "-t", "final grade", "--metric", "roc_acu")
    assert wrong.code == 2
    assert "'roc_auc'" in wrong.err
    refused = run("select", table, *BACKWARD, "--metric", "roc_auc")
    assert refused.code == 2
    assert "held-out rows alone" in refused.err


def test_notes_to_be_careful_about_come_first(run, frame, tmp_path):
    table = frame.assign(
        day=pd.date_range("2012-01-01", periods=len(frame)).strftime("%Y-%m-%d"),
        exam=frame["final grade"].map({"pass": 1, "fail": 2}),
    )
    table.loc[:9, "noise 1"] = np.nan
    table.to_csv(tmp_path / "dated.csv", index=False)
    quick = ("--fast", "--models", "linear")
    done = run("select", tmp_path / "dated.csv", "-t", "final grade", *quick)
    notes = [line[8:] for line in done.out.splitlines() if line.startswith("  note: ")]
    assert notes[0].startswith("column 'exam' is suspect (")
    assert any(str(note).startswith("missing values count as a value") for note in notes[1:])
    assert any("read as seconds since" in note for note in notes[1:])


def test_what_each_feature_is_worth_is_listed_and_information_never_falls(run, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 8))).add_prefix("x")
    X["y"] = X @ np.linspace(1.0, 0.3, 8) + 0.3 * rng.normal(size=300)
    X.to_csv(tmp_path / "sum.csv", index=False)
    quick = ("--searches", "forward", "--models", "linear", "-e", "0.02")
    done = run("select", tmp_path / "sum.csv", "-t", "y", *quick)
    lines = done.out.splitlines()
    assert lines[2].rstrip().endswith("  without it R² falls by")
    listed = [re.match(r"  \d +(x\d) +(\d+)% +(\S+) \((\S+) to (\S+)\)", s) for s in lines[3:]]
    listed = [one for one in listed if one]
    assert len(listed) >= 6
    information = [int(one[2]) for one in listed]
    assert information == sorted(information)
    assert all(float(one[4]) <= float(one[3]) <= float(one[5]) for one in listed)
    assert float(listed[0][3]) > 0.1
