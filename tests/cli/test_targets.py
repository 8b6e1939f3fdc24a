"""Several targets, and censored times, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

QUICK = ("--searches", "linear", "--models", "linear", "-e", "0.1")


@pytest.fixture
def table(tmp_path):
    """Two numbers, two labels, and a censored time, that the columns a and b are about."""
    rng = np.random.default_rng(0)
    n = 240
    a, b, c, d, *noise = rng.normal(size=(7, n))
    time, until = rng.exponential(np.exp(-1.5 * a)), rng.exponential(2.0, size=n)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d})
    frame["price"], frame["rent"] = 1e5 * (a + 0.3 * noise[0]), b + 0.3 * noise[1]
    frame["red"], frame["blue"] = (a + 0.3 * noise[2] > 0) * 1, (b > 0.5) * 1
    frame["days"], frame["died"] = np.minimum(time, until), time <= until
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def only(targets):
    """Return the option that leaves out the other targets."""
    others = {"price", "rent", "red", "blue", "days", "died"} - set(targets)
    return ("--drop", ",".join(sorted(others)))


@pytest.mark.parametrize(
    "typed", [("--target", "price", "--target", "rent"), ("--target", "price,rent")]
)
def test_several_numbers(run, table, typed):
    saved = table.with_suffix(".json")
    done = run("select", table, *typed, *only(["price", "rent"]), *QUICK, "--json", saved)
    assert done.code == 0, done.err
    assert "2 targets of numbers" in done.out
    content = json.loads(saved.read_text())
    assert content["target"] == ["price", "rent"]
    assert sorted(content["kept"]) == ["a", "b"]


def test_the_worst_of_several_labels_is_saved_certified_and_audited(run, table, tmp_path):
    saved, kept = table.with_suffix(".json"), tmp_path / "kept.csv"
    options = ("--metric", "worst error", "--json", saved, "--output", kept)
    done = run("select", table, "-t", "red,blue", *only(["red", "blue"]), *QUICK, *options)
    assert done.code == 0, done.err
    assert "error rate of the worst target" in done.out
    assert list(pd.read_csv(kept).columns) == ["a", "b", "red", "blue"]
    fresh = tmp_path / "fresh.csv"
    frame = pd.read_csv(table)
    (frame + np.random.default_rng(1).normal(size=frame.shape) * 1e-3).assign(
        red=frame["red"], blue=frame["blue"]
    ).to_csv(fresh, index=False)
    done = run("certify", saved, fresh)
    assert done.code in (0, 3), done.err
    done = run("audit", saved, fresh, "--model", "linear", "--json", tmp_path / "audit.json")
    assert done.code in (0, 3), done.err
    assert json.loads((tmp_path / "audit.json").read_text())["metric"] == "worst error"


def test_inspect(run, table):
    done = run("inspect", table, "-t", "red,blue", *only(["red", "blue"]), "-d", "linear")
    assert "2 targets of classes" in done.out
    done = run("inspect", table, "-t", "days", "--event", "died", *only(["days", "died"]), "-d",
               "linear")  # fmt: skip
    assert "a time up to" in done.out
    assert "events in 240 rows" in done.out


def test_refusals(run, table):
    done = run("select", table, "-t", "price,rent", "--event", "died")
    assert "--event goes with one time" in done.err
    done = run("select", table, "-t", "days", "--event", "a")
    assert "write 1 or true where the event was seen" in done.err
    done = run("select", table, "-t", "price,rent", "--drop", "rent")
    assert "--drop names the target 'rent'" in done.err


def test_censored_times(run, table, tmp_path):
    pytest.importorskip("sksurv")
    saved = tmp_path / "saved.json"
    quick = ("--searches", "linear", "--models", "cox", "-e", "0.05", "--json", saved)
    done = run("select", table, "-t", "days", "--event", "died", *only(["days", "died"]), *quick)
    assert done.code == 0, done.err
    content = json.loads(saved.read_text())
    assert (content["kept"], content["task"]) == (["a"], "survival")
    fresh = tmp_path / "fresh.csv"
    frame = pd.read_csv(table)
    frame.assign(days=frame["days"] * 1.001).to_csv(fresh, index=False)
    assert run("certify", saved, fresh).code in (0, 3)
    done = run("audit", saved, fresh, "--model", "linear")
    assert "concordance" in done.out
    assert "linear or forest" in run("audit", saved, fresh, "--model", "svm").err


def test_a_target_of_numbers_but_for_a_word_is_refused_with_the_option_that_helps(run, tmp_path):
    # "has 1860 different values" did not say which value kept it from being a number.
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    table["price"] = [f"${value:,.2f}" for value in 1000 * rng.random(60)]
    table.loc[::20, "price"] = "unknown"
    table.to_csv(tmp_path / "table.csv", index=False)
    asked = ("select", tmp_path / "table.csv", "-t", "price", "--searches", "linear")
    refused = run(*asked)
    assert (refused.code, "use --na unknown" in refused.err.replace("'", "")) == (2, True)
    assert "because of 'unknown' in 3 of 60 values" in refused.err
    done = run(*asked, "--models", "linear", "--na", "unknown")
    assert (done.code in (0, 3), done.err) == (True, "")
