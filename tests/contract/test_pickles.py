"""Pickles of fitted selectors: those of this format load in any version, others say why not."""

import copy
import io
import pickle
import sys
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pytest

from pinsker import FeatureSelector
from pinsker.exceptions import DataError

#: Written by ``python tests/contract/test_pickles.py``. Where this file no longer loads, the
#: attributes of selectors have changed: raise PICKLE_FORMAT of ``selectors/_base.py``, write the
#: file again, and name the change in the changelog.
STORED = Path(__file__).parent / "reference" / "selector_format_3.pickle"


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)


def fit():
    selector = FeatureSelector(0.1, searches=["linear"], models=["linear"], cv=2, random_state=0)
    return selector.fit(*table())


@pytest.fixture(scope="module")
def fitted():
    return fit()


def assert_equal(found, wanted):
    X, _ = table()
    np.testing.assert_array_equal(found.transform(X), wanted.transform(X))
    assert found.certificate_ == wanted.certificate_
    assert found.path_ == wanted.path_
    for budget in (0.0, 0.05, 0.5):
        np.testing.assert_array_equal(
            found.support_at(error_budget=budget), wanted.support_at(error_budget=budget)
        )


def test_a_pickle_of_another_day_loads():
    X, _ = table()
    stored = pickle.loads(STORED.read_bytes())
    assert stored.get_feature_names_out().tolist() == ["x1"]
    np.testing.assert_array_equal(stored.transform(X), X[:, [1]])
    assert stored.certificate_.verdict == "met"
    assert str(stored.certificate_).startswith("1 of 4 features; budget met")
    assert stored.support_at(n_features=2).sum() == 2
    assert len(stored.cv_results_["n_features"])


@pytest.mark.parametrize("mapped", [None, "r"], ids=["in memory", "mapped"])
def test_joblib_keeps_everything(fitted, tmp_path, mapped):
    path = tmp_path / "selector.joblib"
    joblib.dump(fitted, path)
    assert_equal(joblib.load(path, mmap_mode=mapped), fitted)
    assert_equal(copy.deepcopy(fitted), fitted)


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump], ids=["pickle", "joblib"])
def test_another_format_is_refused_before_its_content_is_read(fitted, monkeypatch, dump):
    # A later version has classes that this one lacks: the reason must come first.
    later = ModuleType("pinsker_later")
    later.Kind = type("Kind", (), {"__module__": "pinsker_later"})
    monkeypatch.setitem(sys.modules, "pinsker_later", later)
    monkeypatch.setattr("pinsker.selectors._base.PICKLE_FORMAT", 4)
    selector = copy.copy(fitted)
    selector.later_ = later.Kind()
    file = io.BytesIO()
    dump(selector, file)
    monkeypatch.undo()
    file.seek(0)
    message = (
        r"^this FeatureSelector was pickled by another version of pinsker \(format 4, this one "
        r"reads 3\): fit it again with this version\.$"
    )
    with pytest.raises(DataError, match=message):
        joblib.load(file) if dump is joblib.dump else pickle.load(file)


if __name__ == "__main__":
    STORED.write_bytes(pickle.dumps(fit(), protocol=4))
