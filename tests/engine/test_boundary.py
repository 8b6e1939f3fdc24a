"""The kernels read memory by sizes and numbers: nothing wrong may reach them.

Each of these ended in a segmentation fault, a double free, a read past the end of an array, a
wrong number, no end, or an error of another package.
"""

import copy
import pickle
from types import ModuleType

import numpy as np
import pytest

from pinsker import engine
from pinsker.engine import (
    Backward,
    EngineSettings,
    Forward,
    KNNSettings,
    PartitionTables,
    Problem,
    WorkerMemory,
    array_library,
    available_memory,
    boosted_scores,
    box_counts,
    calls_on_cluster,
    class_probabilities,
    count_threads,
    find_client,
    generator_of,
    grassberger_log,
    is_local,
    mean_values,
    memory_limit,
    neighbor_counts,
    plan_sample,
    search_bytes,
)
from pinsker.exceptions import DataError, MemoryBudgetError, ParameterError, PinskerError

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(np.int64)
PROBLEM = Problem.from_arrays(X, labels=Y)
TREES = {"n_trees": 2, "min_leaf": 1, "n_candidates": 1, "seed": 0}
BOOSTED = {
    "train": X, "target": Y, "test": X, "categorical": np.zeros(3, dtype=bool),
    "weights": np.ones(40), "n_classes": 2, "n_fit": 30, "n_rounds": 2, "n_leaves": 3,
    "min_leaf": 5, "patience": 1, "n_bins": 9, "rate": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"labels": Y[:10]},
        {"labels": Y.astype(float)},
        {"labels": Y[:, None]},
        {"target": X[:10, :1]},
        {"target": X[:, :0]},
        {"target": np.full((40, 1), np.nan)},
        {"labels": Y, "target": X[:, :1]},
        {},
        {"labels": Y, "features": np.array([0, 1])},
        {"labels": Y, "features": np.array([0, -1, 1])},
        {"labels": Y, "features": np.array([0, 2, 2])},
        {"labels": Y, "features": np.array([0.0, 1.0, 2.0])},
        {"labels": Y, "features": ["a", "b", "c"]},
        {"labels": Y, "features": [[0], [1, 2]]},
        {"labels": Y, "features": [0, 1, 2**40]},
        {"labels": Y, "features": 2},
        {"labels": [[0], [1, 2]]},
    ],
)
def test_problems_that_do_not_fit_together_are_refused(given):
    with pytest.raises(DataError):
        Problem.from_arrays(X, **given)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_values_are_finite(wrong):
    values = X.copy()
    values[7, 1] = wrong
    with pytest.raises(DataError, match="row 7, column 1"):
        Problem.from_arrays(values, labels=Y)


@pytest.mark.parametrize("values", [X[:0], X[:, :0], X[:, 0], X[None]])
def test_tables_have_rows_and_columns(values):
    with pytest.raises(DataError):
        Problem.from_arrays(values, labels=Y)


def test_labels_may_be_any_integers():
    plain = Backward(Problem.from_arrays(X, labels=Y)).scores()
    for labels in (2 * Y - 1, Y * 10**12, Y.astype(bool), Y.astype(np.uint8)):
        np.testing.assert_array_equal(
            Backward(Problem.from_arrays(X, labels=labels)).scores(), plain
        )


@pytest.mark.parametrize("search", [Backward, Forward])
@pytest.mark.parametrize(
    "given",
    [
        {"n_threads": -1},
        {"n_threads": 0},
        {"n_threads": 1.5},
        {"n_neighbors": 0},
        {"n_neighbors": -3},
        {"active": [3]},
        {"active": [-1]},
        {"active": 5},
        {"n_threads": 2**40},
        {"n_neighbors": 2**31},
        {"max_memory": "1G"},
        {"max_memory": 2**70},
        {"max_samples": 1.5},
        {"seed": -1},
        {"seed": None},
        {"score": "x"},
        {"score": np.array(["direct", "x"])},
        {"engine": np.array(["local", "x"])},
        {"engine": "dask", "client": 5},
    ],
)
def test_searches_refuse_what_they_cannot_do(search, given):
    with pytest.raises(ParameterError, match=f"({list(given)[-1]}|feature)="):
        search(Problem.from_arrays(X, labels=Y), **given)


@pytest.mark.parametrize("search", [Backward, Forward])
def test_searches_take_problems(search):
    with pytest.raises(ParameterError, match=r"problem is of type ndarray: give a Problem"):
        search(X)
    with pytest.raises(ParameterError, match=r"problem is of type ndarray: give a Problem"):
        plan_sample(X, max_memory=None, max_samples=None, seed=0)


def test_a_problem_is_not_what_a_user_changes_later():
    """A search freed memory twice where its values had become NaN."""
    values, target = X.copy(), X[:, :1].copy()
    for given in ({"labels": Y}, {"target": target}):
        problem = Problem.from_arrays(values, **given)
        direct = Problem(values, np.arange(3), 3, given.get("labels"), given.get("target"))
        before = Backward(problem).scores()
        values[:], target[:] = np.nan, np.nan
        for same in (problem, direct, copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
            np.testing.assert_array_equal(Backward(same).scores(), before)
        values[:], target[:] = X, X[:, :1]


@pytest.mark.parametrize("name", ["values", "feature_of_column", "labels"])
def test_the_arrays_of_a_problem_cannot_be_written_to(name):
    problem = Problem.from_arrays(X, labels=Y)
    for same in (problem, copy.copy(problem), copy.deepcopy(problem)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(same, name)[:] = 10**6
    search = Backward(problem)
    with pytest.raises(ValueError, match="read-only"):
        search.plan.queries[:] = 10**6
    for attribute, other in (("n_threads", -1), ("problem", None), ("score", "direct")):
        with pytest.raises(AttributeError):
            setattr(search, attribute, other)


@pytest.mark.parametrize("n_features", [2, 4, 2**40, "3", None, 3.0, np.arange(3)])
def test_problems_know_their_number_of_features(n_features):
    with pytest.raises((DataError, ParameterError), match="n_features="):
        Problem(X, np.arange(3), n_features, Y, None)
    with pytest.raises(ParameterError, match="cache"):
        Problem(X, np.arange(3), 3, Y, None, cache=n_features)


def test_integers_too_long_to_be_written():
    long = 10**5000
    for call in (
        lambda: Backward(PROBLEM, n_threads=long),
        lambda: Backward(PROBLEM).remove(long),
        lambda: count_threads(long),
        lambda: generator_of(-long),
    ):
        with pytest.raises(ParameterError, match="=<an integer of 166"):
            call()


def test_masked_values_are_not_dropped():
    masked = np.ma.masked_array(X, X > 1)
    for call in (
        lambda: Problem.from_arrays(masked, labels=Y),
        lambda: Problem.from_arrays(X, target=masked),
        lambda: mean_values(masked, Y, X, **TREES),
    ):
        with pytest.raises(DataError, match="is a masked array"):
            call()
    Problem.from_arrays(np.ma.masked_array(X), labels=Y)


def test_problems_of_tables_that_were_not_encoded():
    with pytest.raises(ParameterError, match="encode makes one"):
        Problem.of(X)


@pytest.mark.parametrize("feature", [-1, 3, 1.0, True, "a"])
def test_steps_name_a_feature_that_is_there(feature):
    problem = Problem.from_arrays(X, labels=Y)
    with pytest.raises(ParameterError, match="feature="):
        Backward(problem).remove(feature)
    with pytest.raises(ParameterError, match="feature="):
        Forward(problem).add(feature)


@pytest.mark.parametrize("more", [1, 39, 10_000, 2**31 - 1])
def test_more_neighbors_than_rows_are_all_rows(more):
    search = Backward(Problem.from_arrays(X, labels=Y), n_neighbors=more)
    assert np.isfinite(search.scores()).all()
    search = Forward(Problem.from_arrays(X, labels=Y), n_neighbors=more)
    search.add(0)  # held as many distances as there were neighbors, for every row
    assert np.isfinite(search.scores()[1:]).all()


def test_neighbor_counts_of_spaces_that_do_not_fit():
    none = np.empty((40, 0))
    for x, y, z in ((X, X[:10], none), (X, X, none[:10]), (X[:, 0], X, none)):
        with pytest.raises(DataError):
            neighbor_counts(x, y, z, k=3)
    with pytest.raises(ParameterError, match="k=0"):
        neighbor_counts(X, X, none, k=0)
    with pytest.raises(ParameterError, match="n_threads=-1"):
        neighbor_counts(X, X, none, k=3, n_threads=-1)
    with pytest.raises(ParameterError, match="strategy="):
        neighbor_counts(X, X, none, k=3, strategy="guess")
    for wrong in ({"k": 2**70}, {"widest": "x"}, {"widest": 300}, {"n_threads": 2**40}):
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))}="):
            neighbor_counts(X, X, none, **{"k": 3, **wrong})
    for radius in (np.ones(10), np.full(40, np.nan), np.full(40, -1.0)):
        with pytest.raises(DataError, match="radius"):
            box_counts(X, X, none, radius=radius)
    with pytest.raises(DataError, match="one row at least"):
        neighbor_counts(X[:0], X[:0], none[:0], k=3)


def test_trees_check_their_rows():
    for labels in (Y[:10], Y - 1, Y + 1):
        with pytest.raises(DataError):
            class_probabilities(X, labels, X, 2, **TREES)
    with pytest.raises(DataError):
        class_probabilities(X, Y, X[:, :2], 2, **TREES)
    with pytest.raises(DataError):
        mean_values(X, X[:10, 0], X, **TREES)
    with pytest.raises(ParameterError, match="n_trees=0"):
        mean_values(X, X[:, 0], X, **{**TREES, "n_trees": 0})
    with pytest.raises(DataError, match="train holds nan in row 0, column 0"):
        class_probabilities(X * np.nan, Y, X, 2, **TREES)
    with pytest.raises(DataError, match="numbers holds nan"):
        mean_values(X, X[:, 0] * np.nan, X, **TREES)
    with pytest.raises(DataError, match=r"labels has shape .* and dtype float64"):
        class_probabilities(X, Y * 0.5, X, 2, **TREES)  # were cut off to integers


@pytest.mark.parametrize("name", ["n_trees", "min_leaf", "n_candidates", "seed"])
def test_trees_of_numbers_beyond_all_sizes(name):
    for value in (2**70, -1, 1.0, "2", None):
        with pytest.raises(ParameterError, match=f"{name}="):
            class_probabilities(X, Y, X, 2, **{**TREES, name: value})
    with pytest.raises(ParameterError, match="n_trees="):
        class_probabilities(X, Y, X, 2, **{**TREES, "n_trees": 2**40})  # had no end


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"train": X[:0]}, "at least one row"),
        ({"train": X[:, :0], "test": X[:, :0]}, "at least one row and one column"),
        ({"test": X[:, :2]}, "the same columns"),
        ({"test": X[:, 0]}, "the same columns"),
        ({"train": np.array([["a"]])}, "train cannot be read as numbers"),
        ({"categorical": np.zeros(2, dtype=bool)}, "give 3 truth values"),
        ({"categorical": np.zeros(3)}, "dtype float64: give 3 truth values"),
        ({"categorical": np.ones(3, dtype=bool)}, "codes of categories must be integers, 0 to 254"),
        ({"target": Y[:10]}, "target has shape"),
        ({"target": Y + 1}, "target holds 2"),
        ({"target": Y * 0.5}, "dtype float64: give one integer"),
        ({"target": Y * np.nan, "n_classes": 0}, "target holds nan in row 0"),
        ({"weights": np.ones(10)}, "weights has shape"),
        ({"weights": np.full(40, np.inf)}, "weights holds inf"),
        ({"weights": -np.ones(40)}, "weights must be 0 or more"),
        ({"weights": np.r_[np.zeros(30), np.ones(10)]}, "some of the first 30 above it"),
    ],
)
def test_boosted_trees_check_their_rows(given, words):
    with pytest.raises(DataError, match=words):
        boosted_scores(**{**BOOSTED, **given})


@pytest.mark.parametrize("code", [-1.0, 0.5, 255.0, np.nan, np.inf])
def test_codes_of_categories_are_bytes(code):
    rows = np.full((40, 3), 254.0)
    nominal = {**BOOSTED, "categorical": np.ones(3, dtype=bool), "train": rows, "test": rows}
    assert np.isfinite(boosted_scores(**nominal)).all()
    for name in ("train", "test"):
        wrong = rows.copy()
        wrong[7, 1] = code
        with pytest.raises(DataError, match="codes of categories must be integers"):
            boosted_scores(**{**nominal, name: wrong})


@pytest.mark.parametrize(
    "name",
    ["n_classes", "n_fit", "n_rounds", "n_leaves", "min_leaf", "patience", "n_bins", "rate"],
)
def test_boosted_trees_of_numbers_beyond_all_sizes(name):
    for value in (2**70, -1, 1.5, "2", None):
        with pytest.raises(ParameterError, match=f"{name}="):
            boosted_scores(**{**BOOSTED, name: value})
    wrong = {"n_fit": 41, "n_leaves": 0, "n_bins": 256, "min_leaf": 0, "rate": np.nan}
    if name in wrong:
        with pytest.raises(ParameterError, match=f"{name}="):
            boosted_scores(**{**BOOSTED, name: wrong[name]})


@pytest.mark.parametrize("n_classes", [None, 2.0, "2", 0, 2**40])
def test_trees_of_classes_that_are_no_number(n_classes):
    with pytest.raises(ParameterError, match="n_classes="):
        class_probabilities(X, Y, X, n_classes, **TREES)


def test_more_than_there_is_memory_for(monkeypatch):
    monkeypatch.setattr("pinsker.engine._plan.available_memory", lambda: 2**27)
    with pytest.raises(MemoryBudgetError, match="a probability per class and row takes"):
        class_probabilities(X, Y, X, 2**24, **TREES)
    with pytest.raises(MemoryBudgetError, match="histograms and scores takes"):
        boosted_scores(**{**BOOSTED, "n_leaves": 10**6})


@pytest.mark.parametrize(
    "call",
    [
        lambda: plan_sample(PROBLEM, max_memory="x", max_samples=None, seed=0),
        lambda: plan_sample(PROBLEM, max_memory=None, max_samples=None, seed=0, workers=3),
        lambda: plan_sample(PROBLEM, max_memory=None, max_samples=None, seed=0, n_neighbors=0),
        lambda: plan_sample(PROBLEM, max_memory=None, max_samples=None, seed=0, keeps_pairs="x"),
        lambda: WorkerMemory("steam"),
        lambda: WorkerMemory("dask", 0),
        lambda: WorkerMemory("dask", 1, "1G"),
        lambda: search_bytes("a", 3),
        lambda: memory_limit("1G"),
        lambda: memory_limit(None, "1G"),
        lambda: available_memory(5),
        lambda: count_threads(2**70),
        lambda: generator_of(-1),
        lambda: grassberger_log([0]),
        lambda: grassberger_log("x"),
        lambda: array_library("steam"),
        lambda: array_library(None),
        lambda: find_client("steam"),
        lambda: find_client("dask", 5),
        lambda: is_local("steam"),
        lambda: calls_on_cluster(5),
        lambda: calls_on_cluster(None),
        lambda: KNNSettings(n_neighbors=2**31),
        lambda: EngineSettings(max_memory=2**70),
        lambda: PartitionTables([], np.array([2]), 2, 5),
        lambda: PartitionTables(5, np.array([2]), 2, 5),
        lambda: PartitionTables([1], np.array([0]), 2, 5),
        lambda: PartitionTables([1], "2", 2, 5),
        lambda: PartitionTables([1], np.array([2]), None, 5),
        lambda: PartitionTables([1], np.array([2]), 2, -5),
        lambda: PartitionTables([1], np.array([2]), 2, 5, "some"),
    ],
)
def test_the_other_functions_check_their_arguments(call):
    with pytest.raises(PinskerError):
        call()


def test_every_public_name_is_checked_here_or_holds_results():
    """A new name is added here with its tests: those of columns are in test_contingency.py."""
    results = {"BoxCounts", "JointCosts", "NeighborCounts"}
    constants = {
        "MOST_PAIR_BINS",
        "NATS_PER_COST",
        "Correction",
        "ENGINES",
        "SETTINGS",
    }
    constants |= {"BoostSettings"}
    of_codes = {"CountTables", "Group", "PackedColumns", "PairTables", "best_triples"}
    exported = {name for name, value in vars(engine).items() if not isinstance(value, ModuleType)}
    exported = {name for name in exported if not name.startswith("__")}
    assert exported - results - constants - of_codes == {
        "Backward", "EngineSettings", "Forward", "KNNSettings", "PartitionTables", "Problem",
        "WorkerMemory", "array_library", "as_settings", "available_memory", "boosted_scores",
        "box_counts",
        "calls_on_cluster", "cell_costs", "check_gpu",
        "class_probabilities", "count_threads", "find_client", "generator_of", "grassberger_log",
        "is_local",
        "mean_values", "memory_limit", "neighbor_counts", "plan_sample", "search_bytes",
    }  # fmt: skip


@pytest.mark.parametrize("cells", [np.array([["a"]]), np.array([[1j]]), [[1], [1, 2]], [[None]]])
def test_what_is_no_number_is_refused_in_our_words(cells):
    calls = (
        lambda: Problem.from_arrays(cells, labels=Y),
        lambda: Problem.from_arrays(X, target=cells),
        lambda: neighbor_counts(X, cells, X, k=3),
        lambda: box_counts(X, X, X, radius=cells),
        lambda: mean_values(cells, Y, X, **TREES),
        lambda: mean_values(X, cells, X, **TREES),
        lambda: class_probabilities(X, cells, X, 2, **TREES),
    )
    for call in calls:
        with pytest.raises(DataError):
            call()
