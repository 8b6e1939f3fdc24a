"""The command line: its commands select, demo, certify and audit."""

import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import pinsker.selectors
from pinsker import __version__
from pinsker._compat import require
from pinsker._notes import Note
from pinsker._types import Estimator
from pinsker.cli import _options as options
from pinsker.cli import _output as out
from pinsker.cli._fitting import (
    DEFAULT_SEED,
    SelectOptions,
    cluster_at,
    collect_warnings,
    fit,
    in_order,
)
from pinsker.cli._formats import TextStyle, choose_source
from pinsker.cli._inspect import inspect
from pinsker.cli._plan import plan
from pinsker.cli._saved import Outcome, SavedSelection, read_page, read_selection, to_json
from pinsker.cli._tables import (
    SAVED_TARGET,
    STDIN,
    InputTable,
    read_input,
    with_row_columns,
)
from pinsker.encoding import drop_note, encode_target, take
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import (
    CERTIFICATE,
    MOST_CERTIFIED,
    MOST_READ,
)
from pinsker.metrics import metric_words, task_of
from pinsker.report import summarise, to_html
from pinsker.selectors import EvaluatedSelector

app = typer.Typer(
    name="pinsker", cls=out.OneLineGroup,
    help="Choose the columns of a table that matter for a prediction, within an error budget.",
    epilog="Exit codes: 0 budget met; 3 not met or inconclusive; 2 bad input.",
    rich_markup_mode=None, pretty_exceptions_enable=False,
)  # fmt: skip

#: Indicators of a column at most: one for each of thousands of texts takes hours.
_MOST_CATEGORIES = 50

SavedFile = Annotated[
    str, typer.Argument(metavar="SELECTION", help="What pinsker select --json wrote.")
]
Confidence = Annotated[
    float, typer.Option(min=0.5, max=0.999, help="Confidence level of each bound by itself.")
]
Model = Literal["forest", "boosting", "svm", "linear"]
#: Classifier and regressor of each model.
_MODELS: dict[Model, tuple[Any, Any]] = {
    "forest": (RandomForestClassifier, RandomForestRegressor),
    "boosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    "svm": (SVC, SVR),
    "linear": (LogisticRegression, Ridge),
}


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pinsker {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback does it all)
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def select(
    target: options.Target, table: options.Data = None, database: options.Database = None,
    query: options.Query = None, event: options.Event = None, error_budget: options.Budget = None,
    confidence: options.Confidence = None, metric: options.Metric = "auto",
    stop: options.Stop = None, direction: options.Way = "auto",
    as_published: options.Published = None, searches: options.Searches = None,
    models: options.Models = None, cv: options.Folds = None, fixed: options.Fixed = None,
    drop: options.Drop = None, suspects: options.Suspects = None,
    feature_groups: options.FeatureGroups = None, kind: options.Kinds = None,
    row_groups: options.RowGroups = None, time: options.Time = None,
    weights: options.Weights = None, subgroup: options.Subgroup = None, costs: options.Costs = None,
    stability: options.Stability = None, n_neighbors: options.Neighbors = None,
    missing: options.Missing = "auto", memory: options.Memory = None,
    time_limit: options.TimeLimit = None, fast: options.Fast = False,
    engine: options.Engine = "auto", scheduler: options.Scheduler = None, jobs: options.Jobs = None,
    seed: options.Seed = None, output: options.OutputFile = None,
    features: options.FeaturesFile = None, json: options.JsonFile = None,
    report: options.ReportFile = None, separator: options.Separator = None,
    decimal: options.Decimal = None, na: options.NotAvailable = None, quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Choose the columns that matter for a target, within an error budget."""
    outputs = {"output": output, "features": features, "json": json, "report": report}
    out.check_outputs(outputs, [table, database, costs], query)
    if scheduler is not None and engine != "auto":
        raise ParameterError(
            f"--engine {engine} and --scheduler exclude each other: a cluster is an engine of its "
            "own."
        )
    source = choose_source(table, database, query)
    if as_published is not None:  # beside another direction it is refused
        direction = as_published if direction == "auto" else "auto"
    typed = SelectOptions(
        as_published=as_published is not None,
        error_budget=options.parse_budget(error_budget), confidence=confidence, metric=metric,
        stop=stop, direction=direction, searches=searches, models=models, cv=cv, fixed=fixed,
        feature_groups=feature_groups, kind=kind, n_neighbors=n_neighbors, memory=memory,
        time_limit=time_limit, costs=costs, engine=engine, missing=missing, suspects=suspects,
        stability=stability, subgroups=subgroup, fast=fast, jobs=jobs, seed=seed,
    )  # fmt: skip
    style = TextStyle(separator, decimal, na)
    # All rows are written to an output, and used by the other searches.
    most = MOST_READ if direction == "auto" and cv != 0 and output is None else None
    drawn_by = DEFAULT_SEED if seed is None else seed
    read = read_input(source, target, style=style, drop=drop, most=most, seed=drawn_by, query=query)
    read = with_row_columns(read, row_groups=row_groups, time=time, weights=weights, event=event)
    with cluster_at(scheduler) as client:
        outcome = fit(read, typed, show_progress=_shows(quiet), client=client)
        notes = (*outcome.notes, *out.formula_notes(outcome.kept, output))
        outcome = replace(outcome, notes=notes)
        with out.until_closed():
            if not outcome.interrupted:
                write_files(outcome, output, features, json, report)
            if not quiet:
                # What goes through standard output must stay clean.
                console = out.make_console(stderr=STDIN in (output, features, json))
                out.print_summary(console, outcome, out.next_command(outcome, json))
    return out.INTERRUPTED if outcome.interrupted else out.code_of(outcome.selector.certificate_)


app.command()(inspect)
app.command()(plan)


@app.command()
def certify(
    selection: SavedFile, table: options.Data = None, database: options.Database = None,
    query: options.Query = None, confidence: Confidence = 0.95,
    row_groups: options.RowGroups = None, time: options.Time = None,
    weights: options.Weights = None, subgroup: options.Subgroup = None, jobs: options.Jobs = None,
    json: options.JsonFile = None, separator: options.Separator = None,
    decimal: options.Decimal = None, na: options.NotAvailable = None, quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Test a saved selection on fresh rows, which its search did not use."""
    out.check_outputs({"json": json}, [selection, table, database], query)
    style = TextStyle(separator, decimal, na)
    source = choose_source(table, database, query)
    about_rows = {"row_groups": row_groups, "time": time, "weights": weights}
    saved, read, notes = _restore(selection, source, query, style, MOST_CERTIFIED, **about_rows)
    if not isinstance(saved.selector, EvaluatedSelector):
        raise ParameterError(
            f"a selection by {type(saved.selector).__name__} cannot be certified: select with "
            "--direction auto, backward, forward or forward-backward."
        )
    if math.isnan(saved.selector.certificate_.budget):
        raise ParameterError(
            f"a selection by {saved.selector.certificate_.rule} has no error budget to test: "
            "select with --error-budget."
        )
    if jobs is not None:
        saved.selector.set_params(n_jobs=jobs)
    with collect_warnings() as collected:
        order, rows = in_order(read)
        if read.time is not None:
            saved.selector.set_params(cv=TimeSeriesSplit())
        X, y = read.frame[saved.columns].iloc[order], take(read.y, order)
        parts = options.parse_subgroups(subgroup, list(read.frame.columns))
        if parts:
            labels = {name: read.frame[name].iloc[order] for name in parts}
            rows["subgroups"] = {name: (labels[name], own) for name, own in parts.items()}
        certificate = saved.selector.certify(X, y, confidence=confidence, **rows)
    # A larger set that passed is printed, but it is not the saved one.
    passed = out.meets_budget(certificate) and certificate.label == CERTIFICATE
    about = {"saved_features": saved.features, "saved_set_passed": passed}
    with out.until_closed():
        out.write_json({**certificate.to_dict(), **about}, json)
        if not quiet:
            console = out.make_console(stderr=json == STDIN)
            out.print_certificate(console, certificate, saved.features, [*notes, *collected])
    return out.MET if passed else out.NOT_MET


@app.command()
def audit(
    selection: Annotated[
        str | None,
        typer.Argument(
            metavar="SELECTION", help="What pinsker select --json wrote; with --columns the table."
        ),
    ] = None,
    table: options.Data = None, database: options.Database = None, query: options.Query = None,
    target: options.OfColumns = None, columns: options.Columns = None,
    against: options.Against = None, error_budget: options.Budget = None,
    metric: options.Metric = "auto",
    model: Annotated[Model, typer.Option(help="Model whose error is measured.")] = "forest",
    confidence: Confidence = 0.95, row_groups: options.RowGroups = None, time: options.Time = None,
    weights: options.Weights = None, seed: options.Seed = None, json: options.JsonFile = None,
    separator: options.Separator = None, decimal: options.Decimal = None,
    na: options.NotAvailable = None, quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Measure what one model loses by a saved selection, or by a list of columns."""
    out.check_outputs({"json": json}, [selection, table, database], query)
    style = TextStyle(separator, decimal, na)
    budget = None if error_budget is None else options.parse_budget(error_budget)
    if (columns is None) != (not target):
        raise ParameterError("--columns and --target go together: columns to price, and for what.")
    about_rows = {"row_groups": row_groups, "time": time, "weights": weights}
    if columns is not None:
        source = choose_source(selection, database, query)
        read = read_input(source, target or [], style=style, most=MOST_READ, query=query)
        read, notes = with_row_columns(read, **about_rows), list(read.notes)
    elif selection is None:
        raise ParameterError("name a saved selection, or a table with --target and --columns.")
    else:
        source = choose_source(table, database, query)
        saved, read, notes = _restore(selection, source, query, style, MOST_READ, **about_rows)
    order, rows = in_order(read)
    known = ~read.lacks_target[order]
    if not known.any():
        raise DataError(f"the target {read.target!r} has no value in any row.")
    notes += drop_note(int(known.sum()), len(known), "auto")
    order, rows = order[known], {name: values[known] for name, values in rows.items()}
    X, y = read.features.iloc[order], take(read.y, order)
    rows |= {"cv": None if read.time is None else TimeSeriesSplit(), "error_budget": budget}
    rows["metric"] = None if metric == "auto" else metric
    if columns is not None:
        priced = options.parse_columns(columns, list(X.columns), "--columns")
        task: str = encode_target(y, task=task_of(metric)).task
    else:
        priced, task, X = saved.selector, saved.task, read.frame[saved.columns].iloc[order]
        own = saved.selector.certificate_.metric
        if task == "classification" and task_of(own) == "regression" and metric == "auto":
            # A linear search takes classes for numbers; the models do not.
            rows["metric"] = "error"
            notes.append(Note("other metric", figures={"metric": metric_words(own)}))
    if against is not None:
        rows["against"] = options.parse_columns(against, list(X.columns), "--against")
    estimator = make_model(model, task, seed or 0)
    with collect_warnings() as collected:
        found = pinsker.audit(priced, estimator, X, y, confidence=confidence, **rows)
    result = replace(found, model=model)  # as it was typed: its class is a pipeline
    with out.until_closed():
        out.write_json(result.to_dict(), json)
        if not quiet:
            own = [*result.notes, *notes, *collected]
            out.print_audit(out.make_console(stderr=json == STDIN), result, own)
    return out.code_of(result)


@app.command()
def report(
    selection: SavedFile,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; by default SELECTION with .html."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> int:
    """Make the page of a saved selection again."""
    page = read_page(selection)
    path = output or str(Path(selection).with_suffix(".html"))
    out.check_outputs({"output": path}, [selection], page="output")
    with out.until_closed(), out.OutputFiles() as files:
        files.write_text(page, path)
    if not quiet:
        out.make_console().print(f"wrote {path}", markup=False, soft_wrap=True)
    return out.MET


@app.command()
def demo(
    error_budget: options.Budget = None, direction: options.Way = "auto", jobs: options.Jobs = None,
    quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Show a selection on 569 tumors with 30 measurements each."""
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame["diagnosis"] = data.target.map(dict(enumerate(data.target_names)))
    table = InputTable("scikit-learn's breast cancer data", frame, ("diagnosis",))
    budget = options.parse_budget(error_budget)
    typed = SelectOptions(error_budget=budget, direction=direction, jobs=jobs)
    outcome = fit(table, typed, show_progress=_shows(quiet))
    if not quiet:
        out.print_summary(out.make_console(), outcome)
        print("\nTry it on a table of yours: pinsker select TABLE --target COLUMN")
    return out.INTERRUPTED if outcome.interrupted else out.code_of(outcome.selector.certificate_)


def make_model(name: Model, task: str, seed: int) -> Estimator:
    kind = _MODELS[name][task != "classification"]
    if task == "survival":
        if name not in ("linear", "forest"):
            raise ParameterError(f"--model {name} takes no censored times: use linear or forest.")
        module = "linear_model" if name == "linear" else "ensemble"
        found = require(f"sksurv.{module}", purpose="--model", extra="survival")
        kind = found.CoxPHSurvivalAnalysis if name == "linear" else found.ExtraSurvivalTrees
    settings = {"random_state": seed} if "random_state" in kind().get_params() else {}
    numbers = make_column_selector(dtype_include=["number", "bool"])
    categories = make_column_selector(dtype_exclude=["number", "bool"])
    indicators = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES, sparse_output=False
    )
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (indicators, categories),
    )
    return make_pipeline(prepared, kind(**settings))


def write_files(
    outcome: Outcome, output: str | None, features: str | None, json: str | None, report: str | None
) -> None:
    """Write the files that the options name: all of them or none."""
    with out.OutputFiles() as files:
        if output is not None:
            chosen = [*outcome.kept, *outcome.table.targets, outcome.table.event]
            frame = outcome.table.as_written
            files.write_table(frame[[name for name in frame.columns if name in chosen]], output)
        files.write_text("".join(f"{name}\n" for name in outcome.kept), features)
        if json is None and report is None:
            return
        table, typed = outcome.table, shlex.join(["pinsker", *sys.argv[1:]])
        data = (None, None) if report is None else (table.features, table.y)
        summary = summarise(outcome.selector, *data, source=table.source, command=typed)
        if json is not None:
            files.write_text(to_json(outcome, summary), json)
        if report is not None:
            files.write_text(to_html(summary), report)


def _restore(
    path: str, source: str, query: str | None, style: TextStyle, most: int, **typed: str | None
) -> tuple[SavedSelection, InputTable, list[Note]]:
    """Return the selection, a table with its columns and those about rows, and notes on rows."""
    saved = read_selection(path)
    style = replace(saved.style, **{key: value for key, value in vars(style).items() if value})
    read = read_input(
        source, saved.targets, style=style, most=most, query=query, named_by=SAVED_TARGET
    )
    absent = [name for name in saved.columns if name not in read.frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise DataError(
            f"{read.source!r} lacks the column {absent[0]!r}{more}, which {path!r} was made with: "
            "pass a table with the same columns."
        )
    known = saved.selector._record.row_columns  # typed are those that take their places
    for option, name in known.items():
        if typed[option] is None and name not in read.frame.columns:
            flag = f"--{option.replace('_', '-')}"
            raise DataError(
                f"the selection was made with {flag} {name!r}, and {read.source!r} lacks this "
                f"column: name the column that takes its place with {flag}."
            )
    about_rows = {key: typed[key] or known.get(key) for key in typed}
    read = with_row_columns(read, event=saved.event, **about_rows)
    return saved, read, [] if read.drawn is None else read.drawn.notes


def _shows(quiet: bool) -> bool:
    return not quiet and sys.stderr.isatty()
