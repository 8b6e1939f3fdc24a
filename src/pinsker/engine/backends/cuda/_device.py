"""What both directions put on the GPU: memory, kernels and their argument, table and query rows."""

import re
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker._compat import install_command
from pinsker._types import AnyArray, Fields, FloatArray, IntArray
from pinsker.encoding import FARTHEST
from pinsker.exceptions import MemoryBudgetError

#: The kernels, in the order in which they make one program.
SOURCES = ("job.cuh", "estimate.cuh", "tiles.cu", "rows.cu", "score.cu", "forward.cu")
#: Products must be rounded before they are added, as on the CPU.
_OPTIONS = ("--std=c++17", "--fmad=false")
_FRACTION_OF_FREE_MEMORY = 0.8
#: The first compilation is done by one thread; CuPy keeps its result on disk.
_ONE_COMPILES = threading.Lock()

Array = Any  # an array in the memory of a device


def source() -> str:
    """Return the program of all kernels."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in SOURCES)


def missing() -> str | None:
    """Return why no GPU can be used and what to do about it, or None if one can."""
    if find_spec("cupy") is None:
        return (
            f"CuPy is not installed; {install_command('gpu')} for CUDA 13, or pip install "
            "'cupy-cuda12x[ctk]' for CUDA 12; or use <engine=local>."
        )
    try:
        if import_module("cupy").cuda.runtime.getDeviceCount() > 0:
            return None
        reason = "no device"
    except Exception as error:  # whatever the driver or a broken installation says
        reason = str(error) or type(error).__name__
    return f"CuPy finds no CUDA device ({reason}); check nvidia-smi, or use <engine=local>."


class CupyDevice:
    """The current device of CuPy; the tests have one of the same methods that runs on the CPU."""

    def __init__(self) -> None:
        self._cupy = import_module("cupy")
        self._program = _program(int(self._cupy.cuda.Device().id))
        self._kernels: Fields = {}

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        return self._allocate(lambda: self._cupy.empty(shape, dtype=dtype))

    def full(self, shape: int | tuple[int, ...], value: int, dtype: npt.DTypeLike) -> Array:
        return self._allocate(lambda: self._cupy.full(shape, value, dtype=dtype))

    def put(self, values: AnyArray) -> Array:
        return self._allocate(lambda: self._cupy.asarray(values))

    def _allocate(self, make: Callable[[], Array]) -> Array:
        """Make an array; raise with advice when others hold the memory of the GPU."""
        try:
            return make()
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise MemoryBudgetError(
                f"the GPU has no memory left for the search: {error} Let fewer searches run at a "
                "time, or use <engine=local>."
            ) from error

    def get(self, array: Array) -> AnyArray:
        """Return a host copy of an array, when all work before is done."""
        host: AnyArray = array.get()
        return host

    def address(self, array: Array) -> int:
        return int(array.data.ptr)

    def launch(
        self, kernel: str, grid: tuple[int, int], threads: int, shared: int, job: AnyArray
    ) -> None:
        """Start a kernel; it gets the job by value."""
        if kernel not in self._kernels:
            self._kernels[kernel] = self._program.get_function(kernel)
        self._kernels[kernel](grid, (threads,), (job,), shared_mem=shared)

    def free_memory(self) -> int:
        """Return the bytes that a search may hold: most of what is free, or kept by CuPy."""
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        pool = self._cupy.get_default_memory_pool()
        return int(_FRACTION_OF_FREE_MEMORY * (free + pool.free_bytes()))


@cache
def _program(device_id: int) -> Any:
    """Compile the kernels for a device, once in a process."""
    cupy = import_module("cupy")
    with _ONE_COMPILES, cupy.cuda.Device(device_id):
        program = cupy.RawModule(code=source(), options=_OPTIONS)
        program.compile()
    return program


#: Numbers that the structure may hold, and what they are here; addresses point at any type.
_NUMBERS: dict[str, npt.DTypeLike] = {"long long": np.int64, "double": np.float64}
_DECLARATION = re.compile(r"(?:const )?(\w+(?: \w+)?) (\*?\w+(?:, \*?\w+)*)")


def layout_of(declarations: str) -> np.dtype[np.void]:
    """Return the layout of a C structure whose fields are addresses or numbers of eight bytes."""
    body = declarations.partition("struct Job {")[2].partition("};")[0]
    fields: list[tuple[str, npt.DTypeLike]] = []
    for line in re.sub(r"//.*", "", body).split(";"):
        declaration = " ".join(line.split())
        if not declaration:
            continue
        match = _DECLARATION.fullmatch(declaration)
        if match is None:
            raise ValueError(f"{declaration!r} in struct Job: declare addresses or numbers.")
        for name in match[2].split(", "):
            if name.startswith("*"):
                fields.append((name[1:], np.uint64))
            elif match[1] in _NUMBERS:
                fields.append((name, _NUMBERS[match[1]]))
            else:
                raise ValueError(
                    f"{name} in struct Job is a number of type {match[1]}: use long long or double,"
                    " so that every field takes eight bytes."
                )
    return np.dtype(fields)


LAYOUT = layout_of(Path(__file__).with_name("job.cuh").read_text(encoding="utf-8"))
ADDRESSES = frozenset(name for name in LAYOUT.names or () if LAYOUT[name] == np.uint64)


class Job:
    """Fields by name; arrays are kept alive for as long as a field points at them."""

    def __init__(self, device: CupyDevice, **fields: Any) -> None:
        self.device = device
        self.record: AnyArray = np.zeros(1, dtype=LAYOUT)
        self.held: dict[str, Array] = {}
        self.queries: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)  # on the host
        self.set(**fields)

    def set(self, **fields: Any) -> None:
        """Set fields: arrays of the device, None for a null address, or numbers."""
        for name, value in fields.items():
            if name not in ADDRESSES:
                self.record[name] = value
            elif value is None:
                self.held.pop(name, None)
                self.record[name] = 0
            else:
                self.held[name] = value
                self.record[name] = self.device.address(value)

    def copy(self, **fields: Any) -> "Job":
        """Return another job that differs in some fields."""
        other = Job(self.device)
        other.record[:] = self.record
        other.held.update(self.held)
        other.queries = self.queries
        other.set(**fields)
        return other

    def launch(
        self, kernel: str, blocks: int | tuple[int, int], threads: int, shared: int = 0
    ) -> None:
        """Run a kernel; nothing happens for an empty grid."""
        grid = (blocks, 1) if isinstance(blocks, int) else blocks
        if min(grid) > 0:
            self.device.launch(kernel, grid, threads, shared, self.record)


TILE = 64  # query rows, and rows, of one block of `tiles.cu`
TILE_THREADS = 256
ROW_THREADS = 128  # of blocks that look through one row
_CODES = 255  # watches are features modulo this
_COLUMNS_PER_PART = 16


def bytes_of_table(rows: int, columns: int, targets: int) -> int:
    """Return the bytes of a table, of a copy of its columns, and of what each row has."""
    return rows * (20 * (columns + _COLUMNS_PER_PART) + 8 * targets + 64)


def bytes_of_fresh_row(rows: int, n_features: int) -> int:
    """Return the bytes to measure one query row with room for all pairs, half for distances."""
    return 80 * rows + 24 * n_features + 512


def least_memory(rows: int, columns: int, n_features: int, targets: int) -> int:
    """Return the bytes of a device that a search of a table cannot do without."""
    return bytes_of_table(rows, columns, targets) + bytes_of_fresh_row(rows, n_features)


class Table:
    """A table on the device, its rows sorted by class so that neighbors lie together."""

    def __init__(
        self, *, values: FloatArray, features: npt.NDArray[np.int32], n_features: int,
        labels: IntArray | None, target: FloatArray | None, digamma: IntArray, queries: IntArray,
        rank: int, direct: bool, memory_limit: int | None = None,
        device: CupyDevice | None = None,
    ) -> None:  # fmt: skip
        self.device = CupyDevice() if device is None else device
        self.n_features, self.rank, self.direct = n_features, rank, direct
        self.rows, self.columns = int(values.shape[0]), int(values.shape[1])
        self.features = np.asarray(features)
        order = np.arange(self.rows) if labels is None else np.argsort(labels, kind="stable")
        self.queries = np.sort(np.argsort(order)[np.asarray(queries)]).astype(np.int32)
        classes = None if labels is None else labels[order]
        # Where each row's class begins and ends; all rows are in one without classes.
        first, last = np.zeros(self.rows, dtype=np.int64), np.full(self.rows, self.rows)
        if classes is not None:
            first, last = (np.searchsorted(classes, classes, side=s) for s in ("left", "right"))
        self.first, self.last = first.astype(np.int32), last.astype(np.int32)
        self.targets = 0 if target is None else int(target.shape[1])
        free = self.device.free_memory()
        self.limit = free if memory_limit is None else min(free, memory_limit)
        self.own_bytes = bytes_of_table(self.rows, self.columns, self.targets)
        self.bytes_of_fresh_row = bytes_of_fresh_row(self.rows, self.n_features)
        needed = self.own_bytes + self.bytes_of_fresh_row
        if needed > self.limit:
            raise MemoryBudgetError(
                f"a table of {self.rows} rows and {self.columns} columns needs at least {needed} "
                f"bytes on the GPU, but {self.limit} are allowed. Raise max_memory if you set it, "
                "pass fewer columns, or use <engine=local>."
            )
        ordered, put = values[order], self.device.put
        sizes = np.abs(ordered)
        largest = float(sizes.max(where=sizes < FARTHEST, initial=0.0))
        # How far single precision moves a distance; infinite if it cannot hold the values.
        rounding = largest * 2.0**-22 + 2.0**-124 if largest < 1e30 else np.inf
        self.job = Job(  # all others are copied from it
            self.device, source=put(np.ascontiguousarray(ordered)),
            labels=None if classes is None else put(classes.astype(np.int32)),
            same_class_first=put(self.first), same_class_last=put(self.last),
            digamma=put(np.asarray(digamma)), rows=self.rows, source_width=self.columns,
            rank=self.rank, n_features=self.n_features, direct=self.direct, removed=-1,
            rounding=rounding,
        )  # fmt: skip
        if target is not None:
            numbers = np.ascontiguousarray(target[order])
            self.job.set(target=put(numbers), targets=self.targets)
            if self.targets == 1:  # also sorted, to be searched
                self.job.set(sorted_target=put(np.sort(numbers[:, 0])))

    def lay_out(self, columns: IntArray, where: str, width: str, job: Job, **also: Any) -> IntArray:
        """Write some columns side by side, padded with zeros to a multiple of four."""
        padded = -np.ones(len(columns) + -len(columns) % 4, dtype=np.int64)
        padded[: len(columns)] = columns
        to = self.device.empty((self.rows, max(len(padded), 4)), np.float64)
        lay = job.copy(columns=self.device.put(padded), table=to, width=len(padded), **also)
        lay.launch("lay_out", self.rows if len(padded) else 0, 64)
        job.set(**{where: to, width: len(padded)}, **also)
        return padded

    def lay_out_set(self, columns: IntArray, job: Job) -> None:
        """Lay out the columns of the current set, with the feature and the code of each."""
        width = len(columns) + -len(columns) % 8  # single precision is read eight columns at a time
        rounded = self.device.empty((self.rows, max(width, 8)), np.float32)
        padded = self.lay_out(columns, "table", "width", job, rounded=rounded, rounded_width=width)
        features = np.full(len(padded) + _COLUMNS_PER_PART, -1, dtype=np.int32)
        features[: len(padded)] = np.where(padded < 0, -1, self.features[padded])
        codes = np.where(features < 0, _CODES, features % _CODES).astype(np.uint8)
        job.set(feature_of_column=self.device.put(features), code_of_column=self.device.put(codes))

    def find_distances(self, job: Job, begin: int, n: int, *, all_rows: bool) -> Job:
        """Return a job with the distances of `n` queries from `begin` on."""
        span = self.rows
        if not all_rows:  # as many as the queries of a tile can have as neighbors, at most
            starts = np.arange(begin, begin + n, TILE)
            ends = np.minimum(starts + TILE, begin + n) - 1
            span = int((self.last[job.queries[ends]] - self.first[job.queries[starts]]).max())
        found = self.device.empty((n, span), np.float64)
        part = job.copy(distance=found, begin=begin, n_queries=begin + n, span=span)
        part.set(all_rows=all_rows)
        part.launch("distances", (-(-span // TILE), -(-n // TILE)), TILE_THREADS)
        return part

    def job_for(self, queries: npt.NDArray[np.int32], **fields: Any) -> Job:
        job = self.job.copy(query=self.device.put(queries), n_queries=len(queries), **fields)
        job.queries = queries
        return job
