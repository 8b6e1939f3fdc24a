"""One measurement in a process of its own, ended at a deadline: a hang or a crash is a result."""

import multiprocessing
import os
import signal

PRELOADED = ["pinsker", "pandas", "sklearn.ensemble", "sklearn.feature_selection"]


def limit_threads(n_threads):
    """Limit the threads of BLAS and OpenMP in processes that start from now on."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(n_threads)


def run_within(seconds, measure, *arguments):
    """Return what `measure` returns, a dict, or ``{"foreign": why there is none}``."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(send, measure, arguments))
    child.start()
    send.close()
    try:
        in_time = receive.poll(seconds)
    except BaseException:  # Ctrl-C: a process of its own session does not get it
        _end(child)
        raise
    if not in_time:
        _end(child)
        return {"foreign": f"no end after {seconds:g} s", "wall": seconds}
    try:
        found = receive.recv()
    except EOFError:  # killed for memory, or crashed in native code
        child.join()
        return {"foreign": f"the process ended with {child.exitcode}"}
    child.join()
    return found


def _end(child):
    os.killpg(child.pid, signal.SIGKILL)
    child.join()


def _send(send, measure, arguments):
    os.setsid()  # what the measurement starts ends with it
    send.send(measure(*arguments))
