"""Runs of a benchmark that are stored one by one, so that it can be stopped and gone on with."""

import hashlib
import json
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def code_key(*files):
    """Return a hash of the package's code and of the benchmark's own files."""
    digest = hashlib.blake2b(digest_size=8)
    for file in [*sorted((ROOT / "src" / "pinsker").rglob("*.py")), *map(Path, files)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def collect(name, key, tasks, one_run, seconds=float("inf")):
    """Run what is not stored yet under benchmarks/results/name/key; return results by task.

    No run is begun after `seconds`. A task is a tuple of texts and numbers, a result is a dict.
    """
    folder = ROOT / "benchmarks" / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    path, known = folder / f"{key}.jsonl", {}
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            known[tuple(entry["task"])] = entry["result"]
    began = time.monotonic()
    with path.open("a") as file:
        for task in tasks:
            if task in known or time.monotonic() - began > seconds:
                continue
            known[task] = one_run(task)
            file.write(json.dumps({"task": task, "result": known[task]}) + "\n")
            file.flush()
    return {task: known[task] for task in tasks if task in known}
