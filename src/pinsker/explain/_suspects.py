"""Columns that should not be there: leaks of the target, identifiers, row counters."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from pinsker._notes import Note
from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray, TableLike
from pinsker.encoding import (
    Encoded,
    frame_of,
    is_float,
    is_frame,
    is_missing,
    read_written,
    take_features,
)
from pinsker.engine import BoostSettings, boosted_scores
from pinsker.information import shared_entropy
from pinsker.search import Deadline

_LOG = logging.getLogger("pinsker")
#: A column from which the target is predicted with so little of the error of a guess is a leak.
_LEAK = 0.02
#: Squared rank correlation with a numeric target above which a column is a leak.
_RANK_R2 = 0.98
#: The same of a line through the values themselves: a few large ones make it high more easily.
_LINEAR_R2 = 0.99
#: Share of the target's entropy that missing values may tell, and share of what the best division
#: of the target into two would tell: above it the target decides where a value is missing.
_MISSING_SHARE, _DECIDED = 0.5, 0.95
#: A numeric target with fewer different values is one of classes.
_FEWEST_VALUES = 10
#: Share of different values from which a column of integers or text names its rows.
_NEAR_UNIQUE = 0.95
#: With fewer rows nothing is said.
_FEWEST_ROWS = 30
#: Integers in this range that rise with the rows are years.
_YEARS = (1500, 2200)
#: What can tell nothing about new rows or groups, and is left out unless the user keeps it.
_NAMES = ("row counter", "identifier", "group name")
#: Numeric columns whose pairs are looked at, and rows that are: the cost grows with the square.
_MOST_PAIRED, _PAIRED_ROWS = 60, 1000
#: Kinds of arrays whose values have an order: numbers, dates and times.
_ORDERED = "iufbmM"
#: A pair whose sum, difference, product or ratio is the target in this share of the rows is a leak.
_SAME = 0.5
#: R² of a plane through two columns above which they are a recoded target.
_PLANE_R2 = 0.9999
#: Boosted trees of one column, which follow any curve.
_TREES = BoostSettings(n_rounds=100, n_leaves=31, min_leaf=5, patience=1, n_bins=255, rate=0.1)


@dataclass(frozen=True)
class Suspect:
    """A column that probably should not be used.

    Attributes
    ----------
    column : str
        Its name.
    kind : {"recoded target", "leak", "missingness", "row counter", "identifier", "group name"}
        What it looks like.
    reason : str
        What was found.
    """

    column: str
    kind: str
    reason: str

    def __str__(self) -> str:
        return str(self.note())

    def note(self, *, left_out: bool = False) -> Note:
        """Return the note that says so, or that the column was left out."""
        kind = "suspect left out" if left_out else "suspect"
        return Note(kind, (self.column,), {"what": self.kind, "reason": self.reason})


def find_suspects(
    X: TableLike,
    encoded: Encoded,
    groups: IntArray | None = None,
    deadline: Deadline | None = None,
) -> tuple[Suspect, ...]:
    """Look for columns that give the target away, or name rows or groups, until a deadline."""
    n_rows = encoded.n_rows
    if n_rows < _FEWEST_ROWS:
        return ()
    target = _Target.of(encoded)
    first = None if groups is None else np.unique(groups, return_index=True)[1]
    found: list[Suspect] = []
    numbers: dict[str, FloatArray] = {}
    for name, values in _raw_columns(X, encoded):
        if deadline is not None and deadline.skips("suspects"):
            return tuple(found)
        gaps, present = _gaps(values)
        own, is_constant = target, False
        if first is not None and groups is not None:
            of_first = first[groups]
            both = present & present[of_first]
            same = (gaps == gaps[of_first]).all()
            is_constant = bool(same and (values[both] == values[of_first][both]).all())
        if first is not None and is_constant:  # within groups: judged by one row of each
            values, gaps, present, own = values[first], gaps[first], present[first], own.take(first)
            held = values[present]
            if held.dtype.kind in "OUST":  # texts, or integers as identifiers have them
                differ = len({str(value) for value in held}) == len(held) > 1
            else:
                differ = _names_rows(held, np.ones(len(held), dtype=np.bool_)) is not None
            if len(first) < n_rows and differ:
                found.append(Suspect(name, "group name", "each group of rows has its own value"))
                continue
        judged = _missingness(gaps, own) or _names_rows(values, present)
        judged = judged or _leak(values, present, own)
        if judged is not None:
            found.append(Suspect(name, *judged))
        elif values.dtype.kind in "iuf" and len(values) == n_rows:
            numbers[name] = values
    return (*found, *_pairs(numbers, target, deadline))


def note_suspects(
    encoded: Encoded, found: Sequence[Suspect], fixed: Sequence[int] = (), *, drop: str = "auto"
) -> Encoded:
    """Return a table whose notes name suspects, without those that are dropped."""
    staying = {encoded.feature_names[j] for j in fixed}
    names = {
        one.column for one in found if drop == "drop" or (drop == "auto" and one.kind in _NAMES)
    } - staying
    left = [j for j, name in enumerate(encoded.feature_names) if name not in names]
    if not left:
        left, names = list(range(encoded.n_features)), set()
    listed = identifiers(encoded.notes)
    notes = tuple(
        one.note(left_out=one.column in names)
        for one in found
        if one.column in names or one.column not in listed
    )
    for note in notes:
        _LOG.warning("%s", note)
    fewer = take_features(encoded, left) if names else encoded
    # What was left out needs no advice to leave it out.
    known = [
        replace(one, columns=tuple(name for name in one.columns if name not in names))
        if one.kind == "identifiers"
        else one
        for one in encoded.columns.notes
    ]
    kept = [one for one in known if one.columns or one.kind != "identifiers"]
    return replace(fewer, columns=replace(fewer.columns, notes=(*kept, *notes)))


def identifiers(notes: Iterable[Note]) -> set[str]:
    found = [one for one in notes if one.kind == "identifiers"]
    return {name for note in found for name in note.columns}


@dataclass(frozen=True, eq=False)
class _Target:
    """A target as classes, or as numbers; few different numbers are classes."""

    labels: IntArray | None
    numbers: FloatArray | None

    @classmethod
    def of(cls, encoded: Encoded) -> "_Target":
        if encoded.target.labels is not None:
            return cls(encoded.target.labels, None)
        numbers = encoded.target.numbers[:, 0]
        different, codes = np.unique(numbers, return_inverse=True)
        return cls(codes if len(different) < _FEWEST_VALUES else None, numbers)

    def take(self, rows: IntArray) -> "_Target":
        labels = None if self.labels is None else self.labels[rows]
        return _Target(labels, None if self.numbers is None else self.numbers[rows])


Judged = tuple[str, str] | None


def _missingness(gaps: BoolArray, target: _Target) -> Judged:
    if min(gaps.sum(), (~gaps).sum()) < 10:
        return None
    if target.labels is not None:
        codes = gaps.astype(np.int64)
        share, decided = shared_entropy(codes, target.labels), shared_entropy(target.labels, codes)
        if share < _MISSING_SHARE and decided < _DECIDED:
            return None
    else:
        assert target.numbers is not None
        share = float(np.corrcoef(gaps, _ranks(target.numbers))[0, 1] ** 2)
        # The ranks above any value explain 3 p (1 - p) of all ranks, p being their share.
        if share < _DECIDED * 3.0 * gaps.mean() * (1.0 - gaps.mean()):
            return None
    return "missingness", f"where it has no value tells {share:.0%} about the target"


def _names_rows(values: AnyArray, present: BoolArray) -> Judged:
    held = values[present]
    n = len(held)
    if n < _FEWEST_ROWS or n < 0.5 * len(values):
        return None
    if held.dtype.kind in "OUST":
        text = np.array([str(value) for value in held])
        n_different = len(np.unique(text))
        numeric = sum("." in one and is_float(one) for one in text[:50]) > 0.8 * len(text[:50])
        if n_different < _NEAR_UNIQUE * n or numeric:  # numbers would have been read as such
            return None
        read = read_written(text.tolist())
        if read is not None and not read.bare:
            return None  # dates, prices: the gate reads them as such
        return "identifier", f"text with {n_different} different values in {n} rows"
    if held.dtype.kind not in "iuf" or (held != np.floor(held)).any():
        return None
    numbers = held.astype(np.float64)
    n_different = len(np.unique(numbers))
    if n_different < _NEAR_UNIQUE * n:
        return None
    width = numbers.max() - numbers.min() + 1
    steps = np.diff(numbers)
    is_year = numbers.min() >= _YEARS[0] and numbers.max() <= _YEARS[1]
    if is_year or width <= 1.02 * n < 60:
        return None
    if (steps > 0).all() and width <= 20 * n:
        return "row counter", f"integers that rise with every row ({n_different} different)"
    if width <= 1.5 * n:
        return "identifier", f"{n_different} different integers out of {width:.0f} in {n} rows"
    # Short integers in few rows may be measurements.
    if numbers.min() < (10 if n >= 100 else 1e5):
        return None
    digits = np.floor(np.log10(numbers))
    alike = np.mean(digits == np.median(digits)) > 0.95 and np.median(digits) >= 3
    # Evenly between their ends (Kolmogorov and Smirnov, 0.1 %).
    scaled = np.sort((numbers - numbers.min()) / (numbers.max() - numbers.min()))
    if alike and np.abs(scaled - (np.arange(n) + 0.5) / n).max() < 1.95 / np.sqrt(n):
        return "identifier", f"{n_different} different integers of equal length in {n} rows"
    return None


def _leak(values: AnyArray, present: BoolArray, target: _Target) -> Judged:
    if present.sum() < max(_FEWEST_ROWS, 0.5 * len(values)):
        return None
    held = values[present]
    if target.labels is not None:
        return _leak_of_classes(held, target.labels[present])
    assert target.numbers is not None
    others = target.numbers[present]
    if len(np.unique(others)) < _FEWEST_VALUES:
        return None
    if held.dtype.kind not in _ORDERED:
        codes = np.unique([str(value) for value in held], return_inverse=True)[1]
        n_different = int(codes.max()) + 1
        if n_different > 0.2 * len(codes) or n_different == 1:
            return None
        if (explained := _explained(codes, others)) <= _RANK_R2:
            return None
        return "leak", f"the means of its {n_different} values explain {explained:.1%}"
    numbers = held.astype(np.float64)
    if len(np.unique(numbers)) < _FEWEST_VALUES:
        return None
    if _squared_correlation(numbers, others) > 1 - 1e-9:
        return "recoded target", "it is the target times a number plus another"
    far = np.abs(others - np.median(others))
    near = far <= np.quantile(far, 0.99)  # the hundredth that is farthest out may make any line
    linear = _squared_correlation(numbers[near], others[near])
    if linear > _LINEAR_R2:
        return "leak", f"a line through it explains {linear:.1%} of the target"
    ranked = _ranks_explained(numbers, others)
    if ranked > _RANK_R2:
        return "leak", f"its ranks explain {ranked:.1%} of the target's"
    codes = np.unique(numbers, return_inverse=True)[1]
    if _explained(_binned(codes, min(max(20, len(codes) // 10), 500)), others) < 0.9:
        return None  # far from it: most columns end here
    # The cross-validated R² of boosted trees of this column.
    y, ones, number = others / np.abs(others).max(), np.ones(len(others)), np.array([False])
    fold, predicted = np.random.default_rng(0).permutation(len(y)) % 5, np.empty(len(y))
    column = codes.astype(np.float64)[:, None]
    for train, test in ((fold != k, fold == k) for k in range(5)):
        rows = (column[train], y[train], column[test], number, ones[train])
        scores = boosted_scores(*rows, n_classes=0, n_fit=int(train.sum()), **_TREES)
        predicted[test] = scores[:, 0]
    trees = float(1.0 - np.mean((y - predicted) ** 2) / y.var())
    if trees > _RANK_R2:
        return "leak", f"trees of it alone explain {trees:.1%} of the target"
    return None


def _explained(codes: IntArray, others: FloatArray) -> float:
    """Return R² of the mean of the other rows with the same code; a row alone gets the overall."""
    y = others / np.abs(others).max()
    counts = np.bincount(codes)[codes]
    means = (np.bincount(codes, y)[codes] - y) / np.maximum(counts - 1, 1)
    means[counts == 1] = y.mean()
    return float(1.0 - np.mean((y - means) ** 2) / y.var())


def _pairs(
    numbers: dict[str, FloatArray], target: _Target, deadline: Deadline | None
) -> list[Suspect]:
    """Look whether two columns give a numeric target: by arithmetic, or by a plane."""
    if target.labels is not None or target.numbers is None or len(numbers) > _MOST_PAIRED:
        return []
    rows = np.linspace(0, len(target.numbers) - 1, _PAIRED_ROWS).astype(np.int64)
    rows, y = np.unique(rows), target.numbers[np.unique(rows)]
    columns = {name: values[rows].astype(np.float64) for name, values in numbers.items()}
    found = []
    for (a, x), (b, z) in combinations(columns.items(), 2):
        if deadline is not None and deadline.skips("suspects"):
            break
        known = np.isfinite(x) & np.isfinite(z)
        if known.sum() < max(_FEWEST_ROWS, 0.5 * len(y)):
            continue
        reason = _given_by(x[known], z[known], y[known])
        if reason:
            found.append(Suspect(a, "leak", reason.format(b)))
    return found


def _given_by(x: FloatArray, z: FloatArray, y: FloatArray) -> str:
    """Return how two columns give the target; "" where they do not."""
    # Of a target that is mostly zero the zeros tell nothing: most products are zero, too.
    usual = np.unique(y, return_counts=True)
    telling = y != usual[0][usual[1].argmax()]
    with np.errstate(all="ignore"):
        made = [("sum", x + z), ("difference", x - z), ("product", x * z)]
        for name, values in (*made, ("ratio", x / z), ("ratio", z / x)):
            near = np.abs(np.abs(values) - np.abs(y)) <= 1e-6 * np.abs(y).max()
            same = near.mean()
            if same > _SAME and telling.sum() >= _FEWEST_ROWS and near[telling].mean() > _SAME:
                return f"its {name} with {{!r}} is the target in {same:.0%} of the rows"
    design = np.column_stack([np.ones(len(y)), x, z])
    if np.linalg.matrix_rank(design) < 3:
        return ""
    missed = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    plane = 1.0 - missed.var() / y.var() if y.var() > 0 else 0.0
    return f"with {{!r}} it explains {plane:.1%} of the target" if plane > _PLANE_R2 else ""


def _leak_of_classes(values: AnyArray, labels: IntArray) -> Judged:
    if len(np.unique(labels)) < 2:
        return None
    if values.dtype.kind in "OUST":
        codes = np.unique([str(value) for value in values], return_inverse=True)[1]
    else:
        codes = np.unique(values, return_inverse=True)[1]
    n, n_different = len(codes), int(codes.max()) + 1
    if n_different <= 0.5 * n and shared_entropy(codes, labels) > 1 - 1e-9:
        if n_different == len(np.unique(labels)):
            return "recoded target", "each of its values stands for one class"
        if n_different <= 0.2 * n:
            return "leak", f"each of its {n_different} values occurs in one class only"
    if n_different <= 0.2 * n and values.dtype.kind in "OUST":
        # By the most frequent other label of each category; a row alone is wrong.
        counts = np.zeros((n_different, int(labels.max()) + 1))
        np.add.at(counts, (codes, labels), 1.0)
        others, own = counts[codes], (np.arange(n), labels)
        others[own] -= 1.0
        best = others.max(axis=1)
        error = float(1.0 - ((others[own] == best) & (best > 0)).mean())
    elif values.dtype.kind in _ORDERED:
        if shared_entropy(_binned(codes, min(max(20, n // 10), 500)), labels) < 0.8:
            return None  # far from it: most columns end here
        from sklearn.model_selection import KFold, cross_val_predict
        from sklearn.tree import DecisionTreeClassifier

        numbers = values.astype(np.float64)
        # Trees are grown in single precision: ranks stand in for values that it cannot hold.
        if np.abs(numbers).max() > np.finfo(np.float32).max:
            numbers = codes.astype(np.float64)
        tree = DecisionTreeClassifier(max_leaf_nodes=4 * (int(labels.max()) + 1), random_state=0)
        folds = KFold(5, shuffle=True, random_state=0)
        predicted = cross_val_predict(tree, numbers[:, None], labels, cv=folds)
        error = float(np.mean(predicted != labels))
    else:
        return None
    guess = 1.0 - np.bincount(labels).max() / n
    if error > _LEAK * guess:
        return None
    return "leak", f"it alone predicts the class wrongly in {error:.1%} of the rows"


def _binned(codes: IntArray, bins: int) -> IntArray:
    """Return bins of about as many rows each; equal values stay together."""
    ends = np.cumsum(np.bincount(codes))
    return np.asarray(((ends - 1) * bins // len(codes))[codes], dtype=np.int64)


def _ranks(values: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), dtype=np.float64)


def _squared_correlation(values: FloatArray, others: FloatArray) -> float:
    """Return R² of a line; zero where one side is constant. Any scale: squares stay in range."""
    x, y = (side / np.abs(side).max() if side.any() else side for side in (values, others))
    if min(x.std(), y.std()) == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def _ranks_explained(values: FloatArray, others: FloatArray) -> float:
    """Return the share of the ranks of `others` that the order of `values` explains."""
    order = np.argsort(others, kind="stable")
    _, first, counts = np.unique(others[order], return_index=True, return_counts=True)
    lowest, highest = np.empty(len(others)), np.empty(len(others))
    lowest[order] = np.repeat(first + 1.0, counts)
    highest[order] = np.repeat(first + counts, counts)
    ranks = _ranks(values)
    if np.corrcoef(ranks, lowest)[0, 1] < 0:
        ranks = len(ranks) + 1.0 - ranks
    beyond = ranks - np.clip(ranks, lowest, highest)
    middle = (lowest + highest) / 2
    return float(1.0 - np.sum(beyond**2) / np.sum((middle - middle.mean()) ** 2))


def _gaps(values: AnyArray) -> tuple[BoolArray, BoolArray]:
    """Return where values are missing, and where not."""
    if values.dtype.kind == "f":
        gaps = np.isnan(values)
    elif values.dtype.kind in "mM":
        gaps = np.isnat(values)
    elif values.dtype.kind == "O":
        gaps = np.array([is_missing(value) for value in values], dtype=np.bool_)
    else:
        gaps = np.zeros(len(values), dtype=np.bool_)
    return gaps, ~gaps


def _raw_columns(X: TableLike, encoded: Encoded) -> Iterator[tuple[str, AnyArray]]:
    """Yield name and values of each plain column as they came, in the rows that are used."""
    places = [
        (name, columns[0])
        for name, columns in zip(encoded.feature_names, encoded.feature_columns, strict=True)
        if len(columns) == 1
    ]
    if is_frame(X):
        import narwhals.stable.v1 as nw  # only frames come here

        frame = frame_of(X)
        for name, place in places:
            series = frame[:, place]
            if series.dtype in (nw.Categorical, nw.Enum):
                series = series.cast(nw.String)
            elif series.dtype == nw.Date:
                series = series.cast(nw.Datetime)
            elif series.dtype in (nw.Int128, nw.UInt128):  # NumPy has no such integers
                series = series.cast(nw.Float64)
            yield name, np.asarray(series.to_numpy())[encoded.rows]
        return
    if not isinstance(X, np.ndarray | list | tuple):
        return
    try:
        array = np.asarray(X)
    except ValueError:  # rows of cells that hold several values
        return
    if array.ndim != 2 or array.dtype.kind not in "iufbOUS":
        return
    for name, place in places:
        column = array[:, place]
        if column.dtype.kind == "O":
            with contextlib.suppress(TypeError, ValueError):  # numbers among columns of text
                column = column.astype(np.float64)
        yield name, column[encoded.rows]
