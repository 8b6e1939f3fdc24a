"""All pairs against a slow twin that counts each of them."""

from collections import Counter

import numpy as np
import pytest

from pinsker.engine import MOST_PAIR_BINS, PairTables
from pinsker.exceptions import DataError, MemoryBudgetError, ParameterError


def entropy(*columns):
    counts = np.array(list(Counter(zip(*columns, strict=True)).values()))
    shares = counts / counts.sum()
    return -np.sum(shares * np.log(shares))


def information(features, labels, strata):
    """I(X;Y|W) in nats."""
    whole = entropy(*features, strata) + entropy(labels, strata)
    return whole - entropy(*features, labels, strata) - entropy(strata)


def scanned(tables):
    return np.concatenate([surplus for _, surplus in tables.blocks()])


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_bins", "n_classes", "n_strata"),
    [(2, 2, 2, 2, 1), (64, 9, 2, 2, 1), (333, 17, 4, 3, 1), (130, 8, 8, 2, 3), (500, 10, 3, 4, 2)],
)
def test_every_pair_is_counted(n_rows, n_columns, n_bins, n_classes, n_strata):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, n_bins, (n_columns, n_rows)).astype(np.uint8)
    codes[0] = 0  # one bin: it knows nothing
    labels = rng.integers(0, n_classes, n_rows)
    labels[: n_classes // 2] = n_classes - 1
    strata = rng.integers(0, n_strata, n_rows)
    tables = PairTables.of(codes, labels, strata)
    surplus = scanned(tables)
    for i in range(n_columns - 1):
        own = information([codes[i]], labels, strata)
        assert tables.alone[i] == pytest.approx(own, abs=1e-12)
        for j in range(i + 1, n_columns):
            both = information([codes[i], codes[j]], labels, strata)
            other = information([codes[j]], labels, strata)
            assert surplus[i, j] == pytest.approx(both - own - other, abs=1e-6)
    assert np.isneginf(surplus[np.tril_indices(n_columns - 1)]).all()


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, MOST_PAIR_BINS, (90, 200)).astype(np.uint8)
    labels = rng.integers(0, 3, 200)
    one = scanned(PairTables.of(codes, labels, n_threads=1))
    assert (scanned(PairTables.of(codes, labels, n_threads=3)) == one).all()


def test_an_exclusive_or_is_all_surplus():
    a, b = np.arange(64) % 2, np.arange(64) // 2 % 2
    tables = PairTables.of(np.array([a, b, a], dtype=np.uint8), a ^ b)
    surplus = scanned(tables)
    np.testing.assert_allclose(tables.alone, 0.0, atol=1e-15)
    np.testing.assert_allclose(surplus[0, 1:], [np.log(2), 0.0], atol=1e-6)


@pytest.mark.parametrize("n_columns", [3, 8, 9])
def test_cells_of_the_columns_that_fill_a_group_up_are_counts(n_columns):
    """They were below zero, and costs were read before the beginning of their table."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(n_columns, 100)).astype(np.uint8)
    labels = rng.integers(0, 2, size=100)
    tables = PairTables.of(codes, labels)
    margins = tables._margins.reshape(-1, 2, 3, 8)
    np.testing.assert_array_equal(
        margins.sum(axis=2), np.broadcast_to(np.bincount(labels)[:, None], margins[:, :, 0].shape)
    )


@pytest.mark.parametrize(
    "given",
    [
        {"codes": np.full((6, 200), MOST_PAIR_BINS, np.uint8)},  # read past the end
        {"codes": np.zeros((6, 200))},
        {"codes": np.full((6, 200), -1)},
        {"codes": np.zeros(200, np.uint8)},
        {"codes": np.zeros((0, 200), np.uint8)},
        {"codes": [[0], [0, 1]]},
        {"labels": np.arange(200) % 2 - 1},
        {"labels": np.arange(200) % 2 * 10**7},  # had no end
        {"labels": np.arange(10) % 2},
        {"labels": np.arange(200) / 1},
        {"strata": np.arange(200) * 10**7},
        {"strata": np.arange(10)},
        {"n_threads": -1},
        {"n_threads": 2**40},
    ],
)
def test_pairs_check_their_arguments(given):
    plain = {"codes": np.zeros((6, 200), np.uint8), "labels": np.arange(200) % 2}
    with pytest.raises((DataError, ParameterError)):
        PairTables.of(**{**plain, **given})


def test_pairs_are_laid_out_by_their_method_only():
    with pytest.raises(ParameterError, match=r"use PairTables.of"):
        PairTables(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)


def test_pairs_of_more_strata_than_there_is_memory_for(monkeypatch):
    monkeypatch.setattr("pinsker.engine._plan.available_memory", lambda: 2**27)
    with pytest.raises(MemoryBudgetError, match="2250000 strata and classes"):
        PairTables.of(np.zeros((1, 1500), np.uint8), np.arange(1500), np.arange(1500))
