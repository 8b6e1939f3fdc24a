"""Selectors whose cut is judged on held-out rows."""

from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from pinsker.engine import find_client
from pinsker.information import named_models
from pinsker.selection._certify import Certifying, certificate_of
from pinsker.selection._crossfit import CrossFit, Judgement
from pinsker.selection._crossfit_folds import make_folds
from pinsker.selection._crossfit_jobs import Jobs
from pinsker.selection._crossfit_judge import Judge
from pinsker.selection._crossfit_routes import Route, find_path
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._neighbour_selector import NeighbourSelector
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import StoppingRule
from pinsker.selection._run import Run

#: Said where rows cannot be held out.
TOO_FEW = "too few rows to hold any out: the cut rests on the path alone"


class CrossFittedSelector(Certifying, NeighbourSelector):
    """A selector on neighbours that can judge its path on rows it was not searched with.

    With ``folds=0`` and no `cv` the path is cut by its own information.
    """

    def _settled(self, run: Run, path: SelectionPath) -> dict[str, Any]:
        judge = None if run.interrupted else self._judge(run)
        if judge is None:
            return self._unjudged(run, path)
        name, forced = type(self).__name__, run.forced
        cross = CrossFit(run.encoded, judge, run.facts, len(run.forced))
        cross.search([Route(name, lambda rows: find_path(self, rows, forced))], {name: path})
        return self._judged(run, cross.judge_sizes(run.rule, run.say))

    def _leave_behind(self, run: Run, path: SelectionPath) -> None:
        self._judgement, self.comparison_ = None, ()
        super()._leave_behind(run, path)

    def _judge(self, run: Run) -> Judge | None:
        """Return a judge, or None where nothing is held out."""
        folds = make_folds(
            run.encoded, self.folds, self.cv, self._seed(), fewest=self.n_neighbors + 2
        )
        if not folds:
            return None
        task = run.encoded.target.task
        witnesses = named_models(self.witnesses, task, run.encoded.n_rows, self._seed())
        rule = run.rule if isinstance(run.rule, ErrorBudget) else self._budget_rule(0.0)
        unit = rule.unit_for(run.facts)
        return Judge(run.encoded, folds, witnesses, unit, self._jobs())

    def _jobs(self) -> Jobs:
        """Return who judges: a cluster if the engine is one, else threads."""
        return Jobs(effective_n_jobs(self.n_jobs), find_client(self.engine, self.client))

    def _judged(self, run: Run, judgement: Judgement) -> dict[str, Any]:
        """Return the fitted attributes of the set that held-out rows speak for."""
        trial, decision = judgement.choose(run.rule)
        path = self._measured(judgement.paths[trial.path], run)
        fitted = self._fitted_by(decision, path, run.encoded, run.facts, run.rule)
        fitted["certificate_"] = certificate_of(judgement, trial, run.rule, decision.notes)
        fitted["comparison_"] = tuple(judgement.trials.values())
        fitted["_judgement"] = judgement
        return fitted

    def _unjudged(self, run: Run, path: SelectionPath) -> dict[str, Any]:
        fitted = self._fitted(self._measured(path, run), run.encoded, run.facts, run.rule)
        fitted["_judgement"] = None
        fitted["comparison_"] = ()
        if (self.folds or self.cv is not None) and not run.interrupted:
            fitted["notes_"] = (*fitted["notes_"], TOO_FEW)
        return fitted

    def _measured(self, path: SelectionPath, run: Run) -> SelectionPath:  # noqa: ARG002
        """Return a path whose sets have their information."""
        return path

    def _set_by(self, rule: StoppingRule) -> tuple[int, ...]:
        judgement: Judgement | None = getattr(self, "_judgement", None)
        if judgement is None:
            return super()._set_by(rule)
        trial, decision = judgement.choose(rule)
        return judgement.paths[trial.path].order[: decision.size]

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))
