"""Output files: checked before anything is searched, and written whole or not at all."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, cast

import pandas as pd

from pinsker._compat import require
from pinsker._notes import Note
from pinsker.cli._database import files_in
from pinsker.cli._errors import visible
from pinsker.cli._tables import STDIN, format_of_name
from pinsker.exceptions import DataError, ParameterError

_TEXT = ("csv", "tsv")
#: First characters of what spreadsheets take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class OutputFiles:
    """The files of one command: all of them take their names when all are complete."""

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path]] = []
        self._printed: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        try:
            if kind is None:
                for staged, path in self._staged:
                    _guarded(path, os.replace, staged, path)
                    _sync(path.parent)
        finally:
            for staged, _ in self._staged:
                shutil.rmtree(staged.parent, ignore_errors=True)
        if kind is None:
            printed = "".join(self._printed)
            # A pipe gets names as they are; a terminal would obey what some of them hold.
            sys.stdout.write(visible(printed) if sys.stdout.isatty() else printed)

    def write_text(self, text: str, path: str | None) -> None:
        """Write a text; ``-`` is standard output, and None is nowhere."""
        if path == STDIN:
            self._printed.append(text)
        elif path is not None:
            self._write(path, lambda place: Path(place).write_text(text, encoding="utf-8"))

    def write_table(self, frame: pd.DataFrame, path: str | None) -> None:
        """Write a table in the format of the name; ``-`` is CSV on standard output."""
        if path == STDIN:
            self._printed.append(frame.to_csv(index=False))
        elif path is not None:
            self._write(path, lambda place: _write_table(frame, place))

    def _write(self, name: str, write: Callable[[str], Any]) -> None:
        path = Path(os.path.realpath(name))  # a link stays one
        if path.exists() and not path.is_file():  # a device or a pipe: there is nothing to replace
            _guarded(path, write, str(path))
            return
        folder = _guarded(path, tempfile.mkdtemp, dir=path.parent, prefix=".pinsker-")
        staged = Path(folder, path.name)
        self._staged.append((staged, path))
        _guarded(path, write, str(staged))
        if path.exists():
            staged.chmod(stat.S_IMODE(path.stat().st_mode))
        _guarded(path, _sync, staged)


def check_outputs(
    outputs: dict[str, str | None], inputs: Sequence[str | None], query: str | None = None
) -> None:
    """Refuse files that cannot be written, before anything is searched."""
    named = {f"--{option}": file for option, file in outputs.items() if file is not None}
    read = [*_facts_of(inputs), *_facts_of(files_in(query or ""))]
    written: dict[str, str] = {}
    for option, file in named.items():
        if file == STDIN and option != "--report":
            continue
        _check_place(option, file)
        place = os.path.realpath(file)
        for own in _facts_of([file]):
            if any(os.path.samestat(own, other) for other in read):
                raise ParameterError(
                    f"{option} {file!r} is the file that is read: name another one."
                )
        if place in written:
            raise ParameterError(f"{written[place]} and {option} name the same file {file!r}.")
        written[place] = option
    if outputs.get("output") is not None:
        written_format(str(outputs["output"]), "--output")
    report = outputs.get("report")
    if report is not None and not report.lower().endswith((".html", ".htm")):
        raise ParameterError(f"--report {report!r} must end in .html.")
    if report is not None:
        require("jinja2", purpose="--report", extra="report")


def _facts_of(files: Sequence[str | None]) -> list[os.stat_result]:
    """Return which files these are, whatever they are called: those that exist on a disk."""
    found = []
    for file in filter(None, files):
        with suppress(OSError, ValueError):  # what stands in for standard input may be no file
            found.append(os.fstat(sys.stdin.fileno()) if file == STDIN else os.stat(file))
    return [facts for facts in found if stat.S_ISREG(facts.st_mode)]


def written_format(path: str, option: str) -> tuple[str, str | None]:
    """Return the format and the compression of a table that is to be written, or refuse it."""
    kind, compression = format_of_name(path, option)
    if kind not in (*_TEXT, "parquet", "feather") or (compression and kind not in _TEXT):
        raise ParameterError(
            f"{option} {path!r}: that is not written. Use .csv, .tsv (also compressed), .parquet "
            "or .feather."
        )
    if kind in ("parquet", "feather"):
        require("pyarrow", purpose=f"writing {kind}", extra="cli")
    return kind, compression


def formula_notes(names: Sequence[str], path: str | None) -> tuple[Note, ...]:
    """Return a note on column names that a spreadsheet takes for formulas."""
    if path is None or (path != STDIN and format_of_name(path, "--output")[0] not in _TEXT):
        return ()
    found = tuple(name for name in names if name.startswith(_FORMULA))
    return (Note("formulas", found, {"path": path}),) if found else ()


def _write_table(frame: pd.DataFrame, path: str) -> None:
    kind, compression = written_format(path, "--output")
    if kind in _TEXT:
        separator = "\t" if kind == "tsv" else ","
        frame.to_csv(path, sep=separator, index=False, compression=cast(Any, compression))
    elif kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.reset_index(drop=True).to_feather(path)


def _check_place(option: str, file: str) -> None:
    path = Path(os.path.realpath(file))
    if not path.parent.is_dir():
        raise ParameterError(f"{option} {file!r}: there is no folder {str(Path(file).parent)!r}.")
    if path.is_dir():
        raise ParameterError(f"{option} {file!r} is a folder: name a file.")
    if not os.access(path.parent, os.W_OK):
        raise ParameterError(
            f"{option} {file!r}: the folder {str(path.parent)!r} cannot be written to."
        )


def _guarded(path: Path, action: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Do something to a file; errors of the system name it."""
    try:
        return action(*args, **options)
    except OSError as error:  # pyarrow's errors of the disk are among these
        reason = error.strerror or str(error)
        raise DataError(f"{str(path)!r} cannot be written: {reason}.") from error


def _sync(path: Path) -> None:
    """Have a file, or the names of a folder, written to the disk; not every system can."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
