"""Radii and counts: equal to the oracle to the last neighbor, however the rows are searched."""

from dataclasses import astuple

import numpy as np
import pytest

from engine.tables import KINDS, NOMINAL_STEP, columns, random_table
from oracles import knn as oracle
from pinsker.engine import box_counts, neighbor_counts

STRATEGIES = ("auto", "tree", "sweep", "pairs")

BATCHES = 20  # tests that draw many tables are split into this many, so that xdist can share them


def found(x, y, z, k, **options):
    return np.array(astuple(neighbor_counts(x, y, z, k=k, **options)))


def expected(x, y, z, k):
    return np.array(oracle.counts(x, y, z, k)).T


@pytest.mark.parametrize("batch", range(BATCHES))
def test_counts_equal_the_oracle(batch):
    for number in range(20):
        x, y, z, k = random_table(1000 * batch + number)
        by_definition = expected(x, y, z, k)
        for strategy in STRATEGIES:
            np.testing.assert_array_equal(
                found(x, y, z, k, strategy=strategy), by_definition, err_msg=f"{number} {strategy}"
            )


@pytest.mark.parametrize(
    "kinds", [["continuous"], ["continuous", "nominal"], ["tied", "continuous", "decimal"]]
)
def test_counts_equal_the_oracle_in_several_blocks(kinds):
    """Enough rows for trees of two levels in one cell."""
    rng = np.random.default_rng(7)
    x, y, z = (columns(rng, 150, some) for some in (kinds[:1], kinds, kinds))
    by_definition = expected(x, y, z, 3)
    for strategy in STRATEGIES:
        np.testing.assert_array_equal(found(x, y, z, 3, strategy=strategy), by_definition)


@pytest.mark.parametrize("kind_x", KINDS)
@pytest.mark.parametrize("kind_y", KINDS)
def test_every_pair_of_kinds(kind_x, kind_y):
    rng = np.random.default_rng(3)
    x, y = columns(rng, 30, [kind_x]), columns(rng, 30, [kind_y])
    for z in (np.empty((30, 0)), columns(rng, 30, ["nominal"]), columns(rng, 30, ["continuous"])):
        np.testing.assert_array_equal(found(x, y, z, 3), expected(x, y, z, 3))


@pytest.mark.parametrize(
    ("n", "kinds_z"),
    [
        (3000, []),  # a tree, sorted marginals
        (3000, ["continuous"]),  # a tree for the radius, a sweep for the counts
        (3000, ["continuous", "tied"]),
        (1500, ["continuous"] * 4),
        (600, ["continuous"] * 30),  # telling columns first
        (1500, ["continuous", "nominal", "decimal"]),
        (3000, ["tied", "tied"]),
    ],
)
@pytest.mark.parametrize("kind_y", ["continuous", "nominal", "tied"])
def test_strategies_and_threads_agree_on_large_tables(n, kinds_z, kind_y):
    rng = np.random.default_rng(n + len(kinds_z))
    x, y, z = columns(rng, n, ["continuous"]), columns(rng, n, [kind_y]), columns(rng, n, kinds_z)
    plain = found(x, y, z, 4, strategy="pairs")
    for strategy in STRATEGIES:
        for n_threads in (1, 2, 16):
            result = found(x, y, z, 4, strategy=strategy, n_threads=n_threads)
            np.testing.assert_array_equal(result, plain, err_msg=f"{strategy} {n_threads}")


@pytest.mark.parametrize("widest", [512, 256, 128])
@pytest.mark.parametrize("batch", range(3))
def test_all_registers_give_the_same(widest, batch):
    """On a CPU without the wider ones, the widest there is runs instead."""
    for number in range(60):
        x, y, z, k = random_table(600_000 + 1000 * batch + number, most_rows=90)
        for strategy in STRATEGIES:
            plain = found(x, y, z, k, strategy=strategy, widest=128)
            result = found(x, y, z, k, strategy=strategy, widest=widest)
            np.testing.assert_array_equal(result, plain)
        radius = plain[0]
        boxes = astuple(box_counts(x, y, z, radius=radius, widest=128))
        np.testing.assert_array_equal(astuple(box_counts(x, y, z, radius=radius)), boxes)


def test_one_z_column_above_the_size_that_is_swept():
    """From 32 000 rows on xz and yz get trees of their own; compared with the sweep."""
    rng = np.random.default_rng(5)
    x, y, z = (columns(rng, 33_000, ["continuous"]) for _ in range(3))
    chosen = found(x, y, z, 3, n_threads=2)
    np.testing.assert_array_equal(chosen, found(x, y, z, 3, n_threads=2, strategy="sweep"))


@pytest.mark.parametrize("k", [1, 23, 24, 25, 26, 60, 149, 150, 400])
@pytest.mark.parametrize("kind", ["continuous", "tied", "nominal"])
def test_many_neighbors(k, kind):
    """Up to 24 neighbors are kept in a sorted list, more in a heap; k may exceed the rows."""
    rng = np.random.default_rng(k)
    x, y, z = columns(rng, 150, [kind, "decimal"]), columns(rng, 150, [kind]), np.empty((150, 0))
    by_definition = expected(x, y, z, k)
    for strategy in STRATEGIES:
        np.testing.assert_array_equal(found(x, y, z, k, strategy=strategy), by_definition)


@pytest.mark.parametrize("factor", [0.1, 3 / 7, 1e-9, 12345.678])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_scaling_changes_radii_only(factor, strategy):
    """Decimals with ties: scaling rounds equal distances apart, the tolerance joins them again."""
    rng = np.random.default_rng(1)
    x, y, z = (np.round(rng.normal(size=(300, 2)), 1) for _ in range(3))
    before = found(x, y, z, 3, strategy=strategy)
    after = found(x * factor, y * factor, z * factor, 3, strategy=strategy)
    np.testing.assert_array_equal(after[1:], before[1:])
    # Each distance is one subtraction of numbers below 5 that were rounded to 53 bits.
    np.testing.assert_allclose(after[0], before[0] * factor, rtol=0, atol=5e-15 * factor)


def test_row_order_does_not_matter():
    x, y, z, k = random_table(11, most_rows=60)
    order = np.random.default_rng(0).permutation(len(x))
    np.testing.assert_array_equal(
        found(x[order], y[order], z[order], k), found(x, y, z, k)[:, order]
    )


def test_rows_alone_and_small_classes():
    x = np.arange(6.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 2])[:, None] * NOMINAL_STEP
    counts = neighbor_counts(x, y, np.empty((6, 0)), k=3)
    np.testing.assert_array_equal(counts.neighbors, [2, 2, 2, 1, 1, 0])
    np.testing.assert_array_equal(counts.radius, [2, 1, 2, 1, 1, 0])
    assert counts.z_closed[5] == 0


def test_infinite_distances_between_numbers():
    """From 1e100 on a distance is infinite, for numbers as for categories."""
    x = np.array([[0.0], [0.9e100], [1e100], [1.5e100]])
    counts = neighbor_counts(x, x, np.empty((4, 0)), k=3)
    np.testing.assert_array_equal(counts.neighbors, [1, 3, 2, 2])


@pytest.mark.parametrize("batch", range(BATCHES))
def test_boxes_equal_the_oracle(batch):
    for number in range(10):
        x, y, z, k = random_table(5_000_000 + 1000 * batch + number, most_rows=16)
        radius = neighbor_counts(x, y, z, k=k).radius
        boxes = box_counts(x, y, z, radius=radius)
        for i in range(len(x)):
            extents = oracle.boxes(x, y, z, i, radius[i])
            given = [boxes.x_extent[i], boxes.y_extent[i], boxes.z_extent[i]]
            assert given[:2] == extents[:2]
            assert given[2] == (extents[2] if z.shape[1] else radius[i])
            parts_z = [(z, extents[2])] if z.shape[1] else []
            for name, parts in (
                ("xz", [(x, extents[0]), *parts_z]),
                ("yz", [(y, extents[1]), *parts_z]),
                ("z", parts_z),
            ):
                if parts:
                    closed = oracle.in_box(parts, i, closed=True)
                    assert getattr(boxes, f"{name}_closed")[i] == closed
