"""Stage: selection. A greedy search gives a `SelectionPath`; a stopping rule cuts it."""

from pinsker.selection._path import SelectionPath, Step

__all__ = [
    "SelectionPath",
    "Step",
]
