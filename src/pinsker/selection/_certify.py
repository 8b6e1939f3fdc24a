"""Certificates of a choice: from the search's own held-out rows, and from fresh ones."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pinsker.bounds import (
    Certificate,
    Difference,
    TargetFacts,
    bound_for,
    paired_difference,
)
from pinsker.encoding import Encoded, encode
from pinsker.exceptions import DataError, ParameterError
from pinsker.information import named_models
from pinsker.selection._crossfit import Judgement
from pinsker.selection._crossfit_folds import make_folds
from pinsker.selection._crossfit_judge import Judge, Testimony
from pinsker.selection._crossfit_trials import CONFIDENCE, Trial, geometric_sizes, loss_limit
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._rules import StoppingRule

_CROSS_FITTED = "held out in turn while the others were searched"
_FRESH = "that the search never saw"
_CALIBRATION_FOLDS = 5


def certificate_of(
    judgement: Judgement, trial: Trial, rule: StoppingRule, notes: tuple[str, ...]
) -> Certificate:
    """Return what the rows held out during the search say about a choice."""
    budget = rule if isinstance(rule, ErrorBudget) else None
    everything, facts = judgement.of_all, judgement.facts
    return Certificate(
        unit=judgement.unit,
        budget=float(budget.delta) if budget else float("nan"),
        confidence=CONFIDENCE,
        n_rows=judgement.n_rows,
        n_kept=trial.size,
        n_features=everything.size,
        source=_source(len(judgement.paths)),
        information_budget=(
            trial.allowed(budget, facts, judgement.unit) if budget else float("nan")
        ),
        information_lost=trial.lost,
        information_limit=trial.lost_limit,
        bound=_bound(trial.lost_limit, judgement.unit, facts, trial.error_limit),
        error_all=everything.error,
        error_kept=trial.error,
        growth=trial.growth,
        growth_lower=trial.growth_lower,
        growth_upper=trial.growth_upper,
        model_all=everything.model,
        model_kept=trial.model,
        error_limit=trial.error_limit,
        ideal_growth=trial.excess,
        ideal_growth_upper=trial.excess_upper,
        notes=notes,
    )


def _source(n_paths: int) -> str:
    shared = f" ({n_paths} paths share the limits)" if n_paths > 1 else ""
    return _CROSS_FITTED + shared


class Certifying:
    """Gives a selector the method `certify`."""

    def certify(self, X: Any, y: Any, *, confidence: float = 0.95) -> Certificate:
        """Test the choice on rows that the search never saw, and keep to what they support.

        The sets of the path are tested from the largest down to the one that was chosen, and the
        first that the rows do not support ends it (a fixed sequence: no correction for many tests
        is needed). The last set that passed is what the selector keeps from now on; when none
        passed the choice stays, and the certificate says so.

        Parameters
        ----------
        X, y
            Fresh rows, with the columns of `fit`.
        confidence : float, default=0.95
            Of each limit by itself.

        Returns
        -------
        Certificate
            Also kept as `certificate_`.

        Notes
        -----
        Witnesses are fitted and questioned on the fresh rows alone, by cross-fitting. Two growths
        of the error must keep to the budget: against models of all features, and against models
        that see the kept features together with the others in shuffled order. The second pays for
        as many columns as the first reference does, so that a wide model's own weakness is not
        taken for a set's worth.

        References
        ----------
        ``docs/promise.md``; theory of the fixed sequence: Maurer, Hothorn, Lehmacher (1995).
        """
        check_is_fitted(self)
        run = _FreshRows(self, X, y, confidence)
        chosen = self.path_.set_at(int(self._n_kept()))  # type: ignore[attr-defined]
        certificate, units = run.walk(self.path_.order, len(chosen))  # type: ignore[attr-defined]
        self.certificate_ = certificate
        self.support_ = self._columns(units)  # type: ignore[attr-defined]
        return certificate

    def _n_kept(self: Any) -> int:
        return sum(bool(self.support_[list(columns)].all()) for columns in self.feature_columns_)


class _FreshRows:
    """One call of `certify`."""

    def __init__(self, selector: Any, X: Any, y: Any, confidence: float) -> None:
        rule = selector._rule()
        if not isinstance(rule, ErrorBudget):
            raise ParameterError(
                f"certify needs an error budget to test, but the selector stops by {rule}: "
                "set error_budget, or stop=ErrorBudget(...)."
            )
        self.rule, self.confidence = rule, confidence
        settings = {**selector._encoding(), "task": selector.facts_.task}
        self.encoded: Encoded = encode(X, y, **settings)
        if self.encoded.columns.n_columns != selector.n_features_in_:
            raise DataError(
                f"X has {self.encoded.columns.n_columns} columns, but the selector was fitted to "
                f"{selector.n_features_in_}: pass the same columns."
            )
        self.facts = TargetFacts.of(self.encoded.target)
        seed = selector._seed()
        folds = make_folds(self.encoded, _CALIBRATION_FOLDS, None, seed)
        if not folds:
            raise DataError(
                f"found {self.encoded.n_rows} fresh rows, too few to fit and question witnesses: "
                "pass some dozens at least."
            )
        task, n = self.encoded.target.task, self.encoded.n_rows
        witnesses = named_models(selector.witnesses, task, n, seed)
        unit = rule.unit_for(self.facts)
        self.judge = Judge(self.encoded, folds, witnesses, unit, selector._jobs())
        self.shuffle = np.random.default_rng(seed).permutation(n)

    def walk(self, order: tuple[int, ...], wanted: int) -> tuple[Certificate, tuple[int, ...]]:
        """Test sets from the largest down to the wanted size; return the last that passed."""
        everything = tuple(range(self.encoded.n_features))
        full = self._hear(everything)
        sizes = [s for s in geometric_sizes(wanted, len(order)) if s < self.encoded.n_features]
        last: tuple[Certificate, tuple[int, ...]] | None = None
        for size in sorted(sizes, reverse=True):
            certificate = self._test(order[:size], full)
            if certificate.verdict != "kept":
                break
            last = certificate, order[:size]
        if last is not None and len(last[1]) == wanted:
            return last
        if last is not None:
            note = (
                f"the {wanted} features of the search were not reached: "
                f"{size} features were {certificate.verdict}"
            )
            return _with_note(last[0], note), last[1]
        chosen = order[:wanted]
        return self._test(chosen, full), chosen

    def _test(self, units: tuple[int, ...], full: Testimony) -> Certificate:
        """Return the certificate of one set."""
        kept = self._hear(units)
        shuffled = self._hear_shuffled(units)
        lost = paired_difference(
            full.most.log_likelihood - shuffled.most.log_likelihood, self.confidence
        )
        growth, ideal = self._growth(kept, full), self._growth(shuffled, full)
        unit, facts = self.judge.unit, self.facts
        limit = loss_limit(kept.least.losses, unit, facts, self.confidence)
        return Certificate(
            unit=unit,
            budget=float(self.rule.delta),
            confidence=self.confidence,
            n_rows=len(self.judge.rows),
            n_kept=len(units),
            n_features=self.encoded.n_features,
            source=_FRESH,
            information_budget=bound_for(unit, facts, error_limit=limit).budget(
                float(self.rule.delta)
            ),
            information_lost=max(lost.mean, 0.0),
            information_limit=max(lost.upper, 0.0),
            bound=_bound(max(lost.upper, 0.0), unit, facts, limit),
            error_all=full.least.loss,
            error_kept=kept.least.loss,
            growth=growth.mean,
            growth_lower=growth.lower,
            growth_upper=growth.upper,
            model_all=full.least.model,
            model_kept=kept.least.model,
            error_limit=limit,
            ideal_growth=ideal.mean,
            ideal_growth_upper=ideal.upper,
        )

    def _growth(self, less: Testimony, full: Testimony) -> Difference:
        """Return how much more those err who were told less, with its limits."""
        counts = self.judge.unit == "error"
        return paired_difference(
            less.least.losses - full.least.losses, self.confidence, counts=counts
        )

    def _hear(self, units: tuple[int, ...]) -> Testimony:
        return self.judge.hear([[units] * len(self.judge.folds)])[0]

    def _hear_shuffled(self, units: tuple[int, ...]) -> Testimony:
        """Hear models that see all features, those outside of the set in shuffled order."""
        return self.judge.with_shuffled(units, self.shuffle).hear(
            [[tuple(range(self.encoded.n_features))] * len(self.judge.folds)]
        )[0]


def _bound(lost: float, unit: str, facts: TargetFacts, limit: float) -> float:
    known = limit if np.isfinite(limit) else None
    return bound_for(unit, facts, error_limit=known).growth(float(lost))


def _with_note(certificate: Certificate, note: str) -> Certificate:
    return replace(certificate, notes=(*certificate.notes, note))
