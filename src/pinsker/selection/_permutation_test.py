"""A stop by chance: features come while shuffled ones could not have scored as high."""

from dataclasses import dataclass

import numpy as np

from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import Decision, StoppingRule


@dataclass(frozen=True)
class CountedPath(SelectionPath):
    """The path of a search by criterion.

    Attributes
    ----------
    n_counted : int
        Up to this size the information of a set is counted; that of larger sets, whose joint
        tables are too empty, is given as the last one counted, which they have at least.
    p_values : tuple of float
        One per move: how often the best shuffled candidate scored as high. Empty if untested.

    Notes
    -----
    ``full_information`` is the information of all features, or the target's entropy, which is
    never less, when their joint table is too empty.
    """

    n_counted: int = 0
    p_values: tuple[float, ...] = ()


@dataclass(frozen=True)
class PermutationTest(StoppingRule):
    r"""Stop at the first feature that chance could have put in its place.

    The candidates' rows are shuffled together against those of the target and of the features
    chosen so far. The best shuffled candidate of each of `n_permutations` shuffles shows what a
    candidate without any bearing on them would score at best, so that no correction for the number
    of candidates is needed:

    .. math:: p = \frac{1 + \#\{b : \max_X J_b(X) \ge \max_X J(X)\}}{1 + B}.

    Features come while :math:`p` is at most `level`. It is a screening test: a feature that fails
    it is not shown to be useless. For `CriterionSelection`.

    Parameters
    ----------
    level : float, default=0.05
        Largest p-value that lets a feature in.
    n_permutations : int, default=99
        Number of shuffles, B; the smallest p-value is 1 / (1 + B).
    seed : int, default=0
        Seed of the shuffles.

    References
    ----------
    Yu and Príncipe, "Simple stopping criteria for information theoretic feature selection",
    Entropy 21 (2019); there the chosen candidate alone is shuffled.

    Examples
    --------
    >>> path = CountedPath(
    ...     "forward", ("a", "b", "c"), (1, 0), (0.5, 0.01), (0.0, 0.5, 0.5), p_values=(0.01, 0.4)
    ... )
    >>> PermutationTest().size(path)
    1
    """

    level: float = 0.05
    n_permutations: int = 99
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise ParameterError(f"PermutationTest: level={self.level!r} is not between 0 and 1.")
        if self.n_permutations != int(self.n_permutations) or self.n_permutations < 1:
            raise ParameterError(
                f"PermutationTest: n_permutations={self.n_permutations!r} is not a whole number of "
                "at least 1."
            )
        if 1.0 / (1 + self.n_permutations) > self.level:
            raise ParameterError(
                f"{self.n_permutations} permutations give p-values of at least "
                f"{1 / (1 + self.n_permutations):.3g}, so none is below level={self.level:g}: use "
                f"n_permutations>={int(np.ceil(1 / self.level - 1))}."
            )

    def shuffles(self, n_rows: int) -> list[IntArray]:
        """Return the row orders."""
        rng = np.random.default_rng(self.seed)
        return [rng.permutation(n_rows) for _ in range(int(self.n_permutations))]

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        """Return how many features stay."""
        p_values = path.p_values if isinstance(path, CountedPath) else ()
        if not p_values:
            raise ParameterError(
                "PermutationTest reads p-values, and this path has none: fit a CriterionSelection "
                "with stop=PermutationTest(...)."
            )
        passed = np.append(np.asarray(p_values) <= self.level, False)
        passed[: path.n_forced] = True  # what must stay is not asked
        return self._settle(path, int(np.argmin(passed)))
