"""Grow, then shrink: forward past the peak, then backward from there."""

from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

from pinsker._compat import Interval
from pinsker._types import Missing, Scale, Task
from pinsker.encoding import Encoded
from pinsker.engine import Backward, EngineName, Forward
from pinsker.selection._crossfit_selector import CrossFittedSelector
from pinsker.selection._forward import ForwardSelection
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._rules import FeatureCount, StoppingRule
from pinsker.selection._run import Run
from pinsker.selection._search import Trace, Watch, grow, shrink


class Growth(NamedTuple):
    """A growing search, and the information of all features together (nats)."""

    trace: Trace
    full_information: float


class GrowShrink(CrossFittedSelector):
    r"""Add features until well past the peak of the information, then remove the weakest.

    Forward search starts where neighbours see sharply but can be led astray by its first choices;
    backward search sees features together but starts where neighbours are blind. This search grows
    a set until its information has not risen for `patience` additions, or for as many as the peak
    has features if that is more, and then shrinks that set.

    Parameters
    ----------
    error_budget : float, default=0.05
        How much error may be added: error rate for classes, share of the target's variance for
        numbers. 0 removes what costs nothing.
    stop : StoppingRule, optional
        Another rule instead.
    patience : int, default=10
        Additions without a rise after which growing ends, at least.
    max_features : int, optional
        Growing ends at so many features.
    n_neighbors, scale, discrete, missing, groups, keep, task, score_form, max_samples
        As in `BackwardElimination`.
    folds, cv, witnesses
        As in `BackwardElimination`.
    max_memory, n_jobs, random_state, verbose, warm_start, engine, client
        As in `BackwardElimination`. `warm_start` only spares the search if the path is complete.

    Attributes
    ----------
    path_ : SelectionPath
        The way down, from the largest set that was grown.
    support_, ranking_, certificate_, comparison_, notes_, facts_, feature_columns_
        As in `BackwardElimination`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.

    See Also
    --------
    FeatureSelector : tries this path and others, and judges them on held-out rows.

    Examples
    --------
    >>> from pinsker.datasets import NoisyXor
    >>> X, y = NoisyXor(n_columns=6).sample(400, seed=1)
    >>> GrowShrink(error_budget=0.1).fit(X, y).get_support().nonzero()[0].tolist()
    [0, 1]
    """

    _direction: Direction = "backward"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForwardSelection._parameter_constraints,
        "patience": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        error_budget: float = 0.05,
        *,
        stop: StoppingRule | None = None,
        patience: int = 10,
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
        if earlier is not None and earlier.complete:
            return earlier
        settings = self._engine(encoded)
        grown, full = self._growth(encoded, run.forced)
        state = Backward(**settings, active=grown.moves)
        trace = Trace(state.active, [state.information])
        shrink(state, trace, forced=run.forced, watch=run.watch(len(state.active)))
        return run.finish(trace, self.score_form, full)

    def _growth(self, encoded: Encoded, forced: tuple[int, ...]) -> Growth:
        """Add features until well past the peak."""
        settings = self._engine(encoded)
        full = Forward(**settings, active=range(encoded.n_features)).information
        grown = Trace((), [0.0])
        at_least = self.stop.k if isinstance(self.stop, FeatureCount) else 0
        grow(
            Forward(**settings),
            grown,
            n_features=encoded.n_features,
            forced=forced,
            max_size=self.max_features,
            watch=_PastThePeak(self.patience, max(at_least, len(forced))),
        )
        if grown.lost:
            raise grown.lost  # what was grown is no path yet
        if grown.interrupted:
            raise KeyboardInterrupt
        return Growth(grown, full)


class _PastThePeak(Watch):
    """Ends a growing search when the peak lies as far behind as it is high."""

    def __init__(self, patience: int, at_least: int) -> None:
        self.patience, self.at_least = patience, at_least

    def before(self) -> None:
        """Nothing to do."""

    def after(self, trace: Trace) -> bool:
        """Tell whether the peak is well behind."""
        peak = trace.information.index(max(trace.information))
        size = len(trace.moves)
        return size >= self.at_least and size - peak >= max(self.patience, peak)
