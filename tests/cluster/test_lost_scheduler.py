"""A scheduler that dies leaves one clear error, and a path to go on with."""

import asyncio

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from pinsker import (
    BackwardElimination,
    CriterionSelection,
    EngineSettings,
    FeatureSelector,
    ForwardBackwardSelection,
)
from pinsker.engine import Backward
from pinsker.exceptions import EngineLostError
from pinsker.holdout import Jobs, find_sizes

distributed = pytest.importorskip("distributed")


@pytest.fixture
def scheduler(processes):
    """A scheduler in a process of its own, as a process and its address."""
    receive, send = processes.Pipe(duplex=False)
    process = processes.Process(target=serve, args=(send,))
    process.start()
    yield process, receive.recv()
    process.kill()
    process.join()


def serve(send):
    """Run a scheduler until it is killed."""

    async def run():
        scheduler = distributed.Scheduler(host="127.0.0.1", port=0, dashboard_address=":0")
        async with scheduler:
            send.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(run())


@pytest.fixture
def client(scheduler):
    """A client, and a worker in this process: only the scheduler is going to die."""
    client = distributed.Client(scheduler[1], set_as_default=False)

    async def start():
        return await distributed.Worker(scheduler[1], nthreads=1, dashboard=False)

    worker = client.sync(start)
    yield client
    client.sync(worker.close, nanny=False)
    client.close(timeout=1)


@pytest.fixture
def dies_in_step(scheduler, monkeypatch):
    """Kill the scheduler before the fourth removal."""
    monkeypatch.setattr("pinsker._cluster._SECONDS_TO_RECONNECT", 0.5)
    remove, calls = Backward.remove, []

    def counted(self, feature):
        calls.append(self.plan.engine)
        if calls.count("dask") == 4:
            scheduler[0].kill()
            scheduler[0].join()
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


def test_a_scheduler_lost_during_evaluation_leaves_the_path(client, scheduler, monkeypatch):
    monkeypatch.setattr("pinsker._cluster._SECONDS_TO_RECONNECT", 0.5)
    assert Jobs(client=client).run(pow, 2, [(3,), (4,)]) == [8, 16]  # as long as there is one

    def without_scheduler(*args):
        scheduler[0].kill()
        return find_sizes(*args)

    monkeypatch.setattr("pinsker.selectors._feature_selector.find_sizes", without_scheduler)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    expected = ForwardBackwardSelection(random_state=0).fit(X, y).path_
    selector = FeatureSelector(
        engine=EngineSettings("dask", client),
        searches=["relevance", "forward-backward"],  # the second one measures information
        models=[LogisticRegression()],
        cv=2,
        random_state=0,
    )
    lost = r"cannot be reached any more\. Try again, .* or engine='local'\. path_ holds the sets"
    with pytest.raises(EngineLostError, match=lost) as caught:
        selector.fit(X, y)
    check_is_fitted(selector)
    assert selector.path_.moves == caught.value.path.moves == expected.moves
    assert selector.certificate_.verdict == "not tested"
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")).assign(y=y), npartitions=2)
    with client.as_current(), pytest.raises(EngineLostError, match="cannot be reached any more"):
        CriterionSelection("cmim", 2).fit(frame, "y")
