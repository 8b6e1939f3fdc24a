"""The classical criteria as a scikit-learn selector, in memory or on a Dask DataFrame."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from hashlib import sha256
from numbers import Integral, Real
from typing import ClassVar, Self

from pinsker._compat import Interval, StrOptions, validate_data
from pinsker._notes import Note, Notes
from pinsker._types import (
    BoolArray,
    Fields,
    FloatArray,
    ListsByName,
    RowLabels,
    TableLike,
    TargetLike,
    Unchecked,
)
from pinsker.encoding import Binning, Encoded, is_dask_frame, is_stream, read_large
from pinsker.engine import Correction, count_threads
from pinsker.exceptions import ParameterError
from pinsker.holdout import FitContext, path_certificate
from pinsker.metrics import task_of
from pinsker.search import (
    CRITERIA,
    ROWS_PER_CELL,
    CountedPath,
    CountedProblem,
    CountingSettings,
    CriterionSearchSettings,
    ErrorBudget,
    FeatureCount,
    FeatureLimit,
    PermutationTest,
    Search,
    StoppingRule,
    count_and_search,
    counted_stream,
    criterion_search,
    refuse_uncounted,
)
from pinsker.selectors._base import Selector, fitted_attributes, set_fitted
from pinsker.selectors._context import (
    encode_table,
    encoding_of,
    open_context,
    open_progress,
    run_search,
)
from pinsker.selectors._progress import fitting

#: What is known of a path by counting, and what its losses are measured against.
_COUNTED = "those of the search itself: counts of binned columns"
_AGAINST_ENTROPY = _COUNTED + "; losses against the target's entropy, which no set exceeds"


@dataclass(eq=False, repr=False)
class CriterionSelection(Selector):
    r"""Choose features by a criterion of the literature: mRMR, JMI, CMIM and their relatives.

    Each criterion weighs what a candidate X tells of the target Y against what it repeats of the
    features W chosen before. Columns are cut into bins and all information is counted.

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
    stop : StoppingRule, optional
        Another rule: `ErrorBudget` (in error rate; refused when the joint table of the chosen
        features has fewer than five rows per cell before the budget is met), `ScoreThreshold`,
        `ScoreJump`, `FeatureCount`, `PermutationTest`.
    beta, gamma : float, default=1.0
        Weights in "mifs" and "beta-gamma".
    bins : int, default=5
        Number of bins of a continuous column, and of a numeric target.
    binning : {"frequency", "width", "mdl"}, default="frequency"
        Bins of equal frequency or width, or cuts where the classes change (Fayyad and Irani).
    correction : {"none", "miller-madow", "grassberger"}, default="none"
        Bias correction of every entropy; the literature has none.
    metric : {"auto", "error", "r2"}, default="auto"
        How the target is read: "error" takes numbers for classes, "r2" cuts them into bins.
    fixed_features, feature_groups, categorical_features, missing
        As in `BackwardElimination`. A group counts as one feature with its joint values.
    n_jobs, verbose, warm_start
        As in `BackwardElimination`.

    Attributes
    ----------
    path_ : CountedPath
        Every set that the search met. Scores are those of the criterion. The information of a set
        is counted while its cells hold five rows on average; see `CountedPath`.
    binning_ : Binned
        The cuts of every column, in the user's unit, and the codes.
    support_, ranking_, certificate_, cv_results_, notes_, facts_, feature_columns_
        As in `ForwardSelection`; so are `n_features_in_` and `feature_names_in_`.

    See Also
    --------
    ForwardSelection : the same search by neighbors, without bins, given the whole set.
    select_by_criterion : the search on a table of integers.

    Notes
    -----
    A numeric target is cut into bins too, and a note says so: then everything, the budget
    included, is about the bin. Ties go to the first column. The first feature is the most relevant
    one under every criterion.

    A Dask DataFrame is counted partition by partition, one pass for each feature that is added.
    Kinds and cuts of columns are found from 100 000 of its rows; categories, classes and counts
    come from every row. See ``docs/scale.md``.

    References
    ----------
    .. [1] Brown, Pocock, Zhao, Luján, "Conditional likelihood maximisation: a unifying framework
       for information theoretic feature selection", JMLR 13 (2012), Table 1 and eq. 17.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = CriterionSelection("jmi", n_features_to_select=4).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['worst perimeter', 'worst area', 'worst smoothness', 'worst concave points']
    """

    _parameter_constraints: ClassVar[ListsByName] = {
        **Selector._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA))],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "stop": [StoppingRule, None],
        "beta": [Real],
        "gamma": [Real],
        "bins": [Interval(Integral, 2, None, closed="left")],
        "binning": [StrOptions({"frequency", "width", "mdl"})],
        "correction": [StrOptions({"none", "miller-madow", "grassberger"})],
        "metric": [StrOptions({"auto", "error", "r2"})],
        "n_jobs": [Integral, None],
    }
    _parameter_constraints.pop("error_budget")

    criterion: str = "jmi"
    n_features_to_select: int = 10
    _: KW_ONLY
    stop: StoppingRule | None = None
    beta: float = 1.0
    gamma: float = 1.0
    bins: int = 5
    binning: Binning = "frequency"
    correction: Correction = "none"
    n_jobs: int | None = None
    warm_start: bool = False

    @fitting
    def fit(self, X: TableLike, y: TargetLike = None, sample_weight: RowLabels = None) -> Self:
        """Search the path and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans. A Dask DataFrame
            is never in memory as a whole.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers. For a Dask DataFrame: the name of one of its columns, or a Dask
            Series with the same index.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Integer weights are repeated rows.

        Returns
        -------
        self
        """
        given = {**encoding_of(self), "scale": "none", "task": task_of(self.metric)}
        if is_dask_frame(X):
            self._refuse_in_memory(sample_weight, "X is a Dask DataFrame", "pass X.compute()")
            large = read_large(X, y, bins=self.bins, strategy=self.binning, **given)
            validate_data(self, large.partitions.empty, skip_check_array=True)
            problem = CountedProblem.of_partitions(large, self._counting())
            return self._search_and_choose(problem, large.sample, large.notes, X, y)
        if is_stream(X):
            self._refuse_in_memory(sample_weight, f"X is a {type(X).__name__}", "collect it")
            problem, sample, notes, rows = counted_stream(X, y, self._counting(), **given)
            validate_data(self, rows, skip_check_array=True)
            return self._search_and_choose(problem, sample, notes, X, y)
        # Cuts are in the user's unit.
        encoded = encode_table(self, X, y, self.metric, "none", sample_weight)
        problem = CountedProblem.of(encoded, self._counting())
        return self._search_and_choose(problem, encoded, (), X, y)

    def support_at(
        self,
        *,
        error_budget: float | StoppingRule | None = None,
        n_features: int | None = None,
        confidence: float | None = None,
    ) -> BoolArray:
        """Return which columns stay by another rule, no farther than the search of `fit` went."""
        support = super().support_at(
            error_budget=error_budget, n_features=n_features, confidence=confidence
        )
        if error_budget is not None:
            refuse_uncounted(self.path_, self._rule(error_budget), self.facts_)
        return support

    def as_search(self, fixed: tuple[int, ...] = (), seed: int = 0) -> Search:  # noqa: ARG002
        """Return the search alone; it adds all features under rules that do not count them."""
        rule = self.stop if isinstance(self.stop, FeatureCount) else None
        if self.stop is None:
            rule = FeatureLimit(self.n_features_to_select)
        how: Fields = {"criterion": self.criterion, "counting": self._counting(), "rule": rule}
        weights = (self.beta, self.gamma)
        find = partial(count_and_search, weights=weights, fixed=fixed, **how)
        return Search((type(self).__name__,), find, cost=2, most_rows=None)

    def _search_and_choose(
        self, problem: CountedProblem, encoded: Encoded, notes: Notes, X: TableLike, y: TargetLike
    ) -> Self:
        rule = self._rule()
        formula = (self.criterion, self.beta, self.gamma)
        weights: FloatArray | None = problem.class_weights
        digest = "" if weights is None else sha256(weights.tobytes()).hexdigest()
        counted = (*formula, self.bins, self.binning, self.correction, digest)
        context = open_context(self, encoded, problem.facts, X, y, search=counted)
        settings = CriterionSearchSettings(formula[0], rule, context.facts, *formula[1:])
        most = rule.k if isinstance(rule, FeatureCount) else encoded.n_features
        most = max(most, len(context.fixed))
        progress = open_progress(self, context, "forward", most, self.criterion)
        search = partial(criterion_search, problem, settings, context.fixed, progress.on_step)
        path, _ = run_search(self, context, lambda earlier: search(earlier=earlier))
        assert isinstance(path, CountedPath)
        refuse_uncounted(path, rule, context.facts)
        set_fitted(self, self._chosen(context, path, problem, notes))
        progress.close()
        return self

    def _chosen(
        self, context: FitContext, path: CountedPath, problem: CountedProblem, notes: Notes
    ) -> Fields:
        """Cut the path; return the fitted attributes."""
        decision = context.rule.decide(path, context.facts)
        after: Notes = ()
        if not path.moves:  # "cmi" ends where nothing is left to gain: here at once
            whole = int((problem.binning.n_categories == 1).sum())
            columns = {"whole": whole, "n_columns": len(problem.binning.names)}
            asked = {"criterion": self.criterion, "binning": self.binning}
            after = (Note("nothing kept", figures={**asked, **columns}),)
        if path.n_counted < len(path.moves):
            figures = {"n_counted": path.n_counted, "rows_per_cell": ROWS_PER_CELL}
            after = (Note("larger sets not counted", figures=figures),)
        given = (context, self.n_features_in_, path, decision)
        fitted = fitted_attributes(*given, before=problem.notes + notes, notes=after)
        rows = _COUNTED if path.n_counted == path.n_features else _AGAINST_ENTROPY
        fitted["certificate_"] = path_certificate(
            fitted["path_"], context.rule, decision, context.facts, problem.tables.n_rows, rows
        )
        return {**fitted, "binning_": problem.binning}

    def __getstate__(self) -> Fields:
        """Return what a pickle holds: the edges of bins, but not the rows that were binned."""
        state = super().__getstate__()
        if "binning_" in state:
            state["binning_"] = replace(state["binning_"], codes=state["binning_"].codes[:0])
        return state

    def _rule(self, budget: Unchecked = None) -> StoppingRule:
        """Return the stopping rule of the parameters, or that of a budget: an error rate."""
        if budget is None:
            return FeatureLimit(self.n_features_to_select) if self.stop is None else self.stop
        return budget if isinstance(budget, StoppingRule) else ErrorBudget(float(budget))

    def _counting(self) -> CountingSettings:
        n_threads = count_threads(self.n_jobs)
        return CountingSettings(self.bins, self.binning, self.correction, n_threads)

    def _refuse_in_memory(self, sample_weight: RowLabels, found: str, instead: str) -> None:
        """Refuse what needs all rows in memory, where they are not."""
        if sample_weight is not None or isinstance(self.stop, PermutationTest):
            what = "sample_weight" if sample_weight is not None else "PermutationTest"
            raise ParameterError(
                f"{what} needs all rows in memory, but {found}: leave it out, or {instead}."
            )
