"""Identities that hold for every table, drawn by hypothesis."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pinsker import conditional_mutual_information, entropy, mutual_information

pytestmark = pytest.mark.filterwarnings("ignore::pinsker.exceptions.UnreliableEstimateWarning")

#: The counts behind an estimate are integers and must not change at all; what is left is the
#: rounding of a mean of at most 30 sums of digammas.
ROUNDING = 1e-12
NUMBERS = {"x": "continuous", "y": "continuous", "z": "continuous"}
FEW = settings(max_examples=40)


def tables(n_columns, *, cells=None, rows=(8, 30)):
    """Matrices with ties: one decimal, as measured data have."""
    cells = st.integers(-40, 40) if cells is None else cells
    shapes = st.tuples(st.integers(*rows), st.just(n_columns))
    return shapes.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=cells)).map(
        lambda table: table / 10
    )


def smooth_tables(n_columns):
    """Continuous tables without ties, well conditioned; hypothesis draws the seed."""
    seeds = st.integers(0, 2**32 - 1)
    return st.tuples(seeds, st.integers(12, 40)).map(
        lambda drawn: np.random.default_rng(drawn[0]).normal(size=(drawn[1], n_columns))
    )


def categories(n_columns):
    return tables(n_columns, cells=st.integers(0, 3)).map(lambda table: table.astype(str))


def split(table):
    return table[:, :1], table[:, 1:2], table[:, 2:]


def numbers(*names):
    return dict.fromkeys(names, "continuous")


def knn(x, y, z=None, **options):
    if z is None:
        return mutual_information(
            x, y, method="knn", categorical_features=numbers("x", "y"), **options
        )
    return conditional_mutual_information(
        x, y, z, method="knn", categorical_features=NUMBERS, **options
    )


# --- symmetry and order of the rows


@FEW
@given(table=tables(4))
def test_knn_is_symmetric(table):
    x, y, z = split(table)
    assert knn(x, y) == pytest.approx(knn(y, x), abs=ROUNDING)
    assert knn(x, y, z) == pytest.approx(knn(y, x, z), abs=ROUNDING)


@FEW
@given(table=categories(3))
def test_counting_is_symmetric_to_the_last_bit_but_rounding(table):
    x, y, z = split(table)
    options = {"method": "discrete"}
    assert mutual_information(x, y, **options) == pytest.approx(
        mutual_information(y, x, **options), abs=ROUNDING
    )
    assert conditional_mutual_information(x, y, z, **options) == pytest.approx(
        conditional_mutual_information(y, x, z, **options), abs=ROUNDING
    )


@FEW
@given(table=smooth_tables(4))
def test_gaussian_is_symmetric(table):
    x, y, z = split(table)
    for method in ("gaussian", "copula"):
        assert conditional_mutual_information(x, y, z, method=method) == pytest.approx(
            conditional_mutual_information(y, x, z, method=method), abs=1e-11
        )


@FEW
@given(table=tables(3), data=st.data())
def test_order_of_rows_is_irrelevant(table, data):
    order = np.array(data.draw(st.permutations(range(len(table)))))
    x, y, z = split(table)
    shuffled = split(table[order])
    assert knn(*shuffled) == pytest.approx(knn(x, y, z), abs=ROUNDING)
    as_text = [side.astype(str) for side in (x, y, z)]
    counted = conditional_mutual_information(*as_text, method="discrete")
    again = conditional_mutual_information(*[side[order] for side in as_text], method="discrete")
    assert again == counted  # to the last bit: sums run over sorted counts


# --- units


@FEW
@given(
    table=tables(3),
    factors=st.tuples(*[st.floats(1e-9, 1e9)] * 3),
    scale=st.sampled_from(["standard", "copula"]),
)
@example(
    table=np.round(np.arange(24).reshape(8, 3) % 7 * 0.1, 1),
    factors=(0.1, 3 / 7, 1e6),
    scale="standard",
)
def test_units_are_irrelevant_for_knn_even_with_ties(table, factors, scale):
    x, y, z = split(table)
    a, b, c = factors
    scaled = knn(a * x, b * y, c * z, scale=scale)
    assert scaled == pytest.approx(knn(x, y, z, scale=scale), abs=ROUNDING)


@FEW
@given(table=smooth_tables(4), factors=st.tuples(*[st.floats(1e-9, 1e9)] * 3))
def test_units_are_irrelevant_for_gaussian(table, factors):
    x, y, z = split(table)
    a, b, c = factors
    scaled = conditional_mutual_information(a * x, b * y, c * z, method="gaussian")
    assert scaled == pytest.approx(
        conditional_mutual_information(x, y, z, method="gaussian"), abs=1e-11
    )


@FEW
@given(table=tables(3))
def test_monotone_maps_are_irrelevant_under_copula(table):
    x, y, z = split(table)
    bent = (np.exp(x), y**3 + y, np.arctan(z))
    # The maps must keep different values different in floating point.
    for side, mapped in zip((x, y, z), bent, strict=True):
        assume(len(np.unique(side, axis=0)) == len(np.unique(mapped, axis=0)))
    assert knn(*bent) == knn(x, y, z)
    assert conditional_mutual_information(*bent, method="copula", categorical_features=NUMBERS) == (
        conditional_mutual_information(x, y, z, method="copula", categorical_features=NUMBERS)
    )


# --- chain rule


@FEW
@given(table=categories(4), correction=st.sampled_from(["none", "miller-madow", "grassberger"]))
def test_chain_rule_of_counting(table, correction):
    x, y, z = split(table)
    options = {"method": "discrete", "correction": correction}
    whole = mutual_information(np.hstack([x, z]), y, **options)
    parts = mutual_information(z, y, **options)
    parts += conditional_mutual_information(x, y, z, **options)
    assert whole == pytest.approx(parts, abs=ROUNDING)


@FEW
@given(table=smooth_tables(5), method=st.sampled_from(["gaussian", "copula"]))
def test_chain_rule_of_gaussian(table, method):
    x, y, z = split(table)
    whole = mutual_information(np.hstack([x, z]), y, method=method)
    parts = mutual_information(z, y, method=method)
    parts += conditional_mutual_information(x, y, z, method=method)
    assert whole == pytest.approx(parts, abs=1e-11)


# --- nothing adds nothing


@FEW
@given(table=tables(4), scale=st.sampled_from(["standard", "copula", "none"]))
def test_knn_of_a_duplicate_given_its_original_is_zero(table, scale):
    _, y, z = split(table)
    assert knn(z[:, :1], y, z, scale=scale) == pytest.approx(0.0, abs=ROUNDING)
    assert knn(y, z[:, 1:], z, scale=scale) == pytest.approx(0.0, abs=ROUNDING)


@FEW
@given(table=categories(3))
def test_counting_a_duplicate_given_its_original_is_exactly_zero(table):
    _, y, z = split(table)
    for correction in ("none", "miller-madow", "grassberger"):
        options = {"method": "discrete", "correction": correction}
        assert conditional_mutual_information(z, y, z, **options) == 0.0


@FEW
@given(table=smooth_tables(4))
def test_gaussian_of_a_duplicate_given_its_original_is_exactly_zero(table):
    _, y, z = split(table)
    for method in ("gaussian", "copula"):
        assert conditional_mutual_information(z[:, :1], y, z, method=method) == 0.0


@FEW
@given(
    table=tables(2),
    value=st.sampled_from([0.0, 1.0, -7.5, 1e9]),
    method=st.sampled_from(["auto", "knn", "gaussian", "copula"]),
)
def test_constants_carry_nothing(table, value, method):
    x, y, _ = split(table)
    constant = np.full_like(x, value)
    kinds = numbers("x", "y")
    for pair in ((constant, y), (y, constant), (constant, constant)):
        found = mutual_information(*pair, method=method, categorical_features=kinds)
        assert found == pytest.approx(0.0, abs=ROUNDING)
    found = conditional_mutual_information(
        constant, y, x, method=method, categorical_features=NUMBERS
    )
    assert found == pytest.approx(0.0, abs=ROUNDING)


@FEW
@given(table=categories(2), correction=st.sampled_from(["none", "miller-madow", "grassberger"]))
def test_counted_constants_carry_exactly_nothing(table, correction):
    x, y, _ = split(table)
    constant = np.full_like(x, "a")
    options = {"method": "discrete", "correction": correction}
    assert mutual_information(constant, y, **options) == 0.0
    assert mutual_information(y, constant, **options) == 0.0
    assert conditional_mutual_information(constant, y, x, **options) == 0.0
    assert entropy(constant, correction=correction) == 0.0


# --- bounds


@FEW
@given(table=categories(3))
def test_counted_information_is_between_zero_and_the_smaller_entropy(table):
    x, y, z = split(table)
    options = {"method": "discrete", "correction": "none"}
    found = mutual_information(x, y, **options)
    smaller = min(entropy(x, correction="none"), entropy(y, correction="none"))
    assert -ROUNDING <= found <= smaller + ROUNDING
    assert conditional_mutual_information(x, y, z, **options) >= -ROUNDING
    assert mutual_information(x, x, **options) == pytest.approx(
        entropy(x, correction="none"), abs=ROUNDING
    )


@FEW
@given(table=tables(4))
def test_knn_stays_below_its_ceiling(table):
    x, y, z = split(table)
    for found in (knn(x, y, return_details=True), knn(x, y, z, return_details=True)):
        assert found.value <= found.ceiling + ROUNDING


@FEW
@given(table=smooth_tables(3), factor=st.floats(1e-6, 1e6))
def test_differential_entropy_moves_with_the_unit(table, factor):
    for method in ("knn", "gaussian"):
        base = entropy(table, method=method)
        moved = entropy(factor * table, method=method)
        assert moved == pytest.approx(base + 3 * math.log(factor), abs=1e-9)
