"""Rows that are not independent: groups of rows, repeated rows, rows that a fit has seen."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinsker._notes import Note, Notes
from pinsker._types import AnyArray, FloatArray, IntArray, RowLabels
from pinsker.bounds import effective_rows
from pinsker.encoding import Encoded, hash_numbers, is_missing, read_array
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.holdout._rows import Fold

#: With fewer groups than this a spread between groups is not known well enough for its limits.
FEWEST_GROUPS = 20
#: Hashes of rows that a saved selection holds at most: the smallest ones, a random sample of rows.
MOST_HASHES = 50_000
#: Columns at most that are left aside to see whether rows are repeated in all others.
_MOST_ASIDE = 2


def read_groups(groups: RowLabels, encoded: Encoded) -> IntArray | None:
    """Return the group of every row as numbers 0, 1, ...; None if there are no groups."""
    if groups is None:
        return None
    return number_groups(one_label_per_row(groups, encoded.n_given)[encoded.rows])


def one_label_per_row(groups: RowLabels, n_rows: int) -> AnyArray:
    """Return the user's groups as an array; refuse another number of them than of rows."""
    labels = read_array("groups", groups)
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


def note_few_groups(clusters: IntArray | None) -> Notes:
    """Warn of groups that are too few for limits by their sums; return the note."""
    if clusters is None:
        return ()
    count = len(np.unique(clusters))
    if count >= FEWEST_GROUPS:
        return ()
    return _warned(Note("few groups", figures={"count": count, "fewest": FEWEST_GROUPS}))


def note_divided_groups(
    clusters: IntArray | None, divisions: Iterable[tuple[IntArray, IntArray]]
) -> Notes:
    """Warn of groups whose rows are fitted to and held out by one division; return the note."""
    if clusters is None:
        return ()
    divided: set[int] = set()
    for train, test in divisions:
        divided.update(np.intersect1d(clusters[train], clusters[test]).tolist())
    if not divided:
        return ()
    figures = {"divided": len(divided), "count": len(np.unique(clusters))}
    return _warned(Note("divided groups", figures=figures))


def _warned(note: Note) -> tuple[Note, ...]:
    warnings.warn(f"{note}.", PinskerWarning, stacklevel=3)
    return (note,)


def warn_of_known_rows(hashes: AnyArray, known: AnyArray | None, of: str) -> None:
    """Warn of test rows that are among others, which they should be independent of."""
    if known is None:
        return
    found = count_known(hashes, known)
    _, counts = np.unique(known, return_counts=True)
    by_chance = found.n_comparable * float(counts[counts > 1].sum()) / len(known)
    fewest = max(3, found.n_comparable // 100)
    if found.n_hits < fewest or found.n_hits <= by_chance + 3.0 * by_chance**0.5:
        return
    warnings.warn(
        f"{found} test rows are among the rows {of}{found.basis}: the errors are too good. Hold "
        "rows out before fit, and pass those.",
        PinskerWarning,
        stacklevel=2,
    )


def note_weights(weights: FloatArray | None) -> Notes:
    """Return how many rows of equal weight the held-out rows are worth."""
    if weights is None:
        return ()
    worth = effective_rows(weights)
    return (Note("weights", figures={"n_rows": len(weights), "worth": float(worth)}),)


def note_repeated_rows(encoded: Encoded, folds: Sequence[Fold]) -> Notes:
    """Name rows that are the same in the training and in the held-out part of a fold."""
    n_test = sum(len(fold.test) for fold in folds)
    n_rows = len(np.unique(np.concatenate([fold.test for fold in folds])))
    again: Notes = ()
    if n_rows < n_test:
        again = (Note("held out often", figures={"n_rows": n_rows, "times": n_test / n_rows}),)
    if encoded.hashes is None:
        return again
    equal = _note_equal(encoded.hashes, _columns(encoded), folds)
    aside = [] if equal else _columns_like_numbers_of_rows(encoded)
    if aside:
        names = tuple(encoded.columns.names[j] for j in aside)
        hashes = hash_numbers(_columns(encoded, aside))
        equal = _note_equal(hashes, _columns(encoded, aside), folds, names)
    return (*again, *equal)


def _note_equal(
    hashes: AnyArray,
    columns: Iterable[FloatArray],
    folds: Sequence[Fold],
    but: tuple[str, ...] = (),
) -> tuple[Note, ...]:
    """Return a note where more held-out rows are among the others of a fold than by chance."""
    n_test = sum(len(fold.test) for fold in folds)
    repeated = sum(int(np.isin(hashes[fold.test], hashes[fold.train]).sum()) for fold in folds)
    if repeated < max(3, n_test // (10 if but else 100)):  # columns aside: correlated ones repeat
        return ()
    pairs = sum(len(fold.test) * len(fold.train) for fold in folds)
    if repeated <= 3 * pairs * _chance_of_equal_rows(columns):
        return ()
    kind = "nearly repeated rows" if but else "repeated rows"
    return (Note(kind, but, {"repeated": repeated, "n_test": n_test}),)


def _columns_like_numbers_of_rows(encoded: Encoded) -> list[int]:
    """Return up to `_MOST_ASIDE` columns without a repeated value where other columns have some."""
    n_rows, n_columns = encoded.columns.values.shape
    some = encoded.columns.values[:: max(1, n_rows // 1000)]
    distinct = [j for j, column in enumerate(some.T) if len(np.unique(column)) == len(column)]
    return distinct if len(distinct) <= min(_MOST_ASIDE, n_columns - 1) else []


def note_known_rows(encoded: Encoded, known: AnyArray | None) -> Notes:
    """Name rows that a fit has seen, and refuse a table that is not fresh at all."""
    if known is None or encoded.hashes is None:
        return ()
    found, n_rows = count_known(encoded.hashes, known), encoded.n_rows
    smallest = np.sort(encoded.hashes)
    if not found.exact:
        smallest = smallest[: len(known)]
    same = np.array_equal(smallest, np.sort(known))
    by_chance = n_rows * len(known) * _chance_of_equal_rows(_columns(encoded))
    if not same and found.n_hits <= 3 * by_chance:
        return ()
    if same or found.n_known > n_rows // 2:
        raise DataError(
            f"{found} rows are rows of the fit{found.basis}: a certificate needs rows that took no "
            "part in the search. Hold some out before fit, and pass those to certify."
        )
    return (Note("known rows", figures={"found": str(found), "basis": found.basis}),)


@dataclass(frozen=True)
class KnownRows:
    """How many rows of a table are known, from all hashes of the known ones or the smallest."""

    n_rows: int  # rows of the table
    n_comparable: int
    n_hits: int  # those whose hash is there
    exact: bool  # whether no hash of a known row was left out

    @property
    def n_known(self) -> int:
        """Known rows; unbiased where hashes were left out, for they are random numbers."""
        return round(self.n_hits * self.n_rows / max(self.n_comparable, 1))

    @property
    def basis(self) -> str:
        """Where hashes were left out: in how many rows the known ones were counted."""
        return "" if self.exact else f" (counted in {self.n_comparable} of them)"

    def __str__(self) -> str:
        return f"{'' if self.exact else 'about '}{self.n_known} of {self.n_rows}"


def count_known(hashes: AnyArray, known: AnyArray) -> KnownRows:
    """Count the rows that are among known ones."""
    exact = len(known) != MOST_HASHES
    comparable = len(hashes) if exact else int((hashes <= known.max()).sum())
    exact = exact or comparable == len(hashes)
    return KnownRows(len(hashes), comparable, int(np.isin(hashes, known).sum()), exact)


def _columns(encoded: Encoded, aside: Sequence[int] = ()) -> Iterator[FloatArray]:
    """Yield the target, and the columns but for some."""
    target = encoded.target.labels if encoded.target.raw is None else encoded.target.raw
    yield from np.asarray(target, dtype=np.float64).reshape(encoded.n_rows, -1).T
    for j, column in enumerate(encoded.columns.values.T):
        if j not in aside:
            yield np.asarray(column, dtype=np.float64)


def _chance_of_equal_rows(columns: Iterable[FloatArray]) -> float:
    """Return how likely two rows are equal if their columns were independent."""
    chance = 1.0
    for column in columns:
        shares = np.unique(column, return_counts=True)[1] / len(column)
        chance *= float(np.sum(shares**2))
        if chance < 1e-15:
            break
    return chance
