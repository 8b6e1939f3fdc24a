"""Columns of small integers, several to a byte."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinsker._types import AnyArray, IntArray
from pinsker.engine import _kernels
from pinsker.exceptions import DataError

#: Levels that share one byte: the product over the columns of a pack stays within it.
BYTE_LEVELS = 256


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Columns of codes, as many to a byte as fit.

    Attributes
    ----------
    packed : ndarray of shape (n_packs, n_rows), uint8
        Mixed-radix numbers of neighbouring columns whose levels multiply to at most 256.
    wide : ndarray of shape (n_wide, n_rows), uint32
        Columns with more than 256 levels.
    home, stride, levels : ndarray of shape (n_columns,), int64
        Where a column lies (row of `packed`, or -1 - row of `wide`), and how to read it:
        ``code = byte // stride % levels``.
    """

    packed: npt.NDArray[np.uint8]
    wide: npt.NDArray[np.uint32]
    home: IntArray
    stride: IntArray
    levels: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.packed.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.home.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held by the codes."""
        return int(self.packed.nbytes + self.wide.nbytes)

    def column(self, index: int) -> npt.NDArray[np.uint32]:
        """Return the codes of one column."""
        home = int(self.home[index])
        codes: npt.NDArray[np.uint32]
        if home < 0:
            codes = self.wide[-1 - home]
        else:
            byte = self.packed[home].astype(np.uint32)
            codes = byte // np.uint32(self.stride[index]) % np.uint32(self.levels[index])
        return codes

    @classmethod
    def of(
        cls, codes: AnyArray, n_levels: Sequence[int] | IntArray | None = None
    ) -> "PackedColumns":
        """Pack a table of non-negative integers of shape (n_rows, n_columns)."""
        table = np.asarray(codes)
        check_codes(table)
        levels = levels_of(table, n_levels)
        home, stride = _lay_out(levels)
        packed = np.zeros((int(home.max(initial=-1)) + 1, table.shape[0]), dtype=np.uint8)
        wide = np.zeros((int(np.sum(home < 0)), table.shape[0]), dtype=np.uint32)
        if table.dtype != np.uint8:
            table = table.astype(np.int64, copy=False)
        _kernels.pack_columns(table, home, stride, packed, wide)
        return cls(packed, wide, home, stride, levels)


def check_codes(codes: AnyArray) -> None:
    if codes.ndim != 2 or codes.size == 0:
        raise DataError(f"codes have shape {codes.shape}: give a table with rows and columns.")
    if codes.dtype.kind not in "iub":
        raise DataError(
            f"codes have dtype {codes.dtype}: give integers 0, 1, 2, ... "
            "(pinsker.encoding.bin_columns makes them from any table)."
        )
    lowest = codes.min()
    if lowest < 0:
        column = int(np.flatnonzero(codes.min(axis=0) < 0)[0])
        raise DataError(f"code {lowest} in column {column}: codes are 0, 1, 2, ...; recode it.")


def levels_of(codes: AnyArray, n_levels: Sequence[int] | IntArray | None) -> IntArray:
    found = codes.max(axis=0).astype(np.int64) + 1
    if n_levels is None:
        return np.asarray(found, dtype=np.int64)
    levels = np.asarray(n_levels, dtype=np.int64)
    if levels.shape != found.shape:
        raise DataError(
            f"n_levels has shape {levels.shape}: give one number for each of {found.size}."
        )
    if (levels < found).any():
        column = int(np.flatnonzero(levels < found)[0])
        raise DataError(
            f"code {found[column] - 1} in column {column} but n_levels is {levels[column]}: "
            f"codes of a column run from 0 to n_levels - 1."
        )
    return levels


def _lay_out(levels: IntArray) -> tuple[IntArray, IntArray]:
    """Give every column a byte to share with its neighbours, or 32 bits of its own."""
    home = np.empty(levels.size, dtype=np.int64)
    stride = np.ones(levels.size, dtype=np.int64)
    n_packs = n_wide = 0
    used = BYTE_LEVELS + 1  # no pack is open
    for j, n_levels in enumerate(levels.tolist()):
        if n_levels > BYTE_LEVELS:
            home[j], n_wide, used = -1 - n_wide, n_wide + 1, BYTE_LEVELS + 1
            continue
        if used * n_levels > BYTE_LEVELS:
            used, n_packs = 1, n_packs + 1
        home[j], stride[j] = n_packs - 1, used
        used *= n_levels
    return home, stride
