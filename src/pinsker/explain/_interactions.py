"""Which features work together: all pairs, or triples, against a target.

The surplus of a triple is what it tells of the target beyond all of its pairs. Whether the best
interact is tested against a model of cell means (an analysis of variance) or counts (a log-linear
one: Bishop, Fienberg, Holland 1975, chapter 3) with all terms but their interaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.special import chdtrc, fdtrc

from pinsker._compat import require, table_of
from pinsker._notes import Note, Notes
from pinsker._types import (
    ArrayLibrary,
    Axes,
    ColumnChoice,
    Fields,
    FloatArray,
    IntArray,
    ListsByName,
    Missing,
    TableLike,
    TargetLike,
)
from pinsker.encoding import encode
from pinsker.engine import PairTables, array_library, best_triples, count_threads, generator_of
from pinsker.exceptions import DataError, ParameterError
from pinsker.information import shared_information
from pinsker.search import PAIR_LEVEL, PairFound, PairProblem, PairScan, best_pairs

#: Rounds of proportional fitting at most, and the change of a count that ends them.
_ROUNDS, _CHANGE = 200, 1e-6


def p_additive(codes: Sequence[IntArray], labels: IntArray, values: FloatArray | None) -> float:
    """Return the p-value of sets of bins against a model without their interaction: G² or F."""
    compact = [np.unique(one, return_inverse=True)[1] for one in codes]
    sizes = [int(one.max()) + 1 for one in compact]
    degrees = int(np.prod([size - 1 for size in sizes]))
    if values is None:
        _, classes = np.unique(labels, return_inverse=True)
        n_classes = int(classes.max()) + 1
        counts = np.zeros((*sizes, n_classes))
        np.add.at(counts, (*compact, classes), 1.0)
        fitted = _without_interaction(counts)
        seen = counts > 0
        deviance = 2.0 * float(np.sum(counts[seen] * np.log(counts[seen] / fitted[seen])))
        return float(chdtrc(max(degrees * (n_classes - 1), 1), max(deviance, 0.0)))
    return _p_of_means(compact, sizes, values)


def _without_interaction(counts: FloatArray) -> FloatArray:
    """Fit all margins of a table, the last axis being the target, but the full one."""
    axes = range(counts.ndim - 1)
    summed = [(counts.ndim - 1,), *((axis,) for axis in axes)]
    fitted = np.ones_like(counts)
    for _ in range(_ROUNDS):
        before = fitted
        for axis in summed:
            now, wanted = (table.sum(axis=axis, keepdims=True) for table in (fitted, counts))
            fitted = fitted * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0.0)
        if float(np.abs(fitted - before).max()) < _CHANGE:
            break
    return fitted


def _p_of_means(codes: Sequence[IntArray], sizes: Sequence[int], values: FloatArray) -> float:
    """Return the p-value of cell means against sums of terms of fewer features."""
    cell = np.ravel_multi_index(tuple(codes), tuple(sizes))
    used, of_row, counts = np.unique(cell, return_inverse=True, return_counts=True)
    means = np.bincount(of_row, weights=values) / counts
    places = np.unravel_index(used, tuple(sizes))
    terms = []
    for some in combinations(range(len(sizes)), len(sizes) - 1):
        part = np.ravel_multi_index([places[j] for j in some], [sizes[j] for j in some])
        terms.append(part[:, None] == np.unique(part))
    design = np.hstack(terms).astype(np.float64)
    root = np.sqrt(counts)
    solved, _, rank, _ = np.linalg.lstsq(design * root[:, None], means * root, rcond=None)
    between = float(np.sum(counts * (means - design @ solved) ** 2))
    within = float(np.sum((values - means[of_row]) ** 2))
    free, rest = len(used) - int(rank), len(values) - len(used)
    if free < 1 or rest < 1:
        return 1.0
    if within <= 0.0:
        return 0.0 if between > 0.0 else 1.0
    return float(fdtrc(free, rest, (between / free) / (within / rest)))


#: All triples of this many columns are counted: 1.3 million, and 20.7 million on a GPU.
_MOST_COLUMNS, _MOST_ON_GPU = 200, 500
#: In wider tables this many pairs are tried with every third column.
_MOST_PAIRS = 100


@dataclass(frozen=True, eq=False)
class TripleScan:
    """Which triples of a problem are counted, and where."""

    problem: PairProblem  # features and target, in bins for tables of three features
    pairs: IntArray | None  # pairs that are tried with every third feature
    n_threads: int  # threads
    library: ArrayLibrary  # NumPy, or CuPy to count on a GPU

    @classmethod
    def of(
        cls,
        problem: PairProblem,
        pairs: Sequence[tuple[int, ...]],
        n_threads: int,
        library: ArrayLibrary,
    ) -> "TripleScan":
        """Plan a scan; `pairs` are the best ones, best first."""
        most = _MOST_COLUMNS if library is np else _MOST_ON_GPU
        if len(problem.codes) <= most:
            return cls(problem, None, n_threads, library)
        near = np.sort(np.array(pairs[:_MOST_PAIRS], dtype=np.int64).reshape(-1, 2), axis=1)
        return cls(problem, near, n_threads, library)

    @property
    def n_sets(self) -> int:
        d = len(self.problem.codes)
        if self.pairs is None:
            return d * (d - 1) * (d - 2) // 6
        # A triple of which several pairs are tried is counted once.
        known = {tuple(pair) for pair in self.pairs.tolist()}
        twice = sum(
            sum(tuple(sorted(two)) in known for two in combinations(three, 2)) - 1
            for three in {
                tuple(sorted({*one, *other}))
                for one, other in combinations(known, 2)
                if len({*one, *other}) == 3
            }
        )
        return len(known) * (d - 2) - twice

    @property
    def notes(self) -> Notes:
        if self.pairs is None:
            return ()
        figures = {"n_columns": len(self.problem.codes), "n_pairs": len(self.pairs)}
        return (Note("some triples", figures=figures),)

    def best(self, n_best: int, n_permutations: int, seed: int) -> list[PairFound]:
        labels, rng = self.problem.labels, generator_of(seed)
        # A few scans of permuted targets show the scale: each holds all triples.
        least = [float(self._scan(rng.permutation(labels), 1)[1][0]) for _ in range(n_permutations)]
        triples, values = self._scan(labels, n_best)
        return [
            self._describe(tuple(map(int, triple)), float(value), self._p_value(value, least))
            for triple, value in zip(triples, values, strict=True)
        ]

    def _scan(self, labels: IntArray, n_best: int) -> tuple[IntArray, FloatArray]:
        codes = self.problem.codes
        if self.pairs is not None:
            return best_triples(codes, labels, self.pairs, n_best, library=self.library)
        if self.library is np:
            return all_triples(codes, labels, n_best, self.n_threads)
        every = np.array(list(combinations(range(len(codes)), 2)))
        return best_triples(codes, labels, every, n_best, later=True, library=self.library)

    def _p_value(self, value: float, least: Sequence[float]) -> float:
        """Return a family-wise p-value: twice the rows times the surplus is chi-squared."""
        n, codes = len(self.problem.labels), self.problem.codes
        degrees = float(codes.max()) ** 3 * float(self.problem.labels.max())
        own, others = chdtrc(degrees, 2 * n * value), chdtrc(degrees, 2 * n * np.array(least))
        return float(-np.expm1(-len(least) * np.log1p(own / others.sum())))

    def _describe(self, triple: tuple[int, ...], surplus: float, p_value: float) -> PairFound:
        codes, labels = self.problem.codes[list(triple)], self.problem.labels
        alone = PairTables.of(codes, labels).alone
        joint = (codes[0].astype(np.int64) * 8 + codes[1]) * 8 + codes[2]
        together = shared_information(joint, labels)
        return PairFound(triple, tuple(map(float, alone)), together, surplus, p_value)


def all_triples(
    codes: Any, labels: IntArray, n_best: int, n_threads: int
) -> tuple[IntArray, FloatArray]:
    """Return the best of all triples: pairs given a third column, less the pairs without it."""
    every = PairTables.of(codes, labels, n_threads=n_threads)
    plain = np.concatenate([surplus for _, surplus in every.blocks()])
    triples, values = [], []
    for k in range(2, len(codes)):
        given = codes[k].astype(np.int64)
        tables = PairTables.of(codes[:k], labels, given, n_threads=n_threads)
        for first, surplus in tables.blocks():
            with np.errstate(invalid="ignore"):  # pairs that do not exist are -inf in both
                beyond = surplus - plain[first : first + len(surplus), :k]
            beyond[~np.isfinite(beyond)] = -np.inf
            at = np.argsort(-beyond, axis=None, kind="stable")[:n_best]
            i, j = np.unravel_index(at, beyond.shape)
            triples.append(np.column_stack([first + i, j, np.full(len(at), k)]))
            values.append(beyond[i, j])
    found, nats = np.concatenate(triples), np.concatenate(values)
    at = np.argsort(-nats, kind="stable")[:n_best]
    return found[at], nats[at]


@dataclass(frozen=True)
class Interactions:
    """Features that carry information together, the largest surplus first.

    Attributes
    ----------
    found : tuple of PairFound
        The sets, with what each feature carries alone, all carry together, and the p-value.
    names : tuple of str
        Names of all features.
    n_rows, n_sets : int
        Rows, and pairs or triples that were counted.
    n_bins : int
        Bins of a continuous column.
    notes : tuple of Note
        What a user should know.
    p_additive : tuple of float
        Of each significant set the p-value against a model without its interaction (additive in
        the log-odds of a class, or in the number), times `n_sets`; NaN of others.
    """

    found: tuple[PairFound, ...]
    names: tuple[str, ...]
    n_rows: int
    n_sets: int
    n_bins: int
    notes: Notes = ()
    p_additive: tuple[float, ...] = ()

    def significant(self, level: float = PAIR_LEVEL) -> tuple[PairFound, ...]:
        """Return the sets that carry more together than alone: p-value at most `level`."""
        return tuple(one for one in self.found if one.p_value <= level)

    def interacting(self, level: float = PAIR_LEVEL) -> tuple[PairFound, ...]:
        """Return the significant sets that an additive model does not explain."""
        known = zip(self.found, self.p_additive, strict=False)
        return tuple(one for one, p in known if one.p_value <= level and p <= level)

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> TableLike:
        """Return a frame of pandas or polars: one row a set, the largest surplus first."""
        order = max((len(one.features) for one in self.found), default=2)
        places = ("first", "second", "third")[:order]
        columns: ListsByName = {
            place: [self.names[one.features[k]] for one in self.found]
            for k, place in enumerate(places)
        }
        for k, place in enumerate(places):
            columns[f"alone_{place}"] = [one.alone[k] for one in self.found]
        for field in ("together", "surplus", "p_value"):
            columns[field] = [getattr(one, field) for one in self.found]
        columns["p_additive"] = list(self.p_additive) or [np.nan] * len(self.found)
        return table_of(columns, library)

    def plot(self, *, ax: Axes = None, n_features: int = 20) -> Axes:
        """Draw a heat map of the surplus of the features that carry most; return the axes."""
        pyplot = require("matplotlib.pyplot", purpose="Interactions.plot()", extra="plot")
        ax = pyplot.subplots()[1] if ax is None else ax
        shown = list(dict.fromkeys(j for one in self.found for j in one.features))[:n_features]
        place = {feature: k for k, feature in enumerate(shown)}
        surplus = np.full((len(shown), len(shown)), np.nan)
        for one in reversed(self.found):
            for i, j in combinations(one.features, 2):
                if i in place and j in place:
                    surplus[place[i], place[j]] = surplus[place[j], place[i]] = one.surplus
        image = ax.imshow(surplus, cmap="viridis", vmin=0.0)
        names = [self.names[feature] for feature in shown]
        ax.set_xticks(range(len(shown)), names, rotation=90)
        ax.set_yticks(range(len(shown)), names)
        ax.figure.colorbar(image, ax=ax, label="surplus (nats)")
        return ax

    def _repr_html_(self) -> str:
        from pinsker.report import interactions_card  # upwards: it has all views

        return interactions_card(self)

    def __repr__(self) -> str:
        return f"Interactions({len(self.significant())} of {self.n_sets} sets, {self.n_rows} rows)"

    def __str__(self) -> str:
        kept = self.significant()
        beyond = self.interacting()
        head = (
            f"{len(kept)} of {self.n_sets} sets carry more together than alone (family-wise p <= "
            f"{PAIR_LEVEL:g}); {len(beyond)} interact: an additive model does not explain them"
        )
        lines = [
            f"  {' x '.join(self.names[j] for j in one.features)}: {one.together:.3f} nats "
            f"together, {one.surplus:.3f} beyond each alone (p = {one.p_value:.2g}), "
            f"{'interaction' if one in beyond else 'additive effects explain it'}"
            for one in kept[:10]
        ]
        return "\n".join([head, *lines])


def interactions(
    X: TableLike,
    y: TargetLike,
    order: Literal[2, 3] = 2,
    *,
    n_best: int = 100,
    n_permutations: int = 20,
    categorical_features: ColumnChoice = "from_dtype",
    missing: Missing = "error",
    engine: Literal["auto", "local", "cuda"] = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Interactions:
    r"""Find columns that carry information about a target together, and not alone.

    All pairs are counted. The surplus of a pair is
    :math:`I(X_i X_j;Y) - I(X_i;Y) - I(X_j;Y)`: an exclusive-or has nothing else, copies of one
    column have a negative one.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Numbers, categories, text, booleans.
    y : array-like of shape (n_samples,)
        Classes or numbers; numbers are cut into 2 to 4 bins.
    order : {2, 3}, default=2
        Pairs, or triples: all of them up to 200 columns (500 on a GPU), and in wider tables those
        of the 100 best pairs with any third column.
    n_best : int, default=100
        How many sets are returned.
    n_permutations : int, default=20
        Permuted targets that the p-values rest on.
    categorical_features, missing
        As in `FeatureSelector`.
    engine : {"auto", "local", "cuda"}, default="auto"
        Where triples are counted: "auto" takes a GPU that can be used, else the cores.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    Interactions
        With ``to_frame()``, ``plot()``, ``significant()`` and ``interacting()``.

    Notes
    -----
    Continuous columns are cut into 2 to 8 bins of equal frequency. The p-value of a set is
    family-wise: the probability that the best of *all* sets shows as much when the target is
    permuted. When a set is significant the scan is repeated within groups of rows for which it
    predicts alike. Every significant set is tested against a model without its interaction, too.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> from pinsker import interactions
    >>> found = interactions(*NoisyXor(n_columns=30).sample(500, seed=0))
    >>> [found.names[feature] for feature in found.found[0].features]
    ['x0', 'x1']
    """
    if order not in (2, 3):
        raise ParameterError(f"order={order!r}: use 2 for pairs or 3 for triples.")
    counts: Fields = {"n_best": n_best, "n_permutations": n_permutations}
    for name, number in counts.items():
        if not isinstance(number, Integral) or number < 1:
            raise ParameterError(
                f"{name}={number!r} must be an integer of at least 1.", parameter=name
            )
    encoded = encode(X, y, categorical_features=categorical_features, missing=missing)
    if encoded.n_features < order:
        raise DataError(f"found {encoded.n_features} columns: a set of {order} needs {order}.")
    threads = count_threads(n_jobs)
    problem = PairProblem.of(encoded)
    scan = PairScan(problem, n_permutations, random_state, threads)
    i, j, scores = best_pairs(scan.tables(), problem.codes, n_best)
    chance, _ = scan.permuted()
    known = {
        (int(a), int(b)): chance.p_value(float(score))
        for a, b, score in zip(i, j, scores, strict=True)
    }
    for one in scan.rounds():  # those that others hide
        if len(one.features) == 2:
            known[one.features[0], one.features[1]] = one.p_value
    pairs = [scan.describe(pair, p_value) for pair, p_value in known.items()]
    n_sets = encoded.n_features * (encoded.n_features - 1) // 2
    notes: Notes = ()
    if order == 3:
        problem = PairProblem.of(encoded, order=3)
        near = [pair.features for pair in sorted(pairs, key=lambda one: one.p_value)]
        triples = TripleScan.of(problem, near, threads, array_library(engine))
        pairs = triples.best(n_best, min(n_permutations, 3), random_state)
        n_sets, notes = triples.n_sets, triples.notes
    by_surplus = sorted(pairs, key=lambda one: (-one.surplus, one.features))[:n_best]
    n_bins = int(problem.codes.max(initial=1)) + 1
    target = encoded.target
    numbers = target.raw if target.labels is None else None
    values = numbers[:, 0] if numbers is not None and numbers.shape[1] == 1 else None

    def p_of(one: PairFound) -> float:
        if one.p_value > PAIR_LEVEL:
            return np.nan
        codes = [problem.codes[j].astype(np.int64) for j in one.features]
        return min(n_sets * p_additive(codes, problem.labels, values), 1.0)

    about = (encoded.feature_names, encoded.n_rows, n_sets, n_bins, notes)
    return Interactions(tuple(by_surplus), *about, tuple(p_of(one) for one in by_surplus))
