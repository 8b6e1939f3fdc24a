"""Linear searches where columns are linear functions of others, constant, or explain all."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oracles import search as slow
from pinsker import FeatureSelector, LinearSelection
from pinsker.encoding import encode
from pinsker.search import (
    LinearBackward,
    LinearDesign,
    LinearSearchSettings,
    _least_squares,
    linear,
)

DIRECTIONS = pytest.mark.parametrize("direction", ["backward", "forward"])
# Of the target's variance; both sides lose the condition of the columns times 1e-16.
CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def indicators(codes):
    return (codes[:, None] == np.unique(codes)[1:]).astype(float)


def frame_and_columns(*codes):
    """Return text columns as a frame, their indicators, and the columns of each feature."""
    frame = pd.DataFrame({f"c{i}": [f"v{v:03d}" for v in c] for i, c in enumerate(codes)})
    blocks = [indicators(c) for c in codes]
    edges = np.cumsum([0, *(block.shape[1] for block in blocks)])
    features = [list(range(a, b)) for a, b in itertools.pairwise(edges)]
    return frame, np.hstack(blocks), features


def entangled_codes(rng, n, n_pairs, n_categories):
    """Pairs of columns that share half of their categories: neither determines the other."""
    first = [rng.integers(n_categories, size=n) for _ in range(n_pairs)]
    second = [
        np.where(c < n_categories // 2, c, n_categories + rng.integers(n_categories // 2, size=n))
        for c in first
    ]
    return [*first, *second]


def dependent_columns(rng, n, kind):
    """Return columns of low rank: sums of a few normal, or of a few 0/1 columns."""
    rank, p = rng.integers(2, 9), rng.integers(9, 25)
    mix = rng.integers(-1, 2, size=(rank, p)) * (rng.random((rank, p)) < 0.4)
    base = rng.normal(size=(n, rank)) if kind == "normal" else rng.integers(0, 2, size=(n, rank))
    return base @ mix * 1.0


@DIRECTIONS
def test_entangled_text_columns_take_the_path_of_least_squares(direction, seed):
    rng = np.random.default_rng(seed)
    codes = entangled_codes(rng, 200, 3, 8)
    frame, columns, features = frame_and_columns(*codes)
    y = columns @ rng.normal(size=columns.shape[1]) + rng.normal(size=200)
    path = LinearSelection(direction=direction, patience=None).fit(frame, y).path_
    moves, left = slow.linear(direction, columns, features, y[:, None])
    assert list(path.moves) == moves
    total = np.square(y - y.mean()).sum()
    # The path's last information is 0 by definition: the empty set.
    np.testing.assert_allclose(np.exp(-2 * np.array(path.information)), left / total, **CLOSE)


@pytest.mark.parametrize("kind", ["normal", "binary"])
@pytest.mark.parametrize("order", ["cheapest", "any"])
def test_every_cost_is_that_of_least_squares(kind, order, seed):
    rng = np.random.default_rng([seed, len(kind), len(order)])
    for _ in range(8):
        X = dependent_columns(rng, 60, kind)
        p = X.shape[1]
        y = X[:, :2] + rng.normal(size=(60, 2))
        cuts = np.sort(rng.integers(0, p + 1, size=rng.integers(3, p)))  # some features are empty
        features = tuple(tuple(int(j) for j in part) for part in np.split(rng.permutation(p), cuts))
        state = LinearBackward(
            LinearDesign(X - X.mean(axis=0), features, y - y.mean(axis=0)),
            tuple(range(len(features))),
        )
        check_costs_down_to_nothing(state, X, y, features, rng if order == "any" else None)


def check_costs_down_to_nothing(state, X, y, features, rng):
    def left_by(chosen):
        return slow.left_by_linear_model(X, y, slow.columns_of(features, chosen))

    while state.active:
        scores, active = state.scores(), state.active
        now = left_by(active)
        assert state.left == pytest.approx(now, rel=1e-9)
        expected = [0.5 * np.log(left_by(set(active) - {f}) / now) for f in active]
        np.testing.assert_allclose(scores[list(active)], expected, **CLOSE)
        cheapest = np.flatnonzero(scores <= np.nanmin(scores) + 1e-12)[-1]
        state.remove(int(cheapest if rng is None else rng.choice(active)))


def test_the_model_is_factorised_once_not_per_feature_and_step(monkeypatch):
    fits = []
    fit = _least_squares.LeastSquares._fit
    monkeypatch.setattr(
        _least_squares.LeastSquares, "_fit", lambda self: (fits.append(1), fit(self))[1]
    )
    rng = np.random.default_rng(0)
    frame, columns, _ = frame_and_columns(*entangled_codes(rng, 600, 10, 12))
    y = columns @ rng.normal(size=columns.shape[1]) + rng.normal(size=600)
    LinearSelection().fit(frame, y)
    assert len(fits) <= 3


def test_entangled_text_columns_take_few_times_one_factorisation():
    # CPU time as a multiple of one QR of the same columns in the same run: 273 with a QR per
    # feature and step, 6 with updates, on 1270 rows and 18 columns.
    rng = np.random.default_rng(0)
    frame, columns, _ = frame_and_columns(*entangled_codes(rng, 1500, 10, 40))
    encoded = encode(frame, columns[:, ::7].sum(axis=1) + rng.normal(size=1500))
    start = time.process_time()
    np.linalg.qr(columns, mode="r")
    one = time.process_time() - start
    start = time.process_time()
    linear(encoded, LinearSearchSettings())
    assert time.process_time() - start < 30 * one + 0.5


def test_copies_of_wide_text_columns_go_first():
    # Ten text columns of 30 to 125 categories and a renamed copy of each.
    rng = np.random.default_rng(0)
    codes = [rng.integers(k, size=3000) for k in np.linspace(30, 125, 10).astype(int)]
    frame, columns, _ = frame_and_columns(*codes, *(rng.permutation(c.max() + 1)[c] for c in codes))
    y = columns[:, ::7].sum(axis=1) + rng.normal(size=3000)
    path = linear(encode(frame, y), LinearSearchSettings())
    assert list(path.moves[:10]) == list(range(19, 9, -1))
    np.testing.assert_allclose(path.scores[:10], 0.0, atol=1e-12)


def test_redundant_features_cost_nothing_and_the_later_goes_first(seed):
    rng = np.random.default_rng(seed)
    country = rng.integers(12, size=300)
    continent, other = country // 3, rng.integers(5, size=300)
    mixed = np.where(continent == 0, 0, 1 + other)
    frame, columns, features = frame_and_columns(continent, country, other, country, mixed)
    y = columns[:, features[1]] @ rng.normal(size=11) + other + rng.normal(size=300)
    path = LinearSelection().fit(frame, y).path_
    # country's copy, then continent, which country determines; `mixed` is no linear function.
    assert path.moves[:2] == (3, 0)
    np.testing.assert_allclose(path.scores[:2], 0.0, atol=1e-12)
    assert path.scores[2] > 1e-6


def test_what_a_fixed_feature_makes_up_for_costs_nothing(seed):
    # The sum is fixed: either of its terms goes free, though the sum itself was the spare column.
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 80))
    X = np.column_stack([a, b, c, a + b])
    y = a + 0.7 * b + 0.1 * c + rng.normal(size=80)
    path = LinearSelection(fixed_features=[3]).fit(X, y).path_
    assert path.moves[0] == 1
    assert path.scores[0] == pytest.approx(0.0, abs=1e-12)


@DIRECTIONS
@pytest.mark.parametrize("n_numeric", [10, 0])
def test_text_columns_of_one_category_bring_nothing(direction, n_numeric):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, n_numeric))
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(n_numeric)])
    for j in range(12):
        frame.insert(min(j, frame.shape[1]), f"t{j}", "same")
    y = x.sum(axis=1) + rng.normal(size=60)
    path = LinearSelection(direction=direction, patience=None).fit(frame, y).path_
    constant = {j for j, name in enumerate(frame.columns) if name.startswith("t")}
    empty = path.moves[:12] if direction == "backward" else path.moves[n_numeric:]
    assert set(empty) == constant
    assert list(empty) == sorted(constant, reverse=direction == "backward")
    assert np.isfinite(path.information).all()


@DIRECTIONS
@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_target_without_variance_carries_no_information(direction, value):
    # As in a fold without the one row of a rare event; the mean of many 0.1 is not quite 0.1.
    rng = np.random.default_rng(0)
    encoded = encode(rng.normal(size=(30, 4)), np.arange(30.0))
    flat = replace(encoded.target, raw=np.full((30, 1), value))
    path = linear(replace(encoded, target=flat), LinearSearchSettings(direction, patience=None))
    assert len(path.moves) == 4
    assert path.information == (0.0,) * 5


@DIRECTIONS
def test_more_indicators_than_rows_explain_everything(direction):
    rng = np.random.default_rng(0)
    codes = [rng.integers(8, size=40) for _ in range(12)]
    frame, columns, _ = frame_and_columns(*codes)
    y = columns[:, 0] * 1.0
    selector = LinearSelection(direction=direction, patience=None).fit(frame, y)
    known = np.array(selector.path_.information)
    assert len(selector.path_.moves) == 12
    assert np.isfinite(known).all()
    assert known.max() > 15  # all but rounding
    assert selector.get_support(indices=True).tolist() == [0]


@pytest.mark.filterwarnings("ignore:class 1 has a single row")
def test_a_rare_event_in_a_wide_table_is_selected_from():
    # Like DAAG/rockArt: hundreds of 0/1 columns, about a hundred rows, one row that differs.
    rng = np.random.default_rng(0)
    X = (rng.random((60, 90)) < 0.05).astype(float)
    y = np.zeros(60)
    y[7] = 1.0
    X[:, 3] = y
    selector = FeatureSelector(random_state=0).fit(X, y)
    assert np.isfinite(selector.path_.information).all()
