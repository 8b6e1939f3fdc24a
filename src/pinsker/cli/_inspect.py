"""``pinsker inspect``: how a table is read, and what a search would cost: estimates, named so."""

import math
import time
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table
from scipy.special import stdtrit
from sklearn.base import clone

from pinsker._types import Selector, TableLike, TargetLike
from pinsker.bounds import paired_difference
from pinsker.cli import _options as options
from pinsker.cli._fitting import SelectOptions, collect_warnings, make_selector
from pinsker.cli._formats import TextStyle, choose_source
from pinsker.cli._options import parse_groups, parse_kinds
from pinsker.cli._output import make_console, print_facts, print_notes
from pinsker.cli._tables import InputTable, read_input, with_row_columns
from pinsker.encoding import (
    Encoded,
    constant_columns,
    duplicate_columns,
    encode,
    plural,
    take,
    take_rows,
)
from pinsker.engine import Problem, plan_sample
from pinsker.exceptions import DataError
from pinsker.explain import Suspect, find_suspects, identifiers
from pinsker.holdout import MOST_READ, SEARCH_ONCE_FROM, SPLIT_FROM, PartSizes
from pinsker.metrics import task_of
from pinsker.report import short
from pinsker.search import MOST_SEARCHED
from pinsker.selectors import FeatureSelector, LinearSelection

_MOST_LISTED = 40
_CONFIDENCE = 0.95  # confidence of all bounds together
#: The case of the smallest budget: this share of the predictions changes when columns go ...
CHANGED = 0.05
#: ... or, for numbers, the errors with and without them correlate so, and leave so much variance.
CORRELATION = 0.95
LEFT = 0.5

#: Two fits to samples of rows are timed: half of the rows, at most this many, and half of those.
_MOST_TIMED, _FEWEST_TIMED = 800, 60
#: How time grows with the rows, at least and at most: what noise in the two times cannot change.
_POWERS = 0.5, 2.2
_FACTOR = 2  # measured times lie within this factor of the estimate (benchmarks/inspect_costs.py)


def inspect(
    target: options.Target, table: options.Data = None, database: options.Database = None,
    query: options.Query = None, event: options.Event = None, drop: options.Drop = None,
    feature_groups: options.FeatureGroups = None, kind: options.Kinds = None,
    metric: options.Metric = "auto", direction: options.Way = "auto", cv: options.Folds = None,
    memory: options.Memory = None,
    every: Annotated[bool, typer.Option("--all", help="List every column.")] = False,
    separator: options.Separator = None, decimal: options.Decimal = None,
    na: options.NotAvailable = None,
) -> int:  # fmt: skip
    """Show how a table is read and what a search would cost, without searching."""
    style = TextStyle(separator, decimal, na)
    most = MOST_READ if direction == "auto" and cv != 0 else None
    source = choose_source(table, database, query)
    read = read_input(source, target, style=style, drop=drop, most=most, query=query)
    read = with_row_columns(read, event=event)
    names, present = list(read.features.columns), ~read.lacks_target
    if not present.any():
        raise DataError(f"the target {read.target!r} has no value in any row.")
    # Gaps are what an inspection is for: here they never stop it.
    y = take(read.y, np.flatnonzero(present))
    groups, kinds = parse_groups(feature_groups, names), parse_kinds(kind, names)
    with collect_warnings() as collected:
        encoded = encode(
            read.features[present], y, missing="category", feature_groups=groups,
            categorical_features=kinds, task=task_of(metric),
        )  # fmt: skip
    choices = SelectOptions(
        direction=direction, cv=cv, metric=metric, kind=kind, feature_groups=feature_groups,
        memory=memory,
    )  # fmt: skip
    selector = make_selector(choices, names, show_progress=False)
    console, suspects = make_console(), find_suspects(read.features[present], encoded)
    most_listed, (n_rows, n_columns) = None if every else _MOST_LISTED, read.features.shape
    gaps = read.features.isna().to_numpy()
    console.print(f"[bold]{escape(read.source)}[/bold]: {read.n_rows} rows, {n_columns} columns")
    console.print(f"  target {escape(repr(read.target))}: {escape(_target(read, encoded))}")
    complete = int((~gaps.any(axis=1) & ~read.lacks_target).sum())
    if complete < n_rows:
        console.print(
            f"  {complete} rows are complete; missing values of the others count as a value of "
            "their own, and rows without a target are left out (--missing)"
        )
    console.print()
    console.print(_columns(read, encoded, gaps, suspects, most_listed))
    if most_listed is not None and n_columns > most_listed:
        more = plural(n_columns - most_listed, "more column")
        console.print(f"   and {more} (--all lists them)")
    console.print()
    print_facts(console, _forecast(encoded, selector, read.features[present], y))
    listed = identifiers(encoded.notes)
    named = [one.note() for one in suspects if one.column not in listed]
    print_notes(console, [*collected, *named, *read.notes, *encoded.notes])
    return 0


def _target(read: InputTable, encoded: Encoded) -> str:
    target = encoded.target
    absent = int(read.lacks_target.sum())
    without = f"; missing in {absent} rows" if absent else ""
    if target.task == "survival" and target.raw is not None:
        seen, until = int(target.raw[:, 1].sum()), short(target.raw[:, 0].max())
        return f"a time up to {until}, {seen} events in {target.n_rows} rows{without}"
    if len(target.names) > 1:
        kind = "numbers" if target.labels is None else "classes"
        return f"{len(target.names)} targets of {kind}{without}"
    if target.labels is not None and target.classes is not None:
        counts = np.bincount(target.labels)
        largest = np.argsort(-counts, kind="stable")[:4]
        listed = ", ".join(f"{target.classes[i]} {counts[i] / counts.sum():.0%}" for i in largest)
        more = ", ..." if len(counts) > len(largest) else ""
        return f"{len(counts)} classes ({listed}{more}){without}"
    values = target.numbers[:, 0]
    return f"a number from {short(values.min())} to {short(values.max())}{without}"


def _columns(
    read: InputTable, encoded: Encoded, gaps: Any, suspects: tuple[Suspect, ...], most: int | None
) -> Table:
    columns, kinds = encoded.columns, {one.column: one.kind for one in suspects}
    constant, repeats = constant_columns(columns), duplicate_columns(columns)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for name in ("  column", "kind", "values", "missing", ""):
        table.add_column(name, justify="right" if name in ("values", "missing") else "left")
    for j, name in enumerate(columns.names[:most]):
        remark = ""
        if constant[j]:
            remark = "constant"
        elif j in repeats:
            remark = f"repeats {columns.names[repeats[j]]}"
        elif name in kinds:
            remark = f"suspect: {kinds[name]}"
        absent = int(gaps[:, j].sum())
        distinct = read.features.iloc[:, j].nunique()
        table.add_row(
            f"  {escape(name)}", str(columns.kinds[j]), str(distinct),
            f"{absent} ({absent / len(gaps):.0%})" if absent else "", escape(remark),
        )  # fmt: skip
    return table


def _forecast(
    encoded: Encoded, selector: Selector, X: TableLike, y: TargetLike
) -> list[tuple[str, str]]:
    """Return what to expect of a fit: the smallest budget these rows can resolve, and its price."""
    classes, several = encoded.target.labels is not None, isinstance(selector, FeatureSelector)
    budget = smallest_budget(encoded.n_rows, classes=classes, n_searches=5 if several else 1)
    case = f"of the variance, if half of it is left and errors correlate at {CORRELATION}"
    if classes:
        case = f"error rate, if {CHANGED:.0%} of the predictions change"
    is_held_out = selector.get_params().get("cv")
    condition = "" if is_held_out else "; rows must be held out for that: --cv 5"
    seconds, memory = expected_seconds(selector, X, y), expected_bytes(selector, encoded) / 2**20
    price = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    price = f"about {price} on one thread, perhaps {_FACTOR} times more or less"
    return [
        ("smallest budget", f"about {budget:.2g} ({case}{condition})"),
        ("expected time", "about a second on one thread" if seconds < 1 else price),
        ("expected memory", f"about {max(memory, 1):.0f} MiB"),
    ]


def expected_bytes(selector: Selector, encoded: Encoded) -> int:
    """Return the memory that a fit in one thread is planned to take."""
    if isinstance(selector, LinearSelection):
        return 4 * encoded.columns.values.nbytes
    memory = selector.plan_memory(encoded)
    n_searched = encoded.n_rows
    if n_searched >= SPLIT_FROM and isinstance(selector, FeatureSelector):
        parts = PartSizes.of(n_searched, encoded.columns.n_columns)
        n_searched = min(parts.search, MOST_SEARCHED)
    searched = take_rows(encoded, np.arange(n_searched))
    limit = memory.for_one_search(1)
    plan = plan_sample(Problem.of(searched), max_memory=limit, max_samples=None, seed=0)
    return int(memory.held + max(memory.copy + plan.n_bytes, memory.search, memory.model))


def smallest_budget(n_rows: int, *, classes: bool, n_searches: int = 1) -> float:
    """Return the one-sided upper bound of a paired held-out difference that is truly zero."""
    if n_rows < 2:
        return math.inf
    confidence = 1.0 - (1.0 - _CONFIDENCE) / n_searches
    if classes:
        half = round(CHANGED * n_rows / 2)
        differences = np.zeros(n_rows)
        differences[:half], differences[half : 2 * half] = 1.0, -1.0
        return paired_difference(differences, confidence, counts=True).upper
    spread = 2 * LEFT * math.sqrt(1 - CORRELATION**2)
    return float(stdtrit(n_rows - 1, confidence)) * spread / math.sqrt(n_rows)


def expected_seconds(selector: Selector, X: TableLike, y: TargetLike) -> float:
    """Return the processor time of a fit, from the times of fits to samples of the rows."""
    n = len(X)
    if n > SPLIT_FROM and isinstance(selector, FeatureSelector) and selector.cv:
        timed, whole = (PartSizes.of(rows, X.shape[1]).train for rows in (SPLIT_FROM, n))
        return _seconds(selector, X, y, SPLIT_FROM) * whole / timed
    if n > SEARCH_ONCE_FROM and isinstance(selector, FeatureSelector) and selector.cv:
        return _seconds(selector, X, y, SEARCH_ONCE_FROM) * n / SEARCH_ONCE_FROM
    larger = min(n // 2, _MOST_TIMED)
    if larger < _FEWEST_TIMED:
        return _seconds(selector, X, y, n)
    small, large = (_seconds(selector, X, y, rows) for rows in (larger // 2, larger))
    if isinstance(selector, FeatureSelector):  # two of its times tell no power: sets differ
        return float(np.sqrt(small * large * n / (larger // 2) * n / larger))
    power = float(np.clip(np.log2(large / small), *_POWERS))
    return float(large * (n / larger) ** power)


def _seconds(selector: Selector, X: TableLike, y: TargetLike, n_rows: int) -> float:
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:n_rows])
    copy = clone(selector)
    started = time.process_time()
    try:
        with collect_warnings():
            copy.fit(X.iloc[rows], take(y, rows))
    except DataError:  # such as one class alone: the whole table may be better
        pass
    return time.process_time() - started
