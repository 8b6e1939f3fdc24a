"""Neighbor counts and contingency counts, for every candidate of a search at once.

`Problem` is what the kernels see of a table; `Backward` scores every removal from a set and
`Forward` every addition to one. How it works is drawn in ``docs/engine.md``.
"""

from pinsker.engine._contingency import (
    NATS_PER_COST,
    Correction,
    CountTables,
    Group,
    JointCosts,
    PackedColumns,
    cell_costs,
    grassberger_log,
)
from pinsker.engine._neighbors import BoxCounts, NeighborCounts, box_counts, neighbor_counts
from pinsker.engine._pairs import MOST_PAIR_BINS, PairTables, array_library, best_triples
from pinsker.engine._plan import (
    WorkerMemory,
    available_memory,
    memory_limit,
    plan_sample,
    search_bytes,
)
from pinsker.engine._problem import Problem
from pinsker.engine._search import (
    ENGINES,
    SETTINGS,
    Backward,
    EngineSettings,
    Forward,
    KNNSettings,
    as_settings,
    count_threads,
    generator_of,
)
from pinsker.engine._trees import BoostSettings, boosted_scores, class_probabilities, mean_values
from pinsker.engine.backends import calls_on_cluster, check_gpu, find_client, is_local
from pinsker.engine.backends.dask._partitions import PartitionTables
