"""Twenty mistakes per subcommand: one line, a cause, a remedy; no traceback."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import run_command

pytestmark = pytest.mark.slow

SELECT, GRADE = ("select", "{table}", "-t", "grade"), ("-t", "grade")
PRICE = ("audit", "{table}", *GRADE, "--columns", "signal")
#: What is typed, without the command in front.
MISTAKES = {
    "select": [
        (), ("{table}",), ("{table}", "-t", "Grade"), ("absent.csv", *GRADE), ("{folder}", *GRADE),
        ("{table}", "-t", "grade", "--metric", "precison"), ("{table}", *GRADE, "-e", "2%"),
        ("{table}", *GRADE, "-e", "-0.1"), ("{table}", *GRADE, "-e", "7"),
        ("{table}", *GRADE, "--confidence", "2"), ("{table}", *GRADE, "--drop", "sinal"),
        ("{table}", *GRADE, "--fixed", "nothing*"), ("{table}", *GRADE, "--models", "forrest"),
        ("{table}", *GRADE, "--searches", "genetic"), ("{table}", *GRADE, "--suspects", "keep"),
        ("{table}", *GRADE, "--time-limit", "soon"), ("{table}", *GRADE, "--row-groups", "grade"),
        ("{table}", *GRADE, "--time", "clock"), ("{table}", *GRADE, "--weights", "colour"),
        ("{table}", *GRADE, "--costs", "absent.csv"), ("{table}", *GRADE, "--report", "page.pdf"),
        ("{table}", *GRADE, "--json", "{table}"), ("{empty}", *GRADE), ("{binary}", *GRADE),
        ("{table}", "-t", "colour", "--metric", "r2"), ("{table}", *GRADE, "--event", "signal"),
        ("{table}", *GRADE, "--engine", "tpu"), ("{table}", *GRADE, "--scheduler", "nowhere"),
    ],
    "inspect": [
        (), ("{table}",), ("{table}", "-t", "Grade"), ("absent.csv", *GRADE), ("{folder}", *GRADE),
        ("{table}", *GRADE, "--drop", "sinal"), ("{table}", *GRADE, "--drop", "grade"),
        ("{table}", *GRADE, "--kind", "signal"), ("{table}", *GRADE, "--kind", "signal=number"),
        ("{table}", *GRADE, "--kind", "sinal=count"), ("{table}", *GRADE, "--feature-groups", "x"),
        ("{table}", *GRADE, "--memory", "much"), ("{table}", *GRADE, "--cv", "-3"),
        ("{table}", *GRADE, "--direction", "sideways"), ("{table}", *GRADE, "--metric", "euro"),
        ("{empty}", *GRADE), ("{binary}", *GRADE), ("{table}", *GRADE, "--json", "x.json"),
        ("{table}", *GRADE, "--query", "select 1", "--database", "x.db"),
        ("{table}", "-t", "colour", "--metric", "r2"), ("{gaps}", "-t", "gap"),
        ("{table}", "{table}", *GRADE),
    ],
    "plan": [
        (), ("{table}",), ("{table}", "-t", "Grade"), ("absent.csv", *GRADE), ("{folder}", *GRADE),
        ("{empty}", *GRADE), ("{binary}", *GRADE), ("--error", "1.5"), ("--error", "much"),
        ("--error", "-0.1"), ("--error", "0.1", "{table}"), ("--error", "0.1", "--rows", "-5"),
        ("--error", "0.1", "-e", "2%"), ("--error", "0.1", "-j", "two"), ("--nonsense",),
        ("--error", "0.1", "--power", "1"), ("--error", "0.1", "--confidence", "0"),
        ("--error", "0.1", "--metric", "euro"), ("{table}", *GRADE, "--models", "forrest"),
        ("{table}", *GRADE, "--searches", "genetic"), ("{table}", *GRADE, "--drop", "sinal"),
        ("{table}", *GRADE, "--kind", "signal=number"), ("--error", "0.1", "--json", "no/x.json"),
    ],
    "certify": [
        (), ("{saved}",), ("{table}", "{table}"), ("absent.json", "{table}"),
        ("{saved}", "absent.csv"), ("{saved}", "{folder}"), ("{folder}", "{table}"),
        ("{saved}", "{saved}"), ("{saved}", "{empty}"), ("{saved}", "{binary}"),
        ("{saved}", "{other}"), ("{saved}", "{table}"), ("{saved}", "{fresh}", "--confidence", "2"),
        ("{saved}", "{fresh}", "--confidence", "high"),
        ("{saved}", "{fresh}", "--row-groups", "ward"), ("{saved}", "{fresh}", "--time", "clock"),
        ("{saved}", "{fresh}", "--weights", "colour"), ("{saved}", "{fresh}", "--jobs", "0"),
        ("{saved}", "{fresh}", "--json", "no/where.json"), ("{saved}", "{fresh}", "--model", "svm"),
        ("{saved}", "{fresh}", "--database", "x.db"), ("{changed}", "{fresh}"),
        ("{count}", "{fresh}"), ("{saved}", "{fresh}", "-e", "0.1"),
    ],
    "audit": [
        (), ("{saved}",), ("{table}",), ("{table}", *GRADE), ("{table}", "--columns", "signal"),
        ("{table}", *GRADE, "--columns", "sinal"), ("{table}", *GRADE, "--columns", ""),
        ("{table}", *GRADE, "--columns", "grade"), (*PRICE[1:], "--against", "nothing"),
        (*PRICE[1:], "--model", "oracle"), (*PRICE[1:], "--metric", "euro"),
        (*PRICE[1:], "--metric", "r2"), (*PRICE[1:], "-e", "2%"), (*PRICE[1:], "--time", "clock"),
        (*PRICE[1:], "--row-groups", "ward"), (*PRICE[1:], "--weights", "colour"),
        (*PRICE[1:], "--confidence", "1"), ("{saved}", "absent.csv"), ("{saved}", "{other}"),
        ("{changed}", "{fresh}"), ("{saved}", "{fresh}", "--json", "no/where.json"),
        ("{empty}", *GRADE, "--columns", "signal"), ("{saved}", "{fresh}", "--columns", "signal"),
    ],
    "report": [
        (), ("absent.json",), ("{table}",), ("{folder}",), ("{empty}",), ("{binary}",),
        ("{changed}",), ("{saved}", "-o", "page.pdf"), ("{saved}", "-o", "no/where.html"),
        ("{saved}", "-o", "{folder}"), ("{saved}", "{table}"), ("{saved}", "--json", "x.json"),
        ("{saved}", "-t", "grade"), ("{saved}", "-o"), ("{pageless}",), ("{odd}",), ("-",), ("",),
        ("{saved}", "--quite"), ("{other}",),
    ],
    "demo": [
        ("-e", "much"), ("-e", "-1"), ("-e", "5%"), ("-e", ""), ("-e",), ("-e", "9"),
        ("-e", "nan"), ("-e", "inf"), ("--direction", "up"), ("--direction",), ("-d", "Backward"),
        ("--jobs", "0"), ("--jobs", "two"), ("--jobs",), ("--seed", "1"), ("--target", "y"),
        ("table.csv",), ("--report", "page.html"), ("--quite",), ("-x",),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Name files of every kind that people hand over."""
    folder, rng = tmp_path_factory.mktemp("trial"), np.random.default_rng(0)

    def table(n, name):
        signal, colour = rng.normal(size=n), rng.choice(["red", "green"], n)
        columns = {"signal": signal, "colour": colour, "noise": rng.normal(size=n)}
        grade = np.where(signal + (colour == "red") > 0.5, "pass", "fail")
        path = folder / name
        pd.DataFrame({**columns, "gap": np.nan, "grade": grade}).to_csv(path, index=False)
        return path

    made = {"table": table(120, "table.csv"), "fresh": table(100, "fresh.csv"), "folder": folder}
    made["gaps"] = made["table"]
    for name, content in (("empty", b""), ("binary", bytes(range(256)) * 9)):
        made[name] = folder / f"{name}.csv"
        made[name].write_bytes(content)
    made["other"] = folder / "other.csv"
    made["other"].write_text("a,b\n1,2\n3,4\n")
    quick = ("--searches", "linear", "--models", "linear", "--cv", "3", "-q", "--json")
    for name, more in (("saved", ()), ("count", ("--stop", "features=1"))):
        made[name] = folder / f"{name}.json"
        run_command("select", made["table"], *GRADE, *more, *quick, made[name])
    content = json.loads(made["saved"].read_text())
    odd = {"changed": {"kept": ["nobody"]}, "pageless": {"summary": None}, "odd": {"summary": "!"}}
    for name, part in odd.items():
        made[name] = folder / f"{name}.json"
        made[name].write_text(json.dumps({**content, **part}))
    return made


@pytest.mark.parametrize("command", MISTAKES)
def test_mistakes_end_in_one_line(files, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(MISTAKES[command]) >= 20
    wrong = []
    for typed in MISTAKES[command]:
        done = run_command(command, *(part.format(**files) for part in typed), stdin=b"")
        said = done.err.removeprefix("pinsker: ").strip()
        is_line = done.err.startswith("pinsker: ") and done.err.count("\n") == 1
        if done.code != 2 or not is_line or done.out or not 15 < len(said) < 400:
            wrong.append((typed, done.code, done.out[:200], done.err[:400]))
    assert wrong == []
    assert list(tmp_path.iterdir()) == []  # nothing is left half done
