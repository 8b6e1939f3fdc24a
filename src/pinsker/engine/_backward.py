"""Backward search: the score of every removal, exactly, in one pass."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pinsker._types import FloatArray
from pinsker.engine._engines import BackwardSearch, Chosen, backward_search
from pinsker.engine._stepwise import Stepwise
from pinsker.exceptions import ParameterError


class Backward(Stepwise):
    """Scores every removal from the current set, and removes one feature at a time.

    For the current set S and each feature i in it, `scores` holds

    * ``score="difference"``: ``I(Y; X_S) - I(Y; X_{S without i})``, each term with its own radius;
      a path's scores then add up to a difference of two estimates;
    * ``score="direct"``: ``I(Y; X_i | X_{S without i})`` with one joint radius.

    Both are the estimator of ``docs/estimator.md``, to the last neighbour. The state is a function
    of the current set alone, so a search can be resumed from any set.

    Parameters
    ----------
    problem : Problem
        The table, its features and the target.
    n_neighbors : int, default=3
        Neighbours that define a row's radius.
    score : {"difference", "direct"}, default="difference"
        What `scores` holds.
    active : iterable of int, default=None
        Features to start from; all of them by default.
    n_threads : int, default=1
        Threads; the results have the same bits for any number.
    max_memory : int, default=None
        Bytes the search may hold. Rows whose pairs do not fit are measured afresh in every step.
        By default half of what is free. Counts for each worker of a cluster, and on the GPU itself.
    max_samples : int, default=None
        Measure at most this many rows, against all of them; by default every row of up to
        50 000, see ``docs/engine.md``.
    seed : int, default=0
        Seed of that sample.
    engine : {"auto", "local", "dask", "cuda"}, default="local"
        Who does the work: this machine's cores, a Dask cluster or a GPU. The results have the same
        bits. "auto" takes an active ``distributed.Client``, else a GPU if the table is large
        enough to pay for it, else the cores.
    client : distributed.Client, default=None
        The cluster of ``engine="dask"``; by default the active one.

    Attributes
    ----------
    plan : Plan
        How rows and memory are used.

    Examples
    --------
    >>> import numpy as np
    >>> from pinsker.engine import Backward, Problem
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> y = (x[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(np.int64)
    >>> search = Backward(Problem.from_arrays(x, labels=y))
    >>> search.scores().argmax()
    np.int64(0)
    >>> search.remove(2)
    >>> search.active
    (0, 1)
    """

    _keeps_pairs = True
    _search: BackwardSearch

    def scores(self) -> FloatArray:
        """Return the score of every removal, in nats; NaN for features outside of the set.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.changes(sums)
        scores = self._nats(sums if self.score == "direct" else -sums)
        if self._active.sum() == 1:  # without its last feature the set knows nothing
            scores[:] = self.information
        scores[self._active == 0] = np.nan
        return scores

    def remove(self, feature: int) -> None:
        """Remove a feature from the set."""
        if not self._active[feature]:
            raise ParameterError(
                f"feature {feature} is not in the current set, so it cannot be removed."
            )
        self._active[feature] = 0
        self._search.remove(int(feature), self.n_threads)

    def _first_set(self) -> Iterable[int]:
        return range(self.problem.n_features)

    def _open(self, chosen: Chosen, settings: dict[str, Any]) -> None:
        settings["watched_queries"] = self.plan.n_watched
        self._search = backward_search(chosen, self.problem, self.plan.n_tiles, settings)
