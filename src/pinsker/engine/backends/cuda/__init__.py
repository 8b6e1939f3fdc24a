"""The searches on a GPU, with the methods of the compiled ones and the same bits.

CuPy compiles the kernels of this folder at their first use and keeps them; nothing here imports it
before a search is made. `missing` returns why a search cannot be made.
"""

from pinsker.engine.backends.cuda._device import (
    LAYOUT,
    CupyDevice,
    layout_of,
    least_memory,
    missing,
    source,
)
from pinsker.engine.backends.cuda._searches import CudaBackward, CudaForward
