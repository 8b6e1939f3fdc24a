"""Files of data sets: in a named folder, beside the checkout, in the cache, or downloaded."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from pinsker._types import FloatArray, IntArray
from pinsker.datasets._sources import DataSource
from pinsker.exceptions import DataError, DownloadError

#: Seconds without an answer after which a download is given up.
TIMEOUT = 30.0
#: No set here has a tenth of this: a longer answer is not the file, and is not read to its end.
LARGEST = 64 * 2**20


def data_folders() -> list[Path]:
    """Return the folders in which data sets are looked for, first one first.

    These are the folder named by the environment variable ``PINSKER_DATA``, ``../shared/data``
    beside a checkout of pinsker, and the cache: ``PINSKER_CACHE``, else ``pinsker`` in the user's
    folder for caches. Only the cache is ever written to.

    Returns
    -------
    list of Path
        The last one is the cache; it need not exist.

    Raises
    ------
    DataError
        If ``PINSKER_DATA`` names something that is not a folder.

    Examples
    --------
    >>> from pinsker.datasets import data_folders
    >>> len(data_folders()) >= 1
    True
    """
    return [*local_folders(), cache_folder()]


def local_folders() -> Iterator[Path]:
    """Yield the folders that belong to the user: named, or beside the checkout."""
    named = os.environ.get("PINSKER_DATA")
    if named:
        if not Path(named).is_dir():
            raise DataError(
                f"PINSKER_DATA names {named!r}, which is not a folder: correct or unset it"
            )
        yield Path(named)
    root = Path(__file__).resolve().parents[3]
    beside = root.parent / "shared" / "data"
    if (root / "pyproject.toml").is_file() and beside.is_dir():
        yield beside


def cache_folder(platform: str = sys.platform) -> Path:
    """Return where downloads are kept, by the custom of the operating system."""
    named = os.environ.get("PINSKER_CACHE")
    if named:
        return Path(named).expanduser()
    if platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pinsker"


def load_table(source: DataSource, *, download: bool) -> tuple[FloatArray, IntArray]:
    """Read a data set from the first folder that holds it, else from its home into the cache."""
    for folder in data_folders():
        for file in source.files:
            path = folder / file
            if path.is_file():
                return source.read(path.read_bytes(), str(path))
    if not download:
        looked = ", ".join(str(folder) for folder in data_folders())
        raise DownloadError(
            f"{source.files[-1]} is not in {looked}, and download=False: get it from "
            f"{source.url} and name its folder in PINSKER_DATA"
        )
    content = _download(source)
    table = source.read(content, source.url)  # what is wrong is refused before it is stored
    _store(content, cache_folder() / source.files[-1])
    return table


def _download(source: DataSource) -> bytes:
    """Return the file at its home; the one message says what to do without a network."""
    try:
        with urlopen(source.url, timeout=TIMEOUT) as answer:
            content: bytes = answer.read(LARGEST + 1)
            said = answer.headers.get("Content-Length")
        # http.client reports a short answer only when it is read without a limit.
        if said is not None and len(content) < int(said):
            raise DownloadError(f"it broke off after {len(content)} of {said} bytes")
        if len(content) > LARGEST:
            raise DownloadError(f"the answer is longer than {LARGEST} bytes")
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the answer, and with it a socket
        raise DownloadError(
            f"could not download {source.url} ({_reason(error)}): get {source.files[-1]} by other "
            "means and name its folder in PINSKER_DATA"
        ) from error
    return content


def _reason(error: Exception) -> str:
    """Return the reason in one line: urllib wraps the error that says something."""
    inner = getattr(error, "reason", None)
    return " ".join(str(inner or error).split())


def _store(content: bytes, path: Path) -> None:
    """Write a file whole or not at all: no reader ever sees half of it, nor two writers a mix."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError:
        return  # a cache that cannot be written costs a download next time, not the data now
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
