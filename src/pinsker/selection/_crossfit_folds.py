"""Which rows are held out, and when."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Columns, Encoded, Target, frozen
from pinsker.exceptions import ParameterError

#: With fewer rows than this in a fold's search or judgement there is nothing to learn from it.
_FEWEST_HELD_OUT = 2
_FEWEST_SEARCHED = 8


@dataclass(frozen=True, eq=False)
class Fold:
    """One division of the rows.

    Attributes
    ----------
    train, test : ndarray of int64
        Rows that are searched, and rows that judge.
    """

    train: IntArray
    test: IntArray


def make_folds(
    encoded: Encoded, folds: int, cv: Any = None, seed: int = 0, *, fewest: int = 0
) -> tuple[Fold, ...]:
    """Divide the rows, or say by an empty tuple that there are too few.

    Parameters
    ----------
    encoded : Encoded
        The table.
    folds : int
        How many folds; every class, or every range of a numeric target, has its share in each.
    cv : splitter, iterable of (train, test) or None
        Divide by this instead: anything with ``split(X, y)``, or pairs of positions of rows.
    seed : int
        Seed of the division.
    fewest : int
        Rows that a search needs.
    """
    fewest = max(fewest, _FEWEST_SEARCHED)
    if cv is not None:
        return _folds_of(encoded, cv, fewest)
    n = encoded.n_rows
    count = min(folds, n // _FEWEST_HELD_OUT)
    if folds == 0 or count < 2 or n - -(-n // count) < fewest:
        return ()
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(n)
    dealt = shuffled[np.argsort(_first_target(encoded)[shuffled], kind="stable")]
    fold_of = np.empty(n, dtype=np.int64)
    # Dealt in rounds, each in its own order: neighbours in rank part, no fold is favoured.
    for start in range(0, n, count):
        hand = dealt[start : start + count]
        fold_of[hand] = rng.permutation(count)[: len(hand)]
    return tuple(
        Fold(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(count)
    )


def take_rows(encoded: Encoded, rows: IntArray) -> Encoded:
    """Return some rows of an encoded table, with values and codes as they are."""
    columns: Columns = replace(
        encoded.columns,
        values=frozen(encoded.columns.values[rows]),
        missing=None if encoded.columns.missing is None else frozen(encoded.columns.missing[rows]),
    )
    whole = encoded.target
    target: Target = replace(
        whole,
        labels=None if whole.labels is None else frozen(whole.labels[rows]),
        values=None if whole.values is None else frozen(whole.values[rows]),
        raw=None if whole.raw is None else frozen(whole.raw[rows]),
    )
    return replace(encoded, columns=columns, target=target, rows=frozen(encoded.rows[rows]))


def _first_target(encoded: Encoded) -> FloatArray:
    """Return the classes, or the first numeric target, as numbers to sort by."""
    held = encoded.target.labels if encoded.target.raw is None else encoded.target.raw[:, 0]
    return np.asarray(held, dtype=np.float64)


def _folds_of(encoded: Encoded, cv: Any, fewest: int) -> tuple[Fold, ...]:
    """Read the user's own division; positions are those of the user's table."""
    n_given = int(encoded.rows.max()) + 1
    try:
        pairs = _pairs_of(encoded, cv)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"cv={cv!r} does not divide the rows ({error}): use folds= for a number of folds, a "
            "splitter of scikit-learn, or its pairs, as in list(splitter.split(X, y, groups))."
        ) from error
    if not pairs:
        raise ParameterError("cv holds no division of the rows: give it one (train, test) pair.")
    place = np.full(n_given, -1, dtype=np.int64)
    place[encoded.rows] = np.arange(encoded.n_rows)
    folds = []
    for train, test in pairs:
        for part, rows in (("training", train), ("held-out", test)):
            if len(rows) and int(np.max(rows)) >= n_given:
                raise ParameterError(
                    f"cv names row {int(np.max(rows))} among the {part} rows, but there are "
                    f"{n_given}: divide the rows that are given to fit."
                )
        kept = [place[rows][place[rows] >= 0] for rows in (train, test)]
        if len(kept[0]) >= fewest and len(kept[1]):
            folds.append(Fold(kept[0].astype(np.int64), kept[1].astype(np.int64)))
    return tuple(folds)


def _pairs_of(encoded: Encoded, cv: Any) -> list[tuple[IntArray, IntArray]]:
    """Return the user's division as pairs of positions in the user's table."""
    if isinstance(cv, str) or not hasattr(cv, "split"):
        return [(np.asarray(train), np.asarray(test)) for train, test in cv]
    labels = encoded.target.labels
    y = labels if labels is not None else encoded.target.raw
    parts = cv.split(encoded.columns.values, y)
    return [(encoded.rows[train], encoded.rows[test]) for train, test in parts]
