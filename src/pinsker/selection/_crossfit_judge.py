"""The judge: asks the witnesses about sets of features on rows that were held out."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pinsker._types import FloatArray, IntArray
from pinsker.encoding import Encoded, Target
from pinsker.information import (
    HoldoutModel,
    HoldoutScores,
    ModelDesign,
    PriorModel,
    best_by_information,
    best_by_loss,
    score_holdout,
)
from pinsker.selection._crossfit_folds import Fold
from pinsker.selection._crossfit_jobs import Jobs

Units = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Testimony:
    """What the witnesses show for one set of features per fold.

    Attributes
    ----------
    most : HoldoutScores
        The witness that shows the most information.
    least : HoldoutScores
        The witness with the smallest loss.
    close : tuple of str
        Witnesses within a standard error of either.
    """

    most: HoldoutScores
    least: HoldoutScores
    close: tuple[str, ...] = ()

    def or_worse(self, other: "Testimony") -> "Testimony":
        """Return the lesser information and the larger loss of two testimonies."""
        most = min(self.most, other.most, key=lambda held: float(held.log_likelihood.mean()))
        least = max(self.least, other.least, key=lambda held: held.loss)
        return Testimony(most, least, self.close)

    @classmethod
    def of(cls, said: Sequence[HoldoutScores]) -> "Testimony":
        """Find the best of what was said about one candidate."""
        most, least = best_by_information(said), best_by_loss(said)
        close = tuple(
            held.model
            for held in said
            if _is_close(most.log_likelihood - held.log_likelihood)
            or _is_close(held.losses - least.losses)
        )
        return cls(most, least, close)


@dataclass(frozen=True, eq=False)
class Case:
    """What a witness is told of a table: everything but the features it may look at.

    Attributes
    ----------
    design : ModelDesign
        The features as models see them.
    target : Target
        The target.
    folds : tuple of Fold
        Which rows are held out.
    """

    design: ModelDesign
    target: Target
    folds: tuple[Fold, ...]


def answer(case: Case, witness: HoldoutModel, k: int, units: Units) -> FloatArray:
    """Fit one witness to the training rows of one fold and question it on the others."""
    fold, target = case.folds[k], case.target
    train, test = case.design.take(fold.train, units), case.design.take(fold.test, units)
    if target.labels is not None:
        assert target.classes is not None  # a class target keeps its classes
        m = len(target.classes)
        return witness.fit_predict_scores(train, target.labels[fold.train], test, m)
    assert target.raw is not None  # a numeric target keeps the user's values
    return witness.fit_predict(train, target.raw[fold.train], test)


class Judge:
    """Holds the folds and the witnesses, and remembers what was said.

    Parameters
    ----------
    encoded : Encoded
        The table.
    folds : sequence of Fold
        Which rows are held out.
    witnesses : sequence of HoldoutModel
        Who is asked.
    unit : str
        Unit of the losses.
    jobs : Jobs, optional
        Who fits the witnesses; by default one thread. The answers are the same for all.
    """

    def __init__(
        self,
        encoded: Encoded,
        folds: Sequence[Fold],
        witnesses: Sequence[HoldoutModel],
        unit: str,
        jobs: Jobs | None = None,
    ) -> None:
        self.folds = tuple(folds)
        design = ModelDesign.of(encoded.columns, encoded.features)
        self.case = Case(design, encoded.target, self.folds)
        self.witnesses = tuple(witnesses)
        self.unit = unit
        self.jobs = jobs or Jobs()
        self.rows = np.concatenate([fold.test for fold in folds])
        self._answers: dict[tuple[int, Units, str], FloatArray] = {}
        self.prior = self._pool(PriorModel(), [()] * len(folds))

    def hear(self, candidates: Sequence[Sequence[Units]]) -> list[Testimony]:
        """Return the testimony on each candidate: one set of units per fold.

        Sets that were asked about before, for this or for another candidate, cost nothing.
        """
        self._ask(candidates)
        heard = []
        for sets in candidates:
            said = [self._pool(witness, sets) for witness in self.witnesses]
            said.append(self.prior)
            heard.append(Testimony.of(said))
        return heard

    def with_shuffled(self, kept: Units, shuffle: IntArray) -> "Judge":
        """Return a judge of the same rows for whom all features but some are shuffled."""
        other = copy.copy(self)
        design = self.case.design.with_shuffled(kept, shuffle)
        other.case = replace(self.case, design=design)
        other._answers = {}
        return other

    def dismiss(self, heard: Sequence[Testimony]) -> None:
        """Send home the witnesses that have nothing to add.

        A witness stays if, on the set that tells most or on the one with the smallest error, it is
        within a standard error of the best witness, by information or by loss.
        """
        best = {
            max(heard, key=lambda one: float(one.most.log_likelihood.mean())),
            min(heard, key=lambda one: one.least.loss),
        }
        useful = {name for one in best for name in one.close}
        stay = tuple(witness for witness in self.witnesses if witness.name in useful)
        self.witnesses = stay or self.witnesses

    def _ask(self, candidates: Sequence[Sequence[Units]]) -> None:
        """Let every witness answer every new question, in parallel and in a fixed order."""
        questions = {
            (k, tuple(sorted(units)), witness.name): witness
            for sets in candidates
            for k, units in enumerate(sets)
            for witness in self.witnesses
        }
        new = {key: who for key, who in questions.items() if key not in self._answers}
        calls = [(who, k, units) for (k, units, _), who in new.items()]
        with threadpool_limits(1, user_api="blas"):  # many small fits: threads would only wait
            answers = self.jobs.run(answer, self.case, calls)
        self._answers.update(zip(new, answers, strict=True))

    def _pool(self, witness: HoldoutModel, sets: Sequence[Units]) -> HoldoutScores:
        parts = []
        for k, units in enumerate(sets):
            key = (k, tuple(sorted(units)), witness.name)
            known = self._answers.get(key)
            parts.append(answer(self.case, witness, k, units) if known is None else known)
        said = np.concatenate(parts)
        return score_holdout(witness.name, said, self.case.target, self.rows, self.unit)


def _is_close(gaps: FloatArray) -> bool:
    """Tell whether a mean of paired gaps is at most its standard error."""
    return bool(gaps.mean() <= gaps.std() / np.sqrt(len(gaps)))
