"""Files: found, opened, decompressed, and their format told."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal

from pinsker.exceptions import DataError, ParameterError

Format = Literal["csv", "tsv", "parquet", "feather", "arff"]

STDIN = "-"
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
_FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
}
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"PK\x03\x04": ".zip"}


def open_table(source: str) -> tuple[BinaryIO, Format]:
    """Open a file or standard input, decompressed, and tell its format.

    The name tells the format; where it does not, the first bytes do. Compression is told by the
    first bytes alone, so that it works in a pipe.
    """
    handle, name = _open(source)
    if PurePath(name).suffix.lower() in _SPREADSHEETS:
        handle.close()
        raise DataError(f"{source!r} is a spreadsheet, which is not read: save it as CSV.")
    handle, name = _decompressed(handle, name, source)
    known = _FORMATS.get(PurePath(name).suffix.lower())
    return handle, known or _format_of_content(handle)


def format_of_name(path: str, option: str) -> tuple[Format, str | None]:
    """Return the format and the compression that a file's name asks for."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    kept = suffixes[:-1] if compression else suffixes
    if path == STDIN:
        return "csv", None
    if not kept or kept[-1] not in _FORMATS:
        raise ParameterError(
            f"{option} {path!r}: its name does not tell a format. Use .csv, .tsv, .parquet or "
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
    if path.is_dir():
        raise DataError(f"{source!r} is a folder: name a file.")
    try:
        return path.open("rb"), path.name
    except FileNotFoundError as error:
        raise DataError(f"there is no file {source!r}.") from error
    except OSError as error:
        raise DataError(f"{source!r} cannot be read: {error.strerror}.") from error


def _decompressed(handle: BinaryIO, name: str, source: str) -> tuple[BinaryIO, str]:
    """Return what is inside, and the name that tells its format."""
    start = _peek(handle, 8)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        return handle, name
    inner = name[: -len(kind)] if name.lower().endswith(kind) else name
    if kind == ".zip":
        return _only_member(handle, source)
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        # Into memory: formats seek back and forth, and decompressed streams do so slowly.
        with handle, openers[kind](handle) as stream:
            return io.BytesIO(stream.read()), inner
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"{source!r} cannot be decompressed: {error}.") from error


def _only_member(handle: BinaryIO, source: str) -> tuple[BinaryIO, str]:
    try:
        with handle, zipfile.ZipFile(handle) as archive:
            members = [entry for entry in archive.namelist() if not entry.endswith("/")]
            if len(members) != 1:
                raise DataError(
                    f"{source!r} holds {len(members)} files: give an archive of one table."
                )
            return io.BytesIO(archive.read(members[0])), PurePath(members[0]).name
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise DataError(f"{source!r} cannot be decompressed: {error}.") from error


def _format_of_content(handle: BinaryIO) -> Format:
    start = _peek(handle, 4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"FEA1")):
        return "feather"
    lines = [line.strip().lower() for line in start.splitlines()]
    content = [line for line in lines if line and not line.startswith(b"%")]
    return "arff" if content and content[0].startswith(b"@relation") else "csv"


def _peek(handle: BinaryIO, n_bytes: int) -> bytes:
    start = handle.read(n_bytes)
    handle.seek(0)
    return start
