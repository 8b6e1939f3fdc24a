"""The front door: several paths, judged on held-out rows."""

from typing import Any, ClassVar, Literal

from pinsker._compat import StrOptions
from pinsker._types import Missing, Scale, Task
from pinsker.encoding import Encoded
from pinsker.engine import EngineName
from pinsker.selection._crossfit import CrossFit
from pinsker.selection._crossfit_paths import measured, routes
from pinsker.selection._crossfit_selector import CrossFittedSelector
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import StoppingRule
from pinsker.selection._run import Run


class FeatureSelector(CrossFittedSelector):
    r"""Keep the smallest set of features found that keeps to an error budget.

    Several searches put the features in an order. Each is repeated without the rows of every fold,
    and witnesses (models) say on those rows how much each size of each path tells about the
    target and how much it errs. The smallest set that passes by either evidence is kept: the
    information it lacks (against all features with a standard error added) is within what the
    budget allows, or the upper 95 % limit (for all paths together) of what its held-out error
    exceeds the reachable one by is within the budget itself. Reachable is the error with all
    features or that of the set with the most information, whichever is smaller: many columns drown
    a model, and that is no excuse for a poor choice. When nothing smaller passes all features are
    kept, and `notes_` says so.

    Parameters
    ----------
    error_budget : float, default=0.05
        How much error may be added: error rate for classes, share of the target's variance for
        numbers.
    stop : StoppingRule, optional
        Another rule instead. `ErrorBudget` in another unit is judged in that unit; other rules cut
        each path, and held-out rows choose among the paths.
    paths : "auto" or list, default="auto"
        Searches to try: names out of "grow-shrink", "backward", "forward", "linear" and
        "relevance", selectors of this package, (name, selector) pairs, and (name, order) pairs
        with an order of columns, best first. An order that was found with the same rows is judged
        too kindly.
    folds : int, default=5
        Folds of held-out rows. 0 takes the first path and cuts it by its own information.
    cv : splitter or iterable of (train, test), optional
        Hold out these rows instead, for groups of rows or time.
    witnesses : "auto" or list, default="auto"
        Models that judge: classifiers or regressors of scikit-learn, or (name, model) pairs. By
        default a "svm", extremely randomised "extra trees" and a "linear" model; with
        5000 rows or more "boosted trees" and the linear one. These names can be listed too.
    n_neighbors, scale, discrete, missing, groups, keep, task, score_form, max_samples
        As in `BackwardElimination`.
    max_memory, n_jobs, random_state, verbose, engine, client
        As in `BackwardElimination`. The result is the same for any number of jobs.

    Attributes
    ----------
    comparison_ : tuple of Trial
        What held-out rows say about every path and size that was asked about, all features first.
    certificate_ : Certificate
        What is promised, and on what evidence.
    path_ : SelectionPath
        The path of the chosen set, on all rows.
    support_, ranking_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    GrowShrink, BackwardElimination, ForwardSelection, LinearElimination : one path each.

    Notes
    -----
    `support_at` answers for other budgets from the sets that were judged, without fitting again.
    Those sets lie closest to each other near the cut of `error_budget`.

    The limits speak of the witnesses and of these rows. `certify` repeats the test on rows that
    took no part in the choice.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> X, y = NoisyXor(n_columns=6).sample(300, seed=1)
    >>> selector = FeatureSelector(error_budget=0.05).fit(X, y)
    >>> selector.get_support().nonzero()[0].tolist()
    [0, 1]
    >>> selector.certificate_.verdict
    'kept'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CrossFittedSelector._parameter_constraints,
        "paths": [StrOptions({"auto"}), "array-like"],
    }

    def __init__(
        self,
        error_budget: float = 0.05,
        *,
        stop: StoppingRule | None = None,
        paths: Any = "auto",
        folds: int = 5,
        cv: Any = None,
        witnesses: Any = "auto",
        n_neighbors: int = 3,
        scale: Scale = "copula",
        discrete: Any = "auto",
        missing: Missing = "error",
        groups: Any = None,
        keep: Any = None,
        task: Literal["auto"] | Task = "auto",
        score_form: Literal["difference", "direct"] = "difference",
        max_samples: int | None = None,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        engine: EngineName = "auto",
        client: Any = None,
    ) -> None:
        self.error_budget = error_budget
        self.stop = stop
        self.paths = paths
        self.folds = folds
        self.cv = cv
        self.witnesses = witnesses
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.discrete = discrete
        self.missing = missing
        self.groups = groups
        self.keep = keep
        self.task = task
        self.score_form = score_form
        self.max_samples = max_samples
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.engine = engine
        self.client = client

    @property
    def warm_start(self) -> bool:  # type: ignore[override]
        """Never: the folds of a search are not kept."""
        return False

    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:  # noqa: ARG002
        """Search the first path; the others are looked at when they are judged."""
        run.routes = routes(self.paths, self, encoded)
        path: SelectionPath = run.routes[0].search(encoded)
        return path

    def _settled(self, run: Run, path: SelectionPath) -> dict[str, Any]:
        judge = self._judge(run)
        if judge is None:
            return self._unjudged(run, path)
        found = run.routes
        cross = CrossFit(run.encoded, judge, run.facts, len(run.forced))
        run.open_stages(1 + len(found))
        run.say(f"searching {len(found)} paths in {len(judge.folds)} folds")
        cross.search(found, {found[0].name: path})
        return self._judged(run, cross.judge_sizes(run.rule, run.say))

    def _measured(self, path: SelectionPath, run: Run) -> SelectionPath:
        return measured(path, run.encoded, self)
