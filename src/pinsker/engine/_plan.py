"""Which rows are measured, which of them keep their pairs in memory, and what memory there is."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import psutil

from pinsker._notes import Note, Notes
from pinsker._types import Fields, IntArray, Unchecked
from pinsker.engine import _kernels
from pinsker.engine import _problem as check
from pinsker.engine._problem import FixedPoint, Problem
from pinsker.exceptions import MemoryBudgetError, ParameterError

Score = Literal["difference", "direct"]

_FRACTION_OF_MEMORY = 0.5
#: Bytes that are taken without a look at what is available.
_ALWAYS_FITS = 2**26
#: Close pairs and their effects, per watched row: measured on the benchmark tables, rounded up.
#: Ties make many more; `Plan.state_bytes` is where the kernels stop.
_CLOSE_PAIRS_PER_ROW = 400
_BYTES_PER_CLOSE_PAIR = 64
#: Of a watched row's own record, and of the allocator per row: two blocks of it.
_BYTES_PER_WATCHED_ROW = 192
#: Vectors that grow leave gaps: so much of the memory that is left is given to the states of rows.
#: Of 4000 rows of ten binary columns, 144 MiB of states took 195 of the process.
_USABLE = 0.7
#: Bytes per row of the table: two cache lines of single precision, target, digammas and numbers of
#: rows; and per row and thread: one row's pairs in full, and the distances they are counted from.
_BYTES_PER_ROW, _BYTES_PER_ROW_AND_THREAD = 128 + 48, 120
_COLUMN_BLOCK = 16
#: Up to this many rows all are measured unless a user wants fewer, and never fewer by default.
EVERY_ROW_UP_TO = 50_000
#: Beyond that: as many as bring the standard error of a set's information to this many nats, what
#: an error budget of 0.05 allows to be lost (2 x 0.05**2).
STANDARD_ERROR = 0.005
#: The spread of a row's term is found from this many batches of this many rows, to 18 %.
_BATCHES = 16
_ROWS_PER_BATCH = 16


@dataclass(frozen=True)
class WorkerMemory:
    """The memory that the rows of a search are kept in."""

    engine: str = "local"  # which engine runs the search
    n_workers: int = 1  # workers with memory of their own
    n_bytes: int | None = None  # bytes that each of them has
    max_tiles: int = 1  # tiles that each may hold
    holds_table: bool = False  # whether each holds the table beside its tiles
    is_planned: bool = True  # False: the search plans it by itself, see `backends.Cuda`

    def __post_init__(self) -> None:
        check.one_of("engine", self.engine, ("local", "dask", "cuda"))
        check.at_least("n_workers", self.n_workers, 1)
        check.at_least("max_tiles", self.max_tiles, 1)
        if self.n_bytes is not None:
            check.at_least("n_bytes", self.n_bytes, 0, or_none=True)


@dataclass(frozen=True, eq=False)
class Plan:
    """How a search uses rows and memory."""

    queries: IntArray  # rows that are measured, each against all rows of the table
    n_watched: int  # the first this many of them keep their pairs between steps
    n_bytes: int  # memory the search will hold, in bytes
    limit: int  # memory it was allowed, in bytes
    n_rows: int  # rows of the table
    keeps_pairs: bool  # whether the search keeps pairs at all: backward does, forward does not
    state_bytes: int = 0  # what the rows that keep their pairs may hold together, in bytes
    engine: str = "local"  # which engine runs the search
    standard_error: float | None = None
    n_tiles: int = 1  # parts that the rows are dealt into

    @property
    def notes(self) -> Notes:
        """What a user should know: rows left out, memory that made the search slower."""
        notes: Notes = ()
        if len(self.queries) < self.n_rows:
            figures = {"measured": len(self.queries), "n_rows": self.n_rows}
            notes += (Note("some rows measured", (), {**figures, "error": self.standard_error}),)
        if self.keeps_pairs and self.n_watched < len(self.queries):
            notes += (Note("little memory", figures={"plan": str(self)}),)
        return notes

    def __str__(self) -> str:
        kept = ""
        if self.keeps_pairs:
            kept = f", {self.n_watched} keep their pairs in memory between steps"
        return (
            f"{len(self.queries)} of {self.n_rows} rows are measured{kept} "
            f"({self.n_bytes / 2**20:.0f} of {self.limit / 2**20:.0f} MiB allowed)"
        )


def plan_sample(
    problem: Problem, *, max_memory: int | None, max_samples: int | None, seed: int,
    keeps_pairs: bool = True, n_neighbors: int = 3, n_threads: int = 1,
    workers: WorkerMemory | None = None,
) -> Plan:  # fmt: skip
    """Choose the rows to measure, and how many keep their state within the memory allowed."""
    check_search(problem, max_memory, max_samples, seed, n_neighbors, n_threads)
    keeps_pairs = check.truth("keeps_pairs", keeps_pairs)
    if workers is not None:
        check.instance_of("workers", workers, WorkerMemory, "by default the memory of this process")
    workers = workers or WorkerMemory()
    n, size = problem.n_rows, max_samples or problem.n_rows
    error: float | None = None
    if n > EVERY_ROW_UP_TO and (max_samples is None or max_samples < n):
        spread = _spread_of_terms(problem, n_neighbors)
        # A sample of this size, without replacement, has the standard error.
        enough = int(np.ceil(1 / ((STANDARD_ERROR / spread) ** 2 + 1 / n))) if spread else 1
        size = max_samples or max(EVERY_ROW_UP_TO, enough)
        error = float(spread * np.sqrt(1 / size - 1 / n))
    queries = _stratified(problem, size, seed)
    n_watched = len(queries) if keeps_pairs else 0
    all_rows = Plan(queries, n_watched, 0, 0, problem.n_rows, keeps_pairs, 0, workers.engine, error)
    if not workers.is_planned:
        return all_rows
    table = search_bytes(*problem.values.shape, n_threads=n_threads, copies=2 - keeps_pairs)
    limit = memory_limit(max_memory, workers.n_bytes)
    tiles = max(1, min(workers.max_tiles, limit // (2 * table) - 1))
    fixed = table * (tiles + workers.holds_table)
    if fixed > limit:
        d = problem.values.shape[1]
        raise MemoryBudgetError(
            f"a table of {n} rows and {d} columns needs at least {fixed} bytes, but max_memory "
            f"allows {limit}. Raise max_memory, or pass fewer columns."
        )
    state_bytes = int(_USABLE * (limit - fixed))
    close_pairs = _BYTES_PER_CLOSE_PAIR * min(problem.n_rows, _CLOSE_PAIRS_PER_ROW)
    watches = (4 if problem.n_features < 65535 else 8) * problem.n_rows
    per_row = watches + close_pairs + _BYTES_PER_WATCHED_ROW
    n_watched = min(n_watched, workers.n_workers * (state_bytes // per_row))
    return replace(
        all_rows,
        n_watched=n_watched,
        n_bytes=workers.n_workers * fixed + n_watched * per_row,
        limit=workers.n_workers * limit,
        state_bytes=workers.n_workers * state_bytes,
        n_tiles=workers.n_workers * tiles,
    )


def check_search(
    problem: Any,
    max_memory: Unchecked,
    max_samples: Unchecked,
    seed: Unchecked,
    n_neighbors: Unchecked,
    n_threads: Unchecked,
) -> None:
    check.instance_of("problem", problem, Problem, "Problem.from_arrays makes one")
    check.at_least("n_neighbors", n_neighbors, 1, check.MOST_NEIGHBORS)
    check.thread_count(n_threads)
    check.at_least("seed", seed, 0)
    if max_memory is not None:
        check.at_least("max_memory", max_memory, 1, check.MOST_MEMORY, or_none=True)
    if max_samples is not None:
        check.at_least("max_samples", max_samples, 1, or_none=True)


def search_bytes(n_rows: int, n_columns: int, *, n_threads: int = 1, copies: int = 1) -> int:
    """Return the bytes that a search by neighbors holds at least."""
    sizes = {"n_rows": n_rows, "n_columns": n_columns, "n_threads": n_threads, "copies": copies}
    for name, size in sizes.items():
        check.at_least(name, size, 0)
    padded = -(-n_columns // _COLUMN_BLOCK) * _COLUMN_BLOCK
    per_row = 8 * (n_columns + copies * padded) + _BYTES_PER_ROW
    return n_rows * (per_row + _BYTES_PER_ROW_AND_THREAD * n_threads)


def memory_limit(max_memory: int | None = None, n_bytes: int | None = None) -> int:
    """Return the bytes that may be held: `max_memory`, or half of what is available."""
    if max_memory is not None:
        return check.at_least("max_memory", max_memory, 1, check.MOST_MEMORY, or_none=True)
    if n_bytes is not None:
        check.at_least("n_bytes", n_bytes, 0, or_none=True)
    return int(_FRACTION_OF_MEMORY * (available_memory() if n_bytes is None else n_bytes))


def check_room(what: str, n_bytes: int, advice: str) -> None:
    """Refuse work that would hold more than half of the memory that is available."""
    if n_bytes <= _ALWAYS_FITS:
        return  # not worth reading what is available
    limit = memory_limit()
    if n_bytes > limit:
        raise MemoryBudgetError(f"{what} takes {n_bytes} bytes, but {limit} are free: {advice}.")


def available_memory(root: str | Path = "/") -> int:
    """Return the bytes that this process can still allocate without swapping."""
    if not isinstance(root, str | Path):
        raise ParameterError(f"root={root!r} is no path: leave it out.", parameter="root")
    left: list[int | None] = [int(psutil.virtual_memory().available)]
    for version, group in _control_groups(Path(root)):
        base = Path(root) / "sys/fs/cgroup" / ("" if version == 2 else "memory")
        # In a container the path may be the host's, and only the root of the mount is there.
        folder = base / group.lstrip("/")
        nested = {base, *(place for place in (folder, *folder.parents) if base in place.parents)}
        left += [_left_in_group(place, version) for place in nested]
    return max(0, min(rest for rest in left if rest is not None))


def _control_groups(root: Path) -> list[tuple[int, str]]:
    """Return the version and the path of the control groups that limit this process's memory."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []  # no Linux, or no control groups
    groups = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            groups.append((2, path))
        elif "memory" in controllers.split(","):
            groups.append((1, path))
    return groups


def _left_in_group(folder: Path, version: int) -> int | None:
    """Return what is left of a control group's limit; None where it has none."""
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        2: ("memory.max", "memory.current", "inactive_file"),
    }
    limit_name, usage_name, cache_name = names[version]
    try:
        limit = (folder / limit_name).read_text(encoding="ascii").strip()
        usage = int((folder / usage_name).read_text(encoding="ascii"))
    except OSError:
        return None  # the root of version 2 has no such files
    if limit == "max":
        return None
    stat = folder / "memory.stat"
    lines = stat.read_text(encoding="ascii").splitlines() if stat.is_file() else []
    counts = dict(line.split() for line in lines)
    return int(limit) - usage + int(counts.get(cache_name, 0))


def _stratified(problem: Problem, size: int, seed: int) -> IntArray:
    """Return every row, or a seeded sample that keeps the class frequencies (or target ranks)."""
    n = problem.n_rows
    queries = np.arange(n, dtype=np.int64)
    if size < n:
        strata = problem.labels if problem.labels is not None else np.asarray(problem.target)[:, 0]
        shuffled = np.random.default_rng(seed).permutation(n)
        by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
        # Equal steps through the rows sorted by target: each class keeps its frequency, to one row.
        queries = np.sort(by_stratum[(np.arange(size) * n) // size]).astype(np.int64)
    queries.setflags(write=False)  # kernels read rows by these numbers for as long as they search
    return queries


def _spread_of_terms(problem: Problem, n_neighbors: int) -> float:
    """Return the standard deviation of a row's term with all features, in nats."""
    key = ("spread of terms", n_neighbors)
    if key not in problem.cache:
        rows = np.random.default_rng(0).choice(problem.n_rows, _BATCHES * _ROWS_PER_BATCH, False)
        fixed, everything = FixedPoint.of(problem.n_rows), np.ones(problem.n_features, np.uint8)
        sums = []
        for batch in rows.reshape(_BATCHES, -1):
            settings = kernel_settings(problem, fixed, batch, n_neighbors)
            search = _kernels.Backward(**settings, watched_queries=0, direct=False)
            search.start(everything, 1)
            sums.append(search.information())
        means = fixed.to_nats(np.array(sums, dtype=np.int64), _ROWS_PER_BATCH)
        problem.cache[key] = float(means.std(ddof=1) * np.sqrt(_ROWS_PER_BATCH))
    spread: float = problem.cache[key]
    return spread


def kernel_settings(
    problem: Problem, fixed: FixedPoint, queries: IntArray, n_neighbors: int
) -> Fields:
    return {
        "values": problem.values,
        "features": problem.feature_of_column.astype(np.int32),
        "n_features": problem.n_features,
        "labels": problem.labels,
        "target": problem.target,
        "digamma": fixed.digamma,
        "queries": queries,
        "rank": min(int(n_neighbors), problem.n_rows),  # kernels hold as many distances
    }
