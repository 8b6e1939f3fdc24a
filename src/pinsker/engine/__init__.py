"""Neighbour radii and counts, for every candidate of a search at once.

`Problem` is what the kernels see of a table; `Backward` scores every removal from a set and
`Forward` every addition to one. How it works is drawn in ``docs/engine.md``.
"""

from pinsker.engine._backward import Backward
from pinsker.engine._forward import Forward
from pinsker.engine._problem import Problem

__all__ = ["Backward", "Forward", "Problem"]
