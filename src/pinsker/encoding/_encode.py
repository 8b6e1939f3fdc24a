"""The gate: a table and a target in, `Encoded` out."""

from typing import Any, Literal

from pinsker._types import Missing, Scale, Task
from pinsker.encoding._columns import check_lengths
from pinsker.encoding._encoded import Encoded, frozen
from pinsker.encoding._groups import FeatureGroups, make_features
from pinsker.encoding._kinds import CategoricalFeatures
from pinsker.encoding._layout import build_columns
from pinsker.encoding._missing import drop_note, usable_rows
from pinsker.encoding._table import read_table
from pinsker.encoding._target import build_target
from pinsker.exceptions import DataError


def encode(
    X: Any,
    y: Any,
    *,
    scale: Scale = "copula",
    categorical_features: CategoricalFeatures = "from_dtype",
    missing: Missing = "error",
    feature_groups: FeatureGroups | None = None,
    task: Literal["auto"] | Task = "auto",
) -> Encoded:
    """Turn a table and its target into what the engine works on.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        NumPy array, nested lists, pandas or polars frame.
    y : array-like of shape (n_rows,) or (n_rows, n_targets)
        Classes or numbers.
    scale, categorical_features, missing
        As in `encode_columns`. Under ``missing="drop"`` a row goes when any column or the target
        misses a value; under ``"category"`` a missing target is still an error.
    feature_groups : dict or sequence, optional
        Columns that are kept or dropped as one: ``{name: columns}``, columns by name or position;
        or one label per column, None for a column of its own.
    task : {"auto", "classification", "regression"}, default="auto"
        As in `encode_target`.

    Returns
    -------
    Encoded
        Frozen; ``notes`` says what a user should know.

    Examples
    --------
    >>> encoded = encode(
    ...     [[0.1, 5.5], [0.7, 4.5], [0.2, 3.1], [0.9, 1.2]], ["a", "b", "a", "b"],
    ...     feature_groups={"both": [0, 1]},
    ... )
    >>> encoded.features, encoded.feature_names, encoded.target.classes.tolist()
    (((0, 1),), ('both',), ['a', 'b'])
    """
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    table = read_table(X, label="X", prefix="x", two_dimensional=True)
    answer = read_table(y, label="y", prefix="y")
    check_lengths([table, answer])
    if table.n_rows < 2:
        raise DataError(
            f"Found array with 1 sample(s) (shape={table.values.shape}) while a minimum of 2 is "
            "required."
        )
    rows = usable_rows([table], missing, target=answer)
    features, feature_names = make_features(table.names, feature_groups)
    notes = drop_note(len(rows), table.n_rows)
    columns = build_columns(
        table.keep(rows), scale=scale, categorical_features=categorical_features, notes=notes
    )
    target = build_target(answer.keep(rows), task=task, scale=scale, notes=[])
    return Encoded(columns, target, features, feature_names, frozen(rows))
