"""The classical criteria as a scikit-learn selector."""

from dataclasses import replace
from hashlib import sha256
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs

from pinsker._compat import Interval, StrOptions
from pinsker._types import BoolArray, FloatArray, Missing, Task
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, Strategy
from pinsker.engine import Correction
from pinsker.selection._criteria import CRITERIA, criterion_named
from pinsker.selection._criterion_ends import (
    FeatureLimit,
    has_ended,
    largest_size,
    refuse_unjudged,
)
from pinsker.selection._criterion_large import CountingSelector, large_target
from pinsker.selection._criterion_state import ROWS_PER_CELL, CriterionState
from pinsker.selection._criterion_tables import Classes, Prepared, prepare, target_classes
from pinsker.selection._criterion_walk import CountedTrace, resume, walk
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._permutation_test import CountedPath, PermutationTest
from pinsker.selection._rules import StoppingRule
from pinsker.selection._run import Run

#: What is known of a path by counting, and what its losses are measured against.
COUNTED = "counts of binned columns, on the rows used for the search"
AGAINST_ENTROPY = COUNTED + "; losses against the target's entropy, which no set exceeds"


class CriterionSelection(CountingSelector):
    r"""Choose features by a criterion of the literature: mRMR, JMI, CMIM and their relatives.

    Features are added one by one. Each criterion weighs what a candidate X tells of the target Y
    against what it repeats of the features W chosen before. Columns are cut into bins and all
    information is counted.

    Parameters
    ----------
    criterion : str, default="jmi"
        ============== ==============================================================
        "mim"          :math:`I(X;Y)`
        "mifs"         :math:`I(X;Y) - \beta \sum_W I(X;W)`
        "mrmr"         :math:`I(X;Y) - \frac{1}{|S|} \sum_W I(X;W)`
        "mrmr-quotient" :math:`I(X;Y) / \frac{1}{|S|} \sum_W I(X;W)`
        "jmi"          :math:`\sum_W I(X,W;Y)`
        "jmi3"         :math:`\sum_{U < W} I(X,U,W;Y)`
        "jmim"         :math:`\min_W I(X,W;Y)`
        "njmim"        :math:`\min_W I(X,W;Y) / H(X,W,Y)`
        "cmim"         :math:`\min(I(X;Y), \min_W I(X;Y|W))`, Fleuret and FEAST
        "cmim-brown"   :math:`\min_W I(X;Y|W)`, Brown et al.
        "cife"         :math:`I(X;Y) - \sum_W I(X;W) + \sum_W I(X;W|Y)`
        "icap"         :math:`I(X;Y) - \sum_W \max(0, I(X;W) - I(X;W|Y))`
        "disr"         :math:`\sum_W I(X,W;Y) / H(X,W,Y)`
        "condred"      :math:`I(X;Y) + \sum_W I(X;W|Y)`
        "beta-gamma"   :math:`I(X;Y) - \beta \sum_W I(X;W) + \gamma \sum_W I(X;W|Y)`
        "cmi"          :math:`I(X;Y|S)`; ends when nothing is left to gain
        ============== ==============================================================
    n_features_to_select : int, default=10
        How many features stay; all of them if there are fewer.
    error_budget : float, optional
        Stop on a budget instead: how much error rate may be added. Refused when the joint table of
        the chosen features has fewer than five rows per cell before the budget is met.
    stop : StoppingRule, optional
        Or another rule: `ErrorBudget`, `ScoreThreshold`, `ScoreJump`, `FeatureCount`,
        `PermutationTest`.
    beta, gamma : float, default=1.0
        Weights in "mifs" and "beta-gamma".
    bins : int, default=5
        Number of bins of a continuous column, and of a numeric target.
    binning : {"frequency", "width", "mdl"}, default="frequency"
        Bins of equal frequency or width, or cuts where the classes change (Fayyad and Irani).
    correction : {"none", "miller-madow", "grassberger"}, default="none"
        Bias correction of every entropy; the literature has none.
    discrete, missing, groups, keep, task
        As in `BackwardElimination`. A group counts as one feature with its joint values.
    n_jobs : int, optional
        Threads; the result is the same bits for any number.
    verbose, warm_start
        As in `BackwardElimination`.

    Attributes
    ----------
    path_ : CountedPath
        Every set that the search met. Scores are those of the criterion. The information of a set
        is counted while its cells hold five rows on average; see `CountedPath`.
    binning_ : Binned
        The cuts of every column, in the user's unit, and the codes.
    support_, ranking_, certificate_, notes_, facts_, feature_columns_, n_features_in_, feature_names_in_
        As in `ForwardSelection`.

    See Also
    --------
    ForwardSelection : the same search by neighbours, without bins, given the whole set.
    select_by_criterion : the search on a table of integers.

    Notes
    -----
    A numeric target is cut into bins too, and a note says so: then everything, the budget
    included, is about the bin. Ties go to the first column. The first feature is the most relevant
    one under every criterion.

    A Dask DataFrame is counted partition by partition, one pass for each feature that is added,
    by an active ``distributed.Client`` or as Dask is configured to. Kinds and cuts of columns are
    found from 100 000 of its rows (all of them if there are no more, and then the choice is that
    of the same table in memory); levels, classes and counts come from every row. See
    ``docs/scale.md``.

    References
    ----------
    .. [1] Brown, Pocock, Zhao, Luján, "Conditional likelihood maximisation: a unifying framework
       for information theoretic feature selection", JMLR 13 (2012), Table 1 and eq. 17.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = CriterionSelection("jmi", n_features_to_select=4).fit(X, y)
    >>> selector.path_.order
    (22, 24, 23, 27)
    >>> selector.get_feature_names_out().tolist()
    ['worst perimeter', 'worst area', 'worst smoothness', 'worst concave points']
    """

    _direction: Direction = "forward"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingSelector._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA))],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "error_budget": [Interval(Real, 0, None, closed="left"), None],
        "beta": [Real],
        "gamma": [Real],
        "bins": [Interval(Integral, 2, None, closed="left")],
        "binning": [StrOptions({"frequency", "width", "mdl"})],
        "correction": [StrOptions({"none", "miller-madow", "grassberger"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        criterion: str = "jmi",
        n_features_to_select: int = 10,
        *,
        error_budget: float | None = None,
        stop: StoppingRule | None = None,
        beta: float = 1.0,
        gamma: float = 1.0,
        bins: int = 5,
        binning: Strategy = "frequency",
        correction: Correction = "none",
        discrete: Any = "auto",
        missing: Missing = "error",
        groups: Any = None,
        keep: Any = None,
        task: Literal["auto"] | Task = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.error_budget = error_budget
        self.stop = stop
        self.beta = beta
        self.gamma = gamma
        self.bins = bins
        self.binning = binning
        self.correction = correction
        self.discrete = discrete
        self.missing = missing
        self.groups = groups
        self.keep = keep
        self.task = task
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start

    def support_at(
        self, *, error_budget: float | None = None, stop: StoppingRule | None = None
    ) -> BoolArray:
        """Return which columns stay under another budget or rule, without fitting again.

        The search has gone no farther than the rule of `fit` asked. See
        `BackwardElimination.support_at`.
        """
        support = super().support_at(error_budget=error_budget, stop=stop)
        rule = stop if stop is not None else self._budget_rule(float(error_budget or 0.0))
        refuse_unjudged(self.path_, rule, self.facts_)
        return support

    def _rule(self) -> StoppingRule:
        if self.stop is not None:
            return self.stop
        if self.error_budget is not None:
            return self._budget_rule(self.error_budget)
        return FeatureLimit(self.n_features_to_select)

    def _encoding(self) -> dict[str, Any]:
        return {**super()._encoding(), "scale": "none"}  # cuts in the user's unit

    def _facts(self, encoded: Encoded) -> TargetFacts:
        classes, weights = self._target(encoded)
        counts = np.bincount(classes.labels, weights)
        prior = float(counts.max() / counts.sum())
        present = int(np.count_nonzero(counts))
        return TargetFacts("classification", n_classes=present, largest_prior=prior)

    def _target(self, encoded: Encoded) -> tuple[Classes, FloatArray | None]:
        if self._large is not None:
            return large_target(self._large)
        weights = None if self._weights is None else self._weights[encoded.rows]
        return target_classes(encoded, weights, self.bins), weights

    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        state = self._state(encoded, run.rule)
        trace = CountedTrace((), [0.0], target_entropy=state.chosen_set.target_entropy)
        tested = isinstance(run.rule, PermutationTest)
        if isinstance(earlier, CountedPath) and bool(earlier.p_values) == tested:
            resume(state, trace, earlier)
        most = largest_size(run.rule, encoded.n_features)
        walk(
            state,
            trace,
            most=most,
            forced=run.forced,
            has_ended=lambda seen: has_ended(
                seen, run.rule, run.facts, encoded.feature_names, len(run.forced)
            ),
            watch=run.watch(max(most, len(run.forced))),
        )
        path = run.finish(trace, self.criterion)
        refuse_unjudged(path, run.rule, run.facts)
        return path

    def _state(self, encoded: Encoded, rule: StoppingRule) -> CriterionState:
        """Count the table, and start a search that has chosen nothing."""
        prepared = (
            self._prepare(encoded) if self._large is None else self._prepare_large(self._large)
        )
        self.binning_ = prepared.binning
        n_rows = prepared.tables.n_rows
        shuffles = rule.shuffles(n_rows) if isinstance(rule, PermutationTest) else ()
        formula = criterion_named(self.criterion, self.beta, self.gamma)
        return CriterionState(prepared.tables, formula, shuffles)

    def _prepare(self, encoded: Encoded) -> Prepared:
        classes, weights = self._target(encoded)
        return prepare(
            encoded,
            classes,
            weights,
            bins=self.bins,
            strategy=self.binning,
            correction=self.correction,
            n_threads=effective_n_jobs(self.n_jobs),
        )

    def _go_on(self, run: Run) -> SelectionPath:
        counted = self._weights if self._large is None else self._large.class_sizes
        weights = "" if counted is None else sha256(counted.tobytes()).hexdigest()
        if getattr(self, "_earlier_weights", "") != weights:
            self._fingerprint = ""  # other weights: nothing to go on from
        self._earlier_weights = weights
        return super()._go_on(run)

    def _notes(self, encoded: Encoded) -> tuple[str, ...]:
        notes = super()._notes(encoded) + self.binning_.notes + self._target(encoded)[0].notes
        return notes if self._large is None else notes + self._large.notes

    def _fitted(
        self, path: SelectionPath, encoded: Encoded, facts: TargetFacts, rule: StoppingRule
    ) -> dict[str, Any]:
        assert isinstance(path, CountedPath)
        fitted = super()._fitted(path, encoded, facts, rule)
        if path.n_counted < len(path.moves):
            note = (
                f"the information of sets of more than {path.n_counted} features is not counted "
                f"(fewer than {ROWS_PER_CELL:g} rows per cell): shown is what the first "
                f"{path.n_counted} have"
            )
            fitted["notes_"] = (*fitted["notes_"], note)
        tier = COUNTED if path.n_counted == path.n_features else AGAINST_ENTROPY
        fitted["certificate_"] = replace(fitted["certificate_"], tier=tier)
        return fitted
