"""Where the paper's real data sets come from, and how to know that they are the right ones."""

import hashlib
import io
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.exceptions import DataError

_ASU = "https://jundongl.github.io/scikit-feature/files/datasets"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
#: Glass gives refractive indices with five decimals and shares of oxides with two.
_GLASS_UNIT = 1e5


@dataclass(frozen=True)
class DataSource:
    """One public data set: its home, its checksum, and the table that it must hold.

    Attributes
    ----------
    name : str
        Name of the set.
    files : tuple of str
        Names under which a folder may hold it; the last one is the name in the cache.
    url : str
        Its public home.
    sha256 : str
        Checksum: of the file for ``"mat"``; of the numbers for ``"csv"``, because copies of a text
        table differ in headers and trailing digits while holding the same numbers.
    n_rows, n_columns, n_classes : int
        Size of the table.
    form : {"mat", "csv"}
        How the file is written.
    """

    name: str
    files: tuple[str, ...]
    url: str
    sha256: str
    n_rows: int
    n_columns: int
    n_classes: int
    form: Literal["mat", "csv"] = "mat"

    def read(self, content: bytes, where: str) -> tuple[FloatArray, IntArray]:
        """Read table and classes from a file's content, or say what is wrong with it.

        Parameters
        ----------
        content : bytes
            The file.
        where : str
            Where it came from, for the message.

        Raises
        ------
        DataError
            If the checksum or the shape is not the expected one.
        """
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

    def _read_numbers(self, content: bytes, where: str) -> tuple[FloatArray, IntArray]:
        """Read a text table; whole units go into the checksum, so that rounding cannot matter."""
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
    """Return the real data sets of the paper's Table I that do not ship with scikit-learn.

    Returns
    -------
    dict of str to DataSource
        By name.

    References
    ----------
    J. Li et al., "Feature Selection: A Data Perspective", ACM Computing Surveys 50(6), 2017 (ORL,
    warpAR10P, ALLAML). B. German, "Glass Identification", UCI repository, 1987.

    Examples
    --------
    >>> from pinsker.datasets import data_sources
    >>> for name, source in data_sources().items():
    ...     print(name, source.n_rows, source.n_columns, source.n_classes)
    ORL 400 1024 40
    warpAR10P 130 2400 10
    ALLAML 72 7129 2
    glass 214 9 6
    """
    return {source.name: source for source in (*_ASU_SOURCES, _GLASS)}


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


def _read_mat(content: bytes) -> tuple[FloatArray, IntArray]:
    """Read X and Y of a MATLAB file; scipy.io is loaded only when it is needed."""
    from scipy.io import loadmat

    file: Any = io.BytesIO(content)  # scipy reads open files; its stubs know of paths only
    stored = loadmat(file, variable_names=["X", "Y"])
    return np.asarray(stored["X"], dtype=np.float64), np.asarray(stored["Y"].ravel(), np.int64)


def _read_csv(content: bytes, n_columns: int) -> tuple[FloatArray, IntArray]:
    """Read numbers between commas: perhaps a line of names, perhaps an Id, columns, the class."""
    lines = content.decode("ascii").split()
    if lines and lines[0][:1].isalpha():
        lines = lines[1:]
    rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    if rows.shape[1] not in (n_columns + 1, n_columns + 2):
        raise ValueError(f"it has {rows.shape[1]} columns")
    return rows[:, -1 - n_columns : -1], rows[:, -1].astype(np.int64)
