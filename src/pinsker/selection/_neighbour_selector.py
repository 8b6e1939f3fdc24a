"""What the selectors on neighbours share: parameters, and the engine they ask."""

import copy
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from pinsker._compat import HasMethods, Interval, Options, StrOptions
from pinsker._types import Missing, Scale, Task
from pinsker.encoding import Encoded, check_neighbors
from pinsker.engine import EngineName, Problem
from pinsker.selection._base import InformationSelector
from pinsker.selection._rules import StoppingRule


class NeighbourSelector(InformationSelector):
    """A selector that measures information by nearest neighbours (``docs/estimator.md``)."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InformationSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale": [StrOptions({"copula", "standard", "none"})],
        "score_form": [StrOptions({"difference", "direct"})],
        "folds": [Options(Integral, {0}), Interval(Integral, 2, None, closed="left")],
        "cv": "no_validation",  # type: ignore[dict-item]
        "witnesses": [StrOptions({"auto"}), "array-like"],
        "max_samples": [Interval(Integral, 1, None, closed="left"), None],
        "max_memory": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "engine": [StrOptions({"auto", "local", "dask", "cuda"})],
        "client": [HasMethods(["submit", "scatter"]), None],
    }

    def __init__(
        self,
        error_budget: float = 0.05,
        *,
        stop: StoppingRule | None = None,
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
        self.error_budget = error_budget
        self.stop = stop
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.discrete = discrete
        self.missing = missing
        self.groups = groups
        self.keep = keep
        self.task = task
        self.score_form = score_form
        self.folds = folds
        self.cv = cv
        self.witnesses = witnesses
        self.max_samples = max_samples
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.engine = engine
        self.client = client

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client behind: a connection can be neither copied nor saved."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        copied = copy.copy(self)  # without the client, which scikit-learn would copy deeply
        twin: Self = super(NeighbourSelector, copied).__sklearn_clone__()
        twin.client = self.client
        return twin

    def _encoding(self) -> dict[str, Any]:
        return {**super()._encoding(), "scale": self.scale}

    def _notes(self, encoded: Encoded) -> tuple[str, ...]:
        plan = getattr(self, "plan_", None)
        return super()._notes(encoded) + (plan.notes if plan is not None else ())

    def _engine(self, encoded: Encoded) -> dict[str, Any]:
        """Return how the engine shall work."""
        fixed = self.random_state is None  # None repeats itself too: nothing here is global
        return {
            "problem": Problem.of(encoded),
            "n_neighbors": check_neighbors(self.n_neighbors, encoded.n_rows),
            "score": self.score_form,
            "n_threads": effective_n_jobs(self.n_jobs),
            "max_memory": self.max_memory,
            "max_samples": self.max_samples,
            "seed": 0 if fixed else check_random_state(self.random_state).randint(2**31 - 1),
            "engine": self.engine,
            "client": self.client,
        }
