"""Tiles without a cluster: how rows are dealt into them, and which worker holds which."""

import numpy as np
import pytest

from pinsker.engine import Backward, Problem

pytest.importorskip("distributed", reason="needs pinsker[dask]")

from pinsker.engine.backends.dask._searches import count_work, deal_rows
from pinsker.engine.backends.dask._steps import Placement


def test_rows_are_dealt_by_work():
    rng = np.random.default_rng(0)
    queries = np.sort(rng.choice(5000, 1001, replace=False))
    work = rng.pareto(3.0, size=1001)
    tiles = deal_rows(queries, work, 7)
    assert np.array_equal(np.sort(np.concatenate(tiles)), queries)
    assert all((np.diff(tile) > 0).all() for tile in tiles)
    loads = [work[np.isin(queries, tile)].sum() for tile in tiles]
    # Dealt there and back again, two tiles differ by less than the costliest row.
    assert max(loads) - min(loads) < work.max()
    assert [len(tile) for tile in deal_rows(queries[:3], work[:3], 7)] == [1, 1, 1]


@pytest.mark.parametrize("numeric", [False, True])
def test_rows_with_more_close_pairs_count_for_more(numeric):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 5))
    rare = np.arange(600) < 30
    # The rare rows' targets lie apart from each other and from all others.
    target = np.where(rare, -10.0 - np.arange(600), x[:, 0])
    labels = {"target": target} if numeric else {"labels": rare.astype(np.int64)}
    search = Backward(Problem.from_arrays(x, **labels))
    settings = {**search._settings(search.plan, 3), "watched_queries": 600}
    work = count_work(settings, backward=True)
    assert work[rare].mean() > 1.5 * work[~rare].mean()
    assert (work >= 600).all()
    assert np.ptp(count_work(settings, backward=False)) < 1


def test_tiles_follow_threads_and_move_as_little_as_needed():
    placement = Placement(8)
    placement.update({"a": 1, "b": 3})
    assert [len(placement.tiles(worker)) for worker in "ab"] == [2, 6]
    assert placement.threads_per_tile("b") == 1
    before = dict(placement.worker_of)
    placement.update({"a": 1, "b": 3})
    assert placement.worker_of == before
    placement.update({"a": 1, "b": 3, "c": 4})
    assert [len(placement.tiles(worker)) for worker in "abc"] == [1, 3, 4]
    assert all(placement.worker_of[t] in (before[t], "c") for t in range(8))
    placement.update({"c": 4})
    assert len(placement.tiles("c")) == 8
    placement.update({"d": 16})
    assert placement.threads_per_tile("d") == 2


def test_a_late_worker_is_passed_over_until_it_has_caught_up():
    placement = Placement(4)
    placement.update({"a": 1, "b": 1})
    placement.mark_late("a")
    placement.mark_late("a")  # the same delay
    assert placement.elsewhere(["a"]) == "b"
    placement.update({"a": 1, "b": 1})
    assert placement.tiles("a") == []
    placement.clear("a")
    placement.update({"a": 1, "b": 1})
    assert len(placement.tiles("a")) == 2
    placement.mark_late("a")  # again: once more is once too often
    placement.clear("a")
    placement.update({"a": 1, "b": 1})
    assert placement.tiles("a") == []
    assert placement.elsewhere(["a", "b"]) is None
    placement.update({"a": 1})  # better than none
    assert len(placement.tiles("a")) == 4
