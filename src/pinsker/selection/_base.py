"""What all selectors share: the scikit-learn side of a search."""

import logging
import warnings
from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import Interval, StrOptions, validate_data
from pinsker._types import BoolArray, IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded, encode, is_frame
from pinsker.exceptions import EngineLostError, ParameterError, PinskerWarning
from pinsker.selection._columns import column_values, forced_units, take_columns
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._evidence import PATH_ALONE, PathEvidence
from pinsker.selection._path import Direction, SelectionPath
from pinsker.selection._rules import Decision, StoppingRule
from pinsker.selection._run import Run, fingerprint
from pinsker.selection._views import Viewed
from pinsker.selection._watch import CallbackSupportMixin, fitting


def _is_auto(said: Any) -> bool:
    return isinstance(said, str) and said == "auto"


_LOG = logging.getLogger("pinsker")


class InformationSelector(Viewed, CallbackSupportMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of selectors that search a path and cut it with a stopping rule.

    A subclass says how sets are scored (`_search`) and what evidence that is (`_tier`). It gets
    `fit`, `support_at`, `transform` for arrays and frames, and the fitted attributes.

    Attributes
    ----------
    path_ : SelectionPath
        Every set that the search met.
    support_ : ndarray of shape (n_features_in_,), bool
        Which columns stay.
    ranking_ : ndarray of shape (n_features_in_,), int
        1 for columns that stay; then the higher, the earlier a column would go.
    certificate_ : PathEvidence
        What is promised, on what evidence.
    notes_ : tuple of str
        What a user should know about the data and the choice.
    facts_ : TargetFacts
        What the bounds know of the target.
    feature_columns_ : tuple of tuple of int
        The columns of each feature of the path.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when they are all text.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "error_budget": [Interval(Real, 0, None, closed="left")],
        "stop": [StoppingRule, None],
        "discrete": "no_validation",  # type: ignore[dict-item]
        "missing": [StrOptions({"error", "drop", "category"})],
        "groups": "no_validation",  # type: ignore[dict-item]
        "keep": ["array-like", None],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
    }
    _direction: Direction = "backward"
    _tier: str = PATH_ALONE  # the kind of evidence that a path is

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Search the path and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers, or a frame that may also hold categories, text and booleans.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers.

        Returns
        -------
        self
        """
        rule = self._rule()
        encoded = self._encode(X, y)
        validate_data(self, self._header(X), skip_check_array=True)  # counts and names columns
        facts = self._facts(encoded)
        forced = forced_units(encoded, self.keep)
        rule.check(encoded.n_features, len(forced), facts)
        run = Run(self, encoded, facts, rule, forced, X, y)
        path = self._go_on(run)
        for name, value in self._settled(run, path).items():
            setattr(self, name, value)
        run.close()
        _LOG.info("%s: %s", type(self).__name__, self.certificate_)
        return self

    def support_at(
        self, *, error_budget: float | None = None, stop: StoppingRule | None = None
    ) -> BoolArray:
        """Return which columns stay under another budget or rule, without fitting again.

        Parameters
        ----------
        error_budget : float, optional
            Another budget, in the same unit as the parameter `error_budget`.
        stop : StoppingRule, optional
            Or any other rule.

        Returns
        -------
        ndarray of shape (n_features_in_,), bool
        """
        check_is_fitted(self)
        if (error_budget is None) == (stop is None):
            raise ParameterError("support_at takes an error_budget or a stop, and not both.")
        rule = stop if stop is not None else self._budget_rule(float(error_budget or 0.0))
        return self._columns(self._set_by(rule))

    def transform(self, X: Any) -> Any:
        """Reduce a table to the columns that stay.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            With the columns of `fit`.

        Returns
        -------
        array or frame of shape (n_samples, n_kept)
            A frame when a frame was given, with its columns as they were.
        """
        check_is_fitted(self)
        if not is_frame(X):
            return super().transform(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return take_columns(X, self.get_support(indices=True), self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = True
        return tags

    @abstractmethod
    def _search(self, encoded: Encoded, earlier: SelectionPath | None, run: Run) -> SelectionPath:
        """Search from the start, or on from where an earlier path ends."""

    def _budget_rule(self, delta: float) -> ErrorBudget:
        """Return what the parameter `error_budget` stands for."""
        return ErrorBudget(delta)

    def _facts(self, encoded: Encoded) -> TargetFacts:
        """Return what the bounds know of the target."""
        return TargetFacts.of(encoded.target)

    def _certificate(
        self, path: SelectionPath, rule: StoppingRule, decision: Decision, facts: TargetFacts
    ) -> Any:
        """Return what can be said for a decision; selectors with better evidence override it."""
        return PathEvidence.of(path, rule, decision, facts, self._tier)

    def _notes(self, encoded: Encoded) -> tuple[str, ...]:
        """Return what a user should know before anything was searched."""
        return encoded.notes

    def _encode(self, X: Any, y: Any) -> Encoded:
        """Let the user's data through the gate."""
        return encode(X, y, **self._encoding())

    def _header(self, X: Any) -> Any:
        """Return something with the columns of a table."""
        return X

    def _encoding(self) -> dict[str, Any]:
        """Return the parameters that the encoding takes."""
        return {
            "categorical_features": "from_dtype" if _is_auto(self.discrete) else self.discrete,
            "missing": self.missing,
            "feature_groups": self.groups,
            "task": self.task,
        }

    def _rule(self) -> StoppingRule:
        return self._budget_rule(self.error_budget) if self.stop is None else self.stop

    def _go_on(self, run: Run) -> SelectionPath:
        """Search, from where an earlier fit to the same data ended if `warm_start` says so."""
        print_of_data = fingerprint(self, run.encoded)
        same = getattr(self, "_fingerprint", None) == print_of_data
        earlier = self.path_ if self.warm_start and same else None
        path = self._search(run.encoded, earlier, run)
        self._fingerprint = print_of_data
        if run.lost:
            self._leave_behind(run, path)
            raise EngineLostError(
                f"{run.lost} path_ holds the sets seen in {len(path.moves)} steps: fit again with "
                "warm_start=True, and another engine or client, to go on."
            ) from run.lost
        if run.interrupted:
            warnings.warn(
                f"{type(self).__name__}.fit was interrupted after {len(path.moves)} steps: path_ "
                "holds the sets seen so far. Fit again with warm_start=True to go on.",
                PinskerWarning,
                stacklevel=4,
            )
        return path

    def _leave_behind(self, run: Run, path: SelectionPath) -> None:
        """Keep what is known of a path whose engine was lost."""
        for name, value in self._fitted(path, run.encoded, run.facts, run.rule).items():
            setattr(self, name, value)

    def _settled(self, run: Run, path: SelectionPath) -> dict[str, Any]:
        """Return the fitted attributes after the search; a selector may judge the path first."""
        return self._fitted(path, run.encoded, run.facts, run.rule)

    def _set_by(self, rule: StoppingRule) -> tuple[int, ...]:
        """Return the features that another rule keeps."""
        path: SelectionPath = self.path_
        return path.set_at(rule.size(path, self.facts_))

    def _fitted(
        self, path: SelectionPath, encoded: Encoded, facts: TargetFacts, rule: StoppingRule
    ) -> dict[str, Any]:
        """Return the fitted attributes of a selector that has seen this path."""
        return self._fitted_by(rule.decide(path, facts), path, encoded, facts, rule)

    def _fitted_by(
        self,
        decision: Decision,
        path: SelectionPath,
        encoded: Encoded,
        facts: TargetFacts,
        rule: StoppingRule,
    ) -> dict[str, Any]:
        """Return the fitted attributes of a selector that keeps so many features of this path."""
        yardstick = rule if isinstance(rule, ErrorBudget) else self._budget_rule(0.0)
        growth = tuple(float(value) for value in yardstick.growth(path, facts))
        path = path.with_bounds(growth, yardstick.unit_for(facts))
        rank = np.full(encoded.n_features, len(path.order) - decision.size + 2, dtype=np.int64)
        rank[list(path.order[decision.size :])] = 2 + np.arange(len(path.order) - decision.size)
        rank[list(path.set_at(decision.size))] = 1
        ranking: IntArray = column_values(encoded.features, rank)
        return {
            "facts_": facts,
            "feature_columns_": encoded.features,
            "path_": path,
            "support_": ranking == 1,
            "ranking_": ranking,
            "certificate_": self._certificate(path, rule, decision, facts),
            "notes_": self._notes(encoded) + decision.notes,
        }

    def _columns(self, units: tuple[int, ...]) -> BoolArray:
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        for unit in units:
            mask[list(self.feature_columns_[unit])] = True
        return mask

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask: BoolArray = self.support_
        return mask
