"""Forward search: the score of every addition, exactly, in one pass."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pinsker._types import FloatArray
from pinsker.engine._engines import Chosen, ForwardSearch, forward_search
from pinsker.engine._stepwise import Stepwise
from pinsker.exceptions import ParameterError


class Forward(Stepwise):
    """Scores every addition to the current set, and adds one feature at a time.

    For the current set S and each feature i outside of it, `scores` holds

    * ``score="difference"``: ``I(Y; X_{S and i}) - I(Y; X_S)``, each term with its own radius;
    * ``score="direct"``: ``I(Y; X_i | X_S)`` with one joint radius.

    Both are the estimator of ``docs/estimator.md``, to the last neighbour. Nothing is kept between
    steps but the set itself, so memory is that of the table and a search can start from any set.

    Parameters
    ----------
    problem : Problem
        The table, its features and the target.
    n_neighbors : int, default=3
        Neighbours that define a row's radius.
    score : {"difference", "direct"}, default="difference"
        What `scores` holds.
    active : iterable of int, default=None
        Features to start from; by default none.
    n_threads : int, default=1
        Threads; the results have the same bits for any number.
    max_memory : int, default=None
        Bytes the search may hold; by default half of what is free. Counts for each worker of a
        cluster, and on the GPU itself.
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

    Examples
    --------
    >>> import numpy as np
    >>> from pinsker.engine import Forward, Problem
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> y = (x[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(np.int64)
    >>> search = Forward(Problem.from_arrays(x, labels=y))
    >>> search.scores().argmax()
    np.int64(0)
    >>> search.add(0)
    >>> search.active
    (0,)
    """

    _keeps_pairs = False
    _search: ForwardSearch

    def scores(self) -> FloatArray:
        """Return the score of every addition, in nats; NaN for features that are in the set.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        sums = np.empty(self.problem.n_features, dtype=np.int64)
        self._search.sums(sums)
        # Subtracted as integers: exact, and the same bits whatever the order of the rows.
        if self.score == "difference":
            sums -= self._search.information()
        scores = self._nats(sums)
        scores[self._active == 1] = np.nan
        return scores

    def add(self, feature: int) -> None:
        """Add a feature to the set."""
        if self._active[feature]:
            raise ParameterError(f"feature {feature} is in the current set already.")
        self._active[feature] = 1
        self._search.add(int(feature), self.n_threads)

    def _first_set(self) -> Iterable[int]:
        return ()

    def _open(self, chosen: Chosen, settings: dict[str, Any]) -> None:
        self._search = forward_search(chosen, self.problem, self.plan.n_tiles, settings)
