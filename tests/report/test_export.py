"""Selectors in skops, ONNX and MLflow: each runs the real library, where it is installed."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pinsker
from pinsker import FeatureSelector, LinearSelection, log_certificate, register_onnx
from pinsker.exceptions import MissingDependencyError

SETTINGS = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    return X, (X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=200) > 0).astype(int)


@pytest.fixture(scope="module")
def selector(rows):
    return FeatureSelector(0.1, **SETTINGS).fit(*rows)


def string_keys(value, seen=()):
    """Return whether all dicts within a state have texts for keys."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and string_keys(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(string_keys, value))
    if type(value).__module__.startswith("pinsker") and hasattr(value, "__dict__"):
        state = value.__getstate__()
        return state is not value and string_keys(state)
    return True


def test_the_state_has_string_keys_only(selector):
    assert string_keys(selector.__getstate__())
    again = pickle.loads(pickle.dumps(selector))
    assert (
        again.support_at(error_budget=0.3).tolist()
        == selector.support_at(error_budget=0.3).tolist()
    )


def test_skops_writes_and_reads(selector, rows):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(selector)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(again.transform(rows[0]), selector.transform(rows[0]))
    assert again.certificate_.to_json() == selector.certificate_.to_json()
    assert again.certificate_at(error_budget=0.3).features


@pytest.mark.parametrize("made", [FeatureSelector(0.1, **SETTINGS), LinearSelection(0.1)])
def test_onnx_predicts_what_the_pipeline_does(rows, made):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    register_onnx()
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), made, LogisticRegression()).fit(X, y)
    model = skl2onnx.to_onnx(pipeline, X[:1])
    session = runtime.InferenceSession(model.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_array_equal(found[0], pipeline.predict(X))


def test_onnx_of_single_columns(rows):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    register_onnx()
    X = pd.DataFrame(rows[0], columns=list("abcde"))
    selector = LinearSelection(0.2).fit(X, rows[1])
    session = runtime.InferenceSession(skl2onnx.to_onnx(selector, X[:1]).SerializeToString())
    given = {name: X[[name]].to_numpy() for name in X}
    np.testing.assert_array_equal(session.run(None, given)[0], selector.transform(X).to_numpy())


def test_mlflow_gets_certificate_figures_and_page(selector, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        log_certificate(selector)
    data = mlflow.get_run(run.info.run_id).data
    assert data.metrics["pinsker.n_kept"] == selector.certificate_.n_kept
    assert data.metrics["pinsker.increase_upper"] == selector.certificate_.increase_upper
    assert data.tags["pinsker.verdict"] == selector.certificate_.verdict
    (found,) = tmp_path.rglob("certificate.json")
    assert json.loads(found.read_text()) == json.loads(selector.certificate_.to_json())
    (page,) = tmp_path.rglob("report.html")
    assert "<!doctype html>" in page.read_text()


@pytest.mark.parametrize(
    ("package", "call"), [("skl2onnx", "register_onnx"), ("mlflow", "log_certificate")]
)
def test_what_is_not_installed_is_named(monkeypatch, selector, package, call):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(
        MissingDependencyError, match=f"{call} needs {package}.*pip install {package}"
    ):
        getattr(pinsker, call)(*([selector] if package == "mlflow" else []))
