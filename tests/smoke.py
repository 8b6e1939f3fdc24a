"""A wheel works where it is installed: library, command and report. Not a test of pytest's.

Run by ``make wheel`` and in CI with the interpreter of the environment that has the wheel.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pinsker
from pinsker import FeatureSelector


def main() -> None:
    assert Path(__file__).parent not in Path(pinsker.__file__).parents or "site-packages" in (
        pinsker.__file__
    ), f"{pinsker.__file__} is no installed package"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["y"] = np.where(frame["a"] + 0.3 * rng.normal(size=200) > 0, "yes", "no")
    selector = FeatureSelector(0.1, random_state=0).fit(frame.drop(columns="y"), frame["y"])
    assert list(selector.get_feature_names_out()) == ["a"], selector.get_feature_names_out()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, saved, page = folder / "t.csv", folder / "kept.json", folder / "report.html"
        frame.to_csv(table, index=False)
        command = [sys.executable, "-m", "pinsker", "select", str(table), "-t", "y", "-e", "0.1"]
        subprocess.run([*command, "--json", str(saved), "--report", str(page)], check=True)
        assert json.loads(saved.read_text())["kept"] == ["a"]
        assert "</html>" in page.read_text(encoding="utf-8")
    print(f"pinsker {pinsker.__version__} works: library, command, report")


if __name__ == "__main__":
    main()
