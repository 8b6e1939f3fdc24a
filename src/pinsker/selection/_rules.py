"""The paper's three simple stopping rules, and what all rules share.

A rule reads a path and answers how many features stay. It holds no data, so that it works on
backward and forward paths, before or after fitting. The feature that breaks a rule stays.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pinsker.bounds import TargetFacts
from pinsker.exceptions import ParameterError
from pinsker.selection._path import SelectionPath

#: What a rule says when it would let every feature go.
ONE_STAYS = "nothing need stay under {rule}; one feature is kept, since an empty table helps nobody"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule makes of a path.

    Attributes
    ----------
    size : int
        How many features stay.
    budget : float
        Information that the rule lets go, in nats; NaN for rules that do not count it.
    notes : tuple of str
        What a user should know.
    """

    size: int
    budget: float = float("nan")
    notes: tuple[str, ...] = ()


class StoppingRule(ABC):
    """How many features of a path stay. Rules are frozen, comparable and printable."""

    @abstractmethod
    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:
        """Return how many features stay, and why not fewer."""

    def check(self, n_features: int, n_forced: int, facts: TargetFacts) -> None:  # noqa: B027
        """Refuse what no path of these features can answer, before anybody searches."""

    def size(self, path: SelectionPath, facts: TargetFacts | None = None) -> int:
        """Return how many features stay.

        Parameters
        ----------
        path : SelectionPath
            Backward or forward.
        facts : TargetFacts, optional
            What the bounds need to know of the target; only `ErrorBudget` asks.
        """
        return self.decide(path, facts).size

    def _settle(
        self, path: SelectionPath, wanted: int, budget: float = float("nan"), note: str = ""
    ) -> Decision:
        """Move a wished size to one that the path has and that leaves at least one feature."""
        notes = [note] if note else []
        if wanted < 1:
            notes.append(ONE_STAYS.format(rule=self))
        size = max(wanted, 1, path.n_forced)
        smallest, largest = int(path.sizes.min()), int(path.sizes.max())
        if size < smallest:
            notes.append(f"the search was cut short at {smallest} features; {self} asks for {size}")
        elif size > largest:
            notes.append(f"the path ends at {largest} features; {self} asks for {size}")
        return Decision(min(max(size, smallest), largest), budget, tuple(notes))


@dataclass(frozen=True)
class ScoreThreshold(StoppingRule):
    """Stop at the first feature whose score passes a threshold (the paper's FS).

    Backward, features go while their score is at most `nats`; the first one above it stays.
    Forward, features come while their score is above `nats`.

    Parameters
    ----------
    nats : float
        The threshold, at least 0.

    References
    ----------
    Beraha et al. (2019), section VI, "feature score (FS)".

    Examples
    --------
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.1, 0.6), (0.7, 0.7, 0.6, 0.0)
    ... )
    >>> ScoreThreshold(0.05).size(path)
    2
    """

    nats: float

    def __post_init__(self) -> None:
        _check_nats(self)

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        """Return how many features stay."""
        passing = np.asarray(path.scores) > self.nats
        if path.direction == "backward":
            return self._settle(path, int(path.sizes[0]) - _leading(~passing))
        return self._settle(path, int(path.sizes[0]) + _leading(passing))


@dataclass(frozen=True)
class ScoreJump(StoppingRule):
    """Stop where the scores of two consecutive features differ by a jump (the paper's ΔFS).

    Backward, a feature goes while its score is at most `nats` above that of the one removed
    before it (above 0 for the first, so that no step is free). Forward, a feature comes while its
    score is at most `nats` below that of the one added before it.

    Parameters
    ----------
    nats : float
        The largest difference that does not stop, at least 0.

    References
    ----------
    Beraha et al. (2019), section VI, "delta feature score (ΔFS)".

    Examples
    --------
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.1, 0.6), (0.7, 0.7, 0.6, 0.0)
    ... )
    >>> ScoreJump(0.2).size(path)
    1
    """

    nats: float

    def __post_init__(self) -> None:
        _check_nats(self)

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        """Return how many features stay."""
        scores = np.asarray(path.scores, dtype=np.float64)
        if path.direction == "backward":
            gentle = np.diff(scores, prepend=0.0) <= self.nats
            return self._settle(path, int(path.sizes[0]) - _leading(gentle))
        gentle = -np.diff(scores, prepend=scores[:1]) <= self.nats
        return self._settle(path, int(path.sizes[0]) + _leading(gentle))


@dataclass(frozen=True)
class FeatureCount(StoppingRule):
    """Keep exactly k features (the paper's #F).

    Parameters
    ----------
    k : int
        How many stay, at least 1.

    References
    ----------
    Beraha et al. (2019), section VI, "number of features (#F)".

    Examples
    --------
    >>> path = SelectionPath(
    ...     "backward", ("a", "b", "c"), (2, 0, 1), (0.0, 0.1, 0.6), (0.7, 0.7, 0.6, 0.0)
    ... )
    >>> FeatureCount(2).size(path)
    2
    """

    k: int

    def __post_init__(self) -> None:
        k: object = self.k  # annotations bind nobody
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ParameterError(
                f"FeatureCount needs a whole number of at least 1, found {self.k!r}."
            )

    def decide(self, path: SelectionPath, facts: TargetFacts | None = None) -> Decision:  # noqa: ARG002
        """Return how many features stay."""
        self.check(path.n_features, path.n_forced)
        return self._settle(path, int(self.k))

    def check(
        self,
        n_features: int,
        n_forced: int,
        facts: TargetFacts | None = None,  # noqa: ARG002
    ) -> None:
        """Refuse to keep more features than there are, or fewer than must stay."""
        if self.k > n_features:
            raise ParameterError(
                f"{self} asks for more features than there are ({n_features}): use k<={n_features}."
            )
        if self.k < n_forced:
            raise ParameterError(
                f"{self} asks for fewer features than must be kept ({n_forced}): use "
                f"k>={n_forced}, or keep fewer."
            )


def _leading(flags: np.ndarray) -> int:
    """Return how many flags are true before the first that is not."""
    return int(np.argmin(np.append(flags, False)))


def _check_nats(rule: ScoreThreshold | ScoreJump) -> None:
    if not 0.0 <= rule.nats < float("inf"):
        raise ParameterError(
            f"{type(rule).__name__} needs a number of nats of at least 0, found {rule.nats!r}."
        )
