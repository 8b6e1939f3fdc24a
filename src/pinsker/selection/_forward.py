"""Forward selection: the paper's Algorithm 2."""

from numbers import Integral
from typing import Any, ClassVar, Literal

from pinsker._compat import Interval
from pinsker._types import Missing, Scale, Task
from pinsker.encoding import Encoded
from pinsker.engine import EngineName, Forward
from pinsker.selection._crossfit_selector import CrossFittedSelector
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._rules import FeatureCount, StoppingRule
from pinsker.selection._run import Run
from pinsker.selection._search import Trace, grow

#: Up to so many features, a search that will be judged on held-out rows adds them all.
_ALL_THE_WAY = 100


class ForwardSelection(CrossFittedSelector):
    r"""Start from nothing and add the feature that tells most, within an error budget.

    The paper's Algorithm 2, with the meaning of its budget corrected: features are added until the
    information has stopped rising, and the smallest set stays that lacks no more than the budget
    allows of the best set seen.

    Parameters
    ----------
    error_budget : float, default=0.05
        How much error may be added: error rate for classes, share of the target's variance for
        numbers. 0 removes what costs nothing.
    stop : StoppingRule, optional
        Another rule instead: `ErrorBudget` in other units, `ScoreThreshold`, `ScoreJump`,
        `FeatureCount`.
    patience : int or None, default=10
        The search ends when the information has not risen for so many additions. None adds all;
        so does a search of at most 100 features whose cut is judged on held-out rows.
    max_features : int, optional
        The search ends at so many features.
    n_neighbors, scale, discrete, missing, groups, keep, task, score_form, max_samples
        As in `BackwardElimination`.
    folds, cv, witnesses
        As in `BackwardElimination`.
    max_memory, n_jobs, random_state, verbose, warm_start, engine, client
        As in `BackwardElimination`.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met, with its information, loss and bound.
    support_ : ndarray of shape (n_features_in_,), bool
        Which columns stay.
    ranking_ : ndarray of shape (n_features_in_,), int
        1 for columns that stay; then the higher, the later a column came; the highest for those
        that the search never added.
    certificate_, comparison_, notes_, facts_, feature_columns_, plan_
        As in `BackwardElimination`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    BackwardElimination : sees interactions that no single feature shows.

    Notes
    -----
    A step adds :math:`\arg\max_i I(Y; X_{S \cup i}) - I(Y; X_S)`. A gain near zero is no reason to
    stop: of an exclusive or, neither feature tells anything alone. `patience` keeps the search
    going, and the set of all features counts among the sets seen.

    References
    ----------
    Beraha, Metelli, Papini, Tirinzoni, Restelli (2019). Feature Selection via Mutual Information:
    New Theoretical Insights. Algorithm 2, Theorems 1 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = ForwardSelection(error_budget=0.1).fit(X, y)
    >>> selector.path_.names[selector.path_.order[0]]
    'flavanoids'
    """

    _direction: Direction = "forward"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CrossFittedSelector._parameter_constraints,
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        error_budget: float = 0.05,
        *,
        stop: StoppingRule | None = None,
        patience: int | None = 10,
        max_features: int | None = None,
        n_neighbors: int = 3,
        scale: Scale = "copula",
        discrete: Any = "auto",
        missing: Missing = "error",
        groups: Any = None,
        keep: Any = None,
        task: Literal["auto"] | Task = "auto",
        score_form: Literal["difference", "direct"] = "difference",
        folds: int = 0,
        cv: Any = None,
        witnesses: Any = "auto",
        max_samples: int | None = None,
        max_memory: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        engine: EngineName = "auto",
        client: Any = None,
    ) -> None:
        super().__init__(
            error_budget, stop=stop, n_neighbors=n_neighbors, scale=scale, discrete=discrete,
            missing=missing, groups=groups, keep=keep, task=task, score_form=score_form,
            folds=folds, cv=cv, witnesses=witnesses, max_samples=max_samples,
            max_memory=max_memory, n_jobs=n_jobs, random_state=random_state,
            verbose=verbose, warm_start=warm_start, engine=engine, client=client,
        )  # fmt: skip
        self.patience = patience
        self.max_features = max_features

    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        settings = self._engine(encoded)
        full = Forward(**settings, active=range(encoded.n_features)).information
        state = Forward(**settings, active=() if earlier is None else earlier.last_set)
        self.plan_ = state.plan
        trace = Trace.resume(earlier) if earlier else Trace((), [0.0])
        most = self.max_features or encoded.n_features
        grow(
            state,
            trace,
            n_features=encoded.n_features,
            forced=run.forced,
            patience=self._patience(encoded),
            at_least=self.stop.k if isinstance(self.stop, FeatureCount) else 0,
            max_size=self.max_features,
            watch=run.watch(max(most, len(run.forced))),
        )
        return run.finish(trace, self.score_form, full)

    def _patience(self, encoded: Encoded) -> int | None:
        """Return when to give up: never, where the set of all features is near and may be judged.

        A cut that is made on held-out rows can only fall back on all features if they are reached.
        """
        judged = self.folds or self.cv is not None
        return None if judged and encoded.n_features <= _ALL_THE_WAY else self.patience
