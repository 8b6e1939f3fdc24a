"""From a table as it was read to `Columns`: kinds chosen, numbers scaled, levels coded."""

from dataclasses import replace

import numpy as np

from pinsker._types import AnyArray, BoolArray, FloatArray, Scale
from pinsker.encoding._cells import object_array
from pinsker.encoding._encoded import FARTHEST, Columns, Kind, frozen
from pinsker.encoding._kinds import CategoricalFeatures, choose_kinds
from pinsker.encoding._repeats import column_notes
from pinsker.encoding._scaling import scale_columns
from pinsker.encoding._table import Table
from pinsker.exceptions import DataError, ParameterError


def check_scale(scale: Scale) -> None:
    """Refuse a scaling that is not known."""
    if scale not in ("copula", "standard", "none"):
        raise ParameterError(f"scale={scale!r} is not known: use 'copula', 'standard' or 'none'.")


def build_columns(
    table: Table, *, scale: Scale, categorical_features: CategoricalFeatures, notes: list[str]
) -> Columns:
    """Choose kinds, scale numbers, code levels, and note what a user should know."""
    check_scale(scale)
    kinds, doubts = choose_kinds(table, categorical_features)
    numeric = np.array([kind.is_numeric for kind in kinds])
    ranked = np.array([kind is Kind.CONTINUOUS for kind in kinds])
    values = scale_columns(table.values, numeric, ranked, scale)
    if scale == "none":
        refuse_far(values, numeric, table)
    levels: list[AnyArray | None] = [None] * table.n_columns
    for j in np.flatnonzero(~numeric):
        values[:, j], levels[j] = _code_levels(table, int(j), kinds[j])
    gaps = np.isnan(values)
    values[gaps] = 0.0
    values.flags.writeable = False
    columns = Columns(
        values,
        tuple(_final_kind(*pair) for pair in zip(kinds, levels, strict=True)),
        table.names,
        tuple(levels),
        scale,
        missing=frozen(gaps) if gaps.any() else None,
    )
    return replace(columns, notes=(*notes, *table.notes, *doubts, *column_notes(columns)))


def _final_kind(kind: Kind, levels: AnyArray | None) -> Kind:
    """A boolean column whose missing values are a third value is boolean no longer."""
    return Kind.NOMINAL if levels is not None and len(levels) > 2 else kind


def _code_levels(table: Table, j: int, kind: Kind) -> tuple[FloatArray, AnyArray]:
    """Return codes 0, 1, ... of the levels in use, missing last, and the levels themselves."""
    column, known = table.values[:, j], table.levels[j]
    gaps: BoolArray = np.isnan(column)
    if kind is Kind.BOOLEAN and known is not None and len(known) == 2:
        codes, levels = column.copy(), known  # False stays 0 and True 1, whichever occur
    else:
        used, inverse = np.unique(column[~gaps], return_inverse=True)
        codes = np.zeros(len(column))
        codes[~gaps] = inverse
        levels = used if known is None else known[used.astype(np.int64)]
    if gaps.any():
        codes[gaps] = len(levels)
        levels = object_array([*levels.tolist(), None])
    levels.flags.writeable = False
    return codes, levels


def refuse_far(values: FloatArray, numeric: BoolArray, table: Table) -> None:
    """Refuse distances that the kernels would take for infinite."""
    reach = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    for j in np.flatnonzero(numeric & (reach >= FARTHEST / 2)):
        raise DataError(
            f"column {table.names[j]!r} of {table.label} reaches {reach[j]:.3g}, too far for "
            f"distances below {FARTHEST:g}: use scale='copula' or 'standard', or another unit."
        )
