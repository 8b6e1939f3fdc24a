"""The Dask engine gives the bits of the local one, whatever happens to its workers."""

import gc
import logging
import signal
import time

import numpy as np
import pytest

from pinsker.engine import Backward, Forward, Problem
from pinsker.exceptions import EngineError

N_ROWS, N_COLUMNS = 400, 9


def numeric_target(rng, x):
    return {"target": x[:, :2].sum(axis=1) + rng.standard_cauchy(len(x)) / 5}


def classes(rng, x):
    return {"labels": (x[:, 0] + rng.normal(size=len(x)) > 1.5).astype(np.int64)}


def make_problem(target, *, groups=False):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N_ROWS, N_COLUMNS))
    x[:, 5] = rng.integers(0, 4, size=N_ROWS) * 1e200  # a nominal column
    x[:, 6] = x[:, 7].round()  # ties
    features = np.arange(N_COLUMNS) // 2 if groups else None
    return Problem.from_arrays(x, features=features, **target(rng, x))


def backward_path(problem, at_step=lambda step: None, **settings):
    """Remove features from the last to the second; return all scores on the way."""
    search = Backward(problem, **settings)
    seen = [(search.information, search.scores())]
    for step, feature in enumerate(range(problem.n_features - 1, 0, -1)):
        at_step(step)
        search.remove(feature)
        seen.append((search.information, search.scores()))
    return seen


def forward_path(problem, n_steps=4, **settings):
    search = Forward(problem, **settings)
    seen = [(search.information, search.scores())]
    for feature in range(n_steps):
        search.add(feature)
        seen.append((search.information, search.scores()))
    return seen


def assert_same_bits(found, expected):
    assert [information for information, _ in found] == [i for i, _ in expected]
    for (_, one), (_, other) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("target", "settings"),
    [(classes, {}), (numeric_target, {"score": "direct", "max_samples": 150})],
)
def test_same_bits_as_local(client, target, settings):
    problem = make_problem(target, groups=bool(settings))
    for path in (backward_path, forward_path):
        found = path(problem, engine="dask", client=client, **settings)
        assert_same_bits(found, path(problem, **settings))


def test_little_memory_changes_nothing(client):
    problem = make_problem(classes)
    search = Backward(problem, engine="dask", client=client, max_memory=500_000)
    assert 0 < search.plan.n_watched < N_ROWS
    assert search.plan.n_tiles == 2
    assert_same_bits(
        backward_path(problem, engine="dask", client=client, max_memory=500_000),
        backward_path(problem),
    )


def test_a_killed_worker_changes_nothing(client, send):
    problem = make_problem(classes)

    def at_step(step):
        if step == 3:
            send([0], signal.SIGKILL)

    found = backward_path(problem, at_step, engine="dask", client=client)
    assert_same_bits(found, backward_path(problem))


def test_a_stopped_worker_does_not_stop_the_path(client, send, monkeypatch):
    monkeypatch.setattr("pinsker.engine.backends.dask._steps._LEAST_PATIENCE", 0.3)
    problem = make_problem(numeric_target)

    def at_step(step):
        if step == 3:
            send([0], signal.SIGSTOP)

    found = backward_path(problem, at_step, engine="dask", client=client)
    assert_same_bits(found, backward_path(problem))


def test_what_the_workers_have_lost_is_sent_again(client):
    problem = make_problem(classes)
    search = Backward(problem, engine="dask", client=client)
    client.run(lambda dask_worker: vars(dask_worker).pop("_pinsker_store") and None)
    search.remove(3)
    expected = Backward(problem, active=set(range(N_COLUMNS)) - {3})
    np.testing.assert_array_equal(search.scores(), expected.scores())


@pytest.fixture
def sent(client, monkeypatch):
    """Workers that this process has sent a table to."""
    scatter, places = client.scatter, []

    def noted(value, *, workers, **options):
        places.extend(workers)
        return scatter(value, workers=workers, **options)

    monkeypatch.setattr(client, "scatter", noted)
    return places


def test_a_lost_table_is_sent_once_to_each_worker(client, sent):
    search = Backward(make_problem(classes), engine="dask", client=client)
    client.run(lambda dask_worker: vars(dask_worker).pop("_pinsker_store") and None)
    sent.clear()
    search.remove(3)
    assert sorted(sent) == sorted(client.nthreads())  # and not once for each of their tiles


def test_the_next_search_starts_with_the_table_that_was_sent_again(client, sent, monkeypatch):
    problem = make_problem(classes)
    scatter, warnings = client.scatter, []

    async def forgotten(value, **options):
        future = await scatter(value, **options)
        if len(sent) == 1:  # the first copy, which all workers are to take from each other
            await client.cancel([future], force=True, asynchronous=True)
        return future

    monkeypatch.setattr(client, "scatter", forgotten)
    log = logging.getLogger("pinsker")
    monkeypatch.setattr(log, "warning", lambda *words: warnings.append(words[0]))
    first = Backward(problem, engine="dask", client=client)
    assert warnings == ["engine dask: table and tiles are sent again (%s)"]
    assert set(client.nthreads()) <= set(sent[1:])
    sent.clear(), warnings.clear()
    second = Backward(problem, engine="dask", client=client)
    assert (sent, warnings) == ([], [])
    np.testing.assert_array_equal(second.scores(), first.scores())


@pytest.mark.parametrize("is_unread", [False, True])
def test_workers_forget_what_is_done(cluster, client, monkeypatch, is_unread):
    """Also where the scheduler has not read that task yet when its last future could go."""

    def names(dask_worker):
        store = vars(dask_worker).get("_pinsker_store")
        return [*store.tables, *store.tiles] if store else []

    def held():
        return {(worker, name) for worker, some in client.run(names).items() for name in some}

    before = held()  # of tests whose client closed before its last word was read
    problem = make_problem(classes)
    search = Backward(problem, engine="dask", client=client)
    assert len(held() - before) == 2 + 8  # two tables, eight tiles
    if is_unread:  # what it says of unknown tasks has no effect, and its workers are busy
        handlers = cluster.scheduler.stream_handlers
        monkeypatch.setitem(handlers, "client-desires-keys", lambda **message: None)
        busy = [client.submit(time.sleep, 0.5, workers=[w], pure=False) for w in client.nthreads()]
    del search, problem
    gc.collect()
    if is_unread:
        client.gather(busy)
    deadline = time.monotonic() + 20
    while held() - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not held() - before


def test_an_error_on_a_worker_is_raised(client, monkeypatch):
    search = Backward(make_problem(classes), engine="dask", client=client)
    monkeypatch.setattr("pinsker.engine.backends.dask._steps.advance", divmod)
    with pytest.raises(EngineError, match="a worker failed with TypeError: divmod expected 2 arg"):
        search.remove(3)


def test_a_late_worker_gets_tiles(cluster, client, monkeypatch):
    monkeypatch.setattr("pinsker.engine.backends.dask._steps._SECONDS_BETWEEN_COUNTS", 0.0)
    problem = make_problem(classes)
    search = Backward(problem, engine="dask", client=client)
    before = set(client.nthreads())
    search.remove(8)
    cluster.scale(len(before) + 1)
    client.wait_for_workers(len(before) + 1, timeout=60)
    for feature in range(7, 3, -1):
        search.remove(feature)
    (newcomer,) = set(client.nthreads()) - before
    placement = search._search._steps._placement
    assert len(placement.tiles(newcomer)) >= 2
    expected = Backward(problem, active=range(4))
    np.testing.assert_array_equal(search.scores(), expected.scores())
