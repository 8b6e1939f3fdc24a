"""A path: nested sets, what they lose, and its round trip through JSON."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinsker.exceptions import ParameterError
from pinsker.search import CountedPath, SelectionPath, Step

NAMES = ("a", "b", "c", "d")
BACKWARD = SelectionPath(
    "backward", NAMES, (2, 0, 3, 1), (-0.1, 0.05, 0.15, 0.6), (0.7, 0.8, 0.75, 0.6, 0.0)
)
FORWARD = SelectionPath("forward", NAMES, (1, 3, 0), (0.6, 0.15, 0.05), (0.0, 0.6, 0.75, 0.8))

finite = st.floats(-5, 5)


@st.composite
def paths(draw):
    n = draw(st.integers(1, 7))
    order = draw(st.permutations(range(n)))
    steps = draw(st.integers(0, n))
    numbers = st.one_of(finite, st.sampled_from([float("inf"), float("nan")]))
    return SelectionPath(
        draw(st.sampled_from(["backward", "forward"])),
        tuple(draw(st.lists(st.text(), min_size=n, max_size=n))),
        tuple(order[:steps]),
        tuple(draw(st.lists(finite, min_size=steps, max_size=steps))),
        tuple(draw(st.lists(finite, min_size=steps + 1, max_size=steps + 1))),
        bounds=tuple(draw(st.lists(numbers, min_size=steps + 1, max_size=steps + 1))),
        metric=draw(st.text()),
        full_information=draw(st.none() | finite),
        n_fixed=draw(st.integers(0, n)),
        complete=draw(st.booleans()),
    )


def test_sets_are_read_the_same_way_for_both_directions():
    assert BACKWARD.order == (1, 3, 0, 2)
    assert FORWARD.order == (1, 3, 0)
    assert BACKWARD.sizes.tolist() == [4, 3, 2, 1, 0]
    assert FORWARD.sizes.tolist() == [0, 1, 2, 3]
    for path in (BACKWARD, FORWARD):
        assert path.set_at(2) == (1, 3)
        assert path.information_at(2) == 0.75
        assert path.best_size == 3
        assert path.n_features == 4


def test_loss_is_measured_from_the_best_set_seen_and_is_never_negative():
    np.testing.assert_allclose(BACKWARD.lost(), [0.1, 0.0, 0.05, 0.2, 0.8])
    np.testing.assert_allclose(BACKWARD.lost("full"), [0.0, 0.0, 0.0, 0.1, 0.7])


def test_the_full_set_counts_among_the_sets_seen():
    path = dataclasses.replace(FORWARD, full_information=1.0)
    np.testing.assert_allclose(path.lost(), [1.0, 0.4, 0.25, 0.2])
    np.testing.assert_allclose(path.lost("full"), [1.0, 0.4, 0.25, 0.2])
    with pytest.raises(ParameterError, match="does not pass through the set of all features"):
        FORWARD.lost("full")


def test_spent_clips_each_score_at_zero():
    np.testing.assert_allclose(BACKWARD.spent, [0.0, 0.0, 0.05, 0.2, 0.8])


def test_rounding_is_no_loss():
    path = SelectionPath("backward", ("a", "b"), (1,), (-1e-16,), (0.3, 0.3 - 1e-15))
    assert path.lost().tolist() == [0.0, 0.0]
    assert path.best_size == 1


def test_steps_hold_everything_about_each_move():
    path = BACKWARD.with_bounds((0.0, 0.1, 0.2, 0.3, 0.5), "error rate")
    step = path.steps[1]
    assert step == Step(2, "a", 0, 0.05, 0.75, pytest.approx(0.05), 0.05, 0.2)
    assert path.bound_at(2) == 0.2
    assert np.isnan(BACKWARD.bound_at(2))
    assert np.isnan(BACKWARD.steps[0].bound)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_has_a_row_per_step(library):
    frame = BACKWARD.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == [field.name for field in dataclasses.fields(Step)]
    assert list(frame["feature"]) == ["c", "a", "d", "b"]
    assert list(frame["index"]) == [2, 0, 3, 1]
    assert list(frame["size"]) == [3, 2, 1, 0]


def test_frame_of_an_unknown_library():
    with pytest.raises(
        ParameterError, match="library='dask' is not known: use 'pandas' or 'polars'"
    ):
        BACKWARD.to_frame("dask")


@given(path=paths())
def test_json_round_trip_is_exact(path):
    back = SelectionPath.from_json(path.to_json())
    for field in dataclasses.fields(path):
        np.testing.assert_equal(getattr(back, field.name), getattr(path, field.name))


@given(path=paths())
def test_sets_are_nested_and_loss_is_not_negative(path):
    for size in path.sizes:
        assert len(set(path.set_at(int(size)))) == size
    assert (path.lost() >= 0).all()
    assert (np.diff(path.spent) >= 0).all()


def test_path_is_a_value():
    again = SelectionPath.from_json(BACKWARD.to_json())
    assert again == BACKWARD
    assert hash(again) == hash(BACKWARD)
    assert pickle.loads(pickle.dumps(BACKWARD)) == BACKWARD
    with pytest.raises(dataclasses.FrozenInstanceError):
        BACKWARD.score = "direct"


def test_repr_describes_it():
    assert repr(BACKWARD) == (
        "SelectionPath(backward, 4 features, 4 steps, best: 3 features with 0.8000 nats)"
    )
    assert "3 steps, partial" in repr(dataclasses.replace(FORWARD, complete=False))
    # That of a search by criterion wrote out every name and number: 500 000 characters.
    assert repr(CountedPath(*dataclasses.astuple(BACKWARD))) == repr(BACKWARD)


def test_repr_of_a_path_whose_sets_were_not_measured():
    nan = float("nan")
    path = SelectionPath("forward", ("a", "b"), (1, 0), (0.2, 0.1), (0.0, nan, nan))
    assert repr(path).startswith("SelectionPath(forward, 2 features, 2 steps")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": (0.1,)}, "a path of 4 moves needs 4 scores and 5 information values, found 1"),
        ({"bounds": (0.1,)}, "a path of 4 moves needs 5 bounds, found 1"),
    ],
)
def test_lengths_must_fit(change, message):
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(BACKWARD, **change)


def test_the_plan_of_a_search_is_no_part_of_the_value():
    planned = dataclasses.replace(BACKWARD, plan=object())
    assert planned == BACKWARD
    assert SelectionPath.from_json(planned.to_json()).plan is None


def test_sizes_off_the_path():
    with pytest.raises(ParameterError, match="size 4 is not on this path, which has sizes 0 to 3"):
        FORWARD.set_at(4)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 99}', '{"schema": 1}'])
def test_json_of_something_else(text):
    with pytest.raises(ParameterError, match="not the JSON of a selection path"):
        SelectionPath.from_json(text)
