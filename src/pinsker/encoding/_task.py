"""Whether a target is classes or numbers, when the user does not say."""

import numpy as np

from pinsker._types import FloatArray, Task
from pinsker.encoding._cells import Origin
from pinsker.encoding._kinds import ROWS_PER_COUNT_LEVEL, whole_numbers
from pinsker.encoding._table import Table

#: Up to here whole numbers are classes, if they repeat.
MOST_CLASSES = 20
#: Up to here too, if they run from 0 or 1 without a gap, as class codes do.
MOST_CODED_CLASSES = 100
#: Class codes that run from 0 or 1 up to here are beyond doubt.
_SURE_CLASSES = 10


def guess_task(table: Table) -> tuple[Task, list[str]]:
    """Return the task and, when it could be otherwise, a note that says so."""
    if any(origin not in (Origin.NUMBER, Origin.TIME) for origin in table.origins):
        return "classification", []
    whole = whole_numbers(table.values)
    guesses = [
        _guess_column(table.values[:, j])
        if whole[j] and table.origins[j] is Origin.NUMBER
        else ("regression", False)
        for j in range(table.n_columns)
    ]
    tasks = [task for task, _ in guesses]
    task: Task = "regression" if "regression" in tasks else "classification"
    notes = []
    for name, values, (_, doubtful) in zip(table.names, table.values.T, guesses, strict=True):
        if doubtful and len(guesses) == 1:
            notes.append(_explain(name, values, task))
    if len(set(tasks)) > 1:
        notes.append(
            "some target columns look like classes, others like numbers: all are read as numbers; "
            "say otherwise with task="
        )
    return task, notes


def _guess_column(values: FloatArray) -> tuple[Task, bool]:
    """Return the guess for a column of whole numbers, and whether it is doubtful."""
    distinct = np.unique(values)
    m = len(distinct)
    coded = distinct[0] in (0.0, 1.0) and distinct[-1] - distinct[0] == m - 1
    repeats = len(values) >= ROWS_PER_COUNT_LEVEL * m
    most = MOST_CODED_CLASSES if coded else MOST_CLASSES
    if m <= 2 or (repeats and m <= most):
        return "classification", m > 2 and not (coded and m <= _SURE_CLASSES)
    return "regression", m <= MOST_CODED_CLASSES and m < len(values)


def _explain(name: str, values: FloatArray, task: Task) -> str:
    meant, other = ("classes", "regression")
    if task == "regression":
        meant, other = ("numbers", "classification")
    return (
        f"target {name!r} holds {len(np.unique(values))} different whole numbers "
        f"({values.min():g} to {values.max():g}), read as {meant}; "
        f"pass task={other!r} if that is wrong"
    )
