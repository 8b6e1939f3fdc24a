"""Tables: found, decompressed, read from every format."""

import bz2
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from scipy.io import arff

from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, BoolArray, Fields, TargetLike
from pinsker.cli import _formats as formats
from pinsker.cli._formats import DrawnRows, TextStyle, first_line, read_text, read_values
from pinsker.cli._options import find_column, parse_columns
from pinsker.encoding import is_float
from pinsker.exceptions import DataError, ParameterError
from pinsker.report import sentence

Format = str  # of the names below, or a value of `OTHER_FORMATS`

STDIN = "-"
#: What errors name where the target was read from a saved selection, and not typed.
SAVED_TARGET = "the target of the selection"
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
_FORMATS: dict[str, Format] = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet",
    ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".arff": "arff",
}  # fmt: skip
#: How an event is written that was seen, and one that was not.
_SEEN, _CENSORED = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
#: Quarters and weeks: with dates of ISO 8601 the text whose alphabetical order is that of time.
_PERIODS = (r"\d{4}-?Q[1-4]", r"\d{4}-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?")
#: Dates in digits that end with the year, how many digits they have, and how many are looked at.
_YEAR_LAST, _MOST_LOOKED_AT = {"%d%m%Y": 8, "%m%d%Y": 8, "%m%Y": 6}, 10_000
#: Different values from which on a target may be one of numbers that a word keeps from it.
_MANY_VALUES = 20
#: A longer name of a file, which few systems allow, is shown by its first characters.
_LONGEST_PATH, _SHOWN = 255, 80
#: What pyarrow and pandas raise for damaged files; pyarrow's own errors are among these.
_DAMAGED = (
    ValueError, OSError, TypeError, LookupError, ArithmeticError, RuntimeError, AttributeError,
    MemoryError,
)  # fmt: skip
#: A compressed table that is larger than this may be this many times its compressed size.
_SMALL, _LARGEST_RATIO = 2**28, 300
_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error)
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")  # the beginning of rows or columns in JSON
_MAGIC = {
    b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz",
    b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip", b"PK\x07\x08": ".zip",  # empty; in parts
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class InputTable:
    """A table as it was read."""

    source: str  # its file, or standard input
    frame: pd.DataFrame  # all columns
    targets: tuple[str, ...]  # the columns to predict
    notes: Notes = ()  # what a user should know about the reading
    texts: pd.DataFrame | None = None
    drawn: DrawnRows | None = None
    row_groups: str | None = None
    time: str | None = None
    weights: str | None = None
    event: str | None = None  # whether the event was seen at the time that the target holds
    style: TextStyle = field(default_factory=TextStyle)  # as it was typed

    @property
    def target(self) -> str:
        """The columns to predict, in words."""
        return ", ".join(self.targets)

    @property
    def n_rows(self) -> int:
        """Rows of the file."""
        return len(self.frame) if self.drawn is None else self.drawn.n_rows

    @property
    def n_missing_targets(self) -> int:
        """Missing values of the target: in all rows, where the file tells."""
        known = {} if self.drawn is None else self.drawn.missing
        return known.get(self.target, int(self.lacks_target.sum()))

    @property
    def lacks_target(self) -> BoolArray:
        held = [*self.targets, *([self.event] if self.event else [])]
        return np.asarray(self.frame[held].isna().any(axis=1), dtype=np.bool_)

    @property
    def as_written(self) -> pd.DataFrame:
        if self.texts is None:
            return self.frame
        return self.frame.assign(**{str(name): self.texts[name] for name in self.texts.columns})

    @property
    def row_columns(self) -> dict[str, str]:
        named = {"row_groups": self.row_groups, "time": self.time, "weights": self.weights}
        return {option: column for option, column in named.items() if column is not None}

    @property
    def features(self) -> pd.DataFrame:
        """All columns but the target and those about rows."""
        about_rows = dict.fromkeys((self.row_groups, self.time, self.weights, self.event))
        return self.frame.drop(columns=[*self.targets, *filter(None, about_rows)])

    @property
    def y(self) -> TargetLike:
        """The target: a series, a frame of several, or a structured array of event and time."""
        if self.event is not None:
            return _censored(self.frame[self.targets[0]], self.frame[self.event])
        return self.frame[self.targets[0] if len(self.targets) == 1 else list(self.targets)]


def _censored(time: "pd.Series[Any]", event: "pd.Series[Any]") -> AnyArray:
    """Return times and events as a structured array; a missing event is a missing time."""
    texts = event.astype(str).str.strip().str.lower()
    known = texts.map({**dict.fromkeys(_SEEN, 1.0), **dict.fromkeys(_CENSORED, 0.0)})
    unknown = event[known.isna() & event.notna()]
    if len(unknown):
        raise DataError(
            f"--event {event.name!r} holds {str(unknown.iloc[0])!r}: write 1 or true where the "
            "event was seen, and 0 or false where it was not."
        )
    if time.dtype.kind not in "iuf":
        raise DataError(
            f"--target {time.name!r} holds no numbers, but a time is needed with --event."
        )
    numbers = time.astype(np.float64).where(known.notna())
    pairs = list(zip(known.fillna(0.0) > 0, numbers, strict=True))
    return np.array(pairs, dtype=[(str(event.name), np.bool_), (str(time.name), np.float64)])


def read_input(
    source: str, target: str | Sequence[str], *, style: TextStyle | None = None,
    drop: Sequence[str] | None = None, most: int | None = None, seed: int = 0,
    query: str | None = None, may_lack_target: bool = False,
    named_by: str = "--target",
) -> InputTable:  # fmt: skip
    """Read a table and find the target in it; an empty one where it may be lacking."""
    if query is not None:
        frame, drawn = formats.read_query(source, query, most=most, seed=seed)
        notes = [] if drawn is None else drawn.notes
        source = source or "the query"
    else:
        handle, kind = open_table(source)
        with handle:
            drawn = None if most is None else _draw(handle, kind, source, most, seed)
            frame, notes = _read(handle, kind, style or TextStyle(), source, drawn)
    frame.columns = [str(name) for name in frame.columns]
    wanted = [target] if isinstance(target, str) else target
    if may_lack_target:
        frame = frame.assign(**{one: np.nan for one in wanted if one not in frame.columns})
    names = list(frame.columns)
    if all(is_float(name) for name in names):
        raise DataError(
            "the first line holds numbers, not names: give the table a line of column names."
        )
    several = len(wanted) != 1 or (wanted[0] not in names and bool(set(wanted[0]) & set(",*")))
    find = parse_columns(wanted, names, named_by) if several else [wanted[0]]
    targets = tuple(find_column(one, names, named_by) for one in find)
    unwanted = parse_columns(drop, names, "--drop")
    for one in targets:
        if one in unwanted:
            raise ParameterError(f"--drop names the target {one!r}, which cannot be left out.")
    frame = frame.drop(columns=unwanted)
    if frame.shape[1] <= len(targets):
        raise DataError(
            f"the table has no column beside the target {', '.join(targets)!r}: there is nothing "
            "to choose from. If its separator was not found, name it with --separator."
        )
    if not len(frame):
        raise DataError(f"{source!r} has names of columns but no rows below them.")
    read, about_values = read_values(frame)
    for note in about_values:
        one = note.columns[0]
        if note.kind == "nearly numeric" and one in targets and not _repeats(frame[one]):
            raise DataError(f"{sentence(note, 'command')}.")
    return InputTable(
        "standard input" if source == STDIN else source, frame.assign(**read), targets,
        (*notes, *about_values), frame[list(read)], drawn, style=style or TextStyle(),
    )  # fmt: skip


def _repeats(column: "pd.Series[Any]") -> bool:
    """Return whether values are few, or come back, as those of classes do."""
    n_different = int(column.nunique())
    return n_different < _MANY_VALUES or 2 * n_different < int(column.notna().sum())


def with_row_columns(table: InputTable, **options: str | None) -> InputTable:
    """Return a table some columns of which are about rows, and no features."""
    found: Fields = {}
    for option, typed in options.items():
        if typed is None:
            continue
        flag = f"--{option.replace('_', '-')}"
        name = find_column(typed, list(table.frame.columns), flag)
        if name in table.targets:
            raise ParameterError(f"{flag} names the target {name!r}: name another column.")
        if option == "time":
            _check_times(table.frame[name])
        if option != "event" and table.frame[name].isna().any():
            raise DataError(
                f"{flag} {name!r} is missing in {int(table.frame[name].isna().sum())} rows: fill "
                "it in, or leave those rows out."
            )
        found[option] = name
    if "event" in found and len(table.targets) > 1:
        raise ParameterError(
            f"--event goes with one time, but --target names {len(table.targets)} columns."
        )
    marked = replace(table, **found)
    if marked.features.shape[1] == 0:
        raise DataError("no column is left to choose from beside the target and those about rows.")
    return marked


def _check_times(column: "pd.Series[Any]") -> None:
    """Refuse values whose own order is not that of time."""
    kind, present = column.dtype.kind, column.dropna()
    if kind in "bMm":
        return
    values = pd.Series(np.unique(present if kind in "iuf" else present.astype(str)))
    if kind in "iuf":  # 01032008, or 01.2008; other numbers are hardly all days of these years
        some = values[:: len(values) // _MOST_LOOKED_AT + 1]
        whole = some if (some % 1 == 0).all() else 10_000 * some
        digits = whole.map("{:.0f}".format).astype(str)
        given = ((digits.str.zfill(length), form) for form, length in _YEAR_LAST.items())
        read = [pd.to_datetime(one, format=form, errors="coerce") for one, form in given]
        days = [one for one in read if one.dt.year.between(1800, 2199).all()]
        grow = all(one.is_monotonic_increasing for one in days)
    else:
        dates = pd.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
        periods = any(values.str.fullmatch(period).all() for period in _PERIODS)
        grow = values.str.len().nunique() < 2 and (periods or dates.is_monotonic_increasing)
    if not grow:
        raise DataError(
            f"--time {column.name!r} holds {str(present.iloc[0])!r}, which has no order in time: "
            "write dates as 2010-07-01, months as 2010-07, or numbers that grow with time."
        )


def _draw(handle: BinaryIO, kind: Format, source: str, most: int, seed: int) -> DrawnRows | None:
    """Draw rows of a file that has more; None where all of them are read."""
    try:
        if kind in ("csv", "tsv"):
            return formats.draw_from_text(handle, most, seed)
        return formats.draw_from_parquet(handle, most, seed) if kind == "parquet" else None
    except _DAMAGED as error:
        raise DataError(f"{source!r} cannot be read as {kind}: {first_line(error)}.") from error
    finally:
        handle.seek(0)


def _read(
    handle: BinaryIO, kind: Format, style: TextStyle, source: str, drawn: DrawnRows | None
) -> tuple[pd.DataFrame, list[Note]]:
    if kind in ("csv", "tsv"):
        separator = style.separator or ("\t" if kind == "tsv" else "")
        text = handle if drawn is None else drawn.content
        frame, notes = read_text(text, replace(style, separator=separator))
        return frame, [*([] if drawn is None else drawn.notes), *notes]
    if kind in formats.OTHER_FORMATS.values():
        frame, about_sheet = formats.read_other(handle, kind, source)
        return frame, [*about_sheet]
    if drawn is not None:
        frame, about_index = _with_index(drawn.content)
        return frame, [*drawn.notes, *about_index]
    if kind == "arff":
        return _read_arff(handle, source), []
    try:
        reader = require(f"pyarrow.{kind}", purpose=f"reading {kind}", extra="cli")
        table = reader.read_table(handle)
        table.validate(full=True)  # before anything follows its offsets
        frame = table.to_pandas()
    except _DAMAGED as error:
        raise DataError(f"{source!r} cannot be read as {kind}: {first_line(error)}.") from error
    return _with_index(frame)


def _with_index(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Note]]:
    """Return the index of a frame as columns, if it has names; else without it, with a note."""
    index = frame.index
    named = [name for name in index.names if name is not None and name not in frame.columns]
    if named:
        return frame.reset_index(named).reset_index(drop=True), []
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return frame, []
    return frame.reset_index(drop=True), [Note("index left out")]


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
        raise DataError(
            f"{source!r} cannot be read as ARFF: {str(error) or 'no @data'}."
        ) from error
    frame = pd.DataFrame(rows)
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            text_values = frame[name].str.decode("utf-8")
            frame[name] = text_values.mask(text_values == "?")
    return frame


def open_table(source: str) -> tuple[BinaryIO, Format]:
    handle, name = _open(source)
    other = formats.OTHER_FORMATS.get(PurePath(name).suffix.lower())
    if other is not None:  # some are archives themselves
        return handle, other
    handle, name = _decompressed(handle, name, source)
    suffix = PurePath(name).suffix.lower()
    known = _FORMATS.get(suffix) or formats.OTHER_FORMATS.get(suffix)
    if known:
        return handle, known
    start = formats.peek(handle, 4096)
    if start.startswith(b"PAR1"):
        return handle, "parquet"
    if start.startswith((b"ARROW1", b"FEA1")):
        return handle, "feather"
    if _JSON.match(start):
        return handle, "json"
    lines = [line.strip().lower() for line in start.splitlines()]
    content = [line for line in lines if line and not line.startswith(b"%")]
    return handle, "arff" if content and content[0].startswith(b"@relation") else "csv"


def format_of_name(path: str) -> tuple[Format, str | None]:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    kept = suffixes[:-1] if compression else suffixes
    if path == STDIN:
        return "csv", None
    if not kept or kept[-1] not in _FORMATS:
        raise ParameterError(
            f"--output {path!r}: its name has no known format. Use .csv, .tsv, .parquet or "
            ".feather; text may be compressed as in .csv.gz."
        )
    return _FORMATS[kept[-1]], compression


def _open(source: str) -> tuple[BinaryIO, str]:
    if source == STDIN:
        content = sys.stdin.buffer.read()
        if not content:
            raise DataError("standard input is empty: pipe a table in, or name a file.")
        return io.BytesIO(content), ""
    path = Path(source)
    long = len(source) > _LONGEST_PATH
    shown = f"{source[:_SHOWN]!r}... ({len(source)} characters)" if long else repr(source)
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder: name a file.")
        if not path.is_fifo() and formats.is_database(source):
            some = ", ".join(map(repr, formats.tables_in(source)[:6])) or "none"
            raise DataError(
                f'{shown} is a database: add --query "select * from TABLE". Its tables: {some}.'
            )
        # A pipe, such as <(command) of a shell, is no file to go back in.
        return io.BytesIO(path.read_bytes()) if path.is_fifo() else path.open("rb"), path.name
    except FileNotFoundError as error:
        raise DataError(f"there is no file {shown}.") from error
    except OSError as error:  # a name that is too long among them
        raise DataError(f"{shown} cannot be read: {error.strerror}.") from error


def _decompressed(handle: BinaryIO, name: str, source: str) -> tuple[BinaryIO, str]:
    start = formats.peek(handle, 8)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        return handle, name
    inner = name[: -len(kind)] if name.lower().endswith(kind) else name
    if kind == ".zip":
        return _only_member(handle, source)
    openers: Fields = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        # Into memory: formats seek back and forth, and decompressed streams do so slowly.
        with handle, openers[kind](handle) as stream:
            n_compressed = handle.seek(0, io.SEEK_END)
            handle.seek(0)
            return _expanded(stream, n_compressed, source), inner
    except _BROKEN as error:
        raise DataError(f"{source!r} cannot be decompressed: {error}.") from error


def _expanded(stream: Any, n_compressed: int, source: str) -> BinaryIO:
    """Read a compressed stream into memory; tables shrink by no more than a few hundred."""
    most = max(_LARGEST_RATIO * n_compressed, _SMALL)
    content = stream.read(most + 1)
    if len(content) > most:
        raise DataError(
            f"{source!r} expands to more than {_LARGEST_RATIO} times its size: it is no table, or "
            "decompress it first."
        )
    return io.BytesIO(content)


def _only_member(handle: BinaryIO, source: str) -> tuple[BinaryIO, str]:
    try:
        with handle, zipfile.ZipFile(handle) as archive:
            members = [entry for entry in archive.namelist() if not entry.endswith("/")]
            if len(members) != 1:
                raise DataError(
                    f"{source!r} holds {len(members)} files: give an archive of one table."
                )
            entry = archive.getinfo(members[0])
            with archive.open(entry) as stream:
                content = _expanded(stream, entry.compress_size, source)
            return content, PurePath(members[0]).name
    except DataError:
        raise
    # A RuntimeError is of an encrypted file, or of a compression that is not known.
    except (zipfile.BadZipFile, RuntimeError, ValueError, *_BROKEN) as error:
        raise DataError(f"{source!r} cannot be decompressed: {error}.") from error
