"""From the options of a command to a fitted selector."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pinsker.cli._choices import (
    parse_columns,
    parse_groups,
    parse_kinds,
    parse_memory,
    parse_stop,
)
from pinsker.cli._progress import progress
from pinsker.cli._tables import Sheet
from pinsker.encoding import encode_target
from pinsker.exceptions import ParameterError, PinskerWarning
from pinsker.selection import (
    BackwardElimination,
    ErrorBudget,
    FeatureSelector,
    ForwardSelection,
    GrowShrink,
    InformationSelector,
    LinearElimination,
)

Direction = Literal["auto", "backward", "forward", "linear", "grow-shrink"]
DIRECTIONS: dict[str, type[InformationSelector]] = {
    "auto": FeatureSelector,
    "backward": BackwardElimination,
    "forward": ForwardSelection,
    "linear": LinearElimination,
    "grow-shrink": GrowShrink,
}
DEFAULT_BUDGET = 0.05
#: Parameters that are called otherwise on the command line.
_OPTION_OF = {
    "max_memory": "memory",
    "n_jobs": "jobs",
    "random_state": "seed",
    "client": "scheduler",
}


@dataclass(frozen=True)
class Wishes:
    """What a user asked for; None is the selector's own default.

    Attributes
    ----------
    error_budget : float, optional
        Growth of the error that is accepted, in `unit`.
    unit : str
        Unit of `error_budget`.
    stop : str, optional
        Another rule instead, as typed.
    direction : str
        A key of `DIRECTIONS`.
    keep, group, kind : tuple of str
        As typed.
    memory : str, optional
        As typed.
    engine : {"auto", "local", "cuda"}
        Where to search.
    task, missing, folds, jobs, seed
        As the selectors take them.
    """

    error_budget: float | None = None
    unit: str = "auto"
    stop: str | None = None
    direction: str = "auto"
    keep: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    memory: str | None = None
    engine: str = "auto"
    task: str = "auto"
    missing: str = "error"
    folds: int | None = None
    jobs: int | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted selector and how it came about.

    Attributes
    ----------
    sheet : Sheet
        The table.
    selector : InformationSelector
        Fitted.
    task : {"classification", "regression"}
        How the target was understood.
    seconds : float
        Time that `fit` took.
    notes : tuple of str
        What a user should know: about the reading, the data and the choice.
    """

    sheet: Sheet
    selector: InformationSelector
    task: str
    seconds: float
    notes: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> list[str]:
        """Names of the columns that stay, in the order of the table."""
        names = list(self.sheet.features.columns)
        return [
            name for name, stays in zip(names, self.selector.get_support(), strict=True) if stays
        ]


def make_selector(
    wishes: Wishes, names: list[str], *, show_progress: bool, client: Any = None
) -> Any:
    """Return the selector that a user asked for, not yet fitted."""
    kind: Any = DIRECTIONS[wishes.direction]
    groups = parse_groups(wishes.group, names)
    optional = {
        "folds": wishes.folds,
        "max_memory": None if wishes.memory is None else parse_memory(wishes.memory),
        "n_jobs": wishes.jobs,
        "random_state": wishes.seed,
        "client": client,
        "engine": None if wishes.engine == "auto" else wishes.engine,  # auto finds the client
    }
    _check_options(optional, kind().get_params(deep=False), wishes.direction)
    return kind(
        **_rule(wishes),
        missing=wishes.missing,
        groups=groups,
        discrete=parse_kinds(wishes.kind, names),
        keep=parse_columns(wishes.keep, [*names, *(groups or {})], "--keep") or None,
        task=wishes.task,
        verbose=int(show_progress),
        **{name: value for name, value in optional.items() if value is not None},
    )


def _check_options(given: dict[str, Any], known: dict[str, Any], direction: str) -> None:
    """Refuse what a selector does not know."""
    for name, value in given.items():
        if value is not None and name not in known:
            option = _OPTION_OF.get(name, name)
            raise ParameterError(
                f"--{option} means nothing with --direction {direction}: leave it out."
            )


def fit(sheet: Sheet, wishes: Wishes, *, show_progress: bool, client: Any = None) -> Outcome:
    """Fit a selector to a table, on a cluster if there is a client; warnings become notes."""
    X, y = sheet.features, sheet.answer
    selector = make_selector(wishes, list(X.columns), show_progress=show_progress, client=client)
    started = time.perf_counter()
    with progress(show_progress), listening() as heard:
        selector.fit(X, y)
    seconds = time.perf_counter() - started
    if not selector.path_.complete:
        raise KeyboardInterrupt  # fit keeps a broken-off path for later; a shell has no later
    with listening():
        # A linear model of classes knows them as numbers: its facts do not tell the task.
        task = encode_target(y.dropna(), task=wishes.task).task  # type: ignore[arg-type]
    notes = (*sheet.notes, *selector.notes_, *heard)
    return Outcome(sheet, selector, task, seconds, tuple(dict.fromkeys(notes)))


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect warnings of ours as text; those of other packages tell a user of a shell nothing."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield heard
    heard += [str(w.message) for w in caught if issubclass(w.category, PinskerWarning)]


def _rule(wishes: Wishes) -> dict[str, Any]:
    """Return what tells a selector when to stop."""
    if wishes.stop is not None:
        if wishes.error_budget is not None:
            raise ParameterError("--error-budget and --stop exclude each other: give one of them.")
        return {"stop": parse_stop(wishes.stop)}
    delta = DEFAULT_BUDGET if wishes.error_budget is None else wishes.error_budget
    rule = ErrorBudget(delta, unit=wishes.unit)  # type: ignore[arg-type]
    return {"error_budget": delta} if wishes.unit == "auto" else {"stop": rule}


assert set(get_args(Direction)) == set(DIRECTIONS)
