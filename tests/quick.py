"""Run the tests that belong to what changed since main, in less than a minute.

``make quick`` runs this: ``src/pinsker/<stage>`` belongs to ``tests/<stage>``, and everything to
``tests/contract/test_imports.py``. Files of tests that use what a changed module defines come
first, and after `SECONDS` no test is begun: the last line says how many were left out.
"""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 45
ALWAYS = "tests/contract/test_imports.py"


def changed_files(base="main"):
    """Return files that differ from where this branch left another, committed or not."""

    def git(*words):
        command = ["git", "-C", str(ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()

    since = (git("merge-base", "HEAD", base) or ["HEAD"])[0]
    changed = git("diff", "--name-only", since)
    return sorted({*changed, *git("ls-files", "--others", "--exclude-standard")})


def tests_of(changed):
    """Return the files of tests that belong to changed files, the closest first."""
    folders, found, names = set(), {ALWAYS: -1}, set()
    for path in map(Path, changed):
        if path.suffix != ".py":
            continue
        if path.parts[0] == "tests" and path.name.startswith("test_") and (ROOT / path).exists():
            found[path.as_posix()] = -2
        elif path.parts[:2] == ("src", "pinsker"):
            folders.add(ROOT / "tests" / path.parts[2])
            names |= _defined(ROOT / path)
    for file in (file for folder in folders for file in folder.glob("test_*.py")):
        words = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        used = {one.id for one in words if isinstance(one, ast.Name)}
        used |= {one.attr for one in words if isinstance(one, ast.Attribute)}
        distance = 1.0 / (1 + len(names & used))
        found.setdefault(file.relative_to(ROOT).as_posix(), distance)
    return sorted(found, key=lambda file: (found[file], file))


def _defined(path):
    """Return what a module defines at its top; nothing where it is gone."""
    if not path.exists():
        return set()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {one.name for one in body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}


class StopInTime:
    """Begins no test after some seconds."""

    def __init__(self):
        self.begin, self.n_left = time.monotonic(), 0

    def pytest_runtest_logfinish(self):
        """Count down."""
        self.n_left -= 1

    def pytest_collection_finish(self, session):
        """Count the tests."""
        self.n_left, self.session = len(session.items), session

    def pytest_runtest_teardown(self):
        """Stop after the test that is running when time is up."""
        if time.monotonic() - self.begin > SECONDS:
            self.session.shouldstop = f"{SECONDS} seconds are over"

    def pytest_terminal_summary(self, terminalreporter):
        """Say what was left."""
        if self.n_left > 0:
            terminalreporter.write_line(f"{self.n_left} tests were left out: run make test")


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-x", *tests_of(changed_files())], plugins=[StopInTime()]))
