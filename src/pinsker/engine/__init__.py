"""Neighbour radii and counts, for every candidate of a search at once.

`Problem` is what the kernels see of a table; `Backward` scores every removal from a set and
`Forward` every addition to one. How it works is drawn in ``docs/engine.md``.
"""

from pinsker.engine._backward import Backward
from pinsker.engine._counts import (
    NATS_PER_COST,
    Correction,
    CountTables,
    Group,
    JointCosts,
    grassberger_log,
)
from pinsker.engine._engines import EngineName, cluster_was_lost, find_client
from pinsker.engine._forward import Forward
from pinsker.engine._neighbours import BoxCounts, NeighbourCounts, box_counts, neighbour_counts
from pinsker.engine._packed_columns import PackedColumns
from pinsker.engine._partition_counts import PartitionTables
from pinsker.engine._plan import plan_rows
from pinsker.engine._problem import Problem
from pinsker.engine._trees import class_shares, mean_values

__all__ = [
    "NATS_PER_COST",
    "Backward",
    "BoxCounts",
    "Correction",
    "CountTables",
    "EngineName",
    "Forward",
    "Group",
    "JointCosts",
    "NeighbourCounts",
    "PackedColumns",
    "PartitionTables",
    "Problem",
    "box_counts",
    "class_shares",
    "cluster_was_lost",
    "find_client",
    "grassberger_log",
    "mean_values",
    "neighbour_counts",
    "plan_rows",
]
