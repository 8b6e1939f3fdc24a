"""Which rows search, which evaluate and which certify: the plan of a fit's rows.

Rows that are not independent (groups, repeated rows, rows that a fit has seen) are noted here.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.model_selection import TimeSeriesSplit

from pinsker._notes import Note, Notes
from pinsker._types import (
    AnyArray,
    CrossValidation,
    FloatArray,
    IntArray,
    RowLabels,
    Selector,
    Splitter,
    TableLike,
    TargetLike,
)
from pinsker.bounds import effective_rows, serial_blocks
from pinsker.encoding import (
    Columns,
    Encoded,
    Profile,
    check_weights,
    count_rows,
    halves_of_hashes,
    hash_numbers,
    is_missing,
    listing,
    read_array,
    take,
    take_rows,
)
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.search import MOST_SEARCHED

_not_cv = partial(ParameterError, parameter="cv")
#: With fewer rows than this in a fold's search or evaluation there is nothing to learn from it.
_FEWEST_HELD_OUT = 2
_FEWEST_SEARCHED = 8
#: From this many rows on folds are drawn twice: on ten real tables and four seeds 50 features stay
#: instead of 64, and their number varies less over seeds. With fewer rows it changes little, and of
#: more cells times classes than this a fit takes twice as long (1092 x 617 of 26 classes).
_TWICE_FROM, _MOST_TWICE = 1000, 2_000_000
#: From this many rows on two folds share a search without the rows of both.
_SHARE_FROM = 1000
#: From this many rows on, one search on rows that no fold holds out replaces one search per fold.
SEARCH_ONCE_FROM = 2000
#: Rows of that search at most: searches by neighbors are quadratic in them.
_MOST_SEARCHED_ONCE = 1000
#: From this many rows on a table is split into three parts: one searches, one evaluates, one
#: certifies. Below, every row serves for everything in turn.
SPLIT_FROM = 5000
#: Rows that search at most: counts can use them all, neighbors some of them.
MOST_COUNTED = 20_000
#: Rows that models are fitted to while sizes are compared, and for the certificate; of few columns
#: default models take more, up to this many cells: 10 000 rows do not show what 4000 categories are
#: worth. Those of a user may take time in the square of them.
_MOST_TRAINED, _MOST_TRAINED_TO_CERTIFY = 5000, 10_000
_TRAINED_CELLS, _TRAINED_CELLS_TO_CERTIFY = 200_000, 1_000_000
#: Rows that evaluate at most. All at once: a prediction costs little beside the fit before it.
_MOST_EVALUATED = 40_000
#: Rows that certify at most: a bound of 0.002 on a difference of error rates.
MOST_CERTIFIED = 40_000
#: Ranges of a numeric target that stretches of rows are stratified by.
_STRATA = 50
#: Rows of a table that are read at most: they are enough for all of the above, as a third of what
#: did not search certifies.
MOST_READ = 150_000


@dataclass(frozen=True, eq=False)
class Fold:
    """One division of the rows."""

    train: IntArray  # rows that models are fitted to
    test: IntArray  # rows that are held out


class PartSizes(NamedTuple):
    """How many rows of a large table do what."""

    search: int
    train: int
    evaluate: int
    certify: int

    @classmethod
    def of(cls, n_rows: int, n_columns: int = 0) -> "PartSizes":
        """Give a quarter to the search, a third of the rest to the certificate; 0: any columns."""
        most = max(_MOST_TRAINED, _TRAINED_CELLS // n_columns if n_columns else 0)
        n_search = min(n_rows // 4, MOST_COUNTED)
        n_certify = (n_rows - n_search) // 3
        n_train = min((n_rows - n_search - n_certify) // 2, most)
        return cls(n_search, n_train, n_rows - n_search - n_train - n_certify, n_certify)


def most_trained_to_certify(n_columns: int) -> int:
    """Return the rows that models are fitted to for a certificate, at most."""
    more = _TRAINED_CELLS_TO_CERTIFY // n_columns if n_columns else 0
    return max(_MOST_TRAINED_TO_CERTIFY, more)


class RowCounts(NamedTuple):
    """How many rows the largest stages of a fit work on."""

    search: int
    train: int
    test: int
    counted: int  # rows of searches by counts, which can use more
    held_out: int  # rows whose predictions are kept

    @classmethod
    def of(
        cls, n_rows: int, n_columns: int, cv: CrossValidation, *, in_parts: bool = True
    ) -> "RowCounts":
        """Count the rows of a table of this size under a division."""
        if in_parts and n_rows >= SPLIT_FROM and splits_into_parts(cv):
            parts = PartSizes.of(n_rows, n_columns)
            train = min(parts.train + parts.evaluate, most_trained_to_certify(n_columns))
            test = min(n_rows - parts.search, _MOST_EVALUATED)
            return cls(min(parts.search, MOST_SEARCHED), train, test, parts.search, test)
        held_out = n_rows // int(cv) if isinstance(cv, Integral) and cv else 0
        return cls(n_rows, n_rows - held_out, held_out or n_rows, n_rows, n_rows)


@dataclass(frozen=True, eq=False)
class RowPlan:
    """Which rows of a table search, evaluate and certify, whatever its size."""

    searched: tuple[IntArray, ...]  # rows of each search whose sets are evaluated
    search_of_fold: tuple[int, ...]  # which of them found the sets that a fold evaluates
    folds: tuple[Fold, ...]  # none where nothing is held out
    crosses: bool = True  # whether rows that search evaluate in turn: all of them search once more
    certify: Fold | None = None  # rows that are looked at once, for the chosen set
    by_time: bool = False  # whether the latest rows certify

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        cv: CrossValidation,
        seed: int,
        *,
        groups: IntArray | None = None,
        fewest: int = 0,
        in_parts: bool = True,
        n_columns: int = 0,
    ) -> "RowPlan":
        """Plan the rows: by folds, by folds beside rows that search, or by three disjoint parts."""
        n = encoded.n_rows
        if in_parts and n >= SPLIT_FROM and splits_into_parts(cv):
            return cls._of_parts(encoded, cv, seed, groups, n_columns)
        once = in_parts and n >= SEARCH_ONCE_FROM and groups is None
        if once and isinstance(cv, Integral) and cv:
            rows, folds = set_search_rows_aside(encoded, int(cv), seed)
            return cls((rows,), (0,) * len(folds), folds, crosses=False)
        folds = make_folds(encoded, cv, seed, fewest=fewest, groups=groups)
        labels = encoded.target.labels
        cells = n * encoded.n_features * (1 if labels is None else int(labels.max()) + 1)
        many = n >= _TWICE_FROM and cells <= _MOST_TWICE
        if in_parts and folds and many and isinstance(cv, Integral):
            again = make_folds(encoded, cv, seed + 1, fewest=fewest, groups=groups)
            folds = tuple(fold for pair in zip(folds, again, strict=True) for fold in pair)
        searched, search_of_fold = rows_of_searches(folds, n)
        return cls(tuple(searched), tuple(search_of_fold), folds)

    @classmethod
    def _of_parts(
        cls,
        encoded: Encoded,
        cv: CrossValidation,
        seed: int,
        groups: IntArray | None,
        n_columns: int,
    ) -> "RowPlan":
        """Divide the rows of a large table into parts that search, train, evaluate and certify."""
        by_time = not isinstance(cv, Integral)
        if by_time:
            order = np.arange(encoded.n_rows)
        else:
            order = stratified_order(encoded, seed) if groups is None else group_order(groups, seed)
        edges = np.cumsum(PartSizes.of(len(order), n_columns)[:3])
        if groups is not None and not by_time:
            edges = _at_ends_of_groups(groups[order], edges)
        search, train, evaluate, certify = np.split(order, edges)
        if by_time:  # neighbors are searched among the first of them
            search = np.random.default_rng(seed).permutation(search)
        again, most = np.concatenate([train, evaluate]), most_trained_to_certify(n_columns)
        again = again[-most:] if by_time else again[:most]
        folds = (Fold(train, evaluate[:_MOST_EVALUATED]),)
        last = Fold(again, certify[:MOST_CERTIFIED])
        return cls((search,), (0,), folds, crosses=False, certify=last, by_time=by_time)

    def rows_to_measure(self, encoded: Encoded) -> Encoded:
        """Return the rows that a path is described on: those that ordered it."""
        if self.crosses:
            return encoded
        rows = self.searched[0]
        return take_rows(encoded, rows if self.certify is None else rows[:MOST_SEARCHED])


def splits_into_parts(cv: CrossValidation) -> bool:
    """Return whether many rows are split into parts: other splitters cross-fit all of them."""
    if isinstance(cv, Integral):
        return bool(cv)
    plain = (0, None, None)
    return type(cv) is TimeSeriesSplit and (cv.gap, cv.test_size, cv.max_train_size) == plain


def as_own_table(encoded: Encoded, fold: Fold) -> tuple[Encoded, Fold, IntArray]:
    """Return the rows of one fold as a table of their own, the fold in it, and their places."""
    rows = np.concatenate([fold.train, fold.test])
    n_train = len(fold.train)
    return take_rows(encoded, rows), Fold(np.arange(n_train), np.arange(n_train, len(rows))), rows


def group_order(groups: IntArray, seed: int) -> IntArray:
    """Return the rows group by group, the groups in random order."""
    place = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return np.argsort(place[groups], kind="stable")


def _at_ends_of_groups(ordered: IntArray, edges: IntArray) -> IntArray:
    """Move every edge to the nearest end of a group that no other edge has taken."""
    free = (np.flatnonzero(np.diff(ordered)) + 1).tolist()
    if len(free) < len(edges):
        raise DataError(
            f"found {len(free) + 1} groups of rows, too few to search, fit, evaluate and "
            "certify on different ones: cross-fit them with cv=GroupKFold()."
        )
    taken = []
    for edge in edges.tolist():
        taken.append(min(free, key=lambda end: abs(end - edge)))
        free.remove(taken[-1])
    return np.sort(np.array(taken, dtype=np.int64))


def rows_of_searches(folds: tuple[Fold, ...], n_rows: int) -> tuple[list[IntArray], list[int]]:
    """Return the rows of each search that is needed, and which search each fold takes."""
    searched: list[IntArray] = []
    search_of_fold: list[int] = []
    single = False  # whether the last search belongs to one fold so far
    for fold in folds:
        may_share = single and n_rows >= _SHARE_FROM
        shared = np.intersect1d(searched[-1], fold.train) if may_share else fold.train[:0]
        single = 2 * len(shared) < n_rows
        if single:
            searched.append(fold.train)
        else:
            searched[-1] = shared
        search_of_fold.append(len(searched) - 1)
    return searched, search_of_fold


def make_folds(
    encoded: Encoded,
    cv: CrossValidation,
    seed: int = 0,
    *,
    fewest: int = 0,
    groups: IntArray | None = None,
) -> tuple[Fold, ...]:
    """Divide the rows; an empty tuple where nothing is held out, or there are too few rows."""
    fewest = max(fewest, _FEWEST_SEARCHED)
    if not isinstance(cv, Integral):
        return _folds_of(encoded, cv, fewest, groups)
    n = encoded.n_rows
    count = min(int(cv), n // _FEWEST_HELD_OUT)
    if count < 2 or n - -(-n // count) < fewest:
        return ()
    rng = np.random.default_rng(seed)
    if groups is not None:
        return _folds_of_groups(groups, count, fewest, rng)
    shuffled = rng.permutation(n)
    dealt = shuffled[np.argsort(encoded.target.strata[shuffled], kind="stable")]
    fold_of = np.empty(n, dtype=np.int64)
    # Dealt in rounds, each in its own order: rows of close ranks part, and no fold is favored.
    for start in range(0, n, count):
        hand = dealt[start : start + count]
        fold_of[hand] = rng.permutation(count)[: len(hand)]
    return _as_folds(fold_of, count)


def _as_folds(fold_of: IntArray, count: int) -> tuple[Fold, ...]:
    """Return folds from the number of the one that holds each row out."""
    numbers = range(count)
    return tuple(Fold(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in numbers)


def set_search_rows_aside(
    encoded: Encoded, n_folds: int, seed: int
) -> tuple[IntArray, tuple[Fold, ...]]:
    """Divide the rows into those that search, and folds of the others."""
    order = stratified_order(encoded, seed)
    n_search = min(len(order) // 3, _MOST_SEARCHED_ONCE)
    rest, everything = order[n_search:], np.arange(len(order))
    held_out = [np.sort(rest[k::n_folds]) for k in range(n_folds)]
    folds = tuple(Fold(np.setdiff1d(everything, test), test) for test in held_out)
    return np.sort(order[:n_search]), folds


def stratified_order(encoded: Encoded, seed: int) -> IntArray:
    """Return a random order of the rows in which every stretch is stratified by the target."""
    rng = np.random.default_rng(seed)
    labels = encoded.target.labels
    if labels is None:
        ranks = np.argsort(np.argsort(encoded.target.strata, kind="stable"), kind="stable")
        labels = ranks * _STRATA // len(ranks)
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    counts = np.bincount(labels)
    within = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = (within + rng.random(len(labels))) / np.repeat(counts, counts)
    return np.asarray(by_class[np.argsort(place, kind="stable")])


def _folds_of_groups(
    groups: IntArray, count: int, fewest: int, rng: np.random.Generator
) -> tuple[Fold, ...]:
    """Deal whole groups, the largest first, each to the fold with the fewest rows."""
    sizes = np.bincount(groups)
    count = min(count, len(sizes))
    if count < 2:
        raise ParameterError(
            "groups names one group only: nothing can be held out.", parameter="groups"
        )
    shuffled = rng.permutation(len(sizes))
    fold_of, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    if len(groups) - filled.max() < fewest:
        return ()
    return _as_folds(fold_of[groups], count)


def _folds_of(
    encoded: Encoded, cv: CrossValidation, fewest: int, groups: IntArray | None = None
) -> tuple[Fold, ...]:
    """Read the user's own division; positions are those of the user's table."""
    n_given = encoded.n_given
    place = np.full(n_given, -1, dtype=np.int64)
    place[encoded.rows] = np.arange(encoded.n_rows)
    folds = []
    for pair in read_division(cv, n_given, lambda: _split(encoded, cv, groups)):
        train, test = (place[rows][place[rows] >= 0] for rows in pair)
        if len(train) >= fewest and len(test):
            folds.append(Fold(train, test))
    return tuple(folds)


def read_division(
    cv: CrossValidation, n_rows: int, split: Callable[[], Iterable[Any]]
) -> list[tuple[IntArray, IntArray]]:
    """Return the user's own division as checked pairs of positions among the rows."""
    divides = isinstance(cv, Splitter) and not isinstance(cv, (str, bytes))
    try:
        with warnings.catch_warnings():  # groups that are divided are named where they are known
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            given = split() if divides else cv
            pairs = [(np.asarray(train), np.asarray(test)) for train, test in given]
    except (TypeError, ValueError, IndexError) as error:
        raise _not_cv(
            f"cv={cv!r} does not divide the rows ({error}): use a number of folds, a splitter of "
            "scikit-learn, or its pairs, as in list(splitter.split(X, y, groups)). A splitter that "
            "needs groups gets those passed as groups=."
        ) from error
    if not pairs:
        raise _not_cv("cv holds no division of the rows: give it one (train, test) pair.")
    read = []
    for train, test in pairs:
        read.append((_positions(train, n_rows, "training"), _positions(test, n_rows, "held-out")))
        _refuse_overlap(*read[-1])
    return read


def _positions(rows: AnyArray, n_rows: int, part: str) -> IntArray:
    """Return which rows a part of a fold names, by position or by a mask."""
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise _not_cv(
            f"cv names the {part} rows by an array of {rows.dtype} of shape {rows.shape}: name "
            "them by a list of positions, or by a mask of all rows."
        )
    wrong = rows[(rows < 0) | (rows >= n_rows)]
    if len(wrong):
        raise _not_cv(
            f"cv names row {int(wrong[-1])} among the {part} rows, but there are {n_rows}: divide "
            "the rows that are given."
        )
    return rows.astype(np.int64)


def _refuse_overlap(train: IntArray, test: IntArray) -> None:
    """Refuse rows that are fitted to and held out at once, or held out twice by one fold."""
    both = np.intersect1d(train, test)
    if len(both):
        raise _not_cv(
            f"cv has {_rows_text(both)} among the training and the held-out rows of one fold: "
            "hold out rows that are not fitted to."
        )
    rows, counts = np.unique(test, return_counts=True)
    if len(rows) < len(test):
        raise _not_cv(
            f"cv holds {_rows_text(rows[counts > 1])} out more than once in one fold: name each "
            "row once."
        )


def _rows_text(rows: IntArray) -> str:
    """Name some rows: the first three, and how many there are."""
    shown = ", ".join(str(row) for row in rows[:3].tolist())
    if len(rows) == 1:
        return f"row {shown}"
    return f"rows {shown}" + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")


def _split(
    encoded: Encoded, cv: CrossValidation, groups: IntArray | None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Divide the rows by a splitter; positions are those of the user's table."""
    labels = encoded.target.labels
    y = labels if labels is not None else encoded.target.raw
    if y is not None and encoded.target.task == "survival":
        y = y[:, 1]  # a splitter can stratify by the event
    if get_config()["enable_metadata_routing"] and hasattr(cv, "get_metadata_routing"):
        routed = cv.get_metadata_routing().consumes("split", ["groups"])
        groups = groups if routed else None
    for train, test in cv.split(encoded.columns.values, y, groups):
        yield encoded.rows[train], encoded.rows[test]


#: With fewer groups than this a spread between groups is not known well enough for its limits.
FEWEST_GROUPS = 20
#: Hashes of rows that a saved selection holds at most: the smallest ones, a random sample of rows.
MOST_HASHES = 50_000
#: Columns at most that are left aside to see whether rows are repeated in all others.
_MOST_ASIDE = 2
#: Columns at most, each left out once, to see which rows agree in all the others.
_MOST_LEFT_OUT = 10
#: Normal targets that move by a standard deviation move between deciles in less than this share of
#: the rows; those in another unit, four times as large or as small, in more.
_OTHER_UNIT = 0.4
#: Classes have other shares where this share of the rows would have to be of another class.
_OTHER_SHARES = 0.25
#: A row has twins where the next neighbor after them is this many times as far. Of independent rows
#: on a line, where neighbors are nearest, 11 % seem to have some, and of others fewer.
_TWIN_GAP, _MANY_TWINS = 10.0, 0.35
#: Twins of a row at most, differences that are looked at in all, pairs of rows in a fold (their
#: distances are held), and held-out rows at least.
_MOST_TWINS, _MOST_COMPARED, _MOST_HELD, _FEWEST_COMPARED = 20, 40_000_000, 600_000, 30
#: Rows that are known in half of their columns are named from this share on.
_PART_KNOWN = 0.1
#: A column has few values where two rows agree in it with this probability.
_FEW_VALUES = 0.01


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
    count = FEWEST_GROUPS if clusters is None else len(np.unique(clusters))
    if count >= FEWEST_GROUPS:
        return ()
    return warn_of(Note("few groups", figures={"count": count, "fewest": FEWEST_GROUPS}))


def blocks_of_time(gaps: FloatArray) -> tuple[IntArray | None, tuple[Note, ...]]:
    """Return blocks of neighboring rows, which depend on each other, and a doubt about too few."""
    if gaps.ndim > 1 or not gaps.any():
        return None, ()
    blocks = serial_blocks(gaps)
    doubt = Note("serial rows", figures={"r": blocks.autocorrelation})
    return blocks.clusters, () if blocks.enough else (doubt,)


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
    return warn_of(Note("divided groups", figures=figures))


def warn_of(note: Note) -> tuple[Note, ...]:
    """Warn of what a note says, and return it."""
    warnings.warn(f"{note}.", PinskerWarning, stacklevel=3)
    return (note,)


def warn_of_known_rows(
    hashes: AnyArray | None, known: AnyArray | None, kind: str, *, partly: bool = True
) -> Notes:
    """Warn of test rows that are among others, which they should be independent of; note it."""
    found = find_known(hashes, known, partly=partly)
    if found is None:
        return ()
    figures = {"found": str(found), "basis": found.basis}
    return warn_of(Note(kind, figures=figures, weight="doubt"))


def kept_suspects(selector: Selector) -> Notes:
    """Return doubts about columns that the fit suspected, and kept without having been told to."""
    path, kept = selector.path_, set(kept_columns(selector))
    kept -= {path.names[j] for j in path.order[: path.n_fixed]}
    suspects = [note for note in selector.notes_ if note.kind == "suspect"]
    return tuple(replace(one, weight="doubt") for one in suspects if kept & {*one.columns})


def compare_with_fit(selector: Selector, fresh: Profile | None, hashes: AnyArray | None) -> Notes:
    """Return what rows of an audit have from the fit of a selector, and what is not as there."""
    in_time = isinstance(selector.get_params(deep=False).get("cv"), TimeSeriesSplit)
    record = selector._record
    return (
        *kept_suspects(selector),
        *warn_of_known_rows(hashes, record.known_rows, "rows of the fit"),
        *compare_profiles(record.profile, fresh, kept_columns(selector), in_time=in_time),
    )


def without_weightless(
    X: TableLike, y: TargetLike, sample_weight: RowLabels, groups: RowLabels
) -> tuple[TableLike, TargetLike, FloatArray | None, RowLabels]:
    """Return a table with its target, weights and groups without the rows of weight zero."""
    if sample_weight is None:
        return X, y, None, groups
    weights = check_weights(sample_weight, count_rows(X))
    if weights.all():
        return X, y, weights, groups
    used = np.flatnonzero(weights)
    labels = None if groups is None else one_label_per_row(groups, len(weights))[used]
    return take(X, used), take(y, used), weights[used], labels


def demand_labels(record: Any, sample_weight: RowLabels, groups: RowLabels) -> None:
    """Refuse rows without the groups or the weights that those of the fit had."""
    if record.grouped and groups is None:
        raise ParameterError(
            "the rows of fit belonged to groups: pass those of these rows too, as <groups=>, one "
            "of its own for every row that stands alone.",
            parameter="groups",
        )
    if record.weighted and sample_weight is None:
        raise ParameterError(
            "the rows of fit had weights: pass those of these rows too, as <sample_weight=>, all 1 "
            "for rows that count alike.",
            parameter="sample_weight",
        )


def fitted_columns(selector: Selector) -> list[str]:
    """Return the names of the columns that a selector was fitted to, as its profile has them."""
    unnamed = [f"x{j}" for j in range(len(selector.get_support()))]
    return [*map(str, vars(selector).get("feature_names_in_", unnamed))]


def kept_columns(selector: Selector) -> list[str]:
    """Return the names of the columns that a selector keeps."""
    both = zip(fitted_columns(selector), selector.get_support(), strict=True)
    return [name for name, stays in both if stays]


def compare_profiles(
    fit: Profile | None, fresh: Profile | None, kept: Sequence[str], *, in_time: bool = False
) -> Notes:
    """Return what is not as in the fit: the one place where a later table is compared with it."""
    # Dropped columns that are empty now prove nothing about the set without them; other values,
    # which time may bring, make an estimate.
    if fit is None or fresh is None:
        return (Note("no profile", weight="doubt"),)
    notes = _compare_targets(fit, fresh, in_time=in_time)
    found = {name: what for name, what in fit.differences(fresh).items() if name not in kept}
    notes += note_emptied(fit, found, kept, "here")
    other = tuple(name for name, what in found.items() if what == "values")
    if other and not in_time:
        notes += (Note("other values", other, weight="doubt"),)
    return notes


def note_emptied(fit: Profile, found: Mapping[str, str], kept: Sequence[str], where: str) -> Notes:
    """Return which dropped columns are empty or constant in some rows; refuse most of them."""
    empty = tuple(name for name, what in found.items() if what != "values" and name not in kept)
    n_dropped = len(set(fit.compared) - set(kept))
    if empty and 2 * len(empty) > n_dropped:
        raise DataError(
            f"{len(empty)} of {n_dropped} dropped columns are empty or constant {where}, and were "
            f"not in the fit ({listing(empty)}): without their values nothing can be said about "
            "what is lost by leaving them out. Pass rows that hold them."
        )
    return (Note("emptied columns", empty, {"where": where}, weight="untrue"),) if empty else ()


def _compare_targets(fit: Profile, fresh: Profile, *, in_time: bool) -> Notes:
    """Return how the targets differ; refuse another number of them, and classes of other names."""
    if not fresh.n_targets:  # of rows without labels
        return ()
    if fit.n_targets != fresh.n_targets:
        numbers = f"{fresh.n_targets}, those of the fit {fit.n_targets}"
        raise DataError(f"the targets are {numbers}: pass the same.")
    notes: tuple[Note, ...] = ()
    for known, found in zip(fit.classes, fresh.classes, strict=False):  # or one are numbers
        new, absent = sorted(set(found) - set(known)), sorted(set(known) - set(found))
        if len(new) == len(found):
            raise DataError(
                f"the classes {listing(new)} are none of those of the fit ({listing(known)}): "
                "give them the same names."
            )
        if new or absent:
            figures = {"new": listing(new) or "none", "absent": listing(absent) or "none"}
            notes += (Note("other classes", (), figures, weight="doubt"),)
    same_kind = bool(fit.classes) == bool(fresh.classes) and not notes
    if fit.targets and fresh.targets and same_kind and not in_time:
        far = _OTHER_SHARES if fit.classes else _OTHER_UNIT
        kind = "other shares" if fit.classes else "other targets"
        differ = fit.targets.differences(fresh.targets, far, far)
        notes += (Note(kind, weight="doubt"),) if differ else ()
    return notes


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
    if (share := _share_of_twins(encoded, folds)) > _MANY_TWINS:
        again += (Note("close rows", figures={"share": share}, weight="doubt"),)
    copies, but = find_copies(encoded)
    if copies is None:
        return again
    repeated = sum(int(np.isin(copies[fold.test], copies[fold.train]).sum()) for fold in folds)
    if repeated < max(3, n_test // 100):
        return again
    kind = "nearly repeated rows" if but else "repeated rows"
    return (*again, Note(kind, but, {"repeated": repeated, "n_test": n_test}, weight="doubt"))


def _share_of_twins(encoded: Encoded, folds: Sequence[Fold]) -> float:
    """Return the share of held-out rows that training rows of their target are far nearest to."""
    # Copies with noise are no equal rows; that they differ in a clock or a counter does not matter.
    target, values = encoded.target, _values_in_units(encoded.columns)
    gone = () if encoded.profile is None else encoded.profile.unhashed
    known = zip(encoded.columns.names, encoded.columns.categories, strict=True)
    named = [(j, own is None) for j, (name, own) in enumerate(known) if name not in gone]
    kinds = [one for one in named if len(np.unique(np.sign(np.diff(values[:, one[0]])))) > 1]
    raw = target.labels[:, None] if target.labels is not None else target.raw
    assert raw is not None  # a target has classes or values
    near = 0.0 if target.labels is not None else raw.std(axis=0) / _TWIN_GAP
    found = n_tested = 0
    for fold in folds:
        train, k = fold.train, min(_MOST_TWINS, len(fold.train) - 1)
        most = min(_MOST_HELD, _MOST_COMPARED // (len(folds) * max(len(kinds), 12)))
        n_test = min(len(fold.test), most // len(train))
        if not n_test or not kinds or k < 2:
            continue
        test = fold.test[np.linspace(0, len(fold.test) - 1, n_test).astype(np.int64)]
        squares = np.zeros((n_test, len(train)))
        for j, is_numeric in kinds:
            gaps = np.abs(values[test, j, None] - values[train, j])
            squares += np.minimum(gaps, 1.0) ** 2 if is_numeric else gaps > 0.0
        nearest = np.argpartition(squares, k, axis=1)[:, : k + 1]
        distances = np.sqrt(np.take_along_axis(squares, nearest, axis=1))
        order = np.argsort(distances, axis=1)
        distances, nearest = (np.take_along_axis(x, order, axis=1) for x in (distances, nearest))
        same = (np.abs(raw[test, None] - raw[train[nearest]]) <= near).all(axis=2)
        before, after = distances[:, :-1], distances[:, 1:]
        twins = (before > 0.0) & (after > _TWIN_GAP * before)
        twins &= np.logical_and.accumulate(same, axis=1)[:, :-1]
        found, n_tested = found + int(twins.any(axis=1).sum()), n_tested + n_test
    return found / n_tested if n_tested >= _FEWEST_COMPARED else 0.0


def _values_in_units(columns: Columns) -> FloatArray:
    """Return values in the user's units, by their spread: the nearer copies are, the less noise."""
    values = np.nan_to_num(columns.values)
    for j, units in enumerate(columns.units):
        if units is not None:
            own = np.interp(values[:, j], *units)
            values[:, j] = own / (np.ptp(np.quantile(own, [0.1, 0.9])) / 2.5 or 1.0)
    return values


def group_copies(encoded: Encoded) -> tuple[IntArray | None, Notes]:
    """Return rows and their copies as groups, with a note; None where no row has copies."""
    copies, but = find_copies(encoded)
    if copies is None:
        return None, ()
    figures = {"n_rows": len(copies), "different": int(copies.max()) + 1}
    return copies, (Note("nearly copies of rows" if but else "copies of rows", but, figures),)


def find_copies(encoded: Encoded) -> tuple[IntArray | None, tuple[str, ...]]:
    """Return equal rows by number, and columns that differ; None if chance explains equal rows."""
    if encoded.hashes is None:
        return None, ()
    names = encoded.columns.names
    gone = () if encoded.profile is None else encoded.profile.unhashed
    aside = [j for j, name in enumerate(names) if name in gone]
    found = _copies(encoded.hashes, lambda: list(_columns(encoded, aside)), 10 if aside else 100)
    if found is None and (more := _columns_like_numbers_of_rows(encoded)):
        aside += more
        columns = list(_columns(encoded, aside))
        found = _copies(hash_numbers(columns), lambda: columns, 10)  # correlated columns repeat
    return found, tuple(names[j] for j in aside) if found is not None else ()


def _copies(
    hashes: AnyArray, columns: Callable[[], list[FloatArray]], part: int
) -> IntArray | None:
    """Return rows of equal hashes by number, if they are a part of all and more than by chance."""
    _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    if len(hashes) - len(counts) < max(3, len(hashes) // part):
        return None
    if len(counts) < 2 or _are_equal_by_chance(columns(), _pairs(counts)):
        return None
    return np.asarray(number, dtype=np.int64)


def _pairs(counts: IntArray) -> float:
    return float((counts * (counts - 1.0)).sum() / 2)


def _are_equal_by_chance(columns: list[FloatArray], n_pairs: float) -> bool:
    """Return whether chance may have made this many pairs of rows equal."""
    # Then rows that agree in all columns but one differ in that one too: often if it has few values
    # (of nested ones, such as cities of countries, the innermost), or as its many values tell.
    n_rows, differ, equal = len(columns[0]), 0.0, []
    for place, column in enumerate(columns):
        shares = np.unique(column, return_counts=True)[1] / n_rows
        if len(shares) > 1:
            equal.append((float(np.sum(shares**2)), place))
    if 10.0 * math.prod(chance for chance, _ in equal) * n_rows**2 / 2 >= n_pairs:
        return True  # as often if no column knew of another
    for chance, place in sorted(equal, reverse=True)[:_MOST_LEFT_OUT]:
        others = hash_numbers(columns[:place] + columns[place + 1 :])
        more = _pairs(np.unique(others, return_counts=True)[1]) - n_pairs
        differ += more * (1.0 if chance >= _FEW_VALUES else chance)
        if 10.0 * differ >= n_pairs:
            return True
    return False


def _columns_like_numbers_of_rows(encoded: Encoded) -> list[int]:
    """Return up to `_MOST_ASIDE` columns without a repeated value where other columns have some."""
    n_rows, n_columns = encoded.columns.values.shape
    some = encoded.columns.values[:: max(1, n_rows // 1000)]
    distinct: list[int] = []
    for j, column in enumerate(some.T):
        if len(np.unique(column)) == len(column):
            distinct.append(j)
        if len(distinct) > min(_MOST_ASIDE, n_columns - 1):
            return []
    return distinct


def note_known_rows(encoded: Encoded, known: AnyArray | None) -> Notes:
    """Name rows that a fit has seen, and refuse a table that is not fresh at all."""
    if known is None or encoded.hashes is None:
        return ()
    every = count_known(encoded.hashes, known)
    smallest = np.sort(encoded.hashes)
    if not every.exact:
        smallest = smallest[: len(known)]
    same = np.array_equal(smallest, np.sort(known))
    found = every if same else find_known(encoded.hashes, known)
    if found is None:
        return ()
    if same or (found.n_known > encoded.n_rows // 2 and not found.partly):
        raise DataError(
            f"{found} rows are rows of the fit{found.basis}: a certificate needs rows that took no "
            "part in the search. Hold some out before fit, and pass those to certify."
        )
    return (Note("known rows", figures={"found": str(found), "basis": found.basis}),)


def find_known(
    hashes: AnyArray | None, known: AnyArray | None, *, partly: bool = True
) -> "KnownRows | None":
    """Return the rows that are known, in all columns or else in a half; None if by chance."""
    if hashes is None or known is None:
        return None
    found = count_known(hashes, known)
    if found.are_more_than_by_chance(known):
        return found
    if not partly:
        return None
    # A column that is kept, or the target, may be in another unit: half of the columns tells as
    # much where these alone tell the rows of the fit apart.
    for some, others in zip(halves_of_hashes(hashes), halves_of_hashes(known), strict=True):
        repeated = len(others) - len(np.unique(others))
        found = replace(count_known(some, others), partly=True)
        enough = found.n_hits > _PART_KNOWN * found.n_comparable  # of small tables chance is rough
        apart = repeated < max(3, len(others) // 100)
        if enough and apart and found.are_more_than_by_chance(others):
            return found
    return None


@dataclass(frozen=True)
class KnownRows:
    """How many rows of a table are known, from all hashes of the known ones or the smallest."""

    n_rows: int  # rows of the table
    n_comparable: int
    n_hits: int  # those whose hash is there
    exact: bool  # whether no hash of a known row was left out
    n_own: float  # those that would hit as many rows of their own table; 0 if that has too few
    partly: bool = False  # whether they are known in one half of the columns

    @property
    def n_known(self) -> int:
        """Known rows; unbiased where hashes were left out, for they are random numbers."""
        return round(self.n_hits * self.n_rows / max(self.n_comparable, 1))

    @property
    def basis(self) -> str:
        """What they are known by: half of the columns, or some rows where hashes were left out."""
        counted = "" if self.exact else f" (counted in {self.n_comparable} of them)"
        return " in half of their columns" * self.partly + counted

    def are_more_than_by_chance(self, known: AnyArray) -> bool:
        """Return whether more rows are known than are repeated by chance (Good and Turing)."""
        # Repeated rows come in pairs, of which there could as well have been some more.
        counts = np.unique(known, return_counts=True)[1]
        pairs = float(counts[counts > 1].sum()) / 2
        likely = 2.0 * (pairs + 2.0 * math.sqrt(pairs) + 1.0) * self.n_comparable / len(known)
        # Of few known rows that share is rough: 18 of 2400 independent tables were taken for copies
        # before as many of their own rows counted, unless those are repeated far more often.
        alike = self.n_own * len(known) <= (8.0 * pairs + 12.0) * self.n_comparable
        own = self.n_own if alike else 0.0
        most = max(likely + 3.0 * math.sqrt(likely), 1.2 * own + 3.0 * math.sqrt(own))
        return self.n_hits > max(most, 2.0, self.n_comparable / 100 - 1)

    def __str__(self) -> str:
        return f"{'' if self.exact else 'about '}{self.n_known} of {self.n_rows}"


def count_known(hashes: AnyArray, known: AnyArray) -> KnownRows:
    """Count the rows that are among known ones."""
    compared = hashes if len(known) != MOST_HASHES else hashes[hashes <= known.max()]
    exact, n_hits = len(compared) == len(hashes), int(np.isin(hashes, known).sum())
    counts, share = np.unique(compared, return_counts=True)[1], len(known) / max(len(compared), 1)
    own = float((counts * (1.0 - (1.0 - share) ** (counts - 1.0))).sum()) if share <= 0.5 else 0.0
    return KnownRows(len(hashes), len(compared), n_hits, exact, own)


def _columns(encoded: Encoded, aside: Sequence[int] = ()) -> Iterator[FloatArray]:
    """Yield the target, and the columns but for some."""
    target = encoded.target.labels if encoded.target.raw is None else encoded.target.raw
    yield from np.asarray(target, dtype=np.float64).reshape(encoded.n_rows, -1).T
    for j, column in enumerate(encoded.columns.values.T):
        if j not in aside:
            yield np.asarray(np.round(column, 3), dtype=np.float64)  # as near as hashes tell
