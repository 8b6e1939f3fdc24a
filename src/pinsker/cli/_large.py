"""Files with very many rows: some of them are drawn in one pass, the file is never in memory."""

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from pinsker._compat import require
from pinsker._notes import Note, Notes
from pinsker.encoding import RowSample

_BLOCK_BYTES = 2**20
_BLOCK_ROWS = 2**16
#: Lines of one row of text at most: a lone quotation mark must not join the rest of a file.
_MOST_LINES = 1000
#: The beginning of a line of names whose first name is empty.
_NAMELESS = re.compile(rb'\s*(?:"")?([,;\t|])')


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of a file, each drawn with the same chance."""

    content: Any  # the rows: of Parquet as a frame, of text as the text of a smaller table
    n_rows: int  # rows of the file, and of those drawn
    n_drawn: int  # rows of the file, and of those drawn
    missing: dict[str, int]
    remarks: Notes = ()  # what else a user should know

    @property
    def notes(self) -> list[Note | str]:
        """What a user should know about the drawing."""
        return list(RowSample(None, None, self.n_rows, self.n_drawn, None, self.remarks).notes)


def draw_from_parquet(handle: BinaryIO, most: int, seed: int) -> DrawnRows | None:
    """Draw rows of a Parquet file, batch by batch; None where it has no more than that."""
    arrow = require("pyarrow", purpose="reading parquet", extra="cli")
    file = require("pyarrow.parquet", purpose="reading parquet", extra="cli").ParquetFile(
        handle, pre_buffer=False
    )
    n_rows = int(file.metadata.num_rows)
    if n_rows <= most:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n_rows, most, replace=False, shuffle=False))
    start, pieces = 0, []
    missing = dict.fromkeys(file.schema_arrow.names, 0)
    for batch in file.iter_batches(batch_size=_BLOCK_ROWS, use_threads=False):
        batch.validate(full=True)
        first, last = np.searchsorted(rows, [start, start + batch.num_rows])
        pieces.append(batch.take(arrow.array(rows[first:last] - start)))
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            missing[name] += column.null_count
        start += batch.num_rows
    frame = arrow.Table.from_batches(pieces, schema=file.schema_arrow).to_pandas()
    return DrawnRows(frame, n_rows, most, missing)


def draw_from_text(handle: BinaryIO, most: int, seed: int) -> DrawnRows | None:
    """Draw rows of a text file, line by line; None where it has no more than that."""
    n_lines = _count_lines(handle)
    if n_lines <= most + 1:
        return None
    rng = np.random.default_rng(seed)
    limit = (most + 6 * math.sqrt(most)) / n_lines  # some more, of which the smallest keys remain
    records = _records(handle)
    names = next(records)
    drawn: list[bytes] = []
    kept_keys, places, n_rows = [], [], 0
    while block := list(islice(records, _BLOCK_ROWS)):
        keys = rng.random(len(block))
        below = np.flatnonzero(keys < limit)
        drawn += [block[i] for i in below]
        kept_keys.append(keys[below])
        places.append(n_rows + below)
        n_rows += len(block)
    handle.seek(0)
    chosen = np.sort(np.argsort(np.concatenate(kept_keys), kind="stable")[:most])
    rows = [drawn[i] for i in chosen]
    remarks: tuple[Note, ...] = ()
    if found := _without_count(names, rows, np.concatenate(places)[chosen]):
        names, rows = found
        remarks = (Note("row counter"),)
    content = io.BytesIO(names + b"".join(rows))
    return DrawnRows(content, n_rows, len(rows), {}, remarks)


def _count_lines(handle: BinaryIO) -> int:
    """Return the lines of a text; 0 for one whose bytes are not lines."""
    start = handle.read(2)
    handle.seek(0)
    n_lines = 0
    while start not in (b"\xff\xfe", b"\xfe\xff") and (block := handle.read(_BLOCK_BYTES)):
        n_lines += block.count(b"\n")
    handle.seek(0)
    return n_lines


def _records(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of each row, without empty rows."""
    while line := handle.readline():
        for _ in range(_MOST_LINES):
            if line.count(b'"') % 2 == 0 or not (more := handle.readline()):
                break
            line += more
        if line.strip():
            yield line if line.endswith(b"\n") else line + b"\n"


def _without_count(names: bytes, rows: list[bytes], places: Any) -> Any:
    """Return names and rows without a nameless first column that counts rows; None without one."""
    if (found := _NAMELESS.match(names)) is None:
        return None
    separator = found.group(1)
    parts = [row.partition(separator) for row in rows]
    try:
        numbers = np.array([int(first.strip(b'" ')) for first, _, _ in parts])
    except ValueError:
        return None
    offset = numbers - places
    if offset[0] not in (0, 1) or (offset != offset[0]).any():
        return None
    return names[found.end() :], [rest for _, _, rest in parts]
