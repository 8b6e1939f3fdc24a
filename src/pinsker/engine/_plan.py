"""Which rows are measured, and which of them keep their pairs in memory between steps."""

import logging
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinsker._types import IntArray
from pinsker.engine._problem import Problem
from pinsker.exceptions import MemoryBudgetError, ParameterError

Score = Literal["difference", "direct"]

_LOG = logging.getLogger("pinsker")
_SHARE_OF_FREE_MEMORY = 0.5
#: Close pairs and their effects, per watched row: measured on the benchmark tables, rounded up.
_CLOSE_PAIRS_PER_ROW = 400
_BYTES_PER_CLOSE_PAIR = 64


@dataclass(frozen=True, eq=False)
class Plan:
    """How a search uses rows and memory.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,), int64
        Rows that are measured, each against all rows of the table.
    n_watched : int
        The first so many of them keep their pairs between steps; the others are measured afresh.
    n_bytes : int
        Memory the search will hold, in bytes.
    limit : int
        Memory it was allowed, in bytes.
    n_rows : int
        Rows of the table.
    keeps_pairs : bool
        Whether the search keeps pairs at all: backward does, forward does not.
    engine : {"local", "dask", "cuda"}
        Who does the work.
    """

    queries: IntArray
    n_watched: int
    n_bytes: int
    limit: int
    n_rows: int
    keeps_pairs: bool
    engine: str = "local"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know: rows left out, memory that made the search slower."""
        notes = []
        if len(self.queries) < self.n_rows:
            notes.append(f"{len(self.queries)} of {self.n_rows} rows were measured, against all")
        if self.keeps_pairs and self.n_watched < len(self.queries):
            notes.append(f"slower for want of memory: {self}")
        return tuple(notes)

    def __str__(self) -> str:
        kept = ""
        if self.keeps_pairs:
            kept = f", {self.n_watched} keep their pairs in memory between steps"
        return (
            f"{len(self.queries)} of {self.n_rows} rows are measured{kept} "
            f"({self.n_bytes / 2**20:.0f} of {self.limit / 2**20:.0f} MiB allowed)"
        )


def plan_rows(
    problem: Problem,
    *,
    max_memory: int | None,
    max_samples: int | None,
    seed: int,
    keeps_pairs: bool = True,
    engine: str = "local",
) -> Plan:
    """Choose the rows to measure, and how many keep their state within the memory allowed."""
    queries = _choose_queries(problem, max_samples, seed)
    limit = int(_SHARE_OF_FREE_MEMORY * _free_memory()) if max_memory is None else max_memory
    n, d = problem.values.shape
    copies = 1 if keeps_pairs else 2  # columns of the set by row; forward also by column
    fixed = 8 * n * (d + 16) * copies
    watch_bytes = 2 if problem.n_units < 65535 else 4
    per_row = 2 * watch_bytes * n + _BYTES_PER_CLOSE_PAIR * min(n, _CLOSE_PAIRS_PER_ROW)
    if fixed > limit:
        raise MemoryBudgetError(
            f"a table of {n} rows and {d} columns needs at least {fixed} bytes, but max_memory "
            f"allows {limit}. Raise max_memory, or pass fewer columns."
        )
    n_watched = min(len(queries), (limit - fixed) // per_row) if keeps_pairs else 0
    plan = Plan(queries, n_watched, fixed + n_watched * per_row, limit, n, keeps_pairs, engine)
    _LOG.info("engine %s: %s", engine, plan)
    return plan


def _choose_queries(problem: Problem, max_samples: int | None, seed: int) -> IntArray:
    """Every row, or a seeded sample that keeps the shares of the classes (or of target ranks)."""
    n = problem.n_rows
    if max_samples is not None and max_samples < 1:
        raise ParameterError(f"max_samples must be at least 1, got {max_samples}.")
    if max_samples is None or max_samples >= n:
        return np.arange(n, dtype=np.int64)
    strata = problem.labels if problem.labels is not None else np.asarray(problem.target)[:, 0]
    shuffled = np.random.default_rng(seed).permutation(n)
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    # Equal steps through the rows sorted by target: each class gets its share, to one row.
    picks = (np.arange(max_samples) * n) // max_samples
    return np.sort(by_stratum[picks]).astype(np.int64)


def _free_memory() -> int:
    """Bytes that are free now; a cautious guess where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 4 * 2**30
