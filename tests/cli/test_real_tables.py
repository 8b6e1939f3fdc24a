"""Twelve real tables (`tables/README.md`), end to end, with no option but the target."""

import json
from pathlib import Path

import pandas as pd
import pytest

TABLES = Path(__file__).parent / "tables"
#: Target of each table, how many classes it has (None: a number), and a note that is printed.
REAL = {
    "penguins": ("species", 3, "missing values count as a value of their own: 'sex' ("),
    "attrition": ("Attrition", 2, ""),
    "ames": ("Sale_Price", None, "missing values count as a value of their own: "),
    "mlc_churn": ("churn", 2, "'total_day_charge' repeats 'total_day_minutes'"),
    "credit_data": ("Status", 2, "missing values count as a value of their own: "),
    "lending_club": ("Class", 2, ""),
    "stackoverflow": ("Remote", 2, ""),
    "car_prices": ("Price", None, ""),
    "mpg": ("hwy", None, ""),
    "msleep": ("sleep_total", None, "no value repeats, so left out before the search: 'name'"),
    "diamonds": ("price", None, ""),
    "starwars": ("gender", 2, "4 of 87 rows have no target and were left out"),
}


def check(run, name, folder, *options):
    """Run a selection on a table, and look at all that it leaves behind."""
    target, n_classes, note = REAL[name]
    table = TABLES / f"{name}.csv"
    frame = pd.read_csv(table)
    files = {kind: folder / f"kept.{kind}" for kind in ("csv", "txt", "json")}
    done = run(
        "select", table, "-t", target, *options,
        "-o", files["csv"], "--features", files["txt"], "--json", files["json"],
    )  # fmt: skip
    saved = json.loads(files["json"].read_text(encoding="utf-8"))
    kept = saved["kept"]
    verdict, label = (saved["certificate"][name] for name in ("verdict", "label"))
    met = verdict == "nothing dropped" or (verdict == "met" and label != "estimate")
    assert (done.code, done.err) == (0 if met else 3, "")
    kind = "a number" if n_classes is None else f"{n_classes} classes"
    assert done.out.splitlines()[0] == (
        f"Kept {len(kept)} of {frame.shape[1] - 1} columns of {table} to predict {target!r} "
        f"({len(frame)} rows, {kind})"
    )
    labels = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    after = labels[labels.index("error") :]
    assert after[:3] == ["error", "budget", "certainty"]
    assert [label for label in after[3:] if label not in ("stability", "note:", "next")] == ["time"]
    assert note in done.out
    assert "integers with" not in done.out  # for inspect
    assert files["txt"].read_text(encoding="utf-8").splitlines() == kept
    assert set(pd.read_csv(files["csv"])) == {*kept, target}
    return done


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_taken_as_they_are(run, tmp_path, name):
    check(run, name, tmp_path, "--fast", "--models", "linear")


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tables_by_all_searches_and_not_certified_by_the_same_rows(run, tmp_path, name):
    check(run, name, tmp_path, "--report", tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
    done = run("certify", tmp_path / "kept.json", TABLES / f"{name}.csv")
    assert done.code == 2
    assert "rows are rows of the fit: a certificate needs rows that took no part" in done.err
