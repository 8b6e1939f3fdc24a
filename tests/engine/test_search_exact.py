"""Every score of the engine is the estimator's, on that subset, to the last neighbor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tables import STYLES, draw
from oracles import search as oracle
from pinsker.engine import Backward, Forward
from pinsker.information._estimators import knn_terms

# Both sides add at most a few hundred digammas of at most 6: rounding stays far below.
ROUNDING = 1e-12
TARGETS = ("classes", "rare classes", "number", "numbers")


def from_scratch(table, feature, others, k, score):
    """One score by calling the estimator on that subset."""

    def columns(features):
        picked = sorted(c for u in features for c in table.features[u])
        return np.ascontiguousarray(table.values[:, picked])

    def information(features):
        return knn_terms(columns(features), table.target, None, k=k).value if features else 0.0

    if score == "direct" and others:
        return knn_terms(columns([feature]), table.target, columns(others), k=k).value
    return information([*others, feature]) - information(others)


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(3, 14),
    columns=st.integers(1, 6),
    k=st.integers(1, 4),
    style=st.sampled_from(STYLES),
    target=st.sampled_from(TARGETS),
    grouped=st.booleans(),
    score=st.sampled_from(["difference", "direct"]),
)
@settings(max_examples=60)
def test_small_tables_match_the_definition(seed, rows, columns, k, style, target, grouped, score):
    table = draw(seed, rows=rows, columns=columns, style=style, target=target, grouped=grouped)
    k = min(k, rows - 1)
    order = np.random.default_rng(seed).permutation(len(table.features)).tolist()
    backward = Backward(table.problem(), n_neighbors=k, score=score)
    forward = Forward(table.problem(), n_neighbors=k, score=score)
    for size, feature in enumerate(order):
        removal, addition = backward.scores(), forward.scores()
        for other in order[size:]:
            rest = sorted(set(order[size:]) - {other})
            args = (table.values, table.features, table.target)
            want = oracle.gain(*args, other, rest, k, score)
            assert removal[other] == pytest.approx(want, abs=ROUNDING)
            want = oracle.gain(*args, other, order[:size], k, score)
            assert addition[other] == pytest.approx(want, abs=ROUNDING)
        backward.remove(feature)
        forward.add(feature)


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("style", STYLES)
def test_every_candidate_equals_the_estimator_from_scratch(style, target, score, seed):
    # 45 features: the search starts with watched pairs and goes over to masks at 32.
    table = draw(seed, rows=60, columns=45, style=style, target=target, grouped=style == "tied")
    backward = Backward(table.problem(), n_neighbors=3, score=score, n_threads=2)
    rng = np.random.default_rng(seed)
    while len(backward.active) > 1:
        here = backward.active
        scores = backward.scores()
        for feature in rng.choice(here, size=min(3, len(here)), replace=False):
            others = [u for u in here if u != feature]
            assert scores[feature] == pytest.approx(
                from_scratch(table, feature, others, 3, score), abs=ROUNDING
            )
        backward.remove(int(np.nanargmin(scores)))
    assert backward.scores()[backward.active[0]] == backward.information


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("style", STYLES)
def test_every_addition_equals_the_estimator_from_scratch(style, target, score, seed):
    # 200 rows: most candidates settle within reach, some need all rows.
    table = draw(seed, rows=200, columns=9, style=style, target=target, grouped=style == "nominal")
    forward = Forward(table.problem(), n_neighbors=4, score=score, n_threads=2)
    for _ in range(len(table.features)):
        scores = forward.scores()
        inside = list(forward.active)
        for feature in np.flatnonzero(~np.isnan(scores)):
            want = from_scratch(table, int(feature), inside, 4, score)
            assert scores[feature] == pytest.approx(want, abs=ROUNDING)
        forward.add(int(np.nanargmax(scores)))
    assert np.isnan(forward.scores()).all()


@pytest.mark.parametrize("n_neighbors", [1, 12, 39])
def test_many_neighbors(n_neighbors, seed):
    table = draw(seed, rows=40, columns=5, style="mixed", target="classes")
    backward = Backward(table.problem(), n_neighbors=n_neighbors)
    forward = Forward(table.problem(), n_neighbors=n_neighbors)
    for feature in range(5):
        others = [u for u in range(5) if u != feature]
        want = from_scratch(table, feature, others, n_neighbors, "difference")
        assert backward.scores()[feature] == pytest.approx(want, abs=ROUNDING)
        want = from_scratch(table, feature, [], n_neighbors, "difference")
        assert forward.scores()[feature] == pytest.approx(want, abs=ROUNDING)


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", ["rare classes", "number"])
@pytest.mark.parametrize("style", STYLES)
def test_whole_paths_equal_a_slow_search(style, target, score, seed):
    table = draw(seed, rows=18, columns=6, style=style, target=target, grouped=style == "mixed")
    args = (table.values, table.features, table.target)
    moves, scores, known = oracle.backward(*args, k=2, score=score)
    backward = Backward(table.problem(), n_neighbors=2, score=score)
    for feature, want, information in zip(moves, scores, known, strict=False):
        assert backward.information == pytest.approx(information, abs=ROUNDING)
        found = backward.scores()
        assert found[feature] == pytest.approx(want, abs=ROUNDING)
        assert np.nanmin(found) >= want - ROUNDING  # nothing was cheaper
        backward.remove(feature)
    moves, scores, known = oracle.forward(*args, k=2, score=score)
    forward = Forward(table.problem(), n_neighbors=2, score=score)
    for feature, want, information in zip(moves, scores, known, strict=False):
        assert forward.information == pytest.approx(information, abs=ROUNDING)
        found = forward.scores()
        assert found[feature] == pytest.approx(want, abs=ROUNDING)
        assert np.nanmax(found) <= want + ROUNDING  # nothing was better
        forward.add(feature)
