"""The growing search that two paths begin with, made once per table."""

import threading
from typing import Any

from sklearn.base import clone

from pinsker.encoding import Encoded
from pinsker.selection._crossfit_routes import find_path
from pinsker.selection._forward import ForwardSelection
from pinsker.selection._grow_shrink import GrowShrink, Growth
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import FeatureCount
from pinsker.selection._run import digest_of
from pinsker.selection._search import Trace, is_idle


class SharedGrowth:
    """Grows a set once per table, for the forward path and for the one that shrinks it again.

    The forward path is the beginning of the growth: it ends where nothing has risen for a while,
    and growing goes on until well past that.

    Parameters
    ----------
    shrinker : GrowShrink
        Whose growth it is.
    grower : ForwardSelection
        With the same settings.
    forced : tuple of int
        Features that come first.
    """

    def __init__(
        self, shrinker: GrowShrink, grower: ForwardSelection, forced: tuple[int, ...]
    ) -> None:
        self.shrinker, self.grower, self.forced = shrinker, grower, forced
        self._forget()

    def of(self, encoded: Encoded) -> Growth:
        """Return the growth on some rows; of two threads that ask at once one searches."""
        rows = digest_of(encoded)
        with self._guard:
            lock = self._locks.setdefault(rows, threading.Lock())
        with lock:
            if rows not in self._grown:
                self._grown[rows] = clone(self.shrinker)._growth(encoded, self.forced)
            return self._grown[rows]

    def _forget(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._grown: dict[str, Growth] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: it searches for itself."""
        names = ("shrinker", "grower", "forced")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def grow_shrink(self, encoded: Encoded) -> SelectionPath:
        """Return the path of `GrowShrink`."""
        selector = _Shrink(**self.shrinker.get_params(deep=False))
        selector.shared = self
        return find_path(selector, encoded, self.forced)

    def forward(self, encoded: Encoded) -> SelectionPath:
        """Return the path of `ForwardSelection`."""
        grown, full = self.of(encoded)
        stop = self.grower.stop
        size = max(len(self.forced), stop.k if isinstance(stop, FeatureCount) else 0)
        size = min(size, len(grown.moves))
        while size < len(grown.moves) and not is_idle(
            _beginning(grown, size), self.grower.patience
        ):
            size += 1
        return _beginning(grown, size).path(
            "forward",
            encoded.feature_names,
            self.grower.score_form,
            n_forced=len(self.forced),
            full_information=full,
        )


class _Shrink(GrowShrink):
    """A `GrowShrink` that is handed its growth."""

    shared: SharedGrowth

    def _growth(self, encoded: Encoded, forced: tuple[int, ...]) -> Growth:  # noqa: ARG002
        return self.shared.of(encoded)


def _beginning(trace: Trace, size: int) -> Trace:
    """Return the first moves of a trace."""
    return Trace(
        trace.start,
        trace.information[: size + 1],
        trace.moves[:size],
        trace.scores[:size],
        complete=True,
    )
