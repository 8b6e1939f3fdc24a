"""One cluster of real worker processes that speaks TLS, for all tests here."""

import multiprocessing
import os
import signal
from multiprocessing import forkserver
from pathlib import Path

import dask
import pytest

distributed = pytest.importorskip("distributed", reason="needs pinsker[dask]")
pytest.importorskip("cryptography", reason="needs cryptography, for certificates")


def pytest_collection_modifyitems(items):
    """Run all of these in one process of pytest-xdist: a cluster for each would be slow."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("cluster"))


@pytest.fixture(scope="session")
def processes():
    """A way to start processes that have imported the package: half of the time goes to imports."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["distributed", "pinsker", "pinsker.engine.backends.dask._searches"]
    )
    forkserver.ensure_running()  # before Dask names what it would have imported
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield context


@pytest.fixture(scope="session")
def cluster(processes):
    """Two worker processes of one thread each."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        security=distributed.Security.temporary(),
        dashboard_address=":0",  # any port that is free
        silence_logs=50,
    ) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def not_for_ever(request):
    """A cluster that hangs fails its test, not the whole run."""
    minutes = 2 if request.node.get_closest_marker("slow") is None else 20

    def stop(number, frame):
        raise TimeoutError(f"this test has taken {minutes} minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60 * minutes)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def client(cluster):
    """A client that is not the active one: tests say which one they mean."""
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def send(client):
    """Send a signal to some of the worker processes; whoever is stopped goes on at the end."""
    stopped = []

    def send(which, number):
        pids = client.run(os.getpid)
        for pid in [pids[sorted(pids)[position]] for position in which]:
            os.kill(pid, number)
            if number == signal.SIGSTOP:
                stopped.append(pid)

    yield send
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
