"""The searches on a GPU, with the methods of the compiled ones and the same bits.

CuPy compiles the kernels of this folder at their first use and keeps them; nothing here imports it
before a search is made. `missing` says why a search cannot be made.
"""

from pinsker.engine._cuda._backward import CudaBackward
from pinsker.engine._cuda._device import missing
from pinsker.engine._cuda._forward import CudaForward
from pinsker.engine._cuda._table import least_memory

__all__ = ["CudaBackward", "CudaForward", "least_memory", "missing"]
