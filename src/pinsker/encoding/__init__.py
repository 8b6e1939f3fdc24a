"""Stage: encoding. The one gate for user data; all code behind it trusts what leaves it.

`encode` turns a table and a target into an `Encoded`. `encode_columns`, `encode_together` and
`encode_target` are its parts, for functions that take columns; `bin_columns` makes the integer
tables that criteria count in.
"""

from pinsker.encoding._dask import SAMPLED_ROWS, LargeTable, compute, read_large, sample_notes
from pinsker.encoding._discretize import (
    Binned,
    Binning,
    bin_columns,
    bin_values,
    cut_target,
    weighted_cuts,
)
from pinsker.encoding._encode import (
    check_lengths,
    columns_to_read,
    drop_uninformative,
    encode,
    encode_again,
    encode_columns,
    encode_together,
    halves_of_hashes,
    hash_numbers,
    profile_of,
)
from pinsker.encoding._encoded import (
    FARTHEST,
    NOMINAL_STEP,
    Columns,
    Encoded,
    Kind,
    Profile,
    Target,
    check_neighbors,
    check_weights,
    constant_columns,
    drop_note,
    duplicate_columns,
    frozen,
    listing,
    plural,
    read_array,
    take_features,
    take_rows,
    weights_in_rows,
)
from pinsker.encoding._kinds import find_columns, find_features, read_written, written_number
from pinsker.encoding._read import (
    can_be_scanned,
    count_rows,
    frame_of,
    is_dask,
    is_dask_frame,
    is_float,
    is_frame,
    is_lazy_frame,
    is_missing,
    is_relation,
    is_stream,
    read_table,
)
from pinsker.encoding._sample import RowSample, draw_rows, missing_targets, take
from pinsker.encoding._stream import as_relation, batches_of, draw_from_stream
from pinsker.encoding._target import (
    as_structured,
    check_scale,
    encode_target,
    guess_task,
    normal_scores,
    null_martingale,
)
