"""The text of a selection on a terminal.

In this order: which columns stay, what that costs, how sure it is, what to be careful about, and
the next command.
"""

import math
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pinsker.cli._errors import shell_text, visible
from pinsker.cli._fitting import Outcome
from pinsker.cli._tables import STDIN
from pinsker.encoding import KIND_DOUBTS
from pinsker.holdout import CERTIFICATE, TOO_FEW_ROWS, AuditResult, Certificate
from pinsker.metrics import best_score, change_text, metric_row, metric_words, shown_value

_MOST_LISTED = 25
#: Longer names are cut in the list; files hold them in full.
_LONGEST_NAME = 80
#: Parts of notes that may change what a reader does with the result: leaks, identifiers, a budget
#: that says nothing, rare classes, few rows, choices of chance. They come first.
_CAREFUL = (
    " is suspect (", "as identifiers have", "would let every column go", "% of the rows, so that",
    "unstable", "too few rows", "fewer than", "interrupted",
)  # fmt: skip

Facts = list[tuple[str, str]]


class _PlainConsole(Console):
    """A console that shows control characters of names, instead of obeying them."""

    def render_str(self, text: str, **options: Any) -> Any:
        """Render a text, with markup and without control characters."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Leave the closed pipe to the command, whose exit code says what was found."""
        raise BrokenPipeError


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that neither breaks lines nor colors in a pipe."""
    console = _PlainConsole(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console = _PlainConsole(stderr=stderr, highlight=False, width=1000, no_color=True)
    return console


def print_summary(console: Console, outcome: Outcome, then: str = "") -> None:
    """Print the kept columns, the error with its certainty, notes, and what to do `then`."""
    table, selector = outcome.table, outcome.selector
    if outcome.interrupted:
        console.print("[bold]Interrupted. The best set so far; no file was written:[/bold]")
    console.print(
        f"[bold]Kept {len(outcome.kept)} of {table.features.shape[1]} columns[/bold] of "
        f"{escape(table.source)} to predict {escape(repr(table.target))} "
        f"({len(table.frame)} rows, {_task(outcome)})"
    )
    console.print()
    console.print(_features(selector))
    console.print()
    facts = certificate_facts(selector.certificate_)
    if outcome.stability is not None:
        facts.append(("stability", str(outcome.stability).removeprefix("stability ")))
    print_facts(console, [*facts, ("time", _seconds(outcome.seconds))])
    print_notes(console, careful_first(outcome.notes))
    if then:
        print_facts(console, [("next", then)])


def careful_first(notes: Iterable[str]) -> list[str]:
    """Return the notes of a summary: what to be careful about, then the others."""
    shown = [one for one in notes if not one.startswith(KIND_DOUBTS)]
    return sorted(shown, key=lambda one: not any(word in one for word in _CAREFUL))


def next_command(outcome: Outcome, saved: str | None = None) -> str:
    """Return the command that a reader of the summary needs next, and what it is for."""
    certificate, again = outcome.selector.certificate_, _again()
    suspects = [name for name in outcome.kept if _is_suspect(name, outcome.notes)]
    if certificate.verdict == "nothing predictable":
        return ""
    if suspects:
        drop = shlex.quote(",".join(suspects))
        return f"{again} --drop {drop} (if not known when the target is not)"
    if certificate.verdict == "inconclusive" and certificate.resolvable > certificate.budget:
        other = _again(with_budget=False)
        return f"{other} --error-budget {_confirmed(certificate)} (what these rows can confirm)"
    if saved not in (None, STDIN) and certificate.is_tested:
        return f"pinsker certify {shlex.quote(str(saved))} FRESH_TABLE (rows not used here)"
    if "--report" not in again:
        return f"{again} --report report.html (why these columns)"
    return f"{again} --json selection.json (then pinsker certify, on fresh rows)"


def _again(*, with_budget: bool = True) -> str:
    """Return the command as it was typed, without its budget where another follows."""
    words = iter(sys.argv[1:])
    if with_budget:
        return shlex.join(["pinsker", *words])
    kept = ["pinsker"]
    for word in words:
        if word in ("-e", "--error-budget"):
            next(words, None)
        elif not word.startswith("--error-budget="):
            kept.append(word)
    return shlex.join(kept)


def _is_suspect(name: str, notes: Iterable[str]) -> bool:
    return any(note.startswith(f"column {name!r} is suspect") for note in notes)


def _confirmed(comparison: Certificate | AuditResult) -> str:
    """Return the smallest budget that these rows can confirm."""
    upper = max(comparison.increase_upper, 0.0)
    confirmed = comparison.resolvable if isinstance(comparison, Certificate) else upper
    return number(math.ceil(confirmed * 1000) / 1000)


def print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print short lines, each behind its label."""
    width = max(len(label) for label, _ in facts)
    for label, text in facts:
        gap = " " * (width - len(label) + 2)
        console.print(f"  [bold]{label}[/bold]{gap}{escape(text)}", soft_wrap=True)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print notes, values spelled as they are typed in a shell."""
    for note in dict.fromkeys(notes):
        console.print(f"  note: {escape(shell_text(note))}", soft_wrap=True)


def meets_budget(comparison: Certificate | AuditResult) -> bool:
    """Return whether a budget is met; without one there is none to meet."""
    if math.isnan(comparison.budget) or comparison.verdict == "met":
        return True
    if not isinstance(comparison, Certificate) or comparison.is_tested:
        return False
    if comparison.label == TOO_FEW_ROWS:
        return False
    enough = comparison.information_lost <= comparison.information_budget
    return enough or comparison.bound <= comparison.budget


def certificate_facts(certificate: Certificate) -> Facts:
    """Return a certificate in three short lines."""
    if certificate.label == TOO_FEW_ROWS:
        return [
            ("error", "unknown"),
            ("budget", _budget(certificate)),
            ("certainty", "none: there are too few rows to hold any out"),
        ]
    if not certificate.is_tested:
        name = metric_row(certificate.metric).error_words
        most = f"{number(certificate.bound)} ({name})"
        return [
            ("error", f"may increase by {most} at most"),
            ("budget", _budget(certificate)),
            ("certainty", "estimate on the rows of the search; no row was held out"),
        ]
    everything, kept, none = (
        _score(certificate.metric, value)
        for value in (certificate.error_all, certificate.error_kept, certificate.error_none)
    )
    errors = (
        f"{metric_words(certificate.metric)} {everything} with all features, {kept} with these, "
        f"{none} with none"
    )
    return [
        ("error", errors),
        ("budget", _budget(certificate)),
        ("certainty", _certainty(certificate, certificate.rows)),
    ]


def _budget(comparison: Certificate | AuditResult) -> str:
    """Return a budget with its verdict, and what follows from it."""
    if math.isnan(comparison.budget):
        return "none"
    size = f"{comparison.budget:g} ({metric_words(comparison.metric)})"
    if isinstance(comparison, Certificate) and comparison.label == TOO_FEW_ROWS:
        return f"{size} not tested"
    if comparison.verdict == "not tested":
        met = "met" if meets_budget(comparison) else "not met"
        return f"{size} {met} by the search's own estimate, not tested"
    if comparison.verdict == "inconclusive":
        return (
            f"{size} inconclusive; the smallest that these rows can confirm is "
            f"{_confirmed(comparison)}: use more rows or a larger budget"
        )
    if comparison.verdict == "not met":
        return (
            f"{size} not met; {change_text(comparison.metric, comparison.increase_lower)} at least"
        )
    if comparison.verdict == "nothing predictable":
        return f"{size} says nothing: all columns predict no better than none"
    return f"{size} {comparison.verdict}"


def print_certificate(
    console: Console, certificate: Certificate, saved: Sequence[str], notes: Sequence[str]
) -> None:
    """Print the certificate of fresh rows; `saved` are the features that were to be tested."""
    n_features, own_notes = certificate.n_features, list(certificate.notes)
    console.print(f"[bold]{len(saved)} of {n_features} features[/bold]: {escape(_names(saved))}")
    if set(certificate.features) != set(saved):
        larger = f"{certificate.n_kept} of {n_features} features"
        passed = "certified set" if certificate.label == CERTIFICATE else "set that passed"
        which = f"smallest {passed}" if certificate.verdict == "met" else "first, which failed"
        console.print(
            "[bold]These are not certified: sets are tested from the largest down to the first "
            f"that fails. The figures are about the {which}, "
            f"{larger}[/bold]: {escape(_names(certificate.features))}",
            soft_wrap=True,
        )
    elif certificate.verdict == "met" and certificate.label != CERTIFICATE:
        why, *own_notes = own_notes  # what makes it an estimate comes first
        text = escape(shell_text(why))
        console.print(f"[bold]These are not certified: {text}[/bold]", soft_wrap=True)
    lost, upper = certificate.information_lost, certificate.information_upper
    information = (
        f"{number(lost)} nats lost, {_upper(certificate.confidence)} {number(upper)} (model-based "
        "estimate)"
    )
    print_facts(console, [*certificate_facts(certificate), ("information", information)])
    print_notes(console, [*own_notes, *notes])


def print_audit(console: Console, result: AuditResult, notes: Sequence[str]) -> None:
    """Print what one model loses by a selection."""
    console.print(f"[bold]{escape(result.model)}[/bold] on {result.n_rows} rows")
    everything, kept = (
        _score(result.metric, value) for value in (result.error_all, result.error_kept)
    )
    errors = (
        f"{metric_words(result.metric)} {everything} with all {result.n_features} columns, {kept} "
        f"with {result.n_kept}"
    )
    certainty = _certainty(result, "test rows")
    facts = [("error", errors), ("budget", _budget(result)), ("certainty", certainty)]
    print_facts(console, facts)
    print_notes(console, notes)


def number(value: float) -> str:
    """Return a number in at most four digits, "unknown" for what is not one."""
    return "unknown" if math.isnan(value) else f"{value:.4g}"


def _score(metric: str, error: float) -> str:
    """Return an error as its metric is read, in as many digits as its increase has."""
    value = shown_value(metric, error)
    has_unit = metric != "error" and best_score(metric) is None
    return number(value) if has_unit or math.isnan(value) else f"{value + 0.0:.4f}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def _certainty(comparison: Certificate | AuditResult, rows: str) -> str:
    kind = rows if rows.endswith(" rows") else f"rows, {rows}"
    label = f"{comparison.label}, " if isinstance(comparison, Certificate) else ""
    groups = f" in {comparison.n_groups} groups" if comparison.n_groups else ""
    if isinstance(comparison, Certificate) and comparison.n_kept == comparison.n_features:
        return f"nothing is left out; {label}{comparison.n_rows} {kind}{groups}"
    now = change_text(comparison.metric, comparison.increase)
    most = change_text(comparison.metric, comparison.increase_upper)
    return (
        f"{now}; {_upper(comparison.confidence)}: {most}; {label}{comparison.n_rows} {kind}{groups}"
    )


def _upper(confidence: float) -> str:
    return f"{100 * confidence:g} % upper confidence bound"


def _features(selector: Any) -> Table:
    """List the kept features, the most important first, with what each is worth."""
    path, certificate = selector.path_, selector.certificate_
    worth, kept = _worth(selector), certificate.features
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("  ", justify="right")
    table.add_column("feature")
    table.add_column("information so far", justify="right")
    if worth:
        falls = "falls" if best_score(certificate.metric) is not None else "rises"
        table.add_column(f"without it {metric_words(certificate.metric)} {falls} by")
    best, most = path.best_information, 0.0
    reachable = {int(size) for size in path.sizes}
    for rank, name in enumerate(kept[:_MOST_LISTED], start=1):
        known = path.information_at(rank) if rank in reachable else math.nan
        most = max(most, known)
        shown = "" if math.isnan(known) or best <= 0 else f"{most / best:.0%}"
        cut = f"{name[:_LONGEST_NAME]}..." if len(name) > _LONGEST_NAME else name
        table.add_row(f"  {rank}", escape(cut), shown, *([worth.get(name, "")] if worth else []))
    if len(kept) > _MOST_LISTED:
        table.add_row("", f"and {len(kept) - _MOST_LISTED} more (--features writes them all)", "")
    return table


def _worth(selector: Any) -> dict[str, str]:
    """Return what the error increases by without each kept feature alone, where it was measured."""
    found = getattr(selector, "importance_", None)
    if found is None or selector.certificate_.n_kept < 2:
        return {}
    rows = zip(found.features, found.value, found.lower, found.upper, strict=True)
    return {name: f"{value:.3f} ({low:.3f} to {high:.3f})" for name, value, low, high in rows}


def _task(outcome: Outcome) -> str:
    if outcome.task == "survival":
        return "a censored time"
    if len(outcome.table.targets) > 1:
        kind = "classes" if outcome.task == "classification" else "numbers"
        return f"{len(outcome.table.targets)} targets of {kind}"
    if outcome.task == "classification":
        return f"{outcome.table.y.nunique()} classes"
    return "a number"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
