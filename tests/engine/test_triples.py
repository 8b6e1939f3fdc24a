"""Triples against a slow twin that counts each of them."""

import os
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from pinsker.engine import array_library, best_triples
from pinsker.exceptions import DataError, EngineError, ParameterError


def entropy(*columns):
    counts = np.array(list(Counter(zip(*columns, strict=True)).values()))
    shares = counts / counts.sum()
    return -np.sum(shares * np.log(shares))


def surplus(columns, labels):
    """I(ijk;Y) less the pairs, plus the single ones."""

    def known(*some):
        return entropy(*some) + entropy(labels) - entropy(*some, labels)

    i, j, k = columns
    return known(i, j, k) - known(i, j) - known(i, k) - known(j, k) + known(i) + known(j) + known(k)


@pytest.mark.parametrize(("n_rows", "n_bins", "n_classes"), [(60, 2, 2), (200, 3, 3), (90, 4, 2)])
def test_every_triple_is_counted(n_rows, n_bins, n_classes):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, n_bins, (8, n_rows)).astype(np.uint8)
    codes[5] = 0  # one bin: it knows nothing
    labels = rng.integers(0, n_classes, n_rows)
    pairs = np.array(list(combinations(range(8), 2)))
    triples, values = best_triples(codes, labels, pairs, 1000, later=True)
    assert len(triples) == 56
    expected = {three: surplus(codes[list(three)], labels) for three in combinations(range(8), 3)}
    assert {tuple(three) for three in triples.tolist()} == set(expected)
    for three, value in zip(triples.tolist(), values, strict=True):
        assert value == pytest.approx(expected[tuple(three)], abs=1e-9)
    assert (np.diff(values) <= 0).all()
    # Around some pairs: every third column, no triple twice.
    some = np.array([[0, 1], [1, 4], [0, 4]])
    around, found = best_triples(codes, labels, some, 1000)
    wanted = {three for three in expected if any(set(pair) <= set(three) for pair in some.tolist())}
    assert {tuple(three) for three in around.tolist()} == wanted
    assert len(around) == len(wanted) == 16
    for three, value in zip(around.tolist(), found, strict=True):
        assert value == pytest.approx(expected[tuple(three)], abs=1e-9)


def test_blocks_of_columns_and_pairs_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (30, 100)).astype(np.uint8)
    labels = rng.integers(0, 2, 100)
    pairs = np.array(list(combinations(range(30), 2)))
    whole = best_triples(codes, labels, pairs, 20, later=True)
    monkeypatch.setattr("pinsker.engine._pairs._MOST_COUNTS", 3000)
    parts = best_triples(codes, labels, pairs, 20, later=True)
    assert np.array_equal(whole[1], parts[1])
    assert np.array_equal(whole[0], parts[0])


@pytest.mark.skipif(os.environ.get("PINSKER_TEST_GPU") != "1", reason="needs a GPU")
def test_a_gpu_counts_the_same_bits():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (25, 500)).astype(np.uint8)
    labels = rng.integers(0, 3, 500)
    pairs = np.array(list(combinations(range(25), 2)))
    own = best_triples(codes, labels, pairs, 100, later=True)
    theirs = best_triples(codes, labels, pairs, 100, later=True, library=array_library("cuda"))
    assert np.array_equal(own[0], theirs[0])
    assert np.array_equal(own[1], theirs[1])


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr("pinsker.engine._pairs.missing_gpu", lambda: "there is none.")
    assert array_library("auto") is np
    assert array_library("local") is np
    with pytest.raises(EngineError, match="there is none"):
        array_library("cuda")


@pytest.mark.parametrize(
    "given",
    [
        {"labels": np.arange(200) % 2 * 2 - 1},  # gave 3.33 nats of 0.69
        {"labels": np.arange(200) % 2 * 10**7},
        {"labels": np.arange(10) % 2},
        {"labels": np.arange(200) % 2 / 1},
        {"codes": np.full((6, 200), 255, np.uint8)},  # had no end
        {"codes": np.zeros((6, 200))},
        {"codes": np.zeros((6, 0), np.uint8), "labels": np.zeros(0, int)},
        {"pairs": np.array([[0, 9]])},
        {"pairs": np.array([[-1, 1]])},
        {"pairs": np.array([[1, 1]])},
        {"pairs": np.array([0, 1])},
        {"pairs": [[0, 1.5]]},
        {"n_best": 0},
        {"n_best": "all"},
        {"later": np.array([True, False])},
        {"library": "numpy"},
    ],
)
def test_triples_check_their_arguments(given):
    codes = np.random.default_rng(0).integers(0, 4, (6, 200)).astype(np.uint8)
    plain = {"codes": codes, "labels": np.arange(200) % 2, "pairs": [[0, 1]], "n_best": 3}
    assert len(best_triples(**plain)[0]) == 3
    with pytest.raises((DataError, ParameterError)):
        best_triples(**{**plain, **given})
