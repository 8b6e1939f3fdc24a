"""Triples of columns against a target: what three know together beyond all pairs of them.

Counts are products of matrices of zeros and ones, so that the same lines run on the CPU (NumPy) and
on a GPU (CuPy), with the same integers.
"""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._types import FloatArray, IntArray
from pinsker.engine import _kernels
from pinsker.engine._boundary import as_array, at_least, code_vector, one_of, truth
from pinsker.engine._pairs import binned_columns, integer_costs, most_classes
from pinsker.engine._plan import check_room
from pinsker.engine.backends import missing_gpu
from pinsker.exceptions import DataError, EngineError, ParameterError

#: Counts that are held at a time, on the CPU and on a GPU.
_MOST_COUNTS, _MOST_ON_GPU = 2**22, 2**25
#: In the place of a surplus where there is no triple.
_NONE = -(2**62)


def array_library(engine: str) -> Any:
    """Return NumPy, or CuPy where triples shall or can be counted on a GPU."""
    one_of("engine", engine, ("auto", "local", "cuda"))
    if engine == "local":
        return np
    reason = missing_gpu()
    if reason is None:
        return import_module("cupy")
    if engine == "cuda":
        raise EngineError(f"engine='cuda' cannot be used: {reason}")
    return np


def best_triples(
    codes: npt.NDArray[np.uint8],
    labels: IntArray,
    pairs: IntArray,
    n_best: int,
    *,
    later: bool = False,
    library: Any = np,
) -> tuple[IntArray, FloatArray]:
    """Count every pair of some with every third column; return the best triples."""
    xp = _array_module(library)
    codes = binned_columns(codes)
    n_columns, n_rows = codes.shape
    labels = code_vector("labels", labels, n_rows, most_classes(n_rows)).astype(np.int64)
    later = truth("later", later)
    pairs, n_best = _checked_pairs(pairs, n_columns), at_least("n_best", n_best, 1)
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
            wrong = (thirds <= right) if later else (thirds == left) | (thirds == right)
            beyond[wrong] = _NONE
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


def _array_module(library: Any) -> Any:
    """Refuse what is neither NumPy nor CuPy."""
    if library is not np and getattr(library, "__name__", None) != "cupy":
        raise ParameterError(
            f"library={library!r} counts no triples: use what array_library returns.",
            parameter="library",
        )
    return library


def _checked_pairs(pairs: Any, n_columns: int) -> IntArray:
    """Return pairs of columns, the first smaller; the same column twice would count as two."""
    given = as_array("pairs", pairs)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise DataError(
            f"pairs has shape {given.shape} and dtype {given.dtype}: give two columns each."
        )
    wrong = (given[:, 0] < 0) | (given[:, 1] >= n_columns) | (given[:, 0] >= given[:, 1])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"pairs holds {given[row].tolist()} in row {row}: give two of the columns "
            f"0..{n_columns - 1}, the smaller first."
        )
    return given.astype(np.int64)


class _Counted:
    """Columns and a target on one device, ready to be counted."""

    def __init__(self, xp: Any, codes: Any, labels: Any, cost: Any) -> None:
        self.xp, self.codes, self.cost = xp, codes, cost
        self.bins, self.classes = int(codes.max()) + 1, int(labels.max()) + 1
        self.states = self.bins**2 * self.classes
        self.member = labels == xp.arange(self.classes)[:, None]
        sizes = self.member.sum(axis=1)
        self.base = int(cost[codes.shape[1]]) - int(cost[sizes].sum())

    def one_hot(self, columns: Any) -> Any:
        """Return rows of bins as zeros and ones, of shape (n_rows, columns x bins)."""
        inside = self.codes[columns][:, None, :] == self.xp.arange(self.bins)[:, None]
        return inside.reshape(-1, inside.shape[-1]).T.astype(self.xp.float32)

    def surplus(self, pairs: Any, held: Any) -> Any:
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
            - self._knows(counts.sum(axis=2, keepdims=True))
            - self._knows(counts.sum(axis=1, keepdims=True))
            + self._knows(two.sum(axis=2, keepdims=True))
            + self._knows(two.sum(axis=1, keepdims=True))
            + self._knows(counts[:1].sum(axis=(1, 2), keepdims=True))
        )
        return terms + self.base

    def _knows(self, counts: Any) -> Any:
        """Return the cost of cells with classes less that of cells without, by pair and third."""
        within = self.cost[counts].sum(axis=(1, 2, 3, 5))
        return within - self.cost[counts.sum(axis=3)].sum(axis=(1, 2, 4))


def _host(xp: Any, array: Any) -> Any:
    return array if xp is np else xp.asnumpy(array)
