"""``pinsker plan``: how many rows show a budget."""

from typing import Annotated

import numpy as np
import typer

from pinsker._notes import Note
from pinsker._types import Fields
from pinsker.cli import _options as options
from pinsker.cli._fitting import SelectOptions, collect_warnings, make_selector
from pinsker.cli._formats import TextStyle, choose_source
from pinsker.cli._output import check_outputs, make_console, print_notes, write_json
from pinsker.cli._tables import STDIN, read_input
from pinsker.encoding import take
from pinsker.exceptions import DataError, ParameterError
from pinsker.holdout import MOST_READ
from pinsker.selectors import FeatureSelector, plan_rows

_MULTIPLES = 1, 2, 5  # of one budget these multiples are planned too


def plan(
    table: options.Data = None, database: options.Database = None, query: options.Query = None,
    target: options.PlannedTarget = None, error_budget: options.Budgets = None,
    error: Annotated[
        float | None,
        typer.Option(help="Without a table: the error rate (or 1 - R²) of all columns."),
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Without a table: rows at hand.")] = 0,
    metric: options.Metric = "auto", models: options.Models = None,
    searches: options.Searches = None, drop: options.Drop = None, kind: options.Kinds = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999)] = 0.95,
    power: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Probability that the rows show it.")
    ] = 0.8,
    fast: options.Fast = False, jobs: options.Jobs = None, json: options.JsonFile = None,
    separator: options.Separator = None, decimal: options.Decimal = None,
    na: options.NotAvailable = None,
) -> int:  # fmt: skip
    """Tell how many fresh rows show an error budget, from a table or from an assumed error."""
    check_outputs({"json": json}, [table, database], query)
    given = [options.parse_budget(text) or 0.0 for text in error_budget or ["0.01"]]
    budgets = [part * given[0] for part in _MULTIPLES] if len(given) == 1 else given
    known: Fields = {"error_budget": budgets, "confidence": confidence, "power": power}
    notes: list[Note] = []
    if error is not None:
        if table or database or query or target:
            raise ParameterError("--error plans without a table: leave out TABLE and --target.")
        known |= {"error": error, "n_rows": rows, "metric": "error" if metric == "auto" else metric}
        found = plan_rows(**known)
    else:
        if not target:
            raise ParameterError("name the target (--target), or assume an --error.")
        style, source = TextStyle(separator, decimal, na), choose_source(table, database, query)
        read = read_input(source, target, style=style, drop=drop, most=MOST_READ, query=query)
        present = np.flatnonzero(~read.lacks_target)
        if not len(present):
            raise DataError(f"the target {read.target!r} has no value in any row.")
        typed = SelectOptions(
            metric=metric, models=models, searches=searches, kind=kind, fast=fast, jobs=jobs
        )
        selector = make_selector(typed, list(read.features.columns), show_progress=False)
        assert isinstance(selector, FeatureSelector)  # the direction is auto
        X, y = read.features.iloc[present], take(read.y, present)
        with collect_warnings() as collected:
            found = plan_rows(X, y, selector=selector, **known)
        notes = [*read.notes, *collected]
    write_json(found.to_dict(), json)
    console = make_console(stderr=json == STDIN)
    console.print(str(found), soft_wrap=True, highlight=False, markup=False)
    print_notes(console, notes)
    return 0
