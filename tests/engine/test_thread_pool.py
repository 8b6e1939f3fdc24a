"""One pool of threads for all kernels: callers share it, and a forked child has its own."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple

import numpy as np
import pytest

from pinsker.engine import neighbor_counts

#: Enough rows that the work is worth more than one thread.
N_ROWS = 3000


def counts(seed, n_threads):
    x, y, z = np.random.default_rng(seed).normal(size=(3, N_ROWS, 1))
    return np.array(astuple(neighbor_counts(x, y, z, k=3, n_threads=n_threads)))


def test_callers_in_several_threads_share_the_helpers():
    alone = [counts(seed, 1) for seed in range(8)]
    with ThreadPoolExecutor(8) as callers:
        together = list(callers.map(counts, list(range(8)) * 5, [3] * 40))
    for number, result in enumerate(together):
        np.testing.assert_array_equal(result, alone[number % 8])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_works_with_threads_of_its_own():
    # In an interpreter of its own, killed after a minute: what fails here, hangs.
    code = """
import os, sys
import numpy as np
from pinsker.engine import neighbor_counts

x, y, z = np.random.default_rng(0).normal(size=(3, 3000, 1))
before = neighbor_counts(x, y, z, k=3, n_threads=3).radius
child = os.fork()
after = neighbor_counts(x, y, z, k=3, n_threads=3).radius
if child == 0:
    os._exit(0 if np.array_equal(before, after) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_while_another_thread_works():
    # The child must not wait for a mutex that a thread held which it does not have.
    code = """
import os, threading
import numpy as np
from pinsker.engine import neighbor_counts

x, y, z = np.random.default_rng(0).normal(size=(3, 400, 1))
stop = threading.Event()

def work():
    while not stop.is_set():
        neighbor_counts(x, y, z, k=3, n_threads=3)

worker = threading.Thread(target=work)
worker.start()
for _ in range({forks}):
    child = os.fork()
    if child == 0:
        neighbor_counts(x[:20], y[:20], z[:20], k=3, n_threads=3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
worker.join()
"""
    code = code.replace("{forks}", os.environ.get("PINSKER_TEST_FORKS", "20"))
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
