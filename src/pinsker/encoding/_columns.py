"""Columns of any kind in, `Columns` out: one table, or several that share their rows."""

from collections.abc import Mapping
from typing import Any

from pinsker._types import IntArray, Missing, Scale
from pinsker.encoding._encoded import Columns, frozen
from pinsker.encoding._kinds import CategoricalFeatures
from pinsker.encoding._layout import build_columns
from pinsker.encoding._missing import drop_note, usable_rows
from pinsker.encoding._table import Table, read_table
from pinsker.exceptions import DataError


def encode_columns(
    x: Any,
    *,
    name: str = "x",
    scale: Scale = "copula",
    categorical_features: CategoricalFeatures = "from_dtype",
    missing: Missing = "error",
) -> Columns:
    r"""Turn one or several columns of any kind into validated, scaled, frozen `Columns`.

    Parameters
    ----------
    x : array-like of shape (n_rows,) or (n_rows, n_columns)
        NumPy array, list, pandas or polars frame or series. Strings, categories, booleans, dates
        and objects are understood as they are.
    name : str, default="x"
        What messages call the table, and the start of the names of columns that have none.
    scale : {"copula", "standard", "none"}, default="copula"
        Scaling of continuous columns: normal scores :math:`\Phi^{-1}(r/(n+1))` of the ranks, mean 0
        and standard deviation 1, or nothing. Counts are standardised unless scale is "none".
    categorical_features : default="from_dtype"
        Which columns are discrete. See Notes.
    missing : {"error", "drop", "category"}, default="error"
        What a missing value (NaN, None, NA, NaT, null) means: an error that names the column, a row
        to leave out, or a value of its own, equal to itself and infinitely far from all others.

    Returns
    -------
    Columns
        Read-only values, kinds, names, levels and notes.

    Raises
    ------
    DataError
        When the table is empty, ragged, infinite, complex, sparse, or has missing values.
    ParameterError
        When a parameter is not known or does not fit the table.

    Notes
    -----
    ``categorical_features="from_dtype"`` guesses a kind for each column:

    =======================  ===================================================================
    booleans                 boolean
    text, objects            nominal
    categories               nominal; count, by position, if pandas says they are ordered
    dates, durations         continuous, in seconds
    numbers with fractions   continuous
    whole numbers            count if there are two different ones, or at most 100 with three rows
                             for each on average; otherwise continuous
    =======================  ===================================================================

    A list of columns (names or positions), a mask, ``"all"`` or ``"none"`` says which columns of
    numbers are discrete, as `discrete_features` of scikit-learn's
    :func:`~sklearn.feature_selection.mutual_info_classif` does: whole numbers that are marked are
    counts, other numbers that are marked are nominal, numbers that are not marked are continuous.
    Text, categories and booleans keep their kind in any case. A dict ``{column: kind}`` declares
    some kinds outright and leaves the others to the guess. Integers always mean positions.

    Examples
    --------
    >>> columns = encode_columns([[1.5, "red"], [0.2, "blue"], [9.0, "red"]])
    >>> columns.kinds
    (<Kind.CONTINUOUS: 'continuous'>, <Kind.NOMINAL: 'nominal'>)
    >>> columns.values.round(2) + 0.0
    array([[ 0.  ,  1.  ],
           [-0.67,  0.  ],
           [ 0.67,  1.  ]])
    >>> columns.levels[1].tolist()
    ['blue', 'red']
    """
    table = read_table(x, label=name, prefix=name)
    rows = usable_rows([table], missing)
    notes = drop_note(len(rows), table.n_rows)
    return build_columns(
        table.keep(rows), scale=scale, categorical_features=categorical_features, notes=notes
    )


def encode_together(
    tables: Mapping[str, Any],
    *,
    scale: Scale = "copula",
    categorical_features: Mapping[str, CategoricalFeatures] | None = None,
    missing: Missing = "error",
) -> tuple[dict[str, Columns], IntArray]:
    """Encode several tables that share their rows, so that ``missing="drop"`` drops the same ones.

    Parameters
    ----------
    tables : mapping of str to array-like
        The tables by the name that messages use, for example ``{"x": x, "y": y, "z": z}``.
    scale, missing
        As in `encode_columns`.
    categorical_features : mapping of str to what `encode_columns` takes, optional
        By table; tables that are not in it are guessed.

    Returns
    -------
    columns : dict of str to Columns
    rows : ndarray of int64
        Which rows of the user's tables were used.

    Examples
    --------
    >>> columns, rows = encode_together(
    ...     {"x": [1.5, None, 2.5, 0.1], "y": ["a", "b", None, "a"]}, missing="drop"
    ... )
    >>> rows
    array([0, 3])
    """
    read = {key: read_table(data, label=key, prefix=key) for key, data in tables.items()}
    check_lengths(list(read.values()))
    rows = usable_rows(list(read.values()), missing)
    encoded = {}
    for key, table in read.items():
        encoded[key] = build_columns(
            table.keep(rows),
            scale=scale,
            categorical_features=(categorical_features or {}).get(key, "from_dtype"),
            notes=drop_note(len(rows), table.n_rows),
        )
    return encoded, frozen(rows)


def check_lengths(tables: list[Table]) -> None:
    """Refuse tables of different lengths, in scikit-learn's words."""
    lengths = [table.n_rows for table in tables]
    if len(set(lengths)) > 1:
        labels = " and ".join(table.label for table in tables)
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: {lengths} rows in "
            f"{labels}. Every row needs an entry in each."
        )
