"""What `select` writes with any pair of options is read back by `certify` and `audit`."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

#: Options of a selection that holds rows out, each with the values that are tried.
AUTO = {
    "metric": [(), ("--metric", "log-loss"), ("--metric", "roc_auc")],
    "searches": [("--searches", "linear"), ("--searches", "jmi"), ("--searches", "cmim,linear")],
    "cv": [("--cv", "3"), ("--cv", "2")],
    "weights": [(), ("--weights", "w")],
    "order": [(), ("--row-groups", "patient"), ("--time", "when")],
    "groups": [(), ("--feature-groups", "both=signal,noise 1")],
    "fixed": [(), ("--fixed", "noise 2")],
    "kind": [(), ("--kind", "level=nominal")],
    "missing": [(), ("--missing", "drop"), ("--missing", "category")],
    "suspects": [(), ("--suspects", "drop"), ("--suspects", "ignore")],
    "costs": [(), ("--costs", "{costs}")],
    "limit": [(), ("--time-limit", "60s")],
    "seed": [(), ("--seed", "5")],
    "confidence": [(), ("--confidence", "0.9"), ("--confidence", "0.5")],
    "drop": [(), ("--drop", "noise 3")],
    "subgroup": [(), ("--subgroup", "region"), ("--subgroup", "region=north=0.5")],
    "stability": [(), ("--stability", "2")],
    "fast": [(), ("--fast",)],
    "style": [(), ("--separator", ",", "--na", "unknown"), ("--decimal", ".")],
    "targets": [("-t", "y", "--drop", "z"), ("-t", "y", "-t", "z")],
}
#: The same of a single search.
ONE_SEARCH = {
    "direction": [("-d", "backward"), ("-d", "forward"), ("-d", "forward-backward")],
    "metric": [(), ("--metric", "log-loss")],
    "cv": [(), ("--cv", "2")],
    "groups": AUTO["groups"],
    "fixed": AUTO["fixed"],
    "neighbors": [(), ("--n-neighbors", "4")],
    "memory": [(), ("--memory", "1G")],
    "kind": AUTO["kind"],
    "missing": AUTO["missing"],
    "targets": AUTO["targets"],
    "style": AUTO["style"],
}


def all_pairs(options, seed=0):
    """Return choices of values in which every pair of values of two options occurs."""
    rng = np.random.default_rng(seed)
    names = list(options)
    left = {
        (a, i, b, j)
        for a, b in combinations(names, 2)
        for i, j in product(range(len(options[a])), range(len(options[b])))
    }
    chosen = []
    while left:
        tried = [{n: int(rng.integers(len(options[n]))) for n in names} for _ in range(200)]
        new = [{p for p in left if one[p[0]] == p[1] and one[p[2]] == p[3]} for one in tried]
        best = max(range(len(tried)), key=lambda k: len(new[k]))
        left -= new[best]
        chosen.append([word for name in names for word in options[name][tried[best][name]]])
    return chosen


def rows(seed):
    rng = np.random.default_rng(seed)
    n = 160
    signal, level = rng.normal(size=n), rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "signal": signal, "noise 1": rng.normal(size=n), "noise 2": rng.normal(size=n),
            "noise 3": rng.normal(size=n), "region": rng.choice(["north", "so=uth"], n),
            "z": np.where(signal > 0, "on", "off"),
            "level": level, "w": rng.integers(1, 4, n), "patient": rng.integers(0, 40, n),
            "when": np.arange(n), "y": np.where(signal + (level == 1) > 0.3, "yes", "no"),
        }
    )  # fmt: skip
    frame.loc[rng.choice(n, 8, replace=False), "noise 1"] = np.nan
    return frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    for name, seed in (("table.csv", 0), ("fresh.csv", 1)):
        rows(seed).to_csv(folder / name, index=False)
    (folder / "costs.csv").write_text("noise 1,2\nlevel,3\n")
    return folder


CASES = [[*one, "--models", "linear"] for one in (*all_pairs(AUTO), *all_pairs(ONE_SEARCH))]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_pair_of_options_is_read_back(run, files, tmp_path, case):
    saved, fresh = tmp_path / "saved.json", files / "fresh.csv"
    costs = "costs.csv" if "both=signal,noise 1" not in CASES[case] else "none.csv"
    (files / "none.csv").write_text("level,3\n")
    typed = [word.format(costs=files / costs) for word in CASES[case]]
    if "--subgroup" in typed:  # a ranking has no value in a part of the rows
        typed = ["brier" if word == "roc_auc" else word for word in typed]
    about_rows = [a for i, a in enumerate(typed)
                  if {a, typed[i - 1]} & {"--weights", "--row-groups", "--time"}]  # fmt: skip
    made = run("select", files / "table.csv", "-e", "0.2", *typed, "--json", saved, "-q")
    assert made.err == ""
    assert made.code in (0, 3)
    about_rows = about_rows if case % 2 else []  # the selection remembers them
    certified = run("certify", saved, fresh, *about_rows)
    assert certified.err == "", CASES[case]
    assert certified.code in (0, 3)
    if case % 3 == 0:
        audited = run("audit", saved, fresh, "--model", "linear", *about_rows)
        assert (audited.err, audited.code in (0, 3)) == ("", True)
