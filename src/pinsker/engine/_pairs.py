"""All pairs and triples of columns against a target: what they know together beyond each alone.

Columns are codes of at most eight bins. For pairs a bin is a set of rows, one bit a row; the rows
that two bins share within a class are counted with one conjunction and one count of bits per 64
rows. Triples are products of matrices of zeros and ones: the same lines run on the CPU (NumPy) and
on a GPU (CuPy), with the same integers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import AnyArray, ArrayLibrary, FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._plan import check_room
from pinsker.engine._problem import MadeByOf
from pinsker.engine.backends import missing_gpu
from pinsker.exceptions import DataError, EngineError, ParameterError

#: Bins that a column may have.
MOST_PAIR_BINS = int(_kernels.PAIR_BINS)
_LANES = int(_kernels.PAIR_LANES)
_WORD = 64
#: Classes or strata that a table of few rows may have, whether they occur or not; of more rows as
#: many as rows: tables hold a cell for each.
_FEW_CLASSES = 256
#: Bytes of the results that are held at a time.
_BLOCK_BYTES = 2**25
#: Columns that are laid out at a time: a multiple of eight, and little enough for the cache.
_LAID_OUT = 256


@dataclass(frozen=True, eq=False, init=False)
class PairTables(MadeByOf):
    """Columns and a target, laid out by `of` so that all pairs can be counted."""

    n_columns: int
    n_bins: int  # every pair has ``n_bins**2 * n_strata * n_classes`` cells
    n_strata: int
    n_classes: int
    alone: FloatArray  # I(X;Y|W) of every column, in nats
    _bits: npt.NDArray[np.uint64]
    _margins: IntArray
    _first_word: IntArray
    _cost: IntArray
    _cost_alone: IntArray
    _n_threads: int

    @classmethod
    def of(
        cls,
        codes: npt.NDArray[np.uint8],
        labels: IntArray,
        strata: IntArray | None = None,
        *,
        n_threads: int = 1,
    ) -> "PairTables":
        n_threads = check.thread_count(n_threads)
        codes = binned_columns(codes)
        n_columns, n_rows = codes.shape
        most = max(n_rows, _FEW_CLASSES)
        labels = check.code_vector("labels", labels, n_rows, most).astype(np.int64)
        strata = np.zeros(n_rows, dtype=np.int64) if strata is None else strata
        strata = check.code_vector("strata", strata, n_rows, most).astype(np.int64)
        n_bins = max(2, int(codes.max()) + 1)
        n_classes, n_strata = int(labels.max()) + 1, int(strata.max()) + 1
        n_states = n_strata * n_classes
        n_words = (n_bins - 1) * (n_states + n_rows // _WORD)
        check_room(
            f"the layout of {n_columns} columns with {n_states} strata and classes",
            8 * (n_columns + _LANES) * (n_bins * n_states + n_words),
            "use fewer strata, classes or columns",
        )
        state = strata * n_classes + labels
        sizes = np.bincount(state, minlength=n_states)
        first_word = np.concatenate([[0], np.cumsum(-(-sizes // _WORD))])
        within = np.arange(n_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        order = np.argsort(state, kind="stable")
        place = np.repeat(first_word[:-1] * _WORD, sizes) + within
        bits, margins = _lay_out(codes[:, order], place, first_word, n_bins, np.cumsum(sizes))
        cost = integer_costs(n_rows)
        by_class = margins.reshape(-1, n_strata, n_classes, n_bins, _LANES)
        with_classes = cost[by_class].sum(axis=(1, 2, 3))
        without = cost[by_class.sum(axis=2)].sum(axis=(1, 2))
        table = sizes.reshape(n_strata, n_classes)
        base = int(cost[table].sum() - cost[table.sum(axis=1)].sum())
        alone = (with_classes - without).ravel()[:n_columns]
        return cls._made(
            n_columns=n_columns, n_bins=n_bins, n_strata=n_strata, n_classes=n_classes,
            alone=(alone - base) / float(_kernels.COSTS_PER_NAT), _bits=bits,
            _margins=margins.ravel(), _first_word=first_word.astype(np.int64), _cost=cost,
            _cost_alone=np.ascontiguousarray(alone - base // 2, dtype=np.int64),
            _n_threads=n_threads,
        )  # fmt: skip

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """Yield the surplus of all pairs, some first columns at a time."""
        step = max(1, _BLOCK_BYTES // (4 * self.n_columns))
        for first in range(0, self.n_columns - 1, step):
            n_block = min(step, self.n_columns - 1 - first)
            surplus = np.full((n_block, self.n_columns), -np.inf, dtype=np.float32)
            _kernels.pair_surplus(
                self._bits, self._margins, self._first_word, self.n_columns, self.n_bins,
                self.n_strata, self.n_classes, self._cost, self._cost_alone, first,
                self._n_threads, surplus,
            )  # fmt: skip
            yield first, surplus


def binned_columns(codes: Any) -> npt.NDArray[np.uint8]:
    """Return bins of columns, one column a row, as bytes; refuse more than `MOST_PAIR_BINS`."""
    table = check.as_array("codes", codes)
    if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "iub":
        raise DataError(
            f"codes has shape {table.shape} and dtype {table.dtype}: give integers, one column a "
            "row, at least one column and one row."
        )
    if table.max() >= MOST_PAIR_BINS or table.min() < 0:
        column, row = (int(at[0]) for at in np.nonzero((table < 0) | (table >= MOST_PAIR_BINS)))
        raise DataError(
            f"codes holds {table[column, row]} in column {column}, row {row}: bins are "
            f"0..{MOST_PAIR_BINS - 1}; cut columns into fewer."
        )
    return table.astype(np.uint8, copy=False)


def integer_costs(n_rows: int) -> IntArray:
    """Return n log n / n_rows of every count, as multiples of a small part of a nat."""
    counts = np.arange(n_rows + 1, dtype=np.float64)
    nats = counts * np.log(np.maximum(counts, 1.0)) / n_rows
    return np.asarray(np.rint(nats * float(_kernels.COSTS_PER_NAT)), dtype=np.int64)


def _lay_out(
    codes: AnyArray, place: IntArray, first_word: IntArray, n_bins: int, ends: IntArray
) -> tuple[npt.NDArray[np.uint64], IntArray]:
    """Return bit sets of all bins but the last, and sizes of all, eight columns a group."""
    # The rows are in order of state; `place` is the bit of each, `ends` where states end.
    n_columns, n_groups = len(codes), -(-len(codes) // _LANES)
    n_states, n_words = len(ends), int(first_word[-1])
    bits = np.zeros((n_groups, n_bins - 1, n_words, _LANES), dtype=np.uint64)
    margins = np.zeros((n_groups, n_states, n_bins, _LANES), dtype=np.int64)
    filled = np.flatnonzero(np.diff(ends, prepend=0))
    starts = np.concatenate([[0], ends[:-1]])[filled]
    for begin in range(0, n_columns, _LAID_OUT):
        some = codes[begin : begin + _LAID_OUT]
        full = -(-len(some) // _LANES) * _LANES
        spread = np.zeros((full, n_words * _WORD), dtype=np.bool_)
        counts = np.zeros((full, n_states), dtype=np.int64)
        groups = slice(begin // _LANES, (begin + full) // _LANES)
        for b in range(n_bins):
            inside = some == b
            counts[: len(some), filled] = np.add.reduceat(inside, starts, axis=1, dtype=np.int32)
            if b == n_bins - 1:  # columns that fill the group up have all rows in their last bin:
                counts[len(some) :] = np.diff(ends, prepend=0)  # cells are differences of margins
            margins[groups, :, b] = counts.reshape(-1, _LANES, n_states).swapaxes(1, 2)
            if b < n_bins - 1:
                spread[: len(some), place] = inside
                words = np.packbits(spread, axis=1, bitorder="little").view("<u8")
                bits[groups, b] = words.reshape(-1, _LANES, n_words).swapaxes(1, 2)
    return bits.ravel(), margins


#: Counts that are held at a time, on the CPU and on a GPU.
_MOST_COUNTS, _MOST_ON_GPU = 2**22, 2**25
#: In the place of a surplus where there is no triple.
_NONE = -(2**62)


def array_library(engine: str) -> ArrayLibrary:
    """Return NumPy, or CuPy where triples shall or can be counted on a GPU."""
    check.one_of("engine", engine, ("auto", "local", "cuda"))
    if engine == "local":
        return np
    reason = missing_gpu()
    if reason is None:
        return import_module("cupy")
    if engine == "cuda":
        raise EngineError(f"<engine=cuda> cannot be used: {reason}")
    return np


def best_triples(
    codes: npt.NDArray[np.uint8], labels: IntArray, pairs: IntArray, n_best: int, *,
    later: bool = False, library: ArrayLibrary = np,
) -> tuple[IntArray, FloatArray]:  # fmt: skip
    """Count every pair of some with every third column; return the best triples."""
    if not isinstance(library, ModuleType) or library.__name__ not in ("numpy", "cupy"):
        raise ParameterError(
            f"library={library!r} counts no triples: use what array_library returns.",
            parameter="library",
        )
    xp, codes = library, binned_columns(codes)
    n_columns, n_rows = codes.shape
    labels = check.code_vector("labels", labels, n_rows, max(n_rows, _FEW_CLASSES)).astype(np.int64)
    later = check.truth("later", later)
    given, n_best = check.as_array("pairs", pairs), check.at_least("n_best", n_best, 1)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise DataError(
            f"pairs has shape {given.shape} and dtype {given.dtype}: give two columns each."
        )
    # The same column twice would count as two.
    wrong = (given[:, 0] < 0) | (given[:, 1] >= n_columns) | (given[:, 0] >= given[:, 1])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"pairs holds {given[row].tolist()} in row {row}: give two of the columns "
            f"0..{n_columns - 1}, the smaller first."
        )
    pairs = given.astype(np.int64)
    counted = _Counted(xp, xp.asarray(codes), xp.asarray(labels), xp.asarray(integer_costs(n_rows)))
    check_room(
        "one pair with every class", 5 * counted.states * n_rows, "use fewer classes, bins or rows"
    )
    most = _MOST_COUNTS if xp is np else _MOST_ON_GPU
    width = max(1, min(len(codes), 4 * most // (n_rows * counted.bins)))
    step = max(1, most // (counted.states * max(n_rows, width * counted.bins)))
    found, values = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(codes), width):
        thirds = xp.arange(begin, min(begin + width, len(codes)))
        held = counted.one_hot(thirds)
        for first in range(0, len(pairs), step):
            some = xp.asarray(pairs[first : first + step])
            beyond = counted.surplus(some, held)
            left, right = some[:, :1], some[:, 1:]
            none = (thirds <= right) if later else (thirds == left) | (thirds == right)
            beyond[none] = _NONE
            at = xp.argsort(-beyond, axis=None)[: 3 * n_best]  # up to three pairs make a triple
            of_pair, of_third = xp.unravel_index(at, beyond.shape)
            triples = xp.concatenate([some[of_pair], thirds[of_third][:, None]], axis=1)
            found.append(_host(xp, triples))
            values.append(_host(xp, beyond.ravel()[at]))
    triples, surplus = np.sort(np.concatenate(found), axis=1), np.concatenate(values)
    known = surplus > _NONE
    triples, place = np.unique(triples[known], axis=0, return_index=True)
    surplus = surplus[known][place]
    order = np.argsort(-surplus, kind="stable")[:n_best]
    return triples[order], surplus[order] / float(_kernels.COSTS_PER_NAT)


class _Counted:
    """Columns and a target on one device, ready to be counted."""

    def __init__(
        self, xp: ArrayLibrary, codes: ArrayLibrary, labels: ArrayLibrary, cost: ArrayLibrary
    ) -> None:
        self.xp, self.codes, self.cost = xp, codes, cost
        self.bins, self.classes = int(codes.max()) + 1, int(labels.max()) + 1
        self.states = self.bins**2 * self.classes
        self.member = labels == xp.arange(self.classes)[:, None]
        sizes = self.member.sum(axis=1)
        self.base = int(cost[codes.shape[1]]) - int(cost[sizes].sum())

    def one_hot(self, columns: ArrayLibrary) -> ArrayLibrary:
        """Return rows of bins as zeros and ones, of shape (n_rows, columns x bins)."""
        inside = self.codes[columns][:, None, :] == self.xp.arange(self.bins)[:, None]
        return inside.reshape(-1, inside.shape[-1]).T.astype(self.xp.float32)

    def surplus(self, pairs: ArrayLibrary, held: ArrayLibrary) -> ArrayLibrary:
        """Return costs beyond all pairs of columns, of shape (n_pairs, columns of `held`)."""
        xp, bins = self.xp, self.bins
        cells = self.codes[pairs[:, 0]].astype(xp.int64) * bins + self.codes[pairs[:, 1]]
        inside = cells[:, None, None, :] == xp.arange(bins**2)[:, None, None]
        weights = (inside & self.member).reshape(-1, held.shape[0]).astype(xp.float32)
        counts = (weights @ held).astype(xp.int32)  # exact: far fewer rows than 2**24
        # (pairs, bins of the first, of the second, classes, columns, bins of the third)
        counts = counts.reshape(len(pairs), bins, bins, self.classes, -1, bins)
        two = counts[..., :1, :].sum(axis=-1, keepdims=True)  # all rows are in a bin of any third
        terms = (
            self._knows(counts)
            - self._knows(two)
            - sum(self._knows(counts.sum(axis=axis, keepdims=True)) for axis in (2, 1))
            + sum(self._knows(two.sum(axis=axis, keepdims=True)) for axis in (2, 1))
            + self._knows(counts[:1].sum(axis=(1, 2), keepdims=True))
        )
        return terms + self.base

    def _knows(self, counts: ArrayLibrary) -> ArrayLibrary:
        """Return the cost of cells with classes less that of cells without, by pair and third."""
        within = self.cost[counts].sum(axis=(1, 2, 3, 5))
        return within - self.cost[counts.sum(axis=3)].sum(axis=(1, 2, 4))


def _host(xp: ArrayLibrary, array: ArrayLibrary) -> ArrayLibrary:
    return array if xp is np else xp.asnumpy(array)
