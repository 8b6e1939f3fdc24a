"""Which searches are tried: names, selectors and orders become functions."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pinsker import BackwardElimination, CriterionSelection, FeatureSelector, LinearSelection
from pinsker.datasets import NoisyXor
from pinsker.encoding import encode
from pinsker.exceptions import ParameterError
from pinsker.search import (
    SEARCHES,
    CountedPath,
    CountedProblem,
    CountingSettings,
    CriterionSearchSettings,
    FeatureLimit,
    KNNSearchSettings,
    backward,
    count_and_search,
    criterion_search,
    named_searches,
    relevance,
    search_rows,
)

SETTINGS = KNNSearchSettings()


@pytest.fixture(scope="module")
def table():
    return encode(*NoisyXor(n_columns=6).sample(80, seed=0))


def paths_of(searches, table, fixed=()):
    names, found = named_searches(searches, table, SETTINGS, fixed)
    paths = {}
    for search in found:
        paths |= dict(zip(search.names, search_rows(table, search), strict=True))
    return {name: paths[name] for name in names}


AUTO = ("forward-backward", "backward", "forward", "linear", "relevance")


def test_auto_is_every_name(table):
    paths = paths_of("auto", table)
    assert tuple(paths) == AUTO
    assert paths["backward"] == backward(table, SETTINGS)
    # Its sets are not measured: NaN is equal in text alone.
    assert paths["relevance"].to_json() == relevance(table, SETTINGS).to_json()


def test_searches_that_begin_alike_run_as_one(table):
    names, together = named_searches("auto", table, SETTINGS)
    assert len(together) == len(names) - 1
    assert ("forward-backward", "forward") in [search.names for search in together]
    alone = paths_of(["forward"], table) | paths_of(["forward-backward"], table)
    both = paths_of(["forward", "forward-backward"], table)
    assert list(both) == ["forward", "forward-backward"]
    assert both == alone


@pytest.mark.parametrize("searches", ["auto", ["linear", ("mine", [3, 1])], [LinearSelection()]])
def test_searches_can_be_sent_to_another_process(searches, table):
    _, found = named_searches(searches, table, SETTINGS)
    for search in pickle.loads(pickle.dumps(found)):
        assert len(search_rows(table, search)) == len(search.names)


def test_fixed_features_come_first_in_every_path(table):
    paths = paths_of([*SEARCHES, ("mine", [3, 1]), CriterionSelection("jmi", 4)], table, (5,))
    assert {path.order[0] for path in paths.values()} == {5}
    assert {path.n_fixed for path in paths.values()} == {1}


def test_selectors_are_searches(table):
    paths = paths_of([BackwardElimination(0.3), ("c", CriterionSelection("cmim", 3))], table)
    assert paths["BackwardElimination"] == backward(table, SETTINGS)
    assert isinstance(paths["c"], CountedPath)
    assert len(paths["c"].moves) == 3


def test_names_that_are_no_search(table):
    with pytest.raises(ParameterError, match="searches='forward': use 'auto' or a list"):
        named_searches("forward", table, SETTINGS)
    with pytest.raises(ParameterError, match="searches names column 99"):
        named_searches([("mine", [99])], table, SETTINGS)


def test_a_search_by_criterion_is_a_function_as_well(table):
    problem = CountedProblem.of(table, CountingSettings())
    settings = CriterionSearchSettings("jmi", FeatureLimit(4), problem.facts)
    seen = []
    path = criterion_search(problem, settings, (2,), lambda trace: seen.append(len(trace.moves)))
    assert seen == [1, 2, 3, 4]
    assert path.order[0] == 2
    assert criterion_search(problem, settings, (2,)) == path
    begun = criterion_search(problem, settings, (2,), lambda trace: len(trace.moves) == 2)
    assert begun.moves == path.moves[:2]
    assert not begun.complete
    assert criterion_search(problem, settings, (2,), earlier=begun) == path


def test_neighbors_in_wide_tables_are_searched_among_screened_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = (X[:, 250] + X[:, 280] + 0.3 * rng.normal(size=200) > 0).astype(int)
    wide = encode(X, y)
    every = count_and_search(wide, "jmi", (7,)).order
    assert sorted(every) == list(range(300))
    screened = count_and_search(wide, "jmi", (7,), rule=FeatureLimit(100)).order
    assert screened[0] == 7
    assert screened == every[:100]
    part = encode(X[:, screened], y)
    named = ["forward-backward", "backward", "relevance"]
    found = paths_of(named, wide, (7,))
    inner = paths_of(named, part, (0,))
    for name in named:
        assert [screened[j] for j in inner[name].order] == list(found[name].order)
        assert inner[name].information[:9] == found[name].information[:9] or name == "relevance"
        assert found[name].n_features == 300
        assert found[name].order[0] == 7
    assert {250, 280} < set(found["backward"].order[:3])


def test_tables_that_are_not_wide_are_searched_as_a_whole(table):
    assert paths_of(["backward"], table)["backward"] == backward(table, SETTINGS)


def test_the_rows_of_a_search_do_not_depend_on_its_name():
    X = np.random.default_rng(0).normal(size=(12_000, 5))
    y = X[:, 1] + 0.8 * X[:, 4] + np.random.default_rng(1).normal(size=len(X))
    seen = {}

    class Watched:
        def __init__(self, selector):
            self.selector = selector

        def as_search(self, fixed, seed):
            plain = self.selector.as_search(fixed, seed)

            def find(table):
                seen.setdefault(type(self.selector).__name__, set()).add(table.n_rows)
                return plain.find(table)

            return replace(plain, find=find)

    for name in ("jmi", "other"):
        for selector in (BackwardElimination(), LinearSelection(), CriterionSelection("jmi", 4)):
            searches = [(name, Watched(selector))]
            FeatureSelector(models=["linear"], searches=searches, random_state=0).fit(X, y)
    assert seen == {
        "BackwardElimination": {2000}, "LinearSelection": {2000}, "CriterionSelection": {3000},
    }  # fmt: skip


@pytest.mark.parametrize(("n_features", "is_wide"), [(100, False), (101, True), (600, True)])
@pytest.mark.parametrize("of_many_rows", [False, True])
def test_wide_tables_are_ordered_as_a_whole_first(n_features, is_wide, of_many_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_features))
    wide = encode(X, (X[:, 0] > 0).astype(int))
    names, found = named_searches("auto", wide, SETTINGS, of_many_rows=of_many_rows)
    names = [name for name in names if name != "pairs"]  # only where a pair is hidden
    assert (names[:2] == ["elimination", "cmim"]) == is_wide
    assert ("elimination" in names) == is_wide
    assert len(set(names)) == len(names)
    assert "backward" not in names or n_features <= 500
    for search in found:
        if search.names in (("elimination",), ("cmim",)):
            (path,) = search_rows(wide, search)
            assert sorted(path.order) == list(range(n_features))  # all features, not a screen
            assert path.order[0] == 0
