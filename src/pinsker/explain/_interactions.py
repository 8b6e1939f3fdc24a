"""Which features work together: all pairs, or triples, against a target."""

from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Literal

import numpy as np

from pinsker._compat import require
from pinsker._notes import Notes
from pinsker._types import Axes, ColumnChoice, Fields, ListsByName, Missing, TableLike, TargetLike
from pinsker.encoding import Encoded, encode
from pinsker.engine import array_library, count_threads
from pinsker.exceptions import DataError, ParameterError
from pinsker.explain._additive import p_additive
from pinsker.explain._triples import TripleScan
from pinsker.search import (
    PAIR_LEVEL,
    PairFound,
    PairProblem,
    PairScan,
    best_pairs,
)


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
    p_additive : tuple of float
        Of each significant set the p-value against a model without its interaction (additive in
        the log-odds of a class, or in the number), times `n_sets`; NaN of others. Columns with
        additive effects carry more together than alone, too: this tells them apart.
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
        if library not in ("pandas", "polars"):
            raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
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
        return require(library, purpose=f"to_frame({library!r})").DataFrame(columns)

    def plot(self, *, ax: Axes = None, n_features: int = 20) -> Axes:
        """Draw a heat map of the surplus of the features that carry most together.

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
        of the 100 best pairs with any third column. The surplus of a triple is what it carries
        beyond all of its pairs.
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
    Continuous columns are cut into 2 to 8 bins of equal frequency, so that a cell of a pair's table
    holds 20 rows of a class on average. The p-value of a set is family-wise: the probability that
    the best of *all* sets shows as much when the target is permuted. When a set is significant the
    scan is repeated within groups of rows for which it predicts alike, and a set found there has
    the p-value of that scan. Every significant set is tested against a model without its
    interaction, too (`Interactions.p_additive`).

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
    return _sorted(pairs, n_best, encoded, n_sets, problem, notes)


def _sorted(
    found: list[PairFound],
    n_best: int,
    encoded: Encoded,
    n_sets: int,
    problem: PairProblem,
    notes: Notes = (),
) -> Interactions:
    by_surplus = sorted(found, key=lambda one: (-one.surplus, one.features))[:n_best]
    n_bins = int(problem.codes.max(initial=1)) + 1
    target = encoded.target
    numbers = target.raw if target.labels is None else None
    values = numbers[:, 0] if numbers is not None and numbers.shape[1] == 1 else None

    def p_of(one: PairFound) -> float:
        if one.p_value > PAIR_LEVEL:
            return np.nan
        codes = [problem.codes[j].astype(np.int64) for j in one.features]
        return min(n_sets * p_additive(codes, problem.labels, values), 1.0)

    p_values = tuple(p_of(one) for one in by_surplus)
    return Interactions(
        tuple(by_surplus), encoded.feature_names, encoded.n_rows, n_sets, n_bins, notes, p_values
    )
