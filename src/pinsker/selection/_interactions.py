"""Which features work together: all pairs, or triples, against a target."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs

from pinsker._compat import require
from pinsker._types import IntArray, Missing
from pinsker.encoding import Encoded, encode, take_features
from pinsker.engine import PairTables
from pinsker.exceptions import DataError, ParameterError
from pinsker.selection.search import (
    PAIR_LEVEL,
    PairFound,
    PairProblem,
    PairScan,
    best_pairs,
)

#: Triples of more columns are looked for around the best pairs alone.
_MOST_FOR_TRIPLES = 200


@dataclass(frozen=True)
class Interactions:
    """Features that carry information together, the largest surplus first.

    Attributes
    ----------
    found : tuple of PairFound
        The sets of features, by their position, with what each carries alone, all carry together,
        the surplus (nats) and the family-wise p-value.
    names : tuple of str
        Names of all features.
    n_rows, n_sets : int
        Rows, and pairs or triples that were counted.
    n_bins : int
        Bins of a continuous column.
    notes : tuple of str
        What a user should know.
    """

    found: tuple[PairFound, ...]
    names: tuple[str, ...]
    n_rows: int
    n_sets: int
    n_bins: int
    notes: tuple[str, ...] = ()

    def significant(self, level: float = PAIR_LEVEL) -> tuple[PairFound, ...]:
        """Return the sets whose family-wise p-value is at most `level`."""
        return tuple(one for one in self.found if one.p_value <= level)

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return a frame of pandas or polars: one row a set, the largest surplus first."""
        if library not in ("pandas", "polars"):
            raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
        order = max((len(one.features) for one in self.found), default=2)
        places = ("first", "second", "third")[:order]
        columns: dict[str, list[Any]] = {
            place: [self.names[one.features[k]] for one in self.found]
            for k, place in enumerate(places)
        }
        for k, place in enumerate(places):
            columns[f"alone_{place}"] = [one.alone[k] for one in self.found]
        for field in ("together", "surplus", "p_value"):
            columns[field] = [getattr(one, field) for one in self.found]
        return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)

    def plot(self, *, ax: Any = None, n_features: int = 20) -> Any:
        """Draw a heat map of the surplus of the features that interact most.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        n_features : int, default=20
            Features shown at most.

        Returns
        -------
        matplotlib Axes
        """
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

    def __repr__(self) -> str:
        return f"Interactions({len(self.significant())} of {self.n_sets} sets, {self.n_rows} rows)"

    def __str__(self) -> str:
        kept = self.significant()
        head = f"{len(kept)} of {self.n_sets} sets interact (family-wise p <= {PAIR_LEVEL:g})"
        lines = [
            f"  {' x '.join(self.names[j] for j in one.features)}: {one.together:.3f} nats "
            f"together, {one.surplus:.3f} beyond each alone (p = {one.p_value:.2g})"
            for one in kept[:10]
        ]
        return "\n".join([head, *lines])


def interactions(
    X: Any,
    y: Any,
    order: Literal[2, 3] = 2,
    *,
    n_best: int = 100,
    n_permutations: int = 20,
    categorical_features: Any = "from_dtype",
    missing: Missing = "error",
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
        Pairs, or triples. Triples are counted for the 200 columns of the best pairs at most.
    n_best : int, default=100
        How many sets are returned.
    n_permutations : int, default=20
        Permuted targets that the p-values rest on.
    categorical_features, missing
        As in `FeatureSelector`.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    Interactions
        With ``to_frame()``, ``plot()`` and ``significant()``.

    Notes
    -----
    Continuous columns are cut into 2 to 8 bins of equal frequency, so that a cell of a pair's table
    holds 20 rows of a class on average. The p-value of a set is family-wise: the probability that
    the best of *all* sets shows as much when the target is permuted. When a set is significant the
    scan is repeated within groups of rows for which it predicts alike, and a set found there has
    the p-value of that scan.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> from pinsker import interactions
    >>> found = interactions(*NoisyXor(n_columns=30).sample(500, seed=0))
    >>> [found.names[feature] for feature in found.found[0].features]
    ['x0', 'x1']
    >>> found.found[0].p_value < 1e-9, len(found.significant())
    (True, 1)
    """
    if order not in (2, 3):
        raise ParameterError(f"order={order!r}: use 2 for pairs or 3 for triples.")
    encoded = encode(X, y, categorical_features=categorical_features, missing=missing)
    if encoded.n_features < order:
        raise DataError(f"found {encoded.n_features} columns: a set of {order} needs {order}.")
    threads = effective_n_jobs(n_jobs)
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
    if order == 3:
        return _triples(encoded, pairs, n_best, n_permutations, random_state, threads)
    n_sets = encoded.n_features * (encoded.n_features - 1) // 2
    return _sorted(pairs, n_best, encoded, n_sets, problem)


def _sorted(
    found: list[PairFound],
    n_best: int,
    encoded: Encoded,
    n_sets: int,
    problem: PairProblem,
    notes: tuple[str, ...] = (),
) -> Interactions:
    by_surplus = sorted(found, key=lambda one: (-one.surplus, one.features))[:n_best]
    n_bins = int(problem.codes.max(initial=1)) + 1
    return Interactions(
        tuple(by_surplus), encoded.feature_names, encoded.n_rows, n_sets, n_bins, notes
    )


def _triples(
    encoded: Encoded,
    pairs: list[PairFound],
    n_best: int,
    n_permutations: int,
    seed: int,
    n_threads: int,
) -> Interactions:
    """Count all triples of the columns of the best pairs.

    The surplus of a triple is the interaction information of three columns: the surplus of two
    given the third, less their surplus without it.
    """
    pool = list(range(encoded.n_features))
    notes: tuple[str, ...] = ()
    if len(pool) > _MOST_FOR_TRIPLES:
        ranked = sorted(pairs, key=lambda one: -one.surplus)
        first = dict.fromkeys(j for one in ranked for j in one.features)
        pool = sorted(list(dict.fromkeys([*first, *pool]))[:_MOST_FOR_TRIPLES])
        of_all = f"{_MOST_FOR_TRIPLES} of {encoded.n_features} columns"
        notes = (f"triples of {of_all}: those of the best pairs, then the first ones",)
    problem = PairProblem.of(take_features(encoded, pool), order=3)
    rng = np.random.default_rng(seed)
    # Three scans of permuted targets show the scale; each holds all triples.
    least = [
        float(_best_triples(problem, rng.permutation(problem.labels), 1, n_threads)[1][0])
        for _ in range(min(n_permutations, 3))
    ]
    triples, values = _best_triples(problem, problem.labels, n_best, n_threads)
    found = []
    for triple, value in zip(triples, values, strict=True):
        p_value = _p_of_triple(float(value), least, problem)
        found.append(_describe_triple(problem, triple, pool, float(value), p_value))
    size = len(pool)
    return _sorted(found, n_best, encoded, size * (size - 1) * (size - 2) // 6, problem, notes)


def _best_triples(
    problem: PairProblem, labels: IntArray, n_best: int, n_threads: int
) -> tuple[IntArray, Any]:
    """Return the triples with the largest three-way surplus, and the surplus in nats."""
    codes = problem.codes
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


def _p_of_triple(value: float, least: list[float], problem: PairProblem) -> float:
    """Return a family-wise p-value: twice the rows times the surplus is chi-squared by chance."""
    from scipy.special import chdtrc

    n, degrees = len(problem.labels), float(problem.codes.max()) ** 3 * problem.labels.max()
    own, others = chdtrc(degrees, 2 * n * value), chdtrc(degrees, 2 * n * np.array(least))
    return float(-np.expm1(-len(least) * np.log1p(own / others.sum())))


def _describe_triple(
    problem: PairProblem, triple: IntArray, pool: list[int], surplus: float, p_value: float
) -> PairFound:
    codes, labels = problem.codes[triple].astype(np.int64), problem.labels
    alone = PairTables.of(problem.codes[triple], labels).alone
    joint = (codes[0] * 8 + codes[1]) * 8 + codes[2]
    together = _information(joint, labels)
    features = tuple(int(pool[k]) for k in triple)
    return PairFound(features, tuple(map(float, alone)), together, surplus, p_value)


def _information(joint: IntArray, labels: IntArray) -> float:
    """Return I(X;Y) of two columns of codes, in nats."""
    both = np.zeros((int(joint.max()) + 1, int(labels.max()) + 1))
    np.add.at(both, (joint, labels), 1.0 / len(labels))
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    there = both > 0
    return float(np.sum(both[there] * np.log(both[there] / expected[there])))
