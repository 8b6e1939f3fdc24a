"""Limits, bands, sequences, blocks and plans: exact identities, and shares on fixed seeds.

Limits of shares are those that chance crosses once in a million, ``binom.isf(1e-6, n, p)``.
"""

from functools import partial

import numpy as np
import pytest
from scipy.stats import beta, binom

from benchmarks import power
from benchmarks.shown_sets import shown_sets
from pinsker.bounds import (
    few_per_class,
    few_rows_decide,
    fewest_needed,
    paired_difference,
    rows_needed,
    serial_blocks,
    simultaneous_confidence,
    smallest_budget,
)
from pinsker.exceptions import ParameterError

RNG_SEED = 3


def test_widening_moves_t_and_hall_but_not_counts():
    rng = np.random.default_rng(RNG_SEED)
    smooth = rng.normal(0.1, 1.0, size=200)
    plain, wide = (paired_difference(smooth, widening=w) for w in (1.0, 1.5))
    assert wide.upper - wide.mean == pytest.approx(1.5 * (plain.upper - plain.mean))
    assert wide.mean - wide.lower == pytest.approx(1.5 * (plain.mean - plain.lower))
    # Few rows differ: the limit is that of counts, which training rows do not widen.
    few = np.zeros(300)
    few[:2] = 1.0
    counted = [paired_difference(few, counts=True, widening=w).upper for w in (1.0, 1.2)]
    assert counted[0] == counted[1]
    many = np.repeat([1.0, -1.0, 0.0], [60, 60, 180])
    narrow, wider = (paired_difference(many, counts=True, widening=w).upper for w in (1.0, 1.5))
    assert wider > 1.3 * narrow


def test_clusters_are_widened_too():
    values = np.random.default_rng(RNG_SEED).normal(size=200)
    clusters = np.arange(200) // 5
    plain, wide = (paired_difference(values, clusters=clusters, widening=w) for w in (1.0, 1.2))
    assert wide.upper - wide.mean == pytest.approx(1.2 * (plain.upper - plain.mean))


def test_copies_of_rows_show_no_more_than_the_rows():
    rng = np.random.default_rng(RNG_SEED)
    for rate in (0.0, 0.02, 0.2):
        rows = (rng.random(120) < rate).astype(float)
        alone = paired_difference(rows, counts=True)
        copied = paired_difference(
            np.repeat(rows, 10), counts=True, clusters=np.repeat(np.arange(120), 10)
        )
        assert copied.mean == pytest.approx(alone.mean)
        assert copied.upper >= alone.upper - 2e-3  # one row more that differs
        lone = paired_difference(rows, counts=True, clusters=rng.permutation(120))
        assert lone.upper >= alone.upper - 1e-12  # and t's limits, where these are farther


# Limits of counts that took the rows of a cluster as independent failed in 75 % of the first.
@pytest.mark.parametrize(
    ("n_clusters", "size", "rate"), [(30, 10, 0.01), (60, 10, 0.02), (60, 10, 0.05), (200, 5, 0.05)]
)
@pytest.mark.parametrize("dependence", [0.05, 0.3, 1.0])
def test_limits_of_counts_hold_for_clusters(n_clusters, size, rate, dependence):
    rng = np.random.default_rng(RNG_SEED)
    clusters, odds = np.repeat(np.arange(n_clusters), size), (1.0 - dependence) / dependence
    wrong = 0
    for _ in range(200):
        own = (
            rng.beta(rate * odds, (1 - rate) * odds, n_clusters)
            if odds
            else (rng.random(n_clusters) < rate)
        )
        worse = rng.random(n_clusters * size) < np.repeat(own, size)
        wrong += paired_difference(worse * 1.0, counts=True, clusters=clusters).upper < rate
    assert wrong <= binom.isf(1e-6, 200, 0.05)  # 4.6 % at most in 1500 runs (limits.py)


def losses(means, n_rows=400, seed=RNG_SEED, shared=0.0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_rows, len(means))) * np.sqrt(1 - shared)
    return noise + np.sqrt(shared) * rng.normal(size=(n_rows, 1)) + np.array(means)


def test_the_band_is_made_again_for_what_it_does_not_show():
    differences = losses([-1.0, -1.0, 0.0, 0.4, 1.0])
    each = simultaneous_confidence(differences)
    uppers = np.array([paired_difference(column, each).upper for column in differences.T])
    budget = float(uppers[2]) - 0.005  # by a hair
    found = shown_sets(differences, budget)
    assert (uppers <= budget).tolist() == [True, True, False, False, False]
    assert found.shown.tolist() == [True, True, True, False, False]
    assert found.evidence == ("band",) * 3 + ("", "")
    # What is shown is within the budget, and no more is proven (Hsu and Berger).
    assert found.upper.tolist() == [*[budget] * 3, *uppers[3:]]
    assert found.mean == pytest.approx(differences.mean(axis=0))


def test_a_sequence_alone_tests_each_at_the_whole_level_and_stops():
    differences = losses([0.0, 0.3, 0.0])
    own = [paired_difference(column, 0.95).upper for column in differences.T]
    found = shown_sets(differences, 0.2, sequence=[0, 1, 2], of_sequence=1.0)
    assert found.shown.tolist() == [True, False, False]
    assert found.evidence == ("sequence", "", "")
    assert found.upper.tolist() == [0.2, own[1], np.inf]


def test_what_the_band_shows_does_not_stop_the_sequence():
    differences = losses([-0.5, 0.0, -0.5], shared=0.5)
    own = paired_difference(differences[:, 1], 0.96).upper
    found = shown_sets(differences, own + 1e-9, sequence=[0, 1, 2])
    assert found.evidence == ("band", "sequence", "band")
    above = shown_sets(differences, own - 1e-3, sequence=[0, 1, 2])
    assert above.evidence == ("band", "", "band")


def test_bounds_of_all_sets_hold_at_once():
    # The second set is at the budget, the third above: both evidences may err in 5 % together.
    means, budget, runs = np.array([0.0, 0.1, 0.12, 0.0]), 0.1, 600
    wrong = uncovered = 0
    for seed in range(runs):
        found = shown_sets(losses(means, 100, seed, 0.5), budget, sequence=[0, 1, 2, 3])
        wrong += bool((found.shown & (means >= budget)).any())
        uncovered += bool((found.upper < means).any())
    assert wrong <= binom.isf(1e-6, runs, 0.05)
    assert uncovered <= binom.isf(1e-6, runs, 0.05)


def test_power_and_errors_of_the_rules_on_the_same_losses():
    found = power.cell("sparse", 300, 0.02, 60, 3)
    sizes = {name: size for name, (size, _, _) in found.items()}
    assert sizes["P1"] < sizes["today"] - 0.5
    assert sizes["P2"] <= sizes["split 0.8"] <= sizes["P1"]
    assert all(wrong <= 100 * binom.isf(1e-6, 60, 0.05) / 60 for _, wrong, _ in found.values())


def test_fewest_needed_rules_out_sizes_from_below():
    sizes = np.array([1, 2, 2, 3, 4])
    assert fewest_needed(np.array([0.5, 0.4, 0.3, 0.0, -0.1]), sizes, 0.1) == 3
    assert fewest_needed(np.array([0.0, 0.4, 0.3, 0.2, 0.2]), sizes, 0.1) == 1
    assert fewest_needed(np.full(5, 1.0), sizes, 0.1) == 5


def test_few_rows_that_decide_are_seen():
    normal = np.random.default_rng(RNG_SEED).normal(size=(2, 1000))
    assert not few_rows_decide(normal[0] * normal[1])
    assert few_rows_decide(normal[0] * np.exp(1.3 * normal[1]))
    assert not few_rows_decide(np.zeros(50))
    # Of numbers what predictions differ by tells more: noise makes products of tame factors.
    noisy = normal[0] * np.random.default_rng(1).standard_t(4, size=1000)
    assert few_rows_decide(noisy)
    assert not few_rows_decide(noisy, normal[0])
    assert few_rows_decide(normal[0], np.exp(1.3 * normal[1]))
    assert few_per_class(np.repeat([0, 1, 2], [100, 19, 50]))
    assert not few_per_class(np.repeat([0, 2], [100, 20]))


def test_blocks_of_neighbors_hold_where_rows_depend():
    runs, truth = 150, 0.158
    wrong = {"rows": 0, "blocks": 0}
    for seed in range(runs):
        d, _ = power.serial_table(1000, 0.8, np.random.default_rng([21, seed]))
        blocks = serial_blocks(d)
        limit = partial(paired_difference, d, widening=1.2)
        wrong["rows"] += limit().upper < truth
        wrong["blocks"] += limit(clusters=blocks.clusters).upper < truth
    assert wrong["rows"] > binom.isf(1e-6, runs, 0.05)  # what taking rows as independent does
    assert wrong["blocks"] <= binom.isf(1e-6, runs, 0.05)


def test_strong_dependence_is_called_an_estimate():
    enough = [
        serial_blocks(power.serial_table(1000, 0.9, np.random.default_rng([22, k]))[0])
        for k in range(20)
    ]
    assert not any(one.enough for one in enough)
    assert all(one.autocorrelation > 0.6 for one in enough)
    free = serial_blocks(np.random.default_rng(0).normal(size=(600, 3)))
    assert free.enough
    assert 20 <= free.clusters.max() + 1 <= 30
    assert (np.diff(free.clusters) >= 0).all()
    constant = serial_blocks(np.zeros(50))
    assert (constant.autocorrelation, constant.enough) == (0.0, False)


@pytest.mark.parametrize("design", power.PLANNED)
def test_planned_rows_have_the_power_that_is_asked_for(design):
    budget, runs, counts = power.PLANNED[design], 300, design.startswith("counts")
    many = power.paired_losses(design, 400_000, np.random.default_rng(5))
    rows = int(rows_needed(many.var(), budget, many.mean(), counts=counts))
    shown = 0
    for seed in range(runs):
        d = power.paired_losses(design, rows, np.random.default_rng([13, seed]))
        shown += paired_difference(d, counts=counts).upper <= budget
    assert binom.ppf(1e-6, runs, 0.75) <= shown <= binom.isf(1e-6, runs, 0.9)


def test_a_plan_is_the_inverse_of_the_smallest_budget():
    for counts in (False, True):
        known = {"counts": counts, "widening": 1.2, "confidence": 0.99}
        rows = rows_needed(0.03, 0.02, 0.004, **known)
        assert smallest_budget(0.03, rows, 0.004, **known) <= 0.02
        assert smallest_budget(0.03, rows - 1, 0.004, **known) > 0.02
    assert rows_needed(0.03, 0.02) == np.ceil((1.6448536 + 0.8416212) ** 2 * 0.03 / 0.02**2)
    assert rows_needed(0.03, 0.02, 0.02) == np.inf
    with pytest.raises(ParameterError, match="variance"):
        rows_needed(-1.0, 0.02)
    with pytest.raises(ParameterError, match="power"):
        smallest_budget(1.0, 100, power=1.0)


def test_few_rows_that_are_all_worse_have_the_exact_limit():
    """Three of 398 rows worse, none better: at 99.8 % the limit was .066, of Hall's cubic."""
    differences = np.repeat([1.0, 0.0], [3, 395])
    found = paired_difference(differences, 0.998, counts=True).upper
    assert found == pytest.approx(beta.ppf(0.998, 4, 395), abs=1e-12)
