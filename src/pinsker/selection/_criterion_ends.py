"""When a search by criterion is over, and what counting cannot answer."""

from collections.abc import Sequence

from pinsker.bounds import TargetFacts
from pinsker.exceptions import DataError
from pinsker.selection._criterion_state import ROWS_PER_CELL
from pinsker.selection._criterion_walk import CountedTrace
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import SelectionPath
from pinsker.selection._permutation_test import CountedPath, PermutationTest
from pinsker.selection._rules import FeatureCount, ScoreJump, ScoreThreshold, StoppingRule


class FeatureLimit(FeatureCount):
    """Keep k features, or all of them if there are fewer."""

    def check(self, n_features: int, n_forced: int, facts: TargetFacts | None = None) -> None:
        """Refuse only what is asked for too little."""
        super().check(max(n_features, self.k), n_forced, facts)


def largest_size(rule: StoppingRule, n_features: int) -> int:
    """Return how many features a search for this rule adds at most."""
    return min(rule.k, n_features) if isinstance(rule, FeatureCount) else n_features


def has_ended(
    trace: CountedTrace, rule: StoppingRule, facts: TargetFacts, names: Sequence[str], n_forced: int
) -> bool:
    """Whether no later feature can change what the rule says."""
    size = len(trace.moves)
    if isinstance(rule, ErrorBudget):
        return trace.n_counted < size
    if isinstance(rule, ScoreThreshold | ScoreJump | PermutationTest):
        path = trace.path("forward", names, "", n_forced=n_forced)
        return size > n_forced and rule.size(path, facts) < size
    return False


def refuse_unjudged(path: SelectionPath, rule: StoppingRule, facts: TargetFacts) -> None:
    """Refuse a budget that counting cannot answer.

    Raises
    ------
    DataError
        When the rule is a budget, no set whose table is filled meets it, and larger sets are not
        counted.
    """
    assert isinstance(path, CountedPath)
    if not isinstance(rule, ErrorBudget) or path.n_counted == path.n_features:
        return
    if (rule.growth(path, facts)[: path.n_counted + 1] <= rule.delta).any():
        return
    raise DataError(
        f"the error budget cannot be judged by counting: with more than {path.n_counted} features "
        f"the rows do not fill the joint table ({ROWS_PER_CELL:g} rows per cell), and those "
        f"{path.n_counted} do not meet it. Use fewer bins, stop=FeatureCount(k) or "
        "PermutationTest(), or a selector that judges on held-out rows."
    )
