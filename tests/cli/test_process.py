"""The process of the command: interrupts at any time, and standard streams that are closed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pinsker_command

SOURCES = Path(pinsker_command.__file__).parents[1]
COMMAND = "from pinsker_command import main; main()"
#: Modules in place of the package: the process is the same, and starts at once.
INTERRUPT = "import signal; signal.raise_signal(signal.SIGINT)\n"
SWALLOWED = "try:\n    import signal; signal.raise_signal(signal.SIGINT)\nexcept BaseException: 1\n"
AT_THE_END = """
import atexit, signal
atexit.register(signal.raise_signal, signal.SIGINT)

def load_app():
    def app(prog_name):
        print("done", flush=True)
        raise SystemExit(3)
    return app
"""
BEFORE_IT_RUNS = """
import signal

def load_app():
    return lambda prog_name: signal.raise_signal(signal.SIGINT)
"""
STREAMS = """
import os, sys

def load_app():
    def app(prog_name):
        with open("kept.txt", "w") as file:
            assert file.fileno() > 2
            file.write("kept")
        print("summary"), print("note", file=sys.stderr)
        assert sys.stdin.read() == ""
        raise SystemExit(3)
    return app
"""


@pytest.fixture
def process(tmp_path):
    def start(module, redirected=""):
        (tmp_path / "pinsker").mkdir(exist_ok=True)
        (tmp_path / "pinsker" / "__init__.py").touch()
        (tmp_path / "pinsker" / "cli.py").write_text(module)
        # Without site packages, where the real package is.
        command = f'exec "{sys.executable}" -S -c "{COMMAND}" {redirected}'
        path = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCES}"}
        return subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, env=path, cwd=tmp_path
        )

    return start


@pytest.mark.parametrize("module", [INTERRUPT, SWALLOWED, BEFORE_IT_RUNS])
def test_an_interrupt_before_the_command_runs_ends_in_one_line(process, module):
    done = process(module)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "pinsker: interrupted\n")


@pytest.mark.parametrize("name", ["signal", "resource"])
def test_an_interrupt_at_the_first_imports_ends_in_one_line(process, tmp_path, name):
    (tmp_path / f"{name}.py").write_text("import _signal; _signal.raise_signal(_signal.SIGINT)\n")
    done = process(f"import {name}")
    assert (done.returncode, done.stderr) == (130, "pinsker: interrupted\n")


def test_an_interrupt_while_the_process_ends_is_no_traceback(process):
    done = process(AT_THE_END)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "done\n", "")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
def test_streams_that_are_closed_cost_neither_file_nor_code(process, tmp_path, closed):
    done = process(STREAMS, closed if "<" in closed else f"{closed} </dev/null")
    assert done.returncode == 3
    assert "Error" not in done.stderr
    assert (tmp_path / "kept.txt").read_text() == "kept"


def test_the_process_runs_the_command(capfd, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "argv", ["pinsker", "--version"])
    try:
        with pytest.raises(SystemExit) as left:
            pinsker_command.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.value.code == 0
    assert capfd.readouterr().out.startswith("pinsker 0.")


def test_too_little_memory_is_refused_at_once():
    # OpenBLAS spun for ten minutes at ``ulimit -v 700000``.
    resource = pytest.importorskip("resource")
    limit = 700_000 * 1024
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "demo"], capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "pinsker: memory is limited to 700000 KB (ulimit -v): allow 1000000\n"
