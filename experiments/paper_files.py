"""Files of data sets: where they come from, where they are looked for, how they are checked.

A file is taken from a named folder, from beside the checkout, from the cache, or downloaded by
pooch into the cache; in this order.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from pinsker._compat import require
from pinsker.exceptions import DataError, MissingDependencyError, PinskerError

_ASU = "https://jundongl.github.io/scikit-feature/files/datasets"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
#: Glass gives refractive indices with five decimals and percentages of oxides with two.
_GLASS_UNIT = 1e5
#: Seconds without an answer after which a download is given up.
_TIMEOUT = 30.0


class DownloadError(PinskerError, OSError):
    """A data set is in no local folder and could not be fetched from its home."""


@dataclass(frozen=True)
class DataSource:
    """One public data set: its home, its checksum, and the table that it must hold."""

    name: str  # name of the set
    files: tuple[str, ...]  # names under which a folder may hold it
    url: str  # its public home
    sha256: str  # checksum: of the file for ``"mat"``
    n_rows: int  # size of the table
    n_columns: int  # size of the table
    n_classes: int  # size of the table
    form: Literal["mat", "csv"] = "mat"  # how the file is written

    def read(self, content: bytes, where: str) -> tuple[np.ndarray, np.ndarray]:
        """Read table and classes from a file's content, or refuse it."""
        # A .mat file is a program for its reader: none is opened before its checksum is known.
        if self.form == "mat":
            self._check_digest(hashlib.sha256(content).hexdigest(), where)
            X, y = _read_mat(content)
        else:
            X, y = self._read_numbers(content, where)
        found = (len(X), X.shape[1], len(np.unique(y)))
        expected = (self.n_rows, self.n_columns, self.n_classes)
        if found != expected:
            raise DataError(
                f"{where} holds {found} rows, columns and classes where {self.name} has "
                f"{expected}: delete it, or get the file from {self.url}"
            )
        return X, y

    def _read_numbers(self, content: bytes, where: str) -> tuple[np.ndarray, np.ndarray]:
        """Read a text table; integer units go into the checksum, so that rounding cannot matter."""
        try:
            X, y = _read_csv(content, self.n_columns)
        except ValueError as error:
            raise DataError(
                f"{where} is not the table {self.name}: {error}; get it from {self.url}"
            ) from error
        units = np.rint(X * _GLASS_UNIT)
        table = np.column_stack([units, y]).astype("<i8")
        self._check_digest(hashlib.sha256(table.tobytes()).hexdigest(), where)
        return units / _GLASS_UNIT, y

    def _check_digest(self, found: str, where: str) -> None:
        if found != self.sha256:
            raise DataError(
                f"{where} is not the file of {self.name} that is expected: its sha256 is "
                f"{found[:16]}..., not {self.sha256[:16]}...; delete it, or get it from {self.url}"
            )


def data_sources() -> dict[str, DataSource]:
    """Return the real data sets of the paper's Table I that do not ship with scikit-learn."""
    return {source.name: source for source in (*_ASU_SOURCES, _GLASS)}


def data_folders() -> list[Path]:
    """Return the folders in which data sets are looked for; the last is the cache, if any."""
    folders = list(local_folders())
    with suppress(MissingDependencyError):  # without pooch nothing was downloaded
        folders.append(cache_folder())
    return folders


def local_folders() -> Iterator[Path]:
    """Yield the folders that belong to the user: named, or beside the checkout."""
    named = os.environ.get("PINSKER_DATA")
    if named:
        if not Path(named).is_dir():
            raise DataError(
                f"PINSKER_DATA names {named!r}, which is not a folder: correct or unset it"
            )
        yield Path(named)
    root = Path(__file__).resolve().parents[1]
    beside = root.parent / "shared" / "data"
    if (root / "pyproject.toml").is_file() and beside.is_dir():
        yield beside


def cache_folder() -> Path:
    """Return where downloads are kept."""
    named = os.environ.get("PINSKER_CACHE")
    return Path(named).expanduser() if named else Path(_pooch().os_cache("pinsker"))


def load_table(source: DataSource, *, download: bool) -> tuple[np.ndarray, np.ndarray]:
    """Read a data set from the first folder that holds it, else from its home into the cache."""
    for folder in data_folders():
        for file in source.files:
            path = folder / file
            if path.is_file():
                return source.read(path.read_bytes(), str(path))
    if not download:
        looked = ", ".join(str(folder) for folder in data_folders())
        raise DownloadError(
            f"{source.files[-1]} is not in {looked or 'any folder'}, and download=False: get it "
            f"from {source.url} and name its folder in PINSKER_DATA",
            parameter="download",
        )
    path = _download(source)
    try:
        return source.read(path.read_bytes(), source.url)
    except DataError:
        path.unlink()  # what is wrong is not kept
        raise


def _download(source: DataSource) -> Path:
    """Let pooch fetch a file into the cache: whole, checked, or not at all."""
    pooch = _pooch()
    try:
        return Path(
            pooch.retrieve(
                source.url,
                # The checksum of a text table is that of its numbers: `read` looks at it.
                known_hash=f"sha256:{source.sha256}" if source.form == "mat" else None,
                fname=source.files[-1],
                path=cache_folder(),
                downloader=pooch.HTTPDownloader(timeout=_TIMEOUT),
            )
        )
    except ValueError as error:
        raise DataError(
            f"{source.url} is not the file of {source.name} that is expected: {_one_line(error)}"
        ) from error
    except OSError as error:  # requests' own errors among them
        raise DownloadError(
            f"could not download {source.url} ({_one_line(error)}): get {source.files[-1]} by "
            "other means and name its folder in PINSKER_DATA"
        ) from error


def _pooch() -> ModuleType:
    return require("pooch", purpose="downloading a data set")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _asu(name: str, size: tuple[int, int, int], sha256: str) -> DataSource:
    """Return a set of the ASU feature selection repository."""
    file = f"{name}.mat"
    return DataSource(name, (file,), f"{_ASU}/{file}", sha256, *size)


_ASU_SOURCES = (
    _asu(
        "ORL",
        (400, 1024, 40),
        "e257ec36002e48688ed7f3b9fda13f479f2fd98864fa0672d1353eda1912b189",
    ),
    _asu(
        "warpAR10P",
        (130, 2400, 10),
        "92b5f7e72b5715ada8f2df16e6d8e5effd8e0034a53a656ed9ef76e3f727d413",
    ),
    _asu(
        "ALLAML",
        (72, 7129, 2),
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
    ),
)
_GLASS = DataSource(
    "glass",
    ("glass.csv", "glass.data"),
    f"{_UCI}/glass/glass.data",
    "68ec6f9490a294c4c36d62b8ed950080345fb01f6508d0bef574724c79c806ef",
    n_rows=214,
    n_columns=9,
    n_classes=6,
    form="csv",
)


def _read_mat(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read X and Y of a MATLAB file; scipy.io is loaded only when it is needed."""
    from scipy.io import loadmat

    file: Any = io.BytesIO(content)  # scipy reads open files; its stubs know of paths only
    stored = loadmat(file, variable_names=["X", "Y"])
    return np.asarray(stored["X"], dtype=np.float64), np.asarray(stored["Y"].ravel(), np.int64)


def _read_csv(content: bytes, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Read numbers between commas: perhaps a line of names, perhaps an Id, columns, the class."""
    lines = content.decode("ascii").split()
    if lines and lines[0][:1].isalpha():
        lines = lines[1:]
    rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    if rows.shape[1] not in (n_columns + 1, n_columns + 2):
        raise ValueError(f"it has {rows.shape[1]} columns")
    return rows[:, -1 - n_columns : -1], rows[:, -1].astype(np.int64)
