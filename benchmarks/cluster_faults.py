"""Faults of a Dask cluster in every stage of a fit: the same bits, one clear error, or worse.

    python benchmarks/cluster_faults.py                      # all cases, about an hour
    python benchmarks/cluster_faults.py --fit split --fault "one worker killed"
    python benchmarks/cluster_faults.py --pause 12 --silence 4   # shorter pauses, sooner noticed

Every case has a cluster of its own (scheduler, nanny and two workers are processes) and a limit of
time. Exit status 1 if a case hangs, gives other bits, or ends in a foreign error.
"""

import argparse
import asyncio
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from hashlib import sha256
from multiprocessing import forkserver

import dask
import distributed
import numpy as np

from one_process import PRELOADED, limit_threads, run_within
from pinsker import BackwardElimination, EngineSettings, FeatureSelector
from pinsker.exceptions import EngineLostError

#: Stage of a fit -> how a line of the log begins with which it starts.
STAGES = {"search": "searching", "evaluation": "evaluating", "certification": "certifying"}
FITS = {
    "split": tuple(STAGES),  # 5000 rows: three parts of them
    "cross": tuple(STAGES),  # 300 rows: cross-fitting, then certify on fresh rows
    "backward": ("search",),  # one search whose rows lie on the workers
}
MEMORY_LIMIT = 1_200_000_000
GOOD = ("same bits", "clear error")


def main():
    options = _options()
    limit_threads(1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # `run_within` ends what it started
    print(f"| {'fit':8} | {'stage':13} | {'fault':28} | after, s | {'end':11} | s | what is said |")
    print("|---|---|---|---|---|---|---|")
    bad = 0
    for fit, stages in FITS.items():
        if options.fit not in (None, fit):
            continue
        here = run_within(300, reference, fit)["digest"]
        for stage in stages:
            if options.stage not in (None, stage):
                continue
            for fault in options.fault or FAULTS:
                case = (fit, stage, fault, options.after, options.pause, options.silence)
                found = run_within(options.limit, run_case, *case)
                bad += _print(case, found, here)
    sys.exit(bool(bad))


def _options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--fit", choices=FITS)
    parser.add_argument("--stage", choices=STAGES)
    parser.add_argument(
        "--fault", choices=FAULTS, action="append", help="several times for several"
    )
    parser.add_argument("--limit", type=float, default=400.0, help="seconds of a case")
    parser.add_argument("--after", type=float, default=0.3, help="seconds from stage to fault")
    parser.add_argument("--pause", type=float, default=60.0, help="seconds of a pause")
    parser.add_argument("--silence", type=float, help="seconds after which a pause is noticed")
    return parser.parse_args()


def _print(case, found, here):
    """Print a row of the table; return whether it is a bad one."""
    fit, stage, fault, moment, *_ = case
    end = found.get("end", "hang or crash")
    if end == "a result":
        end = "same bits" if found["digest"] == here else "OTHER BITS"
    if found.get("struck") == []:
        end += " (over before the fault)"
    said = found.get("said", found.get("foreign", ""))
    seconds = found.get("wall", float("nan"))
    print(
        f"| {fit:8} | {stage:13} | {fault:28} | {moment:.1f} | {end:11} | {seconds:.1f} | {said} |",
        flush=True,
    )
    return not end.startswith(GOOD)


# The fits ---------------------------------------------------------------------------------------


def table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 7))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


def run_fit(fit, engine, begin=str):
    """Run a fit; return what must not depend on where it ran."""
    if fit == "backward":
        begin("search")
        selector = BackwardElimination(engine=engine).fit(*table(3000))
        return _facts(selector)
    models = ["linear", "boosted trees"]
    selector = FeatureSelector(0.02, models=models, engine=engine, random_state=0)
    selector.fit(*table(5000 if fit == "split" else 300))
    facts = _facts(selector)
    if fit == "cross":
        begin("certification")
        facts.append(repr(selector.certify(*table(400, seed=1))))
    return facts


def _facts(selector):
    path = selector.path_
    values = [list(map(str, column)) for column in selector.cv_results_.values()]
    return [path.moves, path.scores, path.information, repr(selector.certificate_), values,
            selector.get_support().tolist()]  # fmt: skip


def _digest(facts):
    return sha256(pickle.dumps(facts)).hexdigest()


def reference(fit):
    return {"digest": _digest(run_fit(fit, "local"))}


# The cluster, and what happens to it --------------------------------------------------------------


class ClusterOfProcesses:
    """A scheduler, a nanny and two workers."""

    def __init__(self, pause):
        self.pause = pause
        processes = multiprocessing.get_context("fork")  # of this one, which has no threads yet
        receive, send = processes.Pipe(duplex=False)
        self.scheduler = processes.Process(target=serve, args=(send,))
        self.scheduler.start()
        self.address = receive.recv()
        self.nannies = processes.Process(target=nurse, args=(self.address,))
        self.nannies.start()
        self.client = distributed.Client(self.address, set_as_default=False)
        self.client.wait_for_workers(2, timeout=120)
        found = self.client.run(os.getpid)
        self.addresses = sorted(found)
        self.pids = [found[address] for address in self.addresses]

    def send(self, number, pids, seconds=None):
        """Send a signal to processes, and to those that are stopped another one later."""
        for pid in pids:
            os.kill(pid, number)
        if number == signal.SIGSTOP and seconds is not None:
            later = threading.Timer(seconds, self.send, (signal.SIGCONT, pids))
            later.daemon = True
            later.start()

    def fill(self, fraction):
        """Let a task of somebody else take memory of the first worker for some time."""

        def take(n_bytes, seconds):
            held = []
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                if len(held) * 10_000_000 < n_bytes:
                    held.append(b"1" * 10_000_000)
                time.sleep(0.01)

        other = distributed.Client(self.address, set_as_default=False)
        has = other.run(_resident, workers=self.addresses[:1])[self.addresses[0]]
        n_bytes = fraction * MEMORY_LIMIT - has
        self.taken = other.submit(take, n_bytes, self.pause, workers=self.addresses[:1])


def serve(send):
    """Run a scheduler."""

    async def run():
        async with distributed.Scheduler(
            host="127.0.0.1", port=0, dashboard_address=":0"
        ) as scheduler:
            send.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(run())


def nurse(address):
    """Run two workers and start them again when they die."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["distributed", *PRELOADED])
    forkserver.ensure_running()
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    how = {"nthreads": 1, "memory_limit": MEMORY_LIMIT, "dashboard": False, "silence_logs": 50}

    async def run():
        async with (
            distributed.Nanny(address, **how) as first,
            distributed.Nanny(address, **how) as second,
        ):
            await asyncio.gather(first.finished(), second.finished())

    asyncio.run(run())


def _resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


FAULTS = {
    "none": str,
    "one worker killed": lambda c: c.send(signal.SIGKILL, c.pids[:1]),
    "the other worker killed": lambda c: c.send(signal.SIGKILL, c.pids[1:]),
    "one worker paused": lambda c: c.send(signal.SIGSTOP, c.pids[:1], c.pause),
    "one worker stopped for good": lambda c: c.send(signal.SIGSTOP, c.pids[:1]),
    "all workers killed": lambda c: c.send(signal.SIGKILL, c.pids),
    "all workers paused": lambda c: c.send(signal.SIGSTOP, c.pids, c.pause),
    "all workers lost for good": lambda c: c.send(signal.SIGKILL, [c.nannies.pid, *c.pids]),
    "memory limit reached": lambda c: c.fill(1.2),
    "memory nearly full": lambda c: c.fill(0.87),
    "scheduler killed": lambda c: c.send(signal.SIGKILL, [c.scheduler.pid]),
    "scheduler stopped for good": lambda c: c.send(signal.SIGSTOP, [c.scheduler.pid]),
}


def run_case(fit, stage, fault, moment, pause, silence):
    """Run a fit on a cluster, with a fault in one of its stages."""
    if silence is not None:
        from pinsker import _cluster

        _cluster._SECONDS_OF_SILENCE = silence
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = ClusterOfProcesses(pause)
    stages, struck = Stages(), []

    def strike():
        if stages.now == stage:
            struck.append(time.monotonic())
            FAULTS[fault](cluster)

    stages.when(stage, moment, strike)
    began = time.monotonic()
    found = {"struck": struck}
    try:
        engine = EngineSettings("dask", cluster.client)
        found |= {"end": "a result", "digest": _digest(run_fit(fit, engine, stages.begin))}
    except EngineLostError as error:
        found |= {"end": "clear error", "said": " ".join(str(error).split())}
    except Exception as error:  # a foreign one is a finding
        found |= {"end": "OTHER ERROR", "said": f"{type(error).__name__}: {error}"[:300]}
    found["wall"] = time.monotonic() - began
    stages.now = None
    end_others()
    return found


def end_others():
    """End all other processes of this session: those of the cluster, stopped ones included."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(name) != os.getpid() and os.getsid(int(name)) == os.getsid(0):
                os.kill(int(name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


class Stages(logging.Handler):
    """Follows the stages of a fit by the log, and calls something in one of them."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.now = self._wanted = None
        log = logging.getLogger("pinsker")
        log.addHandler(self)
        log.setLevel(logging.INFO)
        log.propagate = False

    def when(self, stage, moment, action):
        self._wanted, self._moment, self._action = stage, moment, action

    def emit(self, record):
        for stage, beginning in STAGES.items():
            if f": {beginning}" in record.getMessage():
                self.begin(stage)

    def begin(self, stage):
        self.now = stage
        if stage != self._wanted:
            return
        self._wanted = None
        if self._moment:
            later = threading.Timer(self._moment, self._action)
            later.daemon = True
            later.start()
        else:
            self._action()


if __name__ == "__main__":
    main()
