"""Tables: read from every format, and written back."""

import io
import sys
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import pandas as pd
from scipy.io import arff

from pinsker._compat import require
from pinsker.cli._choices import find_column, parse_columns
from pinsker.cli._dates import read_dates
from pinsker.cli._files import STDIN, Format, format_of_name, open_table
from pinsker.cli._text import TextStyle, read_text
from pinsker.exceptions import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read.

    Attributes
    ----------
    source : str
        Where it came from, as a user would say.
    frame : pandas.DataFrame
        All columns.
    target : str
        The column to predict.
    notes : tuple of str
        What a user should know about the reading.
    texts : pandas.DataFrame, optional
        Columns of dates as the file wrote them.
    """

    source: str
    frame: pd.DataFrame
    target: str
    notes: tuple[str, ...] = ()
    texts: pd.DataFrame | None = None

    @property
    def as_written(self) -> pd.DataFrame:
        """All columns, dates in the words of the file."""
        if self.texts is None:
            return self.frame
        return self.frame.assign(**{str(name): self.texts[name] for name in self.texts.columns})

    @property
    def features(self) -> pd.DataFrame:
        """All columns but the target."""
        return self.frame.drop(columns=self.target)

    @property
    def answer(self) -> "pd.Series[Any]":
        """The target."""
        return self.frame[self.target]


def read_sheet(
    source: str, target: str, *, style: TextStyle | None = None, drop: tuple[str, ...] = ()
) -> Sheet:
    """Read a table and find the target in it.

    Parameters
    ----------
    source : str
        A path, or ``-`` for standard input.
    target : str
        Name of the column to predict.
    style : TextStyle, optional
        How a text file writes a table; found out by default.
    drop : tuple of str
        Columns to leave out.
    """
    handle, kind = open_table(source)
    with handle:
        frame, notes = _read(handle, kind, style or TextStyle(), source)
    frame.columns = [str(name) for name in frame.columns]
    names = list(frame.columns)
    if all(_is_number(name) for name in names):
        raise DataError(
            "the first line holds numbers, not names: give the table a line of column names."
        )
    target = find_column(target, names, "--target")
    unwanted = parse_columns(drop, names, "--drop")
    if target in unwanted:
        raise ParameterError(f"--drop names the target {target!r}, which cannot be left out.")
    frame = frame.drop(columns=unwanted)
    if frame.shape[1] < 2:
        raise DataError(
            f"the table has no column beside the target {target!r}: there is nothing to choose "
            "from. If its separator was not found, name it with --separator."
        )
    dates = read_dates(frame)
    return Sheet(
        "standard input" if source == STDIN else source,
        frame.assign(**dates),
        target,
        tuple(notes),
        frame[list(dates)],
    )


def write_table(frame: pd.DataFrame, path: str, option: str = "--output") -> None:
    """Write a table in the format that the name asks for; ``-`` is CSV on standard output."""
    kind, compression = format_of_name(path, option)
    if kind == "arff" or (compression and kind in ("parquet", "feather")):
        raise ParameterError(
            f"{option} {path!r}: that is not written. Use .csv, .tsv (also compressed), .parquet "
            "or .feather."
        )
    if kind in ("csv", "tsv"):
        separator = "\t" if kind == "tsv" else ","
        target: Any = sys.stdout if path == STDIN else path
        frame.to_csv(target, sep=separator, index=False, compression=cast(Any, compression))
        return
    require("pyarrow", purpose=f"writing {kind}", extra="cli")
    if kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.reset_index(drop=True).to_feather(path)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _read(
    handle: BinaryIO, kind: Format, style: TextStyle, source: str
) -> tuple[pd.DataFrame, list[str]]:
    if kind in ("csv", "tsv"):
        separator = style.separator or ("\t" if kind == "tsv" else "")
        return read_text(handle, TextStyle(separator, style.decimal, style.missing))
    if kind == "arff":
        return _read_arff(handle, source), []
    require("pyarrow", purpose=f"reading {kind}", extra="cli")
    try:
        frame = pd.read_parquet(handle) if kind == "parquet" else pd.read_feather(handle)
    except (ValueError, OSError) as error:  # pyarrow's errors are among these
        raise DataError(f"{source!r} cannot be read as {kind}: {error}.") from error
    return frame, []


def _read_arff(handle: BinaryIO, source: str) -> pd.DataFrame:
    """Read attribute-relation text; nominal values become text, a question mark is missing."""
    text = io.StringIO(handle.read().decode("utf-8", errors="replace"))
    try:
        rows, meta = arff.loadarff(text)
    except NotImplementedError as error:
        raise DataError(
            f"{source!r} cannot be read as ARFF: attributes of text and sparse rows are not "
            "supported. Save it as CSV."
        ) from error
    except (arff.ArffError, ValueError, StopIteration, IndexError) as error:
        raise DataError(f"{source!r} cannot be read as ARFF: {error}.") from error
    frame = pd.DataFrame(rows)
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            text_values = frame[name].str.decode("utf-8")
            frame[name] = text_values.mask(text_values == "?")
    return frame
