"""The command on files: tables as they come, tables that were damaged, altered selections."""

import gzip
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd

from fuzz.calls import Entry, Given
from pinsker.cli import main
from pinsker.exceptions import DataError

CHEAP = ("--searches", "linear", "--models", "linear", "--cv", "2", "--seed", "0")
#: How a frame is written, by the ending of the file.
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "csv.zip": lambda frame, path: frame.to_csv(path, index=False),
    "csv.xz": lambda frame, path: frame.to_csv(path, index=False),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
}
#: Bytes that mean something to some reader.
ODD_BYTES = (b"", b"\x00", b"\xff\xfe", b'"', b"\n\n", b",,,,", b"\x1f\x8b", b"PK\x03\x04", b"PAR1")


class CannotBeWrittenError(Exception):
    """Of the library that writes: such a file cannot reach us."""


def run(*arguments):
    """Run the command in this process; raise DataError if it ends with one line about its input."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["pinsker", *map(str, arguments)]):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as left:
            code = left.code
    if code == 2 and err.getvalue().startswith("pinsker: ") and err.getvalue().count("\n") == 1:
        raise DataError(err.getvalue())
    if code not in (0, 3):
        raise AssertionError(f"exit {code}: {err.getvalue()[:200]!r}")
    return out.getvalue()


def damaged(content, generator):
    """Return a file whose bytes were cut, exchanged, repeated or replaced."""
    content = bytearray(content)
    for _ in range(int(generator.integers(1, 4))):
        place = int(generator.integers(0, len(content) + 1))
        odd = ODD_BYTES[int(generator.integers(0, len(ODD_BYTES)))]
        kind = int(generator.integers(0, 4))
        if kind == 0:
            del content[place:]
        elif kind == 1:
            content[place : place + 1] = generator.bytes(1)
        elif kind == 2:
            content[place:place] = odd
        else:
            content[place : place + 8] = content[:8]
    return bytes(content)


def written(given, folder, name="table"):
    """Write table and target to a file; return its path."""
    endings = list(WRITERS)
    ending = endings[given.seed % 97 % len(endings)]
    path = Path(folder) / f"{name}.{ending}"
    try:
        frame = pd.DataFrame(given.X)
        target = given.y if np.ndim(given.y) < 2 else np.asarray(given.y)[:, 0]
        WRITERS[ending](frame.assign(target=target), path)
    except Exception as error:
        raise CannotBeWrittenError from error
    return path


def _command(name, *arguments, harm=False):
    def call(given, options):
        with TemporaryDirectory() as folder:
            path = written(given, folder)
            if harm:
                generator = np.random.default_rng(given.seed)
                path.write_bytes(damaged(path.read_bytes(), generator))
            return run(name, path, "--target", "target", *arguments)

    return call


def _fresh_rows(name, *arguments, harm=False):
    """Select with one table, and certify or audit the saved selection with the same one."""

    def call(given, options):
        with TemporaryDirectory() as folder:
            path, saved = written(given, folder), Path(folder) / "saved.json"
            run("select", path, "--target", "target", "--json", saved, "--quiet", *CHEAP)
            if harm:
                generator = np.random.default_rng(given.seed)
                saved.write_bytes(damaged(saved.read_bytes(), generator))
            return run(name, saved, path, *arguments)

    return call


def _two_models(name, *arguments):
    """Select with a table, fit two models to it, and compare them on fresh rows in two batches."""

    def call(given, options):
        with TemporaryDirectory() as folder:
            path, saved = written(given, folder), Path(folder) / "saved.json"
            other = Given(given.X_new, given.y_new, given.names, None, None, given.seed)
            fresh = written(other, folder, "fresh")
            run("select", path, "--target", "target", "--json", saved, "--quiet", *CHEAP)
            how = ("--train", path, "--model", "linear", *arguments)
            if name == "label":
                return run(name, saved, fresh, *how, "--output", Path(folder) / "to_label.csv")
            state = Path(folder) / "state.json"
            run(name, saved, fresh, *how, "--state", state)
            if given.seed % 3 == 0:
                generator = np.random.default_rng(given.seed)
                state.write_bytes(damaged(state.read_bytes(), generator))
            return run(name, saved, path, *how, "--state", state)

    return call


def _page_again(given, options):
    """Make the page of a saved selection again, of a damaged one in half of the calls."""
    with TemporaryDirectory() as folder:
        path, saved = written(given, folder), Path(folder) / "saved.json"
        run("select", path, "--target", "target", "--json", saved, "--quiet", *CHEAP)
        if given.seed % 2:
            saved.write_bytes(damaged(saved.read_bytes(), np.random.default_rng(given.seed)))
        return run("report", saved, "--output", Path(folder) / "page.html")


def _columns_priced(given, options):
    with TemporaryDirectory() as folder:
        path, first = written(given, folder), str(given.names[0])
        how = ("--columns", first, "--model", "linear")
        return run("audit", path, "--target", "target", *how)


def _bytes_alone(given, options):
    """Read bytes that are no table at all, under the name of any format."""
    generator = np.random.default_rng(given.seed)
    content = damaged(generator.bytes(int(generator.integers(0, 200))), generator)
    endings = list(WRITERS)
    ending = endings[given.seed % 97 % len(endings)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        return run("select", path, "--target", "target", *CHEAP)


COMMANDS = {
    "command select": Entry(_command("select", *CHEAP), weight=3),
    "command inspect": Entry(_command("inspect", "--cv", "0"), weight=1),
    "command certify": Entry(_fresh_rows("certify"), weight=2),
    "command audit": Entry(_fresh_rows("audit", "--model", "linear"), weight=1),
    "command audit columns": Entry(_columns_priced, weight=1),
    "command plan": Entry(_command("plan", "--searches", "linear", "--models", "linear"), weight=1),
    "command monitor": Entry(_two_models("monitor"), weight=1),
    "command label": Entry(_two_models("label"), weight=1),
    "command report": Entry(_page_again, weight=1),
    "damaged file": Entry(_command("select", *CHEAP, harm=True), weight=5),
    "damaged selection": Entry(_fresh_rows("certify", harm=True), weight=3),
    "no table": Entry(_bytes_alone, weight=2),
}
