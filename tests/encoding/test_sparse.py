"""Sparse tables: read as their dense twins, and never made dense where that would not fit."""

import numpy as np
import pytest
from scipy import sparse

from pinsker.encoding import columns_to_read, encode, encode_again, find_features
from pinsker.exceptions import DataError, DataTypeError, ParameterError


def words(n_rows=60, n_columns=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0 / np.arange(1, n_columns + 1), size=(n_rows, n_columns)).astype(float)
    return X, rng.integers(2, size=n_rows)


def wide(n_rows, n_columns):
    """Column j is not zero in n_rows - j rows, down to one; too large to be made dense."""
    filled = np.maximum(n_rows - np.arange(n_columns), 1)
    rows = np.concatenate([np.arange(n) for n in filled])
    columns = np.repeat(np.arange(n_columns), filled)
    table = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_columns))
    return table.tocsr(), np.arange(n_rows) % 2


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_all_formats_are_read_as_the_dense_table(kind, form):
    X, y = words()
    found, expected = encode(kind(X).asformat(form), y), encode(X, y)
    np.testing.assert_array_equal(found.columns.values, expected.columns.values)
    assert found.columns.kinds == expected.columns.kinds
    assert found.feature_columns == expected.feature_columns
    assert str(found.notes[0]).startswith("the sparse table was made dense")
    assert found.notes[1:] == expected.notes


def test_of_a_large_table_the_most_filled_columns_are_read():
    X, y = wide(1000, 34_000)
    columns = columns_to_read(X, fixed=["x33999"], feature_groups={"pair": [33_600, 33_601]})
    assert len(columns) == 2**25 // 1000
    assert {33_600, 33_601, 33_999} < set(columns.tolist())
    assert columns[:-3].tolist() == list(range(len(columns) - 3))
    few = np.array([1, 5, 33_600, 33_601, 33_999])
    encoded = encode(X, y, columns=few, feature_groups={"pair": [33_600, 33_601]})
    assert encoded.feature_columns == ((1,), (5,), (33_600, 33_601), (33_999,))
    assert encoded.feature_names == ("x1", "x5", "pair", "x33999")
    assert find_features(encoded, [33_999, "x5", 7], "fixed_features") == (1, 3)
    assert "of the sparse table's 34000 columns the 5 that are not zero" in encoded.notes[0]


def test_other_rows_get_the_columns_of_the_fit():
    X, y = wide(1000, 34_000)
    again = encode_again(X, y, [(3,), (33_800,)])
    assert again.feature_columns == ((3,), (33_800,))
    np.testing.assert_array_equal(
        np.unique(again.columns.values[:, 1], return_inverse=True)[1],
        X[:, [33_800]].toarray().ravel(),
    )


def test_small_and_dense_tables_are_read_whole():
    X, _ = words()
    assert columns_to_read(sparse.csr_array(X)) is None
    assert columns_to_read(X) is None


def test_what_is_refused():
    X, y = words()
    broken, _ = wide(1000, 34_000)
    broken[0, 33_999] = np.nan
    with pytest.raises(DataError, match=r"column 33999 has nan"):
        encode(broken, np.arange(1000) % 2, columns=np.array([0, 1]))
    with pytest.raises(ParameterError, match="only some columns"):
        encode(wide(1000, 34_000)[0], np.arange(1000) % 2, columns=np.array([0]),
               categorical_features=[0])  # fmt: skip
    with pytest.raises(DataTypeError, match="Sparse data was passed as y"):
        encode(X, sparse.csr_array(y[:, None]))
    with pytest.raises(DataError, match="Complex data not supported"):
        encode(sparse.csr_array(X.astype(complex)), y)
    X[3, 4] = np.nan
    with pytest.raises(DataError, match=r"contains NaN: column 'x4'"):
        encode(sparse.csr_array(X), y)
