"""What a selection says on a terminal: kept, cost, certainty, time."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pinsker.cli._leaving import in_shell
from pinsker.cli._selecting import Outcome
from pinsker.selection import ErrorBudget

_UNITS = {
    "error": "error rate",
    "r2": "share of the target's variance (R²)",
    "mse": "mean squared error",
    "log-loss": "nats of log-loss",
    "brier": "Brier score",
    "mae": "mean absolute error",
}
_MOST_LISTED = 25


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that neither breaks lines in a pipe nor paints there."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, width=1000, no_color=True)
    return console


def print_summary(console: Console, outcome: Outcome) -> None:
    """Say what was kept, what it costs, how sure that is, and how long it took."""
    selector = outcome.selector
    n_columns = len(outcome.kept)
    console.print(
        f"[bold]Kept {n_columns} of {selector.n_features_in_} columns[/bold] of "
        f"{escape(outcome.sheet.source)} to predict {escape(repr(outcome.sheet.target))} "
        f"({outcome.sheet.frame.shape[0]} rows, {_task(outcome)})"
    )
    console.print()
    console.print(_features(selector))
    console.print()
    print_facts(console, [*_cost(selector), ("time", _seconds(outcome.seconds))])
    print_notes(console, outcome.notes)


def print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print short lines, each behind its label."""
    width = max(len(label) for label, _ in facts)
    for label, text in facts:
        gap = " " * (width - len(label) + 2)
        console.print(f"  [bold]{label}[/bold]{gap}{escape(text)}", soft_wrap=True)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a user should know, in the words of the command line."""
    for note in dict.fromkeys(notes):
        console.print(f"  note: {escape(in_shell(note))}", soft_wrap=True)


def verdict_of(selector: Any) -> str:
    """Return "kept", "not kept" or "not resolved"; without a budget nothing was promised."""
    certificate = selector.certificate_
    if not isinstance(selector._rule(), ErrorBudget):
        return "kept"
    if hasattr(certificate, "verdict"):
        return str(certificate.verdict)
    # The path alone: what is lost against what may be, both in nats.
    within = certificate.lost <= certificate.budget or certificate.bound <= selector._rule().delta
    return "kept" if within else "not kept"


def number(value: float) -> str:
    """Return a number in at most four digits, "unknown" for what is not one.

    Examples
    --------
    >>> number(0.123456), number(float("nan"))
    ('0.1235', 'unknown')
    """
    return "unknown" if math.isnan(value) else f"{value:.4g}"


def _features(selector: Any) -> Table:
    """List what stays in the order of importance, with what it tells so far."""
    path = selector.path_
    size = sum(all(selector.support_[list(columns)]) for columns in selector.feature_columns_)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("  ", justify="right")
    table.add_column("feature")
    table.add_column("information so far", justify="right")
    best = path.best_information
    reachable = {int(s) for s in path.sizes}
    for rank, unit in enumerate(path.order[: min(size, _MOST_LISTED)], start=1):
        known = path.information_at(rank) if rank in reachable else math.nan
        share = known / best if best > 0 else math.nan
        told = "" if math.isnan(share) else f"{max(share, 0.0) + 0.0:.0%}"  # + 0.0: never -0%
        table.add_row(f"  {rank}", escape(path.names[unit]), told)
    if size > _MOST_LISTED:
        table.add_row("", f"and {size - _MOST_LISTED} more (--features writes them all)", "")
    return table


def _cost(selector: Any) -> list[tuple[str, str]]:
    certificate, rule = selector.certificate_, selector._rule()
    unit = _UNITS.get(certificate.unit, certificate.unit)
    budget = f"{rule.delta:g} allowed" if isinstance(rule, ErrorBudget) else "no budget was set"
    if hasattr(certificate, "verdict"):
        return _held_out(certificate, unit, budget, verdict_of(selector))
    return [
        ("cost", f"{unit}: at most {number(certificate.bound)} more ({budget})"),
        ("how sure", f"{certificate.tier}; no row was held out"),
    ]


def _held_out(c: Any, unit: str, budget: str, verdict: str) -> list[tuple[str, str]]:
    cost = (
        f"{unit}: {number(c.error_all)} with all features, {number(c.error_kept)} with these "
        f"({c.growth:+.4f}; {budget})"
    )
    sure = f"{c.growth_upper:+.4f} at most, at {c.confidence:.0%}, on {c.n_rows} rows {c.source}"
    promise = {
        "kept": "kept",
        "not kept": f"not kept: the error grows by at least {number(c.growth_lower)}",
        "not resolved": (
            f"not resolved: these rows allow for {c.resolvable:+.4f}; more rows may show less, or "
            f"accept a budget of {number(math.ceil(c.resolvable * 1000) / 1000)}"
        ),
    }
    rows = [("cost", cost), ("how sure", sure)]
    return rows if math.isnan(c.budget) else [*rows, ("promise", promise[verdict])]


def _task(outcome: Outcome) -> str:
    if outcome.task == "classification":
        return f"{outcome.sheet.answer.nunique()} classes"
    return "a number"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
