"""Bytes as calls: a file that the command reads, or numbers that the kernels are given."""

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from fuzz.files import CHEAP, WRITERS, run
from pinsker.engine import (
    Backward,
    Forward,
    PackedColumns,
    Problem,
    box_counts,
    class_probabilities,
    neighbor_counts,
)
from pinsker.exceptions import PinskerError

ENDINGS = (*WRITERS, "arff", "sas7bdat", "sav")


def call_with(data):
    """Make the call that bytes (an ``atheris.FuzzedDataProvider``) stand for."""
    with contextlib.suppress(PinskerError):
        (read_a_file if data.ConsumeBool() else call_a_kernel)(data)


def read_a_file(data):
    """Read bytes as a table of any format."""
    ending = ENDINGS[data.ConsumeIntInRange(0, len(ENDINGS) - 1)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        path.write_bytes(data.ConsumeBytes(4096))
        run("select", path, "--target", "y", *CHEAP)


def call_a_kernel(data):
    """Give the kernels tables whose sizes need not fit together."""
    x, y = matrix(data), matrix(data)
    labels = np.array(data.ConsumeIntListInRange(data.ConsumeIntInRange(0, 12), -3, 9))
    k, threads = data.ConsumeIntInRange(-1, 9), data.ConsumeIntInRange(-1, 3)
    which = data.ConsumeIntInRange(0, 4)
    if which == 0:
        neighbor_counts(x, y, np.empty((len(x), 0)), k=k, n_threads=threads)
    elif which == 1:
        box_counts(x, y, np.empty((len(x), 0)), radius=labels, n_threads=threads)
    elif which == 2:
        trees = {"n_trees": k, "min_leaf": 1, "n_candidates": threads, "seed": 0}
        class_probabilities(x, labels, y, data.ConsumeIntInRange(0, 9), **trees)
    elif which == 3:
        PackedColumns.of(x.view(np.int64))
    else:
        kind = Backward if data.ConsumeBool() else Forward
        search = kind(Problem.from_arrays(x, labels=labels), n_neighbors=k, n_threads=threads)
        search.scores()
        (search.remove if kind is Backward else search.add)(data.ConsumeIntInRange(-2, 9))
        search.scores()


def matrix(data):
    """Return a small matrix of any doubles."""
    n_rows, n_columns = data.ConsumeIntInRange(0, 12), data.ConsumeIntInRange(0, 4)
    numbers = data.ConsumeFloatListInRange(n_rows * n_columns, -1e308, 1e308)
    return np.array(numbers, dtype=float).reshape(n_rows, n_columns)


def write_seeds(folder):
    """Write a small table in every format, as inputs to begin with."""
    frame = pd.DataFrame({"x": np.arange(30) % 7 / 7, "c": ["red", "blue"] * 15})
    frame["y"] = frame["x"] > 0.5
    for number, (ending, write) in enumerate(WRITERS.items()):
        path = Path(folder) / f"table.{ending}"
        write(frame, path)
        # Numbers are taken from the end of an input, bytes from its beginning.
        path.write_bytes(path.read_bytes()[:4096] + bytes([number, 1]))
