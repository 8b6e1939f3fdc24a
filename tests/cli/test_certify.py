"""`pinsker certify` and `pinsker audit` on a saved selection, and exit codes of a budget."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

#: Exit code of a budget that is not met, or of rows that do not tell.
NOT_MET = 3

#: Rows enough that a budget of 0.1 is resolved: the upper bound of no change at all is about 0.005.
N_FRESH = 300


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Rows of the same distribution as `frame`, others than those; columns in another order."""
    rng = np.random.default_rng(7)
    signal, colour = rng.normal(size=N_FRESH), rng.choice(["red", "green"], N_FRESH)
    table = pd.DataFrame(
        {
            "final grade": np.where(signal + (colour == "red") > 0.5, "pass", "fail"),
            "signal": signal,
            "colour": colour,
            "noise 2": rng.normal(size=N_FRESH),
            "noise 1": rng.normal(size=N_FRESH),
        }
    )
    path = tmp_path_factory.mktemp("certify") / "fresh.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def poor(run, table, tmp_path):
    """A selection that has lost the column that matters."""
    path = tmp_path / "poor.json"
    run("select", table, "-t", "final grade", "-d", "backward", "-e", "0.1", "--json", path)
    content = json.loads(path.read_text())
    content["kept"] = ["noise 1"]
    content["path"]["moves"] = [1, 2, 3, 0]
    path.write_text(json.dumps(content))
    return path


def test_certify_a_sound_selection(run, selection, fresh, tmp_path):
    out = tmp_path / "certificate.json"
    done = run("certify", selection, fresh, "--json", out)
    assert done.code == 0
    assert done.out.startswith("2 of 4 features: signal, colour\n")
    assert "larger set" not in done.out
    assert " 0.05 (error rate) met\n" in done.out
    assert "; certificate: 300 rows, fresh rows\n" in done.out
    certificate = json.loads(out.read_text())
    assert certificate["verdict"] == "met"
    assert certificate["saved_set_passed"]


def test_certify_a_poor_selection(run, poor, fresh):
    done = run("certify", poor, fresh, "--json", "-", "--jobs", "1")
    assert done.code == NOT_MET
    certificate = json.loads(done.out)
    assert certificate["verdict"] == "not met"
    assert certificate["increase_lower"] > 0.1
    assert "0.1 (error rate) not met (error rate rises by" in done.err


def test_certify_exits_with_zero_only_for_the_saved_set(run, selection, fresh):
    """A larger set may pass where the saved one does not: ``certify && deploy`` must not deploy."""
    content = json.loads(selection.read_text())
    content["kept"] = ["signal"]  # colour matters too
    assert content["path"]["moves"][-2:] == [2, 1]
    selection.write_text(json.dumps(content))
    done = run("certify", selection, fresh)
    assert done.code == NOT_MET
    assert done.out.splitlines()[:2] == [
        "1 of 4 features: signal",
        (
            "These are not certified. A larger set is certified, 2 of 4 features: signal, colour "
            "(error rate rises by 0.0000; 99 % upper confidence bound: error rate rises by 0.0500)"
        ),
    ]
    assert "0.05 (error rate) not met" in done.out
    certificate = json.loads(run("certify", selection, fresh, "--json", "-", "-q").out)
    assert certificate["verdict"] == "not met"
    assert certificate["features"] == certificate["saved_features"] == ["signal"]
    assert certificate["passed"]["verdict"] == "met"
    assert certificate["passed"]["features"] == ["signal", "colour"]
    assert not certificate["saved_set_passed"]


def test_certify_changes_nothing(run, selection, fresh):
    before = selection.read_bytes()
    assert run("certify", selection, fresh, "-q").code == 0
    assert selection.read_bytes() == before


def test_certify_needs_a_budget(run, table, fresh, tmp_path):
    path = tmp_path / "count.json"
    stop = ("--stop", "features=2", "--json", path, "-q")
    run("select", table, "-t", "final grade", "-d", "backward", *stop)
    done = run("certify", path, fresh)
    assert done.code == 2
    assert "by FeatureCount(k=2) has no error budget to test: select with --error-budget" in (
        done.err
    )


def test_audit_a_linear_search_of_classes(run, table, fresh, tmp_path):
    """Its budget is one of R², which classifiers have not: no audit was possible."""
    path = tmp_path / "linear.json"
    run("select", table, "-t", "final grade", "-d", "linear", "--json", path, "-q")
    done = run("audit", path, fresh, "--model", "linear")
    assert done.code == 0
    assert "budget     none" in done.out
    assert "the budget is in R²: error rates cannot be held against it" in done.out


def test_audit_in_the_metric_of_the_budget(run, table, fresh, tmp_path):
    path = tmp_path / "brier.json"
    options = ("-d", "backward", "--metric", "brier", "-e", "0.1", "--json", path, "-q")
    run("select", table, "-t", "final grade", *options)
    done = run("audit", path, fresh, "--model", "linear")
    assert done.code == 3  # met, but few of the 300 rows decide: an estimate, as of certify
    assert "0.1 (Brier score) met" in done.out
    assert "few rows decide" in done.out
    assert (
        json.loads(run("audit", path, fresh, "--model", "linear", "--json", "-", "-q").out)[
            "metric"
        ]
        == "brier"
    )


def test_a_selection_with_held_out_rows_is_certified(run, table, fresh, tmp_path):
    path = tmp_path / "auto.json"
    options = ("--searches", "forward-backward", "--models", "linear", "--json", path, "-q")
    assert run("select", table, "-t", "final grade", "-e", "0.1", *options).code == 0
    assert run("certify", path, fresh).code == 0


@pytest.mark.parametrize("model", ["svm", "linear"])
def test_audit_a_sound_selection(run, selection, fresh, model):
    done = run("audit", selection, fresh, "--model", model)
    assert done.code == 0
    assert done.out.startswith(f"{model} on 300 rows\n")
    assert "with all 4 columns" in done.out


@pytest.mark.parametrize("target", ["final grade", "noise 1"])
@pytest.mark.parametrize("model", ["forest", "boosting", "svm", "linear"])
def test_models_take_columns_of_every_kind(run, frame, tmp_path, model, target):
    table, saved = tmp_path / "gaps.csv", tmp_path / "selection.json"
    gaps = frame.head(60).copy()
    gaps.loc[:3, ["signal", "colour"]] = None
    gaps.to_csv(table, index=False)
    options = ("-d", "backward", "--missing", "category", "-e", "1", "--json", saved, "-q")
    assert run("select", table, "-t", target, *options).code == 0
    with threadpool_limits(1):  # threads that wait for each other cost minutes on a busy machine
        done = run("audit", saved, table, "--model", model)
    assert done.out.startswith(f"{model} on 60 rows\n")


def test_audit_a_poor_selection(run, poor, fresh):
    done = run("audit", poor, fresh, "--model", "svm", "--quiet")
    assert (done.code, done.out) == (NOT_MET, "")


def test_audit_numbers_with_gaps(run, frame, tmp_path):
    table, saved = tmp_path / "numbers.csv", tmp_path / "selection.json"
    numbers = frame.assign(y=frame["signal"] + 0.1 * frame["noise 1"])
    numbers.loc[::9, ["noise 2", "colour"]] = None
    numbers.to_csv(table, index=False)
    options = ("-t", "y", "-d", "forward", "--missing", "category", "--json", saved)
    run("select", table, *options)
    done = run("audit", saved, table, "--model", "linear")
    assert done.code == NOT_MET  # the rows of the fit
    assert "0.05 (R²) met" in done.out
    assert "R² 0.9997 with all 5 columns" in done.out  # 0.1 printed one minus R²


def test_rows_without_a_target_are_left_out_of_an_audit(run, selection, frame, tmp_path):
    path = tmp_path / "gaps.csv"
    gaps = frame.copy()
    gaps.loc[:2, "final grade"] = None
    gaps.to_csv(path, index=False)
    done = run("audit", selection, path, "--model", "linear")
    assert "linear on 117 rows" in done.out
    assert "note: 3 of 120 rows have no target and were left out" in done.out
    gaps.assign(**{"final grade": None}).to_csv(path, index=False)
    done = run("audit", selection, path)
    assert done.code == 2
    assert "the target 'final grade' has no value in any row." in done.err


def test_a_table_that_lacks_columns(run, selection, frame, tmp_path):
    path = tmp_path / "narrow.csv"
    frame.drop(columns=["signal", "noise 1"]).to_csv(path, index=False)
    done = run("certify", selection, path)
    assert done.code == 2
    assert "lacks the column 'noise 1' and 1 more, which" in done.err


def test_linear_selections_have_no_certificate(run, table, fresh, tmp_path):
    path = tmp_path / "linear.json"
    run("select", table, "-t", "final grade", "-d", "linear", "--json", path)
    done = run("certify", path, fresh)
    assert done.code == 2
    assert "a selection by LinearSelection cannot be certified: select with" in done.err


def test_a_selection_of_another_version(run, selection, fresh):
    content = json.loads(selection.read_text())
    del content["feature_columns"]
    selection.write_text(json.dumps(content))
    done = run("audit", selection, fresh)
    assert done.code == 2
    assert "is not a saved selection that this version of pinsker can read" in done.err
    assert "(it lacks 'feature_columns')" in done.err
    content["schema"] = 0
    selection.write_text(json.dumps(content))
    assert "is not a saved selection" in run("audit", selection, fresh).err


def test_a_budget_that_so_few_rows_cannot_show(run, frame, tmp_path):
    few = tmp_path / "few.csv"
    frame.head(40).to_csv(few, index=False)
    fast = ("--fast", "--models", "linear")
    done = run("select", few, "-t", "final grade", "-e", "0.001", *fast)
    assert done.code == 0  # what is not left out is not lost
    assert "Kept 4 of 4 columns" in done.out
    assert "0.001 (error rate) nothing dropped: no smaller set is shown" in done.out
    assert "all are kept" in done.out
    frame.head(60).to_csv(few, index=False)
    done = run("select", few, "-t", "final grade", "-e", "0.02")
    assert done.code == NOT_MET
    assert "Kept 2 of 4 columns" in done.out
    assert (
        "  budget     0.02 (error rate) inconclusive: these rows could show a budget of" in done.out
    )


def test_without_a_budget_there_is_none_to_meet(run, table):
    done = run("select", table, "-t", "final grade", "--stop", "features=1")
    assert done.code == 0
    assert "  budget     none\n" in done.out


def test_rows_of_the_selection_are_refused(run, selection, table):
    done = run("certify", selection, table)
    assert done.code == 2
    assert "rows are rows of the fit: a certificate needs rows that took no part" in done.err


def test_too_few_rows_to_hold_any_out_meet_nothing(run, frame, tmp_path):
    # 0.1 ended with 0 and "may increase by 0 at most".
    few = tmp_path / "few.csv"
    frame.head(9).to_csv(few, index=False)
    done = run("select", few, "-t", "final grade")
    assert done.code == NOT_MET
    assert "  error      unknown\n" in done.out
    assert "too few rows to hold any out" in done.out


def test_rows_of_a_large_selection_are_recognised_by_some_of_their_hashes(
    run, selection, table, frame, fresh, tmp_path, monkeypatch
):
    # Files of more than 50 000 rows held no hashes: their own rows got a certificate.
    for place in ("selectors._state", "holdout._rows"):
        monkeypatch.setattr(f"pinsker.{place}.MOST_HASHES", 40)
    run("select", table, "-t", "final grade", "-d", "backward", "--json", selection, "-q")
    hashes = base64.b64decode(json.loads(selection.read_text())["row_hashes"])
    assert len(hashes) == 8 * 40
    done = run("certify", selection, table)
    assert done.code == 2
    assert "about 120 of 120 rows are rows of the fit (counted in 40 of them): a" in done.err
    mixed = tmp_path / "mixed.csv"
    pd.concat([pd.read_csv(fresh), frame.head(90)]).to_csv(mixed, index=False)
    done = run("certify", selection, mixed)
    assert done.code == NOT_MET
    assert re.search(r"about 1?\d\d of 390 rows are rows of the fit \(counted in", done.out)
    done = run("certify", selection, fresh)
    assert done.code == 0
    assert "certificate: 300 rows, fresh rows" in done.out


@pytest.mark.parametrize("command", ["certify", "audit"])
def test_a_saved_target_is_not_called_an_option(run, selection, fresh, tmp_path, command):
    """Neither command has been given ``--target`` here, and ``certify`` does not have it."""
    other = tmp_path / "other.csv"
    pd.read_csv(fresh).drop(columns="final grade").to_csv(other, index=False)
    done = run(command, selection, other)
    assert done.code == 2
    assert done.err.startswith("pinsker: the target of the selection: there is no column 'final ")


@pytest.mark.parametrize("why", ["few rows", "rows of the fit"])
def test_an_estimate_certifies_nothing(run, selection, frame, fresh, tmp_path, why):
    """``certify && deploy`` must not deploy what no certificate is about."""
    content = json.loads(selection.read_text())
    content["parameters"]["error_budget"] = 0.2  # which 80 rows are enough for
    selection.write_text(json.dumps(content))
    weak, rows = tmp_path / "weak.csv", pd.read_csv(fresh)
    few = why == "few rows"
    (rows.head(80) if few else pd.concat([rows, frame.head(20)])).to_csv(weak, index=False)
    done = run("certify", selection, weak)
    assert done.code == NOT_MET
    reason = "fewer than 100 rows make" if few else "20 of 320 rows are rows of the fit: this is"
    assert done.out.splitlines()[1].startswith(f"These are not certified: {reason} an estimate")
    assert done.out.count("an estimate") == 1
    assert "0.2 (error rate) met (estimate)\n" in done.out
    written = json.loads(run("certify", selection, weak, "--json", "-", "-q").out)
    assert (written["verdict"], written["label"]) == ("met", "estimate")
    assert not written["saved_set_passed"]


@pytest.mark.parametrize("most", [50_000, 40])
def test_an_audit_names_rows_of_the_selection(run, table, fresh, tmp_path, monkeypatch, most):
    for place in ("selectors._state", "holdout._rows"):
        monkeypatch.setattr(f"pinsker.{place}.MOST_HASHES", most)
    path, quick = tmp_path / "saved.json", ("--model", "linear")
    run("select", table, "-t", "final grade", "-d", "backward", "--json", path, "-q")
    about, basis = ("", "") if most > 120 else ("about ", " (counted in 40 of them)")
    note = f"note: {about}120 of 120 test rows are among the rows of the fit{basis}, which chose"
    done = run("audit", path, table, *quick, "-e", "0.3")
    assert done.out.count("test rows are among") == done.out.count(note) == 1
    assert done.code == NOT_MET
    assert "note" not in run("audit", path, fresh, *quick).out


def test_subgroups_are_chosen_by_and_certified(tmp_path, run):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(700, 3)), columns=list("abc")).round(4)
    table["region"] = rng.choice(["north", "south"], 700)
    table["y"] = (table["a"] + 0.5 * rng.normal(size=700) > 0).astype(int)
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    table[:350].to_csv(old, index=False)
    table[350:].to_csv(new, index=False)
    kept = tmp_path / "kept.json"
    fast = ("--fast", "--models", "linear", "--error-budget", "0.3")
    chosen = run("select", old, "--target", "y", "--subgroup", "region", "--json", kept, *fast)
    assert "region=north" in chosen.out
    assert json.loads(kept.read_text())["parameters"]["subgroups"] == {"region": {}}
    found = tmp_path / "found.json"
    tested = run("certify", kept, new, "--subgroup", "region", "--json", found)
    assert "rows needed" in tested.out
    names = [one["name"] for one in json.loads(found.read_text())["subgroups"]]
    assert names == ["all rows", "region=north", "region=south"]
    wrong = run("certify", kept, new, "--subgroup", "regoin")
    assert wrong.code == 2
    assert "there is no column 'regoin'. Did you mean 'region'?" in wrong.err


def test_budgets_of_subgroups_are_typed(tmp_path, run):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc")).round(4)
    table["region"] = rng.choice(["north", "south"], 900)
    table["y"] = (table["a"] + 0.5 * rng.normal(size=900) > 0).astype(int)
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    table[:450].to_csv(old, index=False)
    table[450:].to_csv(new, index=False)
    kept, found, page = (tmp_path / name for name in ("kept.json", "found.json", "page.html"))
    fast = ("--fast", "--models", "linear", "--error-budget", "0.3", "--json", kept)
    typed = ("--subgroup", "region=north=0.25", "--subgroup", "region=south=0.2")
    chosen = run("select", old, "--target", "y", *typed, *fast, "--report", page)
    lines = {line.split()[0]: line for line in chosen.out.splitlines() if line.strip()}
    assert "  0.25    met" in lines["region=north"]
    assert "  0.2     met" in lines["region=south"]
    saved = json.loads(kept.read_text())
    assert saved["parameters"]["subgroups"] == {"region": {"north": 0.25, "south": 0.2}}
    budgets = [one["budget"] for one in saved["certificate"]["subgroups"]]
    assert budgets == [0.3, 0.25, 0.2]
    assert "0.25" in page.read_text().partition("In every subgroup")[2]
    for more, budgets in (
        ((), [0.3, 0.25, 0.2]),
        (("--subgroup", "region=0.01"), [0.3, 0.01, 0.01]),
    ):
        tested = run("certify", kept, new, *more, "--json", found)
        listed = json.loads(found.read_text())
        assert [one["budget"] for one in listed["subgroups"]] == budgets
        assert tested.code == (3 if more else 0)
    for wrong, said in (
        ("region=1 %", "--subgroup '1 %' is no number: for 1 % of an error rate"),
        ("region=west=0.1", "column 'region' has no value 'west', which has a budget"),
        ("regoin=0.1", "there is no column 'regoin'. Did you mean 'region'?"),
        ("region=-1", "the budget of region=north is -1, and must not be negative"),
    ):
        refused = run("certify", kept, new, "--subgroup", wrong)
        assert refused.code == 2
        assert said in refused.err
    both = ("--subgroup", "region=0.1", "--subgroup", "region=north=0.2", "--json", found)
    run("certify", kept, new, *both)
    assert [one["budget"] for one in json.loads(found.read_text())["subgroups"]] == [0.3, 0.2, 0.1]
