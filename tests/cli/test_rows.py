"""Columns about rows: which belong together, when they were seen, what they weigh."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def visits(tmp_path):
    """Thirty patients with four visits each, in no order of time."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "patient": [f"p{i // 4}" for i in range(n)],
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(n), unit="D"),
            "weight": rng.integers(1, 4, size=n),
            "signal": rng.normal(size=n),
            "noise": rng.normal(size=n),
        }
    )
    frame["y"] = np.where(frame["signal"] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def select(run, visits, *options):
    saved = visits.with_suffix(".json")
    quick = ("--searches", "linear", "--models", "linear", "--json", saved, "-e", "0.15")
    done = run("select", visits, "--target", "y", *quick, *options)
    return done, json.loads(saved.read_text()) if done.code in (0, 3) else None


def test_they_are_no_features(run, visits):
    options = ("--row-groups", "patient", "--time", "date", "--weights", "weight")
    done, saved = select(run, visits, *options)
    assert done.code == 3, done.err  # met, but patients are divided between earlier and later
    assert saved["certificate"]["label"] == "estimate"
    assert done.out.count("cv divides 30 of 30 groups") == 1
    assert sum("cv divides" in note for note in saved["notes"]) == 1
    assert saved["columns"] == ["signal", "noise"]
    assert saved["kept"] == ["signal"]
    assert any("--weights" in note for note in saved["notes"])
    # Of five splits in time the first sixth is never held out.
    assert saved["certificate"]["n_rows"] == 100
    assert saved["certificate"]["n_groups"] > 20


def test_rows_are_sorted_by_time(run, visits, tmp_path):
    first = select(run, visits, "--time", "date", "--drop", "patient,weight")[1]
    shuffled = tmp_path / "shuffled.csv"
    pd.read_csv(visits).sample(frac=1.0, random_state=1).to_csv(shuffled, index=False)
    second = select(run, shuffled, "--time", "date", "--drop", "patient,weight")[1]
    assert first["certificate"] == second["certificate"]


def test_groups_are_held_out_together(run, visits):
    done, saved = select(
        run, visits, "--row-groups", "patient", "--drop", "date,weight", "-e", "0.2"
    )
    assert done.code == 0, done.err
    assert saved["certificate"]["n_groups"] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--time", "when"), "--time"),
        (("--weights", "y"), "--weights names the target"),
        (("--row-groups", "patient", "--cv", "0"), "--row-groups has no effect"),
        (("--weights", "signal"), "not negative"),
    ],
)
def test_what_makes_no_sense_is_refused(run, visits, options, message):
    done, _ = select(run, visits, *options)
    assert done.code == 2
    assert message in done.err


def test_neighbors_take_no_weights(run, visits):
    done = run("select", visits, "-t", "y", "-d", "forward", "--weights", "weight")
    assert done.code == 2
    assert "--weights has no effect with --direction forward" in done.err
    done = run("select", visits, "-t", "y", "-d", "linear", "--weights", "weight", "--quiet")
    assert done.code in (0, 3)


def test_a_missing_time_is_refused(run, visits):
    frame = pd.read_csv(visits)
    frame.loc[3, "date"] = None
    frame.to_csv(visits, index=False)
    done, _ = select(run, visits, "--time", "date")
    assert done.code == 2
    assert "--time 'date' is missing in 1 rows" in done.err


def test_certify_takes_them_too(run, visits, tmp_path):
    select(run, visits, "--drop", "date,weight,patient")
    saved, out = visits.with_suffix(".json"), tmp_path / "certificate.json"
    fresh = pd.read_csv(visits)
    fresh["signal"] += 1e-3  # other rows
    fresh["noise"] += 1e-3
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    options = ("--row-groups", "patient", "--time", "date", "--weights", "weight")
    done = run("certify", saved, tmp_path / "fresh.csv", *options, "--json", out)
    assert done.code in (0, 3), done.err
    certificate = json.loads(out.read_text())
    assert certificate["n_rows"] == 100
    assert certificate["n_groups"] > 20
    assert any("worth" in note for note in certificate["notes"])


def test_audit_takes_them_too(run, visits, tmp_path):
    select(run, visits, "--drop", "date,weight,patient")
    saved, out = visits.with_suffix(".json"), tmp_path / "audit.json"
    plain = ("audit", saved, visits, "--model", "linear", "--json", out)
    found = []
    for options in ((), ("--weights", "weight"), ("--row-groups", "patient", "--time", "date")):
        done = run(*plain, *options)
        assert done.code in (0, 3), done.err
        found.append(json.loads(out.read_text()))
    alone, weighted, in_time = found
    assert weighted["error_all"] != alone["error_all"]
    assert weighted["n_rows"] == alone["n_rows"] > in_time["n_rows"]
    assert [one["n_groups"] > 20 for one in found] == [False, False, True]


def test_prices(run, visits, tmp_path):
    frame = pd.read_csv(visits)
    rng = np.random.default_rng(1)
    frame["cheap"] = frame["signal"] + 0.1 * rng.normal(size=len(frame))
    frame.to_csv(visits, index=False)
    costs = tmp_path / "costs.csv"
    costs.write_text("column,cost\nsignal,100\ncheap,1\nnoise;weight,7\n")
    rest = ("--drop", "date,patient", "--models", "linear", "-e", "0.15")
    saved = tmp_path / "saved.json"
    done = run("select", visits, "-t", "y", *rest, "--costs", costs, "--json", saved)
    assert done.code == 0, done.err
    assert json.loads(saved.read_text())["kept"] == ["cheap"]
    assert "the kept features cost 1, all of them 108" in json.loads(saved.read_text())["notes"]
    costs.write_text("column,cost\nsignl,100\n")
    done = run("select", visits, "-t", "y", *rest, "--costs", costs)
    assert done.code == 2
    assert "signl" in done.err
    costs.write_text("signal,1\ncheap\n")
    done = run("select", visits, "-t", "y", *rest, "--costs", costs)
    assert done.code == 2
    assert "line 2" in done.err
    done = run("select", visits, "-t", "y", "-d", "linear", "--costs", costs)
    assert done.code == 2


def test_categories_are_sorted_by_their_text(run, visits, tmp_path):
    # A file holds them in the order of their first rows, which was taken for that of time.
    frame = pd.read_csv(visits).drop(columns=["patient", "weight"])
    frame["date"] = pd.to_datetime(frame["date"]).dt.strftime("%Y-W%V")
    found = []
    for name, column in (
        ("texts.parquet", frame["date"]),
        ("kinds.parquet", pd.Categorical(frame["date"], categories=frame["date"].unique())),
    ):
        frame.assign(date=column).to_parquet(tmp_path / name)
        found.append(select(run, tmp_path / name, "--time", "date")[1]["certificate"])
    assert found[0] == found[1]


def test_times_of_no_order_end_a_command(run, visits):
    frame = pd.read_csv(visits)
    frame["date"] = pd.to_datetime(frame["date"]).dt.strftime("%d%m%Y")
    frame.to_csv(visits, index=False)
    done, _ = select(run, visits, "--time", "date")
    assert done.code == 2
    assert "which has no order in time: write dates as 2010-07-01, months as 2010-07" in done.err


def test_how_a_text_file_is_read_is_remembered(run, tmp_path):
    # certify took "unk" for a category: "dropped columns have other values here than in the fit".
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)).round(4), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + 0.3 * rng.normal(size=600) > 0, "yes", "no")
    frame["c"] = frame["c"].astype(str).where(rng.random(600) > 0.1, "unk")
    old, new, kept = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "kept.json"
    frame[:300].to_csv(old, index=False, sep="|")
    frame[300:].to_csv(new, index=False, sep="|")
    quick = ("--searches", "linear", "--models", "linear", "-e", "0.1")
    done = run("select", old, "-t", "y", "--na", "unk", "--na", "not known", *quick, "--json", kept)
    assert f"pinsker certify {kept} FRESH_TABLE --na unk --na 'not known'" in done.out
    assert json.loads(kept.read_text())["style"]["na"] == ["unk", "not known"]
    tested = run("certify", kept, new)
    assert (tested.code, tested.out.count("other values")) == (0, 0)
    assert "other values" in run("certify", kept, new, "--na", "other").out
    assert "other values" not in run("audit", kept, new, "--model", "linear").out
    watched = run("monitor", kept, new, "--train", old, "--model", "linear")
    assert watched.code == 0, watched.err
    content = json.loads(kept.read_text())
    kept.write_text(json.dumps({**content, "style": {"na": "unk"}}))
    assert "must be of type array or null" in run("certify", kept, new).err
    del content["style"]  # of an earlier version
    kept.write_text(json.dumps(content))
    assert "other values" in run("certify", kept, new).out
    assert "other values" not in run("certify", kept, new, "--na", "unk").out
