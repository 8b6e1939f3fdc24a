"""How the engine behaves: the same bits however the work is cut, bounded memory, any start."""

import gc
import threading
import time

import numpy as np
import pytest

from engine.tables import draw
from pinsker.engine import Backward, Forward, Problem
from pinsker.exceptions import MemoryBudgetError, ParameterError

SEARCHES = [Backward, Forward]


def step(search, feature):
    (search.remove if isinstance(search, Backward) else search.add)(feature)


def whole_path(search):
    """Scores and information of a search in which features go, or come, in their order."""
    seen = []
    for feature in range(search.problem.n_features):
        seen.append(np.append(search.scores(), search.information))
        step(search, feature)
    return np.array(seen)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("target", ["classes", "number"])
def test_same_bits_for_any_number_of_threads(search, target, seed):
    table = draw(seed, rows=131, columns=40, style="continuous", target=target)
    one = whole_path(search(table.problem(), n_threads=1))
    for n_threads in (2, 16):
        np.testing.assert_array_equal(whole_path(search(table.problem(), n_threads=n_threads)), one)


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.4, 0.9])
def test_same_bits_however_many_rows_keep_their_pairs(fraction, score, seed):
    table = draw(seed, rows=131, columns=40, style="mixed", target="classes")
    whole = Backward(table.problem(), score=score)
    assert whole.plan.n_watched == 131
    # Columns and a copy padded to 48, 176 bytes a row and 120 more for one thread.
    least = 131 * (8 * (40 + 48) + 176 + 120)
    tight = int(least + fraction * (whole.plan.n_bytes - least) / 0.7) + 2
    parts = Backward(table.problem(), score=score, max_memory=tight)
    assert parts.plan.n_watched == int(fraction * 131)
    assert parts.plan.n_bytes <= tight
    np.testing.assert_array_equal(whole_path(parts), whole_path(whole))


@pytest.mark.parametrize("search", SEARCHES)
def test_a_table_that_cannot_fit_says_so_with_the_bytes(search):
    table = draw(0, rows=50, columns=10, style="continuous", target="classes")
    with pytest.raises(
        MemoryBudgetError, match=r"needs at least \d+ bytes, but max_memory allows 999"
    ):
        search(table.problem(), max_memory=999)


def test_state_is_a_function_of_the_set(seed):
    table = draw(seed, rows=90, columns=40, style="mixed", target="classes")
    walked = Backward(table.problem())
    for feature in (3, 17, 0, 39, 21, 8, 9, 10, 11):
        walked.remove(feature)
    jumped = Backward(table.problem(), active=walked.active)
    np.testing.assert_array_equal(jumped.scores(), walked.scores())
    assert jumped.information == walked.information
    grown = Forward(table.problem(), active=(4, 2))
    added = Forward(table.problem())
    added.add(2)
    added.add(4)
    np.testing.assert_array_equal(grown.scores(), added.scores())


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("target", ["classes", "number"])
def test_order_of_rows_and_columns_changes_nothing(search, target, seed):
    table = draw(seed, rows=80, columns=36, style="tied", target=target)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(80), rng.permutation(36)
    labels = None if table.labels is None else table.labels[rows]
    numbers = None if table.labels is not None else table.target[rows]
    mixed = Problem.from_arrays(table.values[rows][:, columns], labels=labels, target=numbers)
    first, second = search(table.problem()), search(mixed)
    for feature in range(36):
        # Sums are integers: the same bits, not just the same up to rounding.
        np.testing.assert_array_equal(second.scores(), first.scores()[columns])
        step(first, int(columns[feature]))
        step(second, feature)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_sample_of_rows_keeps_the_class_frequencies(search):
    table = draw(5, rows=400, columns=4, style="continuous", target="classes")
    sampled = search(table.problem(), max_samples=100, seed=1)
    picked = sampled.plan.queries
    assert len(np.unique(picked)) == 100
    frequency = table.labels.mean()
    assert abs(table.labels[picked].mean() - frequency) <= 1 / 100  # one row of rounding
    again = search(table.problem(), max_samples=100, seed=1)
    np.testing.assert_array_equal(again.scores(), sampled.scores())
    other = search(table.problem(), max_samples=100, seed=2)
    assert not np.array_equal(other.scores(), sampled.scores())


def test_wrong_moves_are_refused():
    table = draw(0, rows=20, columns=3, style="continuous", target="classes")
    backward, forward = Backward(table.problem()), Forward(table.problem(), active=(1,))
    backward.remove(1)
    with pytest.raises(ParameterError, match="feature 1 is not in the current set"):
        backward.remove(1)
    with pytest.raises(ParameterError, match="feature 1 is in the current set already"):
        forward.add(1)
    with pytest.raises(ParameterError, match="max_samples=0 cannot be used"):
        Backward(table.problem(), max_samples=0)


def test_nothing_is_left_of_an_empty_set():
    table = draw(0, rows=20, columns=2, style="continuous", target="number")
    backward = Backward(table.problem())
    backward.remove(0)
    backward.remove(1)
    assert backward.information == 0.0
    assert np.isnan(backward.scores()).all()


def test_other_threads_run_while_the_engine_works():
    table = draw(0, rows=1500, columns=60, style="continuous", target="number")
    started, ticks = threading.Event(), 0
    done = threading.Event()

    def search():
        started.set()
        Backward(table.problem())
        done.set()

    worker = threading.Thread(target=search)
    worker.start()
    started.wait()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    # The search takes a tenth of a second or more; with the lock held it would be one tick or two.
    assert ticks >= 5


def test_repeated_searches_do_not_grow(seed):
    resource = pytest.importorskip("resource")
    table = draw(seed, rows=300, columns=30, style="continuous", target="classes")

    def run():
        search = Backward(table.problem())
        for feature in range(29):
            search.remove(feature)
        Forward(table.problem(), active=(0, 1))

    for _ in range(10):
        run()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(25):
        run()
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB on Linux
    # One search holds more than 300 * 300 * 4 bytes = 352 KiB: 25 leaks would be 8.6 MiB.
    assert grown < 5 * 1024
