"""The GPU as the searches see it: memory and kernels, through CuPy."""

import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from pinsker._compat import install_command
from pinsker.exceptions import MemoryBudgetError

#: The kernels, in the order in which they make one program.
SOURCES = ("job.cuh", "estimate.cuh", "tiles.cu", "rows.cu", "score.cu", "forward.cu")
#: Products must be rounded before they are added, as on the CPU.
_OPTIONS = ("--std=c++17", "--fmad=false")
_FRACTION_OF_FREE_MEMORY = 0.8
#: The first compilation is done by one thread; CuPy keeps its result on disk.
_ONE_COMPILES = threading.Lock()

Array = Any  # an array in the memory of a device


class Device(Protocol):
    """Memory and kernels; `CupyDevice` is one, and the tests have one that runs on the CPU."""

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return an array that holds anything."""

    def full(self, shape: int | tuple[int, ...], value: int, dtype: npt.DTypeLike) -> Array:
        """Return an array that holds one value."""

    def put(self, values: npt.NDArray[Any]) -> Array:
        """Return a copy of a host array."""

    def get(self, array: Array) -> npt.NDArray[Any]:
        """Return a host copy of an array, when all work before is done."""

    def address(self, array: Array) -> int:
        """Return where an array begins."""

    def launch(
        self, kernel: str, grid: tuple[int, int], threads: int, shared: int, job: npt.NDArray[Any]
    ) -> None:
        """Start a kernel."""

    def free_memory(self) -> int:
        """Return the bytes that a search may hold."""


def source() -> str:
    """Return the program of all kernels."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in SOURCES)


def missing() -> str | None:
    """Return why no GPU can be used and what to do about it, or None if one can."""
    if find_spec("cupy") is None:
        return (
            f"CuPy is not installed; {install_command('gpu')} for CUDA 13, or pip install "
            "'cupy-cuda12x[ctk]' for CUDA 12; or use engine='local'."
        )
    try:
        if import_module("cupy").cuda.runtime.getDeviceCount() > 0:
            return None
        reason = "no device"
    except Exception as error:  # whatever the driver or a broken installation says
        reason = str(error) or type(error).__name__
    return f"CuPy finds no CUDA device ({reason}); check nvidia-smi, or use engine='local'."


class CupyDevice:
    """The current device of CuPy."""

    def __init__(self) -> None:
        self._cupy = import_module("cupy")
        self._program = _program(int(self._cupy.cuda.Device().id))
        self._kernels: dict[str, Any] = {}

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return an array that holds anything."""
        return self._allocate(lambda: self._cupy.empty(shape, dtype=dtype))

    def full(self, shape: int | tuple[int, ...], value: int, dtype: npt.DTypeLike) -> Array:
        """Return an array that holds one value."""
        return self._allocate(lambda: self._cupy.full(shape, value, dtype=dtype))

    def put(self, values: npt.NDArray[Any]) -> Array:
        """Return a copy of a host array."""
        return self._allocate(lambda: self._cupy.asarray(values))

    def _allocate(self, make: Callable[[], Array]) -> Array:
        """Make an array; raise with advice when others hold the memory of the GPU."""
        try:
            return make()
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise MemoryBudgetError(
                f"the GPU has no memory left for the search: {error} Let fewer searches run at a "
                "time, or use engine='local'."
            ) from error

    def get(self, array: Array) -> npt.NDArray[Any]:
        """Return a host copy of an array, when all work before is done."""
        host: npt.NDArray[Any] = array.get()
        return host

    def address(self, array: Array) -> int:
        """Return where an array begins."""
        return int(array.data.ptr)

    def launch(
        self, kernel: str, grid: tuple[int, int], threads: int, shared: int, job: npt.NDArray[Any]
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
