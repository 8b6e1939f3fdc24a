"""A wheel works where it is installed: library, command, report, and the extras that are there.

Not a test of pytest's: ``make wheel`` and CI run it with the interpreter of the environment that
has the wheel, away from the clone.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import pinsker
from pinsker import FeatureSelector


def small_table() -> pd.DataFrame:
    """Return a table of which column ``a`` decides the class."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    return frame.assign(y=np.where(frame["a"] + 0.3 * rng.normal(size=200) > 0, "yes", "no"))


def select(*arguments: str | Path) -> None:
    """Run the command as the environment has it, not as a module."""
    name = "pinsker.exe" if os.name == "nt" else "pinsker"
    command = [Path(sys.executable).with_name(name), "select", *arguments]
    subprocess.run([*command, "-t", "y", "-e", "0.1"], check=True)


def check_library(frame: pd.DataFrame) -> FeatureSelector:
    """Fit the main class."""
    selector = FeatureSelector(0.1, random_state=0).fit(frame.drop(columns="y"), frame["y"])
    assert list(selector.get_feature_names_out()) == ["a"], selector.get_feature_names_out()
    return selector


def check_command(frame: pd.DataFrame, folder: Path) -> None:
    """Select from a file, with a report, and test the saved set on other rows."""
    table, saved, page = folder / "t.csv", folder / "kept.json", folder / "report.html"
    frame.to_csv(table, index=False)
    select(table, "--json", saved, "--report", page)
    assert json.loads(saved.read_text(encoding="utf-8"))["kept"] == ["a"]
    assert "</html>" in page.read_text(encoding="utf-8")


def check_extras(frame: pd.DataFrame, selector: FeatureSelector, folder: Path) -> list[str]:
    """Use the packages of extras where they are installed; return the names of those extras."""
    quick = ("--fast", "--quiet")
    found = []
    if find_spec("openpyxl"):
        frame.to_excel(folder / "t.xlsx", index=False)
        select(folder / "t.xlsx", *quick)
        found.append("excel")
    if find_spec("pyreadstat"):
        import pyreadstat

        pyreadstat.write_sav(frame, str(folder / "t.sav"))
        select(folder / "t.sav", *quick)
        found.append("spss")
    if find_spec("duckdb"):
        select("--query", f"select * from '{(folder / 't.csv').as_posix()}'", *quick)
        found.append("sql")
    if find_spec("matplotlib"):
        import matplotlib

        matplotlib.use("agg")
        assert selector.plot().figure_ is not None
        found.append("plot")
    if find_spec("distributed"):
        from distributed import Client

        with Client(processes=False, n_workers=1, dashboard_address=":0"):  # any free port
            there = pinsker.BackwardElimination(0.1, engine="dask")
            there.fit(frame.drop(columns="y"), frame["y"])
        assert there.get_support()[0]
        found.append("dask")
    return found


def main() -> None:
    """Check everything, and print one line about it."""
    inside = Path(pinsker.__file__).resolve()
    assert Path(sys.prefix).resolve() in inside.parents, f"{inside} is no installed package"
    assert (inside.parent / "py.typed").is_file()
    frame = small_table()
    selector = check_library(frame)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_command(frame, folder)
        extras = check_extras(frame, selector, folder)
    parts = ", ".join(["library", "command", "report", *extras])
    print(f"pinsker {pinsker.__version__} works: {parts}")


if __name__ == "__main__":
    main()
