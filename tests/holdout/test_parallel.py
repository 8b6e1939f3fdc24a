"""Calls in threads: none of them runs on after an error or an interrupt."""

import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from pinsker.holdout import Jobs


def left():
    return [thread for thread in threading.enumerate() if thread.name.startswith("pinsker-")]


def spin(interrupt, number):
    """Interrupt the process in one call; the others run for a minute, in Python."""
    if number == 0:
        interrupt()
    for _ in range(6000):
        time.sleep(0.01)
    return number


def press_ctrl_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def fail():
    raise ZeroDivisionError("of a model")


@pytest.mark.parametrize(
    ("interrupt", "raised"),
    [(press_ctrl_c, KeyboardInterrupt), (fail, ZeroDivisionError)],
)
def test_calls_end_with_the_run(interrupt, raised):
    started = time.monotonic()
    # A test run in the background of a shell ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(raised):
            Jobs(2).run(spin, interrupt, [(number,) for number in range(5)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert left() == []
    assert time.monotonic() - started < 30


def test_results_are_in_order_and_counted():
    seen = []
    jobs = Jobs(3, on_call=lambda done, of: seen.append((done, of)))
    found = jobs.run(lambda shared, x: shared + x, 10, [(x,) for x in range(7)])
    assert found == list(range(10, 17))
    assert seen == [(k, 7) for k in range(1, 8)]
    assert left() == []


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 0.2, 0.5, 1.0])
def test_the_command_leaves_with_130_whatever_the_jobs(tmp_path, delay):
    X = np.random.default_rng(0).normal(size=(4500, 40))
    table = tmp_path / "t.csv"
    names = ",".join(f"c{j}" for j in range(40))
    y = (X[:, :1] + X[:, 1:2] * X[:, 2:3] > 0).astype(int)
    np.savetxt(table, np.hstack([X, y]), "%.6g", ",", header=f"{names},y", comments="")
    code = (
        "import os, signal, sys, threading\n"
        "import pinsker.cli, pinsker.holdout._evaluate as p\n"
        "run = p.Jobs.run\n"
        f"timer = threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT))\n"
        "timer.daemon = True\n"
        "def timed(*a, **o):\n"
        "    if timer.ident is None: timer.start()\n"
        "    return run(*a, **o)\n"
        "p.Jobs.run = timed\n"
        f"sys.argv = ['pinsker', 'select', {str(table)!r}, '-t', 'y', '--jobs', '2']\n"
        "pinsker.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "pinsker: interrupted\n")


def test_threads_leave_the_filters_of_warnings_as_they_were():
    """Two fits that ignore a warning, one in the other: the ignoring stayed for good."""
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def fit(_, number):
        assert number == 0 or first_in.wait(30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BytesWarning)
            (first_in, second_in)[number].set()
            assert (second_in, first_out)[number].wait(30)
        first_out.set()

    before = list(warnings.filters)
    Jobs(2).run(fit, None, [(0,), (1,)])
    assert warnings.filters == before
