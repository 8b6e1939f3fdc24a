"""Workers that die, stop or are out of memory: the same results, or one clear error, in time."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pinsker.engine import Backward, Problem, calls_on_cluster
from pinsker.exceptions import EngineLostError
from pinsker.holdout import Jobs


def powers(client, strike):
    """Run six calls on a cluster; call `strike` when the first of them is back."""

    def slow_power(base, exponent):
        time.sleep(0.1)
        return base**exponent

    def on_call(done, total):
        assert total == 6
        if done == 1:
            strike()

    return Jobs(client=client, on_call=on_call).run(slow_power, 3, [(k,) for k in range(6)])


EXPECTED = [1, 3, 9, 27, 81, 243]


def test_calls_survive_the_worker_that_holds_what_they_share(client, send):
    assert powers(client, lambda: send([0], signal.SIGKILL)) == EXPECTED


@pytest.mark.slow
def test_calls_survive_all_workers(client, send):
    assert powers(client, lambda: send([0, 1], signal.SIGKILL)) == EXPECTED


@pytest.mark.slow
def test_nothing_waits_for_a_stopped_worker(client, send, monkeypatch):
    monkeypatch.setattr("pinsker._cluster._SECONDS_OF_SILENCE", 5.0)
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(80, 5)), labels=rng.integers(0, 2, 80))
    send([0], signal.SIGSTOP)  # the one that a table is sent to first
    found = Backward(problem, engine="dask", client=client)
    np.testing.assert_array_equal(found.scores(), Backward(problem).scores())
    assert powers(client, lambda: None) == EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["search", "evaluation", "certification"])
def test_a_fit_survives_its_cluster_or_says_what_was_lost(stage):
    # Every case in a process with a limit of time: a hang fails too.
    script = Path(__file__).parents[2] / "benchmarks" / "cluster_faults.py"
    faults = ("one worker killed", "one worker paused", "all workers killed",
              "all workers lost for good", "memory limit reached", "scheduler killed")  # fmt: skip
    given = [option for fault in faults for option in ("--fault", fault)]
    given += ["--fit", "cross", "--stage", stage, "--pause", "15", "--silence", "5"]
    run = subprocess.run(
        [sys.executable, script, *given], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


class Workers:
    """A client of a cluster that is not there."""

    asynchronous, status = False, "running"

    def __init__(self, **workers):
        self.known = {
            name: {"nthreads": 1, "last_seen": 0.0, "status": "running"} | worker
            for name, worker in workers.items()
        }
        self.scheduler = SimpleNamespace(identity=self.identity, address="tcp://nowhere")

    async def identity(self):
        for worker in self.known.values():
            worker["last_seen"] += worker.get("beat", 0.0)
        return {"workers": self.known}

    def sync(self, coroutine):
        return asyncio.run(coroutine())

    def submit(self, *args, **options):
        """Take a task that nobody runs."""


def watched(client):
    """Return what watches a cluster."""
    return calls_on_cluster(client)._cluster


def test_only_workers_that_are_heard_of_and_run_are_used(monkeypatch):
    monkeypatch.setattr("pinsker._cluster._SECONDS_OF_SILENCE", 0.2)
    monkeypatch.setattr("pinsker._cluster._SECONDS_WITHOUT_WORKERS", 0.3)
    monkeypatch.setattr("pinsker._cluster._SECONDS_ALL_SILENT", 0.3)
    full = {"beat": 0.01, "status": "paused"}  # by Dask: more than 80 % of its memory is taken
    cluster = watched(Workers(runs={"beat": 0.01}, stopped={"last_seen": -9.0}, full=full))
    assert set(cluster.threads()) == {"runs", "full"}  # the latter for a while
    time.sleep(0.25)
    assert set(cluster.threads()) == {"runs"}
    assert cluster.left_out == {"stopped", "full"}
    full_alone = watched(Workers(full=full))
    assert full_alone.threads() == {"full": 1}
    time.sleep(0.25)
    with pytest.raises(EngineLostError, match="has 1 workers, and none of them has sent a heart"):
        full_alone.threads()
    with pytest.raises(EngineLostError, match=r"has had no workers for 0\.3 seconds: start some"):
        watched(Workers()).threads()


def test_a_scheduler_that_does_not_answer_is_lost(monkeypatch):
    monkeypatch.setattr("pinsker._cluster._SECONDS_TO_ANSWER", 0.1)
    silent = Workers()
    silent.scheduler.identity = lambda: asyncio.sleep(60)
    with pytest.raises(EngineLostError, match=r"has not answered for 0\.1 seconds"):
        watched(silent).threads()
