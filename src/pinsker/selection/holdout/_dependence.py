"""Rows that are not independent: groups of rows, repeated rows, rows that a fit has seen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinsker._types import AnyArray, FloatArray, IntArray
from pinsker.bounds import effective_rows
from pinsker.encoding import Encoded, as_array, is_missing
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.selection.holdout._rows import Fold

#: With fewer groups than this a spread between groups is not known well enough for its limits.
FEWEST_GROUPS = 20
#: Hashes of rows that a saved selection holds at most: the smallest ones, a random sample of rows.
MOST_HASHES = 50_000


def read_groups(groups: Any, encoded: Encoded) -> IntArray | None:
    """Return the group of every row as numbers 0, 1, ...; None if there are no groups.

    Parameters
    ----------
    groups : array-like of shape (n_given,), or None
        One label per row of the user's table.
    encoded : Encoded
        The table; rows that were left out lose their label.
    """
    if groups is None:
        return None
    return number_groups(one_label_per_row(groups, encoded.n_given)[encoded.rows])


def one_label_per_row(groups: Any, n_rows: int) -> AnyArray:
    """Return the user's groups as an array; refuse another number of them than of rows."""
    labels = as_array("groups", groups)
    if labels.shape != (n_rows,):
        raise ParameterError(
            f"groups has shape {labels.shape}, but there are {n_rows} rows: give one label for "
            "each.",
            parameter="groups",
        )
    return labels


def number_groups(labels: AnyArray) -> IntArray:
    """Return groups as numbers 0, 1, ..., in the order of their labels; refuse missing ones."""
    n_missing = sum(map(is_missing, labels)) if labels.dtype.kind in "fOMm" else 0
    if n_missing:
        raise ParameterError(
            f"groups is missing in {n_missing} rows: give every row a label.", parameter="groups"
        )
    if labels.dtype == object:
        labels = labels.astype(str)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def note_few_groups(clusters: IntArray | None) -> tuple[str, ...]:
    """Warn of groups that are too few for limits by their sums; return the note."""
    if clusters is None:
        return ()
    count = len(np.unique(clusters))
    if count >= FEWEST_GROUPS:
        return ()
    note = (
        f"{count} groups of rows are held out: with fewer than {FEWEST_GROUPS} the confidence "
        "bounds are rough"
    )
    warnings.warn(f"{note}.", PinskerWarning, stacklevel=2)
    return (note,)


def note_weights(weights: FloatArray | None) -> tuple[str, ...]:
    """Return how many rows of equal weight the held-out rows are worth."""
    if weights is None:
        return ()
    worth = effective_rows(weights)
    note = (
        f"figures are weighted by sample_weight: {len(weights)} held-out rows are worth "
        f"{worth:.0f} of equal weight"
    )
    return (note,)


def note_repeated_rows(encoded: Encoded, folds: Sequence[Fold]) -> tuple[str, ...]:
    """Name rows that are the same in the training and in the held-out part of a fold.

    Tables of a few categories repeat rows by chance: what chance explains is not named. Rows that
    several folds hold out are noted too.
    """
    n_test = sum(len(fold.test) for fold in folds)
    n_rows = len(np.unique(np.concatenate([fold.test for fold in folds])))
    again: tuple[str, ...] = ()
    if n_rows < n_test:
        note = (
            f"{n_rows} rows were held out {n_test / n_rows:.3g} times on average: each counts "
            "once, with the mean of its losses"
        )
        again = (note,)
    if encoded.hashes is None:
        return again
    repeated = sum(
        int(np.isin(encoded.hashes[fold.test], encoded.hashes[fold.train]).sum()) for fold in folds
    )
    if repeated < max(3, n_test // 100):
        return again
    pairs = sum(len(fold.test) * len(fold.train) for fold in folds)
    if repeated <= 3 * pairs * _chance_of_equal_rows(encoded):
        return again
    note = (
        f"{repeated} of {n_test} held-out rows are repeated among the rows that models were fitted "
        "to: if they are the same observation the errors are too good, and groups= keeps them "
        "together"
    )
    return (*again, note)


def note_known_rows(encoded: Encoded, known: AnyArray | None) -> tuple[str, ...]:
    """Name rows that a fit has seen, and refuse a table that is not fresh at all.

    Parameters
    ----------
    encoded : Encoded
        The rows of a certificate.
    known : ndarray of uint64, or None
        Hashes of the rows of the fit, or the smallest of them; None where they are not known.
    """
    if known is None or encoded.hashes is None:
        return ()
    found, n_rows = count_known(encoded.hashes, known), encoded.n_rows
    smallest = np.sort(encoded.hashes)
    if not found.exact:
        smallest = smallest[: len(known)]
    same = np.array_equal(smallest, np.sort(known))
    if not same and found.n_hits <= 3 * n_rows * len(known) * _chance_of_equal_rows(encoded):
        return ()
    if same or found.n_known > n_rows // 2:
        raise DataError(
            f"{found} are rows of the fit: a certificate needs rows that took no part in the "
            "search. Hold some out before fit, and pass those to certify."
        )
    note = f"{found} are rows of the fit: this is an estimate, and no certificate; leave them out"
    return (note,)


@dataclass(frozen=True)
class KnownRows:
    """How many rows of a table are known, from all hashes of the known ones or the smallest.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    n_comparable : int
        Those whose hash would be there if they were known: all, unless hashes were left out.
    n_hits : int
        Those whose hash is there.
    exact : bool
        Whether no hash of a known row was left out.
    """

    n_rows: int
    n_comparable: int
    n_hits: int
    exact: bool

    @property
    def n_known(self) -> int:
        """Known rows; unbiased where hashes were left out, for they are random numbers."""
        return round(self.n_hits * self.n_rows / max(self.n_comparable, 1))

    def __str__(self) -> str:
        count = f"{self.n_known} of {self.n_rows} rows"
        if self.exact:
            return count
        return f"about {count} ({self.n_hits} of the {self.n_comparable} that can be compared)"


def count_known(hashes: AnyArray, known: AnyArray) -> KnownRows:
    """Count the rows that are among known ones.

    Parameters
    ----------
    hashes : ndarray of uint64
        Of the rows of a table.
    known : ndarray of uint64
        Of the known rows; `MOST_HASHES` of them are the smallest of more.

    Examples
    --------
    >>> print(count_known(np.arange(4, dtype=np.uint64), np.arange(2, 9, dtype=np.uint64)))
    2 of 4 rows
    """
    exact = len(known) != MOST_HASHES
    comparable = len(hashes) if exact else int((hashes <= known.max()).sum())
    return KnownRows(len(hashes), comparable, int(np.isin(hashes, known).sum()), exact)


def _chance_of_equal_rows(encoded: Encoded) -> float:
    """Return how likely two rows are equal if columns and target were independent."""
    target = encoded.target.labels if encoded.target.raw is None else encoded.target.raw
    columns = [np.asarray(target).reshape(encoded.n_rows, -1), encoded.columns.values]
    chance = 1.0
    for column in (part[:, j] for part in columns for j in range(part.shape[1])):
        shares = np.unique(column, return_counts=True)[1] / encoded.n_rows
        chance *= float(np.sum(shares**2))
        if chance < 1e-15:
            break
    return chance
