"""Backward elimination: the paper's Algorithm 1."""

from pinsker.encoding import Encoded
from pinsker.engine import Backward
from pinsker.selection._crossfit_selector import CrossFittedSelector
from pinsker.selection._path import SelectionPath
from pinsker.selection._run import Run
from pinsker.selection._search import Trace, shrink


class BackwardElimination(CrossFittedSelector):
    r"""Start from all features and remove the one that tells least, within an error budget.

    The paper's Algorithm 1, with its stopping rule corrected and its bound sharpened. Every step
    removes the feature whose loss costs the least information about the target; the path goes down
    to nothing, and the rule says where to cut it.

    Parameters
    ----------
    error_budget : float, default=0.05
        How much error may be added: error rate for classes, share of the target's variance for
        numbers. 0 removes what costs nothing.
    stop : StoppingRule, optional
        Another rule instead: `ErrorBudget` in other units, `ScoreThreshold`, `ScoreJump`,
        `FeatureCount`.
    n_neighbors : int, default=3
        Neighbours of the estimator. Small values see more of what there is.
    scale : {"copula", "standard", "none"}, default="copula"
        How numeric columns are scaled before distances are measured.
    discrete : "auto", bool, mask, or columns, default="auto"
        Which columns hold discrete values.
    missing : {"error", "drop", "category"}, default="error"
        What happens to missing values: an error, rows dropped, or a value of their own.
    groups : dict or sequence, optional
        Columns that are kept or dropped as one.
    keep : list, optional
        Columns (by name or position) and groups (by name) that must stay.
    task : {"auto", "classification", "regression"}, default="auto"
        How the target is understood.
    score_form : {"difference", "direct"}, default="difference"
        ``I(Y; X_S) - I(Y; X_S without i)``, or the estimate of ``I(Y; X_i | X_S without i)``.
    folds : int, default=0
        Judge the sizes of the path on held-out rows, with paths searched afresh without them, in
        so many folds, two at least. 0 cuts the path by its own information alone.
    cv : splitter or iterable of (train, test), optional
        Hold out these rows instead. For groups of rows or time: any splitter of scikit-learn with
        ``split(X, y)``, or the pairs that it gives.
    witnesses : "auto" or list, default="auto"
        Models that judge: classifiers or regressors of scikit-learn, (name, model) pairs, or names
        of the default ones.
    max_samples : int, optional
        Measure at most this many rows, each against all; drawn with `random_state`. By default
        every row of up to 50 000; of a larger table so many, or as many as bring the standard error
        of a set's information to 0.005 nats.
    max_memory : int, optional
        Bytes that the search may hold: of this machine, of each worker of a cluster, or of the GPU.
    n_jobs : int, optional
        Threads. The result is the same for any number.
    random_state : int or RandomState, optional
        Seed of the rows that are measured, of the folds and of the witnesses; None is a fixed one.
    verbose : int, default=0
        1 shows a line of progress on standard error.
    warm_start : bool, default=False
        Go on with an unfinished path of an earlier fit to the same data.
    engine : {"auto", "local", "dask", "cuda"}, default="auto"
        Who measures the rows: this machine's cores, a Dask cluster, or a GPU; the results have the
        same bits. "auto" takes the cluster of an active ``distributed.Client``, else a GPU if one
        can be used and the table is large enough to pay for it, else the cores. See
        ``docs/scale.md``.
    client : distributed.Client, optional
        The cluster to use; by default the active one. Clones share it, saved selectors drop it.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met, with its information, loss and bound.
    support_ : ndarray of shape (n_features_in_,), bool
        Which columns stay.
    ranking_ : ndarray of shape (n_features_in_,), int
        1 for columns that stay; then the higher, the earlier a column went.
    certificate_ : PathEvidence or Certificate
        What the path says for the choice; with rows held out, what they say.
    comparison_ : tuple of Trial
        What held-out rows say about every size that was asked about; empty when none were.
    notes_ : tuple of str
        What a user should know about the data and the choice.
    facts_ : TargetFacts
        What the bounds know of the target.
    feature_columns_ : tuple of tuple of int
        The columns of each feature of the path.
    plan_ : Plan
        Which rows were measured, and how memory was used.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    ForwardSelection : starts from nothing.
    LinearElimination : the exact counterpart for linear models.

    Notes
    -----
    A step removes :math:`\arg\min_i I(Y; X_S) - I(Y; X_{S \setminus i})`. The information lost by
    a set is the largest information on the path minus its own; by Theorem C of ``docs/bounds.md``
    it bounds the growth of the ideal error. The bound holds for exact information; the estimate
    carries its own error, which `certificate_` does not hide.

    Interrupting `fit` keeps the path seen so far, with a warning.

    References
    ----------
    Beraha, Metelli, Papini, Tirinzoni, Restelli (2019). Feature Selection via Mutual Information:
    New Theoretical Insights. Algorithm 1, Theorems 1 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = BackwardElimination(error_budget=0.1).fit(X, y)
    >>> selector.transform(X).shape[1] < 8
    True
    >>> int(selector.support_at(error_budget=0.3).sum()) <= int(selector.support_.sum())
    True
    """

    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        if earlier is not None and earlier.complete:
            return earlier
        active = None if earlier is None else earlier.last_set
        state = Backward(**self._engine(encoded), active=active)
        self.plan_ = state.plan
        trace = Trace.resume(earlier) if earlier else Trace(state.active, [state.information])
        shrink(state, trace, forced=run.forced, watch=run.watch(len(state.active)))
        return run.finish(trace, self.score_form)
