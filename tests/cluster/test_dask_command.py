"""`pinsker select --scheduler`: the same choice, searched and evaluated on a cluster."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import distributed
import numpy as np
import pandas as pd
import pytest

from pinsker.cli import main
from pinsker.engine import Backward
from pinsker.holdout import Jobs


@pytest.fixture(scope="module")
def address():
    """A cluster of threads in this process, without certificates."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        dashboard_address=":0",  # any port that is free
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    frame["y"] = np.where(frame["b"] + frame["d"] > 0, "up", "down")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def calls(monkeypatch):
    """What reached a cluster."""
    seen = []
    run, scores = Jobs.run, Backward.scores

    def noted_run(self, *args, **options):
        seen.append("folds" if self.client is not None else "folds here")
        return run(self, *args, **options)

    def noted_scores(self):
        if self.plan.engine == "dask":
            seen.append("search")
        return scores(self)

    monkeypatch.setattr(Jobs, "run", noted_run)
    monkeypatch.setattr(Backward, "scores", noted_scores)
    return seen


def select(table, *options):
    """Run the command in this process; return exit code, standard output and standard error."""
    typed = ["pinsker", "select", str(table), "-t", "y", *options, "--features", "-", "--quiet"]
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", typed),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return left.value.code, out.getvalue(), err.getvalue()


def test_a_named_scheduler_is_used(address, table, calls):
    how = ("-d", "backward", "--cv", "2")
    there = select(table, *how, "--scheduler", address)
    assert there[::2] == (0, "")
    assert set(calls) == {"search", "folds"}
    assert there[1] == select(table, *how)[1] == "b\nd\n"


def test_a_scheduler_has_no_effect_on_a_linear_search(address, table):
    code, _, err = select(table, "-d", "linear", "--scheduler", address)
    assert code == 2
    assert "--scheduler has no effect with --direction linear: leave it out." in err
