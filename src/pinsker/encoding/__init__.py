"""Stage: encoding. The one gate for user data; all code behind it trusts what leaves it.

`encode` turns a table and a target into an `Encoded`. `encode_columns`, `encode_together` and
`encode_target` are its parts, for functions that take columns; `bin_columns` makes the integer
tables that criteria count in.
"""

from pinsker.encoding._binning import Binned, Strategy, bin_columns, bin_values
from pinsker.encoding._columns import encode_columns, encode_together
from pinsker.encoding._encode import encode
from pinsker.encoding._encoded import FARTHEST, NOMINAL_STEP, Columns, Encoded, Kind, Target, frozen
from pinsker.encoding._frames import is_frame
from pinsker.encoding._kinds import find_columns
from pinsker.encoding._large_table import LargeTable, read_large
from pinsker.encoding._layout import check_scale
from pinsker.encoding._neighbours import check_neighbors
from pinsker.encoding._partitions import is_dask_frame
from pinsker.encoding._repeats import constant_columns, duplicate_columns
from pinsker.encoding._scaling import normal_scores
from pinsker.encoding._table import read_table
from pinsker.encoding._target import encode_target
from pinsker.encoding._temporary import find_features, take_features, take_rows
from pinsker.encoding._task import guess_task
from pinsker.encoding._weighted_binning import bin_weighted, weighted_cuts

__all__ = [
    "FARTHEST",
    "NOMINAL_STEP",
    "Binned",
    "Columns",
    "Encoded",
    "Kind",
    "LargeTable",
    "Strategy",
    "Target",
    "bin_columns",
    "bin_values",
    "bin_weighted",
    "check_neighbors",
    "check_scale",
    "constant_columns",
    "duplicate_columns",
    "encode",
    "encode_columns",
    "encode_target",
    "encode_together",
    "find_columns",
    "find_features",
    "take_features",
    "take_rows",
    "frozen",
    "guess_task",
    "is_dask_frame",
    "is_frame",
    "normal_scores",
    "read_large",
    "read_table",
    "weighted_cuts",
]
