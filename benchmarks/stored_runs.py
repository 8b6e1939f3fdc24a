"""Runs of a benchmark in a file of one line each, so that it can be stopped and gone on with."""

import hashlib
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
#: What results depend on: not the page, not the command.
STAGES = (
    "encoding", "engine", "information", "models", "bounds", "metrics", "search", "holdout",
    "selectors", "explain",
)  # fmt: skip


def code_key(*scripts):
    """Return a hash of all that a run depends on: the stages, and the files of a benchmark."""
    digest = hashlib.blake2b(digest_size=8)
    for stage in STAGES:
        for file in sorted((ROOT / "src" / "pinsker" / stage).rglob("*.py")):
            digest.update(file.read_bytes())
    for script in scripts:
        digest.update(Path(script).read_bytes())
    return digest.hexdigest()


def collect(tasks, one_run, folder, key, jobs=1, seconds=float("inf")):
    """Run the tasks that are not stored yet; return the results of all that are known.

    Parameters
    ----------
    tasks : list of tuple
        What identifies a run: text and numbers.
    one_run : callable
        From a task to what JSON can hold; of a module, so that other processes find it.
    folder, key : str
        Where the runs are stored under benchmarks/results, and of which state of the code.
    jobs : int
        Processes.
    seconds : float
        After so long no run is begun any more.
    """
    path = RESULTS / folder / f"{key}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {tuple(entry["task"]): entry["result"] for entry in entries}
    started = time.monotonic()
    with path.open("a") as file, ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(one_run, task): task for task in tasks if task not in known}
        for done in as_completed(waiting):
            task = waiting[done]
            known[task] = done.result()
            file.write(json.dumps({"task": task, "result": known[task]}) + "\n")
            file.flush()
            if time.monotonic() - started > seconds:
                pool.shutdown(cancel_futures=True)
                break
    return {task: known[task] for task in tasks if task in known}
