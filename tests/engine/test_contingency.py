"""Contingency tables of packed columns: the definition, and whatever the work is cut into."""

import copy

import numpy as np
import pytest

from oracles.criteria import Sample
from pinsker.engine import NATS_PER_COST, CountTables, Group, PackedColumns, PartitionTables
from pinsker.exceptions import DataError, ParameterError

# Rounding: a sum of a few hundred cells, each within 2**-53 of its entropy, below 10 nats.
ROUNDING = 1e-13

#: Categories of the columns of a table, to reach each way of counting: several columns to a byte,
#: one of several in a byte, a byte of its own, more than a byte.
LAYOUTS = {
    "bits": [2] * 11,
    "fives": [5, 5, 5, 5],
    "tens": [10, 10, 10],
    "mixed": [2, 200, 3, 7, 1, 256, 4],
    "wide": [3, 300, 2, 1000],
}


def draw(sizes, n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, size, n_rows) for size in sizes])


def entropies(tables, group):
    costs = tables.joint(group)
    return (
        (tables.base - costs.with_classes) * NATS_PER_COST,
        (tables.base - costs.without_classes) * NATS_PER_COST,
    )


def assert_equal_oracle(codes, labels, sizes, beside, **options):
    """Compare the entropies of (column, group, class) and (column, group) with dictionaries."""
    tables = CountTables.of(
        PackedColumns.of(codes, sizes),
        labels,
        correction=options.get("correction", "none"),
        sample_weight=options.get("weights"),
    )
    group = Group.trivial(len(labels))
    for column in beside:
        group = group.joined(tables.columns.column(column), sizes[column])
    with_classes, without_classes = entropies(tables, group)
    sample = Sample(codes, labels, options.get("weights"), options.get("correction", "none"))
    for x in range(codes.shape[1]):
        columns = [x, *beside]
        assert with_classes[x] == pytest.approx(sample.entropy(columns, classes=True), abs=ROUNDING)
        want = sample.entropy(columns, classes=False)
        assert without_classes[x] == pytest.approx(want, abs=ROUNDING)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "int64"])
def test_packing_keeps_every_code(layout, order, dtype):
    sizes = LAYOUTS[layout]
    if layout == "wide" and dtype == "uint8":
        sizes = [3, 200, 2, 250]
    codes = draw(sizes, 131)
    packed = PackedColumns.of(np.asarray(codes, dtype=dtype, order=order), sizes)
    for column in range(len(sizes)):
        np.testing.assert_array_equal(packed.column(column), codes[:, column])


def test_columns_share_bytes():
    assert PackedColumns.of(draw([2] * 16)).packed.shape[0] == 2
    assert PackedColumns.of(draw([5] * 9)).packed.shape[0] == 3
    assert PackedColumns.of(draw([10] * 4)).nbytes == 2 * 400


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beside", [(), (0,), (2, 0), (0, 1, 2)])
def test_entropies_equal_the_oracle(layout, beside):
    sizes = LAYOUTS[layout]
    labels = np.random.default_rng(1).integers(0, 3, 400)
    assert_equal_oracle(draw(sizes), labels, sizes, beside)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beside", [(0,), (0, 1, 2)])
def test_weighted_entropies_equal_the_oracle(layout, beside):
    rng = np.random.default_rng(2)
    weights = rng.exponential(size=400) * (rng.random(400) < 0.8)
    labels = rng.integers(0, 3, 400)
    assert_equal_oracle(draw(LAYOUTS[layout]), labels, LAYOUTS[layout], beside, weights=weights)


@pytest.mark.parametrize("correction", ["miller-madow", "grassberger"])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 100, 101])
def test_corrected_entropies_equal_the_oracle(correction, n_rows):
    labels = np.random.default_rng(3).integers(0, 2, n_rows)
    assert_equal_oracle(draw([3, 1, 4], n_rows), labels, [3, 1, 4], (0,), correction=correction)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 2047, 2049, 5000])
def test_block_ends_lose_no_row(n_rows):
    labels = np.random.default_rng(4).integers(0, 2, n_rows)
    assert_equal_oracle(draw([3, 3, 9], n_rows), labels, [3, 3, 9], (1,))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_same_bits_for_any_threads_rows_and_categories(layout, weighted):
    sizes, rng = LAYOUTS[layout], np.random.default_rng(5)
    codes, labels = draw(sizes), rng.integers(0, 3, 400)
    weights = rng.exponential(size=400) if weighted else None
    order = rng.permutation(400)
    relabelled = np.column_stack(
        [rng.permutation(size)[column] for size, column in zip(sizes, codes.T, strict=True)]
    )

    def costs(table, rows, n_threads):
        tables = CountTables.of(
            PackedColumns.of(table[rows], sizes),
            labels[rows],
            sample_weight=None if weights is None else weights[rows],
            n_threads=n_threads,
        )
        found = tables.joint(tables.group_of(0))
        return np.concatenate([found.with_classes, found.without_classes])

    want = costs(codes, slice(None), 1)
    for table, rows, n_threads in [
        (codes, slice(None), 2),
        (codes, slice(None), 16),
        (codes, order, 1),
        (relabelled, order, 3),
    ]:
        np.testing.assert_array_equal(costs(table, rows, n_threads), want)


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(6)
    codes, labels = draw([4, 5, 300], 60), rng.integers(0, 2, 60)
    weights = rng.integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weights)
    weighted = CountTables.of(
        PackedColumns.of(codes, [4, 5, 300]), labels, sample_weight=weights.astype(float)
    )
    plain = CountTables.of(PackedColumns.of(codes[repeated], [4, 5, 300]), labels[repeated])
    for got, want in zip(
        entropies(weighted, weighted.group_of(0)),
        entropies(plain, plain.group_of(0)),
        strict=True,
    ):
        np.testing.assert_allclose(got, want, rtol=0, atol=ROUNDING)


def test_inactive_columns_are_left_alone():
    codes = draw([10] * 6)
    tables = CountTables.of(PackedColumns.of(codes), codes[:, 0] % 2)
    active = np.array([False, True, False, False, True, True])
    everything, some = tables.joint(tables.group_of(0)), tables.joint(tables.group_of(0), active)
    np.testing.assert_array_equal(some.with_classes[active], everything.with_classes[active])
    np.testing.assert_array_equal(some.with_classes[~active], 0)


def test_shuffled_tables_deal_classes_choices_and_weights_together():
    rng = np.random.default_rng(7)
    codes, labels, weights = draw([4, 5, 6]), rng.integers(0, 2, 400), rng.exponential(size=400)
    tables = CountTables.of(PackedColumns.of(codes), labels, sample_weight=weights)
    order = rng.permutation(400)
    shuffled = tables.shuffled(order)
    assert shuffled.of_group(shuffled.group_of(0)) == tables.of_group(tables.group_of(0))
    dealt = np.column_stack([codes[order, 0], codes[:, 1]])
    sample = Sample(dealt, labels[order], weights[order])
    got = entropies(shuffled, shuffled.group_of(0))[0][1]
    assert got == pytest.approx(sample.entropy([0, 1], classes=True), abs=ROUNDING)


@pytest.mark.parametrize(
    ("codes", "sizes", "message"),
    [
        (np.zeros((3, 2)), None, r"codes have dtype float64: give integers"),
        (np.zeros((0, 2), dtype=int), None, r"codes have shape \(0, 2\)"),
        (np.array([[0, 1], [0, -1]]), None, r"code -1 in column 1"),
        (np.array([[0, 1], [0, 2]]), [1, 2], r"code 2 in column 1 but n_categories is 2"),
        (
            np.array([[0, 1], [0, 2]]),
            [1],
            r"n_categories has shape \(1,\) and dtype int64: give one integer for each of 2",
        ),
        # Tables are as long as the largest code: these took all memory, or were written past.
        (np.array([[2**63]], dtype=np.uint64), None, r"code 9223372036854775808 in column 0"),
        (np.array([[0, 2**40]]), None, r"code 1099511627776 in column 1: the largest .* 16777215"),
        (np.array([[0]]), [2**33], r"n_categories allows code 8589934591 in column 0"),
        (np.array([[0]]), ["two"], r"n_categories has shape \(1,\) and dtype <U3: give one int"),
        (np.array([[0]]), [2.5], r"n_categories has shape \(1,\) and dtype float64"),
    ],
)
def test_codes_that_cannot_be_counted(codes, sizes, message):
    with pytest.raises(DataError, match=message):
        PackedColumns.of(codes, sizes)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\): give 4 weights"),
        (np.array([1.0, np.nan, 1, 1]), r"sample_weight must be finite"),
        (np.array([1.0, -1, 1, 1]), r"not negative"),
        (np.zeros(4), r"not all zero"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    with pytest.raises(DataError, match=message):
        CountTables.of(PackedColumns.of(draw([2], 4)), np.arange(4) % 2, sample_weight=weights)


def test_corrections_count_rows_not_weights():
    columns, labels = PackedColumns.of(draw([2], 4)), np.arange(4) % 2
    with pytest.raises(ParameterError, match=r"correction='grassberger' counts rows"):
        CountTables.of(columns, labels, correction="grassberger", sample_weight=np.ones(4))


def test_labels_must_match_the_rows():
    with pytest.raises(DataError, match=r"4 rows of codes but labels of shape \(3,\)"):
        CountTables.of(PackedColumns.of(draw([2], 4)), np.arange(3) % 2)
    with pytest.raises(DataError, match=r"code 1099511627776 in column 0"):
        CountTables.of(PackedColumns.of(draw([2], 4)), np.array([0, 1, 0, 2**40]))


def small_tables():
    codes = draw([4] * 6, 200)
    return CountTables.of(PackedColumns.of(codes), np.arange(200) % 2)


@pytest.mark.parametrize(
    ("codes", "n_groups"),
    [
        (np.zeros(200, np.uint32), 0),  # a division by zero
        (np.zeros(200, np.uint32), -1),  # written past the end
        (np.zeros(200, np.uint32), 2**40),
        (np.zeros(200, np.uint32), 1.0),
        (np.full(200, 10**6, np.uint32), 2),  # all costs were 0
        (np.full(200, -1), 2),
        (np.zeros(200), 1),
        (np.zeros((2, 100), np.uint32), 1),
        (None, 1),
        ([[0], [0, 1]], 2),
    ],
)
def test_groups_are_codes_below_their_number(codes, n_groups):
    with pytest.raises((DataError, ParameterError)):
        Group(codes, n_groups)


def test_groups_are_not_what_a_user_changes_later():
    tables, codes = small_tables(), np.arange(200, dtype=np.uint32) % 3
    group = Group(codes, 3)
    before = tables.of_group(group)
    codes[:] = 10**6
    assert tables.of_group(group) == before
    for same in (group, copy.deepcopy(group), tables.group_of(1), tables.join(group, 1)):
        with pytest.raises(ValueError, match="read-only"):
            same.codes[:] = 10**6


@pytest.mark.parametrize("group", [Group.trivial(10), None, np.zeros(200, np.uint32)])
def test_groups_are_of_the_rows_that_are_counted(group):
    tables = small_tables()
    calls = [tables.joint, tables.joint_without_classes, tables.of_group, tables.n_cells]
    for call in calls:
        with pytest.raises((DataError, ParameterError), match="group"):
            call(group)
    if group is not None:
        with pytest.raises((DataError, ParameterError), match="group"):
            tables.join(group, 0)


@pytest.mark.parametrize(
    "joined", [(np.zeros(10, int), 3), (np.full(200, 5), 3), (np.zeros(200), 3)]
)
def test_columns_that_are_joined_are_codes_of_the_same_rows(joined):
    with pytest.raises(DataError, match="codes"):
        Group.trivial(200).joined(*joined)
    with pytest.raises(ParameterError, match="n_categories=0"):
        Group.trivial(200).joined(np.zeros(200, int), 0)
    with pytest.raises(ParameterError, match="n_rows=-1"):
        Group.trivial(-1)


@pytest.mark.parametrize("active", [np.ones(0, bool), np.ones(7, bool), np.ones(6), [[1], [1, 0]]])
def test_one_truth_value_for_every_column(active):
    tables = small_tables()
    with pytest.raises(DataError, match="active"):
        tables.joint(tables.nothing(), active)
    with pytest.raises(DataError, match="active"):
        tables.joint_without_classes(tables.nothing(), active)


def test_every_other_flag_of_a_longer_array():
    tables, flags = small_tables(), np.arange(12) % 4 == 0
    want = tables.joint(tables.nothing(), flags[::2].copy()).with_classes
    np.testing.assert_array_equal(tables.joint(tables.nothing(), flags[::2]).with_classes, want)


@pytest.mark.parametrize("order", [np.arange(10), np.arange(200) - 1, np.arange(200) / 1, "order"])
def test_shuffled_rows_are_there(order):
    with pytest.raises(DataError, match="order"):
        small_tables().shuffled(order)


@pytest.mark.parametrize("column", [-1, 6, 1.0, True, None])
def test_columns_that_are_not_there(column):
    tables = small_tables()
    for call in (tables.columns.column, tables.group_of, lambda x: tables.join(None, x)):
        with pytest.raises(ParameterError, match="column="):
            call(column)


def test_tables_are_made_by_their_method_only():
    """What was put together by hand was read past its end."""
    tables = small_tables()
    columns = tables.columns
    with pytest.raises(ParameterError, match=r"use PackedColumns.of"):
        PackedColumns(columns.packed, columns.wide, columns.home + 9, columns.stride, columns.home)
    with pytest.raises(ParameterError, match=r"use CountTables.of"):
        CountTables(columns, tables.labels[:3], 2, tables.cost, None, 0)
    for same in (tables, copy.deepcopy(tables)):
        for array in (same.labels, same.cost, same.columns.packed, same.columns.home):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 99


@pytest.mark.parametrize(
    "given",
    [
        {"correction": "foo"},  # was taken as "none"
        {"correction": ["none"]},
        {"n_threads": 0},
        {"n_threads": 2**40},
        {"n_classes": "x"},
        {"n_classes": 2.5},
        {"n_classes": 2**70},
        {"columns": np.zeros((200, 6), int)},
        {"labels": 5},
        {"labels": [[0], [0, 1]]},
        {"labels": np.arange(200) / 1},
        {"sample_weight": "heavy"},
    ],
)
def test_tables_check_what_they_are_made_of(given):
    fields = {"columns": small_tables().columns, "labels": np.arange(200) % 2, **given}
    with pytest.raises((DataError, ParameterError)):
        CountTables.of(fields.pop("columns"), fields.pop("labels"), **fields)


@pytest.mark.parametrize(
    "part",
    [
        (np.full((2, 9), 3), np.zeros(9, int)),  # were counted as codes of others
        (np.full((2, 9), -1), np.zeros(9, int)),
        (np.zeros((2, 9), int), np.full(9, 2)),
        (np.zeros((2, 9), int), np.zeros(8, int)),
        (np.zeros((3, 9), int), np.zeros(9, int)),
        (np.zeros((2, 9)), np.zeros(9, int)),
        5,
    ],
)
def test_partitions_hold_codes_of_their_columns(part):
    pytest.importorskip("dask")
    with pytest.raises(DataError):
        PartitionTables([part], np.array([3, 3]), 2, 9)


def test_partitions_are_counted_for_their_own_columns_and_groups():
    pytest.importorskip("dask")
    tables = PartitionTables([(np.zeros((2, 9), int), np.arange(9) % 2)], np.array([3, 3]), 2, 9)
    assert len(tables.joint(tables.nothing()).with_classes) == 2
    group = tables.join(None, 0)
    for call in (tables.joint, tables.of_group, tables.n_cells, lambda g: tables.join(g, 1)):
        with pytest.raises(ParameterError, match="group is of type Group"):
            call(Group.trivial(9))
    with pytest.raises(DataError, match="active"):
        tables.joint(group, np.ones(3, bool))
    with pytest.raises(DataError, match="active"):
        tables.expect([group], np.ones(2), None)
    with pytest.raises(ParameterError, match="column=2"):
        tables.join(None, 2)
