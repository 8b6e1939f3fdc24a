"""Searches: pure functions ``(problem, settings, fixed, on_step) -> SelectionPath``.

`backward`, `forward` and `forward_backward` measure by nearest neighbors, `linear` by linear
models, `criterion_search` by counts; all run the loop of `greedy`. `pairs` counts all pairs of
features. Stopping rules cut the path.
"""

from pinsker.search._catalog import (
    MOST_SEARCHED,
    SEARCHES,
    FeatureCosts,
    Search,
    describe_searches,
    named_searches,
    screening_notes,
    search_rows,
    search_until,
    searches_in_time,
)
from pinsker.search._criteria import CRITERIA, CountedProblem, CountingSettings, criterion_named
from pinsker.search._criterion import (
    ROWS_PER_CELL,
    CriterionSearch,
    CriterionSearchSettings,
    FeatureLimit,
    count_and_search,
    criterion_search,
    refuse_uncounted,
    select_by_criterion,
)
from pinsker.search._elimination import elimination
from pinsker.search._group_by import counted_stream
from pinsker.search._knn import (
    PAIR_LEVEL,
    KNNSearchSettings,
    PairFound,
    PairProblem,
    PairScan,
    backward,
    best_pairs,
    forward,
    forward_backward,
    forward_backward_and_forward,
    given_order,
    measure_sets,
    pairs,
    relevance,
)
from pinsker.search._linear import LinearBackward, LinearDesign, LinearSearchSettings, linear
from pinsker.search._path import (
    ROUNDING,
    CountedPath,
    Deadline,
    Direction,
    SearchInterrupted,
    SelectionPath,
    Step,
    TimeIsUp,
    Trace,
    greedy,
    grow,
    interruptible,
    shrink,
)
from pinsker.search._rules import (
    Decision,
    ErrorBudget,
    FeatureCount,
    PermutationTest,
    ScoreJump,
    ScoreThreshold,
    StoppingRule,
    read_budget,
)
