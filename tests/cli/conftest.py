"""A small table that knows which columns matter, and a way to run commands."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from pinsker.cli import main

N_ROWS = 120


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


class Terminal(io.TextIOWrapper):
    """What is printed to a terminal."""

    def isatty(self):
        return True


def run_command(*arguments, stdin=None, terminal=False, encoding="utf-8"):
    """Run the command in this process; bytes, or a file, may go to its standard input."""
    typed = ["pinsker", *(str(argument) for argument in arguments)]
    file = stdin if hasattr(stdin, "read") else io.BytesIO(stdin or b"")
    source, err = io.TextIOWrapper(file), io.StringIO()
    kind = Terminal if terminal else io.TextIOWrapper
    out = kind(io.BytesIO(), encoding=encoding, newline="\n")
    with (
        patch.object(sys, "argv", typed),
        patch.object(sys, "stdin", source),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main()
    out.flush()
    return Done(left.value.code, out.buffer.getvalue().decode(), err.getvalue())


@pytest.fixture
def run():
    return run_command


@pytest.fixture(scope="session")
def frame():
    """``signal`` decides the class, ``colour`` helps, the rest is noise."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=N_ROWS)
    colour = rng.choice(["red", "green"], N_ROWS)
    grade = np.where(signal + (colour == "red") > 0.5, "pass", "fail")
    return pd.DataFrame(
        {
            "noise 1": rng.normal(size=N_ROWS),
            "signal": signal,
            "colour": colour,
            "noise 2": rng.normal(size=N_ROWS),
            "final grade": grade,
        }
    )


@pytest.fixture(scope="session")
def table(frame, tmp_path_factory):
    """The same table as a file."""
    path = tmp_path_factory.mktemp("cli") / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def selection(run, table, tmp_path):
    """A saved selection of ``signal`` and ``colour``."""
    path = tmp_path / "selection.json"
    run("select", table, "-t", "final grade", "-d", "backward", "--json", path, "--quiet")
    return path
