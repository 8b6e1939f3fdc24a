"""Searches on a Dask cluster: workers hold tiles of query rows, a step returns one vector of sums.

The table is sent to the workers once. A tile's state is a function of the current set alone, so a
step carries the set, and the worker that gets it finds the tile's state, brings it up to date, or
builds it from scratch. Nothing else is needed when a worker dies, joins or lags. How to use it:
``docs/scale.md``.
"""

from pinsker._cluster import worker_memory
from pinsker.engine._dask._calls import CallsOnCluster
from pinsker.engine._dask._searches import DaskBackward, DaskForward, count_work, deal_rows
from pinsker.engine._dask._steps import Placement

__all__ = [
    "CallsOnCluster",
    "DaskBackward",
    "DaskForward",
    "Placement",
    "count_work",
    "deal_rows",
    "worker_memory",
]
