"""Run parts, store every run, and write what they found."""

import hashlib
import importlib
import json
import subprocess
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import pinsker
from experiments.reproduce.results import (
    Check,
    Report,
    Row,
    Settings,
    Task,
    markdown_table,
    merged,
    read_csv,
    write_csv,
)

PARTS = ("figure1", "figure2", "regression", "figure3", "table1", "example1", "theorems")


def reproduce(parts: Iterable[str], settings: Settings) -> list[Check]:
    """Run parts and write them under ``settings.output``; return what must hold and did or not."""
    checks: list[Check] = []
    now = commit()  # before anything runs: others may commit meanwhile
    for part in parts:
        module = part_of(part)
        results, seconds = run_tasks(part, module.tasks(settings), settings)
        rows = [row for run_rows in results.values() for row in run_rows]
        found = [*module.their_rows(), *(module.summary(rows) if rows else [])]
        if settings.only:
            found = merged(read_csv(settings.known / f"{part}.csv"), found)
        report = module.report(found)
        _write(part, found, report, settings)
        checks += [_in_words(part, check, settings) for check in report.checks]
        n_all = len(module.tasks(replace(settings, splits=None)))
        about = {"commit": now, "cpu_seconds": round(seconds), "tasks": len(results), "of": n_all}
        _write_whole(settings.output / part / "run.json", json.dumps(about))
    summary = summary_page(checks)
    settings.output.mkdir(parents=True, exist_ok=True)
    (settings.output / "summary.md").write_text(summary, encoding="utf-8")
    return checks


def part_of(name: str) -> Any:
    """Return the module of a part."""
    return importlib.import_module(f"experiments.reproduce.{name}")


@cache
def commit() -> str:
    """Return the commit that is checked out; nothing outside of a clone."""
    command = ["git", "describe", "--always", "--abbrev=10"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip()


def _in_words(part: str, check: Check, settings: Settings) -> Check:
    """Name the part; a miniature proves nothing."""
    held = None if settings.quick else check.held
    return replace(check, claim=f"{part}: {check.claim}", held=held)


def run_tasks(
    part: str, tasks: list[Task], settings: Settings
) -> tuple[dict[str, list[Row]], float]:
    """Return the rows of every task and the seconds of processor time that they took.

    Tasks that a stored run answers are not run again.
    """
    tasks = [task for task in tasks if settings.only in ("", task.group)]
    folder = settings.output / "runs" / part
    folder.mkdir(parents=True, exist_ok=True)
    stored = {} if settings.fresh else {task.name: _stored(folder, task) for task in tasks}
    results = {name: found for name, found in stored.items() if found is not None}
    missing = [task for task in tasks if task.name not in results]
    settings.on_run(part, len(results), len(tasks))
    by_name = {task.name: task for task in missing}
    for name, rows, seconds in _run_all(missing, settings.jobs):
        content = {"signature": _signature(by_name[name]), "cpu_seconds": seconds, "rows": rows}
        _write_whole(folder / f"{name}.json", json.dumps(content))
        results[name] = content
        settings.on_run(part, len(results), len(tasks))
    spent = sum(found["cpu_seconds"] for found in results.values())
    return {task.name: results[task.name]["rows"] for task in tasks}, spent


def summary_page(checks: list[Check]) -> str:
    """Return a page of what must hold."""
    return f"# What must hold\n\n{check_table(checks)}\n"


def check_table(checks: list[Check]) -> str:
    """Return claims with what was reached."""
    words = {True: "pass", False: "**miss**", None: "not checked"}
    lines = [(check.claim, check.reached, words[check.held]) for check in checks]
    return markdown_table(("claim", "reached", ""), lines)


def _run_all(tasks: list[Task], jobs: int) -> Any:
    if jobs == 1 or len(tasks) < 2:
        return (_run_one(task) for task in tasks)
    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    return workers(delayed(_run_one)(task) for task in tasks)


def _run_one(task: Task) -> tuple[str, list[Row], float]:
    """Return a task's name, its rows, and the seconds of processor time that it took."""
    started = time.process_time()
    rows = task.function(*task.arguments)
    return task.name, rows, time.process_time() - started


def _signature(task: Task) -> str:
    """Return what a stored run must agree with to be used again: task, arguments and all code."""
    return f"{_code()} {task.function.__name__} {task.arguments!r}"


@cache
def _code() -> str:
    """Return a fingerprint of the package and of the experiments: results of others are stale."""
    found = hashlib.sha256()
    for folder in (Path(pinsker.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _stored(folder: Any, task: Task) -> Row | None:
    path = folder / f"{task.name}.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    return content if content["signature"] == _signature(task) else None


def _write(part: str, found: list[Row], report: Report, settings: Settings) -> None:
    folder = settings.output / part
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / f"{part}.csv", found)
    (folder / f"{part}.md").write_text(report.page, encoding="utf-8")
    if report.draw is not None:
        from experiments.reproduce.results import new_figure

        with new_figure() as figure:
            report.draw(figure)
            figure.savefig(folder / f"{part}.png", dpi=110)


def _write_whole(path: Any, text: str) -> None:
    """Write under another name first: a run that is interrupted leaves no half file."""
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
