"""Stage: encoding. The one gate for user data; all code behind it trusts what leaves it.

`encode` turns a table and a target into an `Encoded`. `encode_columns`, `encode_together` and
`encode_target` are its parts, for functions that take columns; `bin_columns` makes the integer
tables that criteria count in.
"""

from pinsker.encoding._binning import Binned, bin_columns, bin_values
from pinsker.encoding._columns import encode_columns, encode_together
from pinsker.encoding._encode import encode
from pinsker.encoding._encoded import FARTHEST, NOMINAL_STEP, Columns, Encoded, Kind, Target
from pinsker.encoding._kinds import find_columns
from pinsker.encoding._neighbours import check_neighbors
from pinsker.encoding._target import encode_target

__all__ = [
    "FARTHEST",
    "NOMINAL_STEP",
    "Binned",
    "Columns",
    "Encoded",
    "Kind",
    "Target",
    "bin_columns",
    "bin_values",
    "check_neighbors",
    "encode",
    "encode_columns",
    "encode_target",
    "encode_together",
    "find_columns",
]
