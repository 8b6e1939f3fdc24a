"""What a command writes: text on a terminal, files whole or not at all, one line of an error."""

import difflib
import io
import json
import math
import os
import re
import secrets
import shlex
import shutil
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Self, cast

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from pinsker._compat import InvalidParameterError, require
from pinsker._notes import Note, option_of, spell
from pinsker._types import Fields, Function, Selector, Unchecked, plain
from pinsker.cli._formats import files_read
from pinsker.cli._saved import Outcome
from pinsker.cli._tables import STDIN, format_of_name
from pinsker.exceptions import DataError, MemoryBudgetError, ParameterError, PinskerError
from pinsker.holdout import (
    CERTIFICATE,
    ESTIMATE,
    NOT_TESTED,
    TOO_FEW_ROWS,
    AuditResult,
    Certificate,
)  # fmt: skip
from pinsker.metrics import best_score, metric_words
from pinsker.report import audit_errors, careful_first, facts, lines, sentence, subgroup_text

MET = 0
BAD_INPUT = 2
NOT_MET = 3
INTERRUPTED = 130
#: Signals that end a process, and shall leave nothing behind.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
#: Control characters but tabs and ends of lines, and those that turn the direction of text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Folders of the open streams of a process, and how many links in a row are followed.
_STREAMS, _MOST_LINKS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd"), 40
_TEXT = ("csv", "tsv")
#: First characters of what spreadsheets take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MOST_LISTED = 25
_LONGEST_NAME = 80  # longer names are cut in the list; files hold them in full

Lines = list[tuple[str, str]]


class OneLineGroup(TyperGroup):
    """Commands whose errors are one line on standard error."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; exit with its code, or return it when not in standalone mode."""
        code = _run(super().main, *args, **extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def resolve_command(self, ctx: Unchecked, args: list[str]) -> Unchecked:
        """Find a command, or name those that there are."""
        names = self.list_commands(ctx)
        if args and args[0] not in names:
            near = difflib.get_close_matches(args[0], names, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise ParameterError(
                f"there is no command {args[0]!r}: use one of {', '.join(names)}.{meant}"
            )
        return super().resolve_command(ctx, args)


def _run(main: Any, *args: Any, **extra: Any) -> int:
    interrupts = threading.Event()
    try:
        # Commands collect the warnings that concern their users, and print them as notes.
        with _noting(interrupts), warnings.catch_warnings(action="ignore"):
            done = main(*args, standalone_mode=False, **extra)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return MET
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("interrupted", INTERRUPTED)
    except (PinskerError, InvalidParameterError, OSError, MemoryError, UnicodeError) as error:
        if interrupts.is_set():  # pandas makes an error of it while it reads
            return _print_error("interrupted", INTERRUPTED)
        return _print_error(error_text(error), BAD_INPUT)
    except Exception as error:
        # Typer carries click inside or depends on it, by version; both write messages this way.
        if not hasattr(error, "format_message"):
            raise
        # Typer puts the words of pydantic in front of some.
        return _print_error(error.format_message().replace("Value error, ", ""), BAD_INPUT)
    if done == INTERRUPTED:  # Typer turns an interrupt into this code by itself
        return _print_error("interrupted", INTERRUPTED)
    return done if isinstance(done, int) else MET


@contextmanager
def _noting(interrupts: threading.Event) -> Iterator[None]:
    """Set an event at an interrupt, which goes on as it would."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or not _in_main_thread():
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        interrupts.set()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def until_closed() -> Iterator[None]:
    """Print as far as the reader of a pipe wants it: a command ends with its own code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()


def _drop_output() -> None:
    """Write nothing more: `head` closes the pipe, and what is left must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def error_text(error: BaseException) -> str:
    """Return the message of an error, behind the option that it is about."""
    message, parameter = str(error), None
    if isinstance(error, PinskerError):
        message, parameter = spell(error.said, "command"), error.parameter
    message = " ".join((message or type(error).__name__).split())
    if parameter is None and isinstance(error, MemoryBudgetError):
        parameter = "max_memory"
    if parameter is None or option_of(parameter) in message:
        return message
    return f"{option_of(parameter)}: {message}"


def visible(text: str) -> str:
    """Return a text whose control characters are written out: a terminal would obey them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _print_error(message: str, code: int) -> int:
    print(f"pinsker: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code


@contextmanager
def progress(show: bool, first: str = "starting") -> Iterator[None]:
    """Show the latest line that is written to standard error on a terminal, with a spinner."""
    if not show:
        yield
        return
    console = Console(file=sys.stderr)  # the real one: it is about to be replaced
    with console.status(first) as status, redirect_stderr(_LatestLine(status)):
        yield


class _LatestLine(io.TextIOBase):
    """A stream that keeps nothing but the last line, on a status."""

    def __init__(self, status: Unchecked) -> None:
        self.status = status

    def write(self, text: str) -> int:
        """Show the last line of a text."""
        lines = text.replace("\r", "\n").split("\n")
        shown = [line.strip() for line in lines if line.strip()]
        if shown:
            # Without the name in front, so that it fits in one line of a terminal.
            line = shown[-1].removeprefix("FeatureSelector: ")
            self.status.update(escape(visible(line)))
        return len(text)

    def isatty(self) -> bool:
        """Return True: writers show every step, as on the terminal behind the status."""
        return True


class OutputFiles:
    """The files of one command: all of them take their names when all are complete."""

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path]] = []
        self._printed: list[bytes] = []
        self._before: dict[int, Any] = {}
        self._complete = False

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, *_ENDINGS) if _in_main_thread() else ():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                self._before[number] = signal.signal(number, self._stop)
        return self

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """End the command and leave nothing; once all files are complete they get their names."""
        if self._complete:
            return
        self._remove()  # here, as `__exit__` itself may be what a signal keeps from running
        if number != signal.SIGINT:
            sys.exit(128 + number)
        before = self._before[number]
        (before if callable(before) else signal.default_int_handler)(number, frame)

    def _remove(self) -> None:
        for staged, _ in self._staged:
            shutil.rmtree(staged.parent, ignore_errors=True)

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self._complete = True
        try:
            if kind is None:
                for staged, path in self._staged:
                    _guarded(path, os.replace, staged, path)
                    _sync(path.parent)
        finally:
            self._remove()
            for number, before in self._before.items():
                signal.signal(number, before)
        if kind is not None or not self._printed:
            return
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(b"".join(self._printed))
        else:  # what stands in for it takes text alone
            sys.stdout.write(b"".join(self._printed).decode())

    def write_text(self, text: str, path: str | None) -> None:
        """Write a text; ``-`` is standard output, and None is nowhere."""
        if path == STDIN:
            # A pipe gets names as they are; a terminal would obey what some of them hold.
            shown = visible(text) if sys.stdout.isatty() else text
            self._printed.append(shown.encode())  # as files are, whatever a terminal can show
        elif path is not None:
            self.write_with(lambda place: Path(place).write_text(text, encoding="utf-8"), path)

    def write_table(self, frame: pd.DataFrame, path: str | None) -> None:
        """Write a table in the format of the name; ``-`` is CSV on standard output."""
        if path == STDIN:
            self.write_text(frame.to_csv(index=False), path)
        elif path is not None:
            self.write_with(lambda place: _write_table(frame, place), path)

    def write_with(self, write: Callable[[str], Any], name: str) -> None:
        """Write a file by a function of its place."""
        path = Path(os.path.realpath(name))  # a link stays one
        if os.path.exists(name) and not path.is_file():  # a device or a pipe: nothing to replace
            _guarded(path, write, name)
            return
        folder = path.parent / f".pinsker-{secrets.token_hex(8)}"
        staged = folder / path.name
        self._staged.append((staged, path))  # before it is made: a signal may come in between
        _guarded(path, folder.mkdir, 0o700)
        _guarded(path, write, str(staged))
        if path.exists():
            staged.chmod(stat.S_IMODE(path.stat().st_mode))
        _guarded(path, _sync, staged)


def check_outputs(
    outputs: dict[str, str | None],
    inputs: Sequence[str | None],
    query: str | None = None,
    page: str = "report",
) -> None:
    """Refuse files that cannot be written, before anything is searched; `page` is one in HTML."""
    named = {f"--{option}": file for option, file in outputs.items() if file is not None}
    read = _facts_of(files_read(inputs, query))
    written: dict[str, str] = {}
    for option, file in named.items():
        if file == STDIN and option != f"--{page}":
            continue
        _check_place(option, file)
        place = os.path.realpath(file)
        for own in _facts_of([file, place]):
            if any(os.path.samestat(own, other) for other in read):
                raise ParameterError(
                    f"{option} {file!r} is the file that is read: name another one."
                )
        if place in written:
            raise ParameterError(f"{written[place]} and {option} name the same file {file!r}.")
        written[place] = option
    if (report := outputs.get(page)) is not None:
        if not report.lower().endswith((".html", ".htm")):
            raise ParameterError(f"--{page} {report!r} must end in .html.")
        require("jinja2", purpose=f"--{page}", extra="report")
    if page != "output" and outputs.get("output") is not None:
        written_format(str(outputs["output"]))


def _facts_of(files: Sequence[str | None]) -> list[os.stat_result]:
    """Return which files these are, whatever they are called: those that exist on a disk."""
    found = []
    for file in filter(None, files):
        with suppress(OSError, ValueError):  # what stands in for standard input may be no file
            found.append(os.fstat(sys.stdin.fileno()) if file == STDIN else os.stat(file))
    return [facts for facts in found if stat.S_ISREG(facts.st_mode)]


def written_format(path: str) -> tuple[str, str | None]:
    """Return the format and the compression of a table that is to be written, or refuse it."""
    kind, compression = format_of_name(path)
    if kind not in (*_TEXT, "parquet", "feather") or (compression and kind not in _TEXT):
        raise ParameterError(
            f"--output {path!r}: that is not written. Use .csv, .tsv (also compressed), .parquet "
            "or .feather."
        )
    if kind in ("parquet", "feather"):
        require("pyarrow", purpose=f"writing {kind}", extra="cli")
    return kind, compression


def formula_notes(names: Sequence[str], path: str | None) -> tuple[Note, ...]:
    """Return a note on column names that a spreadsheet takes for formulas."""
    if path is None or (path != STDIN and format_of_name(path)[0] not in _TEXT):
        return ()
    found = tuple(name for name in names if name.startswith(_FORMULA))
    return (Note("formulas", found, {"path": path}),) if found else ()


def _write_table(frame: pd.DataFrame, path: str) -> None:
    kind, compression = written_format(path)
    if kind in _TEXT:
        separator = "\t" if kind == "tsv" else ","
        frame.to_csv(path, sep=separator, index=False, compression=cast(Any, compression))
    elif kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.reset_index(drop=True).to_feather(path)


def _check_place(option: str, file: str) -> None:
    path, is_there = Path(os.path.realpath(file)), os.path.exists(file)
    is_special = is_there and not path.is_file()  # a pipe or a device, if it is no folder
    if _is_stream(file) and not is_special:
        raise ParameterError(
            f"{option} {file!r} is no file of its own: name one, or use - for standard output."
        )
    if not (is_special or path.parent.is_dir()):
        raise ParameterError(f"{option} {file!r}: there is no folder {str(Path(file).parent)!r}.")
    if path.is_dir():
        raise ParameterError(f"{option} {file!r} is a folder: name a file.")
    if is_there and not os.access(file, os.W_OK):
        raise ParameterError(f"{option} {file!r} is protected against writing: name another file.")
    if not (is_special or os.access(path.parent, os.W_OK)):
        raise ParameterError(
            f"{option} {file!r}: the folder {str(path.parent)!r} cannot be written to."
        )


def _is_stream(file: str) -> bool:
    """Return whether a name stands for an open stream of this process, as /dev/stdout does."""
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(file))
        if _STREAMS.fullmatch(folder):
            return True
        place = os.path.join(folder, os.path.basename(file))
        if not os.path.islink(place):
            return False
        file = os.path.join(folder, os.readlink(place))
    return False


def _guarded(path: Path, action: Function, *args: Any, **options: Any) -> Any:
    """Do something to a file; errors of the system name it."""
    try:
        return action(*args, **options)
    except OSError as error:  # pyarrow's errors of the disk are among these
        reason = error.strerror or str(error)
        raise DataError(f"{str(path)!r} cannot be written: {reason}.") from error


def _sync(path: Path) -> None:
    """Have a file, or the names of a folder, written to the disk; not every system can."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):  # what the encoding of a terminal lacks is written out
        stream.reconfigure(errors="backslashreplace")
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
    print_subgroups(console, selector.certificate_)
    print_notes(console, careful_first(outcome.notes))
    if then:
        print_facts(console, [("next", then)])


def next_command(outcome: Outcome, saved: str | None = None) -> str:
    """Return the command that a reader of the summary needs next, and what it is for."""
    certificate, again = outcome.selector.certificate_, _again()
    named = [note for note in outcome.notes if note.kind == "suspect"]
    suspects = [name for note in named for name in note.columns if name in outcome.kept]
    if certificate.verdict == "not shown to be predictable":
        return ""
    if suspects:
        drop = shlex.quote(",".join(suspects))
        return f"{again} --drop {drop} (if not known when the target is not)"
    if certificate.verdict == "inconclusive" and certificate.resolvable > certificate.budget:
        other = f"--error-budget {facts(certificate).resolvable}"
        return f"{_again(with_budget=False)} {other} (what these rows can confirm)"
    if saved not in (None, STDIN) and certificate.is_tested:
        about = {**outcome.table.row_columns, **vars(outcome.table.style)}
        each = ((key, [one] if isinstance(one, str) else one or ()) for key, one in about.items())
        typed = [(key.replace("_", "-"), shlex.quote(text)) for key, own in each for text in own]
        more = [f" --{option} {text}" for option, text in typed]
        command = f"pinsker certify {shlex.quote(str(saved))} FRESH_TABLE{''.join(more)}"
        return f"{command} (rows not used here)"
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


def write_json(result: Fields, path: str | None) -> None:
    """Write plain values as JSON, where a file is named."""
    if path is not None:
        text = json.dumps(plain(result), ensure_ascii=False, allow_nan=False)
        with OutputFiles() as files:
            files.write_text(text + "\n", path)


def print_facts(console: Console, said: Sequence[tuple[str, str]]) -> None:
    """Print short lines, each behind its label."""
    width = max(len(label) for label, _ in said)
    for label, text in said:
        gap = " " * (width - len(label) + 2)
        console.print(f"  [bold]{label}[/bold]{gap}{escape(text)}", soft_wrap=True)


def print_subgroups(console: Console, certificate: Certificate) -> None:
    """Print what a set costs each subgroup, if there are any."""
    if certificate.subgroups:
        console.print(escape(subgroup_text(certificate)), soft_wrap=True)


def print_notes(console: Console, notes: Iterable[Note]) -> None:
    """Print notes, settings as they are typed in a shell."""
    for text in dict.fromkeys(sentence(note, "command") for note in notes):
        console.print(f"  note: {escape(' '.join(text.split()))}", soft_wrap=True)


def code_of(comparison: Certificate | AuditResult) -> int:
    """Return the exit code: a budget that is met by an estimate in doubt is not shown to be met."""
    in_doubt = comparison.verdict == "met" and comparison.label == ESTIMATE
    return MET if meets_budget(comparison) and not in_doubt else NOT_MET


def meets_budget(comparison: Certificate | AuditResult) -> bool:
    """Return whether a budget is met; without one there is none to meet."""
    if math.isnan(comparison.budget) or comparison.verdict in ("met", "nothing dropped"):
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
    f = facts(comparison)
    if not f.budget:
        return "none"
    verdict = f.verdict.removeprefix("budget ")
    if isinstance(comparison, Certificate) and comparison.label == NOT_TESTED:
        met = "met" if meets_budget(comparison) else "not met"
        verdict = f"{met} by the search's own estimate, {verdict}"
    more = ": use more rows or a larger budget" if comparison.verdict == "inconclusive" else ""
    return f"{f.budget} ({f.metric}) {verdict}{more}"


def print_certificate(
    console: Console, certificate: Certificate, saved: Sequence[str], notes: Sequence[Note]
) -> None:
    """Print the certificate of fresh rows; `saved` are the features that were to be tested."""
    n_features, own_notes = certificate.n_features, list(certificate.notes)
    console.print(f"[bold]{len(saved)} of {n_features} features[/bold]: {escape(_names(saved))}")
    if (larger := certificate.passed) is not None:
        done = "is certified" if larger.label == CERTIFICATE else "passed, as an estimate"
        console.print(
            f"[bold]These are not certified. A larger set {done}, {larger.n_kept} of {n_features} "
            f"features[/bold]: {escape(_names(larger.features))} ({facts(larger).increase})",
            soft_wrap=True,
        )
    elif certificate.verdict == "met" and certificate.label != CERTIFICATE:
        why, own_notes = own_notes[:1], own_notes[1:]  # what makes it an estimate comes first
        text = "".join(f": {escape(sentence(one, 'command'))}" for one in why)
        console.print(f"[bold]These are not certified{text}[/bold]", soft_wrap=True)
    more = [one for one in lines(certificate) if one[0] in ("information", "rare rows")]
    print_facts(console, [*certificate_facts(certificate), *more])
    print_subgroups(console, certificate)
    print_notes(console, [*own_notes, *notes])


def print_audit(console: Console, result: AuditResult, notes: Sequence[Note]) -> None:
    """Print what one model loses by a selection."""
    console.print(f"[bold]{escape(result.model)}[/bold] on {result.n_rows} rows")
    f = facts(result)
    certainty = f"{f.increase}; {f.evidence}"
    shown = [("error", audit_errors(result)), ("budget", _budget(result)), ("certainty", certainty)]
    print_facts(console, shown)
    print_notes(console, notes)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def _features(selector: Selector) -> Table:
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


def _worth(selector: Selector) -> dict[str, str]:
    """Return what the error increases by without each kept feature alone, where it was measured."""
    found = selector.importance_
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
