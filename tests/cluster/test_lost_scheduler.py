"""A scheduler that dies leaves one clear error, and a path to go on with."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from sklearn.utils.validation import check_is_fitted

from pinsker import BackwardElimination, EngineSettings, ForwardBackwardSelection
from pinsker.engine import Backward, cluster_was_lost
from pinsker.exceptions import EngineLostError
from pinsker.selection.holdout import Jobs

distributed = pytest.importorskip("distributed")


@pytest.fixture
def scheduler():
    """A scheduler in a process of its own, as a program and its address."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    program = subprocess.Popen(
        [*command, "--port", "0", "--no-dashboard"], stderr=subprocess.PIPE, text=True
    )
    for line in program.stderr:
        if "Scheduler at:" in line:
            yield program, line.split()[-1]
            break
    program.kill()
    program.wait()
    program.stderr.close()


@pytest.fixture
def client(scheduler, request):
    """A client, and a worker in this process: only the scheduler is going to die."""
    n_threads = getattr(request, "param", 1)
    client = distributed.Client(scheduler[1], set_as_default=False)

    async def start():
        return await distributed.Worker(scheduler[1], nthreads=n_threads, dashboard=False)

    worker = client.sync(start)
    yield client
    client.sync(worker.close, nanny=False)
    client.close(timeout=1)


@pytest.fixture
def dies_in_step(scheduler, monkeypatch):
    """Kill the scheduler before the fourth removal."""
    monkeypatch.setattr("pinsker.engine._dask._cluster._SECONDS_TO_RECONNECT", 0.5)
    remove, calls = Backward.remove, []

    def counted(self, feature):
        calls.append(self.plan.engine)
        if calls.count("dask") == 4:
            scheduler[0].kill()
            scheduler[0].wait()
        remove(self, feature)

    monkeypatch.setattr(Backward, "remove", counted)


def test_a_lost_scheduler_leaves_a_path_to_go_on_with(client, dies_in_step):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    expected = BackwardElimination().fit(X, y)
    selector = BackwardElimination(engine=EngineSettings("dask", client), warm_start=True)
    with pytest.raises(
        EngineLostError, match=r"scheduler at .* cannot be reached any more\. path_"
    ):
        selector.fit(X, y)
    check_is_fitted(selector)
    assert not selector.path_.complete
    assert selector.path_.moves == expected.path_.moves[:3]
    selector.set_params(engine="local").fit(X, y)
    assert selector.path_ == expected.path_
    with pytest.raises(EngineLostError, match="cannot be reached any more"):
        ForwardBackwardSelection(engine=EngineSettings("dask", client)).fit(X, y)


def test_a_cluster_of_one_thread_evaluates_too(client):
    assert Jobs(client=client).run(pow, 2, [(3,), (4,)]) == [8, 16]


@pytest.mark.parametrize("client", [2], indirect=True)  # threads
def test_a_scheduler_lost_during_evaluation_is_an_error(client, scheduler, monkeypatch):
    monkeypatch.setattr("pinsker.engine._dask._cluster._SECONDS_TO_RECONNECT", 0.5)
    assert not cluster_was_lost(client, OSError("of a model"))
    assert cluster_was_lost(client, CancelledError("of Dask"))

    def evaluate(scheduler_id, result):
        os.kill(scheduler_id, signal.SIGKILL)
        time.sleep(1.0)
        return result

    with pytest.raises(EngineLostError, match=r"lost while sets were evaluated \(.*engine='local'"):
        Jobs(client=client).run(evaluate, scheduler[0].pid, [(1,), (2,)])
    assert cluster_was_lost(client, OSError("of anything"))
