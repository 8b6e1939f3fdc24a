"""Dask DataFrames are counted in passes, and chosen from as the same table in memory is."""

import numpy as np
import pandas as pd
import pytest

from pinsker import CriterionSelection
from pinsker.engine.backends.dask import _partitions
from pinsker.exceptions import DataError, DataTypeError, MemoryBudgetError, ParameterError
from pinsker.search import CRITERIA, PermutationTest

dask = pytest.importorskip("dask", reason="needs pinsker[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs pinsker[dask]")

N = 600


@pytest.fixture(autouse=True)
def in_this_thread():
    """Tests of counting need no pool; `tests/cluster` has a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(N, 7))
    table = pd.DataFrame(x, columns=list("abcdefg"))
    table["text"] = rng.choice(["low", "mid", "high"], size=N)
    table["flag"] = rng.random(N) < 0.3
    table["count"] = rng.poisson(2.0, size=N)
    table["level"] = pd.Categorical(rng.choice(list("xyz"), size=N))
    score = x[:, 0] + x[:, 1] * x[:, 2] + 0.7 * (table["text"] == "low") + 0.5 * table["flag"]
    table["answer"] = np.where(score > 0.8, "yes", np.where(score > -0.3, "no", "maybe"))
    return table


@pytest.fixture
def dask_frame(frame):
    return dd.from_pandas(frame, npartitions=5)


def in_memory(frame, *args, target="answer", **settings):
    return CriterionSelection(*args, **settings).fit(frame.drop(columns=[target]), frame[target])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_same_path_as_in_memory(frame, dask_frame, criterion):
    there = CriterionSelection(criterion, 5).fit(dask_frame, "answer")
    here = in_memory(frame, criterion, 5)
    assert there.path_ == here.path_
    assert there.notes_ == here.notes_
    np.testing.assert_array_equal(there.support_, here.support_)
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()


@pytest.mark.parametrize("correction", ["miller-madow", "grassberger"])
def test_corrections_and_groups(frame, dask_frame, correction):
    settings = {
        "correction": correction,
        "feature_groups": {"pair": ["b", "text"]},
        "fixed_features": ["g"],
    }
    there = CriterionSelection("cmim", 4, **settings).fit(dask_frame, "answer")
    assert there.path_ == in_memory(frame, "cmim", 4, **settings).path_


@pytest.mark.parametrize("binning", ["mdl", "width"])
def test_other_bins(frame, dask_frame, binning):
    there = CriterionSelection("jmi", 4, binning=binning).fit(dask_frame, "answer")
    assert there.path_ == in_memory(frame, "jmi", 4, binning=binning).path_


@pytest.mark.parametrize("missing", ["drop", "category"])
def test_missing_values(frame, missing):
    gappy = frame.copy()
    gappy.loc[3:180:7, "a"] = np.nan  # one partition has none, another only these
    gappy.loc[10:50:4, "text"] = None
    there = CriterionSelection("jmi", 5, missing=missing).fit(
        dd.from_pandas(gappy, npartitions=40), "answer"
    )
    here = in_memory(gappy, "jmi", 5, missing=missing)
    assert there.path_ == here.path_
    assert ("missing='drop' left out 35 of 600 rows" in there.notes_) == (missing == "drop")
    with pytest.raises(DataError, match="column 'a' has missing values in"):
        CriterionSelection().fit(dd.from_pandas(gappy, npartitions=40), "answer")


def test_a_numeric_target_is_cut_into_bins(frame, dask_frame):
    there = CriterionSelection("jmi", 4).fit(dask_frame.drop(columns=["answer"]), "g")
    here = in_memory(frame.drop(columns=["answer"]), "jmi", 4, target="g")
    assert there.path_ == here.path_
    assert there.facts_ == here.facts_


def test_a_series_is_matched_by_its_index(frame, dask_frame):
    answer = dd.from_pandas(frame["answer"].iloc[::-1], npartitions=3, sort=False)
    there = CriterionSelection("jmi", 3).fit(dask_frame.drop(columns=["answer"]), answer)
    assert there.path_.order == in_memory(frame, "jmi", 3).path_.order


def test_one_pass_for_each_feature(dask_frame, monkeypatch):
    passes = []
    once = _partitions.add_up
    monkeypatch.setattr(_partitions, "add_up", lambda *args: passes.append(args) or once(*args))
    for criterion in ("mrmr", "jmi", "cmi", "jmi3"):
        passes.clear()
        selector = CriterionSelection(criterion, 4).fit(dask_frame, "answer")
        assert len(passes) == 1 + len(selector.path_.moves), criterion


def test_parquet_that_is_read_again_in_every_step(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(_partitions, "_FRACTION_OF_MEMORY", 0.0)
    for number in range(3):
        frame.iloc[200 * number : 200 * (number + 1)].to_parquet(tmp_path / f"{number}.parquet")
    table = dd.read_parquet(tmp_path)
    selector = CriterionSelection("cmim", 4).fit(table.drop(columns=["answer"]), table["answer"])
    assert selector.path_ == in_memory(frame, "cmim", 4).path_
    small = selector.transform(table)
    assert small.compute().columns.tolist() == selector.get_feature_names_out().tolist()


def test_cuts_of_a_large_table_come_from_a_sample(frame, dask_frame, monkeypatch):
    monkeypatch.setattr("pinsker.encoding._dask.SAMPLED_ROWS", 200)
    selector = CriterionSelection("jmi", 3).fit(dask_frame, "answer")
    assert selector.binning_.codes.shape[0] == 200
    note = "kinds and cuts of columns were found from 200 of 600 rows; every row was counted"
    assert note in selector.notes_
    again = CriterionSelection("jmi", 3).fit(dask_frame, "answer")
    assert again.path_ == selector.path_


def test_what_cannot_be_counted_is_refused(frame, dask_frame, monkeypatch):
    X, y = dask_frame.drop(columns=["answer"]), dask_frame["answer"]
    with pytest.raises(DataError, match="y='nobody' is not a column of X"):
        CriterionSelection().fit(dask_frame, "nobody")
    with pytest.raises(DataTypeError, match="but y is of type ndarray: pass the name of a column"):
        CriterionSelection().fit(X, frame["answer"].to_numpy())
    with pytest.raises(ParameterError, match="sample_weight needs all rows in memory"):
        CriterionSelection().fit(X, y, sample_weight=np.ones(N))
    with pytest.raises(ParameterError, match="PermutationTest needs all rows in memory"):
        CriterionSelection(stop=PermutationTest()).fit(X, y)
    times = X.assign(
        when=dd.from_pandas(pd.Series(pd.date_range("2020", periods=N)), npartitions=1)
    )
    with pytest.raises(DataTypeError, match="column 'when' of X holds times"):
        CriterionSelection().fit(times.repartition(npartitions=1), y.repartition(npartitions=1))
    monkeypatch.setattr(_partitions, "MAX_CELLS", 1000)
    with pytest.raises(MemoryBudgetError, match="but 1000 can be counted at once: choose fewer"):
        CriterionSelection("cmi", 8).fit(X, y)


def test_a_frame_with_the_kept_columns_is_enough(dask_frame):
    selector = CriterionSelection("jmi", 3).fit(dask_frame, "answer")
    small = selector.transform(dask_frame)
    assert list(selector.transform(small).columns) == list(small.columns)
