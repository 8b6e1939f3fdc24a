"""``pinsker select``, and ``pinsker demo``: a table and a budget in; columns and files out."""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from pinsker._compat import require
from pinsker.cli import _options as options
from pinsker.cli._files import STDIN, format_of_name
from pinsker.cli._leaving import KEPT, NOT_KEPT
from pinsker.cli._saved import to_json
from pinsker.cli._scheduler import check_engine, cluster_at
from pinsker.cli._selecting import Outcome, Wishes, fit
from pinsker.cli._summary import make_console, print_summary, verdict_of
from pinsker.cli._tables import Sheet, read_sheet, write_table
from pinsker.cli._text import TextStyle
from pinsker.exceptions import DataError, ParameterError


def select(
    table: options.Data,
    target: options.Target,
    error_budget: options.Budget = None,
    unit: options.Unit = "auto",
    stop: options.Stop = None,
    direction: options.Way = "auto",
    keep: options.Keep = None,
    drop: options.Drop = None,
    group: options.Group = None,
    kind: options.Kinds = None,
    folds: options.Folds = None,
    task: options.Task = "auto",
    missing: options.Missing = "error",
    memory: options.Memory = None,
    engine: options.Engine = "auto",
    scheduler: options.Scheduler = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    output: options.OutputFile = None,
    features: options.FeaturesFile = None,
    json: options.JsonFile = None,
    report: options.ReportFile = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    na: options.NotAvailable = None,
    quiet: options.Quiet = False,
) -> int:
    """Choose the columns that matter for a target, within an error budget."""
    check_places({"output": output, "features": features, "json": json, "report": report})
    check_engine(engine, scheduler)
    style = TextStyle(separator or "", decimal or "", tuple(na or ()))
    wishes = Wishes(
        error_budget=error_budget, unit=unit, stop=stop, direction=direction,
        keep=tuple(keep or ()), group=tuple(group or ()), kind=tuple(kind or ()), memory=memory,
        engine=engine, task=task, missing=missing, folds=folds, jobs=jobs, seed=seed,
    )  # fmt: skip
    sheet = read_sheet(table, target, style=style, drop=tuple(drop or ()))
    with cluster_at(scheduler) as client:
        outcome = fit(sheet, wishes, show_progress=not quiet and sys.stderr.isatty(), client=client)
        if not quiet:
            # What goes through standard output must stay clean.
            print_summary(make_console(stderr=STDIN in (output, features, json)), outcome)
        write_all(outcome, output, features, json, report)
    return KEPT if verdict_of(outcome.selector) == "kept" else NOT_KEPT


def demo(
    error_budget: options.Budget = None,
    direction: options.Way = "auto",
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
) -> int:
    """Show a selection on 569 tumours with 30 measurements each."""
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame["diagnosis"] = data.target.map(dict(enumerate(data.target_names)))
    wishes = Wishes(error_budget=error_budget, direction=direction, jobs=jobs)
    sheet = Sheet("scikit-learn's breast cancer data", frame, "diagnosis")
    outcome = fit(sheet, wishes, show_progress=not quiet and sys.stderr.isatty())
    if not quiet:
        print_summary(make_console(), outcome)
        print("\nTry it on a table of yours: pinsker select TABLE --target COLUMN")
    return KEPT if verdict_of(outcome.selector) == "kept" else NOT_KEPT


def check_places(files: dict[str, str | None]) -> None:
    """Refuse places that nothing can be written to, before anything is searched."""
    for option, file in files.items():
        if file is None or (file == STDIN and option != "report"):
            continue
        if not Path(file).parent.is_dir():
            raise ParameterError(
                f"--{option} {file!r}: there is no folder {str(Path(file).parent)!r}."
            )
        if Path(file).is_dir():
            raise ParameterError(f"--{option} {file!r} is a folder: name a file.")
    if files["output"] is not None:
        format_of_name(files["output"], "--output")
    if files["report"] is not None and not files["report"].lower().endswith((".html", ".htm")):
        raise ParameterError(f"--report {files['report']!r} must end in .html.")
    for package in ("jinja2", "altair", "vl_convert") if files["report"] is not None else ():
        require(package, purpose="--report", extra="report")


def write_all(
    outcome: Outcome, output: str | None, features: str | None, json: str | None, report: str | None
) -> None:
    """Write what was asked for."""
    if output is not None:
        chosen = [*outcome.kept, outcome.sheet.target]
        frame = outcome.sheet.as_written
        write_table(frame[[name for name in frame.columns if name in chosen]], output)
    if features is not None:
        write_text("".join(f"{name}\n" for name in outcome.kept), features)
    if json is not None:
        write_text(to_json(outcome), json)
    if report is not None:
        write_text(_report(outcome), report)


def _report(outcome: Outcome) -> str:
    from pinsker.report import summarise, to_html  # only a report needs what this loads

    return to_html(summarise(outcome.selector, outcome.sheet.features, outcome.sheet.answer))


def write_text(text: str, path: str) -> None:
    if path == STDIN:
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path!r} cannot be written: {error.strerror}.") from error
