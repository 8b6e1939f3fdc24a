"""The commands for rows that arrive after a selection: monitor and label."""

import json as json_format
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Argument, Option

from pinsker._compat import classes_of
from pinsker._types import AnyArray, Estimator, Fields, TableLike, TargetLike, plain
from pinsker.cli import _options as options
from pinsker.cli import _output as out
from pinsker.cli._app import Confidence, Model, SavedFile, app, make_model
from pinsker.cli._fitting import collect_warnings
from pinsker.cli._formats import TextStyle
from pinsker.cli._saved import SavedSelection, read_selection
from pinsker.cli._tables import SAVED_TARGET, STDIN, InputTable, read_input
from pinsker.exceptions import DataError, ParameterError, PinskerError
from pinsker.holdout import LabelPlan, fit_both, notes_of_training, rows_to_label
from pinsker.selectors import Monitor

__all__ = ["app"]

#: Column of the file of rows to label that says which row of the table each is, from 1 on;
#: lines behind it keep it apart from columns of the table.
_ROW = "row"

# fmt: off
NewRows = Annotated[str, Argument(metavar="TABLE", help="New rows; - is standard input.")]
Train = Annotated[str, Option(metavar="FILE", help="The rows that both models are fitted to.")]
OfModel = Annotated[Model, Option(help="Model that is fitted to all columns and to those kept.")]
State = Annotated[str | None, Option(metavar="FILE", help=
    "What is known so far: read if it is there, then written.")]
Plot = Annotated[str | None, Option(metavar="FILE", help="Draw the sequence to this image.")]
ToLabel = Annotated[str | None, Option("--output", "-o", metavar="FILE", help=
    "Write the rows to label to this CSV file, with an empty target.")]
Labelled = Annotated[str | None, Option(metavar="FILE", help=
    "The file that --output wrote, with labels: print what they say.")]
Draws = Annotated[int | None, Option("--n", min=2, help=
    "Draw this many rows, by how far predictions differ; for metrics other than error.")]
# fmt: on


@app.command()
def monitor(
    selection: SavedFile, table: NewRows, train: Train, model: OfModel = "forest",
    state: State = None, plot: Plot = None, confidence: Confidence = 0.95,
    seed: options.Seed = None, json: options.JsonFile = None, quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Tell whether a saved selection is still within its budget, as new rows arrive."""
    written = {"state": state, "plot": plot, "json": json}
    out.check_outputs(written, [selection, table, train])
    saved = read_selection(selection)
    new, both = _read(saved, table), _fitted(saved, train, model, seed or 0)
    watched = Monitor(saved.selector, *both, confidence=confidence)
    if state is not None and Path(state).exists():
        try:
            watched.resume(Path(state).read_text(encoding="utf-8"))
        except (DataError, UnicodeDecodeError) as error:
            raise DataError(f"--state {state!r} cannot be read: {error}") from error
    with collect_warnings() as collected:
        watched.update(*_rows(saved, new))
    known: Fields = {"verdict": watched.verdict, "known_at": watched.known_at}
    looks = plain({**known, "looks": [*map(vars, watched.looks)]})
    with out.until_closed():
        with out.OutputFiles() as files:
            if plot is not None:
                files.write_with(partial(_draw, watched), plot)
            files.write_text(watched.to_json() + "\n", state)
            files.write_text(json_format.dumps(looks) + "\n", json)
        if not quiet:
            console = out.make_console(stderr=json == STDIN)
            console.print(str(watched), soft_wrap=True)
            out.print_notes(console, collected)
    return out.NOT_MET if watched.verdict == "broken" else out.MET


@app.command()
def label(
    selection: SavedFile, table: NewRows, train: Train, model: OfModel = "forest",
    output: ToLabel = None, labels: Labelled = None, n: Draws = None, confidence: Confidence = 0.95,
    seed: options.Seed = None, json: options.JsonFile = None, quiet: options.Quiet = False,
) -> int:  # fmt: skip
    """Name the new rows whose labels tell what a saved selection costs, and read them back."""
    out.check_outputs({"output": output, "json": json}, [selection, table, train, labels])
    if (output is None) == (labels is None):
        raise ParameterError("give --output to write the rows to label, or --labels to read them.")
    if output not in (None, STDIN) and Path(str(output)).is_file():
        raise ParameterError(
            f"--output {output!r} is there already, and may hold labels: name another file, or "
            "remove it."
        )
    saved = read_selection(selection)
    new, both = _read(saved, table, may_lack_target=True), _fitted(saved, train, model, seed or 0)
    X = new.frame[saved.columns]
    plan = rows_to_label(saved.selector, both[0], both[1], X, n=n, random_state=seed or 0)
    console = out.make_console(stderr=STDIN in (output, json))
    if labels is None:
        rows = new.as_written.iloc[plan.rows].assign(**{saved.targets[0]: ""})
        rows.insert(0, _row_column(new), plan.rows + 1)
        with out.OutputFiles() as files:
            files.write_table(rows, output)
        if not quiet:
            need = f"{len(plan.rows)} of {plan.n_rows} rows need a label"
            console.print(f"{need}; {plan.n_saved} labels saved")
        return out.MET
    result = plan.audit(X, _read_labels(labels, new, plan), confidence=confidence)
    with out.until_closed():
        out.write_json(result.to_dict(), json)
        if not quiet:
            out.print_audit(console, result, [])
    return out.code_of(result)


def _draw(watched: Monitor, place: str) -> None:
    try:
        watched.plot().figure.savefig(place)
    except ValueError as error:  # a format that matplotlib does not write
        raise ParameterError(f"--plot cannot be written: {error}") from error


def _read(saved: SavedSelection, source: str, *, may_lack_target: bool = False) -> InputTable:
    """Return a table with the columns of a selection, which predicts one target."""
    if len(saved.targets) > 1 or saved.task == "survival":
        raise ParameterError("monitor and label take one target, of classes or numbers.")
    read = read_input(
        source, saved.targets, style=saved.style, may_lack_target=may_lack_target,
        named_by=SAVED_TARGET,
    )  # fmt: skip
    if absent := [name for name in saved.columns if name not in read.frame.columns]:
        raise DataError(f"{read.source!r} lacks the column {absent[0]!r} of the selection.")
    return read


def _rows(saved: SavedSelection, read: InputTable) -> tuple[TableLike, TargetLike]:
    known = np.flatnonzero(~read.lacks_target)
    if not len(known):
        raise DataError(f"the target {read.target!r} has no value in any row of {read.source!r}.")
    return read.frame[saved.columns].iloc[known], read.y.iloc[known]


def _fitted(
    saved: SavedSelection, train: str, model: Model, seed: int
) -> tuple[Estimator, Estimator]:
    X, y = _rows(saved, _read(saved, train))
    for note in notes_of_training(saved.selector, X, np.asarray(y)):
        raise DataError(f"--train {train!r}: {note}.")
    return fit_both(saved.selector, make_model(model, saved.task, seed), X, np.asarray(y))


def _row_column(table: InputTable) -> str:
    name = _ROW
    while name in table.frame.columns:
        name += "_"
    return name


def _read_labels(path: str, table: InputTable, plan: LabelPlan) -> AnyArray:
    """Return the labels of a plan's rows from the file that was filled in."""
    target, row = table.target, _row_column(table)
    # Some classes of text alone may look like numbers.
    classes = classes_of(plan.pair.model_all, np.zeros(0))
    texts = () if classes.dtype.kind in "biuf" else (target,)
    try:
        read = read_input(path, target, style=TextStyle(texts=texts))
    except PinskerError as error:
        raise DataError(f"{path!r} cannot be read as what --output wrote: {error}") from error
    if row not in read.frame.columns:
        raise DataError(f"{path!r} lacks the column {row!r}: pass what --output wrote.")
    known = (read.as_written[target] if texts else read.y).set_axis(read.frame[row])
    if not np.array_equal(np.sort(known.index.to_numpy()), plan.rows + 1):
        raise DataError(
            f"{path!r} holds other rows than those to label: use the same selection, table, "
            "--train, --model, --n and --seed as for --output."
        )
    return np.asarray(known.loc[(plan.rows + 1).tolist()])
