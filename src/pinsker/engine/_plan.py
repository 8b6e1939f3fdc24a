"""Which rows are measured, and which of them keep their pairs in memory between steps."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from pinsker._types import IntArray
from pinsker.engine._problem import Problem
from pinsker.engine._sampling import choose_rows
from pinsker.exceptions import MemoryBudgetError

Score = Literal["difference", "direct"]

_SHARE_OF_FREE_MEMORY = 0.5
#: Close pairs and their effects, per watched row: measured on the benchmark tables, rounded up.
_CLOSE_PAIRS_PER_ROW = 400
_BYTES_PER_CLOSE_PAIR = 64


@dataclass(frozen=True)
class Holders:
    """Who holds the rows of a search.

    Attributes
    ----------
    engine : {"local", "dask", "cuda"}
        Who does the work.
    count : int
        Workers with memory of their own.
    memory : int or None
        Bytes that each of them has; None is what is free here.
    most_tiles : int
        Tiles that each may hold; every tile has a copy of the table.
    """

    engine: str = "local"
    count: int = 1
    memory: int | None = None
    most_tiles: int = 1


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
        Memory the search will hold, in bytes; of all workers together, or of a GPU.
    limit : int
        Memory it was allowed, in bytes; of all workers together, or of a GPU.
    n_rows : int
        Rows of the table.
    keeps_pairs : bool
        Whether the search keeps pairs at all: backward does, forward does not.
    engine : {"local", "dask", "cuda"}
        Who does the work.
    standard_error : float or None
        Of the information of a set in nats, for not measuring every row of a large table.
    n_tiles : int
        Parts that the rows are dealt into; one unless workers share them.
    """

    queries: IntArray
    n_watched: int
    n_bytes: int
    limit: int
    n_rows: int
    keeps_pairs: bool
    engine: str = "local"
    standard_error: float | None = None
    n_tiles: int = 1

    def held_by(self, search: Any) -> "Plan":
        """Return the plan of a search that has planned its memory by itself."""
        return replace(self, n_watched=search.n_watched, n_bytes=search.n_bytes, limit=search.limit)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know: rows left out, memory that made the search slower."""
        notes = []
        if len(self.queries) < self.n_rows:
            error = ""
            if self.standard_error is not None:
                error = f": standard error of a set's information {self.standard_error:.4f} nats"
            notes.append(
                f"{len(self.queries)} of {self.n_rows} rows were measured, against all{error}"
            )
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


@dataclass(frozen=True)
class _Room:
    """What each holder may hold, and what it needs; in bytes."""

    limit: int
    fixed: int  # whatever the number of rows that keep their pairs
    per_row: int
    tiles: int

    @property
    def n_rows(self) -> int:
        """Rows that can keep their pairs."""
        return (self.limit - self.fixed) // self.per_row


def plan_rows(
    problem: Problem,
    *,
    max_memory: int | None,
    max_samples: int | None,
    seed: int,
    keeps_pairs: bool = True,
    n_neighbors: int = 3,
    holders: Holders | None = None,
) -> Plan:
    """Choose the rows to measure, and how many keep their state within the memory allowed."""
    sample = choose_rows(problem, max_samples, seed, n_neighbors)
    holders = holders or Holders()
    all_rows = Plan(
        queries=sample.queries,
        n_watched=len(sample.queries) if keeps_pairs else 0,
        n_bytes=0,
        limit=0,
        n_rows=problem.n_rows,
        keeps_pairs=keeps_pairs,
        engine=holders.engine,
        standard_error=sample.standard_error,
    )
    if holders.engine == "cuda":
        return all_rows  # a card plans its own memory, which `held_by` then tells
    room = _room(problem, max_memory, holders, copies=1 if keeps_pairs else 2)
    n_watched = min(all_rows.n_watched, holders.count * room.n_rows)
    return replace(
        all_rows,
        n_watched=n_watched,
        n_bytes=holders.count * room.fixed + n_watched * room.per_row,
        limit=holders.count * room.limit,
        n_tiles=holders.count * room.tiles,
    )


def _room(problem: Problem, max_memory: int | None, holders: Holders, copies: int) -> _Room:
    """Return what each holder has room for; raise if that is not even the table.

    A holder has the columns of the set by row; forward another copy of them by column.
    """
    free = free_memory() if holders.memory is None else holders.memory
    limit = int(_SHARE_OF_FREE_MEMORY * free) if max_memory is None else max_memory
    n, d = problem.values.shape
    fixed = 8 * n * (d + 16) * copies
    tiles = max(1, min(holders.most_tiles, limit // (2 * fixed) - 1))
    fixed *= tiles if holders.engine != "dask" else tiles + 1  # workers also hold the table
    if fixed > limit:
        raise MemoryBudgetError(
            f"a table of {n} rows and {d} columns needs at least {fixed} bytes, but max_memory "
            f"allows {limit}. Raise max_memory, or pass fewer columns."
        )
    watch_bytes = 2 if problem.n_features < 65535 else 4
    per_row = 2 * watch_bytes * n + _BYTES_PER_CLOSE_PAIR * min(n, _CLOSE_PAIRS_PER_ROW)
    return _Room(limit, fixed, per_row, tiles)


def free_memory() -> int:
    """Bytes that are free now; a cautious guess where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 4 * 2**30
