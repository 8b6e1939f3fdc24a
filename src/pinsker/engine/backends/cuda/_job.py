"""The argument of every kernel: one structure of addresses and numbers, declared in ``job.cuh``."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pinsker.engine.backends.cuda._device import Array, Device

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

    def __init__(self, device: Device, **fields: Any) -> None:
        self.device = device
        self.record: npt.NDArray[Any] = np.zeros(1, dtype=LAYOUT)
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
