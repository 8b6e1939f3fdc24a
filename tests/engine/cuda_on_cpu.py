"""A device that runs the CUDA kernels on the CPU: the same source, compiled as C++ with a shim."""

import ctypes
import os
import shutil
import subprocess
import weakref
from pathlib import Path

import numpy as np

from pinsker.engine.backends.cuda import LAYOUT, source

SHIM = Path(__file__).with_name("cuda_on_cpu.hpp")
#: Appended to the kernels: runs one of them for every block of a grid.
RUNNER = """
extern "C" void run(void (*kernel)(Job), const void *job, unsigned blocks_x, unsigned blocks_y,
                    unsigned threads, int backwards) {
    static void (*chosen)(Job);
    chosen = kernel;
    on_cpu::body = [](const void *job) { chosen(*static_cast<const Job *>(job)); };
    on_cpu::argument = job;
    while (on_cpu::fibers.size() < threads) {
        on_cpu::fibers.emplace_back();
        on_cpu::fibers.back().stack.resize(on_cpu::kStack);
    }
    blockDim = {threads, 1};
    gridDim = {blocks_x, blocks_y};
    for (unsigned y = 0; y < blocks_y; ++y)
        for (unsigned x = 0; x < blocks_x; ++x) {
            blockIdx = {x, y};
            on_cpu::run_block(threads, backwards);
        }
}
extern "C" long long size_of_job() { return sizeof(Job); }
"""
#: Where the compiler puts each field that the library knows of.
OFFSETS = (
    'extern "C" const long long offsets_of_job[] = {\n'
    + ",\n".join(f"    offsetof(Job, {name})" for name in LAYOUT.names)
    + "\n};\n"
)
OPTIONS = ["-std=c++17", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-Wall"]
OPTIONS += ["-Wno-unknown-pragmas"]
#: Fibers jump between stacks; a fortified longjmp, Ubuntu's default, takes that for an attack.
OPTIONS += ["-U_FORTIFY_SOURCE"]


def compiler():
    """The C++ compiler of this machine, or None."""
    return shutil.which(os.environ.get("CXX", "") or "g++") or shutil.which("c++")


def build(folder):
    """Compile the kernels for the CPU; returns the library."""
    text, library = folder / "kernels.cpp", folder / "kernels.so"
    text.write_text(f'#include "{SHIM}"\n{source()}\n{RUNNER}\n{OFFSETS}', encoding="utf-8")
    subprocess.run([compiler(), *OPTIONS, "-o", library, text], check=True)
    return ctypes.CDLL(str(library))


def offsets(library):
    """Byte offset of every field of the job, as compiled."""
    found = (ctypes.c_longlong * len(LAYOUT.names)).in_dll(library, "offsets_of_job")
    return dict(zip(LAYOUT.names, found, strict=True))


class CpuDevice:
    """Memory is numpy's and is counted, a kernel runs to its end when it is launched."""

    def __init__(self, library, *, backwards=False, row_threads=4, memory=2**30):
        self.library, self.backwards, self.row_threads = library, backwards, row_threads
        self.memory = memory
        self.launches = []
        self.held = self.most_held = 0  # bytes

    def empty(self, shape, dtype):
        # Poisoned: whatever is read before it is written must not look right.
        array = np.empty(shape, dtype=dtype)
        array.view(np.uint8)[...] = 0xAB
        return self._counted(array)

    def full(self, shape, value, dtype):
        return self._counted(np.full(shape, value, dtype=dtype))

    def put(self, values):
        return self._counted(np.array(values))

    def _counted(self, array):
        self.held += array.nbytes
        self.most_held = max(self.most_held, self.held)
        weakref.finalize(array, self._freed, array.nbytes)
        return array

    def _freed(self, n_bytes):
        self.held -= n_bytes

    def get(self, array):
        return array.copy()

    def address(self, array):
        return array.ctypes.data

    def free_memory(self):
        return self.memory

    def launch(self, kernel, grid, threads, shared, job):
        assert job.nbytes == self.library.size_of_job()
        assert shared <= 2**16
        self.launches.append(kernel)
        # Tiles need their 256 threads; blocks that work on one row run with any number.
        threads = threads if kernel in ("distances", "sort_pairs") else self.row_threads
        self.library.run(
            ctypes.cast(getattr(self.library, kernel), ctypes.c_void_p),
            job.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_uint(grid[0]),
            ctypes.c_uint(grid[1]),
            ctypes.c_uint(threads),
            ctypes.c_int(self.backwards),
        )
