"""``pinsker inspect``: what a table is taken for, before anything is searched."""

from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pinsker.cli import _options as options
from pinsker.cli._choices import parse_groups, parse_kinds, parse_memory
from pinsker.cli._estimates import Forecast, forecast
from pinsker.cli._summary import make_console, number, print_facts, print_notes
from pinsker.cli._tables import Sheet, read_sheet
from pinsker.cli._text import TextStyle
from pinsker.encoding import Encoded, constant_columns, duplicate_columns, encode
from pinsker.exceptions import DataError

_MOST_LISTED = 40


def inspect(
    table: options.Data,
    target: options.Target,
    drop: options.Drop = None,
    group: options.Group = None,
    kind: options.Kinds = None,
    task: options.Task = "auto",
    direction: options.Way = "auto",
    folds: options.Folds = None,
    memory: options.Memory = None,
    every: Annotated[bool, typer.Option("--all", help="List every column.")] = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    na: options.NotAvailable = None,
) -> int:
    """Say what a table is taken for and what a search would cost, without searching."""
    style = TextStyle(separator or "", decimal or "", tuple(na or ()))
    sheet = read_sheet(table, target, style=style, drop=tuple(drop or ()))
    names = list(sheet.features.columns)
    groups = parse_groups(group or (), names)
    answered = sheet.answer.notna().to_numpy()
    if not answered.any():
        raise DataError(f"the target {sheet.target!r} has no value in any row.")
    # Gaps are what an inspection is for: here they never stop it.
    encoded = encode(
        sheet.features[answered],
        sheet.answer[answered],
        missing="category",
        feature_groups=groups,
        categorical_features=parse_kinds(kind or (), names),
        task=task,
    )
    limit = None if memory is None else parse_memory(memory)
    expected = forecast(encoded, direction=direction, folds=folds, max_memory=limit)
    _print(make_console(), sheet, encoded, expected, most=None if every else _MOST_LISTED)
    return 0


def _print(
    console: Console, sheet: Sheet, encoded: Encoded, expected: Forecast, *, most: int | None
) -> None:
    n_rows, n_columns = sheet.features.shape
    gaps = sheet.features.isna().to_numpy()
    console.print(f"[bold]{escape(sheet.source)}[/bold]: {n_rows} rows, {n_columns} columns")
    console.print(f"  target {escape(repr(sheet.target))}: {escape(_target(sheet, encoded))}")
    complete = int((~gaps.any(axis=1) & sheet.answer.notna().to_numpy()).sum())
    if complete < n_rows:
        console.print(
            f"  {complete} rows are complete; the others need --missing drop or --missing category"
        )
    console.print()
    console.print(_columns(sheet, encoded, gaps, most))
    if most is not None and n_columns > most:
        console.print(f"   and {n_columns - most} more columns (--all lists them)")
    console.print()
    _print_forecast(console, expected)
    print_notes(console, [*sheet.notes, *encoded.notes])


def _target(sheet: Sheet, encoded: Encoded) -> str:
    target = encoded.target
    absent = int(sheet.answer.isna().sum())
    without = f"; missing in {absent} rows" if absent else ""
    if target.labels is not None and target.classes is not None:
        counts = np.bincount(target.labels)
        largest = np.argsort(-counts, kind="stable")[:4]
        shares = ", ".join(f"{target.classes[i]} {counts[i] / counts.sum():.0%}" for i in largest)
        more = ", ..." if len(counts) > len(largest) else ""
        return f"{len(counts)} classes ({shares}{more}){without}"
    assert target.raw is not None  # a numeric target keeps the user's values
    values = target.raw[:, 0]
    return f"a number from {number(values.min())} to {number(values.max())}{without}"


def _columns(sheet: Sheet, encoded: Encoded, gaps: Any, most: int | None) -> Table:
    columns = encoded.columns
    constant, repeats = constant_columns(columns), duplicate_columns(columns)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for name, justify in [("  column", "left"), ("kind", "left"), ("values", "right"),
                          ("missing", "right"), ("", "left")]:  # fmt: skip
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for j, name in enumerate(columns.names[:most]):
        remark = ""
        if constant[j]:
            remark = "constant"
        elif j in repeats:
            remark = f"repeats {columns.names[repeats[j]]}"
        absent = int(gaps[:, j].sum())
        distinct = sheet.features.iloc[:, j].nunique()
        table.add_row(
            f"  {escape(name)}", str(columns.kinds[j]), str(distinct),
            f"{absent} ({absent / len(gaps):.0%})" if absent else "", escape(remark),
        )  # fmt: skip
    return table


def _print_forecast(console: Console, expected: Forecast) -> None:
    print_facts(
        console,
        [
            ("smallest budget", expected.budget_text),
            ("expected time", expected.time_text),
            ("expected memory", expected.memory_text),
        ],
    )
