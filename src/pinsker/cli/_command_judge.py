"""``pinsker certify`` and ``pinsker audit``: a saved selection against rows it never saw."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import pandas as pd
import typer

import pinsker.selection
from pinsker.cli import _options as options
from pinsker.cli._command_select import write_text
from pinsker.cli._files import STDIN
from pinsker.cli._leaving import KEPT, NOT_KEPT, in_shell
from pinsker.cli._models import Model, make_model
from pinsker.cli._saved import Saved, read_selection
from pinsker.cli._selecting import listening
from pinsker.cli._tables import read_sheet
from pinsker.cli._text import TextStyle
from pinsker.exceptions import DataError, ParameterError

SavedFile = Annotated[
    str, typer.Argument(metavar="SELECTION", help="What pinsker select --json wrote.")
]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Of each limit by itself.")]


def certify(
    selection: SavedFile,
    table: options.Data,
    confidence: Confidence = 0.95,
    jobs: options.Jobs = None,
    json: options.JsonFile = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    na: options.NotAvailable = None,
    quiet: options.Quiet = False,
) -> int:
    """Test a saved selection on rows that its search never saw."""
    style = TextStyle(separator or "", decimal or "", tuple(na or ()))
    saved, X, y = _restore(selection, table, style)
    if not hasattr(saved.selector, "certify"):
        raise ParameterError(
            f"a selection by {type(saved.selector).__name__} cannot be certified: select with "
            "--direction auto, backward, forward or grow-shrink."
        )
    if jobs is not None:
        saved.selector.set_params(n_jobs=jobs)
    with listening() as heard:
        certificate = saved.selector.certify(X, y, confidence=confidence)
    _tell(certificate, json, heard, quiet=quiet)
    return KEPT if certificate.verdict == "kept" else NOT_KEPT


def audit(
    selection: SavedFile,
    table: options.Data,
    model: Annotated[Model, typer.Option(help="Whose error is measured.")] = "forest",
    confidence: Confidence = 0.95,
    seed: options.Seed = None,
    json: options.JsonFile = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    na: options.NotAvailable = None,
    quiet: options.Quiet = False,
) -> int:
    """Measure what one model loses by a saved selection, on rows that its search never saw."""
    style = TextStyle(separator or "", decimal or "", tuple(na or ()))
    saved, X, y = _restore(selection, table, style)
    if y.isna().any():
        raise DataError(
            f"the target {saved.target!r} is missing in {int(y.isna().sum())} of {len(y)} rows: "
            "leave them out of the table."
        )
    learner = make_model(model, saved.task, seed or 0)
    with listening() as heard:
        found = pinsker.selection.audit(saved.selector, learner, X, y, confidence=confidence)
    result = replace(found, model=model)  # the user's word for it, not that of a pipeline
    _tell(result, json, heard, quiet=quiet)
    return KEPT if result.verdict == "kept" else NOT_KEPT


def _restore(
    path: str, table: str, style: TextStyle
) -> tuple[Saved, pd.DataFrame, "pd.Series[Any]"]:
    """Return the selection, the columns that it was fitted to, and the target."""
    saved = read_selection(path)
    sheet = read_sheet(table, saved.target, style=style)
    absent = [name for name in saved.columns if name not in sheet.frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise DataError(
            f"{sheet.source!r} lacks the column {absent[0]!r}{more}, which {path!r} was made with: "
            "pass a table with the same columns."
        )
    return saved, sheet.frame[saved.columns], sheet.answer


def _tell(result: Any, json: str | None, notes: Sequence[str], *, quiet: bool) -> None:
    if json is not None:
        write_text(result.to_json() + "\n", json)
    if not quiet:
        stream = sys.stderr if json == STDIN else sys.stdout
        print(result, *(f"  note: {in_shell(note)}" for note in notes), sep="\n", file=stream)
