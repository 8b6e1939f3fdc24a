"""Passes over partitions: held in memory where they fit, read again where they do not."""

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pinsker._compat import require
from pinsker._types import IntArray
from pinsker.engine._plan import free_memory

_LOG = logging.getLogger("pinsker")
_SHARE_OF_MEMORY = 0.5
#: Results that are added up by one task.
_AT_ONCE = 8


def hold(parts: Sequence[Any], n_bytes: int) -> list[Any]:
    """Keep coded partitions in memory if they take up to half of it; else every pass reads anew."""
    available = _SHARE_OF_MEMORY * _memory()
    fits = n_bytes <= available
    what = "are held in memory" if fits else "are read again in every step"
    _LOG.info("partitions: codes of %d bytes %s (%d allowed)", n_bytes, what, available)
    return list(_dask().persist(*parts)) if fits else list(parts)


def add_up(count: Callable[..., IntArray], parts: Sequence[Any], request: Any) -> IntArray:
    """Return the sum of ``count(part, request)`` over all partitions."""
    dask = _dask()
    shared = dask.delayed(request, pure=False)
    task, add = dask.delayed(count, pure=False), dask.delayed(_sum, pure=False)
    promises = [task(part, shared) for part in parts]
    while len(promises) > 1:
        groups = range(0, len(promises), _AT_ONCE)
        promises = [add(promises[start : start + _AT_ONCE]) for start in groups]
    (counts,) = dask.compute(*promises)
    total: IntArray = counts
    return total


def _sum(counts: Sequence[IntArray]) -> IntArray:
    total: IntArray = np.sum(counts, axis=0, dtype=np.int64)
    return total


def _memory() -> float:
    """Return the bytes of the active cluster, or those that are free here."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            workers = distributed.default_client().scheduler_info()["workers"].values()
        except ValueError:  # no client
            return free_memory()
        return float(sum(worker.get("memory_limit") or 0 for worker in workers))
    return free_memory()


def _dask() -> Any:
    return require("dask", purpose="a Dask DataFrame", extra="dask")
