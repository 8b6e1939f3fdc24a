"""A table as predictive models take it: numbers, and nominal columns in one of five layouts.

========  =====================================  ==============================================
layout    nominal column                         missing value of a numeric column
========  =====================================  ==============================================
one-hot   0/1 columns of the 254 most frequent   0, and a 0/1 column that marks it
coded     one column of codes                    NaN
mixed     one-hot with at most 10 categories,    0, and a 0/1 column that marks it
          else one column of codes
scores    one-hot with at most 254 categories,   0, and a 0/1 column that marks it
          else one column of codes
units     as scores, numbers in the user's units  0, and a 0/1 column that marks it
========  =====================================  ==============================================

No layout is stored: the columns of a fit are computed from the table when they are taken, so that
a column of thousands of categories needs no more memory than a numeric one. Categories for trees
(codes by frequency, numbers ordered by the target) are fitted to training rows only, so that
held-out rows stay held out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray, IntArray, Weights
from pinsker.encoding import Columns, Kind, frozen

#: Boosted trees take codes 0..254 at most: the last one is for all rare categories.
OTHER_CODE = 254
#: The mean of a category is smoothed as if this many rows more had the mean of all.
_SMOOTHING = 10.0
#: Parts of the training rows, each coded by means over the others.
_PARTS = 5
#: At most this many columns stand for a column of categories when there are several classes.
_MAX_DIRECTIONS = 3
#: Codes fitted to a row's own target are used where means over other rows explain at least this
#: part of what they explain: else most of it is noise that trees would follow.
_REAL_PART = 0.5


def code_by_frequency(
    train: FloatArray, test: FloatArray, categorical: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the columns with categories coded 0, 1, ... from the most frequent one on."""
    train, test = train.copy(), test.copy()
    for j in np.flatnonzero(categorical):
        own, others = train[:, j].astype(np.int64), test[:, j].astype(np.int64)
        counts = np.bincount(own, minlength=_n_codes(own, others))
        ranks = np.empty(len(counts))
        ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
        codes = np.where(counts > 0, np.minimum(ranks, OTHER_CODE), OTHER_CODE)
        train[:, j], test[:, j] = codes[own], codes[others]
    return train, test


def order_by_target(
    train: FloatArray, test: FloatArray, targets: FloatArray, categorical: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the columns with each column of categories replaced by one to three numeric ones."""
    edges = np.flatnonzero(np.diff(categorical)) + 1
    own, others = [], []
    for part in np.split(np.arange(len(categorical)), edges):
        if not categorical[part[0]]:
            own.append(train[:, part])
            others.append(test[:, part])
            continue
        for j in part:
            pair = _target_codes(train[:, j].astype(np.int64), test[:, j].astype(np.int64), targets)
            own.append(pair[0])
            others.append(pair[1])
    return np.hstack(own), np.hstack(others)


def _target_codes(
    train: IntArray, test: IntArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the columns that stand for one column of categories, of training and of test rows."""
    n_codes = _n_codes(train, test)
    part = np.random.default_rng(0).permutation(len(train)) % _PARTS
    cells = part * n_codes + train
    counts = np.bincount(cells, minlength=_PARTS * n_codes).reshape(_PARTS, n_codes)
    each = [np.bincount(cells, column, _PARTS * n_codes) for column in targets.T]
    sums = np.stack(each, axis=-1).reshape(_PARTS, n_codes, -1)
    mean = targets.mean(axis=0)
    all_counts, all_sums = counts.sum(axis=0), sums.sum(axis=0)
    codes = _smoothed(all_sums, all_counts, mean)
    by_others = _smoothed(all_sums - sums, all_counts - counts, mean)[part, train]
    total = np.square(targets - mean).sum()
    explained = total - np.square(targets - codes[train]).sum()
    # What codes explain must hold for rows that they were not fitted to.
    is_real = total - np.square(targets - by_others).sum() > _REAL_PART * explained
    training = codes[train] if is_real else by_others
    if targets.shape[1] == 1:
        return training, codes[test]
    away = (codes - mean) * np.sqrt(all_counts)[:, None]
    directions = np.linalg.eigh(away.T @ away)[1][:, ::-1]
    # Class frequencies add up to one, so that the last direction says nothing.
    directions = directions[:, : min(targets.shape[1] - 1, _MAX_DIRECTIONS)]
    return training @ directions, codes[test] @ directions


def _smoothed(sums: FloatArray, counts: IntArray, mean: FloatArray) -> FloatArray:
    return np.asarray((sums + _SMOOTHING * mean) / (counts + _SMOOTHING)[..., None])


def _n_codes(train: IntArray, test: IntArray) -> int:
    return int(max(train.max(initial=-1), test.max(initial=-1))) + 1


#: How nominal columns and missing values are laid out for a model.
LayoutName: TypeAlias = Literal["one-hot", "coded", "mixed", "scores", "units"]
#: This many categories of a column, the most frequent ones, get a 0/1 column of their own. A column
#: of 4037 categories would otherwise take 650 MB for 20 000 rows.
MAX_ONE_HOT = 254
#: Columns whose moments are taken together.
_PART = 64
#: A column of more categories is one column of codes.
MOST_ONE_HOT = {"mixed": 10, "scores": MAX_ONE_HOT, "units": MAX_ONE_HOT}


@dataclass(frozen=True, eq=False)
class ModelDesign:
    """A table for models: what `layout` needs to lay out any rows of any features."""

    columns: Columns  # the table
    features: tuple[tuple[int, ...], ...]  # the columns of the table that belong to each feature
    means: FloatArray  # mean and standard deviation of the numeric columns (1 where it is 0)
    scales: FloatArray  # mean and standard deviation of the numeric columns (1 where it is 0)
    categories: tuple[FloatArray | None, ...]
    gaps: BoolArray  # numeric columns with missing values

    @classmethod
    def of(
        cls, columns: Columns, features: Sequence[Sequence[int]], weights: Weights = None
    ) -> "ModelDesign":
        means, scales = np.zeros(columns.n_columns), np.ones(columns.n_columns)
        categories: list[FloatArray | None] = [None] * columns.n_columns
        is_nominal = np.array([kind is Kind.NOMINAL for kind in columns.kinds])
        for j in np.flatnonzero(is_nominal):
            used, counts = np.unique(columns.values[:, j], return_counts=True)
            categories[j] = frozen(used[np.argsort(-counts, kind="stable")])
        for part in np.array_split(np.flatnonzero(~is_nominal), -(-columns.n_columns // _PART)):
            values = np.ascontiguousarray(columns.values[:, part].T)  # column after column
            means[part], spread = values.mean(axis=1), values.std(axis=1)
            if weights is not None:
                means[part] = [np.average(column, weights=weights) for column in values]
                squares = np.square(values - means[part][:, None])
                weighted = np.sqrt([np.average(column, weights=weights) for column in squares])
                spread = np.where(spread > 0, weighted, spread)
            scales[part] = np.where(spread > 0, spread, 1.0)
        gaps: BoolArray = np.zeros(columns.n_columns, dtype=np.bool_)
        if columns.missing is not None:
            gaps = np.asarray(columns.missing.any(axis=0))
        held = tuple(tuple(int(j) for j in feature) for feature in features)
        return cls(columns, held, frozen(means), frozen(scales), tuple(categories), frozen(gaps))

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def values(self) -> FloatArray:
        """All rows and columns of the one-hot layout, computed anew with every access."""
        return self.layout("one-hot").expand(*map(np.arange, self.columns.values.shape))

    @property
    def places(self) -> tuple[IntArray, ...]:
        """The columns of `values` that stand for each feature."""
        edges = np.concatenate([[0], np.cumsum(self.layout("one-hot").widths)])
        return tuple(
            np.concatenate([np.arange(edges[j], edges[j + 1]) for j in feature])
            for feature in self.features
        )

    def with_shuffled(self, kept: Iterable[int], shuffle: IntArray) -> "ModelDesign":
        """Return the design with all features but `kept` in another order of the rows, as one."""
        stay = set(kept)
        others = [js for feature, js in enumerate(self.features) if feature not in stay]
        moved = np.array([j for js in others for j in js], dtype=np.int64)
        values, missing = np.array(self.columns.values), self.columns.missing
        values[:, moved] = values[np.ix_(shuffle, moved)]
        if missing is not None:
            missing = np.array(missing)
            missing[:, moved] = missing[np.ix_(shuffle, moved)]
            missing = frozen(missing)
        # Means and scales stay: computed again in another order they would differ by rounding.
        return replace(self, columns=replace(self.columns, values=frozen(values), missing=missing))

    def layout(self, name: LayoutName) -> "Layout":
        sizes = [0 if codes is None else len(codes) for codes in self.categories]
        n_categories = np.array(sizes, dtype=np.int64)
        nominal = n_categories > 0
        if name == "coded":
            return Layout(self, np.ones(len(nominal), dtype=np.int64), nominal)
        is_coded = nominal & (n_categories > MOST_ONE_HOT.get(name, np.inf))
        widths = np.where(nominal, np.minimum(n_categories, MAX_ONE_HOT + 1), 1 + self.gaps)
        return Layout(self, np.where(is_coded, 1, widths), is_coded, name == "units")

    def take(self, rows: IntArray, features: Iterable[int]) -> FloatArray:
        return self.layout("one-hot").take(rows, features)


@dataclass(frozen=True, eq=False)
class Layout:
    """A table in one layout."""

    design: ModelDesign  # the table
    widths: IntArray  # how many model columns each column of the table has
    is_coded: BoolArray  # which columns of the table are one column of codes
    in_units: bool = False  # whether numbers are the user's, not normal scores

    def take(self, rows: IntArray, features: Iterable[int]) -> FloatArray:
        return self.expand(rows, self._columns_of(features))

    def with_each_shuffled(
        self, taken: FloatArray, shuffled: FloatArray, features: Iterable[int]
    ) -> FloatArray:
        """Return rows, and once more for each feature with its model columns in another order."""
        ends = np.cumsum([self.widths[self._columns_of([one])].sum() for one in sorted(features)])
        blocks = [taken]
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            blocks.append(taken.copy())
            blocks[-1][:, start:end] = shuffled[:, start:end]
        return np.vstack(blocks)

    def is_categorical(self, features: Iterable[int]) -> BoolArray:
        """Return which of the columns that `take` returns are codes of categories."""
        columns = self._columns_of(features)
        return np.repeat(self.is_coded[columns], self.widths[columns])

    def expand(self, rows: IntArray, columns: IntArray) -> FloatArray:
        design, widths = self.design, self.widths[columns]
        starts = np.cumsum(widths) - widths
        taken = design.columns.values[np.ix_(rows, columns)]
        # Codes have mean 0 and scale 1 here: they stay as they are.
        taken -= design.means[columns]
        taken /= design.scales[columns]
        if self.in_units and design.columns.units:
            for place, j in enumerate(columns.tolist()):
                if (units := design.columns.units[j]) is not None:
                    taken[:, place] = np.interp(design.columns.values[rows, j], *units)
        special = design.gaps[columns] | (widths > 1)
        if not special.any():
            return taken
        out = np.empty((len(rows), int(widths.sum())))
        out[:, starts] = taken
        for i in np.flatnonzero(special):
            j, block = int(columns[i]), slice(int(starts[i]), int(starts[i] + widths[i]))
            categories, missing = design.categories[j], design.columns.missing
            if categories is not None:
                of_each = one_hot(taken[:, i], np.sort(categories[:MAX_ONE_HOT]))
                if len(categories) > MAX_ONE_HOT:
                    of_each = np.column_stack([of_each, 1.0 - of_each.sum(axis=1)])
                out[:, block] = of_each
            elif missing is not None:  # a column with gaps comes with their mask
                absent, is_marked = missing[rows, j], widths[i] == 2
                out[absent, starts[i]] = 0.0 if is_marked else np.nan
                if is_marked:
                    out[:, starts[i] + 1] = absent
        return out

    def _columns_of(self, features: Iterable[int]) -> IntArray:
        chosen = [j for feature in sorted(features) for j in self.design.features[feature]]
        return np.array(chosen, dtype=np.int64)


def one_hot(values: AnyArray, categories: AnyArray) -> FloatArray:
    return np.asarray(values[:, None] == categories, dtype=np.float64)
