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

from pinsker._notes import Note
from pinsker.cli._errors import visible
from pinsker.cli._fitting import Outcome
from pinsker.cli._tables import STDIN
from pinsker.holdout import CERTIFICATE, NOT_TESTED, TOO_FEW_ROWS, AuditResult, Certificate
from pinsker.metrics import best_score, metric_words
from pinsker.report import audit_errors, careful_first, facts, lines, sentence

_MOST_LISTED = 25
#: Longer names are cut in the list; files hold them in full.
_LONGEST_NAME = 80

Lines = list[tuple[str, str]]


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
    said = certificate_facts(selector.certificate_)
    if outcome.stability is not None:
        said.append(("stability", str(outcome.stability).removeprefix("stability ")))
    print_facts(console, [*said, ("time", _seconds(outcome.seconds))])
    print_notes(console, careful_first(outcome.notes))
    if then:
        print_facts(console, [("next", then)])


def next_command(outcome: Outcome, saved: str | None = None) -> str:
    """Return the command that a reader of the summary needs next, and what it is for."""
    certificate, again = outcome.selector.certificate_, _again()
    named = [n for n in outcome.notes if isinstance(n, Note) and n.kind == "suspect"]
    suspects = [name for note in named for name in note.columns if name in outcome.kept]
    if certificate.verdict == "nothing predictable":
        return ""
    if suspects:
        drop = shlex.quote(",".join(suspects))
        return f"{again} --drop {drop} (if not known when the target is not)"
    if certificate.verdict == "inconclusive" and certificate.resolvable > certificate.budget:
        other = _again(with_budget=False)
        return (
            f"{other} --error-budget {facts(certificate).resolvable} (what these rows can confirm)"
        )
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


def print_facts(console: Console, said: Sequence[tuple[str, str]]) -> None:
    """Print short lines, each behind its label."""
    width = max(len(label) for label, _ in said)
    for label, text in said:
        gap = " " * (width - len(label) + 2)
        console.print(f"  [bold]{label}[/bold]{gap}{escape(text)}", soft_wrap=True)


def print_notes(console: Console, notes: Iterable[Note | str]) -> None:
    """Print notes, settings as they are typed in a shell."""
    for text in dict.fromkeys(sentence(note, "command") for note in notes):
        console.print(f"  note: {escape(' '.join(text.split()))}", soft_wrap=True)


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


def certificate_facts(certificate: Certificate) -> Lines:
    """Return a certificate in three short lines."""
    said, f = dict(lines(certificate)), facts(certificate)
    known = ("held-out", "information")
    certainty = f.evidence if "change" not in said else f"{f.increase}; {f.evidence}"
    if certificate.is_tested and certificate.n_kept == certificate.n_features:
        certainty = f"nothing is left out; {f.evidence}"
    return [
        ("error", next((said[label] for label in known if label in said), "unknown")),
        ("budget", _budget(certificate)),
        ("certainty", certainty),
    ]


def _budget(comparison: Certificate | AuditResult) -> str:
    """Return a budget with its verdict."""
    f = facts(comparison)
    if not f.budget:
        return "none"
    verdict = f.verdict.removeprefix("budget ")
    of_path = isinstance(comparison, Certificate) and comparison.label == NOT_TESTED
    if of_path:
        met = "met" if meets_budget(comparison) else "not met"
        verdict = f"{met} by the search's own estimate, {verdict}"
    more = ": use more rows or a larger budget" if comparison.verdict == "inconclusive" else ""
    return f"{f.budget} ({f.metric}) {verdict}{more}"


def print_certificate(
    console: Console, certificate: Certificate, saved: Sequence[str], notes: Sequence[Note | str]
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
        text = escape(sentence(why, "command"))
        console.print(f"[bold]These are not certified: {text}[/bold]", soft_wrap=True)
    more = [one for one in lines(certificate) if one[0] in ("information", "rare rows")]
    print_facts(console, [*certificate_facts(certificate), *more])
    print_notes(console, [*own_notes, *notes])


def print_audit(console: Console, result: AuditResult, notes: Sequence[Note | str]) -> None:
    """Print what one model loses by a selection."""
    console.print(f"[bold]{escape(result.model)}[/bold] on {result.n_rows} rows")
    f = facts(result)
    certainty = f"{f.increase}; {f.evidence}"
    shown = [("error", audit_errors(result)), ("budget", _budget(result)), ("certainty", certainty)]
    print_facts(console, shown)
    print_notes(console, notes)


def number(value: float) -> str:
    """Return a number in at most four digits, "unknown" for what is not one."""
    return "unknown" if math.isnan(value) else f"{value:.4g}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


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
