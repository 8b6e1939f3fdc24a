"""The check that every estimator by neighbours makes first."""

from typing import Any

import numpy as np

from pinsker.exceptions import ParameterError


def check_neighbors(n_neighbors: Any, n_rows: int) -> int:
    """Return `n_neighbors` if `n_rows` rows can have so many, else say what would fit.

    Examples
    --------
    >>> check_neighbors(3, 100)
    3
    """
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole or n_neighbors < 1:
        raise ParameterError(f"n_neighbors={n_neighbors!r} must be a whole number of at least 1.")
    if n_neighbors >= n_rows:
        raise ParameterError(
            f"n_neighbors={n_neighbors} needs at least {n_neighbors + 1} rows, but there are "
            f"{n_rows}: use n_neighbors <= {n_rows - 1} or more rows."
        )
    return int(n_neighbors)
